/* Lines by number of rows, from the tables of studies. */
#ifndef PC_SIZE_LINES_H
#define PC_SIZE_LINES_H

#include "figure/figure.h"
#include "figure/number_text.h"
#include "output/table.h"

#define PC_SIZE_LINES_MAX 11

/* Rows of a table drawn as one line. */
typedef struct pc_size_line {
  const char *name;
  size_t first, count;
  pc_look look;
} pc_size_line;

typedef struct pc_size_lines {
  const pc_table *table;
  pc_size_line line[PC_SIZE_LINES_MAX];
  size_t count, left_out; /* lines drawn; lines left out because all line styles are used */
  double low, high;       /* rows */
} pc_size_lines;

/* Finds the lines of a table: consecutive rows with the same word in `column`, of the first model
 * only.  The root Brier score and the Brier score are drawn most prominently. */
void pc_size_lines_read(const pc_table *table, const char *column, pc_size_lines *out);

/* The same by a column of numbers; the caller sets the names. */
void pc_size_lines_read_numbers(const pc_table *table, const char *column, pc_size_lines *out);

/* Names the lines by the column "factor": "calibrated" for 1, else "logits x 1.5".  names: one for
 * each line, which must outlive the lines. */
void pc_size_lines_name_factors(pc_size_lines *lines, char (*names)[PC_NUMBER_TEXT_MAX]);
/* Sets dash and stroke width of all lines. */
void pc_size_lines_style(pc_size_lines *lines, int dashed, double size);

/* A column of values and one of their standard errors. */
typedef struct pc_size_column {
  const char *value, *error; /* error may be NULL */
} pc_size_column;

/* Widens *low and *high to hold all values with their errors. */
void pc_size_lines_range(const pc_size_lines *lines, pc_size_column column, double *low,
                         double *high);

/* Sets the axes of a panel; that of rows is logarithmic. */
void pc_size_lines_axes(pc_figure *figure, size_t panel, const pc_size_lines *lines, double low,
                        double high, const char *label);

void pc_size_lines_legend(pc_figure *figure, const pc_size_lines *lines);

/* Draws bands of one standard error, lines, and points with hover texts. */
void pc_size_lines_draw(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                        pc_size_column column);

/* Draws the lines only. */
void pc_size_lines_trace(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                         pc_size_column column);

/* Draws a horizontal line. */
void pc_size_lines_level(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                         double level, pc_look look);

#endif
