#include "../unit.h"

#include "simulate/friedman.h"

#define FRIEDMAN_ROWS 20000

TEST(test_the_mean_by_hand) {
  const double x[PC_FRIEDMAN_INPUTS] = {0.5, 1, 0, 0.3, 0.2, 9, 9, 9, 9, 9};
  assert_near(pc_friedman_mean(x), 10 + 5 + 3 + 1, 1e-14);
}

/* Errors divided by their deviation are standard normal, under the right reading only. */
TEST(test_the_noise) {
  static double inputs[PC_FRIEDMAN_INPUTS * FRIEDMAN_ROWS], targets[FRIEDMAN_ROWS];
  for (int as_variance = 0; as_variance < 2; as_variance++) {
    double square = 0, with_x6 = 0;
    pc_friedman(3, 1, FRIEDMAN_ROWS, as_variance, inputs, targets);
    for (size_t i = 0; i < FRIEDMAN_ROWS; i++) {
      const double *x = inputs + i * PC_FRIEDMAN_INPUTS, spread = 0.5 + x[5];
      const double variance = as_variance ? spread : spread * spread;
      const double z2 = pow(targets[i] - pc_friedman_mean(x), 2) / variance;
      square += z2 / FRIEDMAN_ROWS;
      with_x6 += z2 * (x[5] - 0.5) / FRIEDMAN_ROWS;
      assert_true(x[9] > 0 && x[9] < 1);
    }
    assert_true(fabs(square - 1) < 0.04 && fabs(with_x6) < 0.012);
  }
}
