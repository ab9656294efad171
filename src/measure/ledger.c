#include "measure/ledger.h"

#include <string.h>

static void ledger_tally_clear(pc_tally *tally) {
  tally->rows = 0;
  pc_sum_clear(&tally->weight);
  tally->label_low = INT32_MAX;
  tally->label_high = INT32_MIN;
}

static void ledger_tally_add(pc_tally *tally, const pc_rows *rows) {
  tally->rows += rows->count;
  for (size_t i = 0; i < rows->count; i++) {
    const int32_t label = rows->labels[i];
    tally->label_low = label < tally->label_low ? label : tally->label_low;
    tally->label_high = label > tally->label_high ? label : tally->label_high;
  }
  if (rows->weights == NULL)
    pc_sum_add(&tally->weight, (double)rows->count);
  for (size_t i = 0; rows->weights != NULL && i < rows->count; i++)
    pc_sum_add(&tally->weight, rows->weights[i]);
}

static void ledger_tally_merge(pc_tally *into, const pc_tally *from) {
  into->rows += from->rows;
  pc_sum_merge(&into->weight, &from->weight);
  into->label_low = from->label_low < into->label_low ? from->label_low : into->label_low;
  into->label_high = from->label_high > into->label_high ? from->label_high : into->label_high;
}

void pc_ledger_init(pc_ledger *ledger, const pcal_env *env, const pc_plan *plan) {
  *ledger = (pc_ledger){.env = env, .plan = plan};
}

static void ledger_account_free(pc_ledger *ledger, pc_account *account) {
  for (size_t s = 0; account->states != NULL && s < ledger->plan->slot_count; s++)
    if (account->states[s] != NULL)
      ledger->plan->slots[s].machine->destroy(ledger->env, account->states[s]);
  pc_free(ledger->env, account->states);
}

void pc_ledger_free(pc_ledger *ledger) {
  for (size_t a = 0; a < ledger->count; a++)
    ledger_account_free(ledger, &ledger->accounts[a]);
  pc_free(ledger->env, ledger->accounts);
  ledger->accounts = NULL;
  ledger->count = ledger->capacity = 0;
}

void pc_ledger_clear(pc_ledger *ledger) {
  for (size_t a = 0; a < ledger->count; a++) {
    ledger_tally_clear(&ledger->accounts[a].tally);
    for (size_t s = 0; s < ledger->plan->slot_count; s++)
      ledger->plan->slots[s].machine->clear(ledger->accounts[a].states[s]);
  }
}

static pcal_status ledger_account_new(pc_ledger *ledger, pc_account *out, pcal_error *err) {
  const pc_plan *plan = ledger->plan;
  ledger_tally_clear(&out->tally);
  out->states = pc_alloc(ledger->env, plan->slot_count, sizeof *out->states);
  pcal_status status = out->states == NULL ? pc_fail_memory(err, "preparing states") : PCAL_OK;
  for (size_t s = 0; s < plan->slot_count && status == PCAL_OK; s++)
    status = plan->slots[s].machine->create(ledger->env, &plan->slots[s].need, &plan->layout,
                                            &out->states[s], err);
  if (status != PCAL_OK)
    ledger_account_free(ledger, out);
  return status;
}

pcal_status pc_ledger_grow(pc_ledger *ledger, size_t count, pcal_error *err) {
  if (count > PC_GROUPS_MAX)
    return pc_fail(err, PCAL_DATA,
                   "more than %d groups; groups are meant for a few kinds of rows",
                   PC_GROUPS_MAX);
  void *block = ledger->accounts;
  const pcal_status status =
      pc_reserve(ledger->env, &block, &ledger->capacity, count, sizeof *ledger->accounts, err);
  ledger->accounts = block;
  if (status != PCAL_OK)
    return status;
  for (; ledger->count < count; ledger->count++)
    PC_TRY(ledger_account_new(ledger, &ledger->accounts[ledger->count], err));
  return PCAL_OK;
}

pcal_status pc_ledger_update(pc_ledger *ledger, size_t account, const pc_rows *rows,
                             const pc_columns *columns, pcal_error *err) {
  PC_TRY(pc_ledger_grow(ledger, account + 1, err));
  const pc_plan *plan = ledger->plan;
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_plan_slot *slot = &plan->slots[s];
    const pc_columns *view = slot->view == PC_NO_VIEW ? NULL : &columns[slot->view];
    PC_TRY(slot->machine->update(ledger->env, ledger->accounts[account].states[s], rows, view,
                                 err));
  }
  ledger_tally_add(&ledger->accounts[account].tally, rows);
  return PCAL_OK;
}

static pcal_status ledger_prepare(pc_ledger *ledger, pc_account *into, const pc_account *from,
                                  pcal_error *err) {
  for (size_t s = 0; s < ledger->plan->slot_count; s++) {
    const pc_machine *machine = ledger->plan->slots[s].machine;
    if (machine->prepare != NULL)
      PC_TRY(machine->prepare(ledger->env, into->states[s], from->states[s], err));
  }
  return PCAL_OK;
}

static void ledger_join(const pc_ledger *ledger, pc_account *into, const pc_account *from) {
  ledger_tally_merge(&into->tally, &from->tally);
  for (size_t s = 0; s < ledger->plan->slot_count; s++)
    ledger->plan->slots[s].machine->merge(into->states[s], from->states[s]);
}

pcal_status pc_ledger_merge(pc_ledger *into, const pc_ledger *from, pcal_error *err) {
  PC_TRY(pc_ledger_grow(into, from->count, err));
  for (size_t a = 0; a < from->count; a++)
    PC_TRY(ledger_prepare(into, &into->accounts[a], &from->accounts[a], err));
  for (size_t a = 0; a < from->count; a++)
    ledger_join(into, &into->accounts[a], &from->accounts[a]);
  return PCAL_OK;
}

pcal_status pc_ledger_total(pc_ledger *into, const pc_ledger *from, pcal_error *err) {
  PC_TRY(pc_ledger_grow(into, 1, err));
  for (size_t a = 0; a < from->count; a++) {
    PC_TRY(ledger_prepare(into, &into->accounts[0], &from->accounts[a], err));
    ledger_join(into, &into->accounts[0], &from->accounts[a]);
  }
  return PCAL_OK;
}
