#include "output/table_row.h"

#include <math.h>

#include "base/escape.h"

pc_table_row pc_table_row_new(pcal_format format, pc_text *out) {
  return (pc_table_row){format, out, 0};
}

void pc_table_row_begin_cell(pc_table_row *row) {
  const int first = row->column++ == 0;
  if (row->format == PCAL_CSV)
    pc_text_add(row->out, first ? "" : ",");
  else
    pc_text_add(row->out, first ? "| " : " | ");
}

void pc_table_row_word(pc_table_row *row, const char *word) {
  pc_table_row_begin_cell(row);
  (row->format == PCAL_CSV ? pc_text_csv : pc_text_markdown)(row->out, word);
}

void pc_table_row_name(pc_table_row *row, const char *name) {
  pc_table_row_begin_cell(row);
  (row->format == PCAL_CSV ? pc_text_csv : pc_text_markdown_code)(row->out, name);
}

void pc_table_row_end(pc_table_row *row) {
  pc_text_add(row->out, row->format == PCAL_CSV ? "\n" : " |\n");
  row->column = 0;
}

void pc_table_row_rule(pc_table_row *row, int right) {
  pc_table_row_begin_cell(row);
  pc_text_add(row->out, right ? "---:" : "---");
}

void pc_write_padded(const char *cell, size_t width, int right, pc_text *out) {
  const size_t used = pc_terminal_width(cell);
  const size_t gap = width > used ? width - used : 0;
  pc_text_add_repeated(out, ' ', right ? gap : 0);
  pc_text_terminal(out, cell);
  pc_text_add_repeated(out, ' ', right ? 0 : gap);
}
