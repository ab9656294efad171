/* The states of a plan for each group of rows.  Without groups all rows are group 0. */
#ifndef PC_GROUP_STATES_H
#define PC_GROUP_STATES_H

#include "base/budget.h"
#include "base/sum.h"
#include "measure/measure_plan.h"

/* The largest total weight that is certain to be summed exactly. */
#define PC_WEIGHT_MAX 0x1p62

/* Totals over the rows that count: weight above 0, no missing value. */
typedef struct pc_group_totals {
  uint64_t rows;
  pc_sum weight;
  pc_sum square;                 /* sum of squared weights */
  int32_t label_low, label_high; /* lowest and highest label; low > high if there are no rows */
} pc_group_totals;

typedef struct pc_group_state {
  pc_group_totals totals;
  int has_rest;  /* rows were added whose totals are in another state (pc_group_states.added) */
  void *slots[]; /* the state of each slot of the plan */
} pc_group_state;

/* True for NULL, and for a state without rows. */
static inline int pc_group_state_is_empty(const pc_group_state *state) {
  return state == NULL || (state->totals.rows == 0 && !state->has_rest);
}

typedef struct pc_packed_group pc_packed_group; /* packed_group.h */

/* By group number: an open state, a packed one, or neither if the group never had a row. */
typedef struct pc_group_states {
  const pcal_env *env;
  const pc_measure_plan *plan;
  pc_group_state **states;
  pc_packed_group **packed;
  size_t count, capacity, packed_capacity;
  size_t open;          /* number of open states */
  size_t packed_count;  /* number of packed states */
  size_t packed_length; /* length of the longest state before packing; 0: none was packed yet */
  /* By slot: 1 if a device has added the rows of the present update to it, in the states of another
   * worker, with their totals; NULL: it has added none. */
  const uint8_t *added;
  int added_bare; /* the device has added the rows without their totals */
} pc_group_states;

/* Effective sample size (sum w)^2 / sum w^2 (Kish 1965); the number of rows if the weights are
 * too small to square. */
double pc_effective_sample_size(const pc_group_totals *totals);

void pc_group_states_init(pc_group_states *groups, const pcal_env *env,
                          const pc_measure_plan *plan);
void pc_group_states_free(pc_group_states *groups);
void pc_group_states_clear(pc_group_states *groups); /* removes all rows, keeps memory */

/* One more than the highest number of a group with rows; 0: no group has rows. */
size_t pc_group_states_used(const pc_group_states *groups);

/* The rows of a group, and their weight. */
uint64_t pc_group_states_rows(const pc_group_states *groups, size_t number);
double pc_group_states_weight(const pc_group_states *groups, size_t number);

/* The state of a group; NULL if it has no rows with weight above 0.  Call only if no state can
 * be packed, that is, if rows have no groups. */
const pc_group_state *pc_group_states_find(const pc_group_states *groups, size_t number);

/* The same for packed states too.  The caller frees *loan with pc_group_state_free after
 * use. */
PC_CHECKED pcal_status pc_group_states_view(const pc_group_states *groups, size_t number,
                                            pc_group_state **loan, const pc_group_state **out,
                                            pcal_error *err);
void pc_group_state_free(const pc_group_states *groups, pc_group_state *state); /* or NULL */

/* Packs states if the open ones take much memory.  Called between updates. */
PC_CHECKED pcal_status pc_group_states_pack_idle(pc_group_states *groups, pcal_error *err);

/* The open state of a group, created or unpacked if necessary. */
PC_CHECKED pcal_status pc_group_states_open(pc_group_states *groups, size_t number,
                                            pc_group_state **out, pcal_error *err);

/* Adds rows to one group; columns[v] are those of view v of the plan. */
PC_CHECKED pcal_status pc_group_states_update(pc_group_states *groups, size_t number,
                                              const pc_rows *rows,
                                              const pc_view_columns *columns, pcal_error *err);

/* Adds plain rows (data/rows.h) to group 0.  Only for plans with stored_scores_only. */
PC_CHECKED pcal_status pc_group_states_add_stored(pc_group_states *groups,
                                                  const pc_stored_rows *rows, pcal_error *err);

/* Adds all groups of `from` that have rows.  On failure `into` is unchanged. */
PC_CHECKED pcal_status pc_group_states_merge(pc_group_states *into, const pc_group_states *from,
                                             pcal_error *err);

/* The same, group g of `from` into group map[g]; map must be injective. */
PC_CHECKED pcal_status pc_group_states_merge_mapped(pc_group_states *into,
                                                    const pc_group_states *from,
                                                    const size_t *map, pcal_error *err);

/* Adds all groups of `from` into group 0.  On failure group 0 is incomplete. */
PC_CHECKED pcal_status pc_group_states_total(pc_group_states *into, const pc_group_states *from,
                                             pcal_error *err);

/* Adds some groups of `from` into group 0; numbers NULL: those below count.  On failure group 0 is
 * incomplete. */
PC_CHECKED pcal_status pc_group_states_join(pc_group_states *into, const pc_group_states *from,
                                            const size_t *numbers, size_t count,
                                            pcal_error *err);

/* States as bytes.  Invalid bytes put the decoder into its failed state.  In that case, and if
 * the call fails, no state is added and *out is NULL. */
PC_CHECKED pcal_status pc_group_state_save(const pc_group_states *groups,
                                           const pc_group_state *state, pc_encoder *out,
                                           pcal_error *err);
PC_CHECKED pcal_status pc_group_state_load(const pc_group_states *groups, pc_decoder *in,
                                           pc_group_state **out, pcal_error *err);
PC_CHECKED pcal_status pc_group_states_save(const pc_group_states *groups, size_t number,
                                            pc_encoder *out, pcal_error *err);
PC_CHECKED pcal_status pc_group_states_load(pc_group_states *groups, size_t number,
                                            pc_decoder *in, pcal_error *err);

#endif
