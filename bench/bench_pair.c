/* Pairs of rows: kernel calibration error and kernel densities.
 *
 *   skce DATA array THREADS      unbiased
 *   ce-kde DATA H THREADS        H a bandwidth, or "auto" for the search of one */
#include <stdio.h>
#include <string.h>

#include "bench.h"

static pcal_status pair_timed(const bench_request *request, const pcal_env *env,
                              pcal_source *source, bench_answer *answer, pcal_error *err) {
  const int kde = strcmp(request->operation, "ce-kde") == 0;
  char text[64] = "skce";
  const char *const spec = text;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  pcal_result result = {.size = sizeof result};
  if (kde)
    snprintf(text, sizeof text, "ce-kde:bandwidth=%s", request->option);
  config.specs = &spec;
  config.spec_count = 1;
  bench_start(request, answer);
  pcal_status status = pcal_measure_run(source, &config, env, &results, err);
  bench_stop(request, answer);
  if (status == PCAL_OK)
    status = pcal_results_find(results, spec, &result, err);
  bench_value(answer, kde ? "ce-kde" : "skce", result.value);
  pcal_results_free(results);
  return status;
}

static pcal_status pair_answer(const bench_request *request, bench_answer *answer,
                               pcal_error *err) {
  pcal_env env;
  pcal_source *source = NULL;
  if (strcmp(request->operation, "skce") != 0 && strcmp(request->operation, "ce-kde") != 0)
    return bench_fail(err, PCAL_USAGE, "bench_pair knows the operations skce and ce-kde");
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
