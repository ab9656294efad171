/* Ranks of numbers, and how far two rankings agree. */
#ifndef PC_RANKS_H
#define PC_RANKS_H

#include <stddef.h>

/* ranks[i]: the place of values[i], the lowest first, from 1; equal values share the mean of
 * their places; NaN counts as the highest. */
void pc_ranks(const double *values, size_t count, double *ranks);

/* Spearman's correlation of two rankings; NaN when one of them has only ties. */
double pc_rank_spearman(const double *first, const double *second, size_t count);

/* 1 - 6 sum |d| / (n (n^2 - 1)), d the differences of ranks; NaN for less than two. */
double pc_rank_nixon(const double *first, const double *second, size_t count);

#endif
