/* Lines over the number of rows, from the tables of studies. */
#ifndef PC_SIZE_LINES_H
#define PC_SIZE_LINES_H

#include "figure/figure.h"
#include "output/table.h"

#define PC_SIZE_LINES_MAX 11

/* Rows of a table that are one line. */
typedef struct pc_size_line {
  const char *name;
  size_t first, count;
  pc_look look;
} pc_size_line;

typedef struct pc_size_lines {
  const pc_table *table;
  pc_size_line line[PC_SIZE_LINES_MAX];
  size_t count, left_out; /* lines; more of them than there are looks for */
  double low, high;       /* rows */
} pc_size_lines;

/* The lines of a table: runs of rows with the same word in `column`, and of the first model
 * only.  The root Brier score and the Brier score are the lines that are read first. */
void pc_size_lines_read(const pc_table *table, const char *column, pc_size_lines *out);

/* The same by a column of numbers; names come behind. */
void pc_size_lines_read_numbers(const pc_table *table, const char *column, pc_size_lines *out);

/* Where numbers of a column lie, with their errors: a point is left out where there is none. */
typedef struct pc_size_column {
  const char *value, *error; /* error may be NULL */
} pc_size_column;

void pc_size_lines_range(const pc_size_lines *lines, pc_size_column column, double *low,
                         double *high);

/* A panel with a logarithmic axis of rows. */
void pc_size_lines_axes(pc_figure *figure, size_t panel, const pc_size_lines *lines, double low,
                        double high, const char *label);

void pc_size_lines_key(pc_figure *figure, const pc_size_lines *lines);

/* Bands of one standard error, lines and points with hints. */
void pc_size_lines_draw(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                        pc_size_column column);

/* The lines alone. */
void pc_size_lines_trace(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                         pc_size_column column);

/* A level for all sizes. */
void pc_size_lines_level(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                         double level, pc_look look);

#endif
