/* How the replicas of a slot are evaluated. */
#ifndef PC_REPLICA_WAYS_H
#define PC_REPLICA_WAYS_H

#include "measure/replicas/replicas.h"

/* The fastest way that applies. */
typedef enum pc_replica_way {
  PC_REPLICA_WAY_NONE,     /* the slot is not requested */
  PC_REPLICA_WAY_IN_BATCH, /* sorted scores or classes of rows, ranges added up for all replicas
                                of a batch */
  PC_REPLICA_WAY_COUNT,    /* grids over every class with other labels: hits counted by row */
  PC_REPLICA_WAY_REFILL,   /* sorted scores, evidence filled replica by replica */
  PC_REPLICA_WAY_ROW_SUMS, /* sums of row values, which are computed once */
  PC_REPLICA_WAY_LABEL_SUMS, /* the same with other labels, for all replicas of a batch */
  PC_REPLICA_WAY_STATE       /* rows written out and added to an ordinary state */
} pc_replica_way;

/* True if an entry of the slot is requested. */
int pc_replica_wants_slot(const pc_replica_request *request, size_t slot);

/* views: those of the request, or its own.  lanes: labels are drawn for all replicas of a batch
 * together. */
pc_replica_way pc_replica_choose_way(const pc_replica_request *request,
                                     const pc_replica_views *views, size_t slot, int lanes);

#endif
