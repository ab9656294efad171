/* Replicas of metrics that are sums of row values, where every row has weight 1: weights are not
 * stored, and many replicas share one pass over the rows.  The values are those of replicas.c. */
#ifndef PC_SUM_REPLICAS_H
#define PC_SUM_REPLICAS_H

#include "measure/replicas/replica_row_sums.h"
#include "measure/replicas/replica_ways.h"

/* True if all requested slots are evaluated by finite sums of row values, and the request is
 * one for bootstrap weights or exchanges.  ways, sums: by slot. */
int pc_sum_replicas_apply(const pc_replica_request *request, const pc_replica_way *ways,
                          const pc_replica_row_sums *sums);

/* Fills the values of all replicas as pc_replicas_measure does.  serial: the environment of a
 * single thread, for evaluations. */
PC_CHECKED pcal_status pc_sum_replicas_measure(const pcal_env *env, const pcal_env *serial,
                                               const pc_replica_request *request,
                                               const pc_replica_row_sums *sums, double *values,
                                               pcal_error *err);

#endif
