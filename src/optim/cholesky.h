/* Small dense symmetric systems. */
#ifndef PC_CHOLESKY_H
#define PC_CHOLESKY_H

#include <stddef.h>

/* Replaces the upper triangle of a symmetric matrix (count x count, row after row) by U with
 * U^T U = matrix; the lower triangle is not looked at.  0 when a pivot is not above `least`:
 * the matrix is not positive definite, and what it holds is of no use. */
int pc_cholesky_factor(double *matrix, size_t count, double least);

/* Solves U^T U x = b in place of b. */
void pc_cholesky_solve(const double *factor, size_t count, double *b);

/* Fills `inverse` (count x count) with the inverse of U^T U. */
void pc_cholesky_invert(const double *factor, size_t count, double *inverse);

#endif
