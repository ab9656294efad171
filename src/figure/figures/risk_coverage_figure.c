/* Risk-coverage curve: the share of errors among the most confident rows, against their share.
 *
 * 1. The curve has a point for each threshold of confidence; rows of equal confidence are accepted
 *    together.
 * 2. References: errors if the rows were accepted at random, and in an ideal order, all errors
 *    last.
 * 3. The band is the interval of selective-risk at twenty coverages; with several models only
 *    lines are drawn. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/figure_registry.h"
#include "figure/number_text.h"
#include "figure/stat_box.h"

#define RISK_STEPS 20
#define RISK_IDEAL_POINTS 100
#define RISK_STATS 3

/* Requested metrics: aurc and two more, then selective-risk at RISK_STEPS coverages. */
enum { RISK_AURC, RISK_AUGRC, RISK_AUROC, RISK_FIRST };

static const pc_look risk_random = {.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5};
static const pc_look risk_ideal = {.tone = PC_TONE_MUTED, .size = 1.5};
static const pc_look risk_band_look = {.tone = PC_TONE_A, .wash = 1};

static double risk_coverage(size_t step) {
  return (double)(step + 1) / RISK_STEPS;
}

static pcal_status risk_request(const pc_options *options, const pc_layout *layout,
                                pc_figure_request *request, pcal_error *err) {
  char number[PC_NUMBER_MAX];
  (void)options;
  (void)layout;
  (void)err;
  pc_figure_request_metric(request, "aurc");
  pc_figure_request_metric(request, "augrc");
  pc_figure_request_metric(request, "failure-auroc");
  for (size_t i = 0; i < RISK_STEPS; i++)
    pc_figure_request_metric(request, "selective-risk:coverage=%s",
                             pc_show(risk_coverage(i), number));
  request->interval = 1;
  return PCAL_OK;
}

/* The share of errors of all rows: the last point of the curve. */
static double risk_of_all(const pc_result_record *record) {
  const pc_plot_table *graph = &record->outcome.graph;
  return pc_graph_column(graph, "risk")[graph->count - 1];
}

static pcal_status risk_line(pc_figure *figure, const pc_result_record *record, pc_look look,
                             pcal_error *err) {
  const pc_plot_table *graph = &record->outcome.graph;
  const double *coverage = pc_graph_column(graph, "coverage"),
               *risk = pc_graph_column(graph, "risk");
  pc_point *points = pc_alloc(figure->env, graph->count + 1, sizeof *points);
  if (points == NULL)
    return pc_fail_memory(err, "drawing a risk-coverage curve");
  for (size_t i = 0; i < graph->count; i++)
    points[i] = (pc_point){coverage[i], risk[i]};
  if (graph->count > 1)
    pc_figure_line(figure, 0, look, points, graph->count);
  else
    pc_figure_point(figure, 0, look, points[0], NULL);
  pc_free(figure->env, points);
  return PCAL_OK;
}

static void risk_references(pc_figure *figure, double errors) {
  pc_point points[RISK_IDEAL_POINTS + 2];
  size_t used = 0;
  points[used++] = (pc_point){0, 0};
  for (size_t i = 0; i <= RISK_IDEAL_POINTS; i++) {
    const double x = 1 - errors * (1 - (double)i / RISK_IDEAL_POINTS);
    points[used++] = (pc_point){x, x > 0 ? fmax(x - 1 + errors, 0) / x : 1};
  }
  pc_figure_line(figure, 0, risk_ideal, points, used);
  pc_figure_segment(figure, 0, risk_random, (pc_point){0, errors}, (pc_point){1, errors});
}

static void risk_band(pc_figure *figure, const pc_figure_data *data, double highest) {
  pc_point outline[2 * RISK_STEPS];
  for (size_t i = 0; i < RISK_STEPS; i++) {
    const pc_result_record *record = data->shown.requested[RISK_FIRST + i];
    if (record == NULL || !record->interval_result.has_interval)
      return;
    outline[i] = (pc_point){risk_coverage(i), fmin(record->interval_result.low, highest)};
    outline[2 * RISK_STEPS - 1 - i] =
        (pc_point){risk_coverage(i), fmin(record->interval_result.high, highest)};
  }
  pc_figure_band(figure, 0, risk_band_look, outline, 2 * RISK_STEPS);
}

/* The highest risk beyond the first twentieth of the rows, where few rows decide. */
static double risk_highest(const pc_result_record *record) {
  const pc_plot_table *graph = &record->outcome.graph;
  const double *coverage = pc_graph_column(graph, "coverage"),
               *risk = pc_graph_column(graph, "risk");
  double highest = 0;
  for (size_t i = 0; i < graph->count; i++)
    if (coverage[i] >= risk_coverage(0))
      highest = fmax(highest, risk[i]);
  return highest;
}

static pc_look risk_model_look(size_t model) {
  return pc_series_look(model, 2.5);
}

static void risk_legend(pc_figure *figure, const pc_figure_data *data) {
  const pc_result_record *first = data->shown.requested[RISK_FIRST];
  for (size_t m = 0; m < data->model_count; m++)
    pc_figure_legend(figure, PC_SAMPLE_LINE, risk_model_look(m), data->named[m].name);
  if (data->model_count == 0)
    pc_figure_legend(figure, PC_SAMPLE_LINE, risk_model_look(0), "model");
  if (data->model_count == 0 && first != NULL && first->interval_result.has_interval) {
    char text[PC_NUMBER_TEXT_MAX];
    pc_level_text(first->interval_result.level, "interval", text);
    pc_figure_legend(figure, PC_SAMPLE_BAR, risk_band_look, text);
  }
  pc_figure_legend(figure, PC_SAMPLE_LINE, risk_random, "random order");
  pc_figure_legend(figure, PC_SAMPLE_LINE, risk_ideal, "ideal order");
}

static void risk_stats(const pc_figure_data *data, pc_figure *figure) {
  static const char *const names[RISK_STATS] = {"AURC", "AUGRC", "failure AUROC"};
  pc_stat stats[RISK_STATS];
  size_t count = 0;
  for (size_t i = 0; i < RISK_STATS && data->model_count == 0; i++) {
    const pc_result_record *record = data->shown.requested[i];
    if (record == NULL || record->outcome.undefined)
      continue;
    stats[count].name = names[i];
    pc_fixed_text(record->outcome.value, 4, stats[count++].value);
  }
  pc_figure_stat_box(figure, 0, stats, count);
}

static pcal_status risk_build(const pc_figure_data *data, pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_result_record *record;
  PC_TRY(pc_figure_record_with_curve(data, &data->shown, RISK_AURC, &record, err));
  double highest = fmax(risk_highest(record), risk_of_all(record));
  for (size_t m = 0; m < data->model_count; m++) {
    const pc_result_record *other;
    PC_TRY(pc_figure_record_with_curve(data, &data->models[m], RISK_AURC, &other, err));
    highest = fmax(highest, risk_highest(other));
  }
  highest = highest > 0 ? 1.25 * highest : 1;
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PERCENT,
                 "coverage: share of rows answered, the most confident first");
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, fmin(highest, 1), 6, PC_NUMBERS_PERCENT,
                 "risk: share of errors among them");
  figure->title = pc_figure_add_string(figure, "Risk and coverage");
  pc_figure_set_subtitle(figure, data->shown.results, NULL);
  figure->description = figure->subtitle;
  risk_legend(figure, data);
  pc_figure_lay_out(figure, &grid);
  if (data->model_count == 0)
    risk_band(figure, data, fmin(highest, 1));
  risk_references(figure, risk_of_all(record));
  for (size_t m = 0; m < data->model_count; m++)
    PC_TRY(risk_line(figure, data->models[m].requested[RISK_AURC], risk_model_look(m), err));
  if (data->model_count == 0)
    PC_TRY(risk_line(figure, record, risk_model_look(0), err));
  risk_stats(data, figure);
  return pc_figure_status(figure, err);
}

const pc_figure_row pc_figure_risk_coverage = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "risk-coverage",
            .title = "errors among the most confident rows",
            .formula =
                "x = share of rows whose confidence is at least a threshold, y = share of "
                "errors among them",
            .about =
                "The further the curve lies below the dashed line, the better the confidence "
                "separates correct rows from wrong ones; no order lies below the ideal one. "
                "Read off how many rows can be answered with an acceptable share of errors. "
                "The band is the interval at each coverage.",
            .citation =
                "Geifman & El-Yaniv, Selective classification for deep neural networks, "
                "NeurIPS 2017",
        },
    .width = 640,
    .height = 500,
    .request = risk_request,
    .build = risk_build,
    .several = 1,
};
