/* CSV tables with columns of every kind that inputs can have: scores, forecasts, outcomes, weights, groups,
 * times, ids.  Some have odd numbers: equal rows, one label, gaps, zeros, extremes. */
#ifndef FUZZ_COLUMNS_H
#define FUZZ_COLUMNS_H

#include "fuzz_choice.h"

/* A header; static text. */
const char *fuzz_columns_pick(fuzz_choice *choice);
/* The header and rows below it; labels of classes with names are their names. */
void fuzz_columns_write(const char *head, uint64_t seed, size_t rows, fuzz_out *out);

#endif
