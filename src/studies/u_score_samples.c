/* Design:  row i of set s uses draws 2 (s n + i) and 2 (s n + i) + 1 of its stream: the point, all
 *          equally likely, and the label, from the true probabilities there.  So neither threads
 *          nor the order of sets change the rows. */
#include "studies/u_score_samples.h"

#include <string.h>

#include "base/executor.h"
#include "base/rng.h"
#include "measure/measure_source.h"
#include "studies/study.h"
#include "studies/study_measure.h"

#define U_SAMPLES_PAIR_COST 5.0 /* nanoseconds, for each metric */
#define U_SAMPLES_SET_COST 1e5

typedef struct u_samples_job {
  const pc_u_score_samples *sample;
  const pcal_env *env;
} u_samples_job;

static void u_samples_rows(const u_samples_job *job, size_t set, double *probs,
                           int32_t *labels) {
  const pc_finite_distribution *distribution = &job->sample->distribution;
  const size_t classes = distribution->classes, rows = job->sample->rows;
  const pc_rng rng = {job->env->seed, job->sample->stream};
  for (size_t i = 0; i < rows; i++) {
    const uint64_t index = 2 * ((uint64_t)set * rows + i);
    const size_t point = (size_t)(pc_rng_uniform(&rng, index) * (double)distribution->points);
    const double *truth = distribution->truth + point * classes,
                 at = pc_rng_uniform(&rng, index + 1);
    double sum = 0;
    size_t label = 0;
    while (label + 1 < classes && at >= (sum += truth[label]))
      label++;
    labels[i] = (int32_t)label;
    memcpy(probs + i * classes, distribution->predictions + point * classes,
           classes * sizeof *probs);
  }
}

static pcal_status u_samples_measure(const pc_u_score_samples *sample, const double *probs,
                                     const int32_t *labels, const pcal_env *env,
                                     pcal_results **out, pcal_error *err) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  batch.kind = PCAL_PROBABILITY;
  batch.type = PCAL_F64;
  batch.rows = sample->rows;
  batch.columns = sample->distribution.classes;
  batch.scores = probs;
  batch.row_stride = (ptrdiff_t)(sample->distribution.classes * sizeof *probs);
  batch.column_stride = (ptrdiff_t)sizeof *probs;
  batch.labels = labels;
  config.kind = batch.kind;
  config.columns = batch.columns;
  config.specs = sample->specs;
  config.spec_count = sample->spec_count;
  return pc_measure_batch(&batch, &config, env, out, err);
}

static pcal_status u_samples_task(void *user, size_t set, size_t worker, pcal_error *err) {
  const u_samples_job *job = user;
  const pc_u_score_samples *sample = job->sample;
  const pcal_env env = pc_study_task_env(job->env);
  double *probs =
      pc_alloc_raw(&env, sample->rows * sample->distribution.classes, sizeof *probs);
  int32_t *labels = pc_alloc_raw(&env, sample->rows, sizeof *labels);
  pcal_results *results = NULL;
  pcal_status status =
      probs == NULL || labels == NULL ? pc_fail_memory(err, "drawing a set") : PCAL_OK;
  (void)worker;
  if (status == PCAL_OK) {
    u_samples_rows(job, set, probs, labels);
    status = u_samples_measure(sample, probs, labels, &env, &results, err);
  }
  for (size_t m = 0; status == PCAL_OK && m < sample->spec_count; m++)
    sample->values[set * sample->spec_count + m] = pc_study_value(results, sample->specs[m]);
  pc_results_free(results);
  pc_free(&env, probs);
  pc_free(&env, labels);
  return status;
}

pcal_status pc_u_score_samples_draw(const pc_u_score_samples *sample, const pcal_env *env,
                                    pcal_error *err) {
  u_samples_job job = {sample, env};
  const double pairs = 0.5 * (double)sample->rows * (double)sample->rows;
  const double cost =
      U_SAMPLES_SET_COST + (double)sample->spec_count * pairs * U_SAMPLES_PAIR_COST;
  return pc_run_with_progress(env, "drawing sets", sample->sets, (double)sample->sets * cost,
                              u_samples_task, &job, err);
}
