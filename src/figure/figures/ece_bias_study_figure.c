/* The ECE of simulated models by number of rows, with mu(n) and the truth.
 *
 * 1. Beyond five models colours repeat, dashed like mu(n); the legend names them. */
#include <stdio.h>
#include <string.h>

#include "figure/figure_layout.h"
#include "figure/figure_registry.h"
#include "figure/number_text.h"
#include "figure/size_lines.h"
#include "figure/study_figure_registry.h"

static const pc_size_column ece_bias_study_figure_mean = {"mean", "standard_error"};
static const pc_size_column ece_bias_study_figure_mu = {"mu", NULL};
static const pc_size_column ece_bias_study_figure_truth = {"truth", NULL};

static void ece_bias_study_figure_legend(pc_figure *figure, const pc_size_lines *lines) {
  pc_size_lines_legend(figure, lines);
  pc_figure_legend_break(figure);
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_MUTED, .size = 2},
                   "measured");
  pc_figure_legend(figure, PC_SAMPLE_LINE,
                   (pc_look){.tone = PC_TONE_MUTED, .size = 2, .dashed = 1},
                   "\xC2\xB5(n) of Proposition 3.3");
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_MUTED, .size = 1},
                   "truth");
}

static pcal_status ece_bias_study_figure_build(const pc_findings *findings, pc_figure *figure,
                                               pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  double low = 0, high = 0;
  char names[PC_SIZE_LINES_MAX][PC_NUMBER_TEXT_MAX];
  pc_size_lines lines;
  (void)err;
  pc_size_lines_read_numbers(&findings->tables[0], "factor", &lines);
  pc_size_lines_name_factors(&lines, names);
  pc_size_lines_range(&lines, ece_bias_study_figure_mean, &low, &high);
  pc_size_lines_range(&lines, ece_bias_study_figure_mu, &low, &high);
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_size_lines_axes(figure, panel, &lines, -0.02 * high, 1.05 * high, "ECE");
  figure->title = pc_figure_add_string(figure, "The ECE and the truth");
  figure->subtitle = pc_figure_add_string(figure, "means over simulated subsets");
  figure->description = pc_figure_add_string(figure, findings->summary);
  ece_bias_study_figure_legend(figure, &lines);
  pc_figure_lay_out(figure, &grid);
  pc_size_lines_style(&lines, 0, 1);
  pc_size_lines_trace(figure, panel, &lines, ece_bias_study_figure_truth);
  pc_size_lines_style(&lines, 0, 2);
  pc_size_lines_draw(figure, panel, &lines, ece_bias_study_figure_mean);
  for (size_t i = 0; i < lines.count; i++)
    lines.line[i].look.tone = PC_TONE_INK;
  pc_size_lines_style(&lines, 1, 1.5);
  pc_size_lines_trace(figure, panel, &lines, ece_bias_study_figure_mu);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_ece_bias = {
    .study = "ece-bias",
    .width = 640,
    .height = 500,
    .build = ece_bias_study_figure_build,
};

/* The figure of `plot`, which runs the study with few repeats. */
const pc_figure_row pc_figure_ece_bias = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "ece-bias",
            .title = "the ECE of simulated models and the truth, by number of rows",
            .formula = "mean ECE over 30 random subsets of n rows; mu(n) of Proposition 3.3; "
                       "the ECE of the true probabilities",
            .about =
                "Even a calibrated model has an ECE above 0, which grows as the number of "
                "rows shrinks; Proposition 3.3 says how much. The models are simulated, so "
                "that the truth is known; predictions are not used. This is the figure of "
                "the study ece-bias with 30 subsets of each size (or `replicas`), "
                "out of 10000 rows.",
            .citation = "Gruber & Buettner (2022), Better uncertainty calibration via proper "
                        "scores for classification and beyond, Figure 2",
        },
    .width = 640,
    .height = 500,
    .study = "ece-bias:pool=1",
    .study_repeats = 30,
};
