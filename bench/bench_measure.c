/* The additive set in one pass: accuracy, Brier score, log score, equal-width ECE; and the
 * group of metrics that is measured by default, alone or with an interval from 1,000 replicas.
 *
 *   additive|default|replicas DATA exact|fast|exact-file|fast-file THREADS */
#include <string.h>

#include "bench.h"

static const char *const measure_specs[] = {"accuracy", "brier", "log", "ece"};
static const char *const measure_default[] = {"default"};

static pcal_status measure_timed(const bench_request *request, const pcal_env *env,
                                 pcal_source *source, bench_answer *answer, pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  const size_t told = sizeof measure_specs / sizeof *measure_specs;
  const int additive = strcmp(request->operation, "additive") == 0;
  config.specs = additive ? measure_specs : measure_default;
  config.spec_count = additive ? told : 1;
  if (strcmp(request->operation, "replicas") == 0) {
    config.interval = 0.95;
    config.replicas = 1000;
  }
  config.fast = strncmp(request->option, "fast", 4) == 0;
  bench_start(request, answer);
  pcal_status status = pcal_measure_run(source, &config, env, &results, err);
  bench_stop(request, answer);
  for (size_t i = 0; status == PCAL_OK && i < told; i++) {
    pcal_result result = {.size = sizeof result};
    status = pcal_results_find(results, measure_specs[i], &result, err);
    bench_value(answer, measure_specs[i], result.value);
  }
  pcal_results_free(results);
  return status;
}

static pcal_status measure_answer(const bench_request *request, bench_answer *answer,
                                  pcal_error *err) {
  pcal_env env;
  pcal_source *source = NULL;
  if (strcmp(request->operation, "additive") != 0 &&
      strcmp(request->operation, "default") != 0 && strcmp(request->operation, "replicas") != 0)
    return bench_fail(err, PCAL_USAGE,
                      "bench_measure knows the operations additive, default and replicas");
  pcal_status status = bench_env(request, &env, err);
  if (status == PCAL_OK)
    status = bench_source(request, &env, &source, err);
  if (status == PCAL_OK)
    status = measure_timed(request, &env, source, answer, err);
  pcal_source_free(source);
  return status;
}

int main(int argc, char **argv) {
  return bench_serve(argc, argv, measure_answer);
}
