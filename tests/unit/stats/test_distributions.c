#include "../unit.h"

#include <math.h>

#include "stats/distributions.h"

/* Values to 15 digits from tables of the functions, computed in 40 digits. */
TEST(test_normal) {
  assert_near(pc_normal_tail(0), 0.5, 0);
  assert_near(pc_normal_tail(1.959963984540054), 0.025, 4e-16);
  assert_near(pc_normal_tail(-1), 0.841344746068543, 1e-15);
  assert_near(pc_normal_tail(6) / 9.86587645037698e-10, 1.0, 1e-12);
}

TEST(test_chi_square) {
  assert_near(pc_chi_square_tail(0, 3), 1.0, 0);
  assert_near(pc_chi_square_tail(3.841458820694124, 1), 0.05, 1e-14);
  assert_near(pc_chi_square_tail(5.991464547107979, 2), 0.05, 1e-14);
  assert_near(pc_chi_square_tail(7.814727903251179, 3), 0.05, 1e-14);
  assert_near(pc_chi_square_tail(18.307038053275146, 10), 0.05, 1e-14);
  assert_near(pc_chi_square_tail(124.342113404004, 100), 0.05, 1e-13);
  assert_true(isnan(pc_chi_square_tail((double)NAN, 2)));
}

/* Adding two degrees of freedom adds one term: a recurrence that both parities must keep. */
TEST(test_chi_square_recurrence) {
  for (size_t d = 1; d < 40; d++)
    for (double x = 0.25; x < 80; x *= 1.5) {
      const double term =
          exp(0.5 * (double)d * log(x / 2) - x / 2 - lgamma(0.5 * (double)d + 1));
      assert_near(pc_chi_square_tail(x, d + 2), pc_chi_square_tail(x, d) + term, 1e-12);
    }
}

/* Critical values of the maximum and of the range; both series of the maximum agree where they
 * meet. */
TEST(test_brownian) {
  assert_near(pc_brownian_maximum_tail(2.241402727604947), 0.05, 1e-9);
  assert_near(pc_brownian_maximum_tail(1.0 - 1e-12), pc_brownian_maximum_tail(1.0 + 1e-12),
              1e-11);
  assert_near(pc_brownian_maximum_tail(0.05), 1.0, 1e-15);
  assert_near(pc_brownian_range_tail(2.4977), 0.05, 2e-4);
  assert_near(pc_brownian_range_tail(0.05), pc_brownian_range_tail(0.0500001), 1e-12);
  assert_near(pc_brownian_maximum_tail(-1), 1.0, 0);
  assert_near(pc_brownian_range_tail(-1), 1.0, 0);
  assert_true(isnan(pc_brownian_maximum_tail(NAN)) && isnan(pc_brownian_range_tail(NAN)));
  assert_near(pc_brownian_maximum_tail(60), 0.0, 1e-300);
  assert_near(pc_brownian_range_tail(60), 0.0, 1e-300);
}

/* The mean of the range is 2 sqrt(2 / pi), and of its square 4 log 2; of the maximum
 * sqrt(pi/2). */
TEST(test_brownian_moments) {
  double range = 0, square = 0, maximum = 0;
  const double step = 1e-3;
  for (double x = step / 2; x < 12; x += step) {
    range += pc_brownian_range_tail(x) * step;
    square += 2 * x * pc_brownian_range_tail(x) * step;
    maximum += pc_brownian_maximum_tail(x) * step;
  }
  assert_near(range, 2 * sqrt(2 / 3.14159265358979), 1e-6);
  assert_near(square, 4 * log(2), 1e-6);
  assert_near(maximum, sqrt(3.14159265358979 / 2), 1e-6);
}

TEST(test_holm) {
  assert_near(pc_holm_smallest((const double[]){0.2, 0.01, 0.5}, 3), 0.03, 1e-17);
  assert_near(pc_holm_smallest((const double[]){(double)NAN, 0.01}, 2), 0.01, 0);
  assert_near(pc_holm_smallest((const double[]){0.9, 0.8}, 2), 1.0, 0);
  assert_true(isnan(pc_holm_smallest(NULL, 0)));
}
