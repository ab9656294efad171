/* Share of targets inside central intervals, against the level of the intervals; and share of
 * targets up to quantiles, against their levels.
 *
 * 1. Of predicted quantiles only their own levels and central intervals are known: these are
 *    points.
 * 2. Chance alone stays inside the band 95 times out of 100. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/forecast_marks.h"
#include "figure/number_text.h"

#define COVERAGE_FIGURE_STEPS 100
#define COVERAGE_FIGURE_FEW 12 /* levels that are drawn as points */

static pcal_status coverage_figure_request(const pc_options *options, const pc_layout *layout,
                                           pc_figure_request *request, pcal_error *err) {
  (void)options;
  (void)layout;
  (void)err;
  pc_figure_request_metric(request, "coverage");
  return PCAL_OK;
}

static pcal_status quantile_figure_request(const pc_options *options, const pc_layout *layout,
                                           pc_figure_request *request, pcal_error *err) {
  (void)options;
  (void)layout;
  (void)err;
  pc_figure_request_metric(request, "quantile-ce");
  return PCAL_OK;
}

static void coverage_figure_points(pc_figure *figure, pc_look look,
                                   const pc_plot_table *graph) {
  const double *level = pc_graph_column(graph, "level"),
               *share = pc_graph_column(graph, "share");
  for (size_t i = 0; i < graph->count && graph->count <= COVERAGE_FIGURE_FEW; i++) {
    char claimed[PC_NUMBER_TEXT_MAX], held[PC_NUMBER_TEXT_MAX], hint[3 * PC_NUMBER_TEXT_MAX];
    pc_fixed_text(100 * level[i], 1, claimed);
    pc_fixed_text(100 * share[i], 1, held);
    snprintf(hint, sizeof hint, "%s %% claimed, %s %% observed", claimed, held);
    pc_figure_point(figure, 0, (pc_look){.tone = look.tone}, (pc_point){level[i], share[i]},
                    hint);
  }
}

/* Draws the line from (0, 0) through all levels to (1, 1). */
static pcal_status coverage_figure_line(pc_figure *figure, pc_look look,
                                        const pc_plot_table *graph, pcal_error *err) {
  const double *level = pc_graph_column(graph, "level"),
               *share = pc_graph_column(graph, "share");
  pc_point *points = pc_alloc(figure->env, graph->count + 2, sizeof *points);
  if (points == NULL)
    return pc_fail_memory(err, "drawing coverage");
  for (size_t i = 0; i < graph->count; i++)
    points[1 + i] = (pc_point){level[i], share[i]};
  points[graph->count + 1] = (pc_point){1, 1};
  const int whole = graph->count > COVERAGE_FIGURE_FEW;
  pc_figure_line(figure, 0, look, points + !whole, graph->count + (whole ? 2 : 0));
  pc_free(figure->env, points);
  coverage_figure_points(figure, look, graph);
  return PCAL_OK;
}

static pcal_status coverage_figure_chance(pc_figure *figure, double rows, pcal_error *err) {
  double x[COVERAGE_FIGURE_STEPS + 1], low[COVERAGE_FIGURE_STEPS + 1],
      high[COVERAGE_FIGURE_STEPS + 1];
  for (size_t i = 0; i <= COVERAGE_FIGURE_STEPS; i++) {
    x[i] = (double)i / COVERAGE_FIGURE_STEPS;
    low[i] = x[i] - pc_forecast_marks_chance(x[i], rows);
    high[i] = x[i] + pc_forecast_marks_chance(x[i], rows);
  }
  return pc_forecast_marks_band(figure, 0, x, low, high, COVERAGE_FIGURE_STEPS + 1, err);
}

/* The words of a figure. */
typedef struct coverage_words {
  const char *title, *level, *share;
} coverage_words;

static pcal_status coverage_figure_draw(const pc_figure_data *data, const coverage_words *words,
                                        pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_result_record *record, *before = NULL;
  PC_TRY(pc_figure_record_with_curve(data, &data->shown, 0, &record, err));
  if (data->before != NULL)
    PC_TRY(pc_figure_record_with_curve(data, data->before, 0, &before, err));
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PERCENT, words->level);
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, 1, 6, PC_NUMBERS_PERCENT, words->share);
  pc_forecast_marks_heading(data, record, words->title, figure);
  pc_figure_legend(figure, PC_SAMPLE_LINE, pc_forecast_look_now, words->share);
  if (before != NULL)
    pc_figure_legend(figure, PC_SAMPLE_LINE, pc_forecast_look_before, "before calibration");
  pc_figure_legend(figure, PC_SAMPLE_LINE, pc_forecast_look_calibrated, "calibrated");
  pc_figure_legend(figure, PC_SAMPLE_BAR, pc_forecast_look_band, "chance alone, 95%");
  pc_figure_lay_out(figure, &grid);
  PC_TRY(coverage_figure_chance(figure, data->shown.results->effective, err));
  pc_figure_segment(figure, panel, pc_forecast_look_calibrated, (pc_point){0, 0},
                    (pc_point){1, 1});
  if (before != NULL)
    PC_TRY(coverage_figure_line(figure, pc_forecast_look_before, &before->outcome.graph, err));
  return coverage_figure_line(figure, pc_forecast_look_now, &record->outcome.graph, err);
}

static pcal_status coverage_figure_build(const pc_figure_data *data, pc_figure *figure,
                                         pcal_error *err) {
  static const coverage_words words = {"Coverage of predicted intervals",
                                       "claimed by the central interval", "targets inside"};
  return coverage_figure_draw(data, &words, figure, err);
}

static pcal_status quantile_figure_build(const pc_figure_data *data, pc_figure *figure,
                                         pcal_error *err) {
  static const coverage_words words = {"Reliability of predicted quantiles",
                                       "level of the predicted quantile",
                                       "targets up to the quantile"};
  return coverage_figure_draw(data, &words, figure, err);
}

const pc_figure_row pc_figure_quantile_reliability = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .task = PCAL_REGRESSION,
            .name = "quantile-reliability",
            .title = "reliability of predicted quantiles",
            .formula = "share of rows whose target is at most the predicted quantile, over its "
                       "level",
            .about = "On the diagonal for a calibrated model. Flatter than the diagonal: "
                     "predictions are too narrow; steeper: too wide; wholly above or below it: "
                     "they are too high or too low. The band shows the deviations that chance "
                     "alone causes with this number of rows. Predicted quantiles are drawn at "
                     "their own levels.",
            .citation = "Bremnes (2004), Probabilistic forecasts of precipitation in terms of "
                        "quantiles; Kuleshov, Fenner & Ermon (2018)",
        },
    .width = 560,
    .height = 580,
    .request = quantile_figure_request,
    .build = quantile_figure_build,
};

const pc_figure_row pc_figure_coverage = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .task = PCAL_REGRESSION,
            .name = "coverage",
            .title = "coverage of predicted intervals",
            .formula =
                "share of rows whose target lies in the central interval, over its level",
            .about = "Below the diagonal, intervals contain the target less often than they "
                     "claim: predictions are too narrow. The band shows the deviations that "
                     "chance alone causes with this number of rows. Quantiles are drawn at "
                     "their own central intervals.",
            .citation = "Gneiting, Balabdaoui & Raftery (2007), Probabilistic forecasts, "
                        "calibration and sharpness; Kuleshov, Fenner & Ermon (2018)",
        },
    .width = 560,
    .height = 580,
    .request = coverage_figure_request,
    .build = coverage_figure_build,
    .in_report = 11,
};
