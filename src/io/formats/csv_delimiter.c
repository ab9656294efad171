/* Which character separates the cells of a CSV file.  Spreadsheets write semicolons where the
 * decimal sign is a comma.  The first rule that applies decides:
 *  1. the first line has one cell if cells end at semicolons: a comma.
 *  2. line 2 exists and has another number of such cells: a comma.
 *  3. the first line has no other commas, "label;p": a semicolon.
 *  4. every cell of it is missing or a number, "0;0,75": a semicolon.
 *  5. else a comma. */
#include "base/number.h"
#include "io/formats/csv_scan.h"

#define CSV_NUMBER_TEXT 64

int pc_csv_number(pc_slice text, char delimiter, double *value) {
  char point[CSV_NUMBER_TEXT];
  size_t commas = 0;
  if (text.length == 0)
    return 0;
  if (pc_number_parse(text.bytes, text.bytes + text.length, value) == text.length)
    return 1;
  if (delimiter != ';' || text.length > sizeof point)
    return 0;
  for (size_t i = 0; i < text.length; i++) {
    const int comma = text.bytes[i] == ',';
    if (text.bytes[i] == '.')
      return 0;
    commas += (size_t)comma;
    point[i] = comma ? '.' : text.bytes[i];
  }
  return commas == 1 && pc_number_parse(point, point + text.length, value) == text.length;
}

/* Cells of the next record for this delimiter; 0 if it cannot be read. */
static size_t csv_delimiter_cells(pc_csv_scan *scan, char delimiter) {
  size_t cells = 0;
  scan->delimiter = delimiter;
  return pc_csv_scan_record(scan, &cells, NULL) == PCAL_OK ? cells : 0;
}

static int csv_delimiter_numbers(pc_csv_scan scan) {
  pc_csv_cell cell = {.last = 0};
  double value;
  scan.delimiter = ';';
  while (!cell.last)
    if (pc_csv_scan_cell(&scan, &cell, NULL) != PCAL_OK ||
        !(pc_slice_is_missing(cell.text) || pc_csv_number(cell.text, ';', &value)))
      return 0;
  return 1;
}

char pc_csv_delimiter(pc_csv_scan first) {
  pc_csv_scan second = first, commas = first;
  const size_t cells = csv_delimiter_cells(&second, ';');
  if (cells <= 1 || (second.at < second.end && csv_delimiter_cells(&second, ';') != cells))
    return ',';
  return csv_delimiter_cells(&commas, ',') == 1 || csv_delimiter_numbers(first) ? ';' : ',';
}
