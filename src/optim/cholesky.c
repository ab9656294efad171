/* Formula:  U_jj = sqrt(A_jj - sum_i U_ij^2),  U_jk = (A_jk - sum_i U_ij U_ik) / U_jj, i < j.
 * Row j is divided first and then subtracted from all rows below, so that inner loops run along
 * rows.
 * Edge case: a NaN pivot counts as too small.
 * Accuracy: backward stable.
 * Cost: count^3 / 6 multiplications and additions. */
#include "optim/cholesky.h"

#include <math.h>

int pc_cholesky_factor(double *matrix, size_t count, double least) {
  for (size_t j = 0; j < count; j++) {
    double *row = matrix + j * count;
    if (!(row[j] > least))
      return 0;
    const double pivot = sqrt(row[j]);
    row[j] = pivot;
    for (size_t k = j + 1; k < count; k++)
      row[k] /= pivot;
    for (size_t i = j + 1; i < count; i++) {
      double *other = matrix + i * count;
      const double factor = row[i];
      for (size_t k = i; k < count; k++)
        other[k] -= factor * row[k];
    }
  }
  return 1;
}

void pc_cholesky_solve(const double *factor, size_t count, double *b) {
  for (size_t j = 0; j < count; j++) {
    const double *row = factor + j * count;
    b[j] /= row[j];
    for (size_t k = j + 1; k < count; k++)
      b[k] -= row[k] * b[j];
  }
  for (size_t j = count; j-- > 0;) {
    const double *row = factor + j * count;
    for (size_t k = j + 1; k < count; k++)
      b[j] -= row[k] * b[k];
    b[j] /= row[j];
  }
}
