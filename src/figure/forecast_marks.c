#include "figure/forecast_marks.h"

#include <math.h>

#include "figure/number_text.h"

#define FORECAST_MARKS_NORMAL 1.959963984540054

const pc_look pc_forecast_look_now = {.tone = PC_TONE_A, .size = 2.5};
const pc_look pc_forecast_look_before = {.tone = PC_TONE_E, .size = 2.5};
const pc_look pc_forecast_look_band = {.tone = PC_TONE_FILL};
const pc_look pc_forecast_look_calibrated = {.tone = PC_TONE_MUTED, .dashed = 1};

double pc_forecast_marks_chance(double p, double rows) {
  return FORECAST_MARKS_NORMAL * sqrt(fmax(p * (1 - p), 0) / rows);
}

void pc_forecast_marks_heading(const pc_figure_data *data, const pc_result_record *record,
                               const char *title, pc_figure *figure) {
  char number[PC_NUMBER_TEXT_MAX];
  pc_text line;
  pc_text_init(&line, figure->env);
  pc_fixed_text(record->outcome.value, 4, number);
  pc_text_format(&line, "%s %s", record->metric, number);
  if (data->before != NULL && data->before->requested[0] != NULL) {
    pc_fixed_text(data->before->requested[0]->outcome.value, 4, number);
    pc_text_format(&line, ", before calibration %s", number);
  }
  figure->title = pc_figure_add_string(figure, title);
  figure->failed |= line.failed;
  pc_figure_set_subtitle(figure, data->shown.results, line.failed ? NULL : line.bytes);
  figure->description = figure->subtitle;
  pc_text_free(&line);
}

pcal_status pc_forecast_marks_band(pc_figure *figure, size_t panel, const double *x,
                                   const double *low, const double *high, size_t count,
                                   pcal_error *err) {
  pc_point *points = pc_alloc(figure->env, 2 * count + 1, sizeof *points);
  if (points == NULL)
    return pc_fail_memory(err, "drawing a band");
  const double least = figure->failed ? 0 : figure->panels[panel].axis[PC_SIDE_Y].low;
  const double most = figure->failed ? 0 : figure->panels[panel].axis[PC_SIDE_Y].high;
  for (size_t i = 0; i < count; i++) {
    points[i] = (pc_point){x[i], fmin(fmax(high[i], least), most)};
    points[2 * count - 1 - i] = (pc_point){x[i], fmin(fmax(low[i], least), most)};
  }
  pc_figure_band(figure, panel, pc_forecast_look_band, points, 2 * count);
  pc_free(figure->env, points);
  return PCAL_OK;
}
