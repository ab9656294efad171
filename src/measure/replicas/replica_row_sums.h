/* Sums of row values in replicas: the values of all rows are computed once. */
#ifndef PC_REPLICA_ROW_SUMS_H
#define PC_REPLICA_ROW_SUMS_H

#include "measure/replicas/replicas.h"
#include "measure/replicas/sorted_view.h"

typedef struct pc_replica_row_sums {
  size_t rows;
  size_t count;   /* values per row; 0: empty */
  double *values; /* [row][value] */
  uint64_t *ids;
  int finite; /* all values are finite */
} pc_replica_row_sums;

/* Computes the values of all rows; freed with pc_replica_row_sums_free. */
PC_CHECKED pcal_status pc_replica_row_sums_new(const pcal_env *env, const pc_need *need,
                                               const pc_rows *rows, pc_replica_row_sums *out,
                                               pcal_error *err);
void pc_replica_row_sums_free(const pcal_env *env, pc_replica_row_sums *sums);

/* The same for all requested slots that are sums: out[slot].  For requests that keep labels. */
PC_CHECKED pcal_status pc_replica_row_sums_fill(const pcal_env *env,
                                                const pc_replica_request *request,
                                                pc_replica_row_sums *out, pcal_error *err);

/* Sums of finite values for PC_REPLICA_LANES replicas at once: batch[value][lane]. */
void pc_replica_row_sums_add(const pc_replica_row_sums *sums, const float *weights,
                             double *batch);

/* Fills the sums of the evidence for the weights of one replica, in the order of the rows; sums
 * of products are 0.  batch: the result of pc_replica_row_sums_add from this replica's lane on;
 * unused if values are infinite. */
void pc_replica_row_sums_evidence(const pc_replica_row_sums *sums, const pc_replica_draw *drawn,
                                  const double *batch, pc_evidence *evidence);

#endif
