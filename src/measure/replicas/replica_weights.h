/* The weight of each row in a replica. */
#ifndef PC_REPLICA_WEIGHTS_H
#define PC_REPLICA_WEIGHTS_H

#include "measure/replicas/replicas.h"

/* The weights of all rows in the replicas of a batch, drawn[row][replica], and their totals:
 * pure functions of the seed, the replica and the keys of the rows. */
void pc_replica_weights(const pc_replica_request *request, uint64_t seed, size_t batch,
                        float *drawn, double total[PC_REPLICA_LANES]);

#endif
