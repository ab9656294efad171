/* Rows of a table drawn as rows of points: a name on the left, a point for each series. */
#ifndef PC_DOT_ROWS_H
#define PC_DOT_ROWS_H

#include "figure/figure.h"
#include "output/table.h"

typedef struct pc_dot_series {
  const char *column; /* of the table */
  const char *name;   /* in the legend */
  pc_tone tone;
} pc_dot_series;

typedef struct pc_dot_rows {
  const pc_table *table;
  const char *names; /* the column with the names of rows */
  const pc_dot_series *series;
  size_t series_count;
  int from_zero; /* the axis begins at 0 */
} pc_dot_rows;

/* Adds a panel in a cell of the grid; call before the layout.  Returns its index. */
size_t pc_dot_rows_panel(pc_figure *figure, const pc_dot_rows *rows, size_t column, size_t row,
                         const char *title, const char *label);

/* Adds the legend; call before the layout. */
void pc_dot_rows_legend(pc_figure *figure, const pc_dot_rows *rows);

/* Adds points and hairlines; call after the layout. */
void pc_dot_rows_marks(pc_figure *figure, const pc_dot_rows *rows, size_t panel);

#endif
