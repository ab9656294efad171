/* inspect for one file: its shape, the range of each column, and a hint at the kind of values.
 *
 * Kinds are declared when measuring, never guessed; the hint is a guess, the first that applies:
 *   0. columns named mean and std or variance, quantiles.LEVEL or samples.NUMBER: predictions of a
 *      number;
 *   1. one column of whole numbers >= 0: labels;
 *   2. columns in [0, 1] whose rows sum to 1 within 1e-2: probabilities;
 *   3. one column in [0, 1]: probabilities of class 1;
 *   4. columns <= 0 whose exponentials sum to 1: log-probabilities;
 *   5. other numbers: logits;
 * but of a table with predictions and outcomes, these columns, as inspect_guess.c guesses them. */
#include <math.h>
#include <string.h>

#include "base/argument_names.h"
#include "base/budget.h"
#include "base/elementary.h"
#include "base/json.h"
#include "base/number.h"
#include "base/sum.h"
#include "io/reader.h"
#include "io/selector.h"
#include "output/inspect.h"
#include "output/inspect_guess.h"
#include "output/write_results.h"

#define INSPECT_FILE_COLUMNS 20  /* columns listed in text */
#define INSPECT_FILE_ROWS 256    /* first rows, of which columns are guessed */
#define INSPECT_FILE_CELLS 65536 /* at most, so fewer rows of wide tables */

/* An exact sum in little memory: two numbers, of which the second is their rounded sum (Shewchuk
 * 1997), or where they do not suffice a pc_sum. */
#define INSPECT_FILE_PARTS 2

typedef struct inspect_sum {
  double part[INSPECT_FILE_PARTS];
  pc_sum *wide; /* owned, or NULL */
} inspect_sum;

typedef struct inspect_column {
  uint64_t numbers, missing, infinite, words;
  uint64_t first_missing;
  double low, high;
  inspect_sum sum;
  int whole; /* every number is whole and >= 0 */
} inspect_column;

typedef struct inspect_file {
  const pcal_env *env;
  pc_input_file bytes;
  const pc_file_format *format;
  pc_name_table members;   /* of a container whose member was not chosen */
  pc_reader reader;        /* not opened if there are several members */
  inspect_column *columns; /* one for each column shown, and one for all others */
  size_t shown;
  uint64_t rows;
  double sum_off, exp_sum_off; /* largest distance of a row's sum from 1 */
  uint64_t rows_off;           /* rows whose sum is off by more than 1e-5 */
  double *cells;               /* of the first rows: see pc_guess_table */
  char *words;
  size_t first_rows;  /* how many rows cells has room for */
  const char **roles; /* roles[c]: guess for column c, or NULL */
} inspect_file;

/* Moves a sum to a pc_sum, and adds a value. */
static int inspect_sum_widen(inspect_sum *sum, double value, const pcal_env *env) {
  const pcal_env columns = pc_env_for_use(env, PC_MEMORY_COLUMNS);
  sum->wide = pc_alloc_raw(&columns, 1, sizeof *sum->wide);
  if (sum->wide == NULL)
    return 0;
  pc_sum_clear(sum->wide);
  for (size_t i = 0; i < INSPECT_FILE_PARTS; i++)
    pc_sum_add(sum->wide, sum->part[i]);
  pc_sum_add(sum->wide, value);
  return 1;
}

/* hi + lo = a + b exactly, unless hi overflows. */
static double inspect_two_sum(double a, double b, double *lo) {
  const double hi = a + b, other = hi - a;
  *lo = (a - (hi - other)) + (b - other);
  return hi;
}

/* Adds a finite value; returns 0 without memory. */
static int inspect_sum_add(inspect_sum *sum, double value, const pcal_env *env) {
  double low, middle, rest;
  if (sum->wide != NULL) {
    pc_sum_add(sum->wide, value);
    return 1;
  }
  const double carry = inspect_two_sum(value, sum->part[0], &low);
  const double high = inspect_two_sum(carry, sum->part[1], &middle);
  const double top = inspect_two_sum(high, low + middle, &rest);
  if (!isfinite(top) || (low != 0.0 && middle != 0.0)) /* else low + middle is exact */
    return inspect_sum_widen(sum, value, env);
  sum->part[0] = rest;
  sum->part[1] = top;
  return 1;
}

static double inspect_sum_value(const inspect_sum *sum) {
  return sum->wide != NULL ? pc_sum_value(sum->wide) : sum->part[0] + sum->part[1];
}

/* Returns 0 without memory. */
static int inspect_number(inspect_column *column, double value, uint64_t row,
                          const pcal_env *env) {
  if (isnan(value)) {
    column->first_missing = column->missing == 0 ? row : column->first_missing;
    column->missing++;
    return 1;
  }
  column->low = column->numbers == 0 || value < column->low ? value : column->low;
  column->high = column->numbers == 0 || value > column->high ? value : column->high;
  column->numbers++;
  column->whole &= value >= 0 && value == floor(value);
  column->infinite += isinf(value) != 0;
  return isinf(value) || inspect_sum_add(&column->sum, value, env);
}

/* Reads a cell as a number; NaN if it is missing or, with *word set, a word. */
static double inspect_cell(const inspect_file *file, const char *at, int *word) {
  *word = 0;
  if (file->reader.cells == PC_CELLS_F32) {
    float value;
    memcpy(&value, at, sizeof value);
    return (double)value;
  }
  if (file->reader.cells == PC_CELLS_F64) {
    double value;
    memcpy(&value, at, sizeof value);
    return value;
  }
  pc_slice slice;
  memcpy(&slice, at, sizeof slice);
  slice = pc_slice_trim(slice, "");
  double value = NAN;
  if (!pc_slice_is_missing(slice))
    *word = !pc_csv_number(slice, file->reader.delimiter, &value);
  return *word ? (double)NAN : value;
}

static pcal_status inspect_row(inspect_file *file, const char *at, ptrdiff_t stride,
                               pcal_error *err) {
  double sum = 0.0, exp_sum = 0.0;
  const int first = file->rows < file->first_rows;
  for (size_t c = 0; c < file->reader.columns; c++, at += stride) {
    int word;
    const double value = inspect_cell(file, at, &word);
    if (first) {
      file->cells[file->rows * file->reader.columns + c] = value;
      file->words[c] |= (char)word;
    }
    inspect_column *column = &file->columns[c < file->shown ? c : file->shown];
    if (word)
      column->words++;
    else if (!inspect_number(column, value, file->rows, file->env))
      return pc_fail_memory(err, "inspecting");
    sum += value;
    exp_sum += pc_exp(value);
  }
  file->sum_off = fmax(file->sum_off, fabs(sum - 1));
  file->exp_sum_off = fmax(file->exp_sum_off, fabs(exp_sum - 1));
  file->rows_off += fabs(sum - 1) > 1e-5;
  file->rows++;
  return PCAL_OK;
}

static pcal_status inspect_allocate(inspect_file *file, pcal_error *err) {
  const pcal_env env = pc_env_for_use(file->env, PC_MEMORY_COLUMNS);
  const size_t columns = file->reader.columns, rows = INSPECT_FILE_CELLS / (columns + 1);
  file->columns = pc_alloc(&env, file->shown + 1, sizeof *file->columns);
  if (file->columns == NULL)
    return pc_fail_memory(err, "inspecting");
  file->first_rows = rows < INSPECT_FILE_ROWS ? rows : INSPECT_FILE_ROWS;
  if (file->first_rows == 0)
    return PCAL_OK;
  file->cells = pc_alloc(&env, file->first_rows * columns, sizeof *file->cells);
  file->words = pc_alloc(&env, columns, 1);
  file->roles = pc_alloc(&env, columns, sizeof *file->roles);
  return file->cells == NULL || file->words == NULL || file->roles == NULL
             ? pc_fail_memory(err, "inspecting")
             : PCAL_OK;
}

/* Guesses the roles of the columns from the first rows. */
static pcal_status inspect_guess_roles(inspect_file *file, pcal_error *err) {
  if (file->roles == NULL)
    return PCAL_OK;
  const pc_guess_table table = {
      .file = file->reader.bytes->name,
      .names = file->reader.names,
      .columns = file->reader.columns,
      .rows = file->rows < file->first_rows ? (size_t)file->rows : file->first_rows,
      .cells = file->cells,
      .words = file->words,
      .matrix = !pc_reader_has_lines(&file->reader),
  };
  return pc_inspect_guess(&table, file->env, file->roles, err);
}

static pcal_status inspect_scan(inspect_file *file, pcal_error *err) {
  PC_TRY(inspect_allocate(file, err));
  for (size_t c = 0; c <= file->shown; c++)
    file->columns[c].whole = 1;
  for (;;) {
    pc_window window;
    PC_TRY(pc_reader_next(&file->reader, file->reader.window_limit, &window, err));
    if (window.rows == 0)
      return inspect_guess_roles(file, err);
    const char *at = window.data;
    for (size_t r = 0; r < window.rows; r++, at += window.row_stride)
      PC_TRY(inspect_row(file, at, window.column_stride, err));
    PC_TRY(pc_check_interrupt(file->env, err));
  }
}

static pcal_status inspect_find_members(inspect_file *file, const char *selector,
                                        pcal_error *err) {
  if (selector != NULL)
    return PCAL_OK;
  PC_TRY(pc_file_format_find(&file->bytes, &file->format, err));
  return file->format->members == NULL
             ? PCAL_OK
             : file->format->members(&file->bytes, file->env, &file->members, err);
}

static pcal_status inspect_open(inspect_file *file, const char *text, int header,
                                pcal_error *err) {
  pc_selector selector = {NULL, NULL};
  PC_TRY(pc_selector_split(text, pc_input_file_exists(text), file->env, &selector, err));
  pcal_status status = pc_input_file_open(selector.path, file->env, &file->bytes, err);
  pc_read_request request = {
      .env = file->env, .bytes = &file->bytes, .selector = selector.columns};
  request.header = (pcal_header)header;
  request.as = PC_COLUMN_SCORES;
  if (status == PCAL_OK)
    status = inspect_find_members(file, selector.columns, err);
  const int whole = file->members.count <= 1;
  if (status == PCAL_OK && whole)
    status = pc_reader_open(&request, &file->reader, err);
  if (status == PCAL_OK && whole && pc_reader_has_lines(&file->reader)) {
    pc_reader_close(&file->reader);
    request.as = PC_COLUMN_TEXT;
    status = pc_reader_open(&request, &file->reader, err);
  }
  pc_selector_free(file->env, &selector);
  return status;
}

/* Totals over all columns. */
typedef struct inspect_overall {
  uint64_t missing, infinite, words;
  int whole;
  double low, high;
} inspect_overall;

static inspect_overall inspect_sum_up(const inspect_file *file) {
  inspect_overall all = {0, 0, 0, 1, INFINITY, -INFINITY};
  for (size_t c = 0; c <= file->shown; c++) {
    const inspect_column *column = &file->columns[c];
    all.missing += column->missing;
    all.infinite += column->infinite;
    all.words += column->words;
    all.whole &= column->whole;
    if (column->numbers > 0) {
      all.low = fmin(all.low, column->low);
      all.high = fmax(all.high, column->high);
    }
  }
  return all;
}

/* True if a column has this name or, for a name that ends in a dot, begins with it. */
static int inspect_has(const inspect_file *file, const char *name) {
  const size_t length = strlen(name), begins = name[length - 1] == '.';
  for (size_t c = 0; file->reader.names != NULL && c < file->reader.columns; c++)
    if (begins ? strncmp(file->reader.names[c], name, length) == 0
               : strcmp(file->reader.names[c], name) == 0)
      return 1;
  return 0;
}

/* A hint at predictions of a number, from the names of columns; else NULL. */
static const char *inspect_numbers_hint(const inspect_file *file) {
  if (inspect_has(file, "mean") && inspect_has(file, "std"))
    return "predictions of a number: could be {data}, with {mean}, {std} and {target}";
  if (inspect_has(file, "mean") && inspect_has(file, "variance"))
    return "predictions of a number: could be {data}, with {mean}, {variance} and {target}";
  if (inspect_has(file, "quantiles."))
    return "predictions of a number: could be {data}, with {quantiles} and {target}";
  return inspect_has(file, "samples.")
             ? "predictions of a number: could be {data}, with {samples} and {target}"
             : NULL;
}

static const char *inspect_hint(const inspect_file *file, const inspect_overall *all) {
  if (inspect_numbers_hint(file) != NULL)
    return inspect_numbers_hint(file);
  const int one = file->reader.columns == 1;
  const int unit = all->low >= -1e-2 && all->high <= 1 + 1e-2;
  if (all->words > 0)
    return one ? "names: could be {labels} or {groups}"
               : "a table: choose columns as file.csv:column or file.csv:first..last";
  if (one && all->whole)
    return "whole numbers: could be {labels}, {correct}, {weights} or {groups}";
  if (one && file->reader.listed)
    return "a list of one score for each row: save plain numbers for binary scores, or one "
           "score for each class";
  if (one)
    return unit ? "could be binary {probs}, or {confidence}" : "could be binary {logits}";
  if (unit && all->whole)
    return "zeros and ones: could be one-hot {labels}";
  if (unit && file->sum_off <= 1e-5)
    return "rows sum to 1: could be {probs}";
  if (unit && file->sum_off <= 1e-2)
    return "rows nearly sum to 1: could be {probs} with {normalize}";
  if (all->high <= 1e-5 && file->exp_sum_off <= 1e-2)
    return "exponentials of rows sum to 1: could be {log_probs}";
  return "could be {logits}";
}

static int inspect_has_role(const inspect_file *file, size_t c, const char *role) {
  return file->roles != NULL && file->roles[c] != NULL && strcmp(file->roles[c], role) == 0;
}

static void inspect_name(const inspect_file *file, size_t c, pc_text *out) {
  if (file->reader.names != NULL)
    pc_text_terminal(out, file->reader.names[c]);
  else
    pc_text_format(out, "column %zu", c);
}

/* Writes "p0..p9 could be --probs" for the columns of a role; returns how many there are. */
static size_t inspect_role_text(const inspect_file *file, const char *role,
                                const char *argument, const char *before,
                                pcal_interface interface, pc_text *out) {
  size_t first = 0, last = 0, count = 0;
  for (size_t c = 0; c < file->reader.columns; c++)
    if (inspect_has_role(file, c, role)) {
      first = count == 0 ? c : first;
      last = c;
      count++;
    }
  if (count == 0 || out == NULL)
    return count;
  pc_text_add(out, before);
  inspect_name(file, first, out);
  if (count > 1) {
    pc_text_add(out, last - first + 1 == count ? ".." : " to ");
    inspect_name(file, last, out);
  }
  pc_text_add(out, " could be ");
  pc_text_add_named(out, argument, interface);
  return count;
}

/* Writes the columns of a table that could be predictions and outcomes; 0 unless it has both. */
static int inspect_table_hint(const inspect_file *file, pcal_interface interface,
                              pc_text *out) {
  static const char *const roles[][2] = {
      {"probs", "{probs}"},           {"logits", "{logits}"}, {"log_probs", "{log_probs}"},
      {"confidence", "{confidence}"}, {"labels", "{labels}"}, {"correct", "{correct}"}};
  const size_t count = sizeof roles / sizeof *roles;
  size_t scores = 0, outcomes = 0;
  for (size_t i = 0; i < count; i++)
    *(i < 4 ? &scores : &outcomes) +=
        inspect_role_text(file, roles[i][0], roles[i][1], NULL, interface, NULL);
  if (scores == 0 || outcomes != 1)
    return 0;
  pc_text_add(out, "a table: ");
  for (size_t i = 0; i < count; i++)
    inspect_role_text(file, roles[i][0], roles[i][1], i < 4 ? "" : ", and ", interface, out);
  pc_text_add(out, "; choose columns as file.csv:column or file.csv:first..last");
  return 1;
}

static void inspect_write_hint(const inspect_file *file, const inspect_overall *all,
                               pcal_interface interface, pc_text *out) {
  if (inspect_numbers_hint(file) != NULL || !inspect_table_hint(file, interface, out))
    pc_text_add_named(out, inspect_hint(file, all), interface);
}

static void inspect_value(double value, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  if (isfinite(value) && value != floor(value))
    pc_number_round(value, 5, digits);
  else
    pc_number_format(value, digits);
  pc_text_add(out, digits);
}

static double inspect_mean(const inspect_column *column) {
  const uint64_t finite = column->numbers - column->infinite;
  return finite == 0 ? (double)NAN : inspect_sum_value(&column->sum) / (double)finite;
}

static void inspect_column_text(const inspect_file *file, size_t c, pc_text *out) {
  const inspect_column *column = &file->columns[c];
  if (file->reader.names != NULL) {
    pc_text_add(out, "  ");
    pc_text_terminal(out, file->reader.names[c]);
    pc_text_add(out, ": ");
  } else {
    pc_text_format(out, "  column %zu: ", c);
  }
  if (column->numbers > 0) {
    inspect_value(column->low, out);
    pc_text_add(out, " to ");
    inspect_value(column->high, out);
    pc_text_add(out, ", mean ");
    inspect_value(inspect_mean(column), out);
  }
  if (column->words > 0) {
    pc_text_add(out, column->numbers > 0 ? ", " : "");
    pc_write_count((double)column->words, out);
    pc_text_add(out, " words");
  }
  if (column->missing > 0) {
    pc_text_add(out, column->numbers + column->words > 0 ? ", " : "");
    pc_write_count((double)column->missing, out);
    pc_text_format(out, " missing, first in row %llu",
                   (unsigned long long)column->first_missing);
  }
  if (column->infinite > 0) {
    pc_text_add(out, ", ");
    pc_write_count((double)column->infinite, out);
    pc_text_add(out, " infinite");
  }
  pc_text_add(out, "\n");
}

static void inspect_file_text(const inspect_file *file, pc_text *out) {
  const inspect_overall all = inspect_sum_up(file);
  pc_text_terminal(out, file->reader.bytes->name);
  pc_text_format(out, ": %s, ", file->reader.format->name);
  pc_write_count((double)file->rows, out);
  pc_text_format(out, "%s x %zu %s", file->rows == 1 ? " row" : " rows", file->reader.columns,
                 file->reader.columns == 1 ? "column" : "columns");
  if (file->reader.stored[0] != '\0')
    pc_text_format(out, ", %s", file->reader.stored);
  pc_text_add(out, ", ");
  pc_write_count((double)file->bytes.length, out);
  pc_text_add(out, " bytes\n");
  for (size_t c = 0; c < file->shown; c++)
    inspect_column_text(file, c, out);
  if (file->reader.columns > file->shown)
    pc_text_format(out, "  and %zu more columns\n", file->reader.columns - file->shown);
  pc_text_add(out, "  ");
  inspect_write_hint(file, &all, file->env->caller, out);
  pc_text_add(out, "\n");
  if (all.missing + all.infinite > 0) {
    pc_text_add(out, "  problem: ");
    pc_write_count((double)(all.missing + all.infinite), out);
    pc_text_format(out, " %s missing or infinite; ",
                   all.missing + all.infinite == 1 ? "value is" : "values are");
    pc_text_add_named(out, "rows with missing ones can be dropped with {skip_missing}\n",
                      file->env->caller);
  }
}

static void inspect_column_json(const inspect_file *file, size_t c, pc_json *json) {
  const inspect_column *column = &file->columns[c];
  pc_json_open(json, '{');
  pc_json_key(json, "name");
  pc_json_string(json, file->reader.names == NULL ? NULL : file->reader.names[c]);
  pc_json_key(json, "min");
  pc_json_number(json, column->numbers > 0 ? column->low : (double)NAN);
  pc_json_key(json, "max");
  pc_json_number(json, column->numbers > 0 ? column->high : (double)NAN);
  pc_json_key(json, "mean");
  pc_json_number(json, inspect_mean(column));
  pc_json_key(json, "missing");
  pc_json_integer(json, column->missing);
  pc_json_key(json, "infinite");
  pc_json_integer(json, column->infinite);
  pc_json_key(json, "words");
  pc_json_integer(json, column->words);
  pc_json_key(json, "role");
  pc_json_string(json, file->roles == NULL ? NULL : file->roles[c]);
  pc_json_close(json, '}');
}

/* JSON has the same bytes for every interface. */
static void inspect_json_hint(const inspect_file *file, const inspect_overall *all,
                              pc_json *json) {
  pc_text hint;
  pc_text_init(&hint, file->env);
  inspect_write_hint(file, all, PCAL_INTERFACE_PROGRAM, &hint);
  pc_json_string(json, hint.failed ? NULL : hint.bytes);
  json->out->failed |= hint.failed;
  pc_text_free(&hint);
}

static void inspect_file_json(const inspect_file *file, pc_text *out) {
  const inspect_overall all = inspect_sum_up(file);
  pc_json json;
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  pc_json_key(&json, "propercal");
  pc_json_string(&json, PCAL_VERSION);
  pc_json_key(&json, "file");
  pc_json_string(&json, file->reader.bytes->name);
  pc_json_key(&json, "format");
  pc_json_string(&json, file->reader.format->name);
  pc_json_key(&json, "stored");
  pc_json_string(&json, file->reader.stored[0] == '\0' ? NULL : file->reader.stored);
  pc_json_key(&json, "bytes");
  pc_json_integer(&json, file->bytes.length);
  pc_json_key(&json, "rows");
  pc_json_integer(&json, file->rows);
  pc_json_key(&json, "hint");
  inspect_json_hint(file, &all, &json);
  pc_json_key(&json, "columns");
  pc_json_open(&json, '[');
  for (size_t c = 0; c < file->reader.columns; c++)
    inspect_column_json(file, c, &json);
  pc_json_close(&json, ']');
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
}

static pcal_status inspect_columns(inspect_file *file, pcal_format format, pc_text *out,
                                   size_t *problems, pcal_error *err) {
  file->shown = format == PCAL_JSON || file->reader.columns < INSPECT_FILE_COLUMNS
                    ? file->reader.columns
                    : INSPECT_FILE_COLUMNS;
  PC_TRY(inspect_scan(file, err));
  const inspect_overall all = inspect_sum_up(file);
  *problems = (size_t)(all.missing + all.infinite);
  if (format == PCAL_JSON)
    inspect_file_json(file, out);
  else
    inspect_file_text(file, out);
  return PCAL_OK;
}

pcal_status pc_inspect_file(const char *name, int header, const pcal_env *env,
                            pcal_format format, pc_text *out, size_t *problems,
                            pcal_error *err) {
  inspect_file *file = pc_alloc(env, 1, sizeof *file);
  if (file == NULL)
    return pc_fail_memory(err, "inspecting");
  file->env = env;
  pc_name_table_init(&file->members, env);
  pcal_status status = inspect_open(file, name, header, err);
  if (status == PCAL_OK && file->members.count > 1)
    status =
        pc_inspect_members(&file->bytes, file->format, &file->members, env, format, out, err);
  else if (status == PCAL_OK)
    status = inspect_columns(file, format, out, problems, err);
  pc_name_table_free(&file->members);
  for (size_t c = 0; file->columns != NULL && c <= file->shown; c++)
    pc_free(env, file->columns[c].sum.wide);
  pc_free(env, file->columns);
  pc_free(env, file->cells);
  pc_free(env, file->words);
  pc_free(env, (void *)file->roles);
  pc_reader_close(&file->reader);
  pc_input_file_close(&file->bytes);
  pc_free(env, file);
  return status;
}
