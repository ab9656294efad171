/* The binned family: all variants of the general calibration error, and class-wise errors on
 * top of the additive set.
 *
 *   gce32 DATA array THREADS
 *   class-wise DATA array|file THREADS */
#include <string.h>

#include "bench.h"

typedef struct binned_operation {
  const char *name;
  const char *specs[8]; /* up to NULL */
  struct {
    const char *name, *spec;
  } values[6]; /* what is told, up to NULL */
} binned_operation;

static const binned_operation binned_operations[] = {
    {"gce32",
     {"gce32"},
     {{"v0", "gce:variant=0"},
      {"v9", "gce:variant=9"},
      {"v15", "gce:variant=15"},
      {"v18", "gce:variant=18"},
      {"v25", "gce:variant=25"},
      {"v30", "gce:variant=30"}}},
    {"class-wise",
     {"accuracy", "brier", "log", "ece", "sce", "cwce", "cwce:p=1,classes=mean"},
     {{"ece", "ece"}, {"sce", "sce"}, {"cwce", "cwce"}}},
};

static const binned_operation *binned_find(const char *name) {
  const size_t count = sizeof binned_operations / sizeof *binned_operations;
  for (size_t i = 0; i < count; i++)
    if (strcmp(binned_operations[i].name, name) == 0)
      return &binned_operations[i];
  return NULL;
}

static pcal_status binned_timed(const bench_request *request, const binned_operation *what,
                                const pcal_env *env, pcal_source *source, bench_answer *answer,
                                pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  config.specs = what->specs;
  while (what->specs[config.spec_count] != NULL)
    config.spec_count++;
  bench_start(request, answer);
  pcal_status status = pcal_measure_run(source, &config, env, &results, err);
  bench_stop(request, answer);
  for (size_t i = 0; status == PCAL_OK && i < 6 && what->values[i].name != NULL; i++) {
    pcal_result result = {.size = sizeof result};
    status = pcal_results_find(results, what->values[i].spec, &result, err);
    bench_value(answer, what->values[i].name, result.value);
  }
  pcal_results_free(results);
  return status;
}

static pcal_status binned_answer(const bench_request *request, bench_answer *answer,
                                 pcal_error *err) {
  const binned_operation *what = binned_find(request->operation);
  pcal_env env;
  pcal_source *source = NULL;
  if (what == NULL)
    return bench_fail(err, PCAL_USAGE,
                      "bench_binned knows the operations gce32 and class-wise");
  pcal_status status = bench_env(request, &env, err);
  if (status == PCAL_OK)
    status = bench_source(request, &env, &source, err);
  if (status == PCAL_OK)
    status = binned_timed(request, what, &env, source, answer, err);
  pcal_source_free(source);
  return status;
}

int main(int argc, char **argv) {
  return bench_serve(argc, argv, binned_answer);
}
