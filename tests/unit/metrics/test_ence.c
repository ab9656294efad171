#include "forecast_help.h"

/* Two bins of three rows: standard deviations 0.2, 0.2, 0.3 and 0.5, 0.6, 1. */
TEST(test_two_bins_by_hand) {
  const double v[] = {(0.04 + 0.04 + 0.09) / 3, (0.25 + 0.36 + 1.0) / 3};
  const double e[] = {(0.04 + 0.0 + 0.01) / 3, (0.64 + 0.25 + 2.25) / 3};
  double ence = 0, uce = 0;
  for (size_t b = 0; b < 2; b++) {
    ence += fabs(sqrt(v[b]) - sqrt(e[b])) / sqrt(v[b]) / 2;
    uce += fabs(v[b] - e[b]) / 2;
  }
  assert_near(forecast_value(&forecast_gaussian, "ence:bins=2"), ence, 1e-13);
  assert_near(forecast_value(&forecast_gaussian, "uce:bins=2"), uce, 1e-13);
}

/* Six bins: the two rows of deviation 0.2 are never split, so there are five. */
TEST(test_ties_stay_together) {
  double uce = fabs(0.08 - 0.04) / 6; /* of the first bin, two rows together */
  for (size_t i = 0; i < 6; i++) {
    const double e = forecast_pairs[2 * i] - forecast_targets[i];
    if (i != 0 && i != 4)
      uce += fabs(e * e - forecast_pairs[2 * i + 1]) / 6;
  }
  assert_near(forecast_value(&forecast_gaussian, "uce:bins=6"), uce, 1e-13);
}

TEST(test_one_bin) {
  assert_near(forecast_value(&forecast_gaussian, "uce:bins=1"),
              fabs(forecast_value(&forecast_gaussian, "mse") -
                   forecast_value(&forecast_gaussian, "mean-variance")),
              1e-13);
}
