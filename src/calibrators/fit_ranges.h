/* The scores of a fit by rounds as ranges, resolved only where the method needs single scores.
 *
 * The first pass counts the rows and hits of buckets of the score axis (curve/bucket_tally.h).  The
 * method marks the ranges that it must know better; the next pass divides these, or lists the
 * scores of ranges with few rows, until none is marked.  Ranges between which the method sees
 * no difference are joined again.  So tallies are bounded, whatever the number of rows: about
 * PC_FIT_RANGES_PARTS ranges, at least 64 of each column, and PC_FIT_RANGES_KEPT scores of all
 * columns together. */
#ifndef PC_FIT_RANGES_H
#define PC_FIT_RANGES_H

#include "calibrators/score_columns.h"

#define PC_FIT_RANGES_PARTS ((size_t)1 << 15)
#define PC_FIT_RANGES_KEPT ((size_t)1 << 16)

/* Runs the passes and hands out the ranges of each column.  *whole: 0 if weights are not whole
 * numbers, or too large, so that rows cannot be counted; nothing was handed out then. */
PC_CHECKED pcal_status pc_fit_ranges_run(const pc_fit_task *task,
                                         const pc_score_columns_request *request, int *whole,
                                         pcal_error *err);

#endif
