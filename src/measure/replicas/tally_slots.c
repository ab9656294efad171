#include "measure/replicas/tally_slots.h"

#include <string.h>

#include "measure/replicas/score_cells.h"

int pc_tally_own_bins(const pc_measure_plan *plan, size_t entry) {
  const pc_need *need = &plan->slots[plan->entries[entry].slot].need;
  return need->machine == PC_CURVE && plan->entries[entry].config.binning.rule != 0 &&
         !plan->entries[entry].config.debiased && pc_sorted_view_suits(need, &plan->layout) &&
         pc_measure_plan_entry_can_refine(plan, entry) && !pc_score_cells_suit(plan, entry);
}

size_t pc_tally_shared_slots(const pc_measure_plan *plan) {
  return plan->slot_count - (plan->rows_slot + 1 == plan->slot_count);
}

size_t pc_tally_slot_count(const pc_measure_plan *plan) {
  return pc_tally_shared_slots(plan) + plan->entry_count;
}

size_t pc_tally_slot_of(const pc_measure_plan *plan, size_t entry) {
  return pc_tally_own_bins(plan, entry) ? pc_tally_shared_slots(plan) + entry
                                        : plan->entries[entry].slot;
}

/* The entry of a slot of its own. */
static const pc_plan_entry *slots_entry(const pc_measure_plan *plan, size_t slot) {
  return &plan->entries[slot - pc_tally_shared_slots(plan)];
}

const pc_need *pc_tally_slot_need(const pc_measure_plan *plan, size_t slot) {
  return slot < pc_tally_shared_slots(plan) ? &plan->slots[slot].need
                                            : &plan->slots[slots_entry(plan, slot)->slot].need;
}

size_t pc_tally_slot_parts(const pc_measure_plan *plan, size_t slot) {
  return pc_view_parts(&pc_tally_slot_need(plan, slot)->view, &plan->layout);
}

size_t pc_tally_slot_ranges(const pc_measure_plan *plan, size_t slot) {
  const pc_need *need = pc_tally_slot_need(plan, slot);
  if (slot < pc_tally_shared_slots(plan))
    return need->machine == PC_CURVE ? PC_CELLS_MAX : need->grid.bins + 2;
  const pc_curve_binning *binning = &slots_entry(plan, slot)->config.binning;
  return binning->per_bin > 0 ? PC_OWN_BINS_MAX : binning->bins;
}

double pc_tally_slot_threshold(const pc_measure_plan *plan, size_t slot) {
  return slot < pc_tally_shared_slots(plan) ? 0.0
                                            : slots_entry(plan, slot)->config.binning.threshold;
}

void pc_tally_plan_free(const pcal_env *env, pc_measure_plan *plan) {
  pc_free(env, plan->entries);
  pc_free(env, plan->slots);
  *plan = (pc_measure_plan){0};
}

pcal_status pc_tally_plan_new(const pcal_env *env, const pc_measure_plan *plan,
                              pc_measure_plan *out, pcal_error *err) {
  const size_t shared = pc_tally_shared_slots(plan), slots = pc_tally_slot_count(plan);
  *out = *plan;
  out->entries = pc_alloc_raw(env, plan->entry_count, sizeof *out->entries);
  out->slots = pc_alloc_raw(env, slots, sizeof *out->slots);
  if (out->entries == NULL || out->slots == NULL)
    return pc_fail_memory(err, "tallying replicas");
  memcpy(out->entries, plan->entries, plan->entry_count * sizeof *out->entries);
  memcpy(out->slots, plan->slots, shared * sizeof *out->slots);
  for (size_t s = 0; s < shared; s++)
    if (out->slots[s].need.machine == PC_SUM)
      out->slots[s].need.sum.products = 0;
  for (size_t e = 0; e < plan->entry_count; e++) {
    out->slots[shared + e] = plan->slots[plan->entries[e].slot];
    out->entries[e].slot = pc_tally_slot_of(plan, e);
  }
  out->slot_count = slots;
  out->rows_slot = PC_NO_SLOT;
  return PCAL_OK;
}
