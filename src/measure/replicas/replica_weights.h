/* The weight of each row in a replica. */
#ifndef PC_REPLICA_WEIGHTS_H
#define PC_REPLICA_WEIGHTS_H

#include "base/rng.h"
#include "measure/replicas/replicas.h"

/* The keys of draws: of rows, or of their clusters. */
const uint64_t *pc_replica_keys(const pc_kept_rows *rows);

/* The generator of exchanges: stream + n has the bits of block n (exchange.h). */
pc_rng pc_replica_exchange_rng(uint64_t seed);

/* Random bits of a block of exchanges, which many batches share. */
typedef struct pc_replica_bits {
  uint32_t (*bits)[4]; /* of each row */
  uint64_t block;      /* number of the block, from 1; 0: not filled */
} pc_replica_bits;

/* The weights of all rows in the replicas of a batch, drawn[row][replica], and their totals:
 * pure functions of the seed, the replica and the keys of the rows.  bits: for exchanges; kept
 * between calls with the same rows. */
void pc_replica_weights(const pc_replica_request *request, uint64_t seed, size_t batch,
                        pc_replica_bits *bits, float *drawn, double total[PC_REPLICA_LANES]);

#endif
