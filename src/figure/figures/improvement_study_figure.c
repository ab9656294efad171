/* The improvement by a calibrator, by each metric and number of rows.
 *
 * 1. Of several methods the first is drawn, of several models under one method their mean.
 * 2. Below the line at 0 the calibrator seems to make the model worse. */
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/figure_registry.h"
#include "figure/size_lines.h"
#include "figure/study_figure_registry.h"
#include "studies/size_sweep.h"

static void improvement_study_figure_subtitle(const pc_size_lines *lines, pc_figure *figure) {
  const pc_table *table = lines->table;
  const size_t model = pc_table_find_column(table, PC_SIZE_COLUMN_MODEL);
  char text[256];
  snprintf(text, sizeof text, "%s%smeans over random subsets%s",
           model == table->column_count ? "" : pc_table_at(table, 0, model)->word,
           model == table->column_count ? "" : ": ",
           lines->left_out > 0 ? "; not all metrics are drawn" : "");
  figure->subtitle = pc_figure_add_string(figure, text);
}

static pcal_status improvement_study_figure_build(const pc_findings *findings,
                                                  pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  static const pc_size_column column = {PC_SIZE_COLUMN_MEAN, PC_SIZE_COLUMN_ERROR};
  double low = 0, high = 0;
  pc_size_lines lines;
  (void)err;
  pc_size_lines_read(&findings->tables[findings->table_count - 1], PC_SIZE_COLUMN_METRIC,
                     &lines);
  pc_size_lines_range(&lines, column, &low, &high);
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  const double rest = 0.05 * (high - low);
  pc_size_lines_axes(figure, panel, &lines, low - rest, high + rest,
                     "improvement by the calibrator");
  figure->title = pc_figure_add_string(figure, "Improvement by rows");
  figure->description = pc_figure_add_string(figure, findings->summary);
  improvement_study_figure_subtitle(&lines, figure);
  pc_size_lines_legend(figure, &lines);
  pc_figure_lay_out(figure, &grid);
  pc_size_lines_level(figure, panel, &lines, 0,
                      (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5});
  pc_size_lines_draw(figure, panel, &lines, column);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_improvement = {
    .study = "improvement",
    .width = 640,
    .height = 520,
    .build = improvement_study_figure_build,
};

/* The figure of `plot`, which runs the study with few repeats. */
const pc_figure_row pc_figure_improvement = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "improvement",
            .title = "improvement by temperature scaling, by number of rows",
            .formula = "mean of e(D, f) - e(D, h o f) over 30 random subsets D of n rows, h: "
                       "temperature scaling",
            .about =
                "The apparent improvement by temperature scaling depends on the metric and on "
                "the number of rows: only proper scores are flat lines. Without a second set "
                "the temperature is found in 5-fold cross-validation. This is the figure of "
                "the study improvement with 30 subsets of each size, or `replicas` of them; "
                "there any calibrator can be studied.",
            .citation = "Gruber & Buettner (2022), Better uncertainty calibration via proper "
                        "scores for classification and beyond, Figure 1",
        },
    .width = 640,
    .height = 520,
    .study = "improvement",
    .study_repeats = 30,
};
