#include "optim/eigen.h"

#include "../unit.h"
#include "base/rng.h"

#define LARGEST 40

/* A = V diag V' with V' V = 1, put together again. */
static void check(const double *a, size_t n, double tolerance) {
  static double used[LARGEST * LARGEST], vectors[LARGEST * LARGEST], values[LARGEST];
  memcpy(used, a, n * n * sizeof *a);
  pc_symmetric_eigen(used, n, values, vectors);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double product = 0, unit = 0;
      for (size_t e = 0; e < n; e++) {
        product += vectors[i * n + e] * values[e] * vectors[j * n + e];
        unit += vectors[e * n + i] * vectors[e * n + j];
      }
      assert_true(fabs(product - a[i * n + j]) <= tolerance);
      assert_true(fabs(unit - (i == j)) <= 1e-13);
    }
}

TEST(known) {
  double a[] = {2, 1, 1, 2}, values[2], vectors[4];
  pc_symmetric_eigen(a, 2, values, vectors);
  assert_near(fmin(values[0], values[1]), 1.0, 1e-15);
  assert_near(fmax(values[0], values[1]), 3.0, 1e-15);
  double one[] = {5}, value, vector;
  pc_symmetric_eigen(one, 1, &value, &vector);
  assert_same(value, 5.0);
  assert_same(vector, 1.0);
  double zero[9] = {0}, none[3], units[9];
  pc_symmetric_eigen(zero, 3, none, units);
  assert_same(none[2], 0.0);
  assert_same(units[4], 1.0);
}

TEST(random_matrices) {
  static double a[LARGEST * LARGEST];
  for (uint64_t seed = 0; seed < 30; seed++) {
    const pc_rng rng = {seed, 1};
    const size_t n = 1 + (size_t)seed % LARGEST;
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j <= i; j++)
        a[i * n + j] = a[j * n + i] = pc_rng_normal(&rng, i * n + j);
    check(a, n, 1e-12);
  }
}

/* Equal columns: eigenvalues of 0, many of them. */
TEST(singular) {
  static double a[LARGEST * LARGEST];
  for (size_t i = 0; i < 10 * 10; i++)
    a[i] = 1;
  check(a, 10, 1e-13);
}
