/* Measures the request of a figure on the data, after the calibrator if there is one, then on
 * the same rows before it and on the second set.
 *
 * A temperature T divides scores z: z / T.  Probabilities enter as logarithms, one column as
 * log-odds.
 *
 * 1. Sources are rewound between passes, so a stream serves figures of one pass only.
 * 2. A probability of 0 enters as a logarithm of -1e30: it stays 0 under every temperature.
 * 3. Several models are measured one after the other; the figure must request the same metrics
 *    for each.
 * 4. Refused: a temperature for confidences, and a calibrator that gives the probability of a
 *    single event out of several classes. */
#include "figure/figure_measure.h"

#include <math.h>
#include <string.h>

#include "calibrators/apply.h"
#include "data/pass.h"
#include "data/score_logit.h"
#include "figure/figure_groups.h"
#include "figure/figure_registry.h"
#include "figure/study_figure_registry.h"
#include "io/source.h"
#include "measure/measure_source.h"
#include "studies/study.h"

#define FIGURE_MEASURE_WINDOW_NUMBERS ((size_t)1 << 22)

typedef struct figure_measure_plan {
  const pcal_figure_config *config;
  const pcal_env *env;
  const pc_figure_row *row;
  pc_options options;
  pc_figure_request *request;
  int groups; /* models are groups of one source, which is rewound before each */
} figure_measure_plan;

/* A pass that changes scores before they are measured: by a calibrator, or by a temperature. */
typedef struct figure_measure_pass {
  const figure_measure_plan *plan;
  pcal_source *source;
  pcal_shape shape;
  const pcal_calibrator *calibrator; /* or NULL: */
  double temperature;
  size_t window;
  double *buffer;
} figure_measure_pass;

static pcal_measure_config figure_measure_config(const figure_measure_plan *plan,
                                                 const char **specs, int intervals) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  for (size_t i = 0; i < plan->request->spec_count; i++)
    specs[i] = plan->request->specs[i];
  config.specs = specs;
  config.spec_count = plan->request->spec_count;
  config.normalize = plan->config->normalize;
  config.skip_missing = plan->config->skip_missing;
  config.curves = 1;
  if (intervals && plan->config->interval > 0) {
    config.interval = plan->request->interval ? plan->config->interval : 0;
    config.null = plan->request->null;
    config.replicas = plan->config->replicas;
  }
  return config;
}

static pcal_status figure_measure_plain(const figure_measure_plan *plan, pcal_source *source,
                                        int intervals, pcal_results **out, pcal_error *err) {
  const char *specs[PC_FIGURE_SPECS];
  const pcal_measure_config config = figure_measure_config(plan, specs, intervals);
  return pc_measure_once(source, &config, plan->env, out, err);
}

/* ---- Changed scores ---- */

static void figure_measure_temper(const figure_measure_pass *pass, pcal_batch *batch) {
  for (size_t i = 0; i < batch->rows; i++) {
    double *row = pass->buffer + i * batch->columns;
    pc_batch_row(batch, i, row);
    for (size_t j = 0; j < batch->columns; j++)
      row[j] = pc_score_logit(batch->kind, batch->columns, row[j]) / pass->temperature;
  }
  batch->kind = PCAL_LOGIT;
  batch->type = PCAL_F64;
}

static pcal_status figure_measure_change(const figure_measure_pass *pass, pcal_batch *batch,
                                         pcal_error *err) {
  if (pass->calibrator != NULL) {
    PC_TRY(pc_calibrator_apply(pass->calibrator, batch, pass->plan->env, pass->buffer, err));
    batch->kind = pc_calibrator_output_kind(batch->kind);
  } else {
    figure_measure_temper(pass, batch);
  }
  const size_t item = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  batch->scores = pass->buffer;
  batch->column_stride = (ptrdiff_t)item;
  batch->row_stride = (ptrdiff_t)(batch->columns * item);
  return PCAL_OK;
}

static pcal_status figure_measure_read(const figure_measure_pass *pass, pcal_measure *measure,
                                       pcal_error *err) {
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(pass->source, pass->window, &batch, err));
    if (batch.rows == 0)
      return PCAL_OK;
    PC_TRY(figure_measure_change(pass, &batch, err));
    batch.groups = NULL;
    PC_TRY(pc_measure_update(measure, &batch, err));
    PC_TRY(pc_check_interrupt(pass->plan->env, err));
  }
}

static pcal_status figure_measure_pass_check(const figure_measure_pass *pass, pcal_error *err) {
  const char *name = pass->plan->row->row.name;
  if (!pass->shape.labelled)
    return pc_fail(err, PCAL_USAGE, "figure %s needs the true outcomes of the rows", name);
  if (pass->calibrator == NULL && pass->shape.kind == PCAL_CONFIDENCE)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s needs the scores of all classes, which a temperature changes "
                   "together, but the data have only confidences; give {logits} or {probs}",
                   name);
  if (pass->calibrator != NULL && !pc_method_predicts(pass->calibrator->method))
    return pc_fail(err, PCAL_USAGE,
                   "figure %s: the calibrator gives sets or intervals, not predictions; leave "
                   "it out",
                   name);
  if (pass->calibrator != NULL &&
      pc_calibrator_columns(pass->calibrator) != pass->shape.columns)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s: the calibrator gives the probability of one event and not of "
                   "every class; draw its output with {confidence}, or fit one for all classes",
                   name);
  return PCAL_OK;
}

static pcal_status figure_measure_changed(figure_measure_pass *pass, int intervals,
                                          pcal_results **out, pcal_error *err) {
  const figure_measure_plan *plan = pass->plan;
  const char *specs[PC_FIGURE_SPECS];
  pcal_measure *measure = NULL;
  pcal_measure_config config = figure_measure_config(plan, specs, intervals);
  pass->shape.size = sizeof pass->shape;
  pc_source_shape(pass->source, &pass->shape);
  PC_TRY(figure_measure_pass_check(pass, err));
  const int tempered = pass->calibrator == NULL;
  config.kind = tempered ? PCAL_LOGIT : pc_calibrator_output_kind(pass->shape.kind);
  config.levels = pass->shape.levels;
  config.columns = pass->shape.columns;
  pass->window = FIGURE_MEASURE_WINDOW_NUMBERS / pass->shape.columns;
  pass->window = pass->window < 1 ? 1 : pass->window;
  if (pass->shape.row_count < pass->window)
    pass->window = (size_t)pass->shape.row_count + 1;
  pass->buffer = pc_alloc_raw(plan->env, pass->window * pass->shape.columns, sizeof(double));
  if (pass->buffer == NULL)
    return pc_fail_memory(err, "changing scores for a figure");
  pcal_status status = pc_measure_new(&config, plan->env, &measure, err);
  if (status == PCAL_OK)
    status = figure_measure_read(pass, measure, err);
  if (status == PCAL_OK)
    status = pc_measure_set_names(measure, pass->shape.class_names,
                                  pass->shape.class_names == NULL ? 0 : pass->shape.columns,
                                  NULL, 0, err);
  pc_free(plan->env, pass->buffer);
  if (status == PCAL_OK)
    status = pc_measure_finish(measure, out, err);
  pc_measure_free(measure);
  return status;
}

/* ---- First rows ---- */

typedef struct figure_measure_kept {
  pc_figure_rows *rows;
  uint64_t first; /* index of the first row */
} figure_measure_kept;

static pcal_status figure_measure_keep_row(void *user, size_t worker, const pc_rows *rows,
                                           pcal_error *err) {
  const figure_measure_kept *kept = user;
  const size_t width = rows->classes;
  (void)worker;
  (void)err;
  for (size_t i = 0; i < rows->count; i++)
    memcpy(kept->rows->values + (size_t)(rows->ids[i] - kept->first) * width,
           rows->probs + i * width, width * sizeof(double));
  return PCAL_OK;
}

/* Reads batches until the requested rows are there. */
static pcal_status figure_measure_keep_batches(figure_measure_pass *pass, pc_pass *reading,
                                               figure_measure_kept *kept, pcal_error *err) {
  const size_t wanted = pass->window;
  while (kept->rows->count < wanted) {
    pcal_batch batch = PCAL_BATCH_INIT;
    pc_row_counts counts;
    PC_TRY(pc_source_next(pass->source, wanted - kept->rows->count, &batch, err));
    if (batch.rows == 0)
      break;
    if (kept->rows->count == 0)
      kept->first = batch.first_row;
    if (pass->calibrator != NULL)
      PC_TRY(figure_measure_change(pass, &batch, err));
    PC_TRY(pc_pass_batch(reading, &batch, &counts, err));
    kept->rows->count += batch.rows;
  }
  return PCAL_OK;
}

static pcal_status figure_measure_keep_pass(figure_measure_pass *pass, pc_figure_rows *rows,
                                            pcal_error *err) {
  const figure_measure_plan *plan = pass->plan;
  const pc_row_policy policy = {.normalize = plan->config->normalize,
                                .skip_missing = plan->config->skip_missing,
                                .probs = PC_PROBS_FILLED};
  const size_t width = rows->layout.classes;
  figure_measure_kept kept = {rows, 0};
  pc_pass reading;
  rows->values = pc_alloc_raw(plan->env, pass->window * width, sizeof *rows->values);
  pass->buffer = pc_alloc_raw(plan->env, pass->window * pass->shape.columns, sizeof(double));
  if (rows->values == NULL || pass->buffer == NULL)
    return pc_fail_memory(err, "reading the rows of a figure");
  for (size_t i = 0; i < pass->window * width; i++)
    rows->values[i] = (double)NAN;
  PC_TRY(pc_pass_init(&reading, plan->env, &rows->layout, &policy, figure_measure_keep_row,
                      &kept, err));
  const pcal_status status = figure_measure_keep_batches(pass, &reading, &kept, err);
  pc_pass_free(&reading);
  return status;
}

/* The first rows of a source, after the calibrator if there is one. */
static pcal_status figure_measure_rows(const figure_measure_plan *plan, pcal_source *source,
                                       pc_figure_rows *rows, pcal_error *err) {
  figure_measure_pass pass = {.plan = plan,
                              .source = source,
                              .calibrator = plan->config->calibrator,
                              .window = plan->request->row_count};
  pass.shape.size = sizeof pass.shape;
  PC_TRY(pc_source_rewind(source, err));
  pc_source_shape(source, &pass.shape);
  PC_TRY(pc_layout_make_levels(
      pass.calibrator == NULL ? pass.shape.kind : pc_calibrator_output_kind(pass.shape.kind),
      pass.shape.columns, pass.shape.levels, &rows->layout, err));
  const pcal_status status = figure_measure_keep_pass(&pass, rows, err);
  pc_free(plan->env, pass.buffer);
  return status;
}

/* ---- Sets ---- */

static pcal_status figure_measure_tempered(const figure_measure_plan *plan, pcal_source *source,
                                           pc_measured_set *set, pcal_error *err) {
  const size_t count = plan->request->temperature_count;
  set->tempered = pc_alloc(plan->env, count, sizeof *set->tempered);
  if (set->tempered == NULL)
    return pc_fail_memory(err, "measuring at several temperatures");
  for (size_t i = 0; i < count; i++) {
    figure_measure_pass pass = {.plan = plan, .source = source};
    pass.temperature = plan->request->temperatures[i];
    PC_TRY(pc_source_rewind(source, err));
    PC_TRY(figure_measure_changed(&pass, 0, &set->tempered[i], err));
    pc_progress(plan->env, "temperatures", i + 1, count);
  }
  return PCAL_OK;
}

static pcal_status figure_measure_set(const figure_measure_plan *plan, pcal_source *source,
                                      int calibrated, int again, pc_measured_set *set,
                                      pcal_error *err) {
  pcal_results *results = NULL;
  figure_measure_pass pass = {
      .plan = plan, .source = source, .calibrator = plan->config->calibrator};
  if (again)
    PC_TRY(pc_source_rewind(source, err));
  if (calibrated)
    PC_TRY(figure_measure_changed(&pass, 1, &results, err));
  else
    PC_TRY(figure_measure_plain(plan, source, 1, &results, err));
  pc_measured_set_fill(set, results, plan->request);
  if (plan->request->temperature_count > 0)
    return figure_measure_tempered(plan, source, set, err);
  return PCAL_OK;
}

static void figure_measure_set_free(const figure_measure_plan *plan, pc_measured_set *set) {
  pcal_results *results = NULL;
  for (size_t i = 0; set->tempered != NULL && i < plan->request->temperature_count; i++)
    pc_results_free(set->tempered[i]);
  pc_free(plan->env, set->tempered);
  memcpy(&results, &set->results, sizeof results);
  pc_results_free(results);
}

typedef struct figure_measure_sets {
  pc_figure_data data;
  pc_measured_set before, val;
  pc_figure_rows rows;
  pc_measured_set *models; /* of several, or NULL */
} figure_measure_sets;

static pcal_status figure_measure_one_model(const figure_measure_plan *plan,
                                            pcal_source *source, figure_measure_sets *sets,
                                            pcal_error *err) {
  const pcal_figure_config *config = plan->config;
  const int calibrated = config->calibrator != NULL;
  if (calibrated && plan->request->temperature_count > 0)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s searches for a temperature for uncalibrated scores; leave the "
                   "calibrator out",
                   plan->row->row.name);
  PC_TRY(figure_measure_set(plan, source, calibrated, 0, &sets->data.shown, err));
  if (calibrated) {
    PC_TRY(figure_measure_set(plan, source, 0, 1, &sets->before, err));
    sets->data.before = &sets->before;
  }
  if (config->val != NULL) {
    PC_TRY(figure_measure_set(plan, config->val, calibrated, 0, &sets->val, err));
    sets->data.val = &sets->val;
  }
  if (plan->request->row_count > 0) {
    sets->data.rows = &sets->rows;
    PC_TRY(figure_measure_rows(plan, source, &sets->rows, err));
  }
  return PCAL_OK;
}

static pcal_status figure_measure_models(const figure_measure_plan *plan,
                                         figure_measure_sets *sets, pcal_error *err) {
  const pcal_figure_config *config = plan->config;
  if (config->calibrator != NULL || config->val != NULL)
    return pc_fail(
        err, PCAL_USAGE,
        "figure %s draws several models without calibration; leave the calibrator and the "
        "second set out",
        plan->row->row.name);
  sets->models = pc_alloc(plan->env, config->model_count, sizeof *sets->models);
  if (sets->models == NULL)
    return pc_fail_memory(err, "measuring several models");
  for (size_t i = 0; i < config->model_count; i++) {
    pc_progress(plan->env, "models", i, config->model_count);
    PC_TRY(figure_measure_set(plan, config->models[i].source, 0, plan->groups, &sets->models[i],
                              err));
  }
  pc_progress(plan->env, "models", config->model_count, config->model_count);
  sets->data.shown = sets->models[0];
  sets->data.models = sets->models;
  sets->data.named = config->models;
  sets->data.model_count = config->model_count;
  return PCAL_OK;
}

static void figure_measure_sets_free(const figure_measure_plan *plan,
                                     figure_measure_sets *sets) {
  for (size_t i = 0; sets->models != NULL && i < plan->config->model_count; i++)
    figure_measure_set_free(plan, &sets->models[i]);
  if (sets->models == NULL)
    figure_measure_set_free(plan, &sets->data.shown);
  figure_measure_set_free(plan, &sets->before);
  figure_measure_set_free(plan, &sets->val);
  pc_free(plan->env, sets->models);
  pc_free(plan->env, sets->rows.values);
}

/* Fails if a figure of class probabilities is given predictions of a number. */
static pcal_status figure_measure_check_task(const figure_measure_plan *plan,
                                             const pc_layout *layout,
                                             const pc_figure_request *request,
                                             pcal_error *err) {
  char name[PC_SPEC_MAX];
  if (layout->form == PC_FORM_CLASSES)
    return PCAL_OK;
  for (size_t i = 0; i < request->spec_count; i++) {
    PC_TRY(pc_spec_name(request->specs[i], name, sizeof name, err));
    if (pc_metric_find_for(layout->form, name) == NULL &&
        pc_metric_find_for(PC_FORM_CLASSES, name) != NULL)
      return pc_fail(err, PCAL_USAGE,
                     "figure %s draws class probabilities, but these data are predictions of a "
                     "number; give {probs} or {logits}, or draw pit, coverage, "
                     "quantile-reliability, fan or variance-vs-error",
                     plan->row->row.name);
  }
  return PCAL_OK;
}

static pcal_status figure_measure_request(const figure_measure_plan *plan, pcal_source *source,
                                          pc_figure_request *request, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_layout layout;
  pc_source_shape(source, &shape);
  PC_TRY(pc_layout_make_levels(shape.kind, shape.columns, shape.levels, &layout, err));
  if (plan->row->row.task == PCAL_REGRESSION && layout.form == PC_FORM_CLASSES)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s is about predictions of a number, but these data are scores of "
                   "classes; give {mean} with {variance}, {quantiles} or {samples}",
                   plan->row->row.name);
  if (plan->row->row.task == PCAL_REGRESSION && layout.form == PC_FORM_DISTANCES)
    return pc_fail(
        err, PCAL_USAGE,
        "figure %s is about one number, and {target} has several columns; give one of "
        "them, with its samples",
        plan->row->row.name);
  PC_TRY(plan->row->request(&plan->options, &layout, request, err));
  return figure_measure_check_task(plan, &layout, request, err);
}

/* Checks that the figure requests the same metrics for all models. */
static pcal_status figure_measure_check_requests(const figure_measure_plan *plan,
                                                 pcal_error *err) {
  const pcal_figure_config *config = plan->config;
  pc_figure_request *request = pc_alloc(plan->env, 1, sizeof *request);
  pcal_status status = request == NULL ? pc_fail_memory(err, "building a figure") : PCAL_OK;
  for (size_t i = 1; status == PCAL_OK && i < config->model_count; i++) {
    memset(request, 0, sizeof *request);
    status = figure_measure_request(plan, config->models[i].source, request, err);
    if (status == PCAL_OK && memcmp(request, plan->request, sizeof *request) != 0)
      status = pc_fail(
          err, PCAL_USAGE,
          "figure %s cannot draw %s and %s together: their scores are of different kinds",
          plan->row->row.name, config->models[0].name, config->models[i].name);
  }
  pc_free(plan->env, request);
  return status;
}

static pcal_status figure_measure_build(const figure_measure_plan *plan,
                                        figure_measure_sets *sets, pc_figure *figure,
                                        pcal_error *err) {
  const pcal_figure_config *config = plan->config;
  sets->data.options = &plan->options;
  sets->data.request = plan->request;
  pc_figure_set_config(figure, config, plan->row->width, plan->row->height);
  PC_TRY(plan->row->build(&sets->data, figure, err));
  return pc_figure_status(figure, err);
}

/* Runs the study of a figure on these predictions, or on rows of its own, and draws its
 * figure. */
static pcal_status figure_measure_study(const figure_measure_plan *plan, pcal_source *source,
                                        pc_figure *figure, pcal_error *err) {
  const pcal_model model = {sizeof model, NULL, source, plan->config->val};
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  if (plan->config->calibrator != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s fits its own calibrator; leave the calibrator out",
                   plan->row->row.name);
  config.models = &model;
  config.model_count = source == NULL ? 0 : 1;
  config.repeats =
      plan->config->replicas > 0 ? plan->config->replicas : plan->row->study_repeats;
  config.normalize = plan->config->normalize;
  config.skip_missing = plan->config->skip_missing;
  pc_findings *findings = pc_alloc(plan->env, 1, sizeof *findings);
  if (findings == NULL)
    return pc_fail_memory(err, "building a figure");
  pc_findings_init(findings, plan->env, plan->row->study);
  pcal_status status = pc_study_run(plan->row->study, &config, findings, err);
  if (status == PCAL_OK)
    status = pc_study_figure_draw(findings, plan->config, figure, err);
  pc_findings_free(findings);
  pc_free(plan->env, findings);
  return status;
}

/* One model, or several. */
static pcal_status figure_measure_draw(const figure_measure_plan *plan, pcal_source *source,
                                       figure_measure_sets *sets, pc_figure *figure,
                                       pcal_error *err) {
  const int several = plan->config->model_count > 0;
  PC_TRY(figure_measure_request(plan, several ? plan->config->models[0].source : source,
                                plan->request, err));
  if (several)
    PC_TRY(figure_measure_check_requests(plan, err));
  if (several)
    PC_TRY(figure_measure_models(plan, sets, err));
  else
    PC_TRY(figure_measure_one_model(plan, source, sets, err));
  return figure_measure_build(plan, sets, figure, err);
}

static pcal_status figure_measure_check_source(const figure_measure_plan *plan,
                                               const pcal_source *source, pcal_error *err) {
  if (plan->config->model_count > 0 && !plan->row->several)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s draws one model; give its predictions with {logits}, {probs} and "
                   "the like",
                   plan->row->row.name);
  if (plan->row->study == NULL && source == NULL && plan->config->model_count == 0)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s needs predictions: give {logits} or {probs} with {labels}, or "
                   "for numbers {mean}, {quantiles} or {samples} with {target}",
                   plan->row->row.name);
  return PCAL_OK;
}

/* A figure of predictions, not of a study. */
static pcal_status figure_measure_run(figure_measure_plan *plan, pcal_source *source,
                                      pc_figure *figure, pcal_error *err) {
  plan->request = pc_alloc(plan->env, 1, sizeof *plan->request);
  figure_measure_sets *sets = pc_alloc(plan->env, 1, sizeof *sets);
  const pcal_status status = plan->request == NULL || sets == NULL
                                 ? pc_fail_memory(err, "building a figure")
                                 : figure_measure_draw(plan, source, sets, figure, err);
  if (sets != NULL && plan->request != NULL)
    figure_measure_sets_free(plan, sets);
  pc_free(plan->env, sets);
  pc_free(plan->env, plan->request);
  return status;
}

/* Draws the groups of a source as several models. */
static pcal_status figure_measure_groups(figure_measure_plan *plan, pcal_source *source,
                                         pc_figure *figure, pcal_error *err) {
  pcal_figure_config config = *plan->config;
  pc_figure_groups groups;
  if (!plan->row->several)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s draws all rows together; leave {groups} out, or draw "
                   "reliability",
                   plan->row->row.name);
  pcal_status status = pc_figure_groups_open(source, plan->env, &groups, err);
  config.models = groups.models;
  config.model_count = groups.count;
  plan->config = &config;
  plan->groups = 1;
  if (status == PCAL_OK)
    status = figure_measure_run(plan, source, figure, err);
  pc_figure_groups_close(&groups);
  return status;
}

static int figure_measure_is_grouped(const figure_measure_plan *plan,
                                     const pcal_source *source) {
  pcal_shape shape = {.size = sizeof shape};
  if (source == NULL || plan->config->model_count > 0 || plan->row->by_group)
    return 0;
  pc_source_shape(source, &shape);
  return shape.grouped;
}

pcal_status pc_figure_from_source(pcal_source *source, const pcal_figure_config *config,
                                  pc_figure *figure, pcal_error *err) {
  figure_measure_plan plan = {.config = config, .env = figure->env};
  PC_TRY(pc_figure_parse(config->figure, &plan.row, &plan.options, err));
  PC_TRY(figure_measure_check_source(&plan, source, err));
  if (plan.row->study != NULL && figure_measure_is_grouped(&plan, source))
    return pc_fail(err, PCAL_USAGE, "figure %s draws all rows together; leave {groups} out",
                   plan.row->row.name);
  if (plan.row->study != NULL)
    return figure_measure_study(&plan, source, figure, err);
  return figure_measure_is_grouped(&plan, source)
             ? figure_measure_groups(&plan, source, figure, err)
             : figure_measure_run(&plan, source, figure, err);
}
