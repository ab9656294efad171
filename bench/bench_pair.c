/* Pairs of rows: the unbiased squared kernel calibration error.
 *
 *   skce DATA array THREADS */
#include <string.h>

#include "bench.h"

static pcal_status pair_timed(const bench_request *request, const pcal_env *env,
                              pcal_source *source, bench_answer *answer, pcal_error *err) {
  static const char *const specs[] = {"skce"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  pcal_result result = {.size = sizeof result};
  config.specs = specs;
  config.spec_count = 1;
  bench_start(request, answer);
  pcal_status status = pcal_measure_run(source, &config, env, &results, err);
  bench_stop(request, answer);
  if (status == PCAL_OK)
    status = pcal_results_find(results, specs[0], &result, err);
  bench_value(answer, specs[0], result.value);
  pcal_results_free(results);
  return status;
}

static pcal_status pair_answer(const bench_request *request, bench_answer *answer,
                               pcal_error *err) {
  pcal_env env;
  pcal_source *source = NULL;
  if (strcmp(request->operation, "skce") != 0)
    return bench_fail(err, PCAL_USAGE, "bench_pair knows the operation skce");
  pcal_status status = bench_env(request, &env, err);
  if (status == PCAL_OK)
    status = bench_source(request, &env, &source, err);
  if (status == PCAL_OK)
    status = pair_timed(request, &env, source, answer, err);
  pcal_source_free(source);
  return status;
}

int main(int argc, char **argv) {
  return bench_serve(argc, argv, pair_answer);
}
