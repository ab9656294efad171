/* Calibration errors between their bounds, from the first table of the study taxonomy: the
 * estimates and, hollow, the errors of the rows' own distribution.
 *
 * 1. Where a row's own error is its estimate, only the estimate is drawn. */
#include <math.h>

#include "figure/bounds_bars.h"
#include "figure/layout.h"
#include "figure/study_figure.h"

#define TAXONOMY_STUDY_FIGURE_ROWS 16

static double taxonomy_study_figure_number(const pc_study_table *table, size_t row,
                                           const char *column) {
  return pc_study_table_cell(table, row, pc_study_table_find(table, column))->number;
}

static pc_bounded taxonomy_study_figure_row(const pc_study_table *table, size_t row) {
  const double value = taxonomy_study_figure_number(table, row, "estimate");
  const double own = taxonomy_study_figure_number(table, row, "rows_own");
  const double low = taxonomy_study_figure_number(table, row, "low");
  return (pc_bounded){.name = pc_study_table_cell(table, row, 0)->word,
                      .known = isfinite(value),
                      .value = isfinite(value) ? value : 0.0,
                      .low = low,
                      .high = taxonomy_study_figure_number(table, row, "high"),
                      .has_interval = isfinite(low),
                      .below = taxonomy_study_figure_number(table, row, "below"),
                      .above = taxonomy_study_figure_number(table, row, "above"),
                      .other = own == value ? (double)NAN : own};
}

static pcal_status taxonomy_study_figure_build(const pc_findings *findings, pc_figure *figure,
                                               pcal_error *err) {
  static const pc_grid grid = {.columns = 1, .rows = 1};
  const pc_study_table *table = &findings->tables[0];
  pc_bounded rows[TAXONOMY_STUDY_FIGURE_ROWS];
  size_t count = 0;
  (void)err;
  for (; count < table->row_count && count < TAXONOMY_STUDY_FIGURE_ROWS; count++)
    rows[count] = taxonomy_study_figure_row(table, count);
  pc_bounds_axes(figure, rows, count);
  figure->title = pc_figure_keep(figure, "Calibration errors between their bounds");
  figure->description = pc_figure_keep(figure, findings->summary);
  pc_figure_lay_out(figure, &grid);
  pc_bounds_marks(figure, rows, count);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_taxonomy = {
    .study = "taxonomy",
    .width = 640,
    .height = 480,
    .build = taxonomy_study_figure_build,
};
