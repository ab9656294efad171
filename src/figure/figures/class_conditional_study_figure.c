/* ECE and class-conditional ECE of each method, model by model. */
#include <stdio.h>

#include "figure/dot_rows.h"
#include "figure/figure_layout.h"
#include "figure/study_figure_registry.h"

static pcal_status class_conditional_figure_build(const pc_findings *findings,
                                                  pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  static const pc_dot_series series[] = {{"ece", "ECE", PC_TONE_A},
                                         {"class_ece", "class-conditional ECE", PC_TONE_B}};
  const pc_dot_rows rows = {&findings->tables[0], "method", series, 2, 1};
  (void)err;
  if (!figure->fixed_height)
    figure->height = 180 + 34 * (double)findings->tables[0].row_count;
  const size_t panel = pc_dot_rows_panel(figure, &rows, 0, 0, NULL, "calibration error");
  pc_dot_rows_legend(figure, &rows);
  figure->title = pc_figure_add_string(figure, "Histogram binning, class by class");
  figure->description = pc_figure_add_string(figure, findings->summary);
  pc_figure_lay_out(figure, &grid);
  pc_dot_rows_marks(figure, &rows, panel);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_class_conditional = {
    .study = "class-conditional",
    .width = 640,
    .height = 300,
    .build = class_conditional_figure_build,
};
