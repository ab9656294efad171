/* A ledger: the states of a plan for each group of rows, updated and merged together. */
#ifndef PC_LEDGER_H
#define PC_LEDGER_H

#include "core/budget.h"
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

typedef struct pc_packed pc_packed; /* packed_account.h */

/* By group number an account, a packed one, or neither where there was never a row. */
typedef struct pc_ledger {
  const pcal_env *env;
  const pc_plan *plan;
  pc_account **accounts;
  pc_packed **packed;
  size_t count, capacity, packed_capacity;
  size_t open;          /* accounts that are not packed */
  size_t packed_count;  /* that are */
  size_t packed_length; /* of the longest, before packing; 0: none was packed yet */
} pc_ledger;

#define PC_GROUPS_MAX 1048576

/* (sum w)^2 / sum w^2 (Kish 1965); the number of rows where weights are too small to square. */
double pc_tally_effective(const pc_tally *tally);

void pc_ledger_init(pc_ledger *ledger, const pcal_env *env, const pc_plan *plan);
void pc_ledger_free(pc_ledger *ledger);
void pc_ledger_clear(pc_ledger *ledger); /* to zero rows; keeps accounts and their memory */

/* One more than the largest number of an account that has rows; 0: none has. */
size_t pc_ledger_used(const pc_ledger *ledger);

/* Of a group number: its rows, and their weight. */
uint64_t pc_ledger_rows(const pc_ledger *ledger, size_t number);
double pc_ledger_weight(const pc_ledger *ledger, size_t number);

/* The account of a group number, or NULL when none of its rows counts.  Not for ledgers of
 * groups, whose accounts may be packed. */
const pc_account *pc_ledger_find(const pc_ledger *ledger, size_t number);

/* The same for any ledger; *loan is to be freed with pc_account_free after use. */
PC_CHECKED pcal_status pc_ledger_view(const pc_ledger *ledger, size_t number, pc_account **loan,
                                      const pc_account **out, pcal_error *err);
void pc_account_free(const pc_ledger *ledger, pc_account *account); /* NULL is fine */

/* Packs accounts when those that are open take much memory.  To be called between updates. */
PC_CHECKED pcal_status pc_ledger_tidy(pc_ledger *ledger, pcal_error *err);

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
 * account is added, and *out is NULL. */
PC_CHECKED pcal_status pc_account_save(const pc_ledger *ledger, const pc_account *account,
                                       pc_encoder *out, pcal_error *err);
PC_CHECKED pcal_status pc_account_load(const pc_ledger *ledger, pc_decoder *in,
                                       pc_account **out, pcal_error *err);
PC_CHECKED pcal_status pc_ledger_save(const pc_ledger *ledger, size_t number, pc_encoder *out,
                                      pcal_error *err);
PC_CHECKED pcal_status pc_ledger_load(pc_ledger *ledger, size_t number, pc_decoder *in,
                                      pcal_error *err);

#endif
