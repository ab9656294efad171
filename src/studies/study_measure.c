#include "studies/study_measure.h"

#include <math.h>

#include "measure/run.h"

pcal_status pc_study_measure(pcal_source *source, const char *const *specs, size_t count,
                             double interval, size_t replicas, const pcal_env *env,
                             pcal_results **out, pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  config.specs = specs;
  config.spec_count = count;
  config.interval = interval;
  config.replicas = replicas;
  PC_TRY(pc_source_rewind(source, err));
  PC_TRY(pc_measure_source(source, &config, 1, env, &measure, err));
  const pcal_status status = pc_measure_finish(measure, out, err);
  pc_measure_free(measure);
  return status;
}

double pc_study_value(const pcal_results *results, const char *spec) {
  const pc_result_record *record = pc_results_record(results, spec);
  return record == NULL || record->outcome.undefined ? (double)NAN : record->outcome.value;
}
