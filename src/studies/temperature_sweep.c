/* Minimum search: all metrics are measured on a grid of temperatures, an eighth of an octave apart.
 * Then, for each metric, the interval between the neighbours of its lowest point is divided into
 * twelve, five times: 3e-5 octaves remain.  Calibration errors jump where rows cross the edges of
 * bins, so that a search by slopes would fail.
 *
 * Cost: 65 measurements of all metrics, and 55 of each. */
#include "studies/temperature_sweep.h"

#include <math.h>

#include "base/elementary.h"
#include "base/executor.h"
#include "measure/results.h"

#define TEMPERATURE_SWEEP_SCORE_COST 100.0 /* nanoseconds for a score and a metric */
#define TEMPERATURE_SWEEP_PARTS 12
#define TEMPERATURE_SWEEP_ROUNDS 5
#define TEMPERATURE_SWEEP_LOW (-3)
#define TEMPERATURE_SWEEP_HIGH 5
#define TEMPERATURE_SWEEP_GRID \
  ((TEMPERATURE_SWEEP_HIGH - TEMPERATURE_SWEEP_LOW) * PC_TEMPERATURE_STEPS + 1)

size_t pc_index_of_lowest(const double *values, size_t count, size_t stride) {
  size_t lowest = count;
  for (size_t i = 0; i < count; i++)
    if (isfinite(values[i * stride]) &&
        (lowest == count || values[i * stride] < values[lowest * stride]))
      lowest = i;
  return lowest;
}

typedef struct temperature_sweep_run {
  const pc_study_job *job;
  const pc_study_scores *logits;
  const double *temperatures;
  const char *const *specs;
  size_t spec_count;
  double *out;
  double *octaves, *minima; /* of a search: octave and value of each minimum */
} temperature_sweep_run;

static pcal_status temperature_sweep_measure(const temperature_sweep_run *run,
                                             double temperature, const char *const *specs,
                                             size_t spec_count, double *out, pcal_error *err) {
  const pcal_env env = pc_study_task_env(run->job->env);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results *results = NULL;
  config.specs = specs;
  config.spec_count = spec_count;
  config.skip_missing = run->job->config->skip_missing;
  PC_TRY(pc_study_scores_at(run->logits, temperature, &config, &env, &results, err));
  for (size_t s = 0; s < spec_count; s++) {
    const pc_result_record *record = pc_results_record(results, specs[s]);
    const int known = record != NULL && !record->outcome.undefined &&
                      fabs(record->outcome.value) < PC_TEMPERATURE_INFINITE;
    out[s] = known ? record->outcome.value : (double)NAN;
  }
  pc_results_free(results);
  return PCAL_OK;
}

static pcal_status temperature_sweep_task(void *user, size_t index, size_t worker,
                                          pcal_error *err) {
  const temperature_sweep_run *run = user;
  (void)worker;
  return temperature_sweep_measure(run, run->temperatures[index], run->specs, run->spec_count,
                                   run->out + index * run->spec_count, err);
}

static double temperature_sweep_cost(const temperature_sweep_run *run, size_t measures) {
  return TEMPERATURE_SWEEP_SCORE_COST * (double)run->logits->rows *
         (double)run->logits->columns * (double)run->spec_count * (double)measures;
}

pcal_status pc_temperature_sweep_values(const pc_study_job *job, const pc_study_scores *logits,
                                        const double *temperatures, size_t count,
                                        const char *const *specs, size_t spec_count,
                                        double *out, pcal_error *err) {
  temperature_sweep_run run = {.job = job,
                               .logits = logits,
                               .temperatures = temperatures,
                               .specs = specs,
                               .spec_count = spec_count,
                               .out = out};
  return pc_run_with_progress(job->env, "temperatures", count,
                              temperature_sweep_cost(&run, count), temperature_sweep_task, &run,
                              err);
}

/* ---- Minima ---- */

/* Divides the interval around the best octave and moves to its lowest point. */
static pcal_status temperature_sweep_narrow(const temperature_sweep_run *run, size_t spec,
                                            double half, pcal_error *err) {
  const double centre = run->octaves[spec];
  for (int i = -TEMPERATURE_SWEEP_PARTS / 2 + 1; i < TEMPERATURE_SWEEP_PARTS / 2; i++) {
    const double octave = centre + half * i / (TEMPERATURE_SWEEP_PARTS / 2);
    double value = 0;
    if (i == 0)
      continue;
    PC_TRY(temperature_sweep_measure(run, pc_exp2(octave), &run->specs[spec], 1, &value, err));
    if (!(value < run->minima[spec] ||
          (value == run->minima[spec] && octave < run->octaves[spec])))
      continue;
    run->minima[spec] = value;
    run->octaves[spec] = octave;
  }
  return PCAL_OK;
}

static pcal_status temperature_sweep_search(void *user, size_t index, size_t worker,
                                            pcal_error *err) {
  const temperature_sweep_run *run = user;
  double half = 1.0 / PC_TEMPERATURE_STEPS;
  (void)worker;
  for (int round = 0; isfinite(run->minima[index]) && round < TEMPERATURE_SWEEP_ROUNDS;
       round++) {
    PC_TRY(temperature_sweep_narrow(run, index, half, err));
    half /= TEMPERATURE_SWEEP_PARTS / 2;
  }
  return PCAL_OK;
}

static pcal_status temperature_sweep_minima(temperature_sweep_run *run, pcal_error *err) {
  double temperatures[TEMPERATURE_SWEEP_GRID];
  for (size_t i = 0; i < TEMPERATURE_SWEEP_GRID; i++)
    temperatures[i] = pc_exp2(TEMPERATURE_SWEEP_LOW + (double)i / PC_TEMPERATURE_STEPS);
  run->temperatures = temperatures;
  PC_TRY(pc_run_with_progress(run->job->env, "temperatures", TEMPERATURE_SWEEP_GRID,
                              temperature_sweep_cost(run, TEMPERATURE_SWEEP_GRID),
                              temperature_sweep_task, run, err));
  for (size_t s = 0; s < run->spec_count; s++) {
    const size_t lowest =
        pc_index_of_lowest(run->out + s, TEMPERATURE_SWEEP_GRID, run->spec_count);
    const int found = lowest < TEMPERATURE_SWEEP_GRID;
    run->octaves[s] = found ? pc_log2(temperatures[lowest]) : (double)NAN;
    run->minima[s] = found ? run->out[lowest * run->spec_count + s] : (double)NAN;
  }
  return pc_run_with_progress(
      run->job->env, "minima", run->spec_count,
      temperature_sweep_cost(run, TEMPERATURE_SWEEP_ROUNDS * TEMPERATURE_SWEEP_PARTS),
      temperature_sweep_search, run, err);
}

pcal_status pc_temperature_sweep_minima(const pc_study_job *job, const pc_study_scores *logits,
                                        const char *const *specs, size_t spec_count,
                                        double *temperatures, double *values, pcal_error *err) {
  temperature_sweep_run run = {.job = job,
                               .logits = logits,
                               .specs = specs,
                               .spec_count = spec_count,
                               .octaves = temperatures,
                               .minima = values};
  run.out = pc_alloc_raw(job->env, TEMPERATURE_SWEEP_GRID * spec_count, sizeof *run.out);
  if (run.out == NULL)
    return pc_fail_memory(err, "looking for temperatures");
  const pcal_status status = temperature_sweep_minima(&run, err);
  for (size_t s = 0; status == PCAL_OK && s < spec_count; s++)
    temperatures[s] = pc_exp2(temperatures[s]);
  pc_free(job->env, run.out);
  return status;
}
