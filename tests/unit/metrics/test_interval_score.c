#include "forecast_help.h"

/* Interval [q_0.1, q_0.9], a = 0.2: inside, 1 below, inside, 1 above. */
TEST(test_by_hand) {
  assert_near(forecast_part(&forecast_quantile_set, "interval-score:level=0.8", "width"),
              (2 + 3 + 0 + 6) / 4.0, 1e-14);
  assert_near(forecast_part(&forecast_quantile_set, "interval-score:level=0.8", "miss"),
              10 * (1 + 1) / 4.0, 1e-13);
  assert_near(forecast_value(&forecast_quantile_set, "interval-score:level=0.8"),
              (11 + 20) / 4.0, 1e-13);
}

TEST(test_ends_must_be_there) {
  forecast_refuses(&forecast_quantile_set, "interval-score", PCAL_USAGE,
                   "interval-score needs the quantiles of level 0.05 and 0.95; choose a "
                   "level whose ends are among levels");
}

/* A normal interval that holds everything costs its width. */
TEST(test_of_normals) {
  const double pair[] = {0.0, 4.0}, target[] = {1.0};
  const forecast_data data = {PCAL_MEAN_VARIANCE, 1, 2, pair, target, NULL, NULL};
  assert_near(forecast_value(&data, "interval-score"), 4 * 1.6448536269514722, 1e-13);
}
