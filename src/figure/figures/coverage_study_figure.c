/* Share of intervals that contain the true value: a point for each row of the study's table.
 *
 * 1. Tests, and rows whose true value is unknown, are left out. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/study_figure_registry.h"

static size_t coverage_study_figure_rows(const pc_table *table) {
  size_t shown = 0;
  for (size_t r = 0; r < table->row_count; r++)
    shown += isfinite(pc_table_number(table, r, "coverage"));
  return shown;
}

static void coverage_study_figure_axes(const pc_table *table, size_t shown, pc_figure *figure) {
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  double low = 0.9;
  for (size_t r = 0; r < table->row_count; r++)
    low = fmin(low, pc_table_number(table, r, "coverage"));
  pc_figure_axis(figure, panel, PC_SIDE_X, fmax(0, floor(low * 20) / 20 - 0.01), 1.005, 6,
                 PC_NUMBERS_PERCENT, "intervals that contain the true value");
  pc_figure_axis(figure, panel, PC_SIDE_Y, (double)shown - 0.4, -0.6, 2, PC_NUMBERS_PLAIN,
                 NULL);
}

static void coverage_study_figure_points(const pc_table *table, pc_figure *figure) {
  const pc_look look = {.tone = PC_TONE_A};
  double at = 0;
  for (size_t r = 0; r < table->row_count; r++) {
    const double share = pc_table_number(table, r, "coverage");
    char number[PC_NUMBER_TEXT_MAX], hint[2 * PC_NUMBER_TEXT_MAX + PC_TABLE_WORD_MAX];
    if (!isfinite(share))
      continue;
    pc_fixed_text(100 * share, 1, number);
    snprintf(hint, sizeof hint, "%s, %.0f rows: %s %%", pc_table_at(table, r, 0)->word,
             pc_table_number(table, r, "rows"), number);
    pc_figure_point(figure, 0, look, (pc_point){share, at++}, hint);
  }
}

static pcal_status coverage_study_figure_build(const pc_findings *findings, pc_figure *figure,
                                               pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_table *table = &findings->tables[0];
  const size_t shown = coverage_study_figure_rows(table);
  double at = 0;
  if (shown == 0)
    return pc_fail(err, PCAL_USAGE,
                   "study coverage drew no interval whose true value is known; add a metric "
                   "such as brier");
  if (!figure->fixed_height)
    figure->height = 180 + 30 * (double)shown;
  coverage_study_figure_axes(table, shown, figure);
  for (size_t r = 0; r < table->row_count; r++)
    if (isfinite(pc_table_number(table, r, "coverage")))
      pc_figure_name_tick(figure, 0, PC_SIDE_Y, at++, pc_table_at(table, r, 0)->word);
  figure->title = pc_figure_add_string(figure, "Do intervals contain the true value?");
  figure->description = pc_figure_add_string(figure, findings->summary);
  pc_figure_legend(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_FILL}, "93 % to 97 %");
  pc_figure_lay_out(figure, &grid);
  pc_figure_bar(figure, 0, (pc_look){.tone = PC_TONE_FILL, .wash = 1}, (pc_point){0.93, -0.6},
                (pc_point){0.97, (double)shown - 0.4}, NULL);
  coverage_study_figure_points(table, figure);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_coverage = {
    .study = "coverage",
    .width = 640,
    .height = 480,
    .build = coverage_study_figure_build,
};
