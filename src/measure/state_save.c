/* Saving a measure.  The layout, in order:
 *
 *   header       magic "PCALSTAT", format version (u32), length with the checksum (u64)
 *   scores       kind (u8), columns (u64), of quantiles the level of each column (double)
 *   flags        (u8) 1 normalize, 2 skip_missing, 4 fast, 8 fast requested but not used
 *   metrics      number (u64), their specs as given, their specs in full (texts)
 *   intervals    level (double), replicas (u64), method (u8), null (u8)
 *   rows         normalized, skipped (u64); weighted, fractional, weights_are (u8); grouped,
 *                identified (u8; 2: no row yet)
 *   rows seen    0 (u8; 1 in older files: ranges were left out, being more than 4096), number
 *                of ranges (u64), first and last of each (u64)
 *   class names  number (u64), texts
 *   groups       named (u8), number (u64); for each its name, if named, and its first row (u64)
 *   states       number (u64); for each the position of its group in that list (u32), rows
 *                (u64), sums of weights and of squared weights (sums), lowest and highest label
 *                (u32), and for each slot of the plan the kind of its machine (u8) and the
 *                state as the machine writes it
 *   checksum     CRC-32C of all bytes before (u32)
 *
 * The version must change whenever old bytes would be read differently, also if a metric
 * changes its need. */
#include "measure/saved_state.h"

#include "base/json.h"
#include "measure/group_names.h"

const pc_envelope pc_state_envelope = {
    .magic = PC_STATE_MAGIC,
    .version = PC_STATE_VERSION,
    .noun = "state",
    .origin = "is not a saved state; {save_state} creates one",
    .saved = "was saved",
    .remedy = "measure the part again",
};

static pcal_status state_save_check_savable(const pc_measure_plan *plan, pcal_error *err) {
  for (size_t e = 0; e < plan->entry_count; e++)
    if (!pc_machine_is_saved(plan->slots[plan->entries[e].slot].machine))
      return pc_fail(err, PCAL_USAGE,
                     "%s needs all pairs of rows, so its state cannot be saved; measure it on "
                     "the whole data, or leave it out here",
                     plan->entries[e].metric->row.name);
  if (plan->intervals.paired)
    return pc_fail(
        err, PCAL_USAGE,
        "a comparison with another model cannot be saved; compare on the whole data, or "
        "leave the other model out");
  if (plan->intervals.by_cluster)
    return pc_fail(err, PCAL_USAGE,
                   "clusters may lie in several parts, so their state cannot be saved; measure "
                   "the whole data, or leave {cluster} out");
  if (plan->entry_count > PC_STATE_METRICS_MAX)
    return pc_fail(err, PCAL_USAGE, "a state holds at most %d metrics, not %zu; save fewer",
                   PC_STATE_METRICS_MAX, plan->entry_count);
  return PCAL_OK;
}

static void state_save_config(const pcal_measure *measure, pc_encoder *out) {
  const pc_measure_plan *plan = &measure->plan;
  const pc_row_policy *policy = &measure->pass.policy;
  pc_encode_u8(out, (unsigned)plan->layout.kind);
  pc_encode_u64(out, plan->layout.columns);
  if (plan->layout.form == PC_FORM_QUANTILES)
    pc_encode_doubles(out, plan->layout.levels, plan->layout.columns);
  pc_encode_u8(out, (policy->normalize ? PC_STATE_NORMALIZE : 0) |
                        (policy->skip_missing ? PC_STATE_SKIP_MISSING : 0) |
                        (measure->fast                    ? PC_STATE_FAST
                         : policy->probs == PC_PROBS_FAST ? PC_STATE_FAST_ASKED
                                                          : 0));
  pc_encode_u64(out, plan->entry_count);
  for (int full = 0; full <= 1; full++)
    for (size_t e = 0; e < plan->entry_count; e++) {
      char spec[PC_SPEC_MAX];
      pc_options_write(&plan->entries[e].options, full, spec, sizeof spec);
      pc_encode_text(out, spec);
    }
}

static void state_save_certainty(const pc_interval_request *request, pc_encoder *out) {
  pc_encode_doubles(out, &request->level, 1);
  pc_encode_u64(out, request->replicas);
  pc_encode_u8(out, (unsigned)request->method);
  pc_encode_u8(out, (unsigned)request->null);
}

static void state_save_rows(const pcal_measure *measure, pc_encoder *out) {
  const pc_row_ranges *seen = &measure->seen;
  pc_encode_u64(out, measure->normalized);
  pc_encode_u64(out, measure->skipped);
  pc_encode_u8(out, measure->weighted != 0);
  pc_encode_u8(out, measure->fractional != 0);
  pc_encode_u8(out, (unsigned)measure->weights_are);
  pc_encode_u8(out,
               measure->grouped < 0 ? PC_STATE_GROUPING_UNKNOWN : (unsigned)measure->grouped);
  pc_encode_u8(out, measure->identified < 0 ? PC_STATE_GROUPING_UNKNOWN
                                            : (unsigned)measure->identified);
  pc_encode_u8(out, 0);
  pc_encode_u64(out, seen->range_count);
  for (size_t r = 0; r < seen->range_count; r++) {
    pc_encode_u64(out, seen->ranges[r].first);
    pc_encode_u64(out, seen->ranges[r].last);
  }
  pc_encode_u64(out, measure->class_count);
  for (size_t c = 0; c < measure->class_count; c++)
    pc_encode_text(out, measure->class_names[c]);
}

static void state_save_groups(const pcal_measure *measure, const size_t *order, size_t groups,
                              pc_encoder *out) {
  const int named = pc_groups_have_names(measure);
  pc_encode_u8(out, (unsigned)named);
  pc_encode_u64(out, groups);
  for (size_t g = 0; g < groups; g++) {
    char number[PC_GROUP_NUMBER_MAX];
    if (named)
      pc_encode_text(out, pc_group_name(measure, order[g], number));
    pc_encode_u64(out, measure->seen.first_rows[order[g]]);
  }
}

static size_t state_save_number(const size_t *order, size_t position) {
  return order == NULL ? position : order[position];
}

static pcal_status state_save_group_states(const pcal_measure *measure, const size_t *order,
                                           size_t group_count, pc_encoder *out,
                                           pcal_error *err) {
  const pc_group_states *groups = &measure->groups;
  const size_t most = measure->grouped > 0 ? group_count : 1;
  uint64_t count = 0;
  for (size_t g = 0; g < most; g++)
    count += pc_group_states_rows(groups, state_save_number(order, g)) > 0;
  pc_encode_u64(out, count);
  for (size_t g = 0; g < most; g++) {
    const size_t number = state_save_number(order, g);
    if (pc_group_states_rows(groups, number) == 0)
      continue;
    pc_encode_u32(out, (uint32_t)g);
    PC_TRY(pc_group_states_save(groups, number, out, err));
  }
  return PCAL_OK;
}

static pcal_status state_save_all(const pcal_measure *measure, const size_t *order,
                                  size_t groups, uint64_t length, pc_encoder *out,
                                  pcal_error *err) {
  pc_envelope_begin(&pc_state_envelope, length, out);
  state_save_config(measure, out);
  state_save_certainty(&measure->plan.intervals, out);
  state_save_rows(measure, out);
  state_save_groups(measure, order, groups, out);
  PC_TRY(state_save_group_states(measure, order, groups, out, err));
  return pc_encoder_finish(out, err);
}

/* Runs twice: to compute the length, then to write. */
static pcal_status state_save_ordered(const pcal_measure *measure, const size_t *order,
                                      size_t groups, pcal_sink sink, void *user,
                                      pcal_error *err) {
  pc_encoder encoder;
  pc_encoder_init(&encoder, NULL, NULL);
  PC_TRY(state_save_all(measure, order, groups, 0, &encoder, err));
  const uint64_t length = encoder.length;
  pc_encoder_init(&encoder, sink, user);
  return state_save_all(measure, order, groups, length, &encoder, err);
}

pcal_status pc_state_save(const pcal_measure *measure, pcal_sink sink, void *user,
                          pcal_error *err) {
  size_t *order = NULL, groups = 0;
  PC_TRY(state_save_check_savable(&measure->plan, err));
  if (measure->grouped > 0)
    PC_TRY(pc_group_order(measure, &order, &groups, err));
  const pcal_status status = state_save_ordered(measure, order, groups, sink, user, err);
  pc_free(&measure->env, order);
  return status;
}

/* ---- description ---- */

static uint64_t state_next_row(const pcal_measure *measure) {
  const pc_row_ranges *seen = &measure->seen;
  uint64_t rows = measure->skipped;
  if (seen->range_count > 0)
    return seen->ranges[seen->range_count - 1].last + 1;
  for (size_t a = 0; a < measure->groups.count; a++)
    rows += pc_group_states_rows(&measure->groups, a);
  return rows; /* none */
}

static void state_describe_number(pc_json *json, const char *key, uint64_t value) {
  pc_json_key(json, key);
  pc_json_integer(json, value);
}

static void state_describe_specs(const pc_measure_plan *plan, pc_json *json) {
  pc_json_key(json, "specs");
  pc_json_open(json, '[');
  for (size_t e = 0; e < plan->entry_count; e++) {
    char spec[PC_SPEC_MAX];
    pc_options_write(&plan->entries[e].options, 0, spec, sizeof spec);
    pc_json_string(json, spec);
  }
  pc_json_close(json, ']');
}

void pc_state_describe(const pcal_measure *measure, pc_text *out) {
  const pc_measure_plan *plan = &measure->plan;
  const pc_row_policy *policy = &measure->pass.policy;
  pc_json json;
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  state_describe_number(&json, "kind", plan->layout.kind);
  state_describe_number(&json, "columns", plan->layout.columns);
  pc_json_key(&json, "levels");
  if (plan->layout.form == PC_FORM_QUANTILES)
    pc_json_numbers(&json, plan->layout.levels, plan->layout.columns);
  else
    pc_json_null(&json);
  state_describe_specs(plan, &json);
  state_describe_number(&json, "normalize", policy->normalize != 0);
  state_describe_number(&json, "skip_missing", policy->skip_missing != 0);
  state_describe_number(&json, "fast", policy->probs == PC_PROBS_FAST);
  pc_json_key(&json, "interval");
  pc_json_number(&json, plan->intervals.level);
  state_describe_number(&json, "replicas", plan->intervals.replicas);
  pc_json_key(&json, "interval_method");
  pc_json_string(&json, pc_interval_method_name(plan->intervals.method));
  state_describe_number(&json, "null", plan->intervals.null != 0);
  state_describe_number(&json, "next_row", state_next_row(measure));
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
}
