/* Cells of a delimited text, one after another. */
#ifndef PC_CSV_SCAN_H
#define PC_CSV_SCAN_H

#include "base/error.h"
#include "io/slice.h"

typedef struct pc_csv_scan {
  const char *name; /* of the file, for sentences */
  const char *at, *end;
  uint64_t line; /* of the byte at `at`, from 1 */
  char delimiter;
} pc_csv_scan;

typedef struct pc_csv_cell {
  pc_slice text; /* without the quotes around it; pairs of quotes inside are still pairs */
  int escaped;   /* text holds pairs of quotes */
  int last;      /* the record ends here */
} pc_csv_cell;

/* Reads one cell and moves on.  Fails with PCAL_DATA when a quote is never closed or is
 * followed by text. */
PC_CHECKED pcal_status pc_csv_scan_cell(pc_csv_scan *scan, pc_csv_cell *out, pcal_error *err);

/* Reads a cell that is a plain number with nothing around it; 0, unmoved, when it is not. */
int pc_csv_scan_number(pc_csv_scan *scan, double *value, int *last);

/* Counts the cells of the record that starts here, and moves behind it. */
PC_CHECKED pcal_status pc_csv_scan_record(pc_csv_scan *scan, size_t *cells, pcal_error *err);

/* Does the line at the start of which the scan stands hold nothing but spaces? */
int pc_csv_scan_blank(const pc_csv_scan *scan);

/* Writes the text of a cell with its pairs of quotes resolved, at most text.length bytes;
 * returns the length. */
size_t pc_csv_cell_copy(const pc_csv_cell *cell, char *out);

#endif
