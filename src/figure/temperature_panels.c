/* Temperatures are 2^-2 to 2^3 in steps of an eighth of an octave, on a logarithmic axis.  The
 * minimum of a proper score is that of the parabola through the lowest value and its
 * neighbours; other errors jump, and theirs is the lowest value.
 *
 * 1. The axis of values is cut above, so that the lowest part of the curve is visible.
 * 2. Infinite and undefined values are left out; a panel without any value is refused.
 * 3. With a second set its curve is dashed. */
#include "figure/temperature_panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"

static const pc_tone temperature_tones[] = {PC_TONE_A, PC_TONE_B, PC_TONE_C};

pcal_status pc_temperature_request(const char *figure, const pc_layout *layout,
                                   pc_figure_request *request, pcal_error *err) {
  if (layout->kind == PCAL_CONFIDENCE)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s needs the scores of all classes, which a temperature changes "
                   "together, but the data have only confidences; give {logits} or {probs}",
                   figure);
  for (size_t i = 0; i < PC_TEMPERATURES; i++)
    request->temperatures[request->temperature_count++] = pc_temperature_at(i);
  return PCAL_OK;
}

/* Vertex of the parabola through the lowest point and its neighbours; unless smooth, the point. */
static double temperature_vertex(const pc_temperature_curve *curve, int smooth) {
  const size_t i = curve->lowest;
  if (!smooth || i == 0 || i + 1 >= PC_TEMPERATURES)
    return curve->octave[i];
  const double left = curve->value[i - 1], right = curve->value[i + 1];
  const double bend = left - 2 * curve->value[i] + right;
  if (!isfinite(left) || !isfinite(right) || !(bend > 0))
    return curve->octave[i];
  return curve->octave[i] + 0.5 * (left - right) / bend / PC_TEMPERATURE_STEPS;
}

void pc_temperature_curve_end(pc_temperature_curve *curve, int smooth) {
  curve->lowest = PC_TEMPERATURES;
  for (size_t i = 0; i < PC_TEMPERATURES; i++) {
    curve->octave[i] = pc_log2(pc_temperature_at(i));
    if (!(fabs(curve->value[i]) < PC_TEMPERATURE_INFINITE))
      curve->value[i] = (double)NAN;
    else if (curve->lowest == PC_TEMPERATURES || curve->value[i] < curve->value[curve->lowest])
      curve->lowest = i;
  }
  if (curve->lowest == PC_TEMPERATURES)
    return;
  curve->least = curve->value[curve->lowest];
  curve->best = temperature_vertex(curve, smooth);
}

static void temperature_read(const pc_figure_data *data, const pc_measured_set *set,
                             size_t spec, pc_temperature_curve *curve) {
  for (size_t i = 0; i < PC_TEMPERATURES; i++) {
    const pc_result_record *record =
        pc_results_record(set->tempered[i], data->request->specs[spec]);
    curve->value[i] =
        record == NULL || record->outcome.undefined ? (double)NAN : record->outcome.value;
  }
  pc_temperature_curve_end(curve, strcmp(data->request->specs[spec], "log") == 0 ||
                                      strcmp(data->request->specs[spec], "brier") == 0);
}

/* Upper end of the axis of values: shows T = 1 and the lower of the two ends of the curve. */
static double temperature_limit(const pc_temperature_curve *curve) {
  const double least = curve->value[curve->lowest];
  const double one = curve->value[-PC_TEMPERATURE_FIRST * PC_TEMPERATURE_STEPS];
  const double first = curve->value[0], last = curve->value[PC_TEMPERATURES - 1];
  double high = fmin(isfinite(first) ? first : last, isfinite(last) ? last : first);
  high = fmax(isfinite(high) ? high : one, isfinite(one) ? one : high);
  return high > least ? least + 1.15 * (high - least) : least + fmax(fabs(least), 1e-6);
}

void pc_temperature_line(pc_figure *figure, size_t panel, pc_look look,
                         const pc_temperature_curve *curve, double limit) {
  pc_point points[PC_TEMPERATURES + 1];
  size_t used = 0;
  for (size_t i = 0; i <= PC_TEMPERATURES; i++) {
    const int seen = i < PC_TEMPERATURES && curve->value[i] <= limit;
    if (seen)
      points[used++] = (pc_point){curve->octave[i], curve->value[i]};
    if (seen || used == 0)
      continue;
    pc_figure_line(figure, panel, look, points, used);
    used = 0;
  }
}

/* The lower end of the axis of values. */
static double temperature_foot(const pc_temperature_curve *curve) {
  return curve->least - 0.06 * (temperature_limit(curve) - curve->least);
}

void pc_temperature_axis(pc_figure *figure, size_t panel, int last) {
  static const char *const labels[] = {"0.25", "0.5", "1", "2", "4", "8"};
  pc_figure_axis(figure, panel, PC_SIDE_X, PC_TEMPERATURE_FIRST, PC_TEMPERATURE_LAST, 6,
                 last ? PC_NUMBERS_PLAIN : PC_NUMBERS_NONE, last ? "temperature" : NULL);
  for (int i = 0; i <= PC_TEMPERATURE_LAST - PC_TEMPERATURE_FIRST; i++)
    pc_figure_name_tick(figure, panel, PC_SIDE_X, PC_TEMPERATURE_FIRST + i, labels[i]);
  if (!figure->failed)
    figure->panels[panel].axis[PC_SIDE_X].lined = 1;
}

void pc_temperature_panel(pc_figure *figure, size_t row, const pc_temperature_curve *curve,
                          const char *name, int last) {
  char number[PC_NUMBER_TEXT_MAX], least[PC_NUMBER_TEXT_MAX], title[3 * PC_NUMBER_TEXT_MAX];
  pc_short_text(pc_exp2(curve->best), number);
  pc_short_text(curve->value[curve->lowest], least);
  snprintf(title, sizeof title, "%.60s \xC2\xB7 lowest, %s, at T = %s", name, least, number);
  const size_t panel = pc_figure_grid_panel(figure, 0, row, title);
  pc_figure_axis(figure, panel, PC_SIDE_Y, temperature_foot(curve), temperature_limit(curve), 5,
                 PC_NUMBERS_PLAIN, NULL);
  pc_temperature_axis(figure, panel, last);
}

void pc_temperature_marks(pc_figure *figure, size_t panel, pc_tone tone,
                          const pc_temperature_curve *curve,
                          const pc_temperature_curve *second) {
  const double limit = temperature_limit(curve);
  const double floor_value = curve->value[curve->lowest];
  const double foot = temperature_foot(curve);
  pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                    (pc_point){0, foot}, (pc_point){0, limit});
  if (second != NULL)
    pc_temperature_line(figure, panel, (pc_look){.tone = tone, .dashed = 1, .size = 2}, second,
                        limit);
  pc_temperature_line(figure, panel, (pc_look){.tone = tone, .size = 2.5}, curve, limit);
  pc_figure_segment(figure, panel, (pc_look){.tone = tone, .size = 1.5},
                    (pc_point){curve->best, foot}, (pc_point){curve->best, floor_value});
  pc_figure_point(figure, panel, (pc_look){.tone = tone, .size = 4.5},
                  (pc_point){curve->best, floor_value}, NULL);
}

void pc_temperature_legend(pc_figure *figure, int second) {
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_INK}, "minimum");
  pc_figure_legend(figure, PC_SAMPLE_LINE,
                   (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                   "T = 1, unchanged scores");
  if (second)
    pc_figure_legend(figure, PC_SAMPLE_LINE,
                     (pc_look){.tone = PC_TONE_A, .dashed = 1, .size = 2}, "second set");
}

pcal_status pc_temperature_draw(const pc_figure_data *data, const char *title,
                                const char *const *names, size_t count, pc_figure *figure,
                                pcal_error *err) {
  pc_temperature_curve shown[3], second[3];
  const pc_panel_grid grid = {.columns = 1, .rows = count};
  for (size_t i = 0; i < count; i++) {
    temperature_read(data, &data->shown, i, &shown[i]);
    if (shown[i].lowest == PC_TEMPERATURES)
      return pc_fail(err, PCAL_DATA,
                     "figure %s: %s has no finite value at any temperature, since a row has "
                     "probability 0 for its label; leave such rows out or clip the scores",
                     data->options->name, names[i]);
    if (data->val != NULL) {
      temperature_read(data, data->val, i, &second[i]);
      if (second[i].lowest < PC_TEMPERATURES)
        shown[i].least = fmin(shown[i].least, second[i].least);
    }
    pc_temperature_panel(figure, i, &shown[i], names[i], i + 1 == count);
  }
  figure->title = pc_figure_add_string(figure, title);
  pc_figure_set_subtitle(figure, data->shown.results, NULL);
  figure->description = figure->subtitle;
  pc_temperature_legend(figure, data->val != NULL);
  pc_figure_lay_out(figure, &grid);
  for (size_t i = 0; i < count; i++)
    pc_temperature_marks(figure, i, temperature_tones[i], &shown[i],
                         data->val != NULL ? &second[i] : NULL);
  return PCAL_OK;
}
