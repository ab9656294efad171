/* Softmax in float: see fast_kernels.h.  Compilers vectorise the inner loops over lanes.
 *
 * Terms are in units of PC_LANE_EXPF_UNIT.  The term of the largest logit, exactly 1, is left
 * out of the sums, so that probabilities close to 1 stay distinct. */
#include "kernels/fast_kernels.h"

#include <math.h>
#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/prefetch.h"
#include "kernels/transpose.h"
#include "kernels/variant.h"

#define FAST_BLOCK (2 * PC_LANES)
#define FAST_ONE (UINT32_C(1) << 16) /* more than the blocks of a row, at most 31250 */
#define FAST_AHEAD 3072              /* bytes, beyond the next row */
#define FAST_INLINE static inline __attribute__((always_inline))

#define FAST_LARGER(a, b) ((b) > (a) ? (b) : (a))

/* All bits set if the gap to the largest logit has a term: from pc_lane_expf_lowest to below 0.
 * It has none if it is 0 (the largest logit itself), too low, or NaN.  Bits of negative floats
 * grow with their size, so one unsigned comparison decides. */
FAST_INLINE uint32_t fast_common(float gap, float lowest) {
  const uint32_t first = UINT32_C(0x80000001), last = pc_float_bits(lowest);
  return pc_float_bits(gap) - first <= last - first ? UINT32_MAX : 0;
}

FAST_INLINE float fast_term(float gap, uint32_t common) {
  return pc_float_from_bits(pc_float_bits(pc_lane_expf(gap)) & common);
}

/* A logit without a term is marked by FAST_ONE plus the index of its block or class.  Counters
 * start with the sum of all marks, and the marks of logits with terms are subtracted.  The sum
 * of the first `count` marks: */
FAST_INLINE uint32_t fast_marks(size_t count) {
  const uint32_t n = (uint32_t)count;
  return n * FAST_ONE + n * (n - 1) / 2;
}

/* ---- wide rows ---- */

#define FAST_HALVE(half)              \
  for (size_t l = 0; l < (half); l++) \
    high[l] = FAST_LARGER(high[l], high[l + (half)]);

/* The last block of a row.  It may overlap the previous block; in a short row the first logit
 * is repeated at its start. */
static const float *fast_last(const float *z, size_t count, float space[FAST_BLOCK]) {
  if (count >= FAST_BLOCK)
    return z + (count - FAST_BLOCK);
  for (size_t l = 0; l < FAST_BLOCK; l++)
    space[l] = z[l + count < FAST_BLOCK ? 0 : l + count - FAST_BLOCK];
  return space;
}

/* The largest logit; blocks between the first and the last are aligned to a cache line. */
static float fast_largest(const float *z, size_t count, const float *last) {
  const float *first = count >= FAST_BLOCK ? z : last;
  float high[FAST_BLOCK];
  for (size_t l = 0; l < FAST_BLOCK; l++)
    high[l] = FAST_LARGER(first[l], last[l]);
  for (size_t j = (0 - (uintptr_t)z) % PC_CACHE_LINE / sizeof *z; j + FAST_BLOCK <= count;
       j += FAST_BLOCK)
    for (size_t l = 0; l < FAST_BLOCK; l++)
      high[l] = FAST_LARGER(high[l], z[j + l]);
  FAST_HALVE(16)
  FAST_HALVE(8)
  FAST_HALVE(4)
  FAST_HALVE(2)
  FAST_HALVE(1)
  return high[0];
}

/* Sums of the terms of a row and of their squares, and the marks of logits without a term, by
 * block. */
typedef struct fast_sums {
  float term[FAST_BLOCK], square[FAST_BLOCK];
  uint32_t marked[FAST_BLOCK];
} fast_sums;

#if defined(__AVX512F__)
#include "kernels/fast_softmax_avx512.h"
#else

/* Adds a block without its first `skip` places. */
FAST_INLINE void fast_add(const float *restrict z, float max, uint32_t mark, uint32_t skip,
                          fast_sums *sums) {
  const float lowest = pc_lane_expf_lowest();
  for (uint32_t l = 0; l < FAST_BLOCK; l++) {
    const uint32_t own = l >= skip ? UINT32_MAX : 0;
    const float gap = z[l] - max;
    const uint32_t common = fast_common(gap, lowest) & own;
    const float term = fast_term(gap, common);
    sums->term[l] += term;
    sums->square[l] += term * term;
    sums->marked[l] = common != 0 ? sums->marked[l] - mark : sums->marked[l];
  }
}

/* Also prefetches the data after the next row. */
static void fast_sum(const float *z, size_t count, const float *last, float max,
                     fast_sums *out) {
  const size_t whole = count / FAST_BLOCK * FAST_BLOCK;
  const uint32_t skip = (uint32_t)(FAST_BLOCK - (count - whole));
  fast_sums sums;
  uint32_t mark = FAST_ONE;
  for (uint32_t l = 0; l < FAST_BLOCK; l++) {
    sums.term[l] = sums.square[l] = 0;
    sums.marked[l] = fast_marks(count / FAST_BLOCK + (l >= skip ? 1 : 0));
  }
  for (size_t j = 0; j < whole; j += FAST_BLOCK) {
    pc_prefetch(z + j, FAST_BLOCK * sizeof *z, count * sizeof *z + FAST_AHEAD);
    fast_add(z + j, max, mark++, 0, &sums);
  }
  fast_add(last, max, mark, skip, &sums);
  *out = sums;
}
#endif

FAST_INLINE double fast_fold(const float lanes[FAST_BLOCK]) {
  double wide[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++)
    wide[l] = (double)lanes[l] + (double)lanes[l + PC_LANES];
  for (size_t l = 0; l < 8; l++)
    wide[l] += wide[l + 8];
  for (size_t l = 0; l < 4; l++)
    wide[l] += wide[l + 4];
  return (wide[0] + wide[2]) + (wide[1] + wide[3]);
}

/* For a row with several marks: sets *top to the first of the largest logits and *ties to the
 * number of others equal to it; returns whether all logits are finite. */
static int fast_look(const float *z, size_t count, float max, size_t *top, double *ties) {
  float odd = 0;
  *top = 0;
  *ties = -1.0;
  for (size_t j = count; j-- > 0;) {
    odd += z[j] - z[j];
    *ties += z[j] == max ? 1.0 : 0.0;
    *top = z[j] == max ? j : *top;
  }
  return odd == 0;
}

static void fast_softmax(const float *z, size_t count, pc_softmax_facts *facts) {
  float space[FAST_BLOCK];
  const float *last = fast_last(z, count, space);
  const float max = fast_largest(z, count, last);
  fast_sums sums;
  uint64_t marked = 0, lane = 0;
  double ties = 0.0;
  fast_sum(z, count, last, max, &sums);
  for (uint64_t l = 0; l < FAST_BLOCK; l++) {
    marked += sums.marked[l];
    lane += sums.marked[l] != 0 ? l : 0;
  }
  const size_t at = (size_t)(marked % FAST_ONE) * FAST_BLOCK;
  facts->top = (at + FAST_BLOCK <= count ? at : count - FAST_BLOCK) + lane;
  facts->finite = 1;
  if (marked / FAST_ONE != 1) /* more than the largest logit is marked */
    facts->finite = fast_look(z, count, max, &facts->top, &ties);
  if (facts->top >= count) /* the row has changed meanwhile */
    facts->top = 0;
  facts->max = (double)max;
  facts->rest = fast_fold(sums.term) * PC_LANE_EXPF_UNIT + ties;
  facts->rest_square = fast_fold(sums.square) * (PC_LANE_EXPF_UNIT * PC_LANE_EXPF_UNIT) + ties;
}

/* ---- narrow rows ---- */

/* The same for PC_NARROW_ROWS rows, with marks by class; and the logits of their labels. */
typedef struct fast_lanes {
  float term[PC_NARROW_ROWS], square[PC_NARROW_ROWS], wanted[PC_NARROW_ROWS];
  uint32_t marked[PC_NARROW_ROWS];
} fast_lanes;

FAST_INLINE void fast_tops(const float *restrict z, size_t count, float *restrict top) {
  float high[PC_NARROW_ROWS];
  for (size_t l = 0; l < PC_NARROW_ROWS; l++)
    high[l] = -INFINITY;
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_NARROW_ROWS; l++)
      high[l] = FAST_LARGER(high[l], z[j * PC_NARROW_ROWS + l]);
  memcpy(top, high, sizeof high);
}

FAST_INLINE void fast_add_lanes(const float *restrict z, size_t count,
                                const int32_t *restrict labels, const float *restrict top,
                                fast_lanes *restrict out) {
  const float lowest = pc_lane_expf_lowest();
  fast_lanes sums;
  for (size_t l = 0; l < PC_NARROW_ROWS; l++) {
    sums.term[l] = sums.square[l] = sums.wanted[l] = 0;
    sums.marked[l] = fast_marks(count);
  }
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_NARROW_ROWS; l++) {
      const uint32_t mark = FAST_ONE + (uint32_t)j;
      const float here = z[j * PC_NARROW_ROWS + l], gap = here - top[l];
      const uint32_t common = fast_common(gap, lowest);
      const float term = fast_term(gap, common);
      sums.term[l] += term;
      sums.square[l] += term * term;
      sums.marked[l] = common != 0 ? sums.marked[l] - mark : sums.marked[l];
      sums.wanted[l] = labels[l] == (int32_t)j ? here : sums.wanted[l];
    }
  *out = sums;
}

/* Looks again at rows in which more than the largest logit is marked. */
static void fast_look_lanes(const float *z, size_t count, const float *max,
                            const uint32_t *marked, pc_narrow_facts *facts) {
  for (size_t l = 0; l < PC_NARROW_ROWS; l++) {
    size_t top;
    double ties;
    if (marked[l] / FAST_ONE == 1)
      continue;
    facts->finite &= fast_look(z + l * count, count, max[l], &top, &ties);
    facts->top[l] = (int32_t)top;
    facts->rest[l] += ties;
    facts->rest_square[l] += ties;
  }
}

static void fast_narrow(const float *restrict z, size_t count, const int32_t *labels,
                        pc_narrow_facts *facts) {
  float transposed[PC_NARROW_CLASSES * PC_NARROW_ROWS], top[PC_NARROW_ROWS];
  int32_t known[PC_NARROW_ROWS];
  const double unit = PC_LANE_EXPF_UNIT;
  double *restrict rest = facts->rest, *restrict rest_square = facts->rest_square;
  double *restrict gap = facts->gap;
  int32_t *restrict top_class = facts->top;
  fast_lanes sums;
  uint32_t bad = 0, odd = 0;
  for (size_t l = 0; l < PC_NARROW_ROWS; l++) {
    const uint32_t wrong = (uint32_t)labels[l] >= (uint32_t)count;
    known[l] = wrong ? 0 : labels[l];
    bad |= wrong;
  }
  pc_transpose_f32(z, PC_NARROW_ROWS, count, transposed);
  fast_tops(transposed, count, top);
  fast_add_lanes(transposed, count, known, top, &sums);
  for (size_t l = 0; l < PC_NARROW_ROWS; l++) {
    odd |= sums.marked[l] / FAST_ONE ^ 1;
    rest[l] = (double)sums.term[l] * unit;
    rest_square[l] = (double)sums.square[l] * (unit * unit);
    gap[l] = (double)sums.wanted[l] - (double)top[l];
    top_class[l] = (int32_t)(sums.marked[l] % FAST_ONE);
  }
  facts->labelled = bad == 0;
  facts->finite = 1;
  if (odd != 0)
    fast_look_lanes(z, count, top, sums.marked, facts);
}

/* ---- columns ---- */

/* The largest probability is 1 / (1 + rest): in float, then refined by one Newton step in
 * double. */
static void fast_finish(const pc_logit_columns *columns, size_t count) {
  const int32_t *restrict label = columns->label, *restrict top_label = columns->top_label;
  double *restrict top = columns->top, *restrict true_gap = columns->true_gap;
  double *restrict others_square = columns->others_square;
  double *restrict log_true = columns->log_true;
  const float lowest = pc_lane_expf_lowest();
  for (size_t i = 0; i < count; i++) {
    const double rest = top[i], gap = log_true[i];
    const float below = (float)gap, exponent = below < lowest ? lowest : below;
    const double term = (double)pc_lane_expf(exponent) * PC_LANE_EXPF_UNIT;
    float inverse;
    const double log_sum = (double)pc_lane_log1pf((float)rest, &inverse);
    const double near = (double)inverse, share = near + near * (1.0 - (1.0 + rest) * near);
    const int is_top = label[i] == top_label[i];
    const double others = is_top ? rest : 1.0 + (rest - term);
    const double square = is_top ? others_square[i] : 1.0 + (others_square[i] - term * term);
    top[i] = share;
    true_gap[i] = others * share;
    others_square[i] = square * (share * share);
    log_true[i] = gap - log_sum;
  }
}

const pc_fast_kernels PC_VARIANT_TABLE(pc_fast_kernels) = {
    .softmax = fast_softmax,
    .narrow = fast_narrow,
    .finish_logits = fast_finish,
};
