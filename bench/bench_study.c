/* The study test-size without kernel estimators: 20 subsets of each of nine sizes, and two of
 * all rows, of which the numbers are told.
 *
 *   test-size DATA array THREADS */
#include <string.h>

#include "bench.h"
#include "studies/study.h"

#define BENCH_STUDY_REPEATS 20
#define BENCH_STUDY_METRICS 7

static const char *const bench_study_specs[BENCH_STUDY_METRICS] = {
    "cwce:p=2",
    "cwce:p=2,bins=100",
    "ece",
    "tce:p=2,bins=100",
    "tce:p=2,binning=mass,debias=yes",
    "ks",
    "rbs"};
static const char *const bench_study_names[BENCH_STUDY_METRICS] = {
    "cwce", "cwce100", "ece", "tce100", "tce_debiased", "ks", "rbs"};

/* The last size of each metric: all rows. */
static void bench_study_tell(const pc_findings *findings, bench_answer *answer) {
  const pc_table *table = &findings->tables[0];
  const size_t steps = table->row_count / BENCH_STUDY_METRICS;
  const size_t mean = pc_table_find_column(table, "mean");
  for (size_t m = 0; m < BENCH_STUDY_METRICS; m++)
    bench_value(answer, bench_study_names[m],
                pc_table_at(table, (m + 1) * steps - 1, mean)->number);
}

static pcal_status bench_study_timed(const bench_request *request, const pcal_env *env,
                                     pcal_source *source, bench_answer *answer,
                                     pcal_error *err) {
  static pc_findings findings;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  model.source = source;
  config.models = &model;
  config.model_count = 1;
  config.specs = bench_study_specs;
  config.spec_count = BENCH_STUDY_METRICS;
  config.repeats = BENCH_STUDY_REPEATS;
  pc_findings_init(&findings, env, request->operation);
  bench_start(request, answer);
  const pcal_status status = pc_study_run("test-size", &config, &findings, err);
  bench_stop(request, answer);
  if (status == PCAL_OK)
    bench_study_tell(&findings, answer);
  pc_findings_free(&findings);
  return status;
}

static pcal_status bench_study_answer(const bench_request *request, bench_answer *answer,
                                      pcal_error *err) {
  pcal_env env = PCAL_ENV_INIT;
  pcal_source *source = NULL;
  if (strcmp(request->operation, "test-size") != 0)
    return bench_fail(err, PCAL_USAGE, "bench_study knows test-size");
  pcal_status status = bench_env(request, &env, err);
  if (status == PCAL_OK)
    status = bench_source(request, &env, &source, err);
  const pcal_env whole = pc_env_resolve(&env);
  if (status == PCAL_OK)
    status = bench_study_timed(request, &whole, source, answer, err);
  pcal_source_free(source);
  return status;
}

int main(int argc, char **argv) {
  return bench_serve(argc, argv, bench_study_answer);
}
