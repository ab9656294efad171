/* Two models on the same rows, exchanged row by row: the rows of both models form one set, and
 * each replica takes each row from one of the two models (PC_REPLICA_EXCHANGE). */
#ifndef PC_EXCHANGE_H
#define PC_EXCHANGE_H

#include "base/rng.h"
#include "measure/measure_plan.h"

#define PC_EXCHANGE_BATCH 4 /* exchanges drawn together */

/* moved[q]: the number of copies of a row of weight w that change sides in exchange first + q,
 * for q < PC_EXCHANGE_BATCH; first is a multiple of that.  Binomial(w, 1/2), a pure function of
 * the generator, the index of the row (or of its cluster) and the exchange.  Exchange 0 moves
 * nothing. whole = 0: the row changes sides with all its weight or not at all. */
void pc_exchange_draw(const pc_rng *rng, uint64_t id, uint64_t first, double weight, int whole,
                      double moved[PC_EXCHANGE_BATCH]);

/* The random bits of exchanges first .. first + PC_EXCHANGE_BLOCK - 1 for a row that changes sides
 * as a whole; first is a multiple of PC_EXCHANGE_BLOCK. */
#define PC_EXCHANGE_BLOCK 128
void pc_exchange_bits(const pc_rng *rng, uint64_t id, uint64_t first, uint32_t bits[4]);

/* Whether two models can be exchanged, and where they differ. */
typedef struct pc_exchange_check {
  int possible;          /* same rows, same kind of columns */
  uint64_t differ;       /* rows, or clusters, in which the predictions differ */
  double score_distance; /* of the two distributions of scores, in standard errors */
} pc_exchange_check;

PC_CHECKED pcal_status pc_exchange_compare(const pcal_env *env, const pc_layout *layouts[2],
                                           const pc_kept_rows *rows[2], pc_exchange_check *out,
                                           pcal_error *err);

/* True if all weights are whole, so that a row of weight w stands for w rows. */
int pc_exchange_whole(const pc_kept_rows *rows);

/* The rows of the first model followed by those of the second; freed with pc_exchange_free. */
PC_CHECKED pcal_status pc_exchange_join(const pcal_env *env, const pc_kept_rows *rows[2],
                                        pc_kept_rows *out, pcal_error *err);
void pc_exchange_free(const pcal_env *env, pc_kept_rows *rows);

/* Replaces cluster keys by numbers from 0 on, in the order of the keys. */
PC_CHECKED pcal_status pc_exchange_number(const pcal_env *env, pc_kept_rows *rows,
                                          pcal_error *err);

/* The memory that kept rows take, in bytes. */
size_t pc_exchange_bytes(const pc_kept_rows *rows);

/* Moves distinct rows to *out: copies become weights, and clusters are numbered by their keys. */
PC_CHECKED pcal_status pc_exchange_take(const pcal_env *env, pc_kept_rows *rows,
                                        pc_kept_rows *out, pcal_error *err);

#endif
