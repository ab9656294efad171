/* Means of the U-score and of the U-divergence over simulated sets by number of rows, with the true
 * error. */
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/size_lines.h"
#include "figure/study_figure_registry.h"

static const pc_size_column u_score_study_figure_score = {"u_score", "standard_error"};
static const pc_size_column u_score_study_figure_divergence = {"u_divergence", NULL};
static const pc_size_column u_score_study_figure_truth = {"truth", NULL};

static void u_score_study_figure_legend(pc_figure *figure, const pc_size_lines *lines) {
  const pc_look muted = {.tone = PC_TONE_MUTED, .size = 2};
  pc_size_lines_legend(figure, lines);
  pc_figure_legend_break(figure);
  pc_figure_legend(figure, PC_SAMPLE_LINE, muted, "u-score");
  pc_figure_legend(figure, PC_SAMPLE_LINE,
                   (pc_look){.tone = PC_TONE_MUTED, .size = 2, .dashed = 1}, "u-divergence");
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_MUTED, .size = 1},
                   "truth");
}

static pcal_status u_score_study_figure_build(const pc_findings *findings, pc_figure *figure,
                                              pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  double low = 0, high = 0;
  char names[PC_SIZE_LINES_MAX][PC_NUMBER_TEXT_MAX];
  pc_size_lines lines;
  (void)err;
  pc_size_lines_read_numbers(&findings->tables[1], "factor", &lines);
  pc_size_lines_name_factors(&lines, names);
  pc_size_lines_range(&lines, u_score_study_figure_score, &low, &high);
  pc_size_lines_range(&lines, u_score_study_figure_divergence, &low, &high);
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_size_lines_axes(figure, panel, &lines, low - 0.05 * high, 1.05 * high, "mean over sets");
  figure->title = pc_figure_add_string(figure, "The U-score and the truth");
  figure->subtitle =
      pc_figure_add_string(figure, "means over simulated sets, and the true error");
  figure->description = pc_figure_add_string(figure, findings->summary);
  u_score_study_figure_legend(figure, &lines);
  pc_figure_lay_out(figure, &grid);
  pc_size_lines_style(&lines, 0, 1);
  pc_size_lines_trace(figure, panel, &lines, u_score_study_figure_truth);
  pc_size_lines_style(&lines, 1, 2);
  pc_size_lines_trace(figure, panel, &lines, u_score_study_figure_divergence);
  pc_size_lines_style(&lines, 0, 2);
  pc_size_lines_draw(figure, panel, &lines, u_score_study_figure_score);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_u_score = {
    .study = "u-score",
    .width = 640,
    .height = 500,
    .build = u_score_study_figure_build,
};
