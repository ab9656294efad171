/* The null: what a calibrated model would show, from replicas with labels drawn from the
 * predictions.
 *
 * The p-value is (1 + number of calibrated replicas at least as large) / (1 + replicas) for errors;
 * for proper scores and accuracy, which a calibrated model can miss on either side, twice the
 * smaller tail; statistics of tests are compared by absolute value. */
#ifndef PC_NULL_SUMMARY_H
#define PC_NULL_SUMMARY_H

#include "measure/results.h"

/* True if a calibrated model can miss the value on either side. */
int pc_null_two_sided(const pc_result_record *record);

/* Fills the null of a record from the values of replicas, which are sorted.  Without a value in a
 * tenth of them or more there is none.  slack: values that differ by less are equal up to the
 * rounding of scores (row_moments.h). */
void pc_null_summary(double *values, size_t count, double slack, pc_result_record *record);

#endif
