#include "studies/method_grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/executor.h"
#include "compare/held_out.h"
#include "stats/ranks.h"
#include "studies/study_scores.h"

#define METHOD_GRID_CELL_COST 1e3 /* nanoseconds for a score, a fit and a metric */

const char *const pc_nixon_methods[PC_NIXON_METHODS] = {"histogram",
                                                        "histogram:bootstrap=100",
                                                        "isotonic",
                                                        "temperature",
                                                        "temperature:objective=ece",
                                                        "vector",
                                                        "matrix",
                                                        "network"};

/* Why a method does not suit the data. */
typedef struct method_grid_refusal {
  pcal_status status;
  char why[256];
} method_grid_refusal;

typedef struct method_grid_run {
  const pc_study_job *job;
  pc_method_grid *grid;
  const char *const *specs;
  int optional; /* methods are the study's own */
  pc_study_scores *judged,
      *fitted; /* one for each model; fitted has no rows without a second set */
  method_grid_refusal *refusals; /* model by model, method by method */
} method_grid_run;

/* ---- One method on one model ---- */

static pcal_status method_grid_measure(const method_grid_run *run, const pc_held_out *held_out,
                                       const char *method, pcal_results **out,
                                       pcal_error *err) {
  pcal_calibrator *calibrators[PC_METHOD_GRID_FOLDS] = {NULL};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.specs = run->specs;
  config.spec_count = run->grid->spec_count;
  config.skip_missing = held_out->skip_missing;
  pcal_status status = pc_held_out_fit(held_out, method, calibrators, err);
  if (status == PCAL_OK)
    status = pc_held_out_measure(held_out, calibrators, &config, out, err);
  for (size_t i = 0; i < PC_METHOD_GRID_FOLDS; i++)
    pc_calibrator_free(calibrators[i]);
  return status;
}

static void method_grid_store(const method_grid_run *run, size_t index,
                              const pcal_results *results) {
  double *out = run->grid->values + index * run->grid->spec_count;
  for (size_t s = 0; s < run->grid->spec_count; s++) {
    const pc_result_record *record = pc_results_record(results, run->specs[s]);
    if (record != NULL && !record->outcome.undefined)
      out[s] = record->outcome.value;
  }
}

static pcal_status method_grid_cell(const method_grid_run *run, size_t index,
                                    const pcal_env *env, pcal_error *err) {
  const size_t model = index / run->grid->method_count;
  const char *method = run->grid->methods[index % run->grid->method_count];
  const int second = run->fitted[model].rows > 0;
  pc_held_out held_out = {.env = env,
                          .folds = {env->seed, second ? 1 : PC_METHOD_GRID_FOLDS, 0},
                          .normalize = run->job->config->normalize,
                          .skip_missing = run->job->config->skip_missing};
  pcal_results *results = NULL;
  pcal_status status = pc_study_scores_source(&run->judged[model], env, &held_out.source, err);
  if (status == PCAL_OK && second)
    status = pc_study_scores_source(&run->fitted[model], env, &held_out.val, err);
  if (status == PCAL_OK)
    status = method_grid_measure(run, &held_out, method, &results, err);
  if (status == PCAL_OK)
    method_grid_store(run, index, results);
  pc_results_free(results);
  pc_source_free(held_out.source);
  pc_source_free(held_out.val);
  return status;
}

static pcal_status method_grid_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const method_grid_run *run = user;
  const pcal_env env = pc_study_task_env(run->job->env);
  pcal_error why = PCAL_ERROR_INIT;
  (void)worker;
  const pcal_status status = method_grid_cell(run, index, &env, &why);
  if (status == PCAL_OK)
    return PCAL_OK;
  const int plain =
      strcmp(run->grid->methods[index % run->grid->method_count], "identity") == 0;
  if (run->optional && !plain && (status == PCAL_DATA || status == PCAL_USAGE)) {
    run->refusals[index].status = status;
    pcal_error_text(&why, env.caller, run->refusals[index].why,
                    sizeof run->refusals[index].why);
    return PCAL_OK;
  }
  if (err != NULL)
    *err = why;
  return status;
}

/* ---- All of them ---- */

static pcal_status method_grid_read(const method_grid_run *run, double *cells,
                                    pcal_error *err) {
  for (size_t m = 0; m < run->grid->model_count; m++) {
    const pcal_model *model = &run->grid->models[m];
    PC_TRY(pc_study_scores_read(run->job, model->source, &run->judged[m], err));
    if (model->val != NULL)
      PC_TRY(pc_study_scores_read(run->job, model->val, &run->fitted[m], err));
    *cells +=
        (double)(run->judged[m].rows + run->fitted[m].rows) * (double)run->judged[m].columns;
  }
  run->grid->rows = run->judged[0].rows;
  return PCAL_OK;
}

static void method_grid_remove(method_grid_run *run, size_t method) {
  pc_method_grid *grid = run->grid;
  const size_t methods = grid->method_count, specs = grid->spec_count;
  for (size_t from = 0, to = 0; from < grid->model_count * methods; from++) {
    if (from % methods == method)
      continue;
    memmove(grid->values + to * specs, grid->values + from * specs, specs * sizeof(double));
    run->refusals[to++] = run->refusals[from];
  }
  for (size_t m = method; m + 1 < methods; m++)
    grid->methods[m] = grid->methods[m + 1];
  grid->method_count--;
}

/* Drops methods that do not suit every model, with a sentence. */
static void method_grid_drop(method_grid_run *run, pc_findings *findings) {
  pc_method_grid *grid = run->grid;
  for (size_t method = grid->method_count; method-- > 0;)
    for (size_t m = 0; m < grid->model_count; m++) {
      const method_grid_refusal *refusal = &run->refusals[m * grid->method_count + method];
      if (refusal->status == PCAL_OK)
        continue;
      pc_findings_add_sentence(findings, "Without %s: %s.", grid->methods[method],
                               refusal->why);
      method_grid_remove(run, method);
      break;
    }
}

static pcal_status method_grid_methods(const pc_study_job *job, const char *const *own,
                                       size_t own_count, int as_is, pc_method_grid *grid,
                                       pcal_error *err) {
  const int given = job->config->method_count > 0;
  const char *const *list = given ? job->config->methods : own;
  const size_t count = given ? job->config->method_count : own_count;
  if (count + 1 > PC_METHOD_GRID_METHODS)
    return pc_fail(err, PCAL_USAGE, "study %s takes at most %d methods, not %zu",
                   job->options->name, PC_METHOD_GRID_METHODS - 1, count);
  for (size_t i = 0; i < count; i++)
    grid->methods[grid->method_count++] = list[i];
  if (as_is)
    grid->methods[grid->method_count++] = "identity";
  return PCAL_OK;
}

static pcal_status method_grid_work(method_grid_run *run, pc_findings *findings,
                                    pcal_error *err) {
  pc_method_grid *grid = run->grid;
  const size_t tasks = grid->model_count * grid->method_count;
  double cells = 0;
  PC_TRY(method_grid_read(run, &cells, err));
  for (size_t i = 0; i < tasks * grid->spec_count; i++)
    grid->values[i] = (double)NAN;
  PC_TRY(pc_run_with_progress(run->job->env, "fitting methods", tasks,
                              METHOD_GRID_CELL_COST * cells * (double)grid->method_count,
                              method_grid_task, run, err));
  method_grid_drop(run, findings);
  return PCAL_OK;
}

pcal_status pc_method_grid_run(const pc_study_job *job, const char *const *own,
                               size_t own_count, int as_is, const char *const *specs,
                               size_t spec_count, pc_method_grid *out, pc_findings *findings,
                               pcal_error *err) {
  const pcal_env *env = job->memory;
  const size_t models = job->config->model_count;
  *out = (pc_method_grid){.env = env,
                          .models = job->config->models,
                          .model_count = models,
                          .spec_count = spec_count};
  PC_TRY(pc_study_require_models(job, err));
  PC_TRY(method_grid_methods(job, own, own_count, as_is, out, err));
  method_grid_run run = {
      .job = job, .grid = out, .specs = specs, .optional = job->config->method_count == 0};
  out->values = pc_alloc(env, models * out->method_count * spec_count, sizeof *out->values);
  run.refusals = pc_alloc(env, models * out->method_count, sizeof *run.refusals);
  run.judged = pc_alloc(env, models, sizeof *run.judged);
  run.fitted = pc_alloc(env, models, sizeof *run.fitted);
  const int enough =
      out->values != NULL && run.refusals != NULL && run.judged != NULL && run.fitted != NULL;
  return enough ? method_grid_work(&run, findings, err)
                : pc_fail_memory(err, "studying methods");
}

double pc_method_grid_value(const pc_method_grid *grid, size_t model, size_t method,
                            size_t spec) {
  return grid->values[(model * grid->method_count + method) * grid->spec_count + spec];
}

void pc_method_grid_ranks(const pc_method_grid *grid, size_t model, size_t methods, size_t spec,
                          double ranks[PC_METHOD_GRID_METHODS]) {
  double values[PC_METHOD_GRID_METHODS];
  for (size_t m = 0; m < methods; m++)
    values[m] = pc_method_grid_value(grid, model, m, spec);
  pc_ranks(values, methods, ranks);
}

const char *pc_method_grid_fitted(const pc_method_grid *grid) {
  size_t second = 0;
  for (size_t m = 0; m < grid->model_count; m++)
    second += grid->models[m].val != NULL;
  return second == grid->model_count ? "fitted to the second set"
         : second == 0               ? "in 5-fold cross-validation"
                       : "fitted to the second set, or in 5-fold cross-validation";
}
