#include "measure/group_states.h"

#include <string.h>

#include "machines/grid_from_curve.h"
#include "machines/grid_shared.h"
#include "machines/machine_curve_buckets.h"
#include "measure/packed_group.h"

#define LEDGER_SQUARE_MIN 1e-290 /* squares of weights are exact */

/* Accounts stay open up to about this many bytes; a state takes about LEDGER_STATE_BYTES and
 * twice what would be saved of it. */
#define LEDGER_OPEN_BYTES ((size_t)24 << 20)
#define LEDGER_OPEN_LEAST 64
#define LEDGER_STATE_BYTES 2048
/* States that grow with the rows are packed while they hold few: packing them takes time for
 * each row, and saves only what is fixed. */
#define LEDGER_PACKED_ROWS 256

static void ledger_tally_clear(pc_group_totals *tally) {
  tally->rows = 0;
  pc_sum_clear(&tally->weight);
  pc_sum_clear(&tally->square);
  tally->label_low = INT32_MAX;
  tally->label_high = INT32_MIN;
}

static void ledger_tally_label(pc_group_totals *tally, int32_t label) {
  tally->label_low = label < tally->label_low ? label : tally->label_low;
  tally->label_high = label > tally->label_high ? label : tally->label_high;
}

static void ledger_tally_labels(pc_group_totals *tally, const pc_rows *rows) {
  if (rows->ones == NULL || rows->count == 0) {
    int32_t low = tally->label_low, high = tally->label_high;
    for (size_t i = 0; i < rows->count; i++) {
      low = rows->labels[i] < low ? rows->labels[i] : low;
      high = rows->labels[i] > high ? rows->labels[i] : high;
    }
    tally->label_low = low;
    tally->label_high = high;
    return;
  }
  uint8_t any = 0, all = 1;
  for (size_t i = 0; i < rows->count; i++) {
    any |= rows->ones[i];
    all &= rows->ones[i];
  }
  ledger_tally_label(tally, any);
  ledger_tally_label(tally, all);
}

static void ledger_tally_add(pc_group_totals *tally, const pc_rows *rows) {
  tally->rows += rows->count;
  ledger_tally_labels(tally, rows);
  if (rows->weights == NULL) {
    pc_sum_add(&tally->weight, (double)rows->count);
    pc_sum_add(&tally->square, (double)rows->count);
  }
  for (size_t i = 0; rows->weights != NULL && i < rows->count; i++) {
    pc_sum_add(&tally->weight, rows->weights[i]);
    pc_sum_add_product(&tally->square, rows->weights[i], rows->weights[i]);
  }
}

double pc_effective_sample_size(const pc_group_totals *tally) {
  const double weight = pc_sum_value(&tally->weight), square = pc_sum_value(&tally->square);
  return square > LEDGER_SQUARE_MIN ? weight * (weight / square) : (double)tally->rows;
}

static void ledger_tally_merge(pc_group_totals *into, const pc_group_totals *from) {
  into->rows += from->rows;
  pc_sum_merge(&into->weight, &from->weight);
  pc_sum_merge(&into->square, &from->square);
  into->label_low = from->label_low < into->label_low ? from->label_low : into->label_low;
  into->label_high = from->label_high > into->label_high ? from->label_high : into->label_high;
}

void pc_group_states_init(pc_group_states *ledger, const pcal_env *env,
                          const pc_measure_plan *plan) {
  *ledger = (pc_group_states){.env = env, .plan = plan};
}

/* Where the memory of a state is booked.  Coarse curves keep the environment itself. */
static pcal_env ledger_env(const pc_group_states *ledger, const pc_plan_slot *slot,
                           size_t number) {
  const pc_memory_use what[] = {[PC_GRID] = PC_MEMORY_CELLS,
                                [PC_CURVE] = PC_MEMORY_CURVES,
                                [PC_PAIR] = PC_MEMORY_PAIRS,
                                [PC_ROWS] = PC_MEMORY_ROWS,
                                [PC_BLOCK] = PC_MEMORY_ROWS};
  return pc_env_for_use(ledger->env, number > 0 && slot->need.machine < PC_CURVE
                                         ? PC_MEMORY_GROUPS
                                         : what[slot->need.machine]);
}

void pc_group_state_free(const pc_group_states *ledger, pc_group_state *account) {
  if (account == NULL)
    return;
  for (size_t s = 0; s < ledger->plan->slot_count; s++)
    if (account->states[s] != NULL)
      ledger->plan->slots[s].machine->destroy(ledger->env, account->states[s]);
  pc_free(ledger->env, account);
}

static void ledger_drop(pc_group_states *ledger, size_t number) {
  ledger->open -= ledger->accounts[number] != NULL;
  ledger->packed_count -= ledger->packed[number] != NULL;
  pc_group_state_free(ledger, ledger->accounts[number]);
  pc_free(ledger->env, ledger->packed[number]);
  ledger->accounts[number] = NULL;
  ledger->packed[number] = NULL;
}

static void ledger_shrink(pc_group_states *ledger, size_t count) {
  for (; ledger->count > count; ledger->count--)
    ledger_drop(ledger, ledger->count - 1);
}

void pc_group_states_free(pc_group_states *ledger) {
  ledger_shrink(ledger, 0);
  pc_free(ledger->env, ledger->accounts);
  pc_free(ledger->env, ledger->packed);
  ledger->accounts = NULL;
  ledger->packed = NULL;
  ledger->capacity = ledger->packed_capacity = 0;
}

void pc_group_states_clear(pc_group_states *ledger) {
  for (size_t a = 0; a < ledger->count; a++) {
    pc_group_state *account = ledger->accounts[a];
    if (ledger->packed[a] != NULL)
      ledger_drop(ledger, a);
    if (account == NULL || account->tally.rows == 0)
      continue;
    ledger_tally_clear(&account->tally);
    for (size_t s = 0; s < ledger->plan->slot_count; s++)
      ledger->plan->slots[s].machine->clear(account->states[s]);
  }
}

/* An account whose states are still missing, or NULL. */
static pc_group_state *ledger_account_alloc(const pc_group_states *ledger) {
  const size_t states = ledger->plan->slot_count * sizeof(void *);
  const pcal_env env = pc_env_for_use(ledger->env, PC_MEMORY_GROUPS);
  pc_group_state *account = pc_alloc(&env, 1, sizeof *account + states);
  if (account != NULL)
    ledger_tally_clear(&account->tally);
  return account;
}

/* States of a new account that have to do with each other: grids with their twins, and curves
 * with the grids that they will fill. */
static pcal_status ledger_account_tie(const pc_group_states *ledger, pc_group_state *account,
                                      pcal_error *err) {
  const pc_measure_plan *plan = ledger->plan;
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    double ends[PC_GRID_FROM_CURVE_ENDS_MAX];
    if (slot->twin != PC_NO_SLOT)
      PC_TRY(pc_grid_share(ledger->env, account->states[slot->twin], account->states[s],
                           &plan->slots[slot->twin].need, &plan->layout, err));
    if (slot->curve != PC_NO_SLOT && !pc_measure_plan_wants_scores(plan, slot->curve))
      PC_TRY(pc_machine_curve_buckets_split(account->states[slot->curve], ends,
                                            pc_grid_cell_ends(account->states[s], ends), err));
  }
  return PCAL_OK;
}

static pcal_status ledger_account_state(const pc_group_states *ledger, size_t number, size_t s,
                                        void **out, pcal_error *err) {
  const pc_measure_plan *plan = ledger->plan;
  const pc_plan_slot *slot = &plan->slots[s];
  const pcal_env env = ledger_env(ledger, slot, number);
  const pcal_env *held = slot->machine == &pc_machine_curve_buckets ? ledger->env : &env;
  return slot->machine->create(held, &slot->need, &plan->layout, out, err);
}

static pcal_status ledger_account_new(pc_group_states *ledger, size_t number,
                                      pc_group_state **out, pcal_error *err) {
  const pc_measure_plan *plan = ledger->plan;
  pc_group_state *account = ledger_account_alloc(ledger);
  if (account == NULL)
    return pc_fail_memory(err, "preparing states");
  pcal_status status = PCAL_OK;
  for (size_t s = 0; s < plan->slot_count && status == PCAL_OK; s++)
    status = ledger_account_state(ledger, number, s, &account->states[s], err);
  if (status == PCAL_OK)
    status = ledger_account_tie(ledger, account, err);
  if (status != PCAL_OK) {
    pc_group_state_free(ledger, account);
    return status;
  }
  *out = account;
  return PCAL_OK;
}

static pcal_status ledger_grow(pc_group_states *ledger, size_t count, pcal_error *err) {
  if (count > PC_GROUPS_MAX)
    return pc_fail(err, PCAL_DATA,
                   "more than %d groups; groups are meant for a few kinds of rows",
                   PC_GROUPS_MAX);
  const pcal_env env = pc_env_for_use(ledger->env, PC_MEMORY_GROUPS);
  void *block = ledger->accounts, *packed = ledger->packed;
  pcal_status status =
      pc_reserve(&env, &block, &ledger->capacity, count, sizeof *ledger->accounts, err);
  ledger->accounts = block;
  if (status == PCAL_OK)
    status =
        pc_reserve(&env, &packed, &ledger->packed_capacity, count, sizeof *ledger->packed, err);
  ledger->packed = packed;
  if (status != PCAL_OK)
    return status;
  for (; ledger->count < count; ledger->count++) {
    ledger->accounts[ledger->count] = NULL;
    ledger->packed[ledger->count] = NULL;
  }
  return PCAL_OK;
}

uint64_t pc_group_states_rows(const pc_group_states *ledger, size_t number) {
  if (number >= ledger->count)
    return 0;
  if (ledger->packed[number] != NULL)
    return ledger->packed[number]->rows;
  return ledger->accounts[number] == NULL ? 0 : ledger->accounts[number]->tally.rows;
}

double pc_group_states_weight(const pc_group_states *ledger, size_t number) {
  if (pc_group_states_rows(ledger, number) == 0)
    return 0.0;
  return ledger->packed[number] != NULL ? ledger->packed[number]->weight
                                        : pc_sum_value(&ledger->accounts[number]->tally.weight);
}

const pc_group_state *pc_group_states_find(const pc_group_states *ledger, size_t number) {
  const pc_group_state *account = number < ledger->count ? ledger->accounts[number] : NULL;
  return account == NULL || account->tally.rows == 0 ? NULL : account;
}

pcal_status pc_group_states_view(const pc_group_states *ledger, size_t number,
                                 pc_group_state **loan, const pc_group_state **out,
                                 pcal_error *err) {
  *loan = NULL;
  *out = pc_group_states_find(ledger, number);
  if (*out != NULL || pc_group_states_rows(ledger, number) == 0)
    return PCAL_OK;
  PC_TRY(pc_packed_group_unpack(ledger, ledger->packed[number], loan, err));
  *out = *loan;
  return PCAL_OK;
}

pcal_status pc_group_states_open(pc_group_states *ledger, size_t number, pc_group_state **out,
                                 pcal_error *err) {
  PC_TRY(ledger_grow(ledger, number + 1, err));
  pc_group_state **place = &ledger->accounts[number];
  if (*place == NULL && ledger->packed[number] != NULL) {
    PC_TRY(pc_packed_group_unpack(ledger, ledger->packed[number], place, err));
    pc_free(ledger->env, ledger->packed[number]);
    ledger->packed[number] = NULL;
    ledger->packed_count--;
    ledger->open++;
  } else if (*place == NULL) {
    PC_TRY(ledger_account_new(ledger, number, place, err));
    ledger->open++;
  }
  *out = *place;
  return PCAL_OK;
}

/* ---- packing ---- */

static int ledger_grows(const pc_measure_plan *plan) {
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].machine != &pc_machine_sum && plan->slots[s].machine != &pc_machine_grid)
      return 1;
  return 0;
}

static pcal_status ledger_pack(pc_group_states *ledger, size_t number, pcal_error *err) {
  pc_packed_group *packed = NULL;
  PC_TRY(pc_group_state_pack(ledger, ledger->accounts[number], &packed, err));
  ledger_drop(ledger, number);
  ledger->packed[number] = packed;
  ledger->packed_count++;
  if (packed->length > ledger->packed_length)
    ledger->packed_length = packed->length;
  return PCAL_OK;
}

/* How many accounts may stay open. */
size_t pc_group_states_used(const pc_group_states *ledger) {
  size_t used = ledger->count;
  for (; used > 0 && ledger->packed[used - 1] == NULL; used--) {
    const pc_group_state *account = ledger->accounts[used - 1];
    if (account != NULL && account->tally.rows > 0)
      break;
  }
  return used;
}

static size_t ledger_open_most(const pc_group_states *ledger) {
  const size_t account =
      LEDGER_STATE_BYTES * (ledger->plan->slot_count + 1) + 2 * ledger->packed_length;
  const size_t most = LEDGER_OPEN_BYTES / account;
  return ledger->packed_length == 0 || most < LEDGER_OPEN_LEAST ? LEDGER_OPEN_LEAST : most;
}

pcal_status pc_group_states_pack_idle(pc_group_states *ledger, pcal_error *err) {
  if (ledger->open <= ledger_open_most(ledger) || !pc_group_state_packable(ledger->plan))
    return PCAL_OK;
  const int grows = ledger_grows(ledger->plan);
  for (size_t a = 0; a < ledger->count; a++) {
    const pc_group_state *account = ledger->accounts[a];
    if (account != NULL && account->tally.rows == 0)
      ledger_drop(ledger, a); /* cleared: the room of an update that is over */
    else if (account != NULL && !(grows && account->tally.rows > LEDGER_PACKED_ROWS))
      PC_TRY(ledger_pack(ledger, a, err));
    if (ledger->open <= ledger_open_most(ledger) / 2)
      return PCAL_OK;
  }
  return PCAL_OK;
}

/* ---- adding rows ---- */

pcal_status pc_group_states_update(pc_group_states *ledger, size_t number, const pc_rows *rows,
                                   const pc_view_columns *columns, pcal_error *err) {
  const pc_measure_plan *plan = ledger->plan;
  pc_group_state *account;
  PC_TRY(pc_group_states_open(ledger, number, &account, err));
  ledger_tally_add(&account->tally, rows);
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    const pc_view_columns *view = slot->view == PC_NO_VIEW ? NULL : &columns[slot->view];
    if (slot->curve != PC_NO_SLOT || slot->twin != PC_NO_SLOT)
      continue;
    const pcal_env env = ledger_env(ledger, slot, number);
    const pcal_env *held = slot->machine == &pc_machine_curve_buckets ? ledger->env : &env;
    PC_TRY(slot->machine->update(held, account->states[s], rows, view, err));
  }
  return PCAL_OK;
}

static void ledger_tally_take(pc_group_totals *tally, const pc_stored_rows *rows) {
  ledger_tally_label(tally, rows->label_low);
  ledger_tally_label(tally, rows->label_high);
  tally->rows += rows->count;
  pc_sum_add(&tally->weight, (double)rows->count);
  pc_sum_add(&tally->square, (double)rows->count);
}

pcal_status pc_group_states_add_stored(pc_group_states *ledger, const pc_stored_rows *rows,
                                       pcal_error *err) {
  const pc_measure_plan *plan = ledger->plan;
  pc_group_state *account;
  PC_TRY(pc_group_states_open(ledger, 0, &account, err));
  ledger_tally_take(&account->tally, rows);
  for (size_t s = 0; s < plan->slot_count; s++)
    if (plan->slots[s].machine == &pc_machine_curve_buckets)
      PC_TRY(pc_machine_curve_buckets_add_stored(account->states[s], rows, err));
  return PCAL_OK;
}

static pcal_status ledger_prepare(const pc_group_states *ledger, pc_group_state *into,
                                  const pc_group_state *from, pcal_error *err) {
  if (!pc_sum_addable(&into->tally.weight, &from->tally.weight) ||
      !pc_sum_addable(&into->tally.square, &from->tally.square))
    return pc_fail(err, PCAL_DATA, "the weights are too large to be added");
  for (size_t s = 0; s < ledger->plan->slot_count; s++) {
    const pc_plan_slot *slot = &ledger->plan->slots[s];
    const pcal_env env = ledger_env(ledger, slot, 0);
    const pcal_env *held = slot->machine == &pc_machine_curve_buckets ? ledger->env : &env;
    PC_TRY(slot->machine->prepare(held, into->states[s], from->states[s], err));
  }
  return PCAL_OK;
}

static void ledger_join(const pc_group_states *ledger, pc_group_state *into,
                        const pc_group_state *from) {
  ledger_tally_merge(&into->tally, &from->tally);
  for (size_t s = 0; s < ledger->plan->slot_count; s++)
    ledger->plan->slots[s].machine->merge(into->states[s], from->states[s]);
}

static size_t ledger_target(const size_t *map, size_t number) {
  return map == NULL ? number : map[number];
}

/* Accounts that are all open. */
static pcal_status ledger_merge_open(pc_group_states *into, const pc_group_states *from,
                                     const size_t *map, pcal_error *err) {
  for (size_t a = 0; a < from->count; a++) {
    const pc_group_state *account = pc_group_states_find(from, a);
    pc_group_state *target;
    if (account == NULL)
      continue;
    PC_TRY(pc_group_states_open(into, ledger_target(map, a), &target, err));
    PC_TRY(ledger_prepare(into, target, account, err));
  }
  for (size_t a = 0; a < from->count; a++)
    if (pc_group_states_find(from, a) != NULL)
      ledger_join(into, into->accounts[ledger_target(map, a)], from->accounts[a]);
  return PCAL_OK;
}

/* Both accounts together, packed; both ledgers stay as they are. */
static pcal_status ledger_merge_packed(const pc_group_states *into, size_t target,
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
      status = pc_group_state_pack(into, into->accounts[target], &before, err);
    if (status == PCAL_OK)
      status = pc_packed_group_unpack(into, before == NULL ? into->packed[target] : before,
                                      &sum, err);
    if (status == PCAL_OK)
      status = ledger_prepare(into, sum, added, err);
    if (status == PCAL_OK) {
      ledger_join(into, sum, added);
      status = pc_group_state_pack(into, sum, out, err);
    }
  }
  pc_free(into->env, before);
  pc_group_state_free(into, sum);
  pc_group_state_free(from, loan);
  return status;
}

static void ledger_commit(pc_group_states *into, size_t target, pc_packed_group *packed) {
  ledger_drop(into, target);
  into->packed[target] = packed;
  into->packed_count++;
  if (packed->length > into->packed_length)
    into->packed_length = packed->length;
}

/* Where some accounts are packed, all of the outcome are. */
static pcal_status ledger_merge_all(pc_group_states *into, const pc_group_states *from,
                                    const size_t *map, pcal_error *err) {
  pc_packed_group **merged = pc_alloc(into->env, from->count, sizeof *merged);
  pcal_status status = merged == NULL ? pc_fail_memory(err, "merging groups") : PCAL_OK;
  for (size_t a = 0; a < from->count && status == PCAL_OK; a++) {
    if (pc_group_states_rows(from, a) == 0)
      continue;
    status = ledger_grow(into, ledger_target(map, a) + 1, err);
    if (status == PCAL_OK)
      status = ledger_merge_packed(into, ledger_target(map, a), from, a, &merged[a], err);
  }
  for (size_t a = 0; merged != NULL && a < from->count; a++) {
    if (status == PCAL_OK && merged[a] != NULL)
      ledger_commit(into, ledger_target(map, a), merged[a]);
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
                                 ? ledger_merge_all(into, from, map, err)
                                 : ledger_merge_open(into, from, map, err);
  if (status != PCAL_OK)
    ledger_shrink(into, before);
  return status;
}

pcal_status pc_group_states_merge(pc_group_states *into, const pc_group_states *from,
                                  pcal_error *err) {
  return pc_group_states_merge_mapped(into, from, NULL, err);
}

pcal_status pc_group_states_total(pc_group_states *into, const pc_group_states *from,
                                  pcal_error *err) {
  pc_group_state *total;
  PC_TRY(pc_group_states_open(into, 0, &total, err));
  for (size_t a = 0; a < from->count; a++) {
    pc_group_state *loan;
    const pc_group_state *account;
    PC_TRY(pc_group_states_view(from, a, &loan, &account, err));
    pcal_status status = PCAL_OK;
    if (account != NULL)
      status = ledger_prepare(into, total, account, err);
    if (account != NULL && status == PCAL_OK)
      ledger_join(into, total, account);
    pc_group_state_free(from, loan);
    PC_TRY(status);
  }
  return PCAL_OK;
}

/* ---- as bytes ---- */

pcal_status pc_group_state_save(const pc_group_states *ledger, const pc_group_state *account,
                                pc_encoder *out, pcal_error *err) {
  const pc_measure_plan *plan = ledger->plan;
  pc_encode_u64(out, account->tally.rows);
  pc_encode_sum(out, &account->tally.weight);
  pc_encode_sum(out, &account->tally.square);
  pc_encode_u32(out, (uint32_t)account->tally.label_low);
  pc_encode_u32(out, (uint32_t)account->tally.label_high);
  for (size_t s = 0; s < plan->slot_count; s++) {
    pc_encode_u8(out, (unsigned)plan->slots[s].need.machine);
    PC_TRY(plan->slots[s].machine->save(ledger->env, account->states[s], out, err));
    PC_TRY(pc_check_interrupt(ledger->env, err));
  }
  return PCAL_OK;
}

static void ledger_tally_load(pc_group_totals *tally, const pc_layout *layout, pc_decoder *in) {
  const uint32_t labels = layout->kind == PCAL_CONFIDENCE ? 2 : (uint32_t)layout->classes;
  tally->rows = pc_decode_u64(in);
  pc_decode_sum(in, &tally->weight);
  pc_decode_sum(in, &tally->square);
  const uint32_t low = pc_decode_u32(in), high = pc_decode_u32(in);
  const double weight = pc_sum_value(&tally->weight);
  const double square = pc_sum_value(&tally->square);
  pc_decoder_expect(in, tally->rows > 0 && weight > 0 && weight <= PC_WEIGHT_MAX);
  pc_decoder_expect(in, square >= 0 && square <= PC_WEIGHT_MAX * PC_WEIGHT_MAX);
  pc_decoder_expect(in, low <= high && high < labels);
  tally->label_low = (int32_t)low;
  tally->label_high = (int32_t)high;
}

pcal_status pc_group_states_save(const pc_group_states *ledger, size_t number, pc_encoder *out,
                                 pcal_error *err) {
  if (ledger->packed[number] == NULL)
    return pc_group_state_save(ledger, ledger->accounts[number], out, err);
  pc_packed_group_save(ledger->packed[number], out);
  return PCAL_OK;
}

static pcal_status ledger_account_load(const pc_group_states *ledger, pc_group_state *account,
                                       pc_decoder *in, pcal_error *err) {
  const pc_measure_plan *plan = ledger->plan;
  ledger_tally_load(&account->tally, &plan->layout, in);
  const pc_saved_totals totals = {account->tally.rows, account->tally.weight};
  for (size_t s = 0; s < plan->slot_count && !in->failed; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    pc_decoder_expect(in, pc_decode_u8(in) == (unsigned)slot->need.machine &&
                              slot->machine->load != NULL);
    if (!in->failed)
      PC_TRY(slot->machine->load(ledger->env, &slot->need, &plan->layout, &totals, in,
                                 &account->states[s], err));
  }
  return PCAL_OK;
}

pcal_status pc_group_state_load(const pc_group_states *ledger, pc_decoder *in,
                                pc_group_state **out, pcal_error *err) {
  *out = NULL;
  pc_group_state *account = ledger_account_alloc(ledger);
  if (account == NULL)
    return pc_fail_memory(err, "loading a state");
  const pcal_status status = ledger_account_load(ledger, account, in, err);
  if (status != PCAL_OK || in->failed)
    pc_group_state_free(ledger, account);
  else
    *out = account;
  return status;
}

pcal_status pc_group_states_load(pc_group_states *ledger, size_t number, pc_decoder *in,
                                 pcal_error *err) {
  PC_TRY(ledger_grow(ledger, number + 1, err));
  PC_TRY(pc_group_state_load(ledger, in, &ledger->accounts[number], err));
  ledger->open += ledger->accounts[number] != NULL;
  return PCAL_OK;
}
