/* 1. The axis begins at 0, or a little below the lowest value.
 * 2. Empty cells have no point. */
#include "figure/dot_rows.h"

#include <math.h>
#include <stdio.h>

#include "figure/number_text.h"

#define DOT_ROWS_NAME (2 * PC_TABLE_WORD_MAX + 4)

static double dot_rows_value(const pc_dot_rows *rows, size_t row, size_t series) {
  const size_t column = pc_table_find_column(rows->table, rows->series[series].column);
  return pc_table_at(rows->table, row, column)->number;
}

/* Writes the name of a row, with its model if there are several; returns out. */
static const char *dot_rows_name(const pc_dot_rows *rows, size_t row, char out[DOT_ROWS_NAME]) {
  const pc_table *table = rows->table;
  const size_t column = pc_table_find_column(table, rows->names);
  const size_t model = pc_table_find_column(table, "model");
  const char *name = pc_table_at(table, row, column)->word;
  if (model == table->column_count)
    snprintf(out, DOT_ROWS_NAME, "%s", name);
  else
    snprintf(out, DOT_ROWS_NAME, "%s, %s", pc_table_at(table, row, model)->word, name);
  return out;
}

/* The range of the axis; 0 to 1 if there is no value. */
static void dot_rows_range(const pc_dot_rows *rows, double *low, double *high) {
  *low = (double)INFINITY;
  *high = -(double)INFINITY;
  for (size_t r = 0; r < rows->table->row_count; r++)
    for (size_t s = 0; s < rows->series_count; s++) {
      const double value = dot_rows_value(rows, r, s);
      *low = isnan(value) ? *low : fmin(*low, value);
      *high = isnan(value) ? *high : fmax(*high, value);
    }
  if (!(*low <= *high)) {
    *low = 0;
    *high = 1;
  }
  if (rows->from_zero)
    *low = fmin(*low, 0);
  const double room = *high > *low ? *high - *low : fmax(fabs(*high), 1);
  *low -= rows->from_zero && *low >= 0 ? 0 : 0.06 * room;
  *high += 0.06 * room;
}

size_t pc_dot_rows_panel(pc_figure *figure, const pc_dot_rows *rows, size_t column, size_t row,
                         const char *title, const char *label) {
  const size_t panel = pc_figure_grid_panel(figure, column, row, title);
  char name[DOT_ROWS_NAME];
  double low, high;
  dot_rows_range(rows, &low, &high);
  pc_figure_axis(figure, panel, PC_SIDE_X, low, high, 6, PC_NUMBERS_PLAIN, label);
  pc_figure_axis(figure, panel, PC_SIDE_Y, (double)rows->table->row_count - 0.4, -0.6, 2,
                 PC_NUMBERS_PLAIN, NULL);
  for (size_t r = 0; r < rows->table->row_count; r++)
    pc_figure_name_tick(figure, panel, PC_SIDE_Y, (double)r, dot_rows_name(rows, r, name));
  return panel;
}

void pc_dot_rows_legend(pc_figure *figure, const pc_dot_rows *rows) {
  for (size_t s = 0; s < rows->series_count; s++)
    pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = rows->series[s].tone},
                     rows->series[s].name);
}

static void dot_rows_point(pc_figure *figure, const pc_dot_rows *rows, size_t panel, size_t row,
                           size_t series) {
  const double value = dot_rows_value(rows, row, series);
  char number[PC_NUMBER_TEXT_MAX], name[DOT_ROWS_NAME],
      hint[DOT_ROWS_NAME + 3 * PC_NUMBER_TEXT_MAX];
  if (isnan(value))
    return;
  pc_short_text(value, number);
  snprintf(hint, sizeof hint, "%s, %.70s: %s", dot_rows_name(rows, row, name),
           rows->series[series].name, number);
  pc_figure_point(figure, panel, (pc_look){.tone = rows->series[series].tone, .size = 5},
                  (pc_point){value, (double)row}, hint);
}

void pc_dot_rows_marks(pc_figure *figure, const pc_dot_rows *rows, size_t panel) {
  double low, high;
  dot_rows_range(rows, &low, &high);
  for (size_t r = 0; r < rows->table->row_count; r++)
    pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_FAINT, .size = 1},
                      (pc_point){low, (double)r}, (pc_point){high, (double)r});
  for (size_t s = 0; s < rows->series_count; s++)
    for (size_t r = 0; r < rows->table->row_count; r++)
      dot_rows_point(figure, rows, panel, r, s);
}
