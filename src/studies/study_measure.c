#include "studies/study_measure.h"

#include <math.h>

#include "measure/measure_source.h"

pcal_status pc_study_measure(pcal_source *source, const char *const *specs, size_t count,
                             double interval, size_t replicas, const pcal_env *env,
                             pcal_results **out, pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.specs = specs;
  config.spec_count = count;
  config.interval = interval;
  config.replicas = replicas;
  return pc_measure_whole(source, &config, env, out, err);
}

double pc_study_value(const pcal_results *results, const char *spec) {
  const pc_result_record *record = pc_results_record(results, spec);
  return record == NULL || record->outcome.undefined ? (double)NAN : record->outcome.value;
}
