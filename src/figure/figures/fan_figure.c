/* Predicted intervals of the first rows, one behind the other, with their targets.
 *
 * 1. Rows are drawn in the order of the data, which is that of time for forecasts.
 * 2. Of quantiles only their own central intervals are known: all of them are drawn.
 * 3. The legend says how many of all targets, not only of those drawn, lie inside.
 * 4. Rows with missing values are gaps; after a calibrator its intervals are drawn. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/forecast_marks.h"
#include "figure/number_text.h"
#include "metrics/forecast_metric.h"

#define FAN_LEVELS_MAX 4
#define FAN_SAME_LEVEL 1e-9

enum { FAN_ROWS, FAN_LEVELS };

static const pcal_option fan_options[] = {
    {"rows", PCAL_OPTION_INT, "60", 2, 1000, NULL, "number of rows, from the first on"},
    {"levels", PCAL_OPTION_REALS, "0.5/0.8/0.95", 0.001, 0.999, NULL,
     "levels of the central intervals, at most four; quantiles draw their own"},
};

static const pc_look fan_look_target = {.tone = PC_TONE_INK, .size = 2.6};
static const pc_look fan_look_outside = {.tone = PC_TONE_B, .size = 3.4};

/* The looks of intervals from the widest to the narrowest. */
static pc_look fan_look_band(size_t place) {
  return place == 0   ? (pc_look){.tone = PC_TONE_A, .wash = 1}
         : place == 1 ? (pc_look){.tone = PC_TONE_A, .pale = 1}
                      : (pc_look){.tone = PC_TONE_C, .pale = 1};
}

/* The levels of central intervals, the widest first; returns their number. */
static size_t fan_levels(const pc_options *options, const pc_layout *layout,
                         double out[FAN_LEVELS_MAX]) {
  const pc_option_value *value = &options->value[FAN_LEVELS];
  size_t count = 0;
  if (layout->form == PC_FORM_QUANTILES) {
    for (size_t k = 0; 2 * k + 1 < layout->columns && count < FAN_LEVELS_MAX; k++)
      for (size_t j = layout->columns; j-- > 0;)
        if (fabs(layout->levels[j] + layout->levels[k] - 1.0) <= FAN_SAME_LEVEL &&
            layout->levels[k] < 0.5) {
          out[count++] = layout->levels[j] - layout->levels[k];
          break;
        }
    return count;
  }
  for (; count < value->list_count && count < FAN_LEVELS_MAX; count++) {
    size_t at = count;
    for (; at > 0 && out[at - 1] < value->list[count]; at--)
      out[at] = out[at - 1];
    out[at] = value->list[count];
  }
  return count;
}

static pcal_status fan_request(const pc_options *options, const pc_layout *layout,
                               pc_figure_request *request, pcal_error *err) {
  double levels[FAN_LEVELS_MAX];
  const size_t count = fan_levels(options, layout, levels);
  PC_TRY(pc_options_distinct(options, FAN_LEVELS, err));
  if (options->value[FAN_LEVELS].list_count > FAN_LEVELS_MAX)
    return pc_fail(err, PCAL_USAGE, "figure fan: there are %zu levels; give at most %d",
                   options->value[FAN_LEVELS].list_count, FAN_LEVELS_MAX);
  if (count == 0)
    return pc_fail(err, PCAL_USAGE,
                   "figure fan: no two quantiles have levels that add up to 1; predict a "
                   "central interval, such as 0.05 and 0.95");
  for (size_t i = 0; i < count; i++) {
    char number[PC_NUMBER_MAX];
    pc_number_format(levels[i], number);
    pc_figure_request_metric(request, "interval-coverage:level=%s", number);
  }
  request->row_count = (size_t)options->value[FAN_ROWS].number;
  return PCAL_OK;
}

/* The end of a central interval of a row; sign -1: the lower one. */
static double fan_end(const pc_figure_rows *rows, size_t row, double level, int sign) {
  const pc_forecast_shape shape = {rows->layout.form, rows->layout.columns,
                                   rows->layout.levels};
  pc_level ends[2];
  if (!pc_central_ends(&shape, level, ends))
    return (double)NAN;
  return pc_forecast_quantile(&shape, rows->values + row * (shape.columns + 1),
                              &ends[sign > 0]);
}

static double fan_target(const pc_figure_rows *rows, size_t row) {
  return rows->values[(row + 1) * (rows->layout.columns + 1) - 1];
}

/* One band for each run of rows without gaps. */
static pcal_status fan_band(pc_figure *figure, const pc_figure_rows *rows, double level,
                            size_t place, pcal_error *err) {
  pc_point *points = pc_alloc(figure->env, 2 * rows->count, sizeof *points);
  if (points == NULL)
    return pc_fail_memory(err, "drawing intervals");
  for (size_t begin = 0; begin < rows->count;) {
    size_t end = begin;
    while (end < rows->count && !isnan(fan_target(rows, end)))
      end++;
    for (size_t i = begin; i < end; i++) {
      points[i - begin] = (pc_point){(double)i, fan_end(rows, i, level, -1)};
      points[2 * end - begin - 1 - i] = (pc_point){(double)i, fan_end(rows, i, level, 1)};
    }
    if (end > begin + 1)
      pc_figure_band(figure, 0, fan_look_band(place), points, 2 * (end - begin));
    begin = end + 1;
  }
  pc_free(figure->env, points);
  return PCAL_OK;
}

static void fan_targets(pc_figure *figure, const pc_figure_rows *rows, double widest) {
  for (size_t i = 0; i < rows->count; i++) {
    const double y = fan_target(rows, i), low = fan_end(rows, i, widest, -1),
                 high = fan_end(rows, i, widest, 1);
    char value[PC_NUMBER_TEXT_MAX], from[PC_NUMBER_TEXT_MAX], to[PC_NUMBER_TEXT_MAX],
        hint[5 * PC_NUMBER_TEXT_MAX];
    if (isnan(y))
      continue;
    pc_short_text(y, value);
    pc_short_text(low, from);
    pc_short_text(high, to);
    snprintf(hint, sizeof hint, "row %zu: %s, predicted %s to %s", i, value, from, to);
    pc_figure_point(figure, 0, y < low || y > high ? fan_look_outside : fan_look_target,
                    (pc_point){(double)i, y}, hint);
  }
}

static void fan_range(const pc_figure_rows *rows, double widest, double *low, double *high) {
  *low = (double)INFINITY;
  *high = -(double)INFINITY;
  for (size_t i = 0; i < rows->count; i++) {
    const double y = fan_target(rows, i);
    if (isnan(y))
      continue;
    *low = fmin(*low, fmin(y, fan_end(rows, i, widest, -1)));
    *high = fmax(*high, fmax(y, fan_end(rows, i, widest, 1)));
  }
  const double room = *high > *low ? 0.04 * (*high - *low) : 1.0;
  *low -= room;
  *high += room;
}

static void fan_legend(const pc_figure_data *data, const double *levels, size_t count,
                       pc_figure *figure) {
  for (size_t i = 0; i < count; i++) {
    char level[PC_NUMBER_TEXT_MAX], inside[PC_NUMBER_TEXT_MAX], text[3 * PC_NUMBER_TEXT_MAX];
    const pc_result_record *record = data->shown.requested[i];
    pc_fixed_text(100 * levels[i], 0, level);
    pc_fixed_text(record == NULL ? (double)NAN : 100 * record->outcome.value, 1, inside);
    snprintf(text, sizeof text, "%s %% interval, %s %% inside", level, inside);
    pc_figure_legend(figure, PC_SAMPLE_BAR, fan_look_band(i), text);
  }
  pc_figure_legend(figure, PC_SAMPLE_POINT, fan_look_target, "target");
  pc_figure_legend(figure, PC_SAMPLE_POINT, fan_look_outside, "outside all intervals");
}

static pcal_status fan_build(const pc_figure_data *data, pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_figure_rows *rows = data->rows;
  double levels[FAN_LEVELS_MAX], low, high;
  char drawn[64];
  if (rows == NULL || rows->count == 0)
    return pc_fail(
        err, PCAL_USAGE,
        "figure fan needs the rows themselves, and results do not have them; draw it "
        "from the data");
  const size_t count = fan_levels(data->options, &rows->layout, levels);
  fan_range(rows, levels[0], &low, &high);
  if (!(low <= high))
    return pc_fail(err, PCAL_DATA, "figure fan: all of the first rows have missing values");
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  figure->title = pc_figure_add_string(figure, "Predicted intervals and targets");
  snprintf(drawn, sizeof drawn, "the first %zu are drawn", rows->count);
  pc_figure_set_subtitle(figure, data->shown.results, drawn);
  figure->description = figure->subtitle;
  pc_figure_axis(figure, panel, PC_SIDE_X, -0.5, (double)rows->count - 0.5, 8, PC_NUMBERS_PLAIN,
                 "row");
  pc_figure_axis(figure, panel, PC_SIDE_Y, low, high, 6, PC_NUMBERS_PLAIN, "value");
  fan_legend(data, levels, count, figure);
  pc_figure_lay_out(figure, &grid);
  for (size_t i = 0; i < count; i++)
    PC_TRY(fan_band(figure, rows, levels[i], i, err));
  fan_targets(figure, rows, levels[0]);
  return PCAL_OK;
}

const pc_figure_row pc_figure_fan = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .task = PCAL_REGRESSION,
            .name = "fan",
            .title = "predicted intervals of single rows, with their targets",
            .formula =
                "bands: quantiles (1 - level) / 2 and (1 + level) / 2 of each row; points: "
                "targets",
            .about =
                "A fan chart of the first rows, in the order of the data. Targets outside "
                "the widest interval stand out; the legend says how many of all rows lie "
                "inside each interval, which should be its level. Wide intervals should be "
                "where errors are large.",
            .citation = "Britton, Fisher & Whitley (1998), The Inflation Report projections: "
                        "understanding the fan chart",
            .options = fan_options,
            .option_count = sizeof fan_options / sizeof *fan_options,
        },
    .width = 760,
    .height = 460,
    .request = fan_request,
    .build = fan_build,
};
