/* Calibration errors between their bounds, from the first table of the study taxonomy: the
 * estimates and, hollow, the errors of the rows' own distribution.
 *
 * 1. Where both are equal, only the estimate is drawn. */
#include <math.h>

#include "figure/bounds_bars.h"
#include "figure/figure_layout.h"
#include "figure/study_figure_registry.h"

#define TAXONOMY_STUDY_FIGURE_ROWS 16

static pc_bounded_error taxonomy_study_figure_row(const pc_table *table, size_t row) {
  const double value = pc_table_number(table, row, "estimate");
  const double own = pc_table_number(table, row, "rows_own");
  const double low = pc_table_number(table, row, "low");
  return (pc_bounded_error){.name = pc_table_at(table, row, 0)->word,
                            .known = isfinite(value),
                            .value = isfinite(value) ? value : 0.0,
                            .low = low,
                            .high = pc_table_number(table, row, "high"),
                            .has_interval = isfinite(low),
                            .below = pc_table_number(table, row, "below"),
                            .above = pc_table_number(table, row, "above"),
                            .other = own == value ? (double)NAN : own};
}

static pcal_status taxonomy_study_figure_build(const pc_findings *findings, pc_figure *figure,
                                               pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const pc_table *table = &findings->tables[0];
  pc_bounded_error rows[TAXONOMY_STUDY_FIGURE_ROWS];
  size_t count = 0;
  (void)err;
  for (; count < table->row_count && count < TAXONOMY_STUDY_FIGURE_ROWS; count++)
    rows[count] = taxonomy_study_figure_row(table, count);
  pc_bounds_bars_axes(figure, rows, count);
  figure->title = pc_figure_add_string(figure, "Calibration errors between their bounds");
  figure->description = pc_figure_add_string(figure, findings->summary);
  pc_figure_lay_out(figure, &grid);
  pc_bounds_bars_marks(figure, rows, count);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_taxonomy = {
    .study = "taxonomy",
    .width = 640,
    .height = 480,
    .build = taxonomy_study_figure_build,
};
