/* The error of each class as a bar, worst first, with the mean over classes.
 *
 * 1. At most `show` classes are drawn, the worst.
 * 2. One column of scores, and confidences, are refused: they have no classes to distinguish.
 * 3. Chance is drawn for bins of equal width (sce, cwce), mean and 1.96 standard deviations: in
 *    bins of equal mass scores differ too much for a formula. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure/class_chance.h"
#include "figure/class_order.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"

#define CLASS_ERRORS_BAR 0.36
#define CLASS_ERRORS_95 1.959963984540054

enum { CLASS_ERRORS_METRIC, CLASS_ERRORS_BINS, CLASS_ERRORS_SHOW };

static const pcal_option class_errors_options[] = {
    {"metric", PCAL_OPTION_CHOICE, "sce", 0, 0, "ace|sce|tace|cwce",
     "the error over classes whose parts are shown; sce and cwce with the level of chance"},
    {"bins", PCAL_OPTION_INT, "15", 1, 1000, NULL, "number of bins"},
    {"show", PCAL_OPTION_INT, "20", 1, 200, NULL, "bars at most"},
};

static const pc_look class_errors_line = {.tone = PC_TONE_MUTED, .size = 1.5, .dashed = 1};
static const pc_look class_errors_chance_look = {.tone = PC_TONE_INK, .size = 3.5};

/* True for metrics with bins of equal width. */
static int class_errors_has_chance(const pc_options *options) {
  char metric[16];
  pc_options_word(options, CLASS_ERRORS_METRIC, metric, sizeof metric);
  return strcmp(metric, "sce") == 0 || strcmp(metric, "cwce") == 0;
}

static pc_chance_ece class_errors_chance(const pc_figure_data *data, size_t class) {
  if (!class_errors_has_chance(data->options))
    return (pc_chance_ece){NAN, NAN};
  return pc_class_chance(data->shown.results, data->shown.requested[0], class);
}

static pcal_status class_errors_request(const pc_options *options, const pc_layout *layout,
                                        pc_figure_request *request, pcal_error *err) {
  char metric[16];
  PC_TRY(pc_figure_needs_classes("class-errors", layout, err));
  pc_figure_request_metric(request, "%s:bins=%d",
                           pc_options_word(options, CLASS_ERRORS_METRIC, metric, sizeof metric),
                           (int)options->value[CLASS_ERRORS_BINS].number);
  return PCAL_OK;
}

static double class_errors_mean(const pc_metric_result *outcome) {
  double sum = 0;
  size_t count = 0;
  for (size_t c = 0; c < outcome->class_count; c++)
    if (isfinite(outcome->class_values[c])) {
      sum += outcome->class_values[c];
      count++;
    }
  return count > 0 ? sum / (double)count : 0;
}

static void class_errors_axes(const pc_figure_data *data, const pc_metric_result *outcome,
                              const pc_class_order *order, double mean, pc_figure *figure) {
  char buffer[32], label[PC_NUMBER_TEXT_MAX], metric[16];
  double largest = mean;
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  for (size_t i = 0; i < order->count; i++) {
    const pc_chance_ece chance = class_errors_chance(data, order->classes[i]);
    largest = fmax(largest, outcome->class_values[order->classes[i]]);
    largest = fmax(largest, chance.mean + CLASS_ERRORS_95 * chance.deviation);
  }
  snprintf(label, sizeof label, "error of the class (%s)",
           pc_options_word(data->options, CLASS_ERRORS_METRIC, metric, sizeof metric));
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, largest > 0 ? 1.04 * largest : 1, 6,
                 PC_NUMBERS_PLAIN, label);
  pc_figure_axis(figure, panel, PC_SIDE_Y, (double)order->count - 0.4, -0.6, 2,
                 PC_NUMBERS_PLAIN, NULL);
  for (size_t i = 0; i < order->count; i++)
    pc_figure_name_tick(figure, panel, PC_SIDE_Y, (double)i,
                        pc_class_display_name(data->shown.results, order->classes[i], buffer));
}

static void class_errors_hint(const pc_figure_data *data, const pc_metric_result *outcome,
                              size_t class, pc_text *out) {
  const double chance = class_errors_chance(data, class).mean;
  char buffer[32], number[PC_NUMBER_TEXT_MAX];
  out->length = 0;
  pc_fixed_text(outcome->class_values[class], 5, number);
  pc_text_format(out, "%s: %s", pc_class_display_name(data->shown.results, class, buffer),
                 number);
  if (isnan(chance))
    return;
  pc_fixed_text(chance, 5, number);
  pc_text_format(out, ", chance alone %s", number);
}

static void class_errors_draw_chance(const pc_figure_data *data, size_t class, double y,
                                     pc_figure *figure) {
  const pc_chance_ece chance = class_errors_chance(data, class);
  const double half = CLASS_ERRORS_95 * chance.deviation;
  const pc_look whisker = {.tone = PC_TONE_INK, .size = 1.5};
  const pc_look halo = {.tone = PC_TONE_PAPER, .size = 5};
  const pc_point low = {fmax(chance.mean - half, 0), y}, high = {chance.mean + half, y};
  if (isnan(chance.mean))
    return;
  pc_figure_segment(figure, 0, halo, low, high);
  pc_figure_segment(figure, 0, whisker, low, high);
  pc_figure_point(figure, 0, class_errors_chance_look, (pc_point){chance.mean, y}, NULL);
}

static void class_errors_bars(const pc_figure_data *data, const pc_metric_result *outcome,
                              const pc_class_order *order, pc_figure *figure) {
  pc_text hint;
  pc_text_init(&hint, figure->env);
  for (size_t i = 0; i < order->count; i++) {
    const double value = outcome->class_values[order->classes[i]];
    if (!isfinite(value))
      continue;
    class_errors_hint(data, outcome, order->classes[i], &hint);
    pc_figure_bar(
        figure, 0, (pc_look){.tone = PC_TONE_A}, (pc_point){0, (double)i - CLASS_ERRORS_BAR},
        (pc_point){value, (double)i + CLASS_ERRORS_BAR}, hint.failed ? NULL : hint.bytes);
    class_errors_draw_chance(data, order->classes[i], (double)i, figure);
  }
  figure->failed |= hint.failed;
  pc_text_free(&hint);
}

static void class_errors_heading(const pc_figure_data *data, const pc_class_order *order,
                                 pc_figure *figure) {
  char more[PC_NUMBER_TEXT_MAX] = "";
  figure->title = pc_figure_add_string(figure, "Calibration error of each class");
  if (order->count < order->total)
    snprintf(more, sizeof more, "the %zu worst classes", order->count);
  pc_figure_set_subtitle(figure, data->shown.results, more);
  figure->description = figure->subtitle;
}

static pcal_status class_errors_build(const pc_figure_data *data, pc_figure *figure,
                                      pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_result_record *record = data->shown.requested[0];
  char number[PC_NUMBER_TEXT_MAX], entry[2 * PC_NUMBER_TEXT_MAX];
  pc_class_order order;
  if (record == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "figure class-errors is drawn from %s, which these results lack; "
                   "measure it, or plot from the data",
                   data->request->specs[0]);
  const size_t most = (size_t)data->options->value[CLASS_ERRORS_SHOW].number;
  PC_TRY(pc_class_order_make(figure->env, &record->outcome, most, 1, &order, err));
  const double mean = class_errors_mean(&record->outcome);
  if (!figure->fixed_height)
    figure->height = 180 + 34 * (double)order.count;
  pc_short_text(mean, number);
  snprintf(entry, sizeof entry, "mean over classes %s", number);
  class_errors_axes(data, &record->outcome, &order, mean, figure);
  class_errors_heading(data, &order, figure);
  if (class_errors_has_chance(data->options))
    pc_figure_legend(figure, PC_SAMPLE_INTERVAL, class_errors_chance_look, "chance alone, 95%");
  pc_figure_legend(figure, PC_SAMPLE_LINE, class_errors_line, entry);
  pc_figure_lay_out(figure, &grid);
  class_errors_bars(data, &record->outcome, &order, figure);
  pc_figure_segment(figure, 0, class_errors_line, (pc_point){mean, -0.6},
                    (pc_point){mean, (double)order.count - 0.4});
  pc_class_order_free(figure->env, &order);
  return PCAL_OK;
}

const pc_figure_row pc_figure_class_errors = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "class-errors",
            .title = "calibration error of each class",
            .formula = "bar k: the error of class k against the rest, by the metric",
            .about = "A model can be calibrated on the whole and badly calibrated for some "
                     "classes; the bars show for which, worst first. The error of a "
                     "calibrated model is not 0 either, since rows are few: the black point is "
                     "its mean for a calibrated model with the same scores, its line "
                     "holds 95 % of such models. If there are many classes, only the worst are "
                     "shown.",
            .citation = "Nixon et al. (2019), Measuring calibration in deep learning, Figure 1",
            .options = class_errors_options,
            .option_count = sizeof class_errors_options / sizeof *class_errors_options,
        },
    .width = 640,
    .height = 560,
    .request = class_errors_request,
    .build = class_errors_build,
    .in_report = 6,
};
