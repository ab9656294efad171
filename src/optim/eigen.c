/* Jacobi rotations, in cycles over all pairs until the entries off the diagonal are negligible.
 * Source: Golub & Van Loan, Matrix Computations, 8.5. */
#include "optim/eigen.h"

#include <float.h>
#include <math.h>

#include "base/elementary.h"

#define EIGEN_CYCLES 60

static double eigen_off(const double *a, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      sum += i == j ? 0.0 : a[i * n + j] * a[i * n + j];
  return sum;
}

/* Rotates rows p and q of a matrix; columns if the strides are exchanged. */
static void eigen_turn(double *a, size_t n, size_t p, size_t q, size_t along, size_t across,
                       double c, double s) {
  for (size_t i = 0; i < n; i++) {
    double *x = &a[p * along + i * across], *y = &a[q * along + i * across];
    const double kept = *x;
    *x = c * kept - s * *y;
    *y = s * kept + c * *y;
  }
}

static void eigen_rotate(double *a, double *vectors, size_t n, size_t p, size_t q) {
  const double off = a[p * n + q];
  if (off == 0.0)
    return;
  const double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
  const double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + pc_hypot(theta, 1.0));
  const double c = 1.0 / pc_hypot(t, 1.0), s = t * c;
  eigen_turn(a, n, p, q, n, 1, c, s);
  eigen_turn(a, n, p, q, 1, n, c, s);
  eigen_turn(vectors, n, p, q, 1, n, c, s);
  a[p * n + q] = a[q * n + p] = 0.0;
}

void pc_symmetric_eigen(double *a, size_t n, double *values, double *vectors) {
  double all = 0.0;
  for (size_t i = 0; i < n * n; i++) {
    all += a[i] * a[i];
    vectors[i] = i / n == i % n ? 1.0 : 0.0;
  }
  for (int cycle = 0; cycle < EIGEN_CYCLES; cycle++) {
    if (eigen_off(a, n) <= DBL_EPSILON * DBL_EPSILON * all)
      break;
    for (size_t p = 0; p + 1 < n; p++)
      for (size_t q = p + 1; q < n; q++)
        eigen_rotate(a, vectors, n, p, q);
  }
  for (size_t i = 0; i < n; i++)
    values[i] = a[i * n + i];
}
