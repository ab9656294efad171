/* A metric by period, with intervals and, for calibration errors, the level of chance.
 *
 * 1. Periods are the groups of the results, so that the figure also shows other groups; without
 *    any there is one point, all rows.
 * 2. Chance: the mean of the metric for a calibrated model with the same scores, and the range up
 *    to its 97.5 % quantile; metrics that have none are drawn without it.
 * 3. A period without a value has no mark; with many periods some names are left out.
 * 4. Ends of intervals that are infinite are cut at the panel. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/figure_registry.h"
#include "figure/number_text.h"
#include "measure/group_records.h"

#define DRIFT_NAMES 8

enum { DRIFT_METRIC };

static const pcal_option drift_options[] = {
    {"metric", PCAL_OPTION_CHOICE, "ece", 0, 0,
     "ece|brier|log|accuracy|smece|ks|auc|oe-ratio|calibration-slope|calibration-intercept|pit|"
     "crps|coverage",
     "the metric; pit, crps and coverage are for predictions of a number"},
};

static const pc_look drift_line = {.tone = PC_TONE_A, .size = 2};
static const pc_look drift_point = {.tone = PC_TONE_A, .size = 4};
static const pc_look drift_bar = {.tone = PC_TONE_A, .size = 1.5};
static const pc_look drift_all = {.tone = PC_TONE_INK, .size = 1.5, .dashed = 1};
static const pc_look drift_chance = {.tone = PC_TONE_MUTED, .wash = 1};
static const pc_look drift_chance_mean = {.tone = PC_TONE_MUTED, .size = 1.5};

static pcal_status drift_request(const pc_options *options, const pc_layout *layout,
                                 pc_figure_request *request, pcal_error *err) {
  char metric[32];
  (void)err;
  pc_options_word(options, DRIFT_METRIC, metric, sizeof metric);
  const int regression = layout->form != PC_FORM_CLASSES;
  pc_figure_request_metric(
      request, "%s", regression && options->value[DRIFT_METRIC].choice == 0 ? "pit" : metric);
  request->interval = 1;
  request->null = 1;
  return PCAL_OK;
}

static size_t drift_count(const pcal_results *results) {
  return results->group_count > 0 ? results->group_count : 1;
}

/* The record of period g of the requested metric. */
static const pc_result_record *drift_record(const pc_figure_data *data, size_t g,
                                            pc_result_record *room) {
  const pcal_results *results = data->shown.results;
  const pc_result_record *all = data->shown.requested[0];
  if (results->group_count == 0)
    return all;
  return pc_results_at(
      results, (g + 1) * results->metric_count + (size_t)(all - results->records), room);
}

static void drift_widen(double value, double *low, double *high) {
  if (!isfinite(value))
    return;
  *low = fmin(*low, value);
  *high = fmax(*high, value);
}

static void drift_range(const pc_figure_data *data, double *low, double *high) {
  pc_result_record room;
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t g = 0; g < drift_count(data->shown.results); g++) {
    const pc_result_record *record = drift_record(data, g, &room);
    const pc_interval_result *sure = &record->interval_result;
    if (record->outcome.undefined)
      continue;
    drift_widen(record->outcome.value, low, high);
    if (sure->has_interval) {
      drift_widen(sure->low, low, high);
      drift_widen(sure->high, low, high);
    }
    if (sure->has_null) {
      drift_widen(sure->null_low, low, high);
      drift_widen(sure->null_high, low, high);
    }
  }
  if (!(*low <= *high))
    *low = *high = 0;
  if (*low > 0 && *low < 0.5 * *high)
    *low = 0;
  const double rest = *high > *low ? 0.05 * (*high - *low) : 0.5;
  *high += rest;
  *low -= *low == 0 ? 0 : rest;
}

static void drift_axes(const pc_figure_data *data, double low, double high, pc_figure *figure) {
  const pcal_results *results = data->shown.results;
  const size_t count = drift_count(results), step = (count + DRIFT_NAMES - 1) / DRIFT_NAMES;
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, -0.6, (double)count - 0.4, 2, PC_NUMBERS_PLAIN,
                 NULL);
  pc_figure_axis(figure, panel, PC_SIDE_Y, low, high, 6, PC_NUMBERS_PLAIN,
                 data->shown.requested[0]->label);
  for (size_t g = 0; g < count; g += step)
    pc_figure_name_tick(figure, panel, PC_SIDE_X, (double)g,
                        results->group_count > 0 ? results->group_names[g] : "all rows");
}

/* The level of chance of one period. */
static void drift_draw_chance(const pc_result_record *record, double x, pc_figure *figure) {
  const pc_interval_result *sure = &record->interval_result;
  if (!sure->has_null || !isfinite(sure->null_high) || !isfinite(sure->null_mean))
    return;
  pc_figure_bar(figure, 0, drift_chance,
                (pc_point){x - 0.5, fmin(sure->null_low, sure->null_high)},
                (pc_point){x + 0.5, sure->null_high}, NULL);
  pc_figure_segment(figure, 0, drift_chance_mean, (pc_point){x - 0.5, sure->null_mean},
                    (pc_point){x + 0.5, sure->null_mean});
}

static void drift_hint(const pc_figure_data *data, size_t g, const pc_result_record *record,
                       pc_text *out) {
  const pcal_results *results = data->shown.results;
  char number[PC_NUMBER_TEXT_MAX];
  out->length = 0;
  pc_short_text(record->outcome.value, number);
  pc_text_format(out, "%s: %s", results->group_count > 0 ? results->group_names[g] : "all rows",
                 number);
  if (!record->interval_result.has_interval)
    return;
  pc_short_text(record->interval_result.low, number);
  pc_text_format(out, " [%s, ", number);
  pc_short_text(record->interval_result.high, number);
  pc_text_format(out, "%s]", number);
}

static void drift_draw_periods(const pc_figure_data *data, double low, double high,
                               pc_figure *figure) {
  pc_result_record room;
  pc_text hint;
  pc_point before = {0, 0};
  int joined = 0;
  pc_text_init(&hint, figure->env);
  for (size_t g = 0; g < drift_count(data->shown.results); g++) {
    const pc_result_record *record = drift_record(data, g, &room);
    const pc_interval_result *sure = &record->interval_result;
    const pc_point at = {(double)g, record->outcome.value};
    if (record->outcome.undefined || !isfinite(at.y)) {
      joined = 0;
      continue;
    }
    if (joined)
      pc_figure_segment(figure, 0, drift_line, before, at);
    if (sure->has_interval)
      pc_figure_segment(figure, 0, drift_bar, (pc_point){at.x, fmax(sure->low, low)},
                        (pc_point){at.x, fmin(sure->high, high)});
    drift_hint(data, g, record, &hint);
    pc_figure_point(figure, 0, drift_point, at, hint.failed ? NULL : hint.bytes);
    before = at;
    joined = 1;
  }
  figure->failed |= hint.failed;
  pc_text_free(&hint);
}

static void drift_legend(const pc_figure_data *data, pc_figure *figure) {
  const pc_interval_result *sure = &data->shown.requested[0]->interval_result;
  char text[PC_NUMBER_TEXT_MAX] = "value";
  if (sure->has_interval)
    pc_level_text(sure->level, "interval", text);
  pc_figure_legend(figure, PC_SAMPLE_INTERVAL, drift_point, text);
  if (data->shown.results->group_count > 0)
    pc_figure_legend(figure, PC_SAMPLE_LINE, drift_all, "all rows");
  if (sure->has_null)
    pc_figure_legend(figure, PC_SAMPLE_BAR, drift_chance, "chance, if calibrated");
}

static pcal_status drift_build(const pc_figure_data *data, pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_result_record *all = data->shown.requested[0];
  pc_result_record room;
  double low, high;
  if (all == NULL)
    return pc_fail(
        err, PCAL_USAGE,
        "figure drift is drawn from %s, which these results lack; measure it, or plot "
        "from the data",
        data->request->specs[0]);
  const size_t count = drift_count(data->shown.results);
  drift_range(data, &low, &high);
  drift_axes(data, low, high, figure);
  figure->title = pc_figure_add_string(figure, "Calibration over time");
  pc_figure_set_subtitle(figure, data->shown.results, NULL);
  figure->description = figure->subtitle;
  drift_legend(data, figure);
  pc_figure_lay_out(figure, &grid);
  for (size_t g = 0; g < count; g++)
    drift_draw_chance(drift_record(data, g, &room), (double)g, figure);
  if (data->shown.results->group_count > 0 && !all->outcome.undefined &&
      isfinite(all->outcome.value))
    pc_figure_segment(figure, 0, drift_all, (pc_point){-0.6, all->outcome.value},
                      (pc_point){(double)count - 0.4, all->outcome.value});
  drift_draw_periods(data, low, high, figure);
  return pc_figure_status(figure, err);
}

const pc_figure_row pc_figure_drift = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "drift",
            .title = "a metric by period of time",
            .formula =
                "value of the metric for each period, with its interval and the values of "
                "a calibrated model",
            .about =
                "Shows when a model became worse: with `time` and `every` a point for each "
                "period, otherwise one for each group. The shaded range is where the metric of "
                "a calibrated model with the same scores would lie, which is wider for few "
                "rows. For an alarm use watch, which may be looked at every day.",
            .citation =
                "Davis et al. (2020), Detection of calibration drift in clinical prediction "
                "models to inform model updating",
            .options = drift_options,
            .option_count = sizeof drift_options / sizeof *drift_options,
        },
    .width = 720,
    .height = 420,
    .request = drift_request,
    .build = drift_build,
    .by_group = 1,
};
