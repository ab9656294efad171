/* The tables of the study spline-tables side by side: a row for each method, a point for each
 * case and, where there are several, one for their mean. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/study_figure_registry.h"

#define SPLINE_TABLES_STUDY_FIGURE_COLUMNS 2

static double spline_tables_study_figure_mean(const pc_table *table, size_t column) {
  double sum = 0;
  for (size_t r = 0; r < table->row_count; r++)
    sum += pc_table_at(table, r, column)->number;
  return sum / (double)table->row_count;
}

static void spline_tables_study_figure_range(const pc_table *table, double *low, double *high) {
  *low = (double)INFINITY;
  *high = 0;
  for (size_t r = 0; r < table->row_count; r++)
    for (size_t c = 1; c < table->column_count; c++) {
      *low = fmin(*low, pc_table_at(table, r, c)->number);
      *high = fmax(*high, pc_table_at(table, r, c)->number);
    }
  if (*low < 0.5 * *high)
    *low = 0;
  const double room = *high > *low ? *high - *low : 1;
  *low -= *low > 0 ? 0.1 * room : 0;
  *high += 0.06 * room;
}

/* Adds a panel; only the first of each line has names. */
static void spline_tables_study_figure_panel(pc_figure *figure, const pc_table *table,
                                             size_t index) {
  const size_t column = index % SPLINE_TABLES_STUDY_FIGURE_COLUMNS;
  const size_t panel = pc_figure_grid_panel(
      figure, column, index / SPLINE_TABLES_STUDY_FIGURE_COLUMNS, table->title);
  double low, high;
  spline_tables_study_figure_range(table, &low, &high);
  pc_figure_axis(figure, panel, PC_SIDE_X, low, high, 4, PC_NUMBERS_PLAIN, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_Y, (double)table->column_count - 0.4, 0.4, 2,
                 column == 0 ? PC_NUMBERS_PLAIN : PC_NUMBERS_NONE, NULL);
  for (size_t c = 1; c < table->column_count; c++)
    pc_figure_name_tick(figure, panel, PC_SIDE_Y, (double)c, pc_table_label(table, c));
}

static void spline_tables_study_figure_marks(pc_figure *figure, const pc_table *table,
                                             size_t panel) {
  char number[PC_NUMBER_TEXT_MAX], hint[3 * PC_TABLE_WORD_MAX];
  double low, high;
  spline_tables_study_figure_range(table, &low, &high);
  for (size_t c = 1; c < table->column_count; c++) {
    pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_FAINT, .size = 1},
                      (pc_point){low, (double)c}, (pc_point){high, (double)c});
    for (size_t r = 0; r < table->row_count; r++) {
      const double value = pc_table_at(table, r, c)->number;
      pc_fixed_text(value, 3, number);
      snprintf(hint, sizeof hint, "%s, %s: %s %%", pc_table_at(table, r, 0)->word,
               table->columns[c], number);
      pc_figure_point(figure, panel,
                      (pc_look){.tone = PC_TONE_A, .size = table->row_count > 1 ? 3.5 : 5},
                      (pc_point){value, (double)c}, hint);
    }
    if (table->row_count > 1)
      pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_INK, .size = 2.5},
                        (pc_point){spline_tables_study_figure_mean(table, c), (double)c - 0.3},
                        (pc_point){spline_tables_study_figure_mean(table, c), (double)c + 0.3});
  }
}

static pcal_status spline_tables_study_figure_build(const pc_findings *findings,
                                                    pc_figure *figure, pcal_error *err) {
  const size_t lines = (findings->table_count + 1) / SPLINE_TABLES_STUDY_FIGURE_COLUMNS;
  const pc_panel_grid grid = {.columns = SPLINE_TABLES_STUDY_FIGURE_COLUMNS, .rows = lines};
  (void)err;
  if (!figure->fixed_height)
    figure->height = 120 + (double)lines * (90 + 24 * (double)findings->tables[0].column_count);
  for (size_t t = 0; t < findings->table_count; t++)
    spline_tables_study_figure_panel(figure, &findings->tables[t], t);
  if (findings->tables[0].row_count > 1) {
    pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_A}, "a case");
    pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_INK},
                     "mean of the cases");
  }
  figure->title = pc_figure_add_string(figure, "Calibration methods and splines");
  figure->description = pc_figure_add_string(figure, findings->summary);
  pc_figure_lay_out(figure, &grid);
  for (size_t t = 0; t < findings->table_count; t++)
    spline_tables_study_figure_marks(figure, &findings->tables[t], t);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_spline_tables = {
    .study = "spline-tables",
    .width = 960,
    .height = 720,
    .build = spline_tables_study_figure_build,
};
