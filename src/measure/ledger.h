/* A ledger: the states of a plan for each group of rows, updated and merged together. */
#ifndef PC_LEDGER_H
#define PC_LEDGER_H

#include "core/sum.h"
#include "measure/plan.h"

/* The largest weight of all rows together that is certain to be summed exactly. */
#define PC_WEIGHT_MAX 0x1p62

/* What is counted whatever is asked for. */
typedef struct pc_tally {
  uint64_t rows; /* that count: weight above 0, nothing missing */
  pc_sum weight;
  pc_sum square;                 /* of weights squared */
  int32_t label_low, label_high; /* of the rows that count; low > high when there are none */
} pc_tally;

typedef struct pc_account {
  pc_tally tally;
  void *states[]; /* one for each slot of the plan */
} pc_account;

typedef struct pc_ledger {
  const pcal_env *env;
  const pc_plan *plan;
  pc_account **accounts; /* by group number; NULL where there was never a row */
  size_t count, capacity;
} pc_ledger;

#define PC_GROUPS_MAX 1048576

/* (sum w)^2 / sum w^2 (Kish 1965); the number of rows where weights are too small to square. */
double pc_tally_effective(const pc_tally *tally);

void pc_ledger_init(pc_ledger *ledger, const pcal_env *env, const pc_plan *plan);
void pc_ledger_free(pc_ledger *ledger);
void pc_ledger_clear(pc_ledger *ledger); /* to zero rows; keeps accounts and their memory */

/* The account of a group number, or NULL when none of its rows counts. */
const pc_account *pc_ledger_find(const pc_ledger *ledger, size_t number);

/* Makes an account exist and returns it in *out. */
PC_CHECKED pcal_status pc_ledger_open(pc_ledger *ledger, size_t number, pc_account **out,
                                      pcal_error *err);

/* Adds rows to one account; columns[v] belongs to view v of the plan. */
PC_CHECKED pcal_status pc_ledger_update(pc_ledger *ledger, size_t number, const pc_rows *rows,
                                        const pc_columns *columns, pcal_error *err);

/* Adds plain rows (data/rows.h) to account 0, for a plan that needs only stored scores. */
PC_CHECKED pcal_status pc_ledger_take(pc_ledger *ledger, const pc_stored_rows *rows,
                                      pcal_error *err);

/* Adds all accounts of `from` that have rows; on failure `into` is as it was. */
PC_CHECKED pcal_status pc_ledger_merge(pc_ledger *into, const pc_ledger *from, pcal_error *err);

/* The same, account a of `from` into account map[a]; no two of them into the same. */
PC_CHECKED pcal_status pc_ledger_merge_mapped(pc_ledger *into, const pc_ledger *from,
                                              const size_t *map, pcal_error *err);

/* Adds all accounts of `from` into account 0; on failure account 0 is partly filled. */
PC_CHECKED pcal_status pc_ledger_total(pc_ledger *into, const pc_ledger *from, pcal_error *err);

/* Accounts as bytes.  What cannot have been saved fails the decoder; then, and on failure, no
 * account is added. */
PC_CHECKED pcal_status pc_ledger_save(const pc_ledger *ledger, const pc_account *account,
                                      pc_encoder *out, pcal_error *err);
PC_CHECKED pcal_status pc_ledger_load(pc_ledger *ledger, size_t number, pc_decoder *in,
                                      pcal_error *err);

#endif
