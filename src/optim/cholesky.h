/* Cholesky factors of small dense matrices. */
#ifndef PC_CHOLESKY_H
#define PC_CHOLESKY_H

#include <stddef.h>

/* Replaces the upper triangle of a symmetric matrix (count x count, row by row) by U with
 * U^T U = matrix; the lower triangle is not read.  Returns 0, with the matrix invalid, if a
 * pivot is not above `least`: the matrix is then not positive definite. */
int pc_cholesky_factor(double *matrix, size_t count, double least);

/* Solves U^T U x = b; x replaces b. */
void pc_cholesky_solve(const double *factor, size_t count, double *b);

#endif
