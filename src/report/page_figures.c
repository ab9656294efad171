/* Figures of a report, all drawn from one measurement.
 *
 * 1. A figure that does not suit the data, or needs scores at many temperatures, is left out.
 * 2. Intervals come from the table where it has them; those of other metrics that figures show,
 *    and the null, are measured here unless they are over all classes, which is expensive. */
#include <stdio.h>
#include <string.h>

#include "figure/svg.h"
#include "io/source.h"
#include "measure/measure_source.h"
#include "report/page_preset.h"

#define PAGE_FIGURES_SPECS 96
#define PAGE_FIGURES_WIDTH 560.0

/* Specs to measure, each once, and those that need intervals. */
typedef struct page_specs {
  char spec[PAGE_FIGURES_SPECS][PC_FIGURE_SPEC_SIZE];
  const char *all[PAGE_FIGURES_SPECS];
  unsigned char interval[PAGE_FIGURES_SPECS], null[PAGE_FIGURES_SPECS]; /* by spec: needed */
  size_t count;
} page_specs;

static size_t page_specs_add(page_specs *specs, const char *spec) {
  for (size_t i = 0; i < specs->count; i++)
    if (strcmp(specs->spec[i], spec) == 0)
      return i;
  if (specs->count == PAGE_FIGURES_SPECS)
    return PAGE_FIGURES_SPECS;
  const size_t place = specs->count++;
  snprintf(specs->spec[place], PC_FIGURE_SPEC_SIZE, "%s", spec);
  specs->all[place] = specs->spec[place];
  return place;
}

/* The figures of the report in order; NULL beyond the last. */
static const pc_figure_row *page_figures_at(const pcal_report *report, size_t index) {
  const pc_figure_row *row;
  pc_options options;
  if (report->preset == NULL)
    return pc_figure_in_report(index);
  const char *name = report->preset->figures[index].name;
  return name == NULL || pc_figure_parse(name, &row, &options, NULL) != PCAL_OK ? NULL : row;
}

/* True for metrics of one score for each row, whose replicas cost little. */
static int page_specs_is_cheap(const pcal_report *report, pc_form form, const char *spec) {
  const pc_metric *metric;
  pc_options options;
  if (report->preset != NULL)
    return 1;
  if (pc_metric_parse_for(form, spec, &metric, &options, NULL) != PCAL_OK)
    return 0;
  return form != PC_FORM_CLASSES || metric->row.notion == PCAL_NOTION_TOP_LABEL;
}

static const char *page_figures_spec(const pc_figure_row *row) {
  return row->report_spec == NULL ? row->row.name : row->report_spec;
}

/* Fails with PCAL_USAGE or PCAL_DATA if these specs cannot be measured on such data. */
static pcal_status page_figures_try(const pcal_env *env, const pc_layout *layout,
                                    const pc_figure_request *request, pcal_error *err) {
  const char *specs[PC_FIGURE_SPECS];
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  for (size_t s = 0; s < request->spec_count; s++)
    specs[s] = request->specs[s];
  config.kind = layout->kind;
  config.columns = layout->columns;
  config.levels = layout->form == PC_FORM_QUANTILES ? layout->levels : NULL;
  config.specs = specs;
  config.spec_count = request->spec_count;
  const pcal_status status = pc_measure_new(&config, env, &measure, err);
  pc_measure_free(measure);
  return status;
}

/* Fills the request, which is empty for a figure that does not fit. */
static pcal_status page_figures_request(const pcal_env *env, const pc_figure_row *row,
                                        const pc_layout *layout, pc_figure_request *request,
                                        pcal_error *err) {
  const pc_figure_row *same;
  pc_options options;
  memset(request, 0, sizeof *request);
  PC_TRY(pc_figure_parse(page_figures_spec(row), &same, &options, err));
  pcal_status status = row->request(&options, layout, request, err);
  if (status == PCAL_OK && request->temperature_count == 0)
    status = page_figures_try(env, layout, request, err);
  if (status == PCAL_MEMORY)
    return status;
  if (status != PCAL_OK || request->temperature_count > 0)
    memset(request, 0, sizeof *request);
  return PCAL_OK;
}

/* What the tables show beside the figures. */
static void page_specs_tables(page_specs *specs, const pc_layout *layout) {
  double levels[PC_PAGE_LEVELS];
  const size_t count = pc_page_coverage_levels(layout, levels);
  for (size_t i = 0; i < count; i++) {
    char spec[PC_FIGURE_SPEC_SIZE];
    pc_page_coverage_spec(levels[i], spec);
    const size_t place = page_specs_add(specs, spec);
    if (place < PAGE_FIGURES_SPECS)
      specs->interval[place] = 1;
  }
  if (layout->form == PC_FORM_CLASSES && layout->kind != PCAL_CONFIDENCE &&
      !pc_layout_is_binary(layout))
    page_specs_add(specs, "sce");
}

static pcal_status page_specs_fill(page_specs *specs, const pcal_report *report,
                                   const pc_layout *layout, pc_figure_request *request,
                                   pcal_error *err) {
  const pc_figure_row *row;
  for (size_t i = 0; (row = page_figures_at(report, i)) != NULL; i++) {
    PC_TRY(page_figures_request(&report->env, row, layout, request, err));
    for (size_t s = 0; s < request->spec_count; s++) {
      const size_t place = page_specs_add(specs, request->specs[s]);
      if (place == PAGE_FIGURES_SPECS || !request->interval ||
          !page_specs_is_cheap(report, layout->form, request->specs[s]))
        continue;
      specs->interval[place] = 1;
      specs->null[place] |= request->null != 0;
    }
  }
  page_specs_tables(specs, layout);
  return PCAL_OK;
}

/* Copies intervals of the same metrics from other results: those that are missing, or all. */
static void page_figures_borrow(pcal_results *results, const pcal_results *from, int all) {
  for (size_t m = 0; m < results->metric_count; m++)
    for (size_t k = 0; from != NULL && k < from->metric_count; k++) {
      pc_result_record *record = &results->records[m];
      if ((record->interval_result.has_interval && !all) ||
          strcmp(record->spec, from->records[k].spec) != 0)
        continue;
      record->interval_result = from->records[k].interval_result;
      memcpy(record->part_interval_results, from->records[k].part_interval_results,
             sizeof record->part_interval_results);
    }
}

/* The specs to measure: those that need the null, or those whose interval alone is missing. */
static size_t page_figures_missing(const page_specs *specs, const pcal_results *drawn, int null,
                                   const char **out) {
  size_t count = 0;
  for (size_t i = 0; i < specs->count; i++) {
    const int known =
        drawn->metric_count == specs->count && drawn->records[i].interval_result.has_interval;
    if (null ? specs->null[i] : specs->interval[i] && !specs->null[i] && !known)
      out[count++] = specs->all[i];
  }
  return count;
}

static pcal_status page_figures_intervals(const pcal_report *report, pcal_source *source,
                                          const pcal_measure_config *plain,
                                          const pcal_report_config *config,
                                          const page_specs *specs, int null,
                                          pcal_results *drawn, pcal_error *err) {
  const char *missing[PAGE_FIGURES_SPECS];
  pcal_measure_config with_intervals = *plain;
  pcal_results *results = NULL;
  with_intervals.specs = missing;
  with_intervals.spec_count = page_figures_missing(specs, drawn, null, missing);
  with_intervals.curves = 0;
  with_intervals.interval = config->interval;
  with_intervals.replicas = config->replicas;
  with_intervals.null = null;
  with_intervals.by_cluster = report->by_cluster;
  if (with_intervals.spec_count == 0 || !(config->interval > 0))
    return PCAL_OK;
  const pcal_status status =
      pc_measure_together(source, &with_intervals, &report->env, &results, err);
  if (status == PCAL_OK)
    page_figures_borrow(drawn, results, 1);
  pc_results_free(results);
  return status;
}

static pcal_status page_figures_measure(pcal_report *report, pcal_source *source,
                                        const pcal_report_config *config,
                                        const page_specs *specs, pc_page_time time,
                                        pcal_error *err) {
  pcal_results **drawn = &report->side[time].drawn;
  pcal_measure_config plain = PCAL_MEASURE_CONFIG_INIT;
  plain.specs = specs->all;
  plain.spec_count = specs->count;
  plain.normalize = config->normalize && time == PC_PAGE_BEFORE;
  plain.skip_missing = config->skip_missing;
  plain.curves = 1;
  plain.by_cluster = report->by_cluster;
  plain.interval = report->by_cluster ? config->interval : 0; /* clusters need a level */
  plain.replicas = config->replicas;
  if (specs->count == 0)
    return PCAL_OK;
  PC_TRY(pc_measure_together(source, &plain, &report->env, drawn, err));
  page_figures_borrow(*drawn, report->side[time].key, 0);
  for (int null = 0; null < 2; null++)
    PC_TRY(page_figures_intervals(report, source, &plain, config, specs, null, *drawn, err));
  return PCAL_OK;
}

pcal_status pc_page_measure_figures(pcal_report *report, pcal_source *source,
                                    const pcal_report_config *config, pc_page_time time,
                                    pcal_error *err) {
  const pc_layout *layout = &report->side[time].key->layout;
  page_specs *specs = pc_alloc(&report->env, 1, sizeof *specs);
  pc_figure_request *request = pc_alloc(&report->env, 1, sizeof *request);
  pcal_status status = PCAL_OK;
  if (specs == NULL || request == NULL)
    status = pc_fail_memory(err, "making a report");
  if (status == PCAL_OK)
    status = page_specs_fill(specs, report, layout, request, err);
  if (status == PCAL_OK)
    status = page_figures_measure(report, source, config, specs, time, err);
  pc_free(&report->env, request);
  pc_free(&report->env, specs);
  return status;
}

/* ---- drawing ---- */

static pcal_status page_figures_draw(const pcal_report *report, const pc_figure_row *row,
                                     pc_page_time time, pc_text *svg, pcal_error *err) {
  const pcal_results *shown = report->side[time].drawn;
  const pcal_results *before =
      time == PC_PAGE_AFTER ? report->side[PC_PAGE_BEFORE].drawn : NULL;
  pc_figure figure;
  pc_figure_init(&figure,
                 report->preset == NULL ? PAGE_FIGURES_WIDTH : report->preset->figure_width,
                 report->preset == NULL ? 0 : report->preset->figure_height, &report->env);
  figure.in_page = 1;
  pcal_status status = pc_figure_from_pair(page_figures_spec(row), shown, before, &figure, err);
  if (status == PCAL_OK)
    status = pc_svg_write(&figure, PCAL_THEME_PAGE, svg, err);
  pc_figure_free(&figure);
  return status == PCAL_USAGE || status == PCAL_DATA ? PCAL_OK : status;
}

static pcal_status page_figures_one(pcal_report *report, const pc_figure_row *row,
                                    pcal_error *err) {
  pc_page_figure *figure = &report->figures[report->figure_count++];
  figure->row = &row->row;
  pc_text_init(&figure->svg[PC_PAGE_BEFORE], &report->env);
  pc_text_init(&figure->svg[PC_PAGE_AFTER], &report->env);
  for (int time = PC_PAGE_BEFORE; time <= PC_PAGE_AFTER; time++)
    if (report->side[time].drawn != NULL)
      PC_TRY(page_figures_draw(report, row, (pc_page_time)time, &figure->svg[time], err));
  if (figure->svg[PC_PAGE_BEFORE].length == 0 && figure->svg[PC_PAGE_AFTER].length == 0)
    report->figure_count--; /* both texts are empty */
  return PCAL_OK;
}

static pcal_status page_figures_all(pcal_report *report, pc_figure_request *request,
                                    pcal_error *err) {
  const pc_layout *layout = &report->side[PC_PAGE_BEFORE].key->layout;
  const pc_figure_row *row;
  for (size_t i = 0; (row = page_figures_at(report, i)) != NULL; i++) {
    PC_TRY(page_figures_request(&report->env, row, layout, request, err));
    if (request->spec_count > 0)
      PC_TRY(page_figures_one(report, row, err));
  }
  return PCAL_OK;
}

pcal_status pc_page_draw(pcal_report *report, pcal_error *err) {
  pc_figure_request *request = pc_alloc(&report->env, 1, sizeof *request);
  report->figures = pc_alloc(&report->env, pc_figure_row_count(), sizeof *report->figures);
  const pcal_status status = request == NULL || report->figures == NULL
                                 ? pc_fail_memory(err, "making a report")
                                 : page_figures_all(report, request, err);
  pc_free(&report->env, request);
  return status;
}
