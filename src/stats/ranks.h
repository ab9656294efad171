/* Ranks of numbers, and the agreement of two rankings. */
#ifndef PC_RANKS_H
#define PC_RANKS_H

#include <stddef.h>

/* ranks[i]: the rank of values[i], from 1 for the lowest; equal values share the mean of their
 * ranks; NaN ranks highest. */
void pc_ranks(const double *values, size_t count, double *ranks);

/* Spearman's correlation of two rankings; NaN if one of them has only ties. */
double pc_rank_spearman(const double *first, const double *second, size_t count);

/* 1 - 6 sum |d| / (n (n^2 - 1)), d the differences of ranks; NaN for fewer than two values. */
double pc_rank_nixon(const double *first, const double *second, size_t count);

#endif
