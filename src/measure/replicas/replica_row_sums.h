/* Sums of row values under many sets of weights: the values are found once for all replicas. */
#ifndef PC_REPLICA_ROW_SUMS_H
#define PC_REPLICA_ROW_SUMS_H

#include "measure/replicas/sorted_view.h"

typedef struct pc_replica_row_sums {
  size_t rows, count; /* of values of a row; 0: there are none */
  double *values;     /* row after row */
  uint64_t *ids;
} pc_replica_row_sums;

/* The values of all rows; freed with pc_replica_row_sums_free. */
PC_CHECKED pcal_status pc_replica_row_sums_new(const pcal_env *env, const pc_need *need,
                                               const pc_rows *rows, pc_replica_row_sums *out,
                                               pcal_error *err);
void pc_replica_row_sums_free(const pcal_env *env, pc_replica_row_sums *sums);

/* Fills the sums of the evidence, those of products left at 0, for the weights of one replica;
 * they are added in the order of the rows. */
void pc_replica_row_sums_evidence(const pc_replica_row_sums *sums, const pc_replica_draw *drawn,
                                  pc_evidence *evidence);

#endif
