/* Sums over rows for several replicas (sets of weights) at once, and the weights themselves.  A
 * kernel table: see dispatch.h. */
#ifndef PC_REPLICA_SUM_KERNELS_H
#define PC_REPLICA_SUM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define PC_REPLICA_LANES 8 /* replicas in one call */
#define PC_REPLICA_WIDE \
  64 /* replicas in one call of `poisson`, exchanges in one of `exchange` */
#define PC_REPLICA_AHEAD \
  24 /* rows behind the last one of a call that can be read: their draws are
                               loaded early */

/* Sums for scores s and outcomes a (0 or 1) with weights w. */
enum {
  PC_REPLICA_SUM_WEIGHT,       /* w */
  PC_REPLICA_SUM_HITS,         /* w a */
  PC_REPLICA_SUM_SCORE,        /* w s */
  PC_REPLICA_SUM_SCORE_HIT,    /* w s a */
  PC_REPLICA_SUM_SCORE_SQUARE, /* w s^2 */
  PC_REPLICA_SUM_COUNT
};

/* Some of the scores of each row (probabilities of classes), and the cell of each. */
typedef struct pc_listed_scores {
  const size_t *begin; /* of each row; then the end */
  const uint32_t *class_index, *cell;
  const uint32_t *hit; /* of each row: the cell of its label */
} pc_listed_scores;
#define PC_LISTED_SUMS (PC_REPLICA_SUM_SCORE + 1)

/* lattice: scores and their squares are rounded to multiples of 2^-k by adding 1.5 2^(52 - k) and
 * subtracting it again; 0: they are not rounded.  Sums of fewer than 2^(53 - k) rows are then exact
 * in any order. */
typedef struct pc_replica_sum_kernels {
  /* sums[what][lane] over i < count with w = weights[row[i]][lane], in the order of i: all
   * sums, or the first three. */
  void (*add)(const float *weights, const uint32_t *row, const double *score, const double *hit,
              size_t count, double lattice, double *sums);
  void (*add_three)(const float *weights, const uint32_t *row, const double *score,
                    const double *hit, size_t count, double lattice, double *sums);
  /* All sums with w = weights[row[i]][lane]; a score is a hit if labels[row[i]][lane] is
   * label[i]. */
  void (*add_labels)(const float *weights, const int32_t *labels, const uint32_t *row,
                     const int32_t *label, const double *score, size_t count, double lattice,
                     double *sums);
  /* The sums HITS and SCORE_HIT alone, for weights of 1: score i is a hit in a lane if that bit of
   * hits[row[i]] is set. */
  void (*add_hits)(const uint8_t *hits, const uint32_t *row, const double *score, size_t count,
                   double lattice, double *sums);
  /* Adds gaps (probability - outcome) of every class of rows i < count to
   * sums[range[i][class]][lane], in the order of i. */
  void (*add_class_gaps)(const float *weights, const double *probs, const int32_t *labels,
                         const uint16_t *range, size_t count, size_t classes, double *sums);
  /* Adds probabilities of every class to sums[class][lane], and weights to sums[classes][lane], for
   * rows i < count with w = weights[i][lane].  The lattice must make the sums exact. */
  void (*add_columns)(const float *weights, const double *probs, size_t count, size_t classes,
                      double lattice, double *sums);
  /* Adds listed scores of rows i < count to the first three sums[cell][what][lane], and hits to the
   * cells of the rows' labels. */
  void (*add_listed)(const float *weights, const double *probs, const pc_listed_scores *listed,
                     size_t count, size_t classes, double lattice, double *sums);
  /* out[i][lane] for rows i < count: uniform draws at index ids[i] of the generator
   * (pc_rng_uniform), with a stream for each lane, from `stream` on. */
  void (*uniforms)(uint64_t seed, uint64_t stream, const uint64_t *ids, size_t count,
                   double *out);
  /* out[lane]: the first class, without `but` and those of probability 0, up to which the
   * probabilities add up to more than wanted[lane]; the last such class if none does; unchanged
   * if there is no such class. */
  void (*draw_class)(const double *probs, size_t classes, int32_t but, const double *wanted,
                     int32_t *out);
  /* sums[v][lane] of weights[i][lane] values[i][v] over i < count, in the order of i, for `width`
   * finite values of each row. */
  void (*add_values)(const float *weights, const double *values, size_t width, size_t count,
                     double *sums);
  /* weights[i][lane] for rows i < count: how many of the steps are not above the 32 bits of the
   * lane at index ids[i] of the generator, a Poisson draw for those of pc_poisson_steps.  Four
   * lanes share a stream; the first four use `stream`, the next four the stream after it. */
  void (*draw)(uint64_t seed, uint64_t stream, const uint64_t *ids, size_t count,
               const uint32_t *steps, size_t step_count, float *weights);
  /* Sums of `width` finite values of each row in PC_REPLICA_WIDE replicas in which row i has a
   * Poisson(1) count, that of `draw` for replicas from 4 (stream - first stream) on:
   * sums[v][replica] of count times values[i][v], in the order of i, and total[replica] of
   * counts. */
  void (*poisson)(uint64_t seed, uint64_t stream, const uint64_t *ids, const double *values,
                  size_t width, size_t count, double *total, double *sums);
  /* bits[i]: the low or the high 64 of the 128 bits at index ids[i] of the generator. */
  void (*exchange_bits)(uint64_t seed, uint64_t stream, const uint64_t *ids, size_t count,
                        int high, uint64_t *bits);
  /* Sums of `width` values of each row in PC_REPLICA_WIDE exchanges of two models.  values: `count`
   * rows of the first model, then those of the second.  sums[v][side][exchange]: side 0 has row i
   * of the first model unless bit `exchange` of bits[i] is set, and that of the second model if it
   * is; side 1 has the others.  Added in the order of the values. */
  void (*exchange)(const uint64_t *bits, const double *values, size_t width, size_t count,
                   double *sums);
} pc_replica_sum_kernels;

#endif
