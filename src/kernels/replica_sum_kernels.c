/* Sums over rows for replicas: see replica_sum_kernels.h. */
#include "kernels/replica_sum_kernels.h"

#include <string.h>

#include "kernels/philox_lanes.h"
#include "kernels/variant.h"

/* Explicit vectors with a number for each replica: compilers would write loops with conditions
 * out. */
typedef double replica_reals
    __attribute__((vector_size(PC_REPLICA_LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t replica_wholes
    __attribute__((vector_size(PC_REPLICA_LANES * sizeof(int64_t)), aligned(8), may_alias));
typedef float replica_floats
    __attribute__((vector_size(PC_REPLICA_LANES * sizeof(float)), aligned(4), may_alias));
typedef int32_t replica_ints
    __attribute__((vector_size(PC_REPLICA_LANES * sizeof(int32_t)), aligned(4), may_alias));

/* Loads the draws of a later score early: rows are visited in the order of their scores. */
static inline void replica_sum_prefetch(const void *draws, uint32_t row) {
  __builtin_prefetch((const char *)draws + (size_t)row * PC_REPLICA_LANES * sizeof(float));
}

/* A number on the lattice: see replica_sum_kernels.h. */
static inline double replica_sum_round(double value, double lattice) {
  return (value + lattice) - lattice;
}

static void replica_sum_add(const float *weights, const uint32_t *row, const double *score,
                            const double *hit, size_t count, double lattice, double *sums) {
  double all[PC_REPLICA_LANES] = {0.0}, hits[PC_REPLICA_LANES] = {0.0};
  double scores[PC_REPLICA_LANES] = {0.0}, squares[PC_REPLICA_LANES] = {0.0};
  double both[PC_REPLICA_LANES] = {0.0};
  for (size_t i = 0; i < count; i++) {
    const float *w = weights + (size_t)row[i] * PC_REPLICA_LANES;
    const double s = replica_sum_round(score[i], lattice), a = hit[i];
    const double square = replica_sum_round(score[i] * score[i], lattice);
    replica_sum_prefetch(weights, row[i + PC_REPLICA_AHEAD]);
    for (size_t k = 0; k < PC_REPLICA_LANES; k++) {
      const double weight = (double)w[k], mass = weight * s;
      all[k] += weight;
      hits[k] += weight * a;
      scores[k] += mass;
      squares[k] += weight * square;
      both[k] += mass * a;
    }
  }
  memcpy(sums + PC_REPLICA_SUM_WEIGHT * PC_REPLICA_LANES, all, sizeof all);
  memcpy(sums + PC_REPLICA_SUM_HITS * PC_REPLICA_LANES, hits, sizeof hits);
  memcpy(sums + PC_REPLICA_SUM_SCORE * PC_REPLICA_LANES, scores, sizeof scores);
  memcpy(sums + PC_REPLICA_SUM_SCORE_SQUARE * PC_REPLICA_LANES, squares, sizeof squares);
  memcpy(sums + PC_REPLICA_SUM_SCORE_HIT * PC_REPLICA_LANES, both, sizeof both);
}

static void replica_sum_add_three(const float *weights, const uint32_t *row,
                                  const double *score, const double *hit, size_t count,
                                  double lattice, double *sums) {
  double all[PC_REPLICA_LANES] = {0.0}, hits[PC_REPLICA_LANES] = {0.0};
  double scores[PC_REPLICA_LANES] = {0.0};
  for (size_t i = 0; i < count; i++) {
    const float *w = weights + (size_t)row[i] * PC_REPLICA_LANES;
    const double s = replica_sum_round(score[i], lattice), a = hit[i];
    replica_sum_prefetch(weights, row[i + PC_REPLICA_AHEAD]);
    for (size_t k = 0; k < PC_REPLICA_LANES; k++) {
      const double weight = (double)w[k];
      all[k] += weight;
      hits[k] += weight * a;
      scores[k] += weight * s;
    }
  }
  memcpy(sums + PC_REPLICA_SUM_WEIGHT * PC_REPLICA_LANES, all, sizeof all);
  memcpy(sums + PC_REPLICA_SUM_HITS * PC_REPLICA_LANES, hits, sizeof hits);
  memcpy(sums + PC_REPLICA_SUM_SCORE * PC_REPLICA_LANES, scores, sizeof scores);
}

static void replica_sum_add_labels(const float *weights, const int32_t *labels,
                                   const uint32_t *row, const int32_t *label,
                                   const double *score, size_t count, double lattice,
                                   double *sums) {
  replica_reals all = {0.0}, hits = all, scores = all, squares = all, both = all;
  for (size_t i = 0; i < count; i++) {
    const size_t at = (size_t)row[i] * PC_REPLICA_LANES;
    replica_sum_prefetch(weights, row[i + PC_REPLICA_AHEAD]);
    replica_sum_prefetch(labels, row[i + PC_REPLICA_AHEAD]);
    const double s = replica_sum_round(score[i], lattice);
    const double square = replica_sum_round(score[i] * score[i], lattice);
    const replica_reals weight = __builtin_convertvector(
        *(const replica_floats *)(const void *)(weights + at), replica_reals);
    const replica_wholes is_hit = __builtin_convertvector(
        *(const replica_ints *)(const void *)(labels + at) == label[i], replica_wholes);
    const replica_reals hit = (replica_reals)((replica_wholes)weight & is_hit);
    all += weight;
    hits += hit;
    scores += weight * s;
    squares += weight * square;
    both += hit * s;
  }
  memcpy(sums + PC_REPLICA_SUM_WEIGHT * PC_REPLICA_LANES, &all, sizeof all);
  memcpy(sums + PC_REPLICA_SUM_HITS * PC_REPLICA_LANES, &hits, sizeof hits);
  memcpy(sums + PC_REPLICA_SUM_SCORE * PC_REPLICA_LANES, &scores, sizeof scores);
  memcpy(sums + PC_REPLICA_SUM_SCORE_SQUARE * PC_REPLICA_LANES, &squares, sizeof squares);
  memcpy(sums + PC_REPLICA_SUM_SCORE_HIT * PC_REPLICA_LANES, &both, sizeof both);
}

static void replica_sum_add_hits(const uint8_t *hits, const uint32_t *row, const double *score,
                                 size_t count, double lattice, double *sums) {
  const replica_wholes bit = {1, 2, 4, 8, 16, 32, 64, 128}, none = {0};
  replica_wholes found = none;
  replica_reals both = {0.0};
  for (size_t i = 0; i < count; i++) {
    const replica_reals s = replica_sum_round(score[i], lattice) - (replica_reals){0.0};
    const replica_wholes is_hit = (bit & (int64_t)hits[row[i]]) != none;
    found -= is_hit;
    both += (replica_reals)((replica_wholes)s & is_hit);
  }
  const replica_reals all = __builtin_convertvector(found, replica_reals);
  memcpy(sums + PC_REPLICA_SUM_HITS * PC_REPLICA_LANES, &all, sizeof all);
  memcpy(sums + PC_REPLICA_SUM_SCORE_HIT * PC_REPLICA_LANES, &both, sizeof both);
}
_Static_assert(PC_REPLICA_LANES == 8, "hits of eight replicas are bits of a byte");

/* Adds weights times gaps of a row to the sums of a range. */
static inline void replica_sum_to_range(double *sums, size_t range, const replica_reals *w,
                                        double gap) {
  replica_reals *to = (replica_reals *)(void *)(sums + range * PC_REPLICA_LANES);
  *to += *w * gap;
}

/* A macro, because returning wide vectors depends on the instruction set. */
#define REPLICA_SUM_WEIGHTS(weights) \
  __builtin_convertvector(*(const replica_floats *)(const void *)(weights), replica_reals)

static void replica_sum_add_class_gaps(const float *weights, const double *probs,
                                       const int32_t *labels, const uint16_t *range,
                                       size_t count, size_t classes, double *sums) {
  for (size_t i = 0; i < count; i++, weights += PC_REPLICA_LANES, range += classes) {
    const replica_reals w = REPLICA_SUM_WEIGHTS(weights);
    for (size_t c = 0; c < classes; c++)
      replica_sum_to_range(sums, range[c], &w, *probs++);
    replica_sum_to_range(sums, range[labels[i]], &w, -1.0);
  }
}

#define REPLICA_SUM_COLUMNS 8    /* classes whose sums stay in registers */
#define REPLICA_SUM_TILE_ROWS 16 /* rows added up for some classes before the next ones */

/* Adds `width` classes of some rows. */
static inline void replica_sum_add_tile(const replica_reals *weights, const double *probs,
                                        size_t count, size_t classes, size_t width,
                                        double lattice, double *sums) {
  replica_reals all[REPLICA_SUM_COLUMNS];
  for (size_t c = 0; c < width; c++)
    all[c] = ((const replica_reals *)(const void *)sums)[c];
  for (size_t i = 0; i < count; i++, probs += classes) {
    const replica_reals w = weights[i];
    double p[REPLICA_SUM_COLUMNS];
    __builtin_prefetch(probs + REPLICA_SUM_TILE_ROWS * classes); /* of the next tile */
    for (size_t c = 0; c < width; c++)
      p[c] = replica_sum_round(probs[c], lattice);
    for (size_t c = 0; c < width; c++)
      all[c] += w * p[c];
  }
  for (size_t c = 0; c < width; c++)
    ((replica_reals *)(void *)sums)[c] = all[c];
}

static void replica_sum_add_columns(const float *weights, const double *probs, size_t count,
                                    size_t classes, double lattice, double *sums) {
  replica_reals *total = (replica_reals *)(void *)(sums + classes * PC_REPLICA_LANES);
  for (size_t begin = 0; begin < count; begin += REPLICA_SUM_TILE_ROWS) {
    const size_t left = count - begin;
    const size_t rows = left < REPLICA_SUM_TILE_ROWS ? left : REPLICA_SUM_TILE_ROWS;
    const double *p = probs + begin * classes;
    replica_reals w[REPLICA_SUM_TILE_ROWS];
    size_t c = 0;
    for (size_t i = 0; i < rows; i++) {
      w[i] = REPLICA_SUM_WEIGHTS(weights + (begin + i) * PC_REPLICA_LANES);
      *total += w[i];
    }
    for (; c + REPLICA_SUM_COLUMNS <= classes; c += REPLICA_SUM_COLUMNS)
      replica_sum_add_tile(w, p + c, rows, classes, REPLICA_SUM_COLUMNS, lattice,
                           sums + c * PC_REPLICA_LANES);
    for (; c + 2 <= classes; c += 2)
      replica_sum_add_tile(w, p + c, rows, classes, 2, lattice, sums + c * PC_REPLICA_LANES);
    if (c < classes)
      replica_sum_add_tile(w, p + c, rows, classes, 1, lattice, sums + c * PC_REPLICA_LANES);
  }
}

static void replica_sum_add_listed(const float *weights, const double *probs,
                                   const pc_listed_scores *listed, size_t count, size_t classes,
                                   double lattice, double *sums) {
  replica_reals *cells = (replica_reals *)(void *)sums;
  for (size_t i = 0; i < count; i++, weights += PC_REPLICA_LANES, probs += classes) {
    const replica_reals w = REPLICA_SUM_WEIGHTS(weights);
    for (size_t e = listed->begin[i]; e < listed->begin[i + 1]; e++) {
      replica_reals *cell = cells + (size_t)listed->cell[e] * PC_LISTED_SUMS;
      cell[PC_REPLICA_SUM_WEIGHT] += w;
      cell[PC_REPLICA_SUM_SCORE] +=
          w * replica_sum_round(probs[listed->class_index[e]], lattice);
    }
    cells[(size_t)listed->hit[i] * PC_LISTED_SUMS + PC_REPLICA_SUM_HITS] += w;
  }
}

#define REPLICA_SUM_BLOCKS PC_PHILOX_LANES /* blocks of the generator in one loop */

/* pc_rng_block for several indices. */
static void replica_sum_blocks(uint64_t seed, uint64_t stream, const uint64_t *ids,
                               uint32_t words[4][REPLICA_SUM_BLOCKS]) {
  uint64_t streams[REPLICA_SUM_BLOCKS];
  for (size_t i = 0; i < REPLICA_SUM_BLOCKS; i++)
    streams[i] = stream;
  pc_philox_lanes(seed, streams, ids, words);
}

/* The number of ascending steps that are not above the largest word: few words reach the
 * last ones. */
static inline size_t replica_sum_steps_reached(const uint32_t *words, size_t count,
                                               const uint32_t *steps, size_t step_count) {
  uint32_t most = 0;
  size_t reached = 0;
  for (size_t i = 0; i < count; i++)
    most = words[i] > most ? words[i] : most;
  while (reached < step_count && steps[reached] <= most)
    reached++;
  return reached;
}

/* How many steps are not above each of several words. */
static void replica_sum_count_steps(const uint32_t words[REPLICA_SUM_BLOCKS],
                                    const uint32_t *steps, size_t step_count,
                                    float out[REPLICA_SUM_BLOCKS]) {
  int32_t count[REPLICA_SUM_BLOCKS] = {0};
  for (size_t k = 0; k < step_count; k++)
    for (size_t i = 0; i < REPLICA_SUM_BLOCKS; i++)
      count[i] += words[i] >= steps[k];
  for (size_t i = 0; i < REPLICA_SUM_BLOCKS; i++)
    out[i] = (float)count[i];
}

static void replica_sum_draw_some(uint64_t seed, uint64_t stream, const uint64_t *ids,
                                  size_t count, const uint32_t *steps, size_t step_count,
                                  float *weights) {
  for (size_t lane = 0; lane < PC_REPLICA_LANES; lane += 4) {
    uint32_t words[4][REPLICA_SUM_BLOCKS];
    float drawn[4][REPLICA_SUM_BLOCKS];
    replica_sum_blocks(seed, stream + lane / 4, ids, words);
    const size_t reached =
        replica_sum_steps_reached(&words[0][0], 4 * REPLICA_SUM_BLOCKS, steps, step_count);
    for (size_t k = 0; k < 4; k++)
      replica_sum_count_steps(words[k], steps, reached, drawn[k]);
    for (size_t i = 0; i < count; i++)
      for (size_t k = 0; k < 4; k++)
        weights[i * PC_REPLICA_LANES + lane + k] = drawn[k][i];
  }
}

static void replica_sum_draw(uint64_t seed, uint64_t stream, const uint64_t *ids, size_t count,
                             const uint32_t *steps, size_t step_count, float *weights) {
  size_t i = 0;
  for (; i + REPLICA_SUM_BLOCKS <= count; i += REPLICA_SUM_BLOCKS)
    replica_sum_draw_some(seed, stream, ids + i, REPLICA_SUM_BLOCKS, steps, step_count,
                          weights + i * PC_REPLICA_LANES);
  if (i == count)
    return;
  uint64_t last[REPLICA_SUM_BLOCKS] = {0};
  memcpy(last, ids + i, (count - i) * sizeof *ids);
  replica_sum_draw_some(seed, stream, last, count - i, steps, step_count,
                        weights + i * PC_REPLICA_LANES);
}

static void replica_sum_uniforms(uint64_t seed, uint64_t stream, const uint64_t *ids,
                                 size_t count, double *out) {
  for (size_t begin = 0; begin < count; begin += REPLICA_SUM_BLOCKS) {
    const size_t left = count - begin,
                 some = left < REPLICA_SUM_BLOCKS ? left : REPLICA_SUM_BLOCKS;
    uint64_t halves[REPLICA_SUM_BLOCKS] = {0}, odd[REPLICA_SUM_BLOCKS] = {0};
    for (size_t i = 0; i < some; i++) {
      halves[i] = ids[begin + i] / 2;
      odd[i] = ids[begin + i] % 2;
    }
    for (size_t lane = 0; lane < PC_REPLICA_LANES; lane++) {
      uint32_t words[4][REPLICA_SUM_BLOCKS];
      double drawn[REPLICA_SUM_BLOCKS];
      replica_sum_blocks(seed, stream + lane, halves, words);
      for (size_t i = 0; i < REPLICA_SUM_BLOCKS; i++) {
        const uint32_t low = odd[i] ? words[2][i] : words[0][i];
        const uint32_t high = odd[i] ? words[3][i] : words[1][i];
        const uint64_t bits = (uint64_t)high << 32 | low;
        drawn[i] = pc_rng_unit(bits);
      }
      for (size_t i = 0; i < some; i++)
        out[(begin + i) * PC_REPLICA_LANES + lane] = drawn[i];
    }
  }
}

#define REPLICA_SUM_CLASSES 16 /* classes between two looks at what is left */

static void replica_sum_draw_class(const double *probs, size_t classes, int32_t but,
                                   const double *wanted, int32_t *out) {
  typedef double reals __attribute__((vector_size(PC_REPLICA_LANES * sizeof(double))));
  typedef int64_t wholes __attribute__((vector_size(PC_REPLICA_LANES * sizeof(int64_t))));
  reals least;
  wholes drawn, open;
  double sum = 0.0;
  memcpy(&least, wanted, sizeof least);
  for (size_t l = 0; l < PC_REPLICA_LANES; l++) {
    drawn[l] = out[l];
    open[l] = -1;
  }
  for (size_t k = 0; k < classes; k++) {
    if (k % REPLICA_SUM_CLASSES == REPLICA_SUM_CLASSES - 1) {
      int64_t any = 0;
      for (size_t l = 0; l < PC_REPLICA_LANES; l++)
        any |= open[l];
      if (any == 0)
        break;
    }
    if ((int32_t)k == but || !(probs[k] > 0.0))
      continue;
    sum += probs[k];
    drawn = (drawn & ~open) | ((int64_t)k & open);
    open &= ~(wholes)(least < sum);
  }
  for (size_t l = 0; l < PC_REPLICA_LANES; l++)
    out[l] = (int32_t)drawn[l];
}

static void replica_sum_add_values(const float *weights, const double *values, size_t width,
                                   size_t count, double *sums) {
  for (size_t v = 0; v < width; v++, sums += PC_REPLICA_LANES) {
    double all[PC_REPLICA_LANES] = {0.0};
    for (size_t i = 0; i < count; i++)
      for (size_t k = 0; k < PC_REPLICA_LANES; k++)
        all[k] += (double)weights[i * PC_REPLICA_LANES + k] * values[i * width + v];
    memcpy(sums, all, sizeof all);
  }
}

/* ---- sums of row values in many replicas ---- */

#define REPLICA_SUM_TILE 32 /* rows whose counts are drawn before they are added up */

/* Poisson(1) counts of a row: [word][stream] for PC_REPLICA_WIDE replicas. */
typedef float replica_sum_counts[PC_REPLICA_WIDE];

_Static_assert(PC_REPLICA_WIDE == 4 * REPLICA_SUM_BLOCKS, "four replicas share a stream");

static inline void replica_sum_count_wide(const uint32_t *words, const uint32_t *steps,
                                          size_t step_count, float *out) {
  const size_t reached = replica_sum_steps_reached(words, PC_REPLICA_WIDE, steps, step_count);
  int32_t count[PC_REPLICA_WIDE] = {0};
  for (size_t k = 0; k < reached; k++)
    for (size_t i = 0; i < PC_REPLICA_WIDE; i++)
      count[i] += words[i] >= steps[k];
  for (size_t i = 0; i < PC_REPLICA_WIDE; i++)
    out[i] = (float)count[i];
}

static void replica_sum_draw_wide(uint64_t seed, uint64_t stream, uint64_t id,
                                  const uint32_t *steps, size_t step_count, float *out) {
  uint64_t streams[REPLICA_SUM_BLOCKS], ids[REPLICA_SUM_BLOCKS];
  uint32_t words[4][REPLICA_SUM_BLOCKS];
  for (size_t i = 0; i < REPLICA_SUM_BLOCKS; i++) {
    streams[i] = stream + i;
    ids[i] = id;
  }
  pc_philox_lanes(seed, streams, ids, words);
  replica_sum_count_wide(&words[0][0], steps, step_count, out);
}

/* From [word][stream] to the order of replicas. */
static void replica_sum_in_order(double *sums) {
  double turned[PC_REPLICA_WIDE];
  for (size_t i = 0; i < REPLICA_SUM_BLOCKS; i++)
    for (size_t k = 0; k < 4; k++)
      turned[4 * i + k] = sums[k * REPLICA_SUM_BLOCKS + i];
  memcpy(sums, turned, sizeof turned);
}

static void replica_sum_poisson(uint64_t seed, uint64_t stream, const uint64_t *ids,
                                const double *values, size_t width, size_t count, double *total,
                                double *sums) {
  static const uint32_t steps[] = PC_POISSON_ONE_STEPS;
  replica_sum_counts counts[REPLICA_SUM_TILE];
  memset(total, 0, PC_REPLICA_WIDE * sizeof *total);
  memset(sums, 0, width * PC_REPLICA_WIDE * sizeof *sums);
  for (size_t begin = 0; begin < count; begin += REPLICA_SUM_TILE) {
    const size_t left = count - begin, some = left < REPLICA_SUM_TILE ? left : REPLICA_SUM_TILE;
    for (size_t i = 0; i < some; i++)
      replica_sum_draw_wide(seed, stream, ids[begin + i], steps, sizeof steps / sizeof *steps,
                            counts[i]);
    for (size_t i = 0; i < some; i++)
      for (size_t k = 0; k < PC_REPLICA_WIDE; k++)
        total[k] += (double)counts[i][k];
    for (size_t v = 0; v < width; v++)
      for (size_t i = 0; i < some; i++) {
        const double value = values[(begin + i) * width + v];
        for (size_t k = 0; k < PC_REPLICA_WIDE; k++)
          sums[v * PC_REPLICA_WIDE + k] += (double)counts[i][k] * value;
      }
  }
  replica_sum_in_order(total);
  for (size_t v = 0; v < width; v++)
    replica_sum_in_order(sums + v * PC_REPLICA_WIDE);
}

static void replica_sum_exchange_bits(uint64_t seed, uint64_t stream, const uint64_t *ids,
                                      size_t count, int high, uint64_t *bits) {
  for (size_t begin = 0; begin < count; begin += REPLICA_SUM_BLOCKS) {
    const size_t left = count - begin,
                 some = left < REPLICA_SUM_BLOCKS ? left : REPLICA_SUM_BLOCKS;
    const size_t word = high ? 2 : 0;
    uint64_t here[REPLICA_SUM_BLOCKS] = {0};
    uint32_t words[4][REPLICA_SUM_BLOCKS];
    memcpy(here, ids + begin, some * sizeof *ids);
    replica_sum_blocks(seed, stream, here, words);
    for (size_t i = 0; i < some; i++)
      bits[begin + i] = (uint64_t)words[word + 1][i] << 32 | words[word][i];
  }
}

/* Adds the values of one model, [row * width], to the sums of both sides for sixteen exchanges,
 * which are bits `shift` to `shift` + 15 of a row. */
static inline void replica_sum_exchange_some(const uint64_t *bits, size_t shift,
                                             const double *values, size_t width, size_t count,
                                             double *stays, double *moves) {
  const replica_wholes bit = {1, 2, 4, 8, 16, 32, 64, 128}, none = {0};
  replica_reals stay[2], move[2];
  memcpy(&stay[0], stays, sizeof stay);
  memcpy(&move[0], moves, sizeof move);
  for (size_t i = 0; i < count; i++) {
    const replica_reals value = values[i * width] - (replica_reals){0.0};
    for (size_t e = 0; e < 2; e++) {
      const int64_t eight = (int64_t)(bits[i] >> (shift + e * PC_REPLICA_LANES) & 255);
      const replica_wholes moved = (bit & eight) != none;
      stay[e] += (replica_reals)((replica_wholes)value & ~moved);
      move[e] += (replica_reals)((replica_wholes)value & moved);
    }
  }
  memcpy(stays, &stay[0], sizeof stay);
  memcpy(moves, &move[0], sizeof move);
}

static void replica_sum_exchange(const uint64_t *bits, const double *values, size_t width,
                                 size_t count, double *sums) {
  memset(sums, 0, width * 2 * PC_REPLICA_WIDE * sizeof *sums);
  for (size_t v = 0; v < width; v++, sums += 2 * PC_REPLICA_WIDE)
    for (size_t e = 0; e < PC_REPLICA_WIDE; e += 2 * PC_REPLICA_LANES) {
      double *first = sums + e, *second = first + PC_REPLICA_WIDE;
      replica_sum_exchange_some(bits, e, values + v, width, count, first, second);
      replica_sum_exchange_some(bits, e, values + count * width + v, width, count, second,
                                first);
    }
}

const pc_replica_sum_kernels PC_VARIANT_TABLE(pc_replica_sum_kernels) = {
    .add = replica_sum_add,
    .add_three = replica_sum_add_three,
    .add_labels = replica_sum_add_labels,
    .add_hits = replica_sum_add_hits,
    .add_class_gaps = replica_sum_add_class_gaps,
    .add_columns = replica_sum_add_columns,
    .add_listed = replica_sum_add_listed,
    .uniforms = replica_sum_uniforms,
    .draw_class = replica_sum_draw_class,
    .add_values = replica_sum_add_values,
    .draw = replica_sum_draw,
    .poisson = replica_sum_poisson,
    .exchange_bits = replica_sum_exchange_bits,
    .exchange = replica_sum_exchange,
};
