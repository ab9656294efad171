/* Is a result worse than that of an earlier run by more than chance?
 *
 * Formula:  v with the interval [l, u] now, v0 with [l0, u0] before.  With f = z(1 - 0.025 / m) /
 *           z((1 + level) / 2) for each of both intervals, m the number of comparisons,
 *             low  = (v - v0) - sqrt((f (v - l))^2 + (f0 (u0 - v0))^2)
 *             high = (v - v0) + sqrt((f (u - v))^2 + (f0 (v0 - l0))^2)
 *           Worse: low > 0 where lower is better, high < 0 where higher is better.
 * Edge cases:
 *   1. both intervals are taken for independent.  For the same rows in both runs they are not: the
 *      interval of the change is then too wide, and fewer changes count as worse.
 *   2. f widens the intervals so that all comparisons hold together with 95 % (Bonferroni).
 *   3. a metric without a better direction, one that the earlier run does not have, or that it
 *      could not compute, is not compared; nor is one without an interval in either run.
 *   4. a value that was finite and now is undefined or infinite is worse.
 *   5. groups are compared by name.
 * Citation: Zou & Donner, Construction of confidence limits about effect measures: a general
 * approach, Statistics in Medicine 2008.
 * Cost: O(results x metrics of the earlier run); a group that it does not have takes a search of
 * all its groups. */
#include "output/baseline.h"

#include <math.h>
#include <string.h>

#include "base/json_read.h"
#include "base/normal.h"

#define BASELINE_TAIL 0.025

/* A value with its interval. */
typedef struct baseline_value {
  int defined, has_interval;
  double value, low, high, level;
} baseline_value;

static int baseline_number(const pc_json_node *object, const char *key, double *out) {
  const pc_json_node *node = pc_json_find(object, key);
  if (node == NULL || node->kind != PC_JSON_NUMBER)
    return 0;
  *out = node->number;
  return 1;
}

/* A group of an object of groups.  *next is the one after the last that was found for the metric:
 * both runs list groups by name, so that it is mostly the right one. */
static const pc_json_node *baseline_find_group(const pc_json_node *groups, const char *group,
                                               const pc_json_node **next) {
  const pc_json_node *found =
      *next != NULL && strcmp((*next)->key, group) == 0 ? *next : pc_json_find(groups, group);
  *next = found == NULL ? *next : found->next;
  return found;
}

/* The result of a spec, over all rows or in a group; undefined if the earlier run has none.  For
 * *next see baseline_find_group. */
static baseline_value baseline_find(const pc_json_node *root, const char *spec,
                                    const char *group, const pc_json_node **next) {
  baseline_value out = {0, 0, 0.0, 0.0, 0.0, 0.0};
  const pc_json_node *list = pc_json_find(root, "results");
  for (const pc_json_node *each =
           list == NULL || list->kind != PC_JSON_ARRAY ? NULL : list->list.first;
       each != NULL; each = each->next) {
    const pc_json_node *name = pc_json_find(each, "spec");
    if (name == NULL || name->kind != PC_JSON_STRING || strcmp(name->text, spec) != 0)
      continue;
    const pc_json_node *found =
        group == NULL ? each : baseline_find_group(pc_json_find(each, "groups"), group, next);
    const pc_json_node *interval = pc_json_find(found, "interval");
    out.defined = baseline_number(found, "value", &out.value);
    out.has_interval = baseline_number(interval, "low", &out.low) &&
                       baseline_number(interval, "high", &out.high) &&
                       baseline_number(interval, "level", &out.level) && out.level > 0 &&
                       out.level < 1 && out.low <= out.value && out.value <= out.high;
    return out;
  }
  return out;
}

static baseline_value baseline_now(const pc_result_record *record) {
  const pc_interval_result *interval = &record->interval_result;
  return (baseline_value){!record->outcome.undefined && isfinite(record->outcome.value),
                          interval->has_interval && isfinite(interval->low) &&
                              isfinite(interval->high),
                          record->outcome.value,
                          interval->low,
                          interval->high,
                          interval->level};
}

/* Factor that widens an interval of a level for m comparisons. */
static double baseline_factor(double level, size_t m) {
  return pc_normal_quantile(1.0 - BASELINE_TAIL / (double)m) /
         pc_normal_quantile(0.5 * (1.0 + level));
}

static void baseline_judge(const baseline_value *now, const baseline_value *before, size_t m,
                           pcal_better better, pc_change *out) {
  const double f = baseline_factor(now->level, m), f0 = baseline_factor(before->level, m);
  const double change = now->value - before->value;
  const double down = f * (now->value - now->low), up = f * (now->high - now->value);
  const double down0 = f0 * (before->value - before->low),
               up0 = f0 * (before->high - before->value);
  out->low = change - sqrt(down * down + up0 * up0);
  out->high = change + sqrt(up * up + down0 * down0);
  out->worse = better == PCAL_BETTER_LOWER ? out->low > 0 : out->high < 0;
}

static const char *baseline_group(const pcal_results *results, const pc_result_record *record) {
  return record->group == PC_ALL_ROWS ? NULL : results->group_names[record->group];
}

static pcal_better baseline_better(const pcal_results *results,
                                   const pc_result_record *record) {
  const pc_metric *metric = pc_metric_find_for(results->layout.form, record->metric);
  return metric == NULL ? PCAL_BETTER_NONE : metric->row.better;
}

/* Marks the results that can be compared; returns their number. */
static size_t baseline_mark(pcal_results *results, const pc_json_node *root,
                            const pc_json_node **next, size_t *lost) {
  size_t known = 0;
  for (size_t i = 0; i < results->count; i++) {
    pc_result_record room;
    const pc_result_record *record = pc_results_at(results, i, &room);
    const char *spec = results->records[i % results->metric_count].spec;
    const pcal_better better = baseline_better(results, record);
    const baseline_value now = baseline_now(record);
    const baseline_value before = baseline_find(root, spec, baseline_group(results, record),
                                                &next[i % results->metric_count]);
    pc_change *change = &results->changes[i];
    *change = (pc_change){.before = before.value, .low = (double)NAN, .high = (double)NAN};
    if (better == PCAL_BETTER_NONE || !before.defined)
      continue;
    change->lost = !now.defined;
    change->known = change->lost || (now.has_interval && before.has_interval);
    change->worse = change->lost;
    *lost += (size_t)change->lost;
    known += (size_t)change->known;
  }
  return known;
}

static void baseline_judge_all(pcal_results *results, const pc_json_node *root,
                               const pc_json_node **next, size_t m) {
  for (size_t i = 0; i < results->count; i++) {
    pc_result_record room;
    const pc_result_record *record = pc_results_at(results, i, &room);
    const char *spec = results->records[i % results->metric_count].spec;
    const baseline_value now = baseline_now(record);
    const baseline_value before = baseline_find(root, spec, baseline_group(results, record),
                                                &next[i % results->metric_count]);
    if (results->changes[i].known && !results->changes[i].lost)
      baseline_judge(&now, &before, m, baseline_better(results, record), &results->changes[i]);
  }
}

/* Compares with the results of a tree; *known is the number of comparisons. */
static pcal_status baseline_compare_tree(pcal_results *results, const pc_json_node *root,
                                         size_t *known, pcal_error *err) {
  const size_t metrics = results->metric_count;
  size_t lost = 0;
  /* by metric, for each of the two passes; the tree outlives them */
  const pc_json_node **next = pc_alloc(&results->env, metrics, 2 * sizeof *next);
  if (next == NULL)
    return pc_fail_memory(err, "comparing with an earlier run");
  *known = baseline_mark(results, root, next, &lost);
  if (*known > lost)
    baseline_judge_all(results, root, next + metrics, *known - lost);
  pc_free(&results->env, next);
  return PCAL_OK;
}

pcal_status pc_baseline_compare(pcal_results *results, const void *json, size_t length,
                                const char *name, pcal_error *err) {
  pc_json_tree tree = {0};
  size_t known = 0;
  pc_free(&results->env, results->changes);
  results->changes = pc_alloc(&results->env, results->count, sizeof *results->changes);
  if (results->changes == NULL)
    return pc_fail_memory(err, "comparing with an earlier run");
  pcal_status status = pc_json_read(json, length, name, &results->env, &tree, err);
  if (status == PCAL_OK)
    status = baseline_compare_tree(results, tree.root, &known, err);
  pc_json_tree_free(&tree);
  if (status == PCAL_OK && known == 0)
    status = pc_fail(err, PCAL_DATA,
                     "%s has no result with an interval that can be compared; measure the same "
                     "metrics in both runs, with {interval} and JSON output",
                     name);
  if (status == PCAL_OK)
    return PCAL_OK;
  pc_free(&results->env, results->changes);
  results->changes = NULL;
  return status;
}
