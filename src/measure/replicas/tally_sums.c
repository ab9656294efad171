#include "measure/replicas/tally_sums.h"

/* ---- form ---- */

int pc_tally_sums_suit(const pc_measure_plan *plan, size_t entry) {
  return plan->slots[plan->entries[entry].slot].need.machine == PC_SUM &&
         pc_measure_plan_relabelled(plan, entry) && !pc_measure_plan_resampled(plan, entry);
}

static int tally_sums_wanted(const pc_measure_plan *plan, size_t slot) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (plan->entries[e].slot == slot && pc_tally_sums_suit(plan, e))
      return 1;
  return 0;
}

static uint64_t tally_sums_slot_bytes(const pc_measure_plan *plan, size_t slot) {
  return (uint64_t)plan->intervals.replicas * plan->slots[slot].need.sum.value_count *
         sizeof(pc_tally_sum);
}

/* Bytes of the slots up to this one; *taken: whether it is among them. */
static uint64_t tally_sums_up_to(const pc_measure_plan *plan, size_t slot, int *taken) {
  uint64_t bytes = 0;
  for (size_t s = 0; s <= slot && s < plan->slot_count; s++) {
    const uint64_t here = tally_sums_wanted(plan, s) ? tally_sums_slot_bytes(plan, s) : 0;
    *taken = here > 0 && here <= PC_TALLY_SUMS_BYTES - bytes;
    bytes += *taken ? here : 0;
  }
  return bytes;
}

int pc_tally_sums_take(const pc_measure_plan *plan, size_t slot) {
  int taken = 0;
  tally_sums_up_to(plan, slot, &taken);
  return taken;
}

uint64_t pc_tally_sums_bytes(const pc_measure_plan *plan) {
  int taken = 0;
  return tally_sums_up_to(plan, plan->slot_count - 1, &taken);
}

/* ---- memory ---- */

pcal_status pc_tally_sums_room(const pcal_env *env, size_t replicas, pc_tally_sums *sums,
                               pcal_error *err) {
  const size_t count = replicas * sums->values;
  sums->sums = pc_alloc(env, count, sizeof *sums->sums);
  if (sums->sums == NULL)
    return pc_fail_memory(err, "tallying replicas");
  for (size_t i = 0; i < count; i++) {
    pc_sum_clear(&sums->sums[i].finite);
    pc_sum_clear(&sums->sums[i].infinite);
  }
  return PCAL_OK;
}

void pc_tally_sums_free(const pcal_env *env, pc_tally_sums *list, size_t count) {
  for (size_t s = 0; list != NULL && s < count; s++)
    pc_free(env, list[s].sums);
  pc_free(env, list);
}

/* ---- replicas ---- */

void pc_tally_sums_set(pc_tally_sums *sums, size_t replica, const void *state) {
  for (size_t v = 0; v < sums->values; v++) {
    pc_tally_sum *sum = &sums->sums[replica * sums->values + v];
    pc_machine_sum_read(state, v, &sum->finite, &sum->infinite);
  }
}

static void tally_sums_evidence(const pc_tally_sums *sums, size_t replica, pc_evidence *out) {
  out->sum.count = sums->values;
  for (size_t v = 0; v < sums->values; v++) {
    const pc_tally_sum *sum = &sums->sums[replica * sums->values + v];
    out->sum.value[v] = pc_sum_value(&sum->finite);
    out->sum.infinite[v] = pc_sum_value(&sum->infinite);
    out->sum.infinite_row[v] = PCAL_NO_ROW;
  }
}

pcal_status pc_tally_sums_measure(const pc_tally_sums *sums, const double *totals,
                                  const pc_replica_request *request, size_t entry,
                                  double *values, pcal_error *err) {
  const pc_plan_entry *at = &request->plan->entries[entry];
  for (size_t r = 0; r < request->count; r++) {
    pc_evidence evidence = {
        .machine = PC_SUM, .layout = &request->plan->layout, .total = totals[r]};
    tally_sums_evidence(sums, r, &evidence);
    if (totals[r] > 0.0)
      PC_TRY(pc_replica_evaluate(&request->views->env, at, &evidence, request->count,
                                 &values[entry * PC_REPLICA_VALUES * request->count + r], err));
  }
  return PCAL_OK;
}

pcal_status pc_tally_sums_merge(pc_tally_sums *into, const pc_tally_sums *from, size_t replicas,
                                pcal_error *err) {
  const size_t count = replicas * into->values;
  for (size_t i = 0; i < count; i++)
    if (!pc_sum_addable(&into->sums[i].finite, &from->sums[i].finite) ||
        !pc_sum_addable(&into->sums[i].infinite, &from->sums[i].infinite))
      return pc_fail(err, PCAL_DATA, "the sums are too large to be added");
  for (size_t i = 0; i < count; i++) {
    pc_sum_merge(&into->sums[i].finite, &from->sums[i].finite);
    pc_sum_merge(&into->sums[i].infinite, &from->sums[i].infinite);
  }
  return PCAL_OK;
}

/* ---- bytes ---- */

void pc_encode_tally_sums(pc_encoder *out, const pc_tally_sums *sums, size_t replicas) {
  for (size_t i = 0; i < replicas * sums->values; i++) {
    const pc_tally_sum *sum = &sums->sums[i];
    const int infinite = pc_sum_value(&sum->infinite) > 0.0;
    pc_encode_sum(out, &sum->finite);
    pc_encode_u8(out, (unsigned)infinite);
    if (infinite)
      pc_encode_sum(out, &sum->infinite);
  }
}

void pc_decode_tally_sums(pc_decoder *in, pc_tally_sums *sums, size_t replicas) {
  for (size_t i = 0; i < replicas * sums->values && !in->failed; i++) {
    pc_tally_sum *sum = &sums->sums[i];
    pc_decode_sum(in, &sum->finite);
    const unsigned infinite = pc_decode_u8(in);
    pc_decoder_expect(in, infinite <= 1);
    if (infinite != 1)
      continue;
    pc_decode_sum(in, &sum->infinite);
    pc_decoder_expect(in, pc_sum_value(&sum->infinite) > 0.0);
  }
}
