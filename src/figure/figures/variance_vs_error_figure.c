/* Are errors as large as predicted?  Root mean squared error against root mean variance, in bins of
 * equal mass by predicted deviation.
 *
 * 1. If errors are normal with the predicted variances, a point lies in the band 95 times out of
 *    100: root (1 +- 1.96 / sqrt(2 n)), n the rows of a bin.
 * 2. Both axes have the same scale, from 0 on. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/forecast_marks.h"
#include "figure/number_text.h"

#define VARIANCE_ERROR_NORMAL 1.959963984540054

enum { VARIANCE_ERROR_BINS };

static const pcal_option variance_error_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 2, 200, NULL, "bins of equal mass"},
};

static pcal_status variance_error_request(const pc_options *options, const pc_layout *layout,
                                          pc_figure_request *request, pcal_error *err) {
  (void)layout;
  (void)err;
  pc_figure_request_metric(request, "ence:bins=%d",
                           (int)options->value[VARIANCE_ERROR_BINS].number);
  return PCAL_OK;
}

static double variance_error_most(const pc_plot_table *graph, double most) {
  const double *variance = pc_graph_column(graph, "variance"),
               *error = pc_graph_column(graph, "error");
  for (size_t b = 0; b < graph->count; b++)
    most = fmax(most, sqrt(fmax(variance[b], error[b])));
  return most;
}

static void variance_error_points(pc_figure *figure, pc_look look, const pc_plot_table *graph) {
  const double *variance = pc_graph_column(graph, "variance"),
               *error = pc_graph_column(graph, "error"),
               *weight = pc_graph_column(graph, "weight");
  pc_point last = {0, 0};
  for (size_t b = 0; b < graph->count; b++) {
    const pc_point here = {sqrt(variance[b]), sqrt(error[b])};
    char rows[PC_NUMBER_TEXT_MAX], x[PC_NUMBER_TEXT_MAX], y[PC_NUMBER_TEXT_MAX],
        hint[4 * PC_NUMBER_TEXT_MAX];
    pc_count_text(weight[b], rows);
    pc_short_text(here.x, x);
    pc_short_text(here.y, y);
    snprintf(hint, sizeof hint, "%s rows: predicted %s, error %s", rows, x, y);
    if (b > 0)
      pc_figure_segment(figure, 0, (pc_look){.tone = look.tone}, last, here);
    pc_figure_point(figure, 0, (pc_look){.tone = look.tone}, here, hint);
    last = here;
  }
}

static pcal_status variance_error_chance(pc_figure *figure, double most, double rows,
                                         pcal_error *err) {
  const double off = VARIANCE_ERROR_NORMAL / sqrt(2 * rows);
  const double x[] = {0, most / (1 + off), most};
  const double low[] = {0, fmax(1 - off, 0) * x[1], fmax(1 - off, 0) * most};
  const double high[] = {0, most, most};
  return pc_forecast_marks_band(figure, 0, x, low, high, 3, err);
}

static pcal_status variance_error_build(const pc_figure_data *data, pc_figure *figure,
                                        pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_result_record *record, *before = NULL;
  PC_TRY(pc_figure_record_with_curve(data, &data->shown, 0, &record, err));
  if (data->before != NULL)
    PC_TRY(pc_figure_record_with_curve(data, data->before, 0, &before, err));
  const pc_plot_table *graph = &record->outcome.graph;
  double most = variance_error_most(graph, 0);
  most = 1.05 * (before == NULL ? most : variance_error_most(&before->outcome.graph, most));
  most = most > 0 ? most : 1;
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, most, 6, PC_NUMBERS_PLAIN,
                 "predicted standard deviation");
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, most, 6, PC_NUMBERS_PLAIN,
                 "root mean squared error");
  pc_forecast_marks_heading(data, record, "Are errors as large as predicted?", figure);
  pc_figure_legend(figure, PC_SAMPLE_POINT, pc_forecast_look_now, "bins of equal mass");
  if (before != NULL)
    pc_figure_legend(figure, PC_SAMPLE_POINT, pc_forecast_look_before, "before calibration");
  pc_figure_legend(figure, PC_SAMPLE_LINE, pc_forecast_look_calibrated, "calibrated");
  pc_figure_legend(figure, PC_SAMPLE_BAR, pc_forecast_look_band, "chance alone, 95%");
  pc_figure_lay_out(figure, &grid);
  PC_TRY(variance_error_chance(
      figure, most, data->shown.results->effective / fmax((double)graph->count, 1), err));
  pc_figure_segment(figure, panel, pc_forecast_look_calibrated, (pc_point){0, 0},
                    (pc_point){most, most});
  if (before != NULL)
    variance_error_points(figure, pc_forecast_look_before, &before->outcome.graph);
  variance_error_points(figure, pc_forecast_look_now, graph);
  return PCAL_OK;
}

const pc_figure_row pc_figure_variance_vs_error = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .task = PCAL_REGRESSION,
            .name = "variance-vs-error",
            .title = "are errors as large as predicted?",
            .formula =
                "point b: root mean squared error over root mean variance of bin b, bins "
                "of equal mass by predicted standard deviation",
            .about = "Above the diagonal errors are larger than predicted: the model is too "
                     "sure. A flat line means that predicted variances say nothing about which "
                     "rows have large errors. The band shows the deviations that chance alone "
                     "causes if errors are normal.",
            .citation = "Levi, Gispan, Giladi & Fetaya (2022), Evaluating and calibrating "
                        "uncertainty prediction in regression tasks",
            .options = variance_error_options,
            .option_count = sizeof variance_error_options / sizeof *variance_error_options,
        },
    .width = 560,
    .height = 580,
    .request = variance_error_request,
    .build = variance_error_build,
    .in_report = 12,
};
