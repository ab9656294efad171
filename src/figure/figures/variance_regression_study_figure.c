/* The course of training with predicted variances, before and after variance-platt: three
 * panels as in Figures 4 and 8 of the paper for features, four as in Figure 9 for Friedman's
 * problem.  Lines are means of runs, bands their standard deviations.
 *
 * 1. Variances and mean squared errors stand on a logarithmic axis.
 * 2. Other axes omit the highest sixth of the values of a line, which are far off at the start and
 *    after overfitting; lines are cut at the axis.
 * 3. With one run there is no band. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/study_figure_registry.h"

#define VARIANCE_FIGURE_LINES 3
#define VARIANCE_FIGURE_CUT 6 /* one value in this many may lie above the axis */

typedef struct variance_figure_line {
  const char *column; /* of the table, or NULL */
  pc_look look;
} variance_figure_line;

typedef struct variance_figure_panel {
  const char *label;
  int logarithmic;
  variance_figure_line lines[VARIANCE_FIGURE_LINES];
} variance_figure_panel;

#define VARIANCE_FIGURE_BEFORE \
  { .tone = PC_TONE_B }
#define VARIANCE_FIGURE_AFTER \
  { .tone = PC_TONE_A }
#define VARIANCE_FIGURE_ERROR \
  { .tone = PC_TONE_INK, .dashed = 1 }

static const variance_figure_panel variance_figure_variance = {
    "mean predicted variance",
    1,
    {{"mse", VARIANCE_FIGURE_ERROR},
     {"variance", VARIANCE_FIGURE_BEFORE},
     {"variance after", VARIANCE_FIGURE_AFTER}}};
static const variance_figure_panel variance_figure_dss = {
    "dss", 0, {{"dss", VARIANCE_FIGURE_BEFORE}, {"dss after", VARIANCE_FIGURE_AFTER}}};
static const variance_figure_panel variance_figure_skce = {
    "skce", 0, {{"skce", VARIANCE_FIGURE_BEFORE}, {"skce after", VARIANCE_FIGURE_AFTER}}};
static const variance_figure_panel variance_figure_mse = {
    "mean squared error", 1, {{"mse", VARIANCE_FIGURE_ERROR}}};

/* One line and its band, in the units of the axis. */
typedef struct variance_figure_curve {
  size_t count;
  double *at, *value, *low, *high;
} variance_figure_curve;

static pcal_status variance_figure_read(const pc_table *table, const char *column,
                                        int logarithmic, const pcal_env *env,
                                        variance_figure_curve *out, pcal_error *err) {
  char spread[PC_TABLE_NAME_MAX];
  snprintf(spread, sizeof spread, "%s sd", column);
  const size_t value = pc_table_find_column(table, column),
               sd = pc_table_find_column(table, spread), count = table->row_count;
  out->count = count;
  out->at = pc_alloc(env, 4 * count + 1, sizeof *out->at);
  if (out->at == NULL)
    return pc_fail_memory(err, "drawing a study");
  out->value = out->at + count;
  out->low = out->value + count;
  out->high = out->low + count;
  for (size_t i = 0; i < count; i++) {
    const double mean = pc_table_at(table, i, value)->number;
    const double off = pc_table_at(table, i, sd)->number;
    const double reach = isfinite(off) ? off : 0.0, least = 0.1 * mean;
    out->at[i] = pc_table_at(table, i, 0)->number;
    out->value[i] = logarithmic ? pc_log10(mean) : mean;
    out->low[i] = logarithmic ? pc_log10(fmax(mean - reach, least)) : mean - reach;
    out->high[i] = logarithmic ? pc_log10(mean + reach) : mean + reach;
  }
  return PCAL_OK;
}

static int variance_figure_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Widens the range to the values of a curve that are shown. */
static pcal_status variance_figure_range(const variance_figure_curve *curve, int logarithmic,
                                         const pcal_env *env, double range[2],
                                         pcal_error *err) {
  double *sorted = pc_alloc(env, curve->count + 1, sizeof *sorted);
  const size_t cut = logarithmic ? 0 : curve->count / VARIANCE_FIGURE_CUT;
  if (sorted == NULL)
    return pc_fail_memory(err, "drawing a study");
  memcpy(sorted, curve->value, curve->count * sizeof *sorted);
  qsort(sorted, curve->count, sizeof *sorted, variance_figure_order);
  range[0] = fmin(range[0], sorted[0]);
  range[1] = fmax(range[1], sorted[curve->count - 1 - cut]);
  pc_free(env, sorted);
  return PCAL_OK;
}

/* Names 1, 2 and 5 times powers of ten, or only powers of ten for a wide range. */
static void variance_figure_decades(pc_figure *figure, size_t panel, const double range[2]) {
  static const double steps[] = {1, 2, 5};
  const size_t step = range[1] - range[0] > 2.2 ? 3 : 1;
  for (int power = (int)floor(range[0]); power <= (int)ceil(range[1]); power++)
    for (size_t s = 0; s < 3; s += step) {
      const double number = steps[s] * pc_pow(10, power);
      char name[PC_NUMBER_TEXT_MAX];
      if (pc_log10(number) < range[0] || pc_log10(number) > range[1])
        continue;
      pc_fixed_text(number, power < 0 ? -power : 0, name);
      pc_figure_name_tick(figure, panel, PC_SIDE_Y, pc_log10(number), name);
    }
  if (!figure->failed)
    figure->panels[panel].axis[PC_SIDE_Y].lined = 1;
}

static void variance_figure_axes(pc_figure *figure, size_t panel,
                                 const variance_figure_panel *shown, const double range[2],
                                 double last, int lowest) {
  const double pad = range[1] > range[0] ? 0.04 * (range[1] - range[0]) : 0.5;
  const double wide[2] = {range[0] - pad, range[1] + pad};
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, last, 5, PC_NUMBERS_PLAIN,
                 lowest ? "iteration" : NULL);
  pc_figure_axis(figure, panel, PC_SIDE_Y, wide[0], wide[1], 6, PC_NUMBERS_PLAIN, shown->label);
  if (shown->logarithmic)
    variance_figure_decades(figure, panel, wide);
}

static double variance_figure_inside(const pc_axis *axis, double y) {
  return fmin(fmax(y, axis->low), axis->high);
}

static pcal_status variance_figure_band(pc_figure *figure, size_t panel, pc_look look,
                                        const variance_figure_curve *curve, pcal_error *err) {
  const pc_axis *axis = &figure->panels[panel].axis[PC_SIDE_Y];
  pc_point *points = pc_alloc(figure->env, 2 * curve->count + 1, sizeof *points);
  if (points == NULL)
    return pc_fail_memory(err, "drawing a study");
  for (size_t i = 0; i < curve->count; i++) {
    const size_t back = 2 * curve->count - 1 - i;
    points[i] = (pc_point){curve->at[i], variance_figure_inside(axis, curve->high[i])};
    points[back] = (pc_point){curve->at[i], variance_figure_inside(axis, curve->low[i])};
  }
  look.wash = 1;
  look.dashed = 0;
  pc_figure_band(figure, panel, look, points, 2 * curve->count);
  pc_free(figure->env, points);
  return PCAL_OK;
}

/* Where the segment between two points crosses an end of the axis. */
static pc_point variance_figure_cross(const pc_axis *axis, pc_point in, pc_point out) {
  const double y = variance_figure_inside(axis, out.y);
  return (pc_point){in.x + (y - in.y) / (out.y - in.y) * (out.x - in.x), y};
}

static pcal_status variance_figure_draw(pc_figure *figure, size_t panel, pc_look look,
                                        const variance_figure_curve *curve, pcal_error *err) {
  const pc_axis *axis = &figure->panels[panel].axis[PC_SIDE_Y];
  pc_point *points = pc_alloc(figure->env, curve->count + 2, sizeof *points);
  pc_point before = {0, 0};
  size_t used = 0;
  int inside = 0;
  if (points == NULL)
    return pc_fail_memory(err, "drawing a study");
  for (size_t i = 0; i < curve->count; i++) {
    const pc_point here = {curve->at[i], curve->value[i]};
    const int now = here.y >= axis->low && here.y <= axis->high;
    if (i > 0 && now != inside)
      points[used++] = now ? variance_figure_cross(axis, here, before)
                           : variance_figure_cross(axis, before, here);
    if (now)
      points[used++] = here;
    if (used > 1 && (!now || i + 1 == curve->count))
      pc_figure_line(figure, panel, look, points, used);
    used = now ? used : 0;
    before = here;
    inside = now;
  }
  pc_free(figure->env, points);
  return PCAL_OK;
}

typedef struct variance_figure_state {
  const pc_table *table;
  pc_figure *figure;
  const variance_figure_panel *panels[4];
  size_t count;
  variance_figure_curve curves[4][VARIANCE_FIGURE_LINES];
} variance_figure_state;

static pcal_status variance_figure_prepare(variance_figure_state *state, size_t p,
                                           const pc_panel_grid *grid, pcal_error *err) {
  const variance_figure_panel *shown = state->panels[p];
  const pc_table *table = state->table;
  const pcal_env *env = state->figure->env;
  double range[2] = {INFINITY, -INFINITY};
  for (size_t l = 0; l < VARIANCE_FIGURE_LINES && shown->lines[l].column != NULL; l++) {
    PC_TRY(variance_figure_read(table, shown->lines[l].column, shown->logarithmic, env,
                                &state->curves[p][l], err));
    PC_TRY(variance_figure_range(&state->curves[p][l], shown->logarithmic, env, range, err));
  }
  const size_t column = p % grid->columns, row = p / grid->columns;
  const size_t panel = pc_figure_grid_panel(state->figure, column, row, NULL);
  variance_figure_axes(state->figure, panel, shown, range,
                       pc_table_at(table, table->row_count - 1, 0)->number,
                       row + 1 == grid->rows);
  return PCAL_OK;
}

static pcal_status variance_figure_marks(const variance_figure_state *state, pcal_error *err) {
  const pc_table *table = state->table;
  const int bands =
      isfinite(pc_table_at(table, 0, pc_table_find_column(table, "mse sd"))->number);
  for (size_t p = 0; p < state->count; p++)
    for (int pass = bands ? 0 : 1; pass < 2; pass++)
      for (size_t l = 0; l < VARIANCE_FIGURE_LINES; l++) {
        const variance_figure_line *line = &state->panels[p]->lines[l];
        if (line->column == NULL)
          break;
        if (pass == 0 && l == 0 && p < 2 && line->look.dashed)
          continue;
        PC_TRY(pass == 0 ? variance_figure_band(state->figure, p, line->look,
                                                &state->curves[p][l], err)
                         : variance_figure_draw(state->figure, p, line->look,
                                                &state->curves[p][l], err));
      }
  return PCAL_OK;
}

static pcal_status variance_figure_compose(variance_figure_state *state, int friedman,
                                           pcal_error *err) {
  static const pc_panel_grid three = {.columns = 3, .rows = 1},
                             four = {.columns = 2, .rows = 2};
  const pc_panel_grid *grid = friedman ? &four : &three;
  pc_figure *figure = state->figure;
  for (size_t p = 0; p < state->count; p++)
    PC_TRY(variance_figure_prepare(state, p, grid, err));
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look)VARIANCE_FIGURE_BEFORE, "as predicted");
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look)VARIANCE_FIGURE_AFTER,
                   "after variance-platt");
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look)VARIANCE_FIGURE_ERROR,
                   "mean squared error");
  pc_figure_lay_out(figure, grid);
  return figure->failed ? PCAL_OK : variance_figure_marks(state, err);
}

static pcal_status variance_figure_build(const pc_findings *findings, pc_figure *figure,
                                         pcal_error *err) {
  const pc_table *table = &findings->tables[2];
  const int friedman = findings->simulated;
  variance_figure_state state = {.table = table, .figure = figure, .count = friedman ? 4 : 3};
  state.panels[0] = friedman ? &variance_figure_dss : &variance_figure_variance;
  state.panels[1] = friedman ? &variance_figure_variance : &variance_figure_dss;
  state.panels[2] = &variance_figure_skce;
  state.panels[3] = &variance_figure_mse;
  if (!friedman && !figure->fixed_height)
    figure->height = 420;
  figure->title = pc_figure_add_string(figure, "Predicted variance during training");
  figure->subtitle = pc_figure_add_string(
      figure, isfinite(pc_table_at(table, 0, pc_table_find_column(table, "mse sd"))->number)
                  ? "test rows; means of runs, and one standard deviation of runs around them"
                  : "test rows");
  figure->description = pc_figure_add_string(figure, findings->summary);
  const pcal_status status = variance_figure_compose(&state, friedman, err);
  for (size_t p = 0; p < 4; p++)
    for (size_t l = 0; l < VARIANCE_FIGURE_LINES; l++)
      pc_free(figure->env, state.curves[p][l].at);
  return status;
}

const pc_study_figure pc_study_figure_variance_regression = {
    .study = "variance-regression",
    .width = 960,
    .height = 720,
    .build = variance_figure_build,
};
