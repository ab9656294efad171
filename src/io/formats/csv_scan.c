/* Rules (RFC 4180):
 *  1. lines end with LF or CRLF; the last line end may be missing.
 *  2. a cell whose first nonblank character is a quote extends to the closing quote,
 *     including delimiters and line ends; "" inside is one quote.
 *  3. spaces around a cell are removed, inside quotes they are kept; with commas as
 *     delimiters the same holds for tabs.
 *  4. a quote inside an unquoted cell is an ordinary character. */
#include "io/formats/csv_scan.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"

static int csv_scan_is_space(const pc_csv_scan *scan, char c) {
  return c == ' ' || (c == '\t' && scan->delimiter != '\t');
}

static const char *csv_scan_skip_space(const pc_csv_scan *scan, const char *at) {
  while (at < scan->end && csv_scan_is_space(scan, *at))
    at++;
  return at;
}

/* Length of the line end at `at`; 0 if there is none. */
static size_t csv_scan_line_end(const pc_csv_scan *scan, const char *at) {
  if (at < scan->end && *at == '\n')
    return 1;
  if (at < scan->end && *at == '\r')
    return at + 1 == scan->end ? 1 : at[1] == '\n' ? 2 : 0;
  return 0;
}

/* Advances past the delimiter or line end at `after`; returns 0 if there is neither. */
static int csv_scan_finish(pc_csv_scan *scan, const char *after, int *last) {
  const size_t line_end = csv_scan_line_end(scan, after);
  if (line_end == 0 && after < scan->end && *after != scan->delimiter)
    return 0;
  *last = line_end > 0 || after == scan->end;
  scan->at = line_end > 0 ? after + line_end : after < scan->end ? after + 1 : after;
  scan->line += line_end > 0;
  return 1;
}

static pcal_status csv_scan_quoted(pc_csv_scan *scan, const char *open, pc_csv_cell *out,
                                   pcal_error *err) {
  const char *at = open + 1;
  uint64_t line_ends = 0;
  out->escaped = 0;
  for (;; at++) {
    if (at == scan->end)
      return pc_fail_line(err, PCAL_DATA, scan->name, scan->line,
                          "a quote is opened but never closed; close it");
    line_ends += *at == '\n';
    if (*at != '"')
      continue;
    if (at + 1 == scan->end || at[1] != '"')
      break;
    out->escaped = 1;
    at++;
  }
  out->text = (pc_slice){open + 1, (size_t)(at - open - 1)};
  const uint64_t line = scan->line + line_ends;
  if (!csv_scan_finish(scan, csv_scan_skip_space(scan, at + 1), &out->last))
    return pc_fail_line(err, PCAL_DATA, scan->name, line,
                        "text follows a closing quote; write \"\" for a quote inside quotes");
  scan->line += line_ends;
  return PCAL_OK;
}

pcal_status pc_csv_scan_cell(pc_csv_scan *scan, pc_csv_cell *out, pcal_error *err) {
  const char *start = csv_scan_skip_space(scan, scan->at);
  if (start < scan->end && *start == '"')
    return csv_scan_quoted(scan, start, out, err);
  const char *stop = start;
  while (stop < scan->end && *stop != scan->delimiter && *stop != '\n')
    stop++;
  const int cut = stop > start && stop[-1] == '\r' && (stop == scan->end || *stop == '\n');
  const pc_slice text = {start, (size_t)(stop - start) - (size_t)cut};
  out->text = pc_slice_trim(text, scan->delimiter == '\t' ? "" : "\t");
  out->escaped = 0;
  csv_scan_finish(scan, stop, &out->last);
  return PCAL_OK;
}

int pc_csv_scan_number(pc_csv_scan *scan, double *value, int *last) {
  const size_t used = pc_number_parse(scan->at, scan->end, value);
  return used > 0 && csv_scan_finish(scan, scan->at + used, last);
}

pcal_status pc_csv_scan_record(pc_csv_scan *scan, size_t *cells, pcal_error *err) {
  pc_csv_cell cell = {.last = 0};
  for (*cells = 0; !cell.last; ++*cells)
    PC_TRY(pc_csv_scan_cell(scan, &cell, err));
  return PCAL_OK;
}

int pc_csv_scan_blank(const pc_csv_scan *scan) {
  const char *at = csv_scan_skip_space(scan, scan->at);
  return at == scan->end || csv_scan_line_end(scan, at) > 0;
}

size_t pc_csv_cell_copy(const pc_csv_cell *cell, char *out) {
  size_t used = 0;
  for (size_t i = 0; i < cell->text.length; i++) {
    out[used++] = cell->text.bytes[i];
    if (cell->escaped && cell->text.bytes[i] == '"')
      i++;
  }
  return used;
}
