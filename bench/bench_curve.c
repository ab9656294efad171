/* Sorted views: KS and equal-mass ECE, and the sort beneath.
 *
 *   curve DATA array|file THREADS
 *   sort DATA f64 THREADS              the scores as doubles */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "kernels/sort.h"

static const char *const curve_specs[] = {"ks", "ece:binning=mass"};

static pcal_status curve_timed(const bench_request *request, const pcal_env *env,
                               pcal_source *source, bench_answer *answer, pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  config.specs = curve_specs;
  config.spec_count = sizeof curve_specs / sizeof *curve_specs;
  bench_start(request, answer);
  pcal_status status = pcal_measure_run(source, &config, env, &results, err);
  bench_stop(request, answer);
  for (size_t i = 0; status == PCAL_OK && i < config.spec_count; i++) {
    pcal_result result = {.size = sizeof result};
    status = pcal_results_find(results, curve_specs[i], &result, err);
    bench_value(answer, i == 0 ? "ks" : "mass", result.value);
  }
  pcal_results_free(results);
  return status;
}

static pcal_status curve_measure(const bench_request *request, bench_answer *answer,
                                 pcal_error *err) {
  pcal_env env;
  pcal_source *source = NULL;
  pcal_status status = bench_env(request, &env, err);
  if (status == PCAL_OK)
    status = bench_source(request, &env, &source, err);
  if (status == PCAL_OK)
    status = curve_timed(request, &env, source, answer, err);
  pcal_source_free(source);
  return status;
}

static pcal_status curve_sort(const bench_request *request, bench_answer *answer,
                              pcal_error *err) {
  const pcal_batch *rows = NULL;
  const pcal_status status = bench_rows(request, &rows, err);
  if (status != PCAL_OK)
    return status;
  double *keys = malloc(rows->rows * sizeof *keys);
  double *scratch = calloc(rows->rows, sizeof *scratch);
  if (keys == NULL || scratch == NULL) {
    free(keys);
    free(scratch);
    return bench_fail(err, PCAL_MEMORY, "no memory for the keys");
  }
  for (size_t i = 0; i < rows->rows; i++)
    keys[i] = (double)((const float *)rows->scores)[i];
  bench_start(request, answer);
  pc_sort(keys, scratch, rows->rows);
  bench_stop(request, answer);
  bench_value(answer, "low", keys[0]);
  bench_value(answer, "middle", keys[rows->rows / 2]);
  bench_value(answer, "high", keys[rows->rows - 1]);
  free(keys);
  free(scratch);
  return PCAL_OK;
}

static pcal_status curve_answer(const bench_request *request, bench_answer *answer,
                                pcal_error *err) {
  if (strcmp(request->operation, "curve") == 0)
    return curve_measure(request, answer, err);
  if (strcmp(request->operation, "sort") == 0)
    return curve_sort(request, answer, err);
  return bench_fail(err, PCAL_USAGE, "bench_curve knows the operations curve and sort");
}

int main(int argc, char **argv) {
  return bench_serve(argc, argv, curve_answer);
}
