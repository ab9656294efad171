/* Sums over rows for several sets of weights at once: one portable source, compiled once for
 * each instruction set, all variants with the same bits. */
#ifndef PC_REPLICA_SUM_KERNELS_H
#define PC_REPLICA_SUM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define PC_REPLICA_LANES 8 /* sets of weights side by side */

/* What is added up of scores s and outcomes a (0 or 1) with weights w. */
enum {
  PC_REPLICA_SUM_WEIGHT,       /* w */
  PC_REPLICA_SUM_HITS,         /* w a */
  PC_REPLICA_SUM_SCORE,        /* w s */
  PC_REPLICA_SUM_SCORE_HIT,    /* w s a */
  PC_REPLICA_SUM_SCORE_SQUARE, /* w s^2 */
  PC_REPLICA_SUM_COUNT
};

typedef struct pc_replica_sum_kernels {
  const char *name;
  /* sums[what][lane] over i < count, w = weights[row[i]][lane], in the order of i; all of them,
   * or the first three. */
  void (*add)(const float *weights, const uint32_t *row, const double *score, const double *hit,
              size_t count, double *sums);
  void (*add_three)(const float *weights, const uint32_t *row, const double *score,
                    const double *hit, size_t count, double *sums);
  /* weights[i][lane] of rows i < count: Poisson(1) draws from the blocks of the generator at
   * indices ids[i], four lanes from each of the streams from this one on. */
  void (*draw)(uint64_t seed, uint64_t stream, const uint64_t *ids, size_t count,
               float *weights);
} pc_replica_sum_kernels;

extern const pc_replica_sum_kernels pc_replica_sum_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_replica_sum_kernels *pc_replica_sum_kernels_at(size_t index);
const pc_replica_sum_kernels *pc_replica_sum_kernels_best(void);

#endif
