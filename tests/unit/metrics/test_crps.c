#include "forecast_help.h"

/* The integral of (F(x) - 1[x >= y])^2 by the midpoint rule. */
static double crps_integral(double mean, double deviation, double y) {
  const double low = mean - 12 * deviation - fabs(y), high = mean + 12 * deviation + fabs(y);
  const size_t steps = 400000;
  const double step = (high - low) / (double)steps;
  double sum = 0;
  for (size_t i = 0; i < steps; i++) {
    const double x = low + ((double)i + 0.5) * step;
    const double gap = 0.5 * erfc((mean - x) / deviation / sqrt(2.0)) - (x >= y ? 1.0 : 0.0);
    sum += gap * gap * step;
  }
  return sum;
}

TEST(test_normal_equals_the_integral) {
  double sum = 0;
  for (size_t i = 0; i < forecast_gaussian.rows; i++)
    sum += crps_integral(forecast_pairs[2 * i], sqrt(forecast_pairs[2 * i + 1]),
                         forecast_targets[i]);
  assert_near(forecast_value(&forecast_gaussian, "crps"), sum / 6, 1e-5);
}

TEST(test_a_sure_prediction_gives_the_absolute_error) {
  const double pair[] = {1.0, 1e-24}, target[] = {3.5};
  const forecast_data data = {PCAL_MEAN_VARIANCE, 1, 2, pair, target, NULL, NULL};
  assert_near(forecast_value(&data, "crps"), 2.5, 1e-11);
}

/* The fair estimator by its double sum. */
TEST(test_samples_by_all_pairs) {
  double sum = 0;
  for (size_t i = 0; i < 3; i++) {
    const double *x = forecast_samples + 3 * i, y = forecast_sample_targets[i];
    for (size_t a = 0; a < 3; a++) {
      sum += fabs(x[a] - y) / 3;
      for (size_t b = 0; b < 3; b++)
        sum -= fabs(x[a] - x[b]) / (2 * 3 * 2);
    }
  }
  assert_near(forecast_value(&forecast_sample_set, "crps"), sum / 3, 1e-14);
}

TEST(test_quantiles_are_twice_the_pinball_loss) {
  assert_near(forecast_value(&forecast_quantile_set, "crps"),
              2 * forecast_value(&forecast_quantile_set, "pinball"), 1e-15);
}
