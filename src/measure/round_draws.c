#include "measure/round_draws.h"

#include <string.h>

#include "base/rng.h"
#include "machines/machine_curve_buckets.h"
#include "machines/machine_rows.h"
#include "measure/group_names.h"
#include "measure/replicas/tally_slots.h"

/* ---- samples of keys ---- */

/* Adds the lowest hashes of `from`; keys that both have are shared. */
static void key_sample_merge(pc_key_sample *into, const pc_key_sample *from) {
  pc_key_sample both = {0};
  for (size_t i = 0, j = 0;
       both.count < PC_KEY_SAMPLE && (i < into->count || j < from->count);) {
    const int first =
        i < into->count && (j == from->count || into->hashes[i] <= from->hashes[j]);
    const int second =
        j < from->count && (i == into->count || from->hashes[j] <= into->hashes[i]);
    both.hashes[both.count] = first ? into->hashes[i] : from->hashes[j];
    both.shared[both.count++] = (uint8_t)((first && second) || (first && into->shared[i]) ||
                                          (second && from->shared[j]));
    i += (size_t)first;
    j += (size_t)second;
  }
  *into = both;
}

/* Inserts a hash if it is among the lowest; one part has it once. */
static void key_sample_add(pc_key_sample *sample, uint64_t hash) {
  size_t at = sample->count;
  if (at == PC_KEY_SAMPLE && hash >= sample->hashes[at - 1])
    return;
  at = at == PC_KEY_SAMPLE ? at - 1 : at;
  while (at > 0 && sample->hashes[at - 1] > hash) {
    sample->hashes[at] = sample->hashes[at - 1];
    at--;
  }
  sample->hashes[at] = hash;
  sample->count += sample->count < PC_KEY_SAMPLE;
}

static void key_sample_encode(pc_encoder *out, const pc_key_sample *sample) {
  pc_encode_varint(out, sample->count);
  for (size_t i = 0; i < sample->count; i++) {
    pc_encode_u64(out, sample->hashes[i]);
    pc_encode_u8(out, sample->shared[i]);
  }
}

static void key_sample_decode(pc_decoder *in, pc_key_sample *out) {
  const pc_uint128 count = pc_decode_varint(in);
  *out = (pc_key_sample){0};
  pc_decoder_expect(in, count <= PC_KEY_SAMPLE);
  for (size_t i = 0; !in->failed && i < (size_t)count; i++) {
    out->hashes[i] = pc_decode_u64(in);
    const unsigned shared = pc_decode_u8(in);
    pc_decoder_expect(in, shared <= 1 && (i == 0 || out->hashes[i] > out->hashes[i - 1]));
    out->shared[i] = (uint8_t)(shared & 1);
    out->count = i + 1;
  }
}

static int key_sample_shared(const pc_key_sample *sample) {
  for (size_t i = 0; i < sample->count; i++)
    if (sample->shared[i])
      return 1;
  return 0;
}

static void draws_sample(const pc_kept_rows *rows, pc_round_draws *out) {
  for (size_t i = 0; i < rows->count; i++) {
    const uint64_t hash = pc_hash_u64(rows->ids[i]);
    key_sample_add(&out->all, hash);
    if (rows->copies[i] > 1.0)
      key_sample_add(&out->repeated, hash);
  }
}

/* ---- answering ---- */

unsigned pc_group_tally_contents(const pc_group_tally *tally) {
  return tally->bits == PC_ROW_LATTICE_BITS_MAX ? PC_TALLY_WITH_SUMS
                                                : PC_TALLY_WITH_SUMS | PC_TALLY_WITH_GRIDS;
}

void pc_round_draws_free(pc_round_draws *draws) {
  if (draws->env == NULL)
    return;
  for (size_t i = 0; draws->list != NULL && i < draws->count; i++)
    pc_replica_tally_free(&draws->list[i]);
  pc_free(draws->env, draws->list);
  *draws = (pc_round_draws){0};
}

/* Draws the replicas of the rows of one state. */
static pcal_status draws_of_state(const pcal_env *env, const pcal_measure *measure,
                                  const pc_group_state *state, const pc_group_tally *asked,
                                  pc_replica_tally *tally, pc_round_draws *out,
                                  pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  const pc_distinct_rule how = {.identified = measure->identified > 0, .scale = 1.0};
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  PC_TRY(pc_machine_rows_distinct(env, state->slots[plan->rows_slot], &how, &evidence, err));
  const pcal_status status =
      pc_replica_tally_draw(env, plan, &evidence.kept, &asked->cells, tally, err);
  if (asked->group == NULL)
    draws_sample(&evidence.kept, out);
  plan->slots[plan->rows_slot].machine->release(env, &evidence);
  return status;
}

static pcal_status draws_of_all(const pcal_env *env, const pcal_measure *measure,
                                const pc_group_tally *asked, pc_replica_tally *tally,
                                pc_round_draws *out, pcal_error *err) {
  pc_group_states total;
  const pc_group_state *whole =
      measure->grouped > 0 ? NULL : pc_group_states_find(&measure->groups, 0);
  if (measure->grouped <= 0)
    return whole == NULL ? PCAL_OK
                         : draws_of_state(env, measure, whole, asked, tally, out, err);
  pc_group_states_init(&total, env, &measure->plan);
  pcal_status status = pc_group_states_total(&total, &measure->groups, err);
  if (status == PCAL_OK && total.count > 0 && total.states[0] != NULL)
    status = draws_of_state(env, measure, total.states[0], asked, tally, out, err);
  pc_group_states_free(&total);
  return status;
}

static pcal_status draws_of_group(const pcal_env *env, const pcal_measure *measure,
                                  const pc_group_tally *asked, pc_replica_tally *tally,
                                  pc_round_draws *out, pcal_error *err) {
  for (size_t g = 0; g < measure->groups.count; g++) {
    char number[PC_GROUP_NUMBER_MAX];
    pc_group_state *loan = NULL;
    const pc_group_state *state = NULL;
    if (pc_group_states_rows(&measure->groups, g) == 0 ||
        strcmp(pc_group_name(measure, g, number), asked->group) != 0)
      continue;
    PC_TRY(pc_group_states_view(&measure->groups, g, &loan, &state, err));
    const pcal_status status =
        state == NULL ? PCAL_OK : draws_of_state(env, measure, state, asked, tally, out, err);
    pc_group_state_free(&measure->groups, loan);
    return status;
  }
  return PCAL_OK;
}

static pcal_status draws_fill(const pcal_env *env, const pcal_measure *measure,
                              const pc_group_tally *asked, size_t count, pc_round_draws *out,
                              pcal_error *err) {
  for (size_t i = 0; i < count; i++) {
    pc_replica_tally *tally = &out->list[i];
    PC_TRY(pc_replica_tally_new(env, &measure->plan, asked[i].bits, &asked[i].cells,
                                pc_group_tally_contents(&asked[i]), tally, err));
    out->count = i + 1;
    PC_TRY((asked[i].group == NULL ? draws_of_all : draws_of_group)(env, measure, &asked[i],
                                                                    tally, out, err));
  }
  return PCAL_OK;
}

pcal_status pc_round_draws_new(const pcal_env *env, const pcal_measure *measure,
                               const pc_group_tally *asked, size_t count, pc_round_draws *out,
                               pcal_error *err) {
  *out = (pc_round_draws){.env = env};
  if (pc_measure_rows_are_units(measure))
    return pc_fail(err, PCAL_DATA,
                   "these rows have weights that are not whole numbers, and those of the first "
                   "round had none; store the table before measuring it");
  out->list = pc_alloc(env, count, sizeof *out->list);
  pcal_status status = out->list == NULL ? pc_fail_memory(err, "tallying replicas")
                                         : draws_fill(env, measure, asked, count, out, err);
  if (status != PCAL_OK)
    pc_round_draws_free(out);
  return status;
}

/* ---- merging ---- */

pcal_status pc_round_draws_merge(pc_round_draws *into, const pc_round_draws *from,
                                 pcal_error *err) {
  if (into->count != from->count)
    return pc_fail(err, PCAL_USAGE,
                   "the tallies answer different requests; merge those of one round only");
  for (size_t i = 0; i < into->count; i++)
    PC_TRY(pc_replica_tally_merge(&into->list[i], &from->list[i], err));
  key_sample_merge(&into->all, &from->all);
  key_sample_merge(&into->repeated, &from->repeated);
  return PCAL_OK;
}

pcal_status pc_round_draws_check(const pc_round_draws *draws, pcal_error *err) {
  if (!key_sample_shared(&draws->all) && !key_sample_shared(&draws->repeated))
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA,
                 "equal rows, or rows of one id, are in several parts, and what they draw for "
                 "intervals depends on their number; bring them into one part, join them into "
                 "one row with a weight, or give each row an id of its own");
}

/* ---- bytes ---- */

void pc_encode_round_draws(pc_encoder *out, const pc_round_draws *draws) {
  key_sample_encode(out, &draws->all);
  key_sample_encode(out, &draws->repeated);
  pc_encode_varint(out, draws->count);
  for (size_t i = 0; i < draws->count; i++)
    pc_encode_replica_tally(out, &draws->list[i]);
}

pcal_status pc_decode_round_draws(pc_decoder *in, const pcal_env *env, pc_round_draws *out,
                                  pcal_error *err) {
  *out = (pc_round_draws){.env = env};
  key_sample_decode(in, &out->all);
  key_sample_decode(in, &out->repeated);
  const pc_uint128 count = pc_decode_varint(in);
  pc_decoder_expect(in, count <= pc_decoder_left(in));
  if (in->failed)
    return PCAL_OK;
  out->list = pc_alloc(env, (size_t)count, sizeof *out->list);
  if (out->list == NULL)
    return pc_fail_memory(err, "reading a tally");
  for (size_t i = 0; i < (size_t)count && !in->failed; i++) {
    out->count = i + 1;
    PC_TRY(pc_decode_replica_tally(in, env, &out->list[i], err));
  }
  return PCAL_OK;
}

/* ---- groups ---- */

void pc_group_tallies_free(const pcal_env *env, pc_group_tally *list, size_t count) {
  for (size_t i = 0; list != NULL && i < count; i++) {
    pc_free(env, list[i].group);
    pc_score_cells_free(env, &list[i].cells);
    pc_replica_tally_free(&list[i].tally);
  }
  pc_free(env, list);
}

/* The bins of an entry that has bins of its own. */
static pcal_status group_tally_bins(const pcal_measure *measure, const pc_group_state *state,
                                    size_t entry, pc_group_tally *out, pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  const pc_curve_binning *binning = &plan->entries[entry].config.binning;
  const size_t slot = pc_tally_slot_of(plan, entry), parts = pc_tally_slot_parts(plan, slot);
  const size_t bins = pc_curve_binning_count(binning, out->weight);
  pc_score_cells *cells = NULL;
  if (out->weight < PC_CELLS_LEAST || bins > pc_tally_slot_ranges(plan, slot))
    return PCAL_OK;
  PC_TRY(pc_score_cells_add_bins(&measure->env, &out->cells, slot, binning, parts, bins, &cells,
                                 err));
  for (size_t p = 0; p < parts; p++) {
    pc_bucket_curve *curve = NULL;
    PC_TRY(pc_machine_curve_buckets_part(&measure->env, state->slots[plan->entries[entry].slot],
                                         p, &curve, err));
    const pc_curve_table table = pc_bucket_curve_table(curve);
    PC_TRY(pc_score_cells_set_bins(&measure->env, cells, p, binning, &table, err));
  }
  return PCAL_OK;
}

/* state: of the rows; its curves are refined. */
static pcal_status group_tally_init(const pcal_measure *measure, const pc_group_state *state,
                                    double weight, pc_group_tally *out, pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  int any = 0;
  out->weight = weight;
  for (size_t s = 0; s < plan->slot_count; s++) {
    pc_bucket_curve *curve = NULL;
    any |= plan->slots[s].need.machine == PC_GRID && pc_replica_tally_takes(plan, s);
    if (!plan->slots[s].replica_cells || state == NULL)
      continue;
    PC_TRY(pc_machine_curve_buckets_part(&measure->env, state->slots[s], 0, &curve, err));
    const pc_curve_table table = pc_bucket_curve_table(curve);
    PC_TRY(pc_score_cells_add(&measure->env, &out->cells, s, &table, err));
  }
  for (size_t e = 0; state != NULL && e < plan->entry_count; e++)
    if (pc_tally_own_bins(plan, e) && pc_replica_tally_takes(plan, pc_tally_slot_of(plan, e)))
      PC_TRY(group_tally_bins(measure, state, e, out, err));
  const int sums = pc_tally_sums_bytes(plan) > 0 && weight > 0.0;
  out->bits = any || sums || out->cells.count > 0 ? pc_row_lattice_bits(weight) : 0;
  if (sums && weight < PC_ROW_LATTICE_LEAST)
    out->bits = PC_ROW_LATTICE_BITS_MAX;
  return PCAL_OK;
}

/* Groups of few rows have sums as long as their memory lasts. */
static void group_tally_afford(const pc_measure_plan *plan, uint64_t *room,
                               pc_group_tally *tally) {
  const uint64_t bytes = pc_tally_sums_bytes(plan);
  if (tally->bits != PC_ROW_LATTICE_BITS_MAX || tally->weight >= PC_ROW_LATTICE_LEAST)
    return;
  if (bytes > *room)
    tally->bits = 0;
  else
    *room -= bytes;
}

pcal_status pc_group_tallies_new(const pcal_measure *measure, const pc_group_state *total,
                                 pc_group_tally **out, size_t *count, pcal_error *err) {
  const pc_group_states *groups = &measure->groups;
  pc_group_tally *list = pc_alloc(&measure->env, groups->count + 1, sizeof *list);
  uint64_t room = PC_TALLY_SUMS_FEW_BYTES;
  *out = list;
  *count = 0;
  if (list == NULL)
    return pc_fail_memory(err, "tallying replicas");
  PC_TRY(group_tally_init(measure, total, pc_sum_value(&total->totals.weight),
                          &list[(*count)++], err));
  group_tally_afford(&measure->plan, &room, &list[0]);
  for (size_t g = 0; measure->grouped > 0 && g < groups->count; g++) {
    char number[PC_GROUP_NUMBER_MAX];
    if (pc_group_states_rows(groups, g) == 0)
      continue;
    pc_group_tally *at = &list[(*count)++];
    at->group = pc_copy_text(&measure->env, pc_group_name(measure, g, number));
    if (at->group == NULL)
      return pc_fail_memory(err, "tallying replicas");
    PC_TRY(group_tally_init(measure, pc_group_states_find(groups, g),
                            pc_group_states_weight(groups, g), at, err));
    group_tally_afford(&measure->plan, &room, at);
  }
  return PCAL_OK;
}
