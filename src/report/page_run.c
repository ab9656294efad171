/* From sources to a report.
 *
 * 1. The calibrator is given by the caller; or fitted to other rows, by the method named or by
 *    the one that a comparison chooses; or fitted by the method named and judged by
 *    cross-validation: each row is then mapped by a calibrator that has not seen it.
 * 2. Where a comparison says to leave the predictions alone, the report has no after side. */
#include <stdio.h>
#include <string.h>

#include "calibrators/calibrator_describe.h"
#include "compare/held_out.h"
#include "measure/measure_source.h"
#include "measure/replicas/paired_difference.h"
#include "output/verdict.h"
#include "report/page_preset.h"

typedef struct page_run {
  pcal_report *report;
  const pcal_report_config *config;
  pc_held_out held_out;                      /* its source is that of the report */
  pcal_calibrator *used[PC_PAGE_FOLDS];      /* one for each fold; borrowed */
  pcal_calibrator *owned[PC_PAGE_FOLDS + 1]; /* freed at the end */
  const pcal_calibrator *shown;              /* described in the report, or NULL */
  pc_memory_source kept;                     /* the rows, for cross-validation */
} page_run;

/* ---- the calibrator ---- */

static int page_run_has_classes(const page_run *run) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(run->held_out.source, &shape);
  return pc_kind_form(shape.kind) == PC_FORM_CLASSES;
}

/* Describes a calibrator fitted to all rows, and judges by one for each fold. */
static pcal_status page_run_cross_validate(page_run *run, pcal_error *err) {
  pc_held_out all_rows = run->held_out;
  all_rows.val = all_rows.source;
  PC_TRY(pc_held_out_fit(&all_rows, run->config->method, &run->owned[PC_PAGE_FOLDS], err));
  run->shown = run->owned[PC_PAGE_FOLDS];
  run->held_out.folds.count = PC_PAGE_FOLDS;
  run->held_out.kept = &run->kept;
  PC_TRY(pc_memory_source_read(run->held_out.source, &run->report->env, &run->kept, err));
  PC_TRY(pc_source_rewind(run->held_out.source, err));
  const pcal_status status =
      pc_held_out_fit(&run->held_out, run->config->method, run->owned, err);
  pc_memory_source_close(&run->kept);
  run->held_out.kept = NULL;
  memcpy(run->used, run->owned, sizeof run->used);
  return status;
}

static pcal_status page_run_fit(page_run *run, pcal_error *err) {
  const pcal_status status =
      pc_held_out_fit(&run->held_out, run->config->method, run->owned, err);
  run->shown = run->used[0] = run->owned[0];
  return status;
}

/* Compares classes by a few cheap metrics, since the table of the report has the others;
 * predictions of a number by the metrics of `compare`. */
static pcal_status page_run_compare(page_run *run, pcal_error *err) {
  static const char *const specs[] = {"log", "accuracy", "ece", "ks"};
  const pcal_report_config *config = run->config;
  const pcal_model model = {
      .size = sizeof model, .source = run->held_out.source, .val = config->val};
  pcal_compare_config compare = PCAL_COMPARE_CONFIG_INIT;
  compare.specs = specs;
  compare.spec_count = page_run_has_classes(run) ? sizeof specs / sizeof *specs : 0;
  compare.interval = config->interval;
  compare.replicas = config->replicas;
  compare.normalize = config->normalize;
  compare.skip_missing = config->skip_missing;
  pcal_report *report = run->report;
  PC_TRY(pc_compare(&model, 1, &compare, config->by_cluster, &report->env, &report->comparison,
                    err));
  if (report->comparison->chosen == 0)
    return PCAL_OK;
  run->shown = run->used[0] = report->comparison->calibrator;
  return PCAL_OK;
}

static pcal_status page_run_describe(page_run *run, pcal_error *err) {
  pcal_report *report = run->report;
  const pcal_calibrator *shown = run->shown;
  if (shown == NULL)
    return PCAL_OK;
  report->repaired = 1;
  report->method_row = &shown->method->row;
  pc_options_write(&shown->options, 0, report->method, sizeof report->method);
  pc_calibrator_describe_text(shown, &report->described);
  pc_calibrator_describe_json(shown, &report->described_json);
  PC_TRY(pc_text_status(&report->described, err));
  return pc_text_status(&report->described_json, err);
}

static pcal_status page_run_calibrator(page_run *run, pcal_error *err) {
  const pcal_report_config *config = run->config;
  run->report->given = config->calibrator != NULL;
  run->report->second = config->calibrator == NULL && config->val != NULL;
  if (config->calibrator != NULL) {
    memcpy(&run->used[0], &config->calibrator, sizeof run->used[0]);
    run->shown = config->calibrator;
  } else if (config->method != NULL && config->val != NULL) {
    PC_TRY(page_run_fit(run, err));
  } else if (config->method != NULL) {
    PC_TRY(page_run_cross_validate(run, err));
  } else if (config->val != NULL) {
    PC_TRY(page_run_compare(run, err));
  }
  return page_run_describe(run, err);
}

/* ---- measuring ---- */

/* Measures the metrics of the preset, then those of the caller. */
static pcal_status page_run_measure(const page_run *run, pcal_source *source,
                                    pcal_measure_config *measure_config, pcal_results **out,
                                    pcal_error *err) {
  const pcal_report *report = run->report;
  const size_t own = report->preset != NULL, count = own + run->config->spec_count;
  const char **specs = pc_alloc(&report->env, count > 0 ? count : 1, sizeof *specs);
  if (specs == NULL)
    return pc_fail_memory(err, "making a report");
  if (own)
    specs[0] = report->preset->metrics;
  for (size_t i = own; i < count; i++)
    specs[i] = run->config->specs[i - own];
  measure_config->specs = specs;
  measure_config->spec_count = count;
  const pcal_status status = pc_measure_whole(source, measure_config, &report->env, out, err);
  pc_free(&report->env, specs);
  return status;
}

static pcal_status page_run_key(page_run *run, pcal_source *source, pc_page_time time,
                                pcal_error *err) {
  const pcal_report_config *config = run->config;
  pcal_report *report = run->report;
  pcal_measure_config measure_config = PCAL_MEASURE_CONFIG_INIT;
  pcal_results **key = &report->side[time].key;
  measure_config.normalize = config->normalize && time == PC_PAGE_BEFORE;
  measure_config.skip_missing = config->skip_missing;
  measure_config.interval = config->interval;
  measure_config.replicas = config->replicas;
  measure_config.by_cluster = report->by_cluster;
  measure_config.paired = report->repaired && config->interval > 0;
  PC_TRY(page_run_measure(run, source, &measure_config, key, err));
  if (time == PC_PAGE_AFTER)
    snprintf((*key)->tried, sizeof(*key)->tried, "%s", report->method);
  return PCAL_OK;
}

static pcal_status page_run_side(page_run *run, pcal_source *source, pc_page_time time,
                                 pcal_error *err) {
  const pc_page_side *side = &run->report->side[time];
  PC_TRY(page_run_key(run, source, time, err));
  PC_TRY(pc_source_rewind(source, err));
  PC_TRY(pc_page_measure_figures(run->report, source, run->config, time, err));
  if (side->drawn != NULL) /* the verdict shows the number of the reliability diagram */
    side->key->drawn_chance = pc_verdict_drawn_chance(side->drawn);
  return pc_verdict_attach(side->key, err);
}

static pcal_status page_run_after(page_run *run, pcal_error *err) {
  pcal_report *report = run->report;
  pc_recalibrated_source mapped;
  pcal_status status = pc_held_out_open(&run->held_out, run->used, &mapped, err);
  if (status == PCAL_OK)
    status = page_run_side(run, mapped.source, PC_PAGE_AFTER, err);
  pc_recalibrated_source_close(&mapped);
  if (status != PCAL_OK || !(run->config->interval > 0))
    return status;
  pcal_results *after = report->side[PC_PAGE_AFTER].key;
  PC_TRY(pc_paired_differences(after, report->side[PC_PAGE_BEFORE].key, err));
  if (run->held_out.folds.count == 1 && (pc_calibrator_traits(run->shown) & PC_INJECTIVE) != 0)
    pc_paired_differences_mark_injective(after);
  return PCAL_OK;
}

/* ---- entry point ---- */

static pcal_status page_run_copy(pcal_report *report, const pcal_report_config *config,
                                 pcal_error *err) {
  const char *const from[] = {config->title, config->command, config->input_flags,
                              config->val_flags, config->calibrator_file};
  char **const to[] = {&report->title, &report->command, &report->input_flags,
                       &report->val_flags, &report->calibrator_file};
  for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
    if (from[i] == NULL)
      continue;
    *to[i] = pc_copy_text(&report->env, from[i]);
    if (*to[i] == NULL)
      return pc_fail_memory(err, "making a report");
  }
  report->level = config->interval;
  if (config->by_cluster && !(config->interval > 0))
    return pc_fail(err, PCAL_USAGE,
                   "{cluster} affects only intervals; give {interval} 0.95, or leave it out");
  report->by_cluster = config->by_cluster;
  PC_TRY(pc_page_preset_find(config->preset, &report->preset, err));
  report->chosen_metrics = config->spec_count > 0 || report->preset != NULL;
  return PCAL_OK;
}

static pcal_status page_run_refuse_vectors(pcal_error *err) {
  return pc_fail(err, PCAL_USAGE,
                 "a report is about one number, and {target} has several columns; give one of "
                 "them, with its samples, or measure energy-score");
}

static pcal_status page_run_check(const page_run *run, pcal_error *err) {
  const pc_page_preset *preset = run->report->preset;
  pcal_shape shape = {.size = sizeof shape};
  pc_layout layout;
  pc_source_shape(run->held_out.source, &shape);
  if (shape.kind == PCAL_SAMPLE_VECTORS)
    return page_run_refuse_vectors(err);
  if (preset == NULL)
    return PCAL_OK;
  PC_TRY(pc_layout_make_levels(shape.kind, shape.columns, shape.levels, &layout, err));
  return preset->check(&layout, err);
}

static pcal_status page_run_all(page_run *run, pcal_error *err) {
  pcal_report *report = run->report;
  PC_TRY(page_run_copy(report, run->config, err));
  PC_TRY(page_run_check(run, err));
  PC_TRY(page_run_calibrator(run, err));
  PC_TRY(page_run_side(run, run->held_out.source, PC_PAGE_BEFORE, err));
  if (report->repaired)
    PC_TRY(page_run_after(run, err));
  PC_TRY(pc_source_rewind(run->held_out.source, err));
  PC_TRY(pc_inspect_faults(run->held_out.source, &report->env, &report->faults, err));
  return pc_page_draw(report, err);
}

static pcal_status page_run_new(const pcal_env *env, pcal_report **out, pcal_error *err) {
  pcal_report *report = pc_alloc(env, 1, sizeof *report);
  if (report == NULL)
    return pc_fail_memory(err, "making a report");
  report->env = *env;
  pc_text_init(&report->described, &report->env);
  pc_text_init(&report->described_json, &report->env);
  *out = report;
  return PCAL_OK;
}

/* The level of the intervals of results; 0: there are none. */
static double page_run_level(const pcal_results *results) {
  double level = 0.0;
  for (size_t m = 0; m < results->metric_count; m++)
    if (results->records[m].interval_result.has_interval)
      level = results->records[m].interval_result.level;
  return level;
}

pcal_status pc_page_from_results(const pcal_results *results, const pcal_report_config *config,
                                 pcal_report **out, pcal_error *err) {
  const pcal_report_config titled = {.title = config->title,
                                     .interval = page_run_level(results)};
  pcal_report *report = NULL;
  if (results->layout.form == PC_FORM_DISTANCES)
    return page_run_refuse_vectors(err);
  PC_TRY(page_run_new(&results->env, &report, err));
  report->from_results = 1;
  pc_page_side *side = &report->side[PC_PAGE_BEFORE];
  memcpy(&side->key, &results, sizeof side->key); /* only read */
  side->drawn = side->key;
  pcal_status status = page_run_copy(report, &titled, err);
  report->chosen_metrics = 1;
  if (status == PCAL_OK)
    status = pc_page_draw(report, err);
  if (status == PCAL_OK)
    *out = report;
  else
    pc_page_free(report);
  return status;
}

pcal_status pc_page_run(pcal_source *source, const pcal_report_config *config,
                        const pcal_env *env, pcal_report **out, pcal_error *err) {
  pcal_report *report = NULL;
  PC_TRY(page_run_new(env, &report, err));
  page_run run = {.report = report,
                  .config = config,
                  .held_out = {.env = &report->env,
                               .source = source,
                               .val = config->val,
                               .folds = {report->env.seed, 1, config->by_cluster},
                               .normalize = config->normalize,
                               .skip_missing = config->skip_missing}};
  const pcal_status status = page_run_all(&run, err);
  pc_memory_source_close(&run.kept);
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
  char *const texts[] = {report->title, report->command, report->input_flags, report->val_flags,
                         report->calibrator_file};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    pc_free(&env, texts[i]);
  for (size_t time = 0; !report->from_results && time < 2; time++) {
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
