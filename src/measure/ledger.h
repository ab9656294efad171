/* A ledger: the states of a plan for each group of rows, updated and merged together. */
#ifndef PC_LEDGER_H
#define PC_LEDGER_H

#include "core/sum.h"
#include "measure/plan.h"

/* What is counted whatever is asked for. */
typedef struct pc_tally {
  uint64_t rows; /* that count: weight above 0, nothing missing */
  pc_sum weight;
  int32_t label_low, label_high; /* of the rows that count; low > high when there are none */
} pc_tally;

typedef struct pc_account {
  pc_tally tally;
  void **states; /* one for each slot of the plan */
} pc_account;

typedef struct pc_ledger {
  const pcal_env *env;
  const pc_plan *plan;
  pc_account *accounts; /* one for each group number seen */
  size_t count, capacity;
} pc_ledger;

#define PC_GROUPS_MAX 1048576

void pc_ledger_init(pc_ledger *ledger, const pcal_env *env, const pc_plan *plan);
void pc_ledger_free(pc_ledger *ledger);
void pc_ledger_clear(pc_ledger *ledger); /* to zero rows; keeps accounts and their memory */

/* Makes accounts 0 .. count-1 exist. */
PC_CHECKED pcal_status pc_ledger_grow(pc_ledger *ledger, size_t count, pcal_error *err);

/* Adds rows to one account; columns[v] belongs to view v of the plan. */
PC_CHECKED pcal_status pc_ledger_update(pc_ledger *ledger, size_t account, const pc_rows *rows,
                                        const pc_columns *columns, pcal_error *err);

/* Adds all accounts of `from`; on failure `into` is as it was. */
PC_CHECKED pcal_status pc_ledger_merge(pc_ledger *into, const pc_ledger *from, pcal_error *err);

/* Adds all accounts of `from` into account 0; on failure account 0 is partly filled. */
PC_CHECKED pcal_status pc_ledger_total(pc_ledger *into, const pc_ledger *from, pcal_error *err);

#endif
