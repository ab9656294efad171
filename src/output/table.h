/* A table of words and numbers, written as text, JSON, CSV or Markdown. */
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
  double number; /* NaN: nothing to say */
  char word[PC_TABLE_WORD_MAX];
} pc_table_cell;

typedef struct pc_table {
  const pcal_env *env;
  const char *study;  /* its name */
  char title[160];    /* of one table out of several */
  char summary[1024]; /* a sentence above the table */
  char columns[PC_TABLE_COLUMNS_MAX][PC_TABLE_NAME_MAX];
  size_t column_count;
  pc_table_cell *cells;
  size_t row_count, capacity;
} pc_table;

void pc_table_init(pc_table *table, const pcal_env *env, const char *study);
void pc_table_free(pc_table *table);

/* Columns first, then rows; cells of a new row are numbers that say nothing.  A name that is
 * there already gets a number: "ece (2)". */
void pc_table_add_column(pc_table *table, const char *name);
PC_CHECKED pcal_status pc_table_add_row(pc_table *table, pcal_error *err);

/* The place of a column by its name, or column_count. */
size_t pc_table_find_column(const pc_table *table, const char *name);
const pc_table_cell *pc_table_at(const pc_table *table, size_t row, size_t column);

/* Cells of the last row; -0 is kept as 0. */
void pc_table_set_word(pc_table *table, size_t column, const char *word);
void pc_table_set_number(pc_table *table, size_t column, double number);

void pc_table_write(const pc_table *table, pcal_format format, pc_text *out);

/* A cell as it stands in a CSV file; empty where there is nothing to say. */
void pc_table_write_csv_cell(const pc_table_cell *cell, pc_text *out);

/* Words in text or Markdown, with `end` behind them. */
void pc_write_line(pcal_format format, const char *words, const char *end, pc_text *out);
/* The table alone, not as JSON; and its rows as a JSON list of objects. */
void pc_table_write_body(const pc_table *table, pcal_format format, pc_text *out);
void pc_table_write_json_rows(const pc_table *table, pc_json *json);

#endif
