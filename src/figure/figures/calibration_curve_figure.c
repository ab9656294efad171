/* Smooth calibration curve with its band, beside binned points and the scores of both outcomes.
 *
 * Upper panel: the curve of ici (metrics/smooth_calibration.h) with a band of 95 % at each score,
 * and bins of equal mass with Wilson intervals.  Lower panel: the distribution of the scores of
 * rows with the event (up) and without it (down), each as shares of its own rows.
 *
 * 1. The curve is drawn between the lowest and the highest score.
 * 2. A fit without a band (smooth_calibration.c) has the curve alone.
 * 3. Two classes in two columns are judged by class 1, as by ici. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/forecast_marks.h"
#include "figure/number_text.h"
#include "figure/reliability_marks.h"
#include "figure/stat_box.h"

#define CURVE_FIGURE_BARS 50
#define CURVE_FIGURE_GUTTER 0.1

enum { CURVE_KNOTS, CURVE_BINS, CURVE_VIEW };
/* Requested metrics. */
enum { CURVE_ICI, CURVE_POINTS, CURVE_SHARES, CURVE_AUC, CURVE_INTERCEPT, CURVE_SLOPE };

static const pcal_option curve_options[] = {
    {"knots", PCAL_OPTION_INT, "4", 3, 7, NULL, "knots of the spline, as in ici"},
    {"bins", PCAL_OPTION_INT, "10", 1, 100, NULL, "points: bins of equally many rows"},
    {"view", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|positive",
     "class 1 of two (positive), or the predicted class (top); auto is positive for two "
     "classes, else top"},
};

static const pc_look curve_look = {.tone = PC_TONE_A, .size = 2.5};
static const pc_look curve_band_look = {.tone = PC_TONE_A, .wash = 1};
static const pc_look curve_event_look = {.tone = PC_TONE_A};
static const pc_look curve_other_look = {.tone = PC_TONE_FILL};

static pcal_status curve_request(const pc_options *options, const pc_layout *layout,
                                 pc_figure_request *request, pcal_error *err) {
  char view[16];
  (void)err;
  pc_options_word(options, CURVE_VIEW, view, sizeof view);
  if (options->value[CURVE_VIEW].choice == PC_CHOICE_AUTO)
    snprintf(view, sizeof view, "%s", layout->classes == 2 ? "positive" : "top");
  pc_figure_request_metric(request, "ici:knots=%d,view=%s",
                           (int)options->value[CURVE_KNOTS].number, view);
  pc_figure_request_metric(request, "ece:bins=%d,binning=mass,view=%s",
                           (int)options->value[CURVE_BINS].number, view);
  pc_figure_request_metric(request, "ece:bins=%d,view=%s", CURVE_FIGURE_BARS, view);
  pc_figure_request_metric(request, "auc:view=%s", view);
  pc_figure_request_metric(request, "calibration-intercept:view=%s", view);
  pc_figure_request_metric(request, "calibration-slope:view=%s", view);
  request->interval = 1;
  return PCAL_OK;
}

static pcal_status curve_line(pc_figure *figure, size_t panel, const pc_plot_table *graph,
                              pcal_error *err) {
  const double *score = pc_graph_column(graph, "score"),
               *rate = pc_graph_column(graph, "frequency");
  const double *low = pc_graph_column(graph, "low"), *high = pc_graph_column(graph, "high");
  pc_point *points = pc_alloc(figure->env, 2 * graph->count, sizeof *points);
  if (points == NULL)
    return pc_fail_memory(err, "drawing a calibration curve");
  for (size_t i = 0; i < graph->count; i++) {
    points[i] = (pc_point){score[i], low[i]};
    points[2 * graph->count - 1 - i] = (pc_point){score[i], high[i]};
  }
  if (!isnan(low[0]))
    pc_figure_band(figure, panel, curve_band_look, points, 2 * graph->count);
  pc_figure_segment(figure, panel, pc_forecast_look_calibrated, (pc_point){0, 0},
                    (pc_point){1, 1});
  for (size_t i = 0; i < graph->count; i++)
    points[i] = (pc_point){score[i], rate[i]};
  pc_figure_line(figure, panel, curve_look, points, graph->count);
  pc_free(figure->env, points);
  return PCAL_OK;
}

static void curve_bins(pc_figure *figure, size_t panel, const pc_bin_list *bins,
                       const pc_reliability_texts *texts) {
  pc_text hint;
  pc_text_init(&hint, figure->env);
  for (size_t i = 0; i < bins->count; i++) {
    const pcal_bin *bin = &bins->bins[i];
    double low, high;
    if (!(bin->weight > 0))
      continue;
    pc_wilson_interval(bin->frequency, bin->weight, pc_level_quantile(0.95), &low, &high);
    pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_MUTED, .size = 1.5},
                      (pc_point){bin->confidence, low}, (pc_point){bin->confidence, high});
    pc_reliability_hint(bin, texts, &hint);
    pc_figure_point(figure, panel, (pc_look){.tone = PC_TONE_INK, .size = 3.5},
                    (pc_point){bin->confidence, bin->frequency},
                    hint.failed ? NULL : hint.bytes);
  }
  figure->failed |= hint.failed;
  pc_text_free(&hint);
}

/* Rows of a bin with the event and without it. */
static void curve_counts(const pcal_bin *bin, double out[2]) {
  out[1] = bin->weight > 0 ? bin->weight * bin->frequency : 0.0;
  out[0] = bin->weight > 0 ? bin->weight - out[1] : 0.0;
}

static void curve_totals(const pc_bin_list *bars, double total[2], double *highest) {
  double counts[2];
  total[0] = total[1] = *highest = 0.0;
  for (size_t i = 0; i < bars->count; i++) {
    curve_counts(&bars->bins[i], counts);
    total[0] += counts[0];
    total[1] += counts[1];
  }
  for (size_t i = 0; i < bars->count; i++) {
    curve_counts(&bars->bins[i], counts);
    for (int k = 0; k < 2; k++)
      *highest = fmax(*highest, total[k] > 0 ? counts[k] / total[k] : 0.0);
  }
}

static void curve_shares(pc_figure *figure, size_t panel, const pc_bin_list *bars,
                         const double total[2]) {
  for (size_t i = 0; i < bars->count; i++) {
    const pcal_bin *bin = &bars->bins[i];
    const double gutter = CURVE_FIGURE_GUTTER * (bin->high - bin->low);
    double counts[2];
    curve_counts(bin, counts);
    for (int k = 0; k < 2; k++) {
      char rows[PC_NUMBER_TEXT_MAX], hint[3 * PC_NUMBER_TEXT_MAX];
      if (!(counts[k] > 0))
        continue;
      pc_count_text(counts[k], rows);
      snprintf(hint, sizeof hint, "%s rows %s the event", rows, k ? "with" : "without");
      pc_figure_bar(figure, panel, k ? curve_event_look : curve_other_look,
                    (pc_point){bin->low + gutter, 0},
                    (pc_point){bin->high - gutter, (k ? 1 : -1) * counts[k] / total[k]}, hint);
    }
  }
  pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_MUTED}, (pc_point){0, 0},
                    (pc_point){1, 0});
}

static void curve_axes(pc_figure *figure, const size_t panels[2], double highest,
                       const pc_reliability_texts *texts) {
  pc_figure_axis(figure, panels[0], PC_SIDE_X, 0, 1, 6, PC_NUMBERS_NONE, NULL);
  pc_figure_axis(figure, panels[0], PC_SIDE_Y, 0, 1, 6, PC_NUMBERS_PLAIN, texts->y_label);
  pc_figure_axis(figure, panels[1], PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, texts->x_label);
  pc_figure_axis(figure, panels[1], PC_SIDE_Y, -1.05 * highest, 1.05 * highest, 0,
                 PC_NUMBERS_NONE, "scores");
}

static void curve_legend(pc_figure *figure, int positive) {
  pc_figure_legend(figure, PC_SAMPLE_LINE, curve_look, "smooth curve");
  pc_figure_legend(figure, PC_SAMPLE_BAR, curve_band_look, "95% band");
  pc_figure_legend(figure, PC_SAMPLE_INTERVAL, (pc_look){.tone = PC_TONE_INK},
                   "bin with 95% interval");
  pc_figure_legend(figure, PC_SAMPLE_LINE, pc_forecast_look_calibrated, "perfect calibration");
  pc_figure_legend_break(figure);
  pc_figure_legend(figure, PC_SAMPLE_BAR, curve_event_look,
                   positive ? "scores of class 1 (up)" : "scores of correct rows (up)");
  pc_figure_legend(figure, PC_SAMPLE_BAR, curve_other_look,
                   positive ? "scores of class 0 (down)" : "scores of wrong rows (down)");
}

static void curve_stats(const pc_figure_data *data, pc_figure *figure, size_t panel) {
  static const struct {
    size_t requested;
    const char *name;
  } shown[] = {{CURVE_SLOPE, "slope"},
               {CURVE_INTERCEPT, "intercept"},
               {CURVE_ICI, "ICI"},
               {CURVE_AUC, "AUC"}};
  pc_stat stats[sizeof shown / sizeof *shown];
  size_t count = 0;
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
    const pc_result_record *record = data->shown.requested[shown[i].requested];
    char value[PC_NUMBER_TEXT_MAX], range[PC_NUMBER_TEXT_MAX];
    if (record == NULL || record->outcome.undefined)
      continue;
    pc_fixed_text(record->outcome.value, shown[i].requested == CURVE_ICI ? 3 : 2, value);
    pc_range_text(record->interval_result.low, record->interval_result.high, range);
    stats[count].name = shown[i].name;
    snprintf(stats[count].value, sizeof stats[count].value,
             record->interval_result.has_interval ? "%.16s (%.40s)" : "%.16s", value, range);
    count++;
  }
  pc_figure_stat_box(figure, panel, stats, count);
}

static pcal_status curve_draw(const pc_figure_data *data, const pc_bin_list *points,
                              const pc_bin_list *bars, pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 2, .row_share = {4, 1}};
  const pc_result_record *ici = data->shown.requested[CURVE_ICI];
  const int positive = ici->view.kind == PC_VIEW_CLASS;
  const pc_reliability_texts *texts = pc_reliability_texts_of(positive);
  double total[2], highest;
  const size_t panels[2] = {pc_figure_grid_panel(figure, 0, 0, NULL),
                            pc_figure_grid_panel(figure, 0, 1, NULL)};
  curve_totals(bars, total, &highest);
  curve_axes(figure, panels, highest, texts);
  figure->title = pc_figure_add_string(figure, positive ? "Calibration of the probability of "
                                                          "class 1"
                                                        : "Calibration of the predicted class");
  pc_figure_set_subtitle(figure, data->shown.results, NULL);
  figure->description = figure->subtitle;
  curve_legend(figure, positive);
  pc_figure_lay_out(figure, &grid);
  PC_TRY(curve_line(figure, panels[0], &ici->outcome.graph, err));
  curve_bins(figure, panels[0], points, texts);
  curve_shares(figure, panels[1], bars, total);
  curve_stats(data, figure, panels[0]);
  return pc_figure_status(figure, err);
}

static pcal_status curve_build(const pc_figure_data *data, pc_figure *figure, pcal_error *err) {
  const pc_result_record *records[3];
  pc_bin_list points = {NULL, 0}, bars = {NULL, 0};
  for (size_t i = CURVE_ICI; i <= CURVE_SHARES; i++)
    PC_TRY(pc_figure_record_with_curve(data, &data->shown, i, &records[i], err));
  pcal_status status = pc_bin_list_read(figure->env, &records[CURVE_POINTS]->outcome.graph,
                                        SIZE_MAX, &points, err);
  if (status == PCAL_OK)
    status = pc_bin_list_read(figure->env, &records[CURVE_SHARES]->outcome.graph, SIZE_MAX,
                              &bars, err);
  if (status == PCAL_OK)
    status = curve_draw(data, &points, &bars, figure, err);
  pc_bin_list_free(figure->env, &points);
  pc_bin_list_free(figure->env, &bars);
  return status;
}

const pc_figure_row pc_figure_calibration_curve = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "calibration-curve",
            .title = "smooth calibration curve with a band",
            .formula = "curve: logistic regression of the outcome on a restricted cubic spline "
                       "of logit p, with its pointwise 95 % band\n"
                       "points: bins of equally many rows, with Wilson intervals\n"
                       "lower panel: scores of rows with the event (up) and without it (down)",
            .about = "Shows where probabilities are too high (curve below the diagonal) and "
                     "where too low, without bins: with a few hundred rows fifteen bins show "
                     "mostly chance. Trust the curve where the band is narrow and the lower "
                     "panel has rows. The corner shows slope, intercept, ICI and AUC.",
            .citation = "Austin & Steyerberg, Statistics in Medicine 2014; Van Calster et al., "
                        "BMC Medicine 2019",
            .options = curve_options,
            .option_count = sizeof curve_options / sizeof *curve_options,
        },
    .width = 640,
    .height = 760,
    .request = curve_request,
    .build = curve_build,
};
