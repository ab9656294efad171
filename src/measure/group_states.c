#include "measure/group_states.h"

#include <string.h>

#include "machines/grid_from_curve.h"
#include "machines/grid_shared.h"
#include "machines/machine_curve_buckets.h"
#include "measure/packed_group.h"
#include "measure/row_ranges.h"

#define GROUP_STATES_SQUARE_MIN 1e-290 /* below it squares of weights are not exact */

/* Limit in bytes on the estimated memory of open states.  A slot is estimated at
 * GROUP_STATES_STATE_BYTES plus twice its saved size. */
#define GROUP_STATES_OPEN_BYTES ((size_t)24 << 20)
#define GROUP_STATES_OPEN_LEAST 64
#define GROUP_STATES_STATE_BYTES 2048
/* States that grow with the rows are packed only while they hold few rows: packing costs time
 * for each row and saves only the fixed part. */
#define GROUP_STATES_PACKED_ROWS 256

static void totals_clear(pc_group_totals *totals) {
  totals->rows = 0;
  pc_sum_clear(&totals->weight);
  pc_sum_clear(&totals->square);
  totals->label_low = INT32_MAX;
  totals->label_high = INT32_MIN;
}

static void totals_label(pc_group_totals *totals, int32_t label) {
  totals->label_low = label < totals->label_low ? label : totals->label_low;
  totals->label_high = label > totals->label_high ? label : totals->label_high;
}

static void totals_labels(pc_group_totals *totals, const pc_rows *rows) {
  if (rows->ones == NULL || rows->count == 0) {
    int32_t low = totals->label_low, high = totals->label_high;
    for (size_t i = 0; i < rows->count; i++) {
      low = rows->labels[i] < low ? rows->labels[i] : low;
      high = rows->labels[i] > high ? rows->labels[i] : high;
    }
    totals->label_low = low;
    totals->label_high = high;
    return;
  }
  uint8_t any = 0, all = 1;
  for (size_t i = 0; i < rows->count; i++) {
    any |= rows->ones[i];
    all &= rows->ones[i];
  }
  totals_label(totals, any);
  totals_label(totals, all);
}

static void totals_add(pc_group_totals *totals, const pc_rows *rows) {
  totals->rows += rows->count;
  totals_labels(totals, rows);
  if (rows->weights == NULL) {
    pc_sum_add(&totals->weight, (double)rows->count);
    pc_sum_add(&totals->square, (double)rows->count);
  }
  for (size_t i = 0; rows->weights != NULL && i < rows->count; i++) {
    pc_sum_add(&totals->weight, rows->weights[i]);
    pc_sum_add_product(&totals->square, rows->weights[i], rows->weights[i]);
  }
}

double pc_effective_sample_size(const pc_group_totals *totals) {
  const double weight = pc_sum_value(&totals->weight), square = pc_sum_value(&totals->square);
  return square > GROUP_STATES_SQUARE_MIN ? weight * (weight / square) : (double)totals->rows;
}

static void totals_merge(pc_group_totals *into, const pc_group_totals *from) {
  into->rows += from->rows;
  pc_sum_merge(&into->weight, &from->weight);
  pc_sum_merge(&into->square, &from->square);
  into->label_low = from->label_low < into->label_low ? from->label_low : into->label_low;
  into->label_high = from->label_high > into->label_high ? from->label_high : into->label_high;
}

void pc_group_states_init(pc_group_states *groups, const pcal_env *env,
                          const pc_measure_plan *plan) {
  *groups = (pc_group_states){.env = env, .plan = plan};
}

/* The environment in which the memory of a slot is counted, for messages about memory.  Bucket
 * curves keep a pointer to the environment and get the original. */
static pcal_env group_states_env(const pc_group_states *groups, const pc_plan_slot *slot,
                                 size_t number) {
  const pc_memory_use what[] = {[PC_GRID] = PC_MEMORY_CELLS,
                                [PC_CURVE] = PC_MEMORY_CURVES,
                                [PC_PAIR] = PC_MEMORY_PAIRS,
                                [PC_ROWS] = PC_MEMORY_ROWS,
                                [PC_BLOCK] = PC_MEMORY_ROWS};
  return pc_env_for_use(groups->env, number > 0 && slot->need.machine < PC_CURVE
                                         ? PC_MEMORY_GROUPS
                                         : what[slot->need.machine]);
}

void pc_group_state_free(const pc_group_states *groups, pc_group_state *state) {
  if (state == NULL)
    return;
  for (size_t s = 0; s < groups->plan->slot_count; s++)
    if (state->slots[s] != NULL)
      groups->plan->slots[s].machine->destroy(groups->env, state->slots[s]);
  pc_free(groups->env, state);
}

static void group_states_drop(pc_group_states *groups, size_t number) {
  groups->open -= groups->states[number] != NULL;
  groups->packed_count -= groups->packed[number] != NULL;
  pc_group_state_free(groups, groups->states[number]);
  pc_free(groups->env, groups->packed[number]);
  groups->states[number] = NULL;
  groups->packed[number] = NULL;
}

static void group_states_shrink(pc_group_states *groups, size_t count) {
  for (; groups->count > count; groups->count--)
    group_states_drop(groups, groups->count - 1);
}

void pc_group_states_free(pc_group_states *groups) {
  group_states_shrink(groups, 0);
  pc_free(groups->env, groups->states);
  pc_free(groups->env, groups->packed);
  groups->states = NULL;
  groups->packed = NULL;
  groups->capacity = groups->packed_capacity = 0;
}

void pc_group_states_clear(pc_group_states *groups) {
  for (size_t a = 0; a < groups->count; a++) {
    pc_group_state *state = groups->states[a];
    if (groups->packed[a] != NULL)
      group_states_drop(groups, a);
    if (pc_group_state_is_empty(state))
      continue;
    totals_clear(&state->totals);
    state->has_rest = 0;
    for (size_t s = 0; s < groups->plan->slot_count; s++)
      groups->plan->slots[s].machine->clear(state->slots[s]);
  }
}

/* A state without slots, or NULL. */
static pc_group_state *group_state_alloc(const pc_group_states *groups) {
  const size_t states = groups->plan->slot_count * sizeof(void *);
  const pcal_env env = pc_env_for_use(groups->env, PC_MEMORY_GROUPS);
  pc_group_state *state = pc_alloc(&env, 1, sizeof *state + states);
  if (state != NULL)
    totals_clear(&state->totals);
  return state;
}

/* Connects slots of a new state: grids that share a pass, and curves with the grids that they
 * will fill. */
static pcal_status group_state_tie(const pc_group_states *groups, pc_group_state *state,
                                   pcal_error *err) {
  const pc_measure_plan *plan = groups->plan;
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    double ends[PC_GRID_FROM_CURVE_ENDS_MAX];
    if (slot->shared_grid != PC_NO_SLOT)
      PC_TRY(pc_grid_share(groups->env, state->slots[slot->shared_grid], state->slots[s],
                           &plan->slots[slot->shared_grid].need, &plan->layout, err));
    if (slot->curve != PC_NO_SLOT && !pc_measure_plan_wants_scores(plan, slot->curve))
      PC_TRY(pc_machine_curve_buckets_split(state->slots[slot->curve], ends,
                                            pc_grid_cell_ends(state->slots[s], ends), err));
  }
  return PCAL_OK;
}

static pcal_status group_state_create_slot(const pc_group_states *groups, size_t number,
                                           size_t s, void **out, pcal_error *err) {
  const pc_measure_plan *plan = groups->plan;
  const pc_plan_slot *slot = &plan->slots[s];
  const pcal_env env = group_states_env(groups, slot, number);
  const pcal_env *held = pc_machine_has_buckets(slot->machine) ? groups->env : &env;
  return slot->machine->create(held, &slot->need, &plan->layout, out, err);
}

static pcal_status group_state_new(pc_group_states *groups, size_t number, pc_group_state **out,
                                   pcal_error *err) {
  const pc_measure_plan *plan = groups->plan;
  pc_group_state *state = group_state_alloc(groups);
  if (state == NULL)
    return pc_fail_memory(err, "preparing states");
  pcal_status status = PCAL_OK;
  for (size_t s = 0; s < plan->slot_count && status == PCAL_OK; s++)
    status = group_state_create_slot(groups, number, s, &state->slots[s], err);
  if (status == PCAL_OK)
    status = group_state_tie(groups, state, err);
  if (status != PCAL_OK) {
    pc_group_state_free(groups, state);
    return status;
  }
  *out = state;
  return PCAL_OK;
}

static pcal_status group_states_grow(pc_group_states *groups, size_t count, pcal_error *err) {
  PC_TRY(pc_groups_check(count, err));
  const pcal_env env = pc_env_for_use(groups->env, PC_MEMORY_GROUPS);
  void *block = groups->states, *packed = groups->packed;
  pcal_status status =
      pc_reserve(&env, &block, &groups->capacity, count, sizeof *groups->states, err);
  groups->states = block;
  if (status == PCAL_OK)
    status =
        pc_reserve(&env, &packed, &groups->packed_capacity, count, sizeof *groups->packed, err);
  groups->packed = packed;
  if (status != PCAL_OK)
    return status;
  for (; groups->count < count; groups->count++) {
    groups->states[groups->count] = NULL;
    groups->packed[groups->count] = NULL;
  }
  return PCAL_OK;
}

uint64_t pc_group_states_rows(const pc_group_states *groups, size_t number) {
  if (number >= groups->count)
    return 0;
  if (groups->packed[number] != NULL)
    return groups->packed[number]->rows;
  return groups->states[number] == NULL ? 0 : groups->states[number]->totals.rows;
}

double pc_group_states_weight(const pc_group_states *groups, size_t number) {
  if (pc_group_states_rows(groups, number) == 0)
    return 0.0;
  return groups->packed[number] != NULL ? groups->packed[number]->weight
                                        : pc_sum_value(&groups->states[number]->totals.weight);
}

const pc_group_state *pc_group_states_find(const pc_group_states *groups, size_t number) {
  const pc_group_state *state = number < groups->count ? groups->states[number] : NULL;
  return pc_group_state_is_empty(state) ? NULL : state;
}

pcal_status pc_group_states_view(const pc_group_states *groups, size_t number,
                                 pc_group_state **loan, const pc_group_state **out,
                                 pcal_error *err) {
  *loan = NULL;
  *out = pc_group_states_find(groups, number);
  if (*out != NULL || pc_group_states_rows(groups, number) == 0)
    return PCAL_OK;
  PC_TRY(pc_packed_group_unpack(groups, groups->packed[number], loan, err));
  *out = *loan;
  return PCAL_OK;
}

pcal_status pc_group_states_open(pc_group_states *groups, size_t number, pc_group_state **out,
                                 pcal_error *err) {
  PC_TRY(group_states_grow(groups, number + 1, err));
  pc_group_state **place = &groups->states[number];
  if (*place == NULL && groups->packed[number] != NULL) {
    PC_TRY(pc_packed_group_unpack(groups, groups->packed[number], place, err));
    pc_free(groups->env, groups->packed[number]);
    groups->packed[number] = NULL;
    groups->packed_count--;
    groups->open++;
  } else if (*place == NULL) {
    PC_TRY(group_state_new(groups, number, place, err));
    groups->open++;
  }
  *out = *place;
  return PCAL_OK;
}

/* ---- packing ---- */

static int group_states_grows(const pc_measure_plan *plan) {
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].machine != &pc_machine_sum && plan->slots[s].machine != &pc_machine_grid)
      return 1;
  return 0;
}

static pcal_status group_states_pack(pc_group_states *groups, size_t number, pcal_error *err) {
  pc_packed_group *packed = NULL;
  PC_TRY(pc_group_state_pack(groups, groups->states[number], &packed, err));
  group_states_drop(groups, number);
  groups->packed[number] = packed;
  groups->packed_count++;
  if (packed->length > groups->packed_length)
    groups->packed_length = packed->length;
  return PCAL_OK;
}

size_t pc_group_states_used(const pc_group_states *groups) {
  size_t used = groups->count;
  for (; used > 0 && groups->packed[used - 1] == NULL; used--) {
    if (!pc_group_state_is_empty(groups->states[used - 1]))
      break;
  }
  return used;
}

/* The number of states that may stay open. */
static size_t group_states_open_most(const pc_group_states *groups) {
  const size_t state =
      GROUP_STATES_STATE_BYTES * (groups->plan->slot_count + 1) + 2 * groups->packed_length;
  const size_t most = GROUP_STATES_OPEN_BYTES / state;
  return groups->packed_length == 0 || most < GROUP_STATES_OPEN_LEAST ? GROUP_STATES_OPEN_LEAST
                                                                      : most;
}

pcal_status pc_group_states_pack_idle(pc_group_states *groups, pcal_error *err) {
  if (groups->open <= group_states_open_most(groups) || !pc_group_state_packable(groups->plan))
    return PCAL_OK;
  const uint64_t max = group_states_grows(groups->plan) ? GROUP_STATES_PACKED_ROWS : UINT64_MAX;
  for (size_t a = 0; a < groups->count; a++) {
    const pc_group_state *state = groups->states[a];
    if (state != NULL && pc_group_state_is_empty(state))
      group_states_drop(groups, a); /* no rows: left over from a finished update */
    else if (state != NULL && state->totals.rows - 1 < max) /* 1 to max */
      PC_TRY(group_states_pack(groups, a, err));
    if (groups->open <= group_states_open_most(groups) / 2)
      return PCAL_OK;
  }
  return PCAL_OK;
}

/* ---- adding rows ---- */

pcal_status pc_group_states_update(pc_group_states *groups, size_t number, const pc_rows *rows,
                                   const pc_view_columns *columns, pcal_error *err) {
  const pc_measure_plan *plan = groups->plan;
  pc_group_state *state;
  PC_TRY(pc_group_states_open(groups, number, &state, err));
  state->has_rest |= groups->added != NULL && !groups->added_bare;
  if (groups->added == NULL || groups->added_bare)
    totals_add(&state->totals, rows);
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    const pc_view_columns *view = slot->view == PC_NO_VIEW ? NULL : &columns[slot->view];
    if (slot->curve != PC_NO_SLOT || slot->shared_grid != PC_NO_SLOT ||
        (groups->added != NULL && groups->added[s]))
      continue;
    const pcal_env env = group_states_env(groups, slot, number);
    const pcal_env *held = pc_machine_has_buckets(slot->machine) ? groups->env : &env;
    PC_TRY(slot->machine->update(held, state->slots[s], rows, view, err));
  }
  return PCAL_OK;
}

static void totals_take(pc_group_totals *totals, const pc_stored_rows *rows) {
  totals_label(totals, rows->label_low);
  totals_label(totals, rows->label_high);
  totals->rows += rows->count;
  pc_sum_add(&totals->weight, (double)rows->count);
  pc_sum_add(&totals->square, (double)rows->count);
}

pcal_status pc_group_states_add_stored(pc_group_states *groups, const pc_stored_rows *rows,
                                       pcal_error *err) {
  const pc_measure_plan *plan = groups->plan;
  pc_group_state *state;
  PC_TRY(pc_group_states_open(groups, 0, &state, err));
  totals_take(&state->totals, rows);
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].machine == &pc_machine_curve_buckets)
      PC_TRY(pc_machine_curve_buckets_add_stored(state->slots[s], rows, err));
  return PCAL_OK;
}

static pcal_status group_states_prepare(const pc_group_states *groups, pc_group_state *into,
                                        const pc_group_state *from, pcal_error *err) {
  if (!pc_sum_addable(&into->totals.weight, &from->totals.weight) ||
      !pc_sum_addable(&into->totals.square, &from->totals.square))
    return pc_fail(err, PCAL_DATA, "the weights are too large to be added");
  for (size_t s = 0; s < groups->plan->slot_count; s++) {
    const pc_plan_slot *slot = &groups->plan->slots[s];
    const pcal_env env = group_states_env(groups, slot, 0);
    const pcal_env *held = pc_machine_has_buckets(slot->machine) ? groups->env : &env;
    PC_TRY(slot->machine->prepare(held, into->slots[s], from->slots[s], err));
  }
  return PCAL_OK;
}

static void group_states_join(const pc_group_states *groups, pc_group_state *into,
                              const pc_group_state *from) {
  totals_merge(&into->totals, &from->totals);
  for (size_t s = 0; s < groups->plan->slot_count; s++)
    groups->plan->slots[s].machine->merge(into->slots[s], from->slots[s]);
}

static size_t group_states_target(const size_t *map, size_t number) {
  return map == NULL ? number : map[number];
}

/* Merges if no state is packed. */
static pcal_status group_states_merge_open(pc_group_states *into, const pc_group_states *from,
                                           const size_t *map, pcal_error *err) {
  for (size_t a = 0; a < from->count; a++) {
    const pc_group_state *state = pc_group_states_find(from, a);
    pc_group_state *target;
    if (state == NULL)
      continue;
    PC_TRY(pc_group_states_open(into, group_states_target(map, a), &target, err));
    PC_TRY(group_states_prepare(into, target, state, err));
  }
  for (size_t a = 0; a < from->count; a++)
    if (pc_group_states_find(from, a) != NULL)
      group_states_join(into, into->states[group_states_target(map, a)], from->states[a]);
  return PCAL_OK;
}

/* *out: the sum of two states, packed.  Neither is changed. */
static pcal_status group_states_merge_packed(const pc_group_states *into, size_t target,
                                             const pc_group_states *from, size_t number,
                                             pc_packed_group **out, pcal_error *err) {
  pc_group_state *loan = NULL, *sum = NULL;
  const pc_group_state *added = NULL;
  pc_packed_group *before = NULL;
  if (pc_group_states_rows(into, target) == 0 && from->packed[number] != NULL)
    return pc_packed_group_copy(into->env, from->packed[number], out, err);
  pcal_status status = pc_group_states_view(from, number, &loan, &added, err);
  if (status == PCAL_OK && pc_group_states_rows(into, target) == 0)
    status = pc_group_state_pack(into, added, out, err);
  else if (status == PCAL_OK) {
    if (into->packed[target] == NULL)
      status = pc_group_state_pack(into, into->states[target], &before, err);
    if (status == PCAL_OK)
      status = pc_packed_group_unpack(into, before == NULL ? into->packed[target] : before,
                                      &sum, err);
    if (status == PCAL_OK)
      status = group_states_prepare(into, sum, added, err);
    if (status == PCAL_OK) {
      group_states_join(into, sum, added);
      status = pc_group_state_pack(into, sum, out, err);
    }
  }
  pc_free(into->env, before);
  pc_group_state_free(into, sum);
  pc_group_state_free(from, loan);
  return status;
}

static void group_states_commit(pc_group_states *into, size_t target, pc_packed_group *packed) {
  group_states_drop(into, target);
  into->packed[target] = packed;
  into->packed_count++;
  if (packed->length > into->packed_length)
    into->packed_length = packed->length;
}

/* Merges if some states are packed; all merged states are packed too. */
static pcal_status group_states_merge_all(pc_group_states *into, const pc_group_states *from,
                                          const size_t *map, pcal_error *err) {
  pc_packed_group **merged = pc_alloc(into->env, from->count, sizeof *merged);
  pcal_status status = merged == NULL ? pc_fail_memory(err, "merging groups") : PCAL_OK;
  for (size_t a = 0; a < from->count && status == PCAL_OK; a++) {
    if (pc_group_states_rows(from, a) == 0)
      continue;
    status = group_states_grow(into, group_states_target(map, a) + 1, err);
    if (status == PCAL_OK)
      status = group_states_merge_packed(into, group_states_target(map, a), from, a, &merged[a],
                                         err);
  }
  for (size_t a = 0; merged != NULL && a < from->count; a++) {
    if (status == PCAL_OK && merged[a] != NULL)
      group_states_commit(into, group_states_target(map, a), merged[a]);
    else
      pc_free(into->env, merged[a]);
  }
  pc_free(into->env, merged);
  return status;
}

pcal_status pc_group_states_merge_mapped(pc_group_states *into, const pc_group_states *from,
                                         const size_t *map, pcal_error *err) {
  const size_t before = into->count;
  const pcal_status status = into->packed_count + from->packed_count > 0
                                 ? group_states_merge_all(into, from, map, err)
                                 : group_states_merge_open(into, from, map, err);
  if (status != PCAL_OK)
    group_states_shrink(into, before);
  return status;
}

pcal_status pc_group_states_merge(pc_group_states *into, const pc_group_states *from,
                                  pcal_error *err) {
  return pc_group_states_merge_mapped(into, from, NULL, err);
}

/* Adds group `number` of `from` to a state of `into`. */
static pcal_status group_states_add(const pc_group_states *into, pc_group_state *total,
                                    const pc_group_states *from, size_t number,
                                    pcal_error *err) {
  pc_group_state *loan;
  const pc_group_state *state;
  PC_TRY(pc_group_states_view(from, number, &loan, &state, err));
  pcal_status status = PCAL_OK;
  if (state != NULL)
    status = group_states_prepare(into, total, state, err);
  if (state != NULL && status == PCAL_OK)
    group_states_join(into, total, state);
  pc_group_state_free(from, loan);
  return status;
}

pcal_status pc_group_states_join(pc_group_states *into, const pc_group_states *from,
                                 const size_t *numbers, size_t count, pcal_error *err) {
  pc_group_state *total;
  PC_TRY(pc_group_states_open(into, 0, &total, err));
  for (size_t a = 0; a < count; a++)
    PC_TRY(group_states_add(into, total, from, numbers == NULL ? a : numbers[a], err));
  return PCAL_OK;
}

pcal_status pc_group_states_total(pc_group_states *into, const pc_group_states *from,
                                  pcal_error *err) {
  return pc_group_states_join(into, from, NULL, from->count, err);
}

/* ---- as bytes ---- */

pcal_status pc_group_state_save(const pc_group_states *groups, const pc_group_state *state,
                                pc_encoder *out, pcal_error *err) {
  const pc_measure_plan *plan = groups->plan;
  pc_encode_u64(out, state->totals.rows);
  pc_encode_sum(out, &state->totals.weight);
  pc_encode_sum(out, &state->totals.square);
  pc_encode_u32(out, (uint32_t)state->totals.label_low);
  pc_encode_u32(out, (uint32_t)state->totals.label_high);
  for (size_t s = 0; s < plan->slot_count; s++) {
    pc_encode_u8(out, (unsigned)plan->slots[s].need.machine);
    PC_TRY(plan->slots[s].machine->save(groups->env, state->slots[s], out, err));
    PC_TRY(pc_check_interrupt(groups->env, err));
  }
  return PCAL_OK;
}

static void totals_load(pc_group_totals *totals, const pc_layout *layout, pc_decoder *in) {
  const uint32_t labels = layout->kind == PCAL_CONFIDENCE ? 2 : (uint32_t)layout->classes;
  totals->rows = pc_decode_u64(in);
  pc_decode_sum(in, &totals->weight);
  pc_decode_sum(in, &totals->square);
  const uint32_t low = pc_decode_u32(in), high = pc_decode_u32(in);
  const double weight = pc_sum_value(&totals->weight);
  const double square = pc_sum_value(&totals->square);
  pc_decoder_expect(in, totals->rows > 0 && weight > 0 && weight <= PC_WEIGHT_MAX);
  pc_decoder_expect(in, square >= 0 && square <= PC_WEIGHT_MAX * PC_WEIGHT_MAX);
  pc_decoder_expect(in, low <= high && high < labels);
  totals->label_low = (int32_t)low;
  totals->label_high = (int32_t)high;
}

pcal_status pc_group_states_save(const pc_group_states *groups, size_t number, pc_encoder *out,
                                 pcal_error *err) {
  if (groups->packed[number] == NULL)
    return pc_group_state_save(groups, groups->states[number], out, err);
  pc_packed_group_save(groups->packed[number], out);
  return PCAL_OK;
}

static pcal_status group_state_load(const pc_group_states *groups, pc_group_state *state,
                                    pc_decoder *in, pcal_error *err) {
  const pc_measure_plan *plan = groups->plan;
  totals_load(&state->totals, &plan->layout, in);
  const pc_saved_totals totals = {state->totals.rows, state->totals.weight};
  for (size_t s = 0; s < plan->slot_count && !in->failed; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    const pcal_env env = group_states_env(groups, slot, 0);
    const pcal_env *held = pc_machine_has_buckets(slot->machine) ? groups->env : &env;
    pc_decoder_expect(in, pc_decode_u8(in) == (unsigned)slot->need.machine &&
                              slot->machine->load != NULL);
    if (!in->failed)
      PC_TRY(slot->machine->load(held, &slot->need, &plan->layout, &totals, in,
                                 &state->slots[s], err));
  }
  return PCAL_OK;
}

pcal_status pc_group_state_load(const pc_group_states *groups, pc_decoder *in,
                                pc_group_state **out, pcal_error *err) {
  *out = NULL;
  pc_group_state *state = group_state_alloc(groups);
  if (state == NULL)
    return pc_fail_memory(err, "loading a state");
  const pcal_status status = group_state_load(groups, state, in, err);
  if (status != PCAL_OK || in->failed)
    pc_group_state_free(groups, state);
  else
    *out = state;
  return status;
}

pcal_status pc_group_states_load(pc_group_states *groups, size_t number, pc_decoder *in,
                                 pcal_error *err) {
  PC_TRY(group_states_grow(groups, number + 1, err));
  PC_TRY(pc_group_state_load(groups, in, &groups->states[number], err));
  groups->open += groups->states[number] != NULL;
  return PCAL_OK;
}
