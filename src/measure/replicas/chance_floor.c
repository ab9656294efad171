/* Formula:  low = 0 if T <= q(1 - a) of T for labels drawn from the predictions,
 *           a = (1 - level) / 2
 * Why:      where few rows are wrong, replicas of the rows and the jackknife show too little
 *           chance: without a wrong row the error of a calibrated model varies hardly at all
 *           between them.
 * Edge cases:
 *   1. scores and other numbers that a calibrated model may have: only their parts that are errors;
 *   2. a low end of 0 or below needs no labels;
 *   3. metrics without a null keep their low ends.
 * Source: test inversion at an error of 0, Casella & Berger, Statistical Inference, 2002, 9.2.1.
 * Cost: at most CHANCE_FLOOR_DRAWS evaluations. */
#include "measure/replicas/chance_floor.h"

#include <math.h>

#define CHANCE_FLOOR_DRAWS 200

/* True if the value itself, not a part, is 0 for a calibrated model. */
static int floor_is_error(const pc_result_record *record) {
  return record->notion != PCAL_NOTION_PROPER &&
         (record->bound == PCAL_BOUND_LOWER || record->outcome.inner_power > 0);
}

static int floor_part_doubted(const pc_result_record *record, size_t part) {
  const pc_part_interval *interval = &record->part_interval_results[part];
  return record->outcome.part_errors[part] && interval->has_interval && interval->low > 0.0;
}

static int floor_value_doubted(const pc_result_record *record) {
  return floor_is_error(record) && record->interval_result.has_interval &&
         record->interval_result.low > 0.0;
}

static int floor_doubted(const pc_result_record *record) {
  int found = floor_value_doubted(record);
  for (size_t p = 0; p < record->outcome.part_count; p++)
    found |= floor_part_doubted(record, p);
  return found;
}

/* True if one in 1 / a of the drawn values is at least as large. */
static int floor_by_chance(double *values, size_t count, double value, double level) {
  const size_t kept = pc_interval_sort_values(values, count);
  return kept > 0 && value <= pc_interval_quantile(values, kept, 0.5 + 0.5 * level);
}

static void floor_lower(pc_result_record *record, double *values, size_t count, double level) {
  const pc_metric_result *outcome = &record->outcome;
  if (floor_value_doubted(record) && floor_by_chance(values, count, outcome->value, level))
    record->interval_result.low = 0.0;
  for (size_t p = 0; p < outcome->part_count; p++)
    if (floor_part_doubted(record, p) &&
        floor_by_chance(values + (PC_REPLICA_PARTS + p) * count, count, outcome->parts[p].value,
                        level))
      record->part_interval_results[p].low = 0.0;
}

pcal_status pc_chance_floor(const pcal_env *env, pc_replica_views *views,
                            const uint8_t *entries, pc_result_record *records,
                            pcal_error *err) {
  const pc_measure_plan *plan = views->plan;
  const size_t n = plan->entry_count, asked = plan->intervals.replicas;
  const size_t count = asked < CHANCE_FLOOR_DRAWS ? asked : CHANCE_FLOOR_DRAWS;
  uint8_t *doubted = pc_alloc(env, n, 1);
  double *values = pc_alloc_raw(env, n * PC_REPLICA_VALUES * count, sizeof *values);
  const pc_replica_request request = {.plan = plan,
                                      .entries = doubted,
                                      .rows = views->rows,
                                      .kind = PC_REPLICA_LABELS,
                                      .count = count,
                                      .views = views};
  size_t found = 0;
  pcal_status status =
      doubted == NULL || values == NULL ? pc_fail_memory(err, "finding intervals") : PCAL_OK;
  for (size_t e = 0; status == PCAL_OK && e < n; e++)
    found += doubted[e] = (uint8_t)(entries[e] && floor_doubted(&records[e]) &&
                                    pc_measure_plan_no_null(plan, e) == NULL);
  if (found > 0)
    status = pc_replicas_measure(env, &request, values, err);
  for (size_t e = 0; found > 0 && status == PCAL_OK && e < n; e++)
    if (doubted[e])
      floor_lower(&records[e], values + e * PC_REPLICA_VALUES * count, count,
                  plan->intervals.level);
  pc_free(env, values);
  pc_free(env, doubted);
  return status;
}
