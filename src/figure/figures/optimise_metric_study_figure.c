/* ECE and the control after optimising metrics with a property.  The value without any temperature
 * is far above the others and only in the table. */
#include "figure/dot_rows.h"
#include "figure/figure_layout.h"
#include "figure/study_figure_registry.h"

static pcal_status optimise_metric_figure_build(const pc_findings *findings, pc_figure *figure,
                                                pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  static const pc_dot_series series[] = {{"ece", "ECE", PC_TONE_A},
                                         {"control", "control, RMSCE", PC_TONE_B}};
  pc_table shown = findings->tables[0];
  shown.row_count--;
  const pc_dot_rows rows = {&shown, "property", series, 2, 1};
  (void)err;
  const size_t panel = pc_dot_rows_panel(figure, &rows, 0, 0, NULL, "calibration error");
  pc_dot_rows_legend(figure, &rows);
  figure->title = pc_figure_add_string(figure, "ECE after optimising other metrics");
  figure->description = pc_figure_add_string(figure, findings->summary);
  pc_figure_lay_out(figure, &grid);
  pc_dot_rows_marks(figure, &rows, panel);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_optimise_metric = {
    .study = "optimise-metric",
    .width = 640,
    .height = 500,
    .build = optimise_metric_figure_build,
};
