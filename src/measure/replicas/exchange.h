/* Two models on the same rows, exchanged row by row: both models' rows as one set, of which
 * each replica takes every row from one model or the other (PC_REPLICA_EXCHANGE). */
#ifndef PC_EXCHANGE_H
#define PC_EXCHANGE_H

#include "base/rng.h"
#include "measure/measure_plan.h"

#define PC_EXCHANGE_BATCH 4 /* exchanges drawn together */

/* Copies of a row of weight w that change sides in exchanges first .. first + PC_EXCHANGE_BATCH
 * - 1, first a multiple of that: Binomial(w, 1/2), a pure function of the generator, the row's
 * index (or its cluster) and the number of the exchange; in exchange 0 none.  whole = 0: the
 * row is a unit and changes sides with all its weight. */
void pc_exchange_draw(const pc_rng *rng, uint64_t id, uint64_t first, double weight, int whole,
                      double moved[PC_EXCHANGE_BATCH]);

/* What two models have in common and where they differ. */
typedef struct pc_exchange_check {
  int possible;    /* same rows, same kind of columns */
  uint64_t differ; /* rows in which the predictions differ; clusters of them where there are */
  int scores_differ; /* the scores of the two models differ in law, at 5 % */
} pc_exchange_check;

PC_CHECKED pcal_status pc_exchange_compare(const pcal_env *env, const pc_layout *layouts[2],
                                           const pc_kept_rows *rows[2], pc_exchange_check *out,
                                           pcal_error *err);

/* Are all weights whole, so that a row of weight w stands for w rows? */
int pc_exchange_whole(const pc_kept_rows *rows);

/* The rows of the first model, then those of the second; freed with pc_exchange_free. */
PC_CHECKED pcal_status pc_exchange_join(const pcal_env *env, const pc_kept_rows *rows[2],
                                        pc_kept_rows *out, pcal_error *err);
void pc_exchange_free(const pcal_env *env, pc_kept_rows *rows);

/* Replaces the keys of clusters by numbers from 0 on, in the order of the keys. */
PC_CHECKED pcal_status pc_exchange_number(const pcal_env *env, pc_kept_rows *rows,
                                          pcal_error *err);

/* Bytes of kept rows. */
size_t pc_exchange_bytes(const pc_kept_rows *rows);

#endif
