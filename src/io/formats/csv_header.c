/* Header detection.  With PCAL_HEADER_AUTO each cell of the first line is classified as number,
 * missing (see slice.h) or text, and the first matching rule decides:
 *  1. text and no numbers: a header, "label,cat,dog".
 *  2. at least three numbers counting 0, 1, 2, ... from left to right: a header, as written for
 *     data frames without column names, "0,1,2", ",0,1,2" or "label,0,1,2".
 *  3. text and numbers: compared with line 2.
 *     A number below every text: a header, "1,2,y" above "0.5,0.5,1".
 *     Text below every text: a row, "cat,0.25,0.75" above "dog,0.5,0.5", unless the numbers are
 *     0 and 1 as in rule 4.
 *     Anything else, or no line 2: ambiguous.
 *  4. only the numbers 0 and 1, written as "0" and "1", and missing cells: ambiguous, "0,1" or
 *     ",0,1".
 *  5. other numbers, or only missing cells: a row, "0.25,0.75" or "0.0,1.0".
 * Ambiguous files are refused; the caller can declare the header instead.
 *
 * An apostrophe before a name that a spreadsheet would read as a formula ('=a, '-b) is removed:
 * our CSV output writes such names with it.
 * A UTF-8 byte order mark is skipped; UTF-16, files with NUL bytes and lines that end in carriage
 * returns alone are refused.
 * A first line "sep=;", "sep=," or "sep=" and a tab names the separator, as in spreadsheets, and is
 * skipped. */
#include "io/formats/csv_header.h"

#include <inttypes.h>
#include <string.h>

#include "base/budget.h"
#include "base/escape.h"

#define CSV_HEADER_PROBE 4096
#define CSV_HEADER_COUNTED 3

/* True if carriage returns separate lines and no line feed does. */
static int csv_header_is_macintosh(const pc_input_file *bytes) {
  return bytes->length > 1 && memchr(bytes->data, '\n', bytes->length) == NULL &&
         memchr(bytes->data, '\r', bytes->length - 1) != NULL;
}

static pcal_status csv_header_check_text(const pc_input_file *bytes, pcal_error *err) {
  const unsigned char *data = bytes->data;
  const size_t probe = bytes->length < CSV_HEADER_PROBE ? bytes->length : CSV_HEADER_PROBE;
  const int wide = bytes->length >= 2 && ((data[0] == 0xFF && data[1] == 0xFE) ||
                                          (data[0] == 0xFE && data[1] == 0xFF));
  if (wide)
    return pc_fail(err, PCAL_DATA, "%s is written in UTF-16; save it as UTF-8", bytes->name);
  if (csv_header_is_macintosh(bytes))
    return pc_fail(
        err, PCAL_DATA,
        "%s has lines that end in carriage returns alone; save it as CSV UTF-8, not as "
        "CSV Macintosh",
        bytes->name);
  if (memchr(data, '\0', probe) != NULL ||
      memcmp(data, "\x93NUMPY", probe < 6 ? probe : 6) == 0)
    return pc_fail(err, PCAL_DATA,
                   "%s is not a text file; give a file with the extension of its format",
                   bytes->name);
  return PCAL_OK;
}

static void csv_header_begin(const pc_input_file *bytes, char delimiter, pc_csv_scan *out) {
  const size_t mark = bytes->length >= 3 && memcmp(bytes->data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  *out = (pc_csv_scan){.name = bytes->name, .line = 1, .delimiter = delimiter};
  out->at = (const char *)bytes->data + mark;
  out->end = (const char *)bytes->data + bytes->length;
}

/* Skips a line that names the separator; returns whether there is one. */
static int csv_header_take_separator(pc_csv_scan *scan) {
  if (scan->end - scan->at < 6 || memcmp(scan->at, "sep=", 4) != 0)
    return 0;
  const char *at = scan->at + 5;
  if (at[-1] != ',' && at[-1] != ';' && at[-1] != '\t')
    return 0;
  if (*at == '\r' && at + 1 < scan->end)
    at++;
  if (*at != '\n')
    return 0;
  scan->delimiter = scan->at[4];
  scan->at = at + 1;
  scan->line++;
  return 1;
}

static int csv_header_is_text(pc_slice text, char delimiter) {
  double value;
  return !pc_slice_is_missing(text) && !pc_csv_number(text, delimiter, &value);
}

/* Counts of the cells in the first line. */
typedef struct csv_header_line {
  size_t columns, numbers, texts;
  int counting; /* the numbers are 0, 1, 2, ... */
  int digits;   /* each is written as one character */
} csv_header_line;

/* Classifies the first record and moves past it. */
static pcal_status csv_header_look(pc_csv_scan *scan, csv_header_line *out, pcal_error *err) {
  double value = 0;
  pc_csv_cell cell = {.last = 0};
  *out = (csv_header_line){.counting = 1, .digits = 1};
  for (; !cell.last; out->columns++) {
    PC_TRY(pc_csv_scan_cell(scan, &cell, err));
    if (pc_slice_is_missing(cell.text))
      continue;
    if (pc_csv_number(cell.text, scan->delimiter, &value)) {
      out->counting &= value == (double)out->numbers;
      out->digits &= cell.text.length == 1;
      out->numbers++;
    } else {
      out->texts++;
    }
  }
  return PCAL_OK;
}

typedef enum csv_header_verdict {
  CSV_HEADER_UNSURE,
  CSV_HEADER_NAMES,
  CSV_HEADER_ROW
} csv_header_verdict;

/* Rule 3: compares the texts of line 1 with the cells below them. */
static pcal_status csv_header_compare(pc_csv_scan first, pc_csv_scan second, size_t texts,
                                      csv_header_verdict *out, pcal_error *err) {
  size_t above_texts = 0, above_numbers = 0;
  double value;
  pc_csv_cell top = {.last = 0}, below = {.last = second.at == second.end};
  while (!top.last && !below.last) {
    PC_TRY(pc_csv_scan_cell(&first, &top, err));
    PC_TRY(pc_csv_scan_cell(&second, &below, err));
    if (!csv_header_is_text(top.text, first.delimiter))
      continue;
    above_texts += (size_t)csv_header_is_text(below.text, first.delimiter);
    above_numbers += (size_t)pc_csv_number(below.text, first.delimiter, &value);
  }
  *out = above_numbers == texts ? CSV_HEADER_NAMES
         : above_texts == texts ? CSV_HEADER_ROW
                                : CSV_HEADER_UNSURE;
  return PCAL_OK;
}

static pcal_status csv_header_decide(pc_csv_scan first, pc_csv_scan second,
                                     const csv_header_line *line, csv_header_verdict *out,
                                     pcal_error *err) {
  const int pair = line->counting && line->digits && line->numbers == 2;
  *out = CSV_HEADER_ROW;
  if (line->numbers == 0 ? line->texts > 0
                         : line->counting && line->numbers >= CSV_HEADER_COUNTED)
    *out = CSV_HEADER_NAMES;
  else if (line->texts > 0)
    PC_TRY(csv_header_compare(first, second, line->texts, out, err));
  if (*out == CSV_HEADER_UNSURE || (*out == CSV_HEADER_ROW && pair))
    return pc_fail_line(err, PCAL_DATA, first.name, first.line,
                        "this may be a header or the first row; say which with {header_yes} or "
                        "{header_no}");
  return PCAL_OK;
}

static pcal_status csv_header_bad_name(const char *file, uint64_t line, size_t column,
                                       pcal_error *err) {
  const pc_place place = {file, PCAL_NO_ROW, line, column, NULL, NULL};
  return pc_fail_at(err, PCAL_DATA, &place,
                    "the name is not valid UTF-8; save the file as UTF-8");
}

/* Reads the names into one block of pointers and text; `letters` bounds the length of the
 * text. */
static pcal_status csv_header_names(pc_csv_scan scan, size_t columns, size_t letters,
                                    const pcal_env *env, const char ***out, pcal_error *err) {
  const size_t pointers = columns * sizeof(char *);
  const pcal_env held = pc_env_for_use(env, PC_MEMORY_COLUMNS);
  char *block = pc_alloc_raw(&held, pointers + letters + columns, 1);
  if (block == NULL)
    return pc_fail_memory(err, "reading a header");
  const char **names = (const char **)(void *)block;
  char *at = block + pointers;
  const char *end = at + letters + columns;
  *out = names;
  for (size_t column = 0; column < columns; column++) {
    pc_csv_cell cell;
    const uint64_t line = scan.line;
    PC_TRY(pc_csv_scan_cell(&scan, &cell, err));
    if (!pc_slice_is_utf8(cell.text))
      return csv_header_bad_name(scan.name, line, column, err);
    if ((size_t)(end - at) <= cell.text.length)
      return pc_fail(
          err, PCAL_IO,
          "%s changed while its header was read; try again when nothing writes to it",
          scan.name);
    names[column] = at;
    at += pc_csv_cell_copy(&cell, at);
    *at++ = '\0';
    names[column] += pc_csv_guarded(names[column], strlen(names[column]));
  }
  return PCAL_OK;
}

static pcal_status csv_header_fill(const pc_input_file *bytes, char delimiter,
                                   pcal_header header, const pcal_env *env, pc_csv_header *out,
                                   pcal_error *err) {
  csv_header_line line;
  csv_header_verdict verdict = header == PCAL_HEADER_YES ? CSV_HEADER_NAMES : CSV_HEADER_ROW;
  PC_TRY(csv_header_check_text(bytes, err));
  csv_header_begin(bytes, delimiter, &out->data);
  if (!csv_header_take_separator(&out->data) && delimiter == ',')
    out->data.delimiter = pc_csv_delimiter(out->data);
  if (out->data.line > 1 && out->data.at == out->data.end)
    return pc_fail(err, PCAL_DATA, "%s has no rows; give a file with at least one row",
                   bytes->name);
  pc_csv_scan after = out->data;
  if (pc_csv_scan_blank(&after))
    return pc_fail_line(err, PCAL_DATA, bytes->name, out->data.line,
                        "the line is blank; delete it");
  PC_TRY(csv_header_look(&after, &line, err));
  out->columns = line.columns;
  if (header == PCAL_HEADER_AUTO)
    PC_TRY(csv_header_decide(out->data, after, &line, &verdict, err));
  if (verdict == CSV_HEADER_ROW)
    return PCAL_OK;
  PC_TRY(csv_header_names(out->data, out->columns, (size_t)(after.at - out->data.at), env,
                          &out->names, err));
  out->data = after;
  if (after.at == after.end)
    return pc_fail(err, PCAL_DATA,
                   "%s has a header but no rows; give a file with at least one row",
                   bytes->name);
  return PCAL_OK;
}

pcal_status pc_csv_header_read(const pc_input_file *bytes, char delimiter, pcal_header header,
                               const pcal_env *env, pc_csv_header *out, pcal_error *err) {
  *out = (pc_csv_header){0};
  const pcal_status status = csv_header_fill(bytes, delimiter, header, env, out, err);
  if (status != PCAL_OK)
    pc_csv_header_free(env, out);
  return status;
}

void pc_csv_header_free(const pcal_env *env, pc_csv_header *head) {
  pc_free(env, head->names);
  head->names = NULL;
}
