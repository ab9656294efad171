/* Estimators without bins: one metric at a time, with its default options.
 *
 *   smece|tce-kde|mmce DATA array|file THREADS */
#include <string.h>

#include "bench.h"

static pcal_status smooth_timed(const bench_request *request, const pcal_env *env,
                                const char *spec, pcal_source *source, bench_answer *answer,
                                pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  pcal_result result = {.size = sizeof result};
  config.specs = &spec;
  config.spec_count = 1;
  bench_start(request, answer);
  pcal_status status = pcal_measure_run(source, &config, env, &results, err);
  bench_stop(request, answer);
  if (status == PCAL_OK)
    status = pcal_results_find(results, spec, &result, err);
  bench_value(answer, spec, result.value);
  pcal_results_free(results);
  return status;
}

static const char *smooth_spec(const char *operation) {
  static const char *const specs[] = {"smece", "tce-kde", "mmce"};
  for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
    if (strcmp(operation, specs[i]) == 0)
      return specs[i];
  return NULL;
}

static pcal_status smooth_answer(const bench_request *request, bench_answer *answer,
                                 pcal_error *err) {
  pcal_env env;
  pcal_source *source = NULL;
  const char *spec = smooth_spec(request->operation);
  if (spec == NULL)
    return bench_fail(err, PCAL_USAGE, "bench_smooth knows smece, tce-kde and mmce");
  pcal_status status = bench_env(request, &env, err);
  if (status == PCAL_OK)
    status = bench_source(request, &env, &source, err);
  if (status == PCAL_OK)
    status = smooth_timed(request, &env, spec, source, answer, err);
  pcal_source_free(source);
  return status;
}

int main(int argc, char **argv) {
  return bench_serve(argc, argv, smooth_answer);
}
