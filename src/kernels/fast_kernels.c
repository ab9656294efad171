/* Softmax of floats.  Compiled once for each instruction set with PC_VARIANT set to its name;
 * see fast_kernels.h.  Inner loops over lanes are what compilers turn into vectors.
 *
 * Terms are in units of PC_LANE_EXPF_UNIT.  That of the largest logit, exactly 1, stays out of
 * the sums in float, so that probabilities next to 1 stay distinct. */
#include "kernels/fast_kernels.h"

#include <math.h>
#include <string.h>

#include "kernels/fetch.h"
#include "kernels/lane_math.h"
#include "kernels/lane_turn.h"
#include "kernels/variant.h"

#define FAST_BLOCK (2 * PC_LANES)
#define FAST_ONE (UINT32_C(1) << 16) /* above the number of blocks of a row, at most 31250 */
#define FAST_INLINE static inline __attribute__((always_inline))

#define FAST_LARGER(a, b) ((b) > (a) ? (b) : (a))

/* All bits where a gap has a term: from pc_lane_expf_lowest to below 0.  The others are that of
 * the largest, 0, those too far below it, and NaN; bits of negative floats grow with size. */
FAST_INLINE uint32_t fast_common(float gap, float lowest) {
  const uint32_t first = UINT32_C(0x80000001), last = pc_float_bits_of(lowest);
  return pc_float_bits_of(gap) - first <= last - first ? UINT32_MAX : 0;
}

FAST_INLINE float fast_term(float gap, uint32_t common) {
  return pc_float_of(pc_float_bits_of(pc_lane_expf(gap)) & common);
}

/* ---- wide rows ---- */

#define FAST_HALVE(half)              \
  for (size_t l = 0; l < (half); l++) \
    high[l] = FAST_LARGER(high[l], high[l + (half)]);

static float fast_largest(const float *z, size_t count) {
  float high[FAST_BLOCK], last[FAST_BLOCK];
  const size_t whole = count / FAST_BLOCK * FAST_BLOCK;
  for (size_t l = 0; l < FAST_BLOCK; l++)
    high[l] = last[l] = z[0];
  for (size_t j = 0; j < whole; j += FAST_BLOCK)
    for (size_t l = 0; l < FAST_BLOCK; l++)
      high[l] = FAST_LARGER(high[l], z[j + l]);
  memcpy(last, z + whole, (count - whole) * sizeof *z);
  for (size_t l = 0; l < FAST_BLOCK; l++)
    high[l] = FAST_LARGER(high[l], last[l]);
  FAST_HALVE(16)
  FAST_HALVE(8)
  FAST_HALVE(4)
  FAST_HALVE(2)
  FAST_HALVE(1)
  return high[0];
}

/* Sums of the terms of a row and of their squares.  Logits without one are marked: FAST_ONE and
 * the number of their block. */
typedef struct fast_sums {
  float term[FAST_BLOCK], square[FAST_BLOCK];
  uint32_t marked[FAST_BLOCK];
} fast_sums;

FAST_INLINE void fast_add(const float *restrict z, float max, uint32_t mark, fast_sums *sums) {
  const float lowest = pc_lane_expf_lowest();
  for (size_t l = 0; l < FAST_BLOCK; l++) {
    const float gap = z[l] - max;
    const uint32_t common = fast_common(gap, lowest);
    const float term = fast_term(gap, common);
    sums->term[l] += term;
    sums->square[l] += term * term;
    sums->marked[l] += mark & ~common;
  }
}

/* Asks for the next row meanwhile.  Places beyond the end have no term and no mark. */
static void fast_sum(const float *z, size_t count, float max, fast_sums *out) {
  const size_t whole = count / FAST_BLOCK * FAST_BLOCK;
  fast_sums sums = {{0}, {0}, {0}};
  float last[FAST_BLOCK];
  uint32_t mark = FAST_ONE;
  for (size_t j = 0; j < whole; j += FAST_BLOCK) {
    pc_fetch(z + j, FAST_BLOCK * sizeof *z, count * sizeof *z);
    fast_add(z + j, max, mark++, &sums);
  }
  for (size_t l = 0; l < FAST_BLOCK; l++)
    last[l] = -INFINITY;
  memcpy(last, z + whole, (count - whole) * sizeof *z);
  fast_add(last, max, mark, &sums);
  *out = sums;
  for (size_t l = count - whole; l < FAST_BLOCK; l++)
    out->marked[l] -= mark;
}

static double fast_fold(const float lanes[FAST_BLOCK]) {
  double wide[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++)
    wide[l] = (double)lanes[l] + (double)lanes[l + PC_LANES];
  for (size_t l = 0; l < 8; l++)
    wide[l] += wide[l + 8];
  for (size_t l = 0; l < 4; l++)
    wide[l] += wide[l + 4];
  return (wide[0] + wide[2]) + (wide[1] + wide[3]);
}

/* Several are marked: which are the largest, and is any not finite? */
static void fast_look(const float *z, size_t count, float max, pc_softmax_facts *facts) {
  float odd = 0;
  double ties = -1.0;
  facts->top = 0;
  for (size_t j = count; j-- > 0;) {
    odd += z[j] - z[j];
    ties += z[j] == max ? 1.0 : 0.0;
    facts->top = z[j] == max ? j : facts->top;
  }
  facts->finite = odd == 0;
  facts->rest += ties;
  facts->rest_square += ties;
}

static void fast_softmax(const float *z, size_t count, pc_softmax_facts *facts) {
  const float max = fast_largest(z, count);
  fast_sums sums;
  uint64_t marked = 0, lane = 0;
  fast_sum(z, count, max, &sums);
  for (uint64_t l = 0; l < FAST_BLOCK; l++) {
    marked += sums.marked[l];
    lane += sums.marked[l] != 0 ? l : 0;
  }
  facts->max = (double)max;
  facts->rest = fast_fold(sums.term) * PC_LANE_EXPF_UNIT;
  facts->rest_square = fast_fold(sums.square) * (PC_LANE_EXPF_UNIT * PC_LANE_EXPF_UNIT);
  facts->finite = 1;
  facts->top = (size_t)(marked % FAST_ONE) * FAST_BLOCK + lane;
  if (marked / FAST_ONE != 1) /* not only the largest */
    fast_look(z, count, max, facts);
}

/* ---- narrow rows ---- */

PC_LANE_TURN(fast_turn, float)

/* The largest of each lane; are all numbers finite?  Then so is their sum, unless it overflows.
 */
FAST_INLINE int fast_tops(const float *restrict z, size_t count, float *restrict top) {
  float sum[PC_LANES] = {0}, odd[PC_LANES];
  for (size_t l = 0; l < PC_LANES; l++)
    top[l] = -INFINITY;
  for (size_t j = 0; j < count; j++)
    for (size_t l = 0; l < PC_LANES; l++) {
      top[l] = FAST_LARGER(top[l], z[j * PC_LANES + l]);
      sum[l] += z[j * PC_LANES + l];
    }
  for (size_t l = 0; l < PC_LANES; l++)
    odd[l] = sum[l] - sum[l];
  for (size_t l = 0; l < 8; l++)
    odd[l] += odd[l + 8];
  for (size_t l = 0; l < 4; l++)
    odd[l] += odd[l + 4];
  return (odd[0] + odd[2]) + (odd[1] + odd[3]) == 0;
}

/* Sums of PC_LANES rows; how often and where first the largest is. */
typedef struct fast_lanes {
  float term[PC_LANES], square[PC_LANES], often[PC_LANES];
  int32_t first[PC_LANES];
} fast_lanes;

FAST_INLINE void fast_add_lanes(const float *restrict z, size_t count,
                                const float *restrict top, fast_lanes *restrict out) {
  const float lowest = pc_lane_expf_lowest();
  fast_lanes sums = {{0}, {0}, {0}, {0}};
  for (size_t j = count; j-- > 0;)
    for (size_t l = 0; l < PC_LANES; l++) {
      const float gap = z[j * PC_LANES + l] - top[l];
      const float term = fast_term(gap, fast_common(gap, lowest));
      sums.term[l] += term;
      sums.square[l] += term * term;
      sums.often[l] += gap == 0 ? 1.0f : 0.0f;
      sums.first[l] = gap == 0 ? (int32_t)j : sums.first[l];
    }
  *out = sums;
}

static void fast_narrow(const float *restrict z, size_t count, const int32_t *labels,
                        pc_narrow_facts *restrict facts) {
  float turned[PC_NARROW_CLASSES * PC_LANES], top[PC_LANES], wanted[PC_LANES];
  const double unit = PC_LANE_EXPF_UNIT;
  fast_lanes sums;
  uint32_t bad = 0;
  fast_turn(z, count, turned);
  facts->finite = fast_tops(turned, count, top);
  fast_add_lanes(turned, count, top, &sums);
  for (size_t l = 0; l < PC_LANES; l++) {
    const uint32_t label = (uint32_t)labels[l];
    wanted[l] = turned[(label < count ? label : 0) * PC_LANES + l];
    bad |= label >= count;
  }
  facts->labelled = bad == 0;
  for (size_t l = 0; l < PC_LANES; l++) {
    const double ties = (double)sums.often[l] - 1.0;
    facts->rest[l] = (double)sums.term[l] * unit + ties;
    facts->rest_square[l] = (double)sums.square[l] * (unit * unit) + ties;
    facts->gap[l] = (double)wanted[l] - (double)top[l];
    facts->top[l] = sums.first[l];
  }
}

const pc_fast_kernels PC_VARIANT_TABLE(pc_fast_kernels) = {
    .name = PC_VARIANT_NAME,
    .softmax = fast_softmax,
    .narrow = fast_narrow,
};
