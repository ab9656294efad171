/* Eigenvalues and eigenvectors of small symmetric matrices. */
#ifndef PC_EIGEN_H
#define PC_EIGEN_H

#include <stddef.h>

/* a: n x n, symmetric; overwritten.  Fills the eigenvalues and, as columns of `vectors` (n x
 * n), the eigenvectors, orthonormal to about 1e-15. */
void pc_symmetric_eigen(double *a, size_t n, double *values, double *vectors);

#endif
