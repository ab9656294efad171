/* A table as a tabular environment.
 *
 *   1. Columns of numbers are aligned right and have the same number of decimals; columns that
 *      contain a word are aligned left.
 *   2. The best value of a column whose metric says which values are better, or of each row of
 *      a table that says so, is bold; nothing is bold among equal values.
 *   3. Shares are given in percent; heads name the unit. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "output/latex.h"
#include "output/table.h"

static int table_latex_is_words(const pc_table *table, size_t column) {
  for (size_t r = 0; r < table->row_count; r++)
    if (!pc_table_at(table, r, column)->is_number)
      return 1;
  return 0;
}

static double table_latex_value(const pc_table *table, size_t row, size_t column) {
  const pc_table_cell *cell = pc_table_at(table, row, column);
  return cell->is_number ? cell->number * pc_latex_scale(table->units[column]) : (double)NAN;
}

/* A head with spaces for the underscores of names such as rows_needed. */
static void table_latex_label(const char *label, pc_text *out) {
  while (*label != '\0') {
    const size_t length = strcspn(label, "_");
    pc_text part;
    pc_text_init(&part, out->env);
    pc_text_add_bytes(&part, label, length);
    pc_text_latex(out, part.failed || length == 0 ? "" : part.bytes);
    out->failed |= part.failed;
    pc_text_free(&part);
    label += length;
    if (*label == '_') {
      pc_text_add(out, " ");
      label++;
    }
  }
}

static void table_latex_head(const pc_table *table, pc_text *out) {
  char alignment[PC_TABLE_COLUMNS_MAX + 1] = "";
  for (size_t c = 0; c < table->column_count; c++)
    alignment[c] = table_latex_is_words(table, c) ? 'l' : 'r';
  pc_latex_begin(alignment, out);
  for (size_t c = 0; c < table->column_count; c++) {
    pc_text_add(out, c == 0 ? "" : " & ");
    table_latex_label(pc_table_label(table, c), out);
    pc_text_add(out, pc_latex_unit(table->units[c]));
  }
  pc_text_add(out, " \\\\\n\\midrule\n");
}

/* Decimals of a column, and the cells of it that are bold, at bold[row * columns + column]. */
static int table_latex_column(const pc_table *table, size_t column, double *values,
                              uint8_t *marks, uint8_t *bold) {
  for (size_t r = 0; r < table->row_count; r++)
    values[r] = table_latex_value(table, r, column);
  const int decimals = pc_latex_decimals(values, table->row_count);
  pc_latex_best(values, table->row_count, table->better[column], decimals, marks);
  for (size_t r = 0; r < table->row_count; r++)
    bold[r * table->column_count + column] = marks[r];
  return decimals;
}

/* Marks the best numbers of each row, for tables with row_better; all have equal decimals. */
static void table_latex_rows(const pc_table *table, int *decimals, uint8_t *bold) {
  double values[PC_TABLE_COLUMNS_MAX];
  int most = 0;
  if (table->row_better == PCAL_BETTER_NONE)
    return;
  for (size_t c = 0; c < table->column_count; c++)
    most = decimals[c] > most ? decimals[c] : most;
  for (size_t c = 0; c < table->column_count; c++)
    decimals[c] = most;
  for (size_t r = 0; r < table->row_count; r++) {
    for (size_t c = 0; c < table->column_count; c++)
      values[c] = table_latex_value(table, r, c);
    pc_latex_best(values, table->column_count, table->row_better, most,
                  &bold[r * table->column_count]);
  }
}

static void table_latex_row(const pc_table *table, size_t row, const int *decimals,
                            const uint8_t *bold, pc_text *out) {
  for (size_t c = 0; c < table->column_count; c++) {
    const pc_table_cell *cell = pc_table_at(table, row, c);
    pc_text_add(out, c == 0 ? "" : " & ");
    if (cell->is_number)
      pc_latex_number(table_latex_value(table, row, c), decimals[c],
                      bold[row * table->column_count + c], out);
    else
      pc_text_latex(out, cell->word);
  }
  pc_text_add(out, " \\\\\n");
}

void pc_table_write_latex(const pc_table *table, pc_text *out) {
  const size_t rows = table->row_count, columns = table->column_count;
  int decimals[PC_TABLE_COLUMNS_MAX];
  double *values = pc_alloc(table->env, rows + 1, sizeof *values);
  uint8_t *bold = pc_alloc(table->env, rows + 1, columns + 1);
  if (values != NULL && bold != NULL) {
    for (size_t c = 0; c < columns; c++)
      decimals[c] = table_latex_column(table, c, values, &bold[rows * columns], bold);
    table_latex_rows(table, decimals, bold);
    table_latex_head(table, out);
    for (size_t r = 0; r < rows; r++)
      table_latex_row(table, r, decimals, bold, out);
    pc_latex_end(out);
  }
  out->failed |= values == NULL || bold == NULL;
  pc_free(table->env, values);
  pc_free(table->env, bold);
}
