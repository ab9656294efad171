/* Sums of row values in replicas that draw other labels: PC_REPLICA_LANES replicas in one walk over
 * the rows, so that the probabilities of a row are read once for all of them. */
#ifndef PC_REPLICA_LABEL_SUMS_H
#define PC_REPLICA_LABEL_SUMS_H

#include "kernels/replica_sum_kernels.h"
#include "measure/measure_plan.h"

/* The memory of one worker. */
typedef struct pc_replica_label_sums {
  const pc_measure_plan *plan;
  void **states;   /* [slot][lane]; NULL: the slot is not summed */
  double *terms;   /* of a block of rows: see replica_label_sums.c */
  int32_t *labels; /* [lane][row of the block] */
  uint64_t *ids;   /* of the block */
  double *kept;    /* [row][0, 1][term] for the most probable class, and for the next */
  int32_t *second; /* [row]: the next class */
} pc_replica_label_sums;

/* slots[s] != 0: slot s, which must be of the machine PC_SUM, is summed.  Freed with
 * pc_replica_label_sums_free, after a failure too. */
PC_CHECKED pcal_status pc_replica_label_sums_new(const pcal_env *env,
                                                 const pc_measure_plan *plan,
                                                 const uint8_t *slots, const pc_kept_rows *rows,
                                                 pc_replica_label_sums *out, pcal_error *err);
void pc_replica_label_sums_free(const pcal_env *env, pc_replica_label_sums *sums);

/* True if the rows have what sums need: all probabilities, and weight 1 each. */
int pc_replica_label_sums_apply(const pc_kept_rows *rows);

/* Adds up all rows with labels[row][lane] of lanes below `lanes`. */
PC_CHECKED pcal_status pc_replica_label_sums_add(const pcal_env *env, const pc_kept_rows *rows,
                                                 const int32_t *labels, size_t lanes,
                                                 pc_replica_label_sums *sums, pcal_error *err);

#endif
