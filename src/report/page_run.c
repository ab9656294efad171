/* From sources to a report.
 *
 * 1. A calibrator comes from the caller, is fitted to other rows (as named, or as chosen by a
 *    comparison), or is named and judged by cross-validation: each row after calibration has
 *    been mapped by a calibrator that has not seen it.
 * 2. Where a comparison says to leave the predictions alone there is no after. */
#include <stdio.h>
#include <string.h>

#include "calibrators/calibrator_describe.h"
#include "calibrators/fit.h"
#include "compare/recalibrated_source.h"
#include "measure/measure_source.h"
#include "measure/replicas/paired_difference.h"
#include "report/page.h"

typedef struct page_run {
  pcal_report *report;
  const pcal_report_config *config;
  pcal_source *source;
  pc_folds folds;
  pcal_calibrator *used[PC_PAGE_FOLDS]; /* one for each fold */
  pcal_calibrator *owned[PC_PAGE_FOLDS + 1];
  const pcal_calibrator *shown; /* the one to describe; NULL: none */
} page_run;

/* ---- the calibrator ---- */

static pcal_status page_run_fit(page_run *run, pcal_source *source, size_t place,
                                pcal_error *err) {
  const pcal_fit_config config = {.size = sizeof config,
                                  .method = run->config->method,
                                  .normalize = run->config->normalize,
                                  .skip_missing = run->config->skip_missing};
  return pc_fit_run(source, &config, &run->report->env, &run->owned[place], err);
}

static pcal_status page_run_fold(page_run *run, size_t fold, pcal_error *err) {
  pc_fold_source training;
  pcal_status status =
      pc_fold_source_open(run->source, &run->folds, fold, &run->report->env, &training, err);
  if (status == PCAL_OK)
    status = page_run_fit(run, training.source, fold, err);
  pc_fold_source_close(&training);
  run->used[fold] = run->owned[fold];
  return status;
}

static int page_run_has_classes(const page_run *run) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(run->source, &shape);
  return pc_kind_form(shape.kind) == PC_FORM_CLASSES;
}

/* The one to describe and to use later is fitted to all rows. */
static pcal_status page_run_cross_validate(page_run *run, pcal_error *err) {
  run->folds.count = PC_PAGE_FOLDS;
  PC_TRY(page_run_fit(run, run->source, PC_PAGE_FOLDS, err));
  run->shown = run->owned[PC_PAGE_FOLDS];
  for (size_t fold = 0; fold < PC_PAGE_FOLDS; fold++) {
    PC_TRY(pc_source_rewind(run->source, err));
    PC_TRY(page_run_fold(run, fold, err));
  }
  return PCAL_OK;
}

/* Cheap metrics of classes, since a report has the others in its table; for predictions of a
 * number those of `compare`. */
static pcal_status page_run_compare(page_run *run, pcal_error *err) {
  static const char *const specs[] = {"log", "accuracy", "ece", "ks"};
  const pcal_report_config *config = run->config;
  const pcal_model model = {
      .size = sizeof model, .source = run->source, .fitting = config->fitting};
  pcal_compare_config compare = PCAL_COMPARE_CONFIG_INIT;
  compare.specs = specs;
  compare.spec_count = page_run_has_classes(run) ? sizeof specs / sizeof *specs : 0;
  compare.interval = config->interval;
  compare.replicas = config->replicas;
  compare.normalize = config->normalize;
  compare.skip_missing = config->skip_missing;
  pcal_report *report = run->report;
  PC_TRY(pc_compare(&model, 1, &compare, &report->env, &report->comparison, err));
  if (report->comparison->chosen == 0)
    return PCAL_OK;
  run->used[0] = report->comparison->calibrator;
  run->shown = run->used[0];
  return PCAL_OK;
}

static pcal_status page_run_describe(page_run *run, pcal_error *err) {
  pcal_report *report = run->report;
  const pcal_calibrator *shown = run->shown;
  if (shown == NULL)
    return PCAL_OK;
  report->repaired = 1;
  report->method_row = &shown->row->row;
  pc_options_write(&shown->options, 0, report->method, sizeof report->method);
  pc_calibrator_describe_text(shown, &report->described);
  pc_calibrator_describe_json(shown, &report->described_json);
  PC_TRY(pc_text_status(&report->described, err));
  return pc_text_status(&report->described_json, err);
}

static pcal_status page_run_calibrator(page_run *run, pcal_error *err) {
  const pcal_report_config *config = run->config;
  run->folds = (pc_folds){run->report->env.seed, 1};
  run->report->given = config->calibrator != NULL;
  run->report->second = config->calibrator == NULL && config->fitting != NULL;
  if (config->calibrator != NULL) {
    memcpy(&run->used[0], &config->calibrator, sizeof run->used[0]);
    run->shown = config->calibrator;
  } else if (config->method != NULL && config->fitting != NULL) {
    PC_TRY(page_run_fit(run, config->fitting, 0, err));
    run->shown = run->used[0] = run->owned[0];
  } else if (config->method != NULL) {
    PC_TRY(page_run_cross_validate(run, err));
  } else if (config->fitting != NULL) {
    PC_TRY(page_run_compare(run, err));
  }
  return page_run_describe(run, err);
}

/* ---- measuring ---- */

static pcal_status page_run_key(page_run *run, pcal_source *source, pc_page_time time,
                                pcal_error *err) {
  const pcal_report_config *config = run->config;
  pcal_report *report = run->report;
  pcal_measure_config measure_config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results **key = &report->side[time].key;
  measure_config.specs = config->specs;
  measure_config.spec_count = config->spec_count;
  measure_config.normalize = config->normalize && time == PC_PAGE_BEFORE;
  measure_config.skip_missing = config->skip_missing;
  measure_config.interval = config->interval;
  measure_config.replicas = config->replicas;
  measure_config.paired = report->repaired && config->interval > 0;
  PC_TRY(pc_source_rewind(source, err));
  PC_TRY(pc_measure_source(source, &measure_config, 1, &report->env, &measure, err));
  const pcal_status status = pc_measure_finish(measure, key, err);
  pc_measure_free(measure);
  if (status != PCAL_OK)
    return status;
  if (time == PC_PAGE_AFTER)
    snprintf((*key)->tried, sizeof(*key)->tried, "%s", report->method);
  return pc_verdict_store(*key, err);
}

static pcal_status page_run_side(page_run *run, pcal_source *source, pc_page_time time,
                                 pcal_error *err) {
  PC_TRY(page_run_key(run, source, time, err));
  PC_TRY(pc_source_rewind(source, err));
  return pc_page_measure_figures(run->report, source, run->config, time, err);
}

static pcal_status page_run_after(page_run *run, pcal_error *err) {
  pcal_report *report = run->report;
  pc_recalibrated_source mapped;
  PC_TRY(pc_source_rewind(run->source, err));
  pcal_status status =
      pc_recalibrated_source_open(run->source, &run->folds, run->used,
                                  run->config->skip_missing, &report->env, &mapped, err);
  if (status == PCAL_OK)
    status = page_run_side(run, mapped.source, PC_PAGE_AFTER, err);
  pc_recalibrated_source_close(&mapped);
  if (status != PCAL_OK || !(run->config->interval > 0))
    return status;
  pcal_results *after = report->side[PC_PAGE_AFTER].key;
  PC_TRY(pc_paired_differences(after, report->side[PC_PAGE_BEFORE].key, err));
  if (run->folds.count == 1 && (pc_calibrator_traits(run->shown) & PC_INJECTIVE) != 0)
    pc_paired_differences_mark_injective(after);
  return PCAL_OK;
}

/* ---- the whole ---- */

static pcal_status page_run_copy(pcal_report *report, const pcal_report_config *config,
                                 pcal_error *err) {
  const char *const from[] = {config->title, config->command, config->input_flags,
                              config->fitting_flags, config->calibrator_file};
  char **const to[] = {&report->title, &report->command, &report->input_flags,
                       &report->fitting_flags, &report->calibrator_file};
  for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
    if (from[i] == NULL)
      continue;
    *to[i] = pc_copy_text(&report->env, from[i]);
    if (*to[i] == NULL)
      return pc_fail_memory(err, "making a report");
  }
  report->level = config->interval;
  report->chosen_metrics = config->spec_count > 0;
  return PCAL_OK;
}

static pcal_status page_run_all(page_run *run, pcal_error *err) {
  pcal_report *report = run->report;
  PC_TRY(page_run_copy(report, run->config, err));
  PC_TRY(page_run_calibrator(run, err));
  PC_TRY(page_run_side(run, run->source, PC_PAGE_BEFORE, err));
  if (report->repaired)
    PC_TRY(page_run_after(run, err));
  PC_TRY(pc_source_rewind(run->source, err));
  PC_TRY(pc_inspect_faults(run->source, &report->env, &report->faults, err));
  return pc_page_draw(report, err);
}

pcal_status pc_page_run(pcal_source *source, const pcal_report_config *config,
                        const pcal_env *env, pcal_report **out, pcal_error *err) {
  pcal_report *report = pc_alloc(env, 1, sizeof *report);
  if (report == NULL)
    return pc_fail_memory(err, "making a report");
  report->env = *env;
  pc_text_init(&report->described, &report->env);
  pc_text_init(&report->described_json, &report->env);
  page_run run = {.report = report, .config = config, .source = source};
  const pcal_status status = page_run_all(&run, err);
  for (size_t i = 0; i < sizeof run.owned / sizeof *run.owned; i++)
    pc_calibrator_free(run.owned[i]);
  if (status == PCAL_OK)
    *out = report;
  else
    pc_page_free(report);
  return status;
}

void pc_page_free(pcal_report *report) {
  if (report == NULL)
    return;
  const pcal_env env = report->env;
  char *const texts[] = {report->title, report->command, report->input_flags,
                         report->fitting_flags, report->calibrator_file};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    pc_free(&env, texts[i]);
  for (size_t time = 0; time < 2; time++) {
    pc_results_free(report->side[time].key);
    pc_results_free(report->side[time].drawn);
  }
  for (size_t i = 0; i < report->figure_count; i++) {
    pc_text_free(&report->figures[i].svg[0]);
    pc_text_free(&report->figures[i].svg[1]);
  }
  pc_free(&env, report->figures);
  pc_text_free(&report->described);
  pc_text_free(&report->described_json);
  pc_comparison_free(report->comparison);
  pc_free(&env, report);
}
