#include "optim/cholesky.h"

#include "../unit.h"

TEST(factors_and_solves) {
  /* Lehmer's matrix min(i, j) / max(i, j) and its known inverse, which is tridiagonal. */
  enum { N = 4 };
  double matrix[N * N], factor[N * N], b[N] = {1, 2, 3, 4};
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++)
      matrix[i * N + j] = (double)(i < j ? i + 1 : j + 1) / (double)(i < j ? j + 1 : i + 1);
  memcpy(factor, matrix, sizeof factor);
  assert_int_equal(pc_cholesky_factor(factor, N, 0.0), 1);
  pc_cholesky_solve(factor, N, b);
  for (size_t i = 0; i < N; i++) {
    double sum = 0.0;
    for (size_t j = 0; j < N; j++)
      sum += matrix[i * N + j] * b[j];
    assert_near(sum, (double)i + 1.0, 1e-14);
  }
}

TEST(refuses_what_is_not_definite) {
  double indefinite[4] = {1, 2, 2, 1}, singular[4] = {1, 1, 1, 1}, nothing[1] = {NAN};
  assert_int_equal(pc_cholesky_factor(indefinite, 2, 0.0), 0);
  assert_int_equal(pc_cholesky_factor(singular, 2, 1e-12), 0);
  assert_int_equal(pc_cholesky_factor(nothing, 1, 0.0), 0);
}

TEST(looks_at_the_upper_triangle_only) {
  double matrix[4] = {4, 2, 777, 5}, b[2] = {8, 9};
  assert_int_equal(pc_cholesky_factor(matrix, 2, 0.0), 1);
  pc_cholesky_solve(matrix, 2, b);
  assert_near(b[0], 11.0 / 8.0, 1e-15);
  assert_near(b[1], 5.0 / 4.0, 1e-15);
}
