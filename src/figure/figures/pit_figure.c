/* Positions of targets in their predicted distributions: shares of rows in bins of equal width of
 * u = F(y), which are equal for a calibrated model.
 *
 * 1. By chance alone a bar ends between the two lines 95 times out of 100.
 * 2. After a calibrator the bars before it are drawn as steps. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/forecast_marks.h"
#include "figure/number_text.h"

enum { PIT_FIGURE_BINS };

static const pcal_option pit_figure_options[] = {
    {"bins", PCAL_OPTION_INT, "10", 2, 200, NULL, "number of bins of equal width"},
};

static const pc_look pit_figure_right = {.tone = PC_TONE_INK, .dashed = 1};
static const pc_look pit_figure_chance = {.tone = PC_TONE_INK, .size = 1};

static pcal_status pit_figure_request(const pc_options *options, const pc_layout *layout,
                                      pc_figure_request *request, pcal_error *err) {
  (void)layout;
  (void)err;
  pc_figure_request_metric(request, "pit:bins=%d", (int)options->value[PIT_FIGURE_BINS].number);
  return PCAL_OK;
}

static double pit_figure_most(const pc_plot_table *graph, double most) {
  const double *share = pc_graph_column(graph, "share");
  for (size_t b = 0; b < graph->count; b++)
    most = fmax(most, share[b]);
  return most;
}

static void pit_figure_bars(pc_figure *figure, const pc_plot_table *graph) {
  const double *low = pc_graph_column(graph, "low"), *high = pc_graph_column(graph, "high");
  const double *share = pc_graph_column(graph, "share"),
               *weight = pc_graph_column(graph, "weight");
  for (size_t b = 0; b < graph->count; b++) {
    const double gutter = 0.04 * (high[b] - low[b]);
    char rows[PC_NUMBER_TEXT_MAX], number[PC_NUMBER_TEXT_MAX], hint[3 * PC_NUMBER_TEXT_MAX];
    pc_count_text(weight[b], rows);
    pc_fixed_text(100 * share[b], 1, number);
    snprintf(hint, sizeof hint, "%s rows, %s %%", rows, number);
    if (share[b] > 0)
      pc_figure_bar(figure, 0, pc_forecast_look_now, (pc_point){low[b] + gutter, 0},
                    (pc_point){high[b] - gutter, share[b]}, hint);
  }
}

static void pit_figure_steps(pc_figure *figure, const pc_plot_table *graph) {
  const double *low = pc_graph_column(graph, "low"), *high = pc_graph_column(graph, "high");
  const double *share = pc_graph_column(graph, "share");
  for (size_t b = 0; b < graph->count; b++) {
    pc_figure_segment(figure, 0, pc_forecast_look_before, (pc_point){low[b], share[b]},
                      (pc_point){high[b], share[b]});
    if (b + 1 < graph->count)
      pc_figure_segment(figure, 0, pc_forecast_look_before, (pc_point){high[b], share[b]},
                        (pc_point){high[b], share[b + 1]});
  }
}

static pcal_status pit_figure_build(const pc_figure_data *data, pc_figure *figure,
                                    pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_result_record *record, *before = NULL;
  PC_TRY(pc_figure_record_with_curve(data, &data->shown, 0, &record, err));
  if (data->before != NULL)
    PC_TRY(pc_figure_record_with_curve(data, data->before, 0, &before, err));
  const double even = 1 / data->options->value[PIT_FIGURE_BINS].number;
  const double off = pc_forecast_marks_chance(even, data->shown.results->effective);
  double most = pit_figure_most(&record->outcome.graph, fmin(even + off, 1));
  most = before == NULL ? most : pit_figure_most(&before->outcome.graph, most);
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN,
                 "predicted probability of a value up to the target");
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, 1.06 * most, 6, PC_NUMBERS_PERCENT, "rows");
  pc_forecast_marks_heading(data, record, "Where targets fall in their predictions", figure);
  pc_figure_legend(figure, PC_SAMPLE_BAR, pc_forecast_look_now, "rows");
  if (before != NULL)
    pc_figure_legend(figure, PC_SAMPLE_LINE, pc_forecast_look_before, "before calibration");
  pc_figure_legend(figure, PC_SAMPLE_LINE, pit_figure_right, "calibrated");
  pc_figure_legend(figure, PC_SAMPLE_LINE, pit_figure_chance, "chance alone, 95%");
  pc_figure_lay_out(figure, &grid);
  pit_figure_bars(figure, &record->outcome.graph);
  for (int side = -1; side <= 1; side += 2) {
    const double y = fmax(even + side * off, 0);
    pc_figure_segment(figure, panel, pit_figure_chance, (pc_point){0, y}, (pc_point){1, y});
  }
  pc_figure_segment(figure, panel, pit_figure_right, (pc_point){0, even}, (pc_point){1, even});
  if (before != NULL)
    pit_figure_steps(figure, &before->outcome.graph);
  return PCAL_OK;
}

const pc_figure_row pc_figure_pit = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .task = PCAL_REGRESSION,
            .name = "pit",
            .title = "PIT histogram, for samples a rank histogram: where targets fall in their "
                     "predicted distributions",
            .formula = "bar b: share of rows with F(y) in bin b",
            .about =
                "Bars are equally high for a calibrated model. High ends and a low middle: "
                "predictions are too narrow; a hill: too wide; a slope: their means are "
                "off. With this number of rows, chance alone keeps bars between the two lines.",
            .citation = "Dawid (1984), Present position and potential developments: the "
                        "prequential approach; Gneiting, Balabdaoui & Raftery (2007), "
                        "Probabilistic forecasts, calibration and sharpness",
            .options = pit_figure_options,
            .option_count = sizeof pit_figure_options / sizeof *pit_figure_options,
        },
    .width = 640,
    .height = 440,
    .request = pit_figure_request,
    .build = pit_figure_build,
    .in_report = 10,
};
