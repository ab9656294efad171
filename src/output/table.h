/* A table of words and numbers, written as text, JSON, CSV, Markdown or LaTeX. */
#ifndef PC_TABLE_H
#define PC_TABLE_H

#include "base/escape.h"
#include "base/json.h"
#include "base/memory.h"

#define PC_TABLE_COLUMNS_MAX 64
#define PC_TABLE_NAME_MAX 160
#define PC_TABLE_WORD_MAX 96

typedef struct pc_table_cell {
  int is_number;
  double number;                /* NaN: the cell is empty */
  char word[PC_TABLE_WORD_MAX]; /* if the cell is not a number; longer words are truncated */
} pc_table_cell;

typedef struct pc_table {
  const pcal_env *env;
  const char *study;  /* name of the study or command that made it; borrowed */
  char title[160];    /* where one result has several tables, else "" */
  char name[48];      /* for a file: words of the title, "metrics-by-temperature" */
  char summary[1024]; /* a sentence above the table */
  char columns[PC_TABLE_COLUMNS_MAX][PC_TABLE_NAME_MAX];
  const char *labels[PC_TABLE_COLUMNS_MAX]; /* shorter names for figures, or NULL; borrowed */
  pcal_better better[PC_TABLE_COLUMNS_MAX]; /* LaTeX: the best of a column is bold */
  pcal_unit units[PC_TABLE_COLUMNS_MAX];
  pcal_better row_better; /* LaTeX: the best of each row is bold */
  size_t column_count;
  pc_table_cell *cells; /* row by row */
  size_t row_count, capacity;
} pc_table;

void pc_table_init(pc_table *table, const pcal_env *env, const char *study);
void pc_table_free(pc_table *table);

/* Add all columns first, then rows; cells of a new row are empty.  A second column of the same
 * name is numbered: "ece (2)".  Columns beyond PC_TABLE_COLUMNS_MAX are dropped. */
void pc_table_add_column(pc_table *table, const char *name);
/* The name of a column in a figure: its label if it has one.  pc_table_set_label: borrows it;
 * NULL: none; a column that does not exist is ignored. */
void pc_table_set_label(pc_table *table, size_t column, const char *label);
const char *pc_table_label(const pc_table *table, size_t column);
/* Says that a column contains values of a metric; row: of the registry, NULL: none. */
void pc_table_set_metric(pc_table *table, size_t column, const pcal_registry_row *row);
PC_CHECKED pcal_status pc_table_add_row(pc_table *table, pcal_error *err);

/* Index of the column of this name; column_count if there is none. */
size_t pc_table_find_column(const pc_table *table, const char *name);
const pc_table_cell *pc_table_at(const pc_table *table, size_t row, size_t column);
/* The number in the column of this name, which must exist. */
double pc_table_number(const pc_table *table, size_t row, const char *column);

/* Set a cell of the last row; a column that does not exist is ignored, -0 is stored as 0. */
void pc_table_set_word(pc_table *table, size_t column, const char *word);
void pc_table_set_number(pc_table *table, size_t column, double number);

/* Writes the summary (text and Markdown) and the table. */
void pc_table_write(const pc_table *table, pcal_format format, pc_text *out);

/* The table without its summary, as text, CSV, Markdown or LaTeX. */
void pc_table_write_body(const pc_table *table, pcal_format format, pc_text *out);
void pc_table_write_latex(const pc_table *table, pc_text *out);
/* The rows as a JSON list of objects. */
void pc_table_write_json_rows(const pc_table *table, pc_json *json);
/* A cell of a CSV file; nothing for an empty cell. */
void pc_table_write_csv_cell(const pc_table_cell *cell, pc_text *out);

/* Writes `words`, escaped for text or Markdown, and then `end` as it is. */
void pc_write_line(pcal_format format, const char *words, const char *end, pc_text *out);
/* Writes words, escaped for text or Markdown, in lines of at most `width` columns; a line end
 * in them ends a line. */
void pc_write_paragraph(pcal_format format, const char *words, size_t width, pc_text *out);

#endif
