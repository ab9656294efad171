/* Numbers in brackets are the edge cases of interval_coverage.c. */
#include "forecast_help.h"

/* Interval [q_0.1, q_0.9]: inside, 1 below, on both ends [3], 1 above. */
TEST(test_by_hand) {
  assert_near(forecast_value(&forecast_quantile_set, "interval-coverage:level=0.8"), 0.5,
              1e-15);
  assert_near(forecast_part(&forecast_quantile_set, "interval-coverage:level=0.8", "width"),
              (2 + 3 + 0 + 6) / 4.0, 1e-14);
}

/* [1] */
TEST(test_ends_must_be_there) {
  forecast_refuses(&forecast_quantile_set, "interval-coverage", PCAL_USAGE,
                   "interval-coverage needs the quantiles of level 0.05 and 0.95; choose a "
                   "level whose ends are among levels");
}
