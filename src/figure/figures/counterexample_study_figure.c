/* Errors that are zero beside the canonical error, which is not: for the distribution of
 * Proposition 3.2 with growing numbers of classes and, with predictions of a model, after
 * transforms of them, with the remaining sharpness. */
#include <math.h>
#include <stdio.h>

#include "figure/dot_rows.h"
#include "figure/figure_layout.h"
#include "figure/study_figure_registry.h"

static const pc_dot_series counterexample_study_figure_errors[] = {
    {"ece", "ECE", PC_TONE_A}, {"canonical", "canonical error", PC_TONE_B}};
static const pc_dot_series counterexample_study_figure_sharp[] = {
    {"sharpness", "sharpness", PC_TONE_INK}};

static const char *const counterexample_study_figure_series[] = {"canonical", "cwce", "ece"};
static const pc_tone counterexample_study_figure_tones[] = {PC_TONE_B, PC_TONE_C, PC_TONE_A};

/* Places the numbers of classes at equal distances. */
static void counterexample_study_figure_laws(const pc_table *table, pc_figure *figure) {
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, "A distribution of K classes");
  double highest = 0;
  for (size_t r = 0; r < table->row_count; r++)
    highest =
        fmax(highest, pc_table_at(table, r, pc_table_find_column(table, "formula"))->number);
  pc_figure_axis(figure, panel, PC_SIDE_X, -0.4, (double)table->row_count - 0.6, 2,
                 PC_NUMBERS_PLAIN, "classes");
  pc_figure_axis(figure, panel, PC_SIDE_Y, -0.04 * highest, 1.1 * highest, 5, PC_NUMBERS_PLAIN,
                 "error");
  for (size_t r = 0; r < table->row_count; r++) {
    char name[32];
    snprintf(name, sizeof name, "%.0f", pc_table_at(table, r, 0)->number);
    pc_figure_name_tick(figure, panel, PC_SIDE_X, (double)r, name);
  }
}

static void counterexample_study_figure_law_marks(const pc_table *table, pc_figure *figure) {
  for (size_t s = 0; s < 3; s++) {
    const size_t column = pc_table_find_column(table, counterexample_study_figure_series[s]);
    const double size = s == 1 ? 7 : 5;
    for (size_t r = 0; r < table->row_count; r++) {
      const pc_point at = {(double)r, pc_table_at(table, r, column)->number};
      if (s == 0 && r > 0)
        pc_figure_segment(figure, 0, (pc_look){.tone = PC_TONE_B, .size = 1.5},
                          (pc_point){at.x - 1, pc_table_at(table, r - 1, column)->number}, at);
      pc_figure_point(figure, 0,
                      (pc_look){.tone = counterexample_study_figure_tones[s], .size = size}, at,
                      counterexample_study_figure_series[s]);
    }
  }
}

static pcal_status counterexample_study_figure_build(const pc_findings *findings,
                                                     pc_figure *figure, pcal_error *err) {
  const int own = findings->table_count > 1;
  const pc_panel_grid grid = {.columns = 1, .rows = own ? 3 : 1, .row_share = {1.2, 1, 1}};
  pc_dot_rows errors = {own ? &findings->tables[1] : NULL, "method",
                        counterexample_study_figure_errors, 2, 1};
  pc_dot_rows sharp = errors;
  (void)err;
  sharp.series = counterexample_study_figure_sharp;
  sharp.series_count = 1;
  sharp.from_zero = 0;
  if (own && !figure->fixed_height)
    figure->height = 520 + 60 * (double)errors.table->row_count;
  counterexample_study_figure_laws(&findings->tables[0], figure);
  if (own) {
    pc_dot_rows_panel(figure, &errors, 0, 1, "Your predictions: errors", "error");
    pc_dot_rows_panel(figure, &sharp, 0, 2, "Your predictions: sharpness",
                      "sharpness (Brier score)");
  }
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_A}, "ECE");
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_C}, "CWCE, class-wise");
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_B}, "canonical error");
  figure->title = pc_figure_add_string(figure, "Zero error is not calibration");
  figure->description = pc_figure_add_string(figure, findings->summary);
  pc_figure_lay_out(figure, &grid);
  counterexample_study_figure_law_marks(&findings->tables[0], figure);
  if (own) {
    pc_dot_rows_marks(figure, &errors, 1);
    pc_dot_rows_marks(figure, &sharp, 2);
  }
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_counterexample = {
    .study = "counterexample",
    .width = 640,
    .height = 420,
    .build = counterexample_study_figure_build,
};
