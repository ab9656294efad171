/* Scanner for the cells of delimited text (CSV, TSV). */
#ifndef PC_CSV_SCAN_H
#define PC_CSV_SCAN_H

#include "base/error.h"
#include "io/slice.h"

typedef struct pc_csv_scan {
  const char *name; /* of the file, for messages */
  const char *at, *end;
  uint64_t line; /* of the byte at `at`, from 1 */
  char delimiter;
} pc_csv_scan;

typedef struct pc_csv_cell {
  pc_slice text; /* without enclosing quotes; doubled quotes inside are not resolved */
  int escaped;   /* text contains doubled quotes */
  int last;      /* the last cell of the record */
} pc_csv_cell;

/* Reads one cell and advances.  Fails with PCAL_DATA if a quote is not closed, or followed
 * by text. */
PC_CHECKED pcal_status pc_csv_scan_cell(pc_csv_scan *scan, pc_csv_cell *out, pcal_error *err);

/* Reads a cell that is a plain number without spaces or quotes.  Returns 0 without advancing
 * if it is not. */
int pc_csv_scan_number(pc_csv_scan *scan, double *value, int *last);

/* Counts the cells of the next record, and advances past it. */
PC_CHECKED pcal_status pc_csv_scan_record(pc_csv_scan *scan, size_t *cells, pcal_error *err);

/* True if the line at the scan position, which must be a line start, is blank. */
int pc_csv_scan_blank(const pc_csv_scan *scan);

/* The separator of a CSV file, ',' or ';', found from its first two lines (csv_delimiter.c). */
char pc_csv_delimiter(pc_csv_scan first);

/* Reads a whole text as a number; with the separator ';' also one with a decimal comma.  Returns
 * 0 if it is none. */
int pc_csv_number(pc_slice text, char delimiter, double *value);

/* Copies the text of a cell with doubled quotes resolved, at most text.length bytes; returns
 * the length. */
size_t pc_csv_cell_copy(const pc_csv_cell *cell, char *out);

#endif
