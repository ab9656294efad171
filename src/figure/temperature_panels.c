/* Temperatures are 2^-2 to 2^3 in steps of an eighth of an octave, on a logarithmic axis.  The
 * minimum of a proper score is that of the parabola through the lowest value and its
 * neighbours; other errors jump, and theirs is the lowest value.
 *
 * 1. The axis of values ends where the lower end of the curve is well seen; what is higher is
 *    cut off.
 * 2. Values that are infinite or undefined are left out; a panel without any is refused.
 * 3. With a second set its curve is dashed. */
#include "figure/temperature_panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure/layout.h"
#include "figure/wording.h"

#define TEMPERATURE_STEPS 8 /* in an octave */
#define TEMPERATURE_FIRST (-2)
#define TEMPERATURE_LAST 3
#define TEMPERATURE_COUNT ((TEMPERATURE_LAST - TEMPERATURE_FIRST) * TEMPERATURE_STEPS + 1)
#define TEMPERATURE_INFINITE 1e20

static const pc_tone temperature_tones[] = {PC_TONE_A, PC_TONE_B, PC_TONE_C};

/* A curve over all temperatures; NaN where there is no value. */
typedef struct temperature_curve {
  double octave[TEMPERATURE_COUNT], value[TEMPERATURE_COUNT];
  size_t lowest; /* TEMPERATURE_COUNT: no value at all */
  double best;   /* octave of the minimum */
  double least;  /* that the panel shows */
} temperature_curve;

pcal_status pc_temperature_wish(const char *figure, const pc_layout *layout,
                                pc_figure_wish *wish, pcal_error *err) {
  if (layout->kind == PCAL_CONFIDENCE)
    return pc_fail(err, PCAL_USAGE,
                   "figure %s needs the scores of all classes, which a temperature changes "
                   "together, and the data have only confidences; give --logits or --probs",
                   figure);
  for (int i = 0; i < TEMPERATURE_COUNT; i++)
    wish->temperatures[wish->temperature_count++] =
        exp2(TEMPERATURE_FIRST + (double)i / TEMPERATURE_STEPS);
  return PCAL_OK;
}

/* Vertex of the parabola through three neighbours at equal distances; errors that jump have
 * none. */
static double temperature_vertex(const temperature_curve *curve, int smooth) {
  const size_t i = curve->lowest;
  if (!smooth || i == 0 || i + 1 >= TEMPERATURE_COUNT)
    return curve->octave[i];
  const double left = curve->value[i - 1], right = curve->value[i + 1];
  const double bend = left - 2 * curve->value[i] + right;
  if (!isfinite(left) || !isfinite(right) || !(bend > 0))
    return curve->octave[i];
  return curve->octave[i] + 0.5 * (left - right) / bend / TEMPERATURE_STEPS;
}

static void temperature_read(const pc_figure_data *data, const pc_figure_set *set, size_t spec,
                             temperature_curve *curve) {
  curve->lowest = TEMPERATURE_COUNT;
  for (size_t i = 0; i < TEMPERATURE_COUNT; i++) {
    const pc_result_record *record =
        pc_results_record(set->tempered[i], data->wish->specs[spec]);
    const double value =
        record == NULL || record->outcome.undefined ? (double)NAN : record->outcome.value;
    curve->octave[i] = log2(data->wish->temperatures[i]);
    curve->value[i] = fabs(value) < TEMPERATURE_INFINITE ? value : (double)NAN;
    if (isfinite(curve->value[i]) &&
        (curve->lowest == TEMPERATURE_COUNT || curve->value[i] < curve->value[curve->lowest]))
      curve->lowest = i;
  }
  if (curve->lowest == TEMPERATURE_COUNT)
    return;
  curve->least = curve->value[curve->lowest];
  curve->best = temperature_vertex(curve, strcmp(data->wish->specs[spec], "log") == 0 ||
                                              strcmp(data->wish->specs[spec], "brier") == 0);
}

/* Where an axis of values ends: T = 1 is seen, and the lower one of the two ends. */
static double temperature_limit(const temperature_curve *curve) {
  const double least = curve->value[curve->lowest];
  const double one = curve->value[-TEMPERATURE_FIRST * TEMPERATURE_STEPS];
  const double first = curve->value[0], last = curve->value[TEMPERATURE_COUNT - 1];
  double high = fmin(isfinite(first) ? first : last, isfinite(last) ? last : first);
  high = fmax(isfinite(high) ? high : one, isfinite(one) ? one : high);
  return high > least ? least + 1.15 * (high - least) : least + fmax(fabs(least), 1e-6);
}

/* Pieces of the curve that lie below the limit. */
static void temperature_line(pc_figure *figure, size_t panel, pc_look look,
                             const temperature_curve *curve, double limit) {
  pc_point points[TEMPERATURE_COUNT + 1];
  size_t used = 0;
  for (size_t i = 0; i <= TEMPERATURE_COUNT; i++) {
    const int seen = i < TEMPERATURE_COUNT && curve->value[i] <= limit;
    if (seen)
      points[used++] = (pc_point){curve->octave[i], curve->value[i]};
    if (seen || used == 0)
      continue;
    pc_figure_line(figure, panel, look, points, used);
    used = 0;
  }
}

/* The lower end of the axis of values. */
static double temperature_foot(const temperature_curve *curve) {
  return curve->least - 0.06 * (temperature_limit(curve) - curve->least);
}

static void temperature_axes(pc_figure *figure, size_t panel, const temperature_curve *curve,
                             double limit, const char *name, int last) {
  static const char *const labels[] = {"0.25", "0.5", "1", "2", "4", "8"};
  pc_figure_axis(figure, panel, PC_SIDE_X, TEMPERATURE_FIRST, TEMPERATURE_LAST, 6,
                 last ? PC_NUMBERS_PLAIN : PC_NUMBERS_NONE, last ? "temperature" : NULL);
  pc_figure_axis(figure, panel, PC_SIDE_Y, temperature_foot(curve), limit, 5, PC_NUMBERS_PLAIN,
                 name);
  for (int i = 0; i <= TEMPERATURE_LAST - TEMPERATURE_FIRST; i++)
    pc_figure_name(figure, panel, PC_SIDE_X, TEMPERATURE_FIRST + i, labels[i]);
  if (!figure->failed)
    figure->panels[panel].axis[PC_SIDE_X].lined = 1;
}

static void temperature_panel(pc_figure *figure, size_t row, const temperature_curve *curve,
                              const char *name, int last) {
  char number[PC_WORDING_MAX], least[PC_WORDING_MAX], title[3 * PC_WORDING_MAX];
  pc_say_short(exp2(curve->best), number);
  pc_say_short(curve->value[curve->lowest], least);
  snprintf(title, sizeof title, "%.60s \xC2\xB7 lowest, %s, at T = %s", name, least, number);
  const size_t panel = pc_figure_cell(figure, 0, row, title);
  temperature_axes(figure, panel, curve, temperature_limit(curve), NULL, last);
}

static void temperature_marks(pc_figure *figure, size_t panel, pc_tone tone,
                              const temperature_curve *curve, const temperature_curve *second) {
  const double limit = temperature_limit(curve);
  const double floor_value = curve->value[curve->lowest];
  const double foot = temperature_foot(curve);
  pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                    (pc_point){0, foot}, (pc_point){0, limit});
  if (second != NULL)
    temperature_line(figure, panel, (pc_look){.tone = tone, .dashed = 1, .size = 2}, second,
                     limit);
  temperature_line(figure, panel, (pc_look){.tone = tone, .size = 2.5}, curve, limit);
  pc_figure_segment(figure, panel, (pc_look){.tone = tone, .size = 1.5},
                    (pc_point){curve->best, foot}, (pc_point){curve->best, floor_value});
  pc_figure_point(figure, panel, (pc_look){.tone = tone, .size = 4.5},
                  (pc_point){curve->best, floor_value}, NULL);
}

static void temperature_key(pc_figure *figure, int second) {
  pc_figure_key(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_INK}, "minimum");
  pc_figure_key(figure, PC_SAMPLE_LINE,
                (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                "T = 1, the scores as they are");
  if (second)
    pc_figure_key(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_A, .dashed = 1, .size = 2},
                  "second set");
}

pcal_status pc_temperature_draw(const pc_figure_data *data, const char *title,
                                const char *const *names, size_t count, pc_figure *figure,
                                pcal_error *err) {
  temperature_curve shown[3], second[3];
  const pc_grid grid = {.columns = 1, .rows = count};
  for (size_t i = 0; i < count; i++) {
    temperature_read(data, &data->shown, i, &shown[i]);
    if (shown[i].lowest == TEMPERATURE_COUNT)
      return pc_fail(err, PCAL_DATA,
                     "figure %s: %s has no finite value at any temperature, since a row has "
                     "probability 0 for its label; leave such rows out or clip the scores",
                     data->options->name, names[i]);
    if (data->fitting != NULL) {
      temperature_read(data, data->fitting, i, &second[i]);
      if (second[i].lowest < TEMPERATURE_COUNT)
        shown[i].least = fmin(shown[i].least, second[i].least);
    }
    temperature_panel(figure, i, &shown[i], names[i], i + 1 == count);
  }
  figure->title = pc_figure_keep(figure, title);
  pc_figure_subtitle(figure, data->shown.results, NULL);
  figure->description = figure->subtitle;
  temperature_key(figure, data->fitting != NULL);
  pc_figure_lay_out(figure, &grid);
  for (size_t i = 0; i < count; i++)
    temperature_marks(figure, i, temperature_tones[i], &shown[i],
                      data->fitting != NULL ? &second[i] : NULL);
  return PCAL_OK;
}
