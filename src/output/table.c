#include "output/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "output/latex.h"
#include "output/table_row.h"

void pc_table_init(pc_table *table, const pcal_env *env, const char *study) {
  memset(table, 0, sizeof *table);
  table->env = env;
  table->study = study;
}

void pc_table_free(pc_table *table) {
  pc_free(table->env, table->cells);
  table->cells = NULL;
}

void pc_table_add_column(pc_table *table, const char *name) {
  char *out = table->columns[table->column_count];
  if (table->column_count == PC_TABLE_COLUMNS_MAX)
    return;
  snprintf(out, PC_TABLE_NAME_MAX, "%s", name);
  for (size_t copy = 2; pc_table_find_column(table, out) < table->column_count; copy++)
    snprintf(out, PC_TABLE_NAME_MAX, "%.*s (%zu)", PC_TABLE_NAME_MAX - 24, name, copy);
  table->column_count++;
}

void pc_table_set_label(pc_table *table, size_t column, const char *label) {
  if (column < table->column_count)
    table->labels[column] = label;
}

const char *pc_table_label(const pc_table *table, size_t column) {
  return table->labels[column] != NULL ? table->labels[column] : table->columns[column];
}

void pc_table_set_metric(pc_table *table, size_t column, const pcal_registry_row *row) {
  if (column >= table->column_count)
    return;
  table->better[column] = row == NULL ? PCAL_BETTER_NONE : row->better;
  table->units[column] = row == NULL ? PCAL_UNIT_NONE : row->unit;
}

pcal_status pc_table_add_row(pc_table *table, pcal_error *err) {
  void *block = table->cells;
  const pcal_status status =
      pc_reserve(table->env, &block, &table->capacity,
                 (table->row_count + 1) * table->column_count, sizeof *table->cells, err);
  table->cells = block;
  if (status != PCAL_OK)
    return status;
  table->row_count++;
  for (size_t c = 0; c < table->column_count; c++)
    pc_table_set_number(table, c, (double)NAN);
  return PCAL_OK;
}

size_t pc_table_find_column(const pc_table *table, const char *name) {
  size_t column = 0;
  while (column < table->column_count && strcmp(table->columns[column], name) != 0)
    column++;
  return column;
}

const pc_table_cell *pc_table_at(const pc_table *table, size_t row, size_t column) {
  return &table->cells[row * table->column_count + column];
}

double pc_table_number(const pc_table *table, size_t row, const char *column) {
  return pc_table_at(table, row, pc_table_find_column(table, column))->number;
}

static pc_table_cell *table_last_row_cell(const pc_table *table, size_t column) {
  return &table->cells[(table->row_count - 1) * table->column_count + column];
}

void pc_table_set_word(pc_table *table, size_t column, const char *word) {
  if (column >= table->column_count)
    return;
  pc_table_cell *cell = table_last_row_cell(table, column);
  cell->is_number = 0;
  snprintf(cell->word, sizeof cell->word, "%s", word);
}

void pc_table_set_number(pc_table *table, size_t column, double number) {
  if (column >= table->column_count)
    return;
  pc_table_cell *cell = table_last_row_cell(table, column);
  cell->is_number = 1;
  cell->number = number == 0.0 ? 0.0 : number; /* never -0 */
}

/* ---- writing ---- */

/* A cell as people read it, four significant digits; returns out. */
static const char *table_show(const pc_table_cell *cell, char out[PC_TABLE_WORD_MAX]) {
  char digits[PC_NUMBER_MAX];
  if (!cell->is_number) {
    pc_escape_copy(cell->word, out, PC_TABLE_WORD_MAX);
    return out;
  }
  if (isnan(cell->number)) {
    snprintf(out, PC_TABLE_WORD_MAX, "-");
    return out;
  }
  if (cell->number == floor(cell->number) && fabs(cell->number) < 1e15)
    pc_number_format(cell->number, digits);
  else
    pc_number_round(cell->number, 4, digits);
  snprintf(out, PC_TABLE_WORD_MAX, "%s", digits);
  return out;
}

static size_t table_width(const pc_table *table, size_t column) {
  char shown[PC_TABLE_WORD_MAX];
  size_t width = strlen(table->columns[column]);
  for (size_t r = 0; r < table->row_count; r++) {
    const size_t here = pc_text_width(table_show(pc_table_at(table, r, column), shown));
    width = here > width ? here : width;
  }
  return width;
}

static void table_text(const pc_table *table, pc_text *out) {
  char shown[PC_TABLE_WORD_MAX];
  for (size_t r = 0; r <= table->row_count; r++) {
    for (size_t c = 0; c < table->column_count; c++) {
      const char *cell =
          r == 0 ? table->columns[c] : table_show(pc_table_at(table, r - 1, c), shown);
      pc_text_add(out, c == 0 ? "" : "  ");
      pc_write_padded(cell, table_width(table, c), c > 0, out);
    }
    pc_text_add(out, "\n");
  }
}

void pc_table_write_json_rows(const pc_table *table, pc_json *json) {
  pc_json_open(json, '[');
  for (size_t r = 0; r < table->row_count; r++) {
    pc_json_open(json, '{');
    for (size_t c = 0; c < table->column_count; c++) {
      const pc_table_cell *cell = pc_table_at(table, r, c);
      pc_json_key(json, table->columns[c]);
      if (cell->is_number)
        pc_json_number(json, cell->number);
      else
        pc_json_string(json, cell->word);
    }
    pc_json_close(json, '}');
  }
  pc_json_close(json, ']');
}

static void table_json(const pc_table *table, pc_text *out) {
  pc_json json;
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  pc_json_key(&json, "propercal");
  pc_json_string(&json, PCAL_VERSION);
  pc_json_key(&json, "study");
  pc_json_string(&json, table->study);
  pc_json_key(&json, "summary");
  pc_json_string(&json, table->summary);
  pc_json_key(&json, "rows");
  pc_table_write_json_rows(table, &json);
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
}

void pc_table_write_csv_cell(const pc_table_cell *cell, pc_text *out) {
  if (cell->is_number && !isnan(cell->number))
    pc_text_number(out, cell->number);
  else if (!cell->is_number)
    pc_text_csv(out, cell->word);
}

static void table_csv(const pc_table *table, pc_text *out) {
  pc_table_row row = pc_table_row_new(PCAL_CSV, out);
  for (size_t c = 0; c < table->column_count; c++)
    pc_table_row_word(&row, table->columns[c]);
  pc_table_row_end(&row);
  for (size_t r = 0; r < table->row_count; r++) {
    for (size_t c = 0; c < table->column_count; c++) {
      pc_table_row_begin_cell(&row);
      pc_table_write_csv_cell(pc_table_at(table, r, c), out);
    }
    pc_table_row_end(&row);
  }
}

static void table_markdown(const pc_table *table, pc_text *out) {
  char shown[PC_TABLE_WORD_MAX];
  pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
  for (size_t c = 0; c < table->column_count; c++)
    pc_table_row_word(&row, table->columns[c]);
  pc_table_row_end(&row);
  for (size_t c = 0; c < table->column_count; c++)
    pc_table_row_rule(&row, c > 0);
  pc_table_row_end(&row);
  for (size_t r = 0; r < table->row_count; r++) {
    for (size_t c = 0; c < table->column_count; c++) {
      const pc_table_cell *cell = pc_table_at(table, r, c);
      if (cell->is_number)
        pc_table_row_word(&row, table_show(cell, shown));
      else
        pc_table_row_name(&row, cell->word);
    }
    pc_table_row_end(&row);
  }
}

void pc_write_line(pcal_format format, const char *words, const char *end, pc_text *out) {
  (format == PCAL_MARKDOWN ? pc_text_markdown : pc_text_terminal)(out, words);
  pc_text_add(out, end);
}

void pc_write_paragraph(pcal_format format, const char *words, size_t width, pc_text *out) {
  size_t column = 0;
  pc_text word;
  pc_text_init(&word, out->env);
  while (*words != '\0' && !word.failed) {
    const size_t length = strcspn(words, " \n");
    word.length = 0;
    pc_text_add_bytes(&word, words, length);
    const size_t here = word.failed ? 0 : pc_terminal_width(word.bytes);
    const int breaks = column > 0 && column + 1 + here > width;
    pc_text_add(out, column == 0 ? "" : breaks ? "\n" : " ");
    pc_write_line(format, word.failed ? "" : word.bytes, "", out);
    column = (column == 0 || breaks ? 0 : column + 1) + here;
    words += length;
    if (*words == '\n') {
      pc_text_add(out, "\n");
      column = 0;
    }
    words += *words != '\0';
  }
  out->failed |= word.failed;
  pc_text_free(&word);
  pc_text_add(out, "\n");
}

void pc_table_write_body(const pc_table *table, pcal_format format, pc_text *out) {
  static void (*const writers[])(const pc_table *, pc_text *) = {
      [PCAL_TEXT] = table_text,
      [PCAL_JSON] = table_json,
      [PCAL_CSV] = table_csv,
      [PCAL_MARKDOWN] = table_markdown,
      [PCAL_LATEX] = pc_table_write_latex,
  };
  writers[format](table, out);
}

void pc_table_write(const pc_table *table, pcal_format format, pc_text *out) {
  if (format == PCAL_TEXT || format == PCAL_MARKDOWN)
    pc_write_line(format, table->summary, "\n\n", out);
  if (format == PCAL_LATEX) {
    pc_latex_preamble(out);
    pc_latex_comment(table->summary, out);
  }
  pc_table_write_body(table, format, out);
}
