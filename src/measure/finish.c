/* From states to results.  Each state is finished once; all metrics of its slot read the
 * resulting evidence. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "measure/group_names.h"
#include "measure/group_records.h"
#include "measure/interval_formula.h"
#include "measure/judged_bins.h"
#include "measure/overlapping_groups.h"
#include "measure/replicas/replica_intervals.h"
#include "measure/replicas/replica_tally.h"

/* Memory for the values that a comparison with another model reads; filled with NaN. */
static pcal_status finish_allocate_pairs(const pcal_env *env, pcal_results *results,
                                         pcal_error *err) {
  const size_t values = results->metric_count * results->replica_count;
  const size_t blocks = results->metric_count * PC_JACKKNIFE_PAIR_BLOCKS;
  results->replicas = pc_alloc_raw(env, values, sizeof *results->replicas);
  results->left_out = pc_alloc_raw(env, blocks, sizeof *results->left_out);
  if (results->replicas == NULL || results->left_out == NULL)
    return pc_fail_memory(err, "collecting results");
  for (size_t i = 0; i < values; i++)
    results->replicas[i] = (double)NAN;
  for (size_t i = 0; i < blocks; i++)
    results->left_out[i] = (double)NAN;
  return PCAL_OK;
}

static pcal_status finish_allocate(const pcal_measure *measure, size_t groups,
                                   pcal_results **out, pcal_error *err) {
  const pcal_env *env = &measure->env;
  pcal_results *results = pc_alloc(env, 1, sizeof *results);
  if (results == NULL)
    return pc_fail_memory(err, "collecting results");
  results->env = measure->env;
  results->env.pool = NULL; /* results may outlive the caller's pool and callbacks */
  results->env.progress = NULL;
  results->env.interrupted = NULL;
  results->metric_count = measure->plan.entry_count;
  results->count = results->metric_count * (groups + 1);
  const pcal_env held = pc_env_for_use(env, PC_MEMORY_RESULTS);
  results->records = pc_alloc(env, results->metric_count, sizeof *results->records);
  results->group_records =
      pc_alloc(&held, groups * results->metric_count, sizeof *results->group_records);
  results->group_weights = pc_alloc(env, groups, sizeof *results->group_weights);
  results->level = measure->plan.intervals.level;
  results->replica_count = measure->plan.intervals.replicas;
  *out = results;
  if (results->records == NULL || results->group_records == NULL ||
      results->group_weights == NULL)
    return pc_fail_memory(err, "collecting results");
  return measure->plan.intervals.paired ? finish_allocate_pairs(env, results, err) : PCAL_OK;
}

static pcal_status finish_group_names(const pc_result_groups *groups, pcal_results *results,
                                      pcal_error *err) {
  results->group_names = pc_alloc(groups->env, groups->count, sizeof *results->group_names);
  if (results->group_names == NULL)
    return pc_fail_memory(err, "collecting results");
  results->group_count = groups->count;
  for (size_t g = 0; g < groups->count; g++) {
    results->group_names[g] = pc_copy_text(groups->env, groups->names[g]);
    if (results->group_names[g] == NULL)
      return pc_fail_memory(err, "collecting results");
  }
  return PCAL_OK;
}

/* The interval of a value that is the largest over groups. */
static void finish_bounds(const pc_measure_plan *plan, const pc_plan_entry *entry,
                          const pc_evidence *evidence, pc_result_record *out) {
  pc_interval_result *result = &out->interval_result;
  if (plan->intervals.level <= 0 || out->outcome.undefined)
    return;
  if (plan->intervals.by_cluster) {
    snprintf(result->why, sizeof result->why, "its interval does not allow for clusters");
    return;
  }
  const pc_interval found =
      entry->metric->bounds(&entry->options, evidence, plan->intervals.level);
  result->has_interval = 1;
  result->level = plan->intervals.level;
  result->low = found.low;
  result->high = found.high;
  result->se = (double)NAN;
  result->method = PCAL_INTERVAL_WILSON;
}

static pcal_status finish_entry(const pc_measure_plan *plan, size_t index,
                                const pc_evidence *evidence, const pcal_env *env, size_t group,
                                pc_result_record *out, pcal_error *err) {
  const pc_plan_entry *entry = &plan->entries[index];
  out->metric = entry->metric->row.name;
  out->notion = entry->config.notion;
  out->bound = entry->config.bound;
  out->view = entry->config.need.view;
  out->group = group;
  pc_options_write(&entry->options, 1, out->spec, sizeof out->spec);
  pc_options_write(&entry->options, 0, out->label, sizeof out->label);
  const char *no_null = plan->intervals.null ? pc_measure_plan_no_null(plan, index) : NULL;
  if (no_null != NULL)
    snprintf(out->interval_result.why, sizeof out->interval_result.why, "%s", no_null);
  if (evidence->total > 0) {
    const pc_evidence own = pc_evidence_for(evidence, entry->metric->cells != NULL);
    PC_TRY(entry->metric->evaluate(&entry->options, &own, env, &out->outcome, err));
    if (entry->metric->bounds != NULL)
      finish_bounds(plan, entry, evidence, out);
    if (evidence->machine == PC_BLOCK)
      pc_interval_of_blocks(&plan->intervals, evidence, &out->outcome, &out->interval_result);
    const int formula =
        !plan->intervals.by_cluster && pc_interval_request_allows_formula(&plan->intervals);
    if (entry->config.has_se && formula)
      pc_interval_of_estimate(&plan->intervals, &out->outcome, &out->interval_result);
    return evidence->machine == PC_SUM && formula && !out->outcome.tested
               ? pc_interval_of_sums(&plan->intervals, entry->metric, &entry->options, evidence,
                                     env, &out->outcome, &out->interval_result, err)
               : PCAL_OK;
  }
  out->outcome.undefined = 1;
  snprintf(out->outcome.why, sizeof out->outcome.why, "no rows");
  return PCAL_OK;
}

/* The user data of finish_ask and finish_cells. */
typedef struct finish_wants {
  const pcal_env *env;
  const pc_measure_plan *plan;
  size_t slot;
  pc_result_record *records; /* by entry */
} finish_wants;

/* Marks the entries of a curve that any metric on the slot wants resolved. */
static size_t finish_ask(const void *user, const pc_curve_table *table, uint8_t *wanted) {
  const finish_wants *asked = user;
  size_t count = 0;
  for (size_t e = 0; e < asked->plan->entry_count; e++) {
    const pc_plan_entry *entry = &asked->plan->entries[e];
    if (entry->slot == asked->slot && entry->metric->wants != NULL)
      count += entry->metric->wants(&entry->options, table, wanted);
  }
  return count;
}

/* The finest cells that any metric on the slot asks for. */
static pcal_status finish_cells(const void *user, const pc_curve_table *table, unsigned *level,
                                pcal_error *err) {
  const finish_wants *asked = user;
  for (size_t e = 0; e < asked->plan->entry_count; e++) {
    const pc_plan_entry *entry = &asked->plan->entries[e];
    unsigned here = asked->records[e].outcome.cell_level;
    if (entry->slot != asked->slot || entry->metric->cells == NULL)
      continue;
    PC_TRY(entry->metric->cells(&entry->options, table, asked->env, &here, err));
    if (here > 0)
      asked->records[e].outcome.cell_level = here;
    *level = here > *level ? here : *level;
  }
  return PCAL_OK;
}

/* The factor that makes importance weights sum to the effective sample size. */
static double finish_scale(const pc_group_state *state) {
  return pc_effective_sample_size(&state->totals) / pc_sum_value(&state->totals.weight);
}

/* A curve is resolved only as far as its metrics ask, unless all scores are needed: for plots,
 * for intervals (which use the moments of bins), and for importance weights. */
static pcal_status finish_evidence(const pcal_measure *measure, const pc_group_state *state,
                                   size_t slot, pc_result_record *records,
                                   pc_evidence *evidence, pcal_error *err) {
  const pc_machine *machine = measure->plan.slots[slot].machine;
  const finish_wants wants = {&measure->env, &measure->plan, slot, records};
  const pc_curve_question asked = {
      finish_ask, pc_measure_plan_has_cells(&measure->plan, slot) ? finish_cells : NULL, &wants,
      (measure->plan.slots[slot].need.grid.moments & PC_MOMENT_SQUARE) != 0};
  const int importance = pc_measure_rows_are_units(measure);
  evidence->machine = measure->plan.slots[slot].need.machine;
  evidence->layout = &measure->plan.layout;
  evidence->pair.queue = (pc_device_queue){measure->device, measure->device_stream};
  evidence->total = pc_sum_value(&state->totals.weight);
  if (machine == &pc_machine_curve && pc_measure_plan_can_refine(&measure->plan, slot) &&
      !measure->curves && measure->plan.intervals.level <= 0 && !importance)
    return pc_machine_curve_resolve(&measure->env, state->slots[slot], &asked, evidence, err);
  PC_TRY(machine->finish(&measure->env, state->slots[slot], evidence, err));
  evidence->importance = importance;
  evidence->effective = pc_effective_sample_size(&state->totals);
  if (importance)
    pc_evidence_scale(evidence, finish_scale(state));
  return PCAL_OK;
}

static pcal_status finish_slot(const pcal_measure *measure, const pc_group_state *state,
                               size_t slot, size_t group, pc_result_record *records,
                               pcal_results *results, pcal_error *err) {
  const pc_machine *machine = measure->plan.slots[slot].machine;
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  evidence.machine = measure->plan.slots[slot].need.machine;
  if (state != NULL)
    PC_TRY(finish_evidence(measure, state, slot, records, &evidence, err));
  if (state != NULL) {
    evidence.family.groups = results->count / results->metric_count - 1;
    evidence.family.total =
        results->weight * (pc_measure_rows_are_units(measure) ? finish_scale(state) : 1.0);
  }
  pcal_status status = PCAL_OK;
  for (size_t e = 0; e < measure->plan.entry_count && status == PCAL_OK; e++) {
    if (measure->plan.entries[e].slot != slot)
      continue;
    records[e].outcome.graph.wanted = measure->curves;
    records[e].outcome.se_wanted = measure->plan.intervals.level > 0;
    status = finish_entry(&measure->plan, e, &evidence, &measure->env, group, &records[e], err);
    records[e].device_uses = measure->slot_uses[slot];
    if (records[e].outcome.pairs_on_device)
      records[e].device_uses |= PC_USE_PAIRS;
  }
  if (status == PCAL_OK && group == PC_ALL_ROWS && slot == measure->plan.reliability_slot &&
      measure->plan.layout.form != PC_FORM_DISTANCES)
    status = pc_judged_bins(&measure->env, &evidence, results, err);
  if (status == PCAL_OK && group == PC_ALL_ROWS && slot == measure->plan.classes_slot)
    status = pc_judged_classes(&measure->env, &evidence, results, err);
  if (state != NULL)
    machine->release(&measure->env, &evidence);
  return status;
}

/* The kind of the rarer rows, for the remark about few rows. */
static const char *finish_kind(const pc_layout *layout, int hits) {
  if (pc_layout_is_binary(layout))
    return hits ? "of class 1" : "of class 0";
  return hits ? "right" : "wrong";
}

/* Adds the remark of a metric whose intervals fall short of their level. */
static void finish_remark(const pc_metric *metric, pc_interval_result *out) {
  if (metric->interval_remark != NULL && out->has_interval && out->why[0] == '\0')
    snprintf(out->why, sizeof out->why, "%s", metric->interval_remark);
}

/* Adds remarks to intervals: that they depend on few rows, and those of the metrics. */
static pcal_status finish_warn_few(const pcal_measure *measure, const pc_group_state *state,
                                   pc_result_record *records, pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  const size_t slot = plan->reliability_slot;
  pc_evidence evidence;
  double hits = 0.0, total = 0.0;
  if (plan->intervals.level <= 0 || plan->layout.form != PC_FORM_CLASSES)
    return PCAL_OK;
  memset(&evidence, 0, sizeof evidence);
  PC_TRY(finish_evidence(measure, state, slot, records, &evidence, err));
  for (size_t b = 0; b < evidence.grid.bin_count; b++) {
    hits += evidence.grid.bins[b].hits;
    total += evidence.grid.bins[b].weight;
  }
  plan->slots[slot].machine->release(&measure->env, &evidence);
  const int rare = 2 * hits < total;
  for (size_t e = 0; e < plan->entry_count; e++) {
    pc_interval_warn_few(rare ? hits : total - hits, total, finish_kind(&plan->layout, rare),
                         &records[e].interval_result);
    finish_remark(plan->entries[e].metric, &records[e].interval_result);
  }
  return PCAL_OK;
}

/* Keys of named clusters, which do not depend on their numbers.  The caller frees *out. */
static pcal_status finish_cluster_keys(const pcal_measure *measure, uint64_t **out,
                                       pcal_error *err) {
  const size_t count = measure->group_name_count;
  if (!measure->plan.intervals.by_cluster || count == 0)
    return PCAL_OK;
  *out = pc_alloc_raw(&measure->env, count, sizeof **out);
  if (*out == NULL)
    return pc_fail_memory(err, "drawing replicas");
  for (size_t c = 0; c < count; c++)
    (*out)[c] = pc_hash_bytes(measure->group_names[c], strlen(measure->group_names[c]));
  return PCAL_OK;
}

/* Says why an entry without a tally has no interval or null. */
static void finish_untallied(const pcal_measure *measure, size_t entry,
                             pc_result_record *record) {
  const char *lacks = pc_replica_tally_lacks(NULL, &measure->plan, entry);
  if (lacks != NULL && pc_measure_rows_are_units(measure))
    lacks =
        "rounds draw rows whose weights are frequencies; measure these weights in one process";
  if (lacks != NULL && !record->outcome.undefined)
    snprintf(record->interval_result.why, sizeof record->interval_result.why, "%s", lacks);
}

/* The same from tallies; group NULL: all rows. */
static pcal_status finish_tallied(const pcal_measure *measure, const char *group,
                                  pc_result_record *records, pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  for (size_t t = 0; t < measure->tally_count; t++) {
    const pc_group_tally *at = &measure->tallies[t];
    const int found =
        group == NULL || at->group == NULL ? group == at->group : strcmp(group, at->group) == 0;
    if (found && at->tally.env != NULL)
      return pc_replica_intervals_tallied(&measure->env, plan, &at->tally, records, err);
  }
  for (size_t e = 0; e < plan->entry_count; e++)
    finish_untallied(measure, e, &records[e]);
  return PCAL_OK;
}

/* Intervals and nulls from stored rows. */
static pcal_status finish_resample(const pcal_measure *measure, const pc_group_state *state,
                                   const pc_replica_output *kept, const char *group,
                                   pc_result_record *records, pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  uint64_t *keys = NULL;
  if (measure->from_rounds)
    return finish_tallied(measure, group, records, err);
  if (plan->rows_slot == PC_NO_SLOT)
    return PCAL_OK;
  PC_TRY(finish_cluster_keys(measure, &keys, err));
  const pc_distinct_rule how = {.by_position = plan->intervals.paired,
                                .identified = measure->identified > 0,
                                .importance = pc_measure_rows_are_units(measure),
                                .scale = finish_scale(state),
                                .cluster_keys = keys,
                                .cluster_count = keys == NULL ? 0 : measure->group_name_count};
  const pcal_status status = pc_replica_intervals(
      &measure->env, plan, state->slots[plan->rows_slot], &how, kept, records, err);
  pc_free(&measure->env, keys);
  return status;
}

/* True if weights differ, so that the moments of bins do not determine chance. */
static int finish_weights_differ(const pcal_measure *measure, const pc_group_state *state) {
  return pc_measure_rows_are_units(measure) &&
         pc_effective_sample_size(&state->totals) < (1.0 - 1e-9) * (double)state->totals.rows;
}

/* The mean of the null in closed form, where it is known, in place of the mean over replicas,
 * which differs from it by about one percent: the verdict shows the same number without
 * replicas.  Only grids with the moments of the verdict, whatever other metrics are measured. */
static void finish_null_means(const pcal_measure *measure, const pc_group_state *state,
                              pc_result_record *records) {
  const pc_measure_plan *plan = &measure->plan;
  for (size_t e = 0; e < plan->entry_count && !finish_weights_differ(measure, state); e++) {
    const size_t slot = plan->entries[e].slot;
    const double mean = records[e].outcome.null_mean;
    const int judged =
        slot == plan->reliability_slot ||
        (slot == plan->classes_slot && plan->slots[slot].need.view.kind == PC_VIEW_CLASS);
    if (judged && records[e].interval_result.has_null && mean > 0 && isfinite(mean))
      records[e].interval_result.null_mean = mean;
  }
}

/* One cluster shows nothing of the chance between clusters, two may agree by chance, and few show
 * little. */
static void finish_warn_clusters(const pcal_measure *measure, pc_result_record *records) {
  const size_t clusters = measure->group_name_count;
  if (!measure->plan.intervals.by_cluster || clusters == 0 || clusters >= PC_INTERVAL_FEW_ROWS)
    return;
  for (size_t e = 0; e < measure->plan.entry_count; e++) {
    pc_interval_result *result = &records[e].interval_result;
    if (!result->has_interval && !pc_measure_plan_resampled(&measure->plan, e))
      continue;
    if (clusters <= 2) {
      result->has_interval = 0;
      for (size_t p = 0; p < PC_PARTS_MAX; p++)
        records[e].part_interval_results[p].has_interval = 0;
      snprintf(result->why, sizeof result->why,
               clusters == 1 ? "all rows are in one cluster, which shows nothing of chance"
                             : "two clusters show too little of chance; use more clusters");
    } else if (result->has_interval) {
      snprintf(result->few_rows, sizeof result->few_rows,
               "only %zu clusters, too few for an interval with the stated coverage; use more "
               "clusters",
               clusters);
    }
  }
}

/* state NULL: the group has no rows. */
static pcal_status finish_state(const pcal_measure *measure, const pc_group_state *state,
                                size_t group, pc_result_record *records, pcal_results *results,
                                pcal_error *err) {
  for (size_t s = 0; s < measure->plan.slot_count; s++) {
    if (!pc_measure_plan_reads(&measure->plan, s))
      continue;
    PC_TRY(finish_slot(measure, state, s, group, records, results, err));
    PC_TRY(pc_check_interrupt(&measure->env, err));
  }
  if (state == NULL)
    return PCAL_OK;
  pc_replica_output kept = {NULL, NULL, NULL};
  if (group == PC_ALL_ROWS)
    kept = (pc_replica_output){results->replicas, results->left_out,
                               measure->plan.intervals.paired ? &results->kept : NULL};
  PC_TRY(finish_resample(measure, state, &kept,
                         group == PC_ALL_ROWS ? NULL : results->group_names[group], records,
                         err));
  finish_null_means(measure, state, records);
  for (size_t e = 0; e < measure->plan.entry_count; e++)
    pc_interval_bound(&measure->plan.entries[e].config.range, records[e].outcome.value,
                      &records[e].interval_result);
  PC_TRY(finish_warn_few(measure, state, records, err));
  finish_warn_clusters(measure, records);
  return PCAL_OK;
}

static pcal_status finish_summary(const pcal_measure *measure, const pc_group_totals *totals,
                                  pcal_results *results, pcal_error *err) {
  results->layout = measure->plan.layout;
  results->rows = totals->rows;
  results->weight = pc_sum_value(&totals->weight);
  results->weighted = measure->weighted;
  results->weights_are = pc_measure_rows_are_units(measure) ? PCAL_WEIGHTS_IMPORTANCE
                         : measure->weighted                ? PCAL_WEIGHTS_FREQUENCY
                                                            : PCAL_WEIGHTS_AUTO;
  results->effective = results->weights_are == PCAL_WEIGHTS_IMPORTANCE
                           ? pc_effective_sample_size(totals)
                           : results->weight;
  results->normalized = measure->normalized;
  results->fast = measure->fast;
  results->skipped = measure->skipped;
  results->only_label = measure->plan.layout.kind != PCAL_CONFIDENCE &&
                                measure->plan.layout.form == PC_FORM_CLASSES &&
                                totals->label_low == totals->label_high
                            ? totals->label_low
                            : -1;
  if (results->weight <= 0 && measure->weighted && measure->skipped == 0)
    return pc_fail(err, PCAL_DATA,
                   "%sall weights are zero; give at least one row a positive weight",
                   measure->weights_name);
  if (results->weight <= 0)
    return pc_fail(err, PCAL_DATA,
                   measure->skipped > 0 ? "no rows are left: every row has a missing value"
                                        : "there are no rows to measure");
  results->class_count = measure->class_count;
  return pc_name_list_copy(&measure->env, (const char *const *)measure->class_names,
                           measure->class_count, &results->class_names, err);
}

static void finish_records_clear(const pcal_env *env, pc_result_record *records, size_t count) {
  for (size_t m = 0; m < count; m++) {
    pc_free(env, records[m].outcome.class_values);
    pc_plot_table_free(env, &records[m].outcome.graph);
  }
  memset(records, 0, count * sizeof *records);
}

/* records: zeroed memory for one group; state NULL: it has no rows. */
static pcal_status finish_group(const pcal_measure *measure, const pc_group_state *state,
                                size_t group, pc_result_record *records, pcal_results *results,
                                pcal_error *err) {
  results->group_weights[group] = state == NULL ? 0.0 : pc_sum_value(&state->totals.weight);
  pcal_status status = finish_state(measure, state, group, records, results, err);
  if (status == PCAL_OK)
    status = pc_group_records_keep(results, group, records, err);
  finish_records_clear(&measure->env, records, results->metric_count);
  return status;
}

static pcal_status finish_member(const pcal_measure *measure, size_t number, size_t group,
                                 pc_result_record *records, pcal_results *results,
                                 pcal_error *err) {
  pc_group_state *loan;
  const pc_group_state *state;
  PC_TRY(pc_group_states_view(&measure->groups, number, &loan, &state, err));
  const pcal_status status = finish_group(measure, state, group, records, results, err);
  pc_group_state_free(&measure->groups, loan);
  return status;
}

/* Finishes a group that is the union of several combinations of group columns. */
static pcal_status finish_union(const pcal_measure *measure, const size_t *members,
                                size_t count, size_t group, pc_result_record *records,
                                pcal_results *results, pcal_error *err) {
  pc_group_states joined;
  pc_group_states_init(&joined, &measure->env, &measure->plan);
  pcal_status status = pc_group_states_join(&joined, &measure->groups, members, count, err);
  if (status == PCAL_OK)
    status = finish_group(measure, joined.states[0], group, records, results, err);
  pc_group_states_free(&joined);
  return status;
}

/* Takes over the result of a group into that of all rows if its value is larger, and the larger
 * ends of its interval. */
static void finish_take_larger(const pc_result_record *group, pc_result_record *all) {
  const pc_metric_result *from = &group->outcome;
  pc_metric_result *into = &all->outcome;
  if (from->undefined)
    return;
  if (into->undefined || from->value > into->value) {
    into->undefined = 0;
    into->why[0] = '\0';
    into->value = from->value;
    into->part_count = from->part_count;
    memcpy(into->parts, from->parts, sizeof into->parts);
  }
  all->interval_result.low = fmax(all->interval_result.low, group->interval_result.low);
  all->interval_result.high = fmax(all->interval_result.high, group->interval_result.high);
}

static void finish_largest(const pc_measure_plan *plan, pcal_results *results) {
  pc_result_record room;
  for (size_t e = 0; e < plan->entry_count; e++)
    for (size_t g = 0; plan->entries[e].metric->bounds != NULL && g < results->group_count; g++)
      finish_take_larger(pc_results_at(results, (g + 1) * results->metric_count + e, &room),
                         &results->records[e]);
}

static pcal_status finish_groups(const pcal_measure *measure, const pc_result_groups *groups,
                                 pcal_results *results, pcal_error *err) {
  PC_TRY(finish_group_names(groups, results, err));
  pc_result_record *records = pc_alloc(&measure->env, results->metric_count, sizeof *records);
  pcal_status status = records == NULL ? pc_fail_memory(err, "collecting results") : PCAL_OK;
  for (size_t g = 0; g < groups->count && status == PCAL_OK; g++) {
    size_t count;
    const size_t *members = pc_result_group_members(groups, g, &count);
    status = count == 1 ? finish_member(measure, members[0], g, records, results, err)
                        : finish_union(measure, members, count, g, records, results, err);
  }
  pc_free(&measure->env, records);
  return status;
}

static pcal_status finish_all(const pcal_measure *measure, const pc_group_state *whole,
                              const pc_result_groups *groups, pcal_results **out,
                              pcal_error *err) {
  PC_TRY(finish_allocate(measure, groups->count, out, err));
  pcal_results *results = *out;
  PC_TRY(finish_summary(measure, &whole->totals, results, err));
  PC_TRY(finish_state(measure, whole, PC_ALL_ROWS, results->records, results, err));
  if (measure->grouped <= 0)
    return PCAL_OK;
  PC_TRY(finish_groups(measure, groups, results, err));
  finish_largest(&measure->plan, results);
  return PCAL_OK;
}

pcal_status pc_measure_finish(const pcal_measure *measure, pcal_results **out,
                              pcal_error *err) {
  return pc_measure_finish_total(measure, NULL, out, err);
}

/* Unions of combinations need whole states: curves and replicas of rounds, of which the total
 * is given, are those of each group of their rows; rounds_worker.c refuses combinations there. */
pcal_status pc_measure_finish_total(const pcal_measure *measure, const pc_group_state *given,
                                    pcal_results **out, pcal_error *err) {
  pcal_results *results = NULL;
  pc_result_groups groups = {0};
  pc_group_states total;
  pc_group_states_init(&total, &measure->env, &measure->plan);
  const pc_group_state *whole =
      given != NULL ? given : pc_group_states_find(&measure->groups, 0);
  pcal_status status = PCAL_OK;
  if (measure->grouped > 0)
    status = pc_result_groups_new(measure, given == NULL, &groups, err);
  if (status == PCAL_OK && given == NULL && (measure->grouped > 0 || whole == NULL)) {
    status = pc_group_states_total(&total, &measure->groups, err);
    whole = status == PCAL_OK ? total.states[0] : NULL;
  }
  if (status == PCAL_OK)
    status = finish_all(measure, whole, &groups, &results, err);
  pc_group_states_free(&total);
  pc_result_groups_free(&groups);
  if (status != PCAL_OK) {
    pc_results_free(results);
    return status;
  }
  *out = results;
  return PCAL_OK;
}
