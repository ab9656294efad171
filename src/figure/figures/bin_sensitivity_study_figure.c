/* Mean rank correlation between numbers of bins, by property of the metric. */
#include "figure/dot_rows.h"
#include "figure/figure_layout.h"
#include "figure/study_figure_registry.h"

static pcal_status bin_sensitivity_study_figure_build(const pc_findings *findings,
                                                      pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  static const pc_dot_series series[] = {{"spearman", "Spearman", PC_TONE_A},
                                         {"printed_formula", "the printed formula", PC_TONE_B}};
  const pc_dot_rows rows = {&findings->tables[0], "property", series, 2, 0};
  (void)err;
  const size_t panel =
      pc_dot_rows_panel(figure, &rows, 0, 0, NULL, "rank correlation between numbers of bins");
  pc_dot_rows_legend(figure, &rows);
  figure->title = pc_figure_add_string(figure, "Does the number of bins decide the ranking?");
  figure->description = pc_figure_add_string(figure, findings->summary);
  pc_figure_lay_out(figure, &grid);
  pc_dot_rows_marks(figure, &rows, panel);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_bin_sensitivity = {
    .study = "bin-sensitivity",
    .width = 640,
    .height = 480,
    .build = bin_sensitivity_study_figure_build,
};
