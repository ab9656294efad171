/* Sorts doubles (no NaN) in ascending order: stable, in linear time. */
#ifndef PC_SORT_H
#define PC_SORT_H

#include <stddef.h>

/* scratch has the same length as values. */
void pc_sort(double *values, double *scratch, size_t count);

/* Sorts keys and carries payload along. */
void pc_sort_pairs(double *keys, double *payload, double *key_scratch, double *payload_scratch,
                   size_t count);

#endif
