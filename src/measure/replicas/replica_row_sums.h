/* Sums of row values in replicas: the values of all rows are computed once. */
#ifndef PC_REPLICA_ROW_SUMS_H
#define PC_REPLICA_ROW_SUMS_H

#include "measure/replicas/sorted_view.h"

typedef struct pc_replica_row_sums {
  size_t rows;
  size_t count;   /* values per row; 0: empty */
  double *values; /* [row][value] */
  uint64_t *ids;
} pc_replica_row_sums;

/* Computes the values of all rows; freed with pc_replica_row_sums_free. */
PC_CHECKED pcal_status pc_replica_row_sums_new(const pcal_env *env, const pc_need *need,
                                               const pc_rows *rows, pc_replica_row_sums *out,
                                               pcal_error *err);
void pc_replica_row_sums_free(const pcal_env *env, pc_replica_row_sums *sums);

/* Fills the sums of the evidence for the weights of one replica, in the order of the rows; sums
 * of products are 0. */
void pc_replica_row_sums_evidence(const pc_replica_row_sums *sums, const pc_replica_draw *drawn,
                                  pc_evidence *evidence);

#endif
