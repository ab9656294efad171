/* A ledger: the states of a plan for each group of rows, updated and merged together. */
#ifndef PC_GROUP_STATES_H
#define PC_GROUP_STATES_H

#include "base/budget.h"
#include "base/sum.h"
#include "measure/measure_plan.h"

/* The largest weight of all rows together that is certain to be summed exactly. */
#define PC_WEIGHT_MAX 0x1p62

/* What is counted whatever is asked for. */
typedef struct pc_group_totals {
  uint64_t rows; /* that count: weight above 0, nothing missing */
  pc_sum weight;
  pc_sum square;                 /* of weights squared */
  int32_t label_low, label_high; /* of the rows that count; low > high when there are none */
} pc_group_totals;

typedef struct pc_group_state {
  pc_group_totals tally;
  void *states[]; /* one for each slot of the plan */
} pc_group_state;

typedef struct pc_packed_group pc_packed_group; /* packed_group.h */

/* By group number an account, a packed one, or neither where there was never a row. */
typedef struct pc_group_states {
  const pcal_env *env;
  const pc_measure_plan *plan;
  pc_group_state **accounts;
  pc_packed_group **packed;
  size_t count, capacity, packed_capacity;
  size_t open;          /* accounts that are not packed */
  size_t packed_count;  /* that are */
  size_t packed_length; /* of the longest, before packing; 0: none was packed yet */
} pc_group_states;

#define PC_GROUPS_MAX 1048576

/* (sum w)^2 / sum w^2 (Kish 1965); the number of rows where weights are too small to square. */
double pc_effective_sample_size(const pc_group_totals *tally);

void pc_group_states_init(pc_group_states *ledger, const pcal_env *env,
                          const pc_measure_plan *plan);
void pc_group_states_free(pc_group_states *ledger);
void pc_group_states_clear(
    pc_group_states *ledger); /* to zero rows; keeps accounts and their memory */

/* One more than the largest number of an account that has rows; 0: none has. */
size_t pc_group_states_used(const pc_group_states *ledger);

/* Of a group number: its rows, and their weight. */
uint64_t pc_group_states_rows(const pc_group_states *ledger, size_t number);
double pc_group_states_weight(const pc_group_states *ledger, size_t number);

/* The account of a group number, or NULL when none of its rows counts.  Not for ledgers of
 * groups, whose accounts may be packed. */
const pc_group_state *pc_group_states_find(const pc_group_states *ledger, size_t number);

/* The same for any ledger; *loan is to be freed with pc_group_state_free after use. */
PC_CHECKED pcal_status pc_group_states_view(const pc_group_states *ledger, size_t number,
                                            pc_group_state **loan, const pc_group_state **out,
                                            pcal_error *err);
void pc_group_state_free(const pc_group_states *ledger,
                         pc_group_state *account); /* NULL is fine */

/* Packs accounts when those that are open take much memory.  To be called between updates. */
PC_CHECKED pcal_status pc_group_states_pack_idle(pc_group_states *ledger, pcal_error *err);

/* Makes an account exist and returns it in *out. */
PC_CHECKED pcal_status pc_group_states_open(pc_group_states *ledger, size_t number,
                                            pc_group_state **out, pcal_error *err);

/* Adds rows to one account; columns[v] belongs to view v of the plan. */
PC_CHECKED pcal_status pc_group_states_update(pc_group_states *ledger, size_t number,
                                              const pc_rows *rows,
                                              const pc_view_columns *columns, pcal_error *err);

/* Adds plain rows (data/rows.h) to account 0, for a plan that needs only stored scores. */
PC_CHECKED pcal_status pc_group_states_add_stored(pc_group_states *ledger,
                                                  const pc_stored_rows *rows, pcal_error *err);

/* Adds all accounts of `from` that have rows; on failure `into` is as it was. */
PC_CHECKED pcal_status pc_group_states_merge(pc_group_states *into, const pc_group_states *from,
                                             pcal_error *err);

/* The same, account a of `from` into account map[a]; no two of them into the same. */
PC_CHECKED pcal_status pc_group_states_merge_mapped(pc_group_states *into,
                                                    const pc_group_states *from,
                                                    const size_t *map, pcal_error *err);

/* Adds all accounts of `from` into account 0; on failure account 0 is partly filled. */
PC_CHECKED pcal_status pc_group_states_total(pc_group_states *into, const pc_group_states *from,
                                             pcal_error *err);

/* Accounts as bytes.  What cannot have been saved fails the decoder; then, and on failure, no
 * account is added, and *out is NULL. */
PC_CHECKED pcal_status pc_group_state_save(const pc_group_states *ledger,
                                           const pc_group_state *account, pc_encoder *out,
                                           pcal_error *err);
PC_CHECKED pcal_status pc_group_state_load(const pc_group_states *ledger, pc_decoder *in,
                                           pc_group_state **out, pcal_error *err);
PC_CHECKED pcal_status pc_group_states_save(const pc_group_states *ledger, size_t number,
                                            pc_encoder *out, pcal_error *err);
PC_CHECKED pcal_status pc_group_states_load(pc_group_states *ledger, size_t number,
                                            pc_decoder *in, pcal_error *err);

#endif
