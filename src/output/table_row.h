/* Rows of CSV and Markdown tables, and padded cells of text: the one place that quotes cells. */
#ifndef PC_TABLE_ROW_H
#define PC_TABLE_ROW_H

#include "base/text.h"

/* Writes one row after the other; format is PCAL_CSV or PCAL_MARKDOWN. */
typedef struct pc_table_row {
  pcal_format format;
  pc_text *out;
  size_t column; /* cells written in this row */
} pc_table_row;

pc_table_row pc_table_row_new(pcal_format format, pc_text *out);

/* Cells from left to right: a word, escaped for the format; a name, as code in Markdown. */
void pc_table_row_word(pc_table_row *row, const char *word);
void pc_table_row_name(pc_table_row *row, const char *name);
/* Begins a cell that the caller writes into row->out itself; it must need no escapes. */
void pc_table_row_begin_cell(pc_table_row *row);
void pc_table_row_end(pc_table_row *row);

/* A cell of the line below the head of a Markdown table: right- or left-aligned. */
void pc_table_row_rule(pc_table_row *row, int right);

/* A cell of text, escaped for a terminal and padded to `width` columns; right: right-aligned,
 * that is, padded on the left. */
void pc_write_padded(const char *cell, size_t width, int right, pc_text *out);

#endif
