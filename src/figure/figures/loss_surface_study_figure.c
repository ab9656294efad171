/* The cross entropy by temperature, and below it all other metrics as shares of their value at
 * T = 1, so that they fit one axis.
 *
 * 1. Up to four metrics have a colour each; more are drawn pale in one colour.
 * 2. Values above twice that at T = 1 are cut off; a metric that is 0 at T = 1 is left out. */
#include <math.h>
#include <stdio.h>

#include "base/elementary.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/study_figure_registry.h"
#include "figure/temperature_panels.h"

#define LOSS_SURFACE_STUDY_FIGURE_FEW 4
#define LOSS_SURFACE_STUDY_FIGURE_LIMIT 2.0
#define LOSS_SURFACE_STUDY_FIGURE_ONE ((size_t)(-PC_TEMPERATURE_FIRST) * PC_TEMPERATURE_STEPS)

/* Column 1 is the cross entropy. */
static void loss_surface_study_figure_read(const pc_table *table, size_t column, double unit,
                                           pc_temperature_curve *curve) {
  for (size_t t = 0; t < PC_TEMPERATURES; t++)
    curve->value[t] = pc_table_at(table, t, column)->number / unit;
  pc_temperature_curve_end(curve, column == 1);
}

static size_t loss_surface_study_figure_others(const pc_findings *findings) {
  return findings->tables[1].column_count - 2;
}

static pc_look loss_surface_study_figure_look(size_t metric, size_t count, double size) {
  const int few = count <= LOSS_SURFACE_STUDY_FIGURE_FEW;
  const pc_tone tone = few ? (pc_tone)((size_t)PC_TONE_B + metric) : PC_TONE_B;
  return (pc_look){.tone = tone, .pale = !few && size < 3, .size = size};
}

static void loss_surface_study_figure_metric(const pc_findings *findings, size_t metric,
                                             size_t panel, pc_figure *figure) {
  const pc_table *curves = &findings->tables[1], *minima = &findings->tables[0];
  const size_t count = loss_surface_study_figure_others(findings), column = metric + 2;
  const double unit = pc_table_at(curves, LOSS_SURFACE_STUDY_FIGURE_ONE, column)->number;
  const double at = pc_log2(pc_table_at(minima, metric + 1, 1)->number);
  const double low = pc_table_at(minima, metric + 1, 2)->number / unit;
  pc_temperature_curve curve;
  char number[PC_NUMBER_TEXT_MAX], hint[PC_TABLE_WORD_MAX + 2 * PC_NUMBER_TEXT_MAX];
  if (!(unit > 0))
    return;
  loss_surface_study_figure_read(curves, column, unit, &curve);
  pc_temperature_line(figure, panel,
                      loss_surface_study_figure_look(metric, count, count > 4 ? 1 : 2), &curve,
                      LOSS_SURFACE_STUDY_FIGURE_LIMIT);
  if (!(at >= PC_TEMPERATURE_FIRST && at <= PC_TEMPERATURE_LAST))
    return;
  pc_short_text(pc_exp2(at), number);
  snprintf(hint, sizeof hint, "%s: lowest at T = %s", pc_table_at(minima, metric + 1, 0)->word,
           number);
  pc_figure_point(figure, panel, loss_surface_study_figure_look(metric, count, 3.5),
                  (pc_point){at, low}, hint);
}

static void loss_surface_study_figure_legend(const pc_findings *findings, pc_figure *figure) {
  const size_t count = loss_surface_study_figure_others(findings);
  char text[PC_NUMBER_TEXT_MAX];
  pc_temperature_legend(figure, 0);
  snprintf(text, sizeof text, "%zu calibration errors", count);
  if (count > LOSS_SURFACE_STUDY_FIGURE_FEW)
    pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_B, .size = 2}, text);
  for (size_t m = 0; count <= LOSS_SURFACE_STUDY_FIGURE_FEW && m < count; m++)
    pc_figure_legend(figure, PC_SAMPLE_LINE, loss_surface_study_figure_look(m, count, 2),
                     findings->tables[1].columns[m + 2]);
}

static pcal_status loss_surface_study_figure_build(const pc_findings *findings,
                                                   pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 2, .row_share = {1, 1.3}};
  const size_t count = loss_surface_study_figure_others(findings);
  pc_temperature_curve entropy;
  (void)err;
  loss_surface_study_figure_read(&findings->tables[1], 1, 1, &entropy);
  pc_temperature_panel(figure, 0, &entropy, "Cross entropy", count == 0);
  const size_t panel = pc_figure_grid_panel(
      figure, 0, 1, "Calibration errors, as shares of their value at T = 1");
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, LOSS_SURFACE_STUDY_FIGURE_LIMIT, 5,
                 PC_NUMBERS_PLAIN, NULL);
  pc_temperature_axis(figure, panel, 1);
  figure->title = pc_figure_add_string(figure, "Errors and cross entropy by temperature");
  figure->description = pc_figure_add_string(figure, findings->summary);
  loss_surface_study_figure_legend(findings, figure);
  pc_figure_lay_out(figure, &grid);
  pc_temperature_marks(figure, 0, PC_TONE_A, &entropy, NULL);
  pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                    (pc_point){0, 0}, (pc_point){0, LOSS_SURFACE_STUDY_FIGURE_LIMIT});
  pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_A, .size = 1.5},
                    (pc_point){entropy.best, 0},
                    (pc_point){entropy.best, LOSS_SURFACE_STUDY_FIGURE_LIMIT});
  for (size_t m = 0; m < count; m++)
    loss_surface_study_figure_metric(findings, m, panel, figure);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_loss_surface = {
    .study = "loss-surface",
    .width = 640,
    .height = 700,
    .build = loss_surface_study_figure_build,
};
