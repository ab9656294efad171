/* Values of entries in replicas: NaN where a metric is undefined or infinite. */
#include <math.h>
#include <string.h>

#include "measure/replicas/replicas.h"

static double values_finite(double value) {
  return isfinite(value) ? value : (double)NAN;
}

pcal_status pc_replica_evaluate(const pcal_env *env, const pc_plan_entry *entry,
                                const pc_evidence *evidence, size_t count, double *out,
                                pcal_error *err) {
  pc_metric_result outcome;
  memset(&outcome, 0, sizeof outcome);
  const pcal_status status =
      entry->metric->evaluate(&entry->options, evidence, env, &outcome, err);
  const int defined = status == PCAL_OK && !outcome.undefined;
  if (defined)
    out[0] = values_finite(outcome.value);
  if (defined && outcome.inner_power != 0)
    out[PC_REPLICA_INNER * count] = values_finite(outcome.inner);
  for (size_t p = 0; defined && p < outcome.part_count; p++)
    out[(PC_REPLICA_PARTS + p) * count] = values_finite(outcome.parts[p].value);
  pc_free(env, outcome.class_values);
  return status;
}

pcal_status pc_replica_value(const pcal_env *env, const pc_plan_entry *entry,
                             const pc_evidence *evidence, double *out, pcal_error *err) {
  pc_metric_result outcome;
  memset(&outcome, 0, sizeof outcome);
  const pcal_status status =
      entry->metric->evaluate(&entry->options, evidence, env, &outcome, err);
  if (status == PCAL_OK && !outcome.undefined)
    *out = values_finite(outcome.value);
  pc_free(env, outcome.class_values);
  return status;
}

void pc_replica_values_clear(const pc_replica_request *request, double *values) {
  const size_t series = request->points == NULL ? PC_REPLICA_VALUES : request->point_count;
  for (size_t i = 0; i < request->plan->entry_count * series * request->count; i++)
    values[i] = (double)NAN;
}
