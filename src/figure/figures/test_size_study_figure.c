/* Errors by number of rows, and the same relative to all rows.
 *
 * 1. Of several models their means are drawn if they could be joined, else the first model.
 * 2. Metrics without a value at any size appear in the legend only. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/figure_registry.h"
#include "figure/size_lines.h"
#include "figure/study_figure_registry.h"
#include "studies/size_sweep.h"

static void test_size_study_figure_subtitle(const pc_size_lines *lines, pc_figure *figure) {
  char text[160];
  snprintf(text, sizeof text, "means over random subsets%s",
           lines->left_out > 0 ? "; not all metrics are drawn" : "");
  figure->subtitle = pc_figure_add_string(figure, text);
}

static pcal_status test_size_study_figure_build(const pc_findings *findings, pc_figure *figure,
                                                pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 2, .rows = 1};
  static const pc_size_column error = {PC_SIZE_COLUMN_MEAN, PC_SIZE_COLUMN_ERROR};
  static const pc_size_column change = {PC_SIZE_COLUMN_RELATIVE, PC_SIZE_COLUMN_RELATIVE_ERROR};
  double low = 0, high = 0, least = 1, most = 1;
  pc_size_lines lines;
  (void)err;
  pc_size_lines_read(&findings->tables[findings->table_count - 1], PC_SIZE_COLUMN_METRIC,
                     &lines);
  pc_size_lines_range(&lines, error, &low, &high);
  pc_size_lines_range(&lines, change, &least, &most);
  const size_t left = pc_figure_grid_panel(figure, 0, 0, "Error");
  const size_t right = pc_figure_grid_panel(figure, 1, 0, "Ratio to all");
  const double rest = 0.05 * (most - least) + 0.01;
  pc_size_lines_axes(figure, left, &lines, low, 1.05 * high, NULL);
  pc_size_lines_axes(figure, right, &lines, fmax(least - rest, least < 0 ? -INFINITY : 0),
                     most + rest, NULL);
  figure->title = pc_figure_add_string(figure, "Errors by number of rows");
  figure->description = pc_figure_add_string(figure, findings->summary);
  test_size_study_figure_subtitle(&lines, figure);
  pc_size_lines_legend(figure, &lines);
  pc_figure_lay_out(figure, &grid);
  pc_size_lines_level(figure, right, &lines, 1,
                      (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5});
  pc_size_lines_draw(figure, left, &lines, error);
  pc_size_lines_draw(figure, right, &lines, change);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_test_size = {
    .study = "test-size",
    .width = 880,
    .height = 520,
    .build = test_size_study_figure_build,
};

/* The figure of `plot`, which runs the study with few repeats. */
const pc_figure_row pc_figure_test_size = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "test-size",
            .title = "errors by number of rows",
            .formula = "mean of each metric over 30 random subsets of n rows, and the same "
                       "divided by its value on all rows",
            .about =
                "A metric that depends on the number of rows describes the sample size as much "
                "as the model: an unbiased estimator is a flat line. This is the figure of the "
                "study test-size with 30 subsets of each size, or `replicas` of them.",
            .citation = "Gruber & Buettner (2022), Better uncertainty calibration via proper "
                        "scores for classification and beyond, Figure 3",
        },
    .width = 880,
    .height = 520,
    .study = "test-size",
    .study_repeats = 30,
};
