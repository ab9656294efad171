/* By share of random labels: calibration errors; accuracy and mean confidence; the share of
 * predictions above each threshold that ECE omits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure/figure_layout.h"
#include "figure/figure_registry.h"
#include "figure/number_text.h"
#include "figure/study_figure_registry.h"

#define LABEL_NOISE_FIGURE_PANELS 3
#define LABEL_NOISE_FIGURE_LEVELS 1000 /* at most */

static const char *const label_noise_figure_titles[LABEL_NOISE_FIGURE_PANELS] = {
    "Calibration errors", "Accuracy and mean confidence",
    "Predictions above a threshold that ECE omits"};

/* Columns of a panel: columns[0] to below columns[1].  The table has noise, accuracy, confidence,
 * three errors and one share for each threshold. */
static void label_noise_figure_columns(const pc_table *table, size_t panel, size_t columns[2]) {
  const size_t first[] = {3, 1, 6}, last[] = {6, 3, table->column_count};
  columns[0] = first[panel];
  columns[1] = last[panel];
}

static pc_look label_noise_figure_look(size_t panel, size_t series) {
  static const pc_tone tones[] = {PC_TONE_A, PC_TONE_B, PC_TONE_C, PC_TONE_D, PC_TONE_E};
  if (panel < 2)
    return (pc_look){.tone = tones[series + 3 * panel], .size = 2};
  return (pc_look){
      .tone = series < 2 ? PC_TONE_INK : PC_TONE_MUTED, .size = 2, .dashed = series % 2 == 1};
}

static void label_noise_figure_name(const pc_table *table, size_t column, char *out,
                                    size_t size) {
  static const char *const names[] = {"noise", "accuracy", "mean confidence",
                                      "ECE",   "SCE",      "ACE"};
  if (column < sizeof names / sizeof *names)
    snprintf(out, size, "%s", names[column]);
  else
    snprintf(out, size, "above %s", table->columns[column] + strlen("omitted_"));
}

/* The range of values of a panel, slightly widened; errors and shares start at 0. */
static void label_noise_figure_range(const pc_table *table, size_t panel, double *low,
                                     double *high) {
  size_t columns[2];
  *low = panel == 1 ? 1 : 0;
  *high = 0;
  label_noise_figure_columns(table, panel, columns);
  for (size_t r = 0; r < table->row_count; r++)
    for (size_t c = columns[0]; c < columns[1]; c++) {
      const double value = pc_table_at(table, r, c)->number;
      *low = isnan(value) ? *low : fmin(*low, value);
      *high = isnan(value) ? *high : fmax(*high, value);
    }
  const double room = *high > *low ? *high - *low : fmax(*high, 0.1);
  *low -= panel == 1 ? 0.08 * room : 0;
  *high += 0.08 * room;
}

static void label_noise_figure_panel(const pc_table *table, size_t panel, pc_figure *figure) {
  const int last = panel + 1 == LABEL_NOISE_FIGURE_PANELS;
  const double most = pc_table_at(table, table->row_count - 1, 0)->number;
  double low, high;
  label_noise_figure_range(table, panel, &low, &high);
  pc_figure_grid_panel(figure, 0, panel, label_noise_figure_titles[panel]);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, most > 0 ? most : 1, 6,
                 last ? PC_NUMBERS_PLAIN : PC_NUMBERS_NONE,
                 last ? "share of random labels" : NULL);
  pc_figure_axis(figure, panel, PC_SIDE_Y, low, high, 4, PC_NUMBERS_PLAIN, NULL);
}

static void label_noise_figure_legend(const pc_table *table, pc_figure *figure) {
  char name[PC_TABLE_NAME_MAX];
  for (size_t panel = 0; panel < LABEL_NOISE_FIGURE_PANELS; panel++) {
    size_t columns[2];
    label_noise_figure_columns(table, panel, columns);
    if (panel > 0)
      pc_figure_legend_break(figure);
    for (size_t c = columns[0]; c < columns[1]; c++) {
      label_noise_figure_name(table, c, name, sizeof name);
      pc_figure_legend(figure, PC_SAMPLE_LINE, label_noise_figure_look(panel, c - columns[0]),
                       name);
    }
  }
}

/* Draws a line through the values that are not empty. */
static void label_noise_figure_line(const pc_table *table, size_t panel, size_t column,
                                    pc_look look, pc_figure *figure) {
  pc_point points[LABEL_NOISE_FIGURE_LEVELS];
  size_t used = 0;
  for (size_t r = 0; r < table->row_count && r < LABEL_NOISE_FIGURE_LEVELS; r++) {
    const double value = pc_table_at(table, r, column)->number;
    if (!isnan(value))
      points[used++] = (pc_point){pc_table_at(table, r, 0)->number, value};
  }
  if (used > 1)
    pc_figure_line(figure, panel, look, points, used);
}

static pcal_status label_noise_figure_build(const pc_findings *findings, pc_figure *figure,
                                            pcal_error *err) {
  static const pc_panel_grid grid = {
      .columns = 1, .rows = LABEL_NOISE_FIGURE_PANELS, .row_share = {1, 1, 1}};
  const pc_table *table = &findings->tables[0];
  (void)err;
  for (size_t panel = 0; panel < LABEL_NOISE_FIGURE_PANELS; panel++)
    label_noise_figure_panel(table, panel, figure);
  figure->title = pc_figure_add_string(figure, "Learning from labels with noise");
  figure->description = pc_figure_add_string(figure, findings->summary);
  label_noise_figure_legend(table, figure);
  pc_figure_lay_out(figure, &grid);
  for (size_t panel = 0; panel < LABEL_NOISE_FIGURE_PANELS; panel++) {
    size_t columns[2];
    label_noise_figure_columns(table, panel, columns);
    for (size_t c = columns[0]; c < columns[1]; c++)
      label_noise_figure_line(table, panel, c, label_noise_figure_look(panel, c - columns[0]),
                              figure);
  }
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_label_noise = {
    .study = "label-noise",
    .width = 640,
    .height = 760,
    .build = label_noise_figure_build,
};

const pc_figure_row pc_figure_label_noise = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "label-noise",
            .title = "errors, confidence and predictions omitted by ECE, by label noise",
            .formula = "as study label-noise, at 21 levels with one repeat",
            .about = "Trains a softmax regression on the scores of a model, or, without data, "
                     "on simulated rows, while a growing share of the labels is random. More "
                     "and more of the relevant predictions are not the largest of their row, "
                     "and ECE omits them.",
            .citation = "Nixon et al. (2019), Measuring calibration in deep learning, Figure 3",
        },
    .width = 640,
    .height = 760,
    .study = "label-noise:levels=21",
    .study_repeats = 1,
};
