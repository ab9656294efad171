/* Loading a state from untrusted bytes.  Length and checksum are checked first; then every
 * number is checked against the remaining bytes and against the other numbers.  Forged bytes
 * give a measure that is safe to use, or an error. */
#include <string.h>

#include "measure/saved_state.h"

#define STATE_LOAD_TEXT_BYTES 4 /* bytes of an empty text */
#define STATE_LOAD_RANGE_BYTES 16
#define STATE_LOAD_GROUP_BYTES 8
#define STATE_LOAD_GROUP_STATE_BYTES 30

static pcal_status state_load_misfit(const char *name, pcal_error *err) {
  return pc_envelope_misfit(&pc_state_envelope, name, err);
}

/* ---- configuration ---- */

/* The specs as given, and in full. */
typedef struct state_load_specs {
  char **asked, **full;
  size_t count;
} state_load_specs;

static void state_load_specs_free(const pcal_env *env, state_load_specs *specs) {
  pc_name_list_free(env, specs->asked, specs->count);
  pc_name_list_free(env, specs->full, specs->count);
}

static pcal_status state_load_texts(const pcal_env *env, pc_decoder *in, size_t count,
                                    char ***out, pcal_error *err) {
  *out = pc_alloc(env, count, sizeof **out);
  if (*out == NULL)
    return pc_fail_memory(err, "loading a state");
  for (size_t i = 0; i < count && !in->failed; i++) {
    (*out)[i] = pc_decode_text(in, env);
    if ((*out)[i] == NULL && !in->failed)
      return pc_fail_memory(err, "loading a state");
  }
  return PCAL_OK;
}

static pcal_status state_load_specs_read(const pcal_env *env, pc_decoder *in,
                                         state_load_specs *out, pcal_error *err) {
  const size_t count = pc_decode_count(in, 2 * STATE_LOAD_TEXT_BYTES);
  pc_decoder_expect(in, count > 0 && count <= PC_STATE_METRICS_MAX);
  if (in->failed)
    return PCAL_OK;
  out->count = count;
  PC_TRY(state_load_texts(env, in, count, &out->asked, err));
  return state_load_texts(env, in, count, &out->full, err);
}

/* Fails if a spec now means something else: its state would be misread. */
static pcal_status state_load_compare(const pc_measure_plan *plan,
                                      const state_load_specs *specs, const char *name,
                                      pcal_error *err) {
  if (plan->entry_count != specs->count)
    return state_load_misfit(name, err);
  for (size_t e = 0; e < plan->entry_count; e++) {
    char full[PC_SPEC_MAX];
    pc_options_write(&plan->entries[e].options, 1, full, sizeof full);
    if (strcmp(full, specs->full[e]) != 0)
      return pc_fail(err, PCAL_DATA,
                     "%s holds %.300s, which this program reads as %.300s; measure the part "
                     "again",
                     name, specs->full[e], full);
    if (!pc_machine_is_saved(plan->slots[plan->entries[e].slot].machine))
      return state_load_misfit(name, err);
  }
  return PCAL_OK;
}

static pcal_status state_load_plan(const pcal_measure_config *config,
                                   const state_load_specs *specs, const char *name,
                                   const pcal_env *env, pcal_measure **out, pcal_error *err) {
  pcal_error inner;
  pc_error_clear(&inner);
  const pcal_status status = pc_measure_new(config, env, out, &inner);
  if (status == PCAL_MEMORY)
    return pc_fail_memory(err, "loading a state");
  if (status != PCAL_OK)
    return pc_fail_because(err, PCAL_DATA, &inner,
                           "%s cannot be read by this program: {cause}; measure the part again",
                           name);
  return state_load_compare(&(*out)->plan, specs, name, err);
}

static void state_load_certainty(pc_decoder *in, pcal_measure_config *config) {
  pc_decode_doubles(in, &config->interval, 1);
  const uint64_t replicas = pc_decode_u64(in);
  const unsigned method = pc_decode_u8(in), null = pc_decode_u8(in);
  pc_decoder_expect(in, config->interval >= 0 && config->interval < 1 && replicas > 0 &&
                            replicas <= PC_REPLICAS_MAX && method <= PCAL_INTERVAL_JACKKNIFE &&
                            null <= 1);
  config->replicas = (size_t)replicas;
  config->interval_method = in->failed ? PCAL_INTERVAL_AUTO : (pcal_interval_method)method;
  config->null = null == 1;
}

/* Creates the measure, without rows. */
static pcal_status state_load_config(const pcal_env *env, const char *name, pc_decoder *in,
                                     pcal_measure **out, pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  state_load_specs specs = {NULL, NULL, 0};
  config.kind = (pcal_kind)pc_decode_u8(in);
  const uint64_t columns = pc_decode_u64(in);
  double levels[PCAL_LEVELS_MAX];
  if (config.kind == PCAL_QUANTILES) {
    pc_decoder_expect(in, columns <= PCAL_LEVELS_MAX);
    pc_decode_doubles(in, levels, in->failed ? 0 : (size_t)columns);
    config.levels = levels;
  }
  const unsigned flags = pc_decode_u8(in);
  pc_decoder_expect(in, columns <= PC_CLASSES_MAX && flags <= PC_STATE_FLAGS);
  pcal_status status = state_load_specs_read(env, in, &specs, err);
  state_load_certainty(in, &config);
  config.columns = (size_t)columns;
  config.normalize = (flags & PC_STATE_NORMALIZE) != 0;
  config.skip_missing = (flags & PC_STATE_SKIP_MISSING) != 0;
  config.fast = (flags & (PC_STATE_FAST | PC_STATE_FAST_ASKED)) != 0;
  config.specs = (const char *const *)specs.asked;
  config.spec_count = specs.count;
  if (status == PCAL_OK && in->failed)
    status = state_load_misfit(name, err);
  if (status == PCAL_OK)
    status = state_load_plan(&config, &specs, name, env, out, err);
  if (status == PCAL_OK)
    (*out)->fast = (flags & PC_STATE_FAST) != 0;
  state_load_specs_free(env, &specs);
  return status;
}

/* ---- rows seen ---- */

static pcal_status state_load_ranges(pc_row_ranges *seen, const char *name, pc_decoder *in,
                                     pcal_error *err) {
  const unsigned left_out = pc_decode_u8(in);
  const size_t count = pc_decode_count(in, STATE_LOAD_RANGE_BYTES);
  pc_decoder_expect(in, left_out <= 1);
  if (in->failed)
    return PCAL_OK;
  if (left_out == 1)
    return pc_fail(err, PCAL_DATA,
                   "%s was saved by an older propercal, which did not keep more than 4096 "
                   "ranges of rows, so a part merged twice could not be noticed; measure the "
                   "part again",
                   name);
  PC_TRY(pc_row_ranges_reserve(seen, count, err));
  for (size_t r = 0; r < count; r++) {
    pc_row_range *range = &seen->ranges[r];
    range->first = pc_decode_u64(in);
    range->last = pc_decode_u64(in);
    const uint64_t gap = r == 0 ? 2 : range->first - seen->ranges[r - 1].last;
    pc_decoder_expect(in, range->first <= range->last && gap >= 2 &&
                              (r == 0 || range->first > seen->ranges[r - 1].last));
  }
  seen->range_count = count;
  return PCAL_OK;
}

static pcal_status state_load_rows(pcal_measure *measure, const char *name, pc_decoder *in,
                                   pcal_error *err) {
  measure->normalized = pc_decode_u64(in);
  measure->skipped = pc_decode_u64(in);
  const unsigned weighted = pc_decode_u8(in), fractional = pc_decode_u8(in);
  const unsigned meaning = pc_decode_u8(in), grouped = pc_decode_u8(in);
  const unsigned identified = pc_decode_u8(in);
  pc_decoder_expect(in, fractional <= weighted && meaning <= PC_WEIGHTS_EXPECTED &&
                            !(fractional == 1 && meaning == PCAL_WEIGHTS_FREQUENCY));
  pc_decoder_expect(in, weighted <= 1 && grouped <= PC_STATE_GROUPING_UNKNOWN &&
                            identified <= PC_STATE_GROUPING_UNKNOWN);
  measure->weighted = weighted == 1;
  measure->fractional = fractional == 1;
  measure->weights_are = (int)meaning;
  measure->grouped = grouped == PC_STATE_GROUPING_UNKNOWN ? -1 : (int)grouped;
  measure->identified = identified == PC_STATE_GROUPING_UNKNOWN ? -1 : (int)identified;
  PC_TRY(state_load_ranges(&measure->seen, name, in, err));
  PC_TRY(pc_row_ranges_prepare_merge(&measure->saved, &measure->seen, NULL, err));
  pc_row_ranges_merge(&measure->saved, &measure->seen, NULL);
  const size_t classes = pc_decode_count(in, STATE_LOAD_TEXT_BYTES);
  if (classes == 0)
    return PCAL_OK;
  measure->class_count = classes;
  return state_load_texts(&measure->env, in, classes, &measure->class_names, err);
}

static pcal_status state_load_group_name(pcal_measure *measure, size_t group, pc_decoder *in,
                                         pcal_error *err) {
  measure->group_names[group] = pc_decode_text(in, &measure->env);
  if (measure->group_names[group] == NULL && !in->failed)
    return pc_fail_memory(err, "loading a state");
  return PCAL_OK;
}

static pcal_status state_load_groups(pcal_measure *measure, pc_decoder *in, pcal_error *err) {
  const unsigned named = pc_decode_u8(in);
  const size_t count =
      pc_decode_count(in, STATE_LOAD_GROUP_BYTES + (named == 1 ? STATE_LOAD_TEXT_BYTES : 0));
  pc_decoder_expect(in, named <= 1 && (count > 0) == (measure->grouped == 1));
  if (in->failed || count == 0)
    return PCAL_OK;
  PC_TRY(pc_row_ranges_reserve_groups(&measure->seen, count, err));
  if (named == 1) {
    measure->group_names = pc_alloc(&measure->env, count, sizeof *measure->group_names);
    if (measure->group_names == NULL)
      return pc_fail_memory(err, "loading a state");
    measure->group_name_count = count;
  }
  for (size_t g = 0; g < count && !in->failed; g++) {
    if (named == 1)
      PC_TRY(state_load_group_name(measure, g, in, err));
    measure->seen.first_rows[g] = pc_decode_u64(in);
    pc_decoder_expect(in, named == 0 || measure->seen.first_rows[g] != PCAL_NO_ROW);
    measure->seen.group_count = g + 1;
  }
  return PCAL_OK;
}

static pcal_status state_load_group_states(pcal_measure *measure, pc_decoder *in,
                                           pcal_error *err) {
  const size_t count = pc_decode_count(in, STATE_LOAD_GROUP_STATE_BYTES);
  const size_t groups = measure->grouped == 1   ? measure->seen.group_count
                        : measure->grouped == 0 ? 1
                                                : 0;
  double weight = 0.0;
  size_t next = 0;
  for (size_t a = 0; a < count && !in->failed; a++) {
    const size_t number = pc_decode_u32(in);
    pc_decoder_expect(in, number >= next && number < groups);
    if (!in->failed)
      PC_TRY(pc_group_states_load(&measure->groups, number, in, err));
    pc_decoder_expect(in, in->failed || measure->grouped != 1 ||
                              measure->seen.first_rows[number] != PCAL_NO_ROW);
    weight += pc_group_states_weight(&measure->groups, number);
    PC_TRY(pc_group_states_pack_idle(&measure->groups, err));
    next = number + 1;
  }
  pc_decoder_expect(in, weight <= PC_WEIGHT_MAX);
  return PCAL_OK;
}

static pcal_status state_load_seen(pcal_measure *measure, const char *name, pc_decoder *in,
                                   pcal_error *err) {
  PC_TRY(state_load_rows(measure, name, in, err));
  PC_TRY(state_load_groups(measure, in, err));
  PC_TRY(state_load_group_states(measure, in, err));
  if (in->failed || pc_decoder_left(in) > 0)
    return state_load_misfit(name, err);
  measure->loaded = 1;
  measure->origin = pc_copy_text(&measure->env, name);
  return measure->origin == NULL ? pc_fail_memory(err, "loading a state") : PCAL_OK;
}

pcal_status pc_state_load(const void *bytes, size_t length, const char *name,
                          const pcal_env *env, pcal_measure **out, pcal_error *err) {
  return pc_state_load_adapted(bytes, length, name, NULL, env, out, err);
}

pcal_status pc_state_load_adapted(const void *bytes, size_t length, const char *name,
                                  void (*adapt)(pc_measure_plan *plan), const pcal_env *env,
                                  pcal_measure **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pcal_measure *measure = NULL;
  pc_decoder in;
  PC_TRY(pc_envelope_open(&pc_state_envelope, bytes, length, name, &in, err));
  pcal_status status = state_load_config(&resolved, name, &in, &measure, err);
  if (status == PCAL_OK && adapt != NULL)
    adapt(&measure->plan);
  if (status == PCAL_OK)
    status = state_load_seen(measure, name, &in, err);
  if (status != PCAL_OK) {
    pc_measure_free(measure);
    return status;
  }
  *out = measure;
  return PCAL_OK;
}
