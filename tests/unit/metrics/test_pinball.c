#include "forecast_help.h"

static double pinball_of(double y, double q, double level) {
  return y < q ? (1 - level) * (q - y) : level * (y - q);
}

TEST(test_by_hand) {
  double all = 0, middle = 0;
  for (size_t i = 0; i < 4; i++)
    for (size_t l = 0; l < 3; l++) {
      const double here = pinball_of(forecast_quantile_targets[i],
                                     forecast_quantiles[3 * i + l], forecast_levels[l]);
      all += here / 12;
      middle += l == 1 ? here / 4 : 0;
    }
  assert_near(forecast_value(&forecast_quantile_set, "pinball"), all, 1e-14);
  assert_near(forecast_value(&forecast_quantile_set, "pinball:levels=0.5"), middle, 1e-14);
}

TEST(test_of_normals_and_samples) {
  const double z = 1.2815515655446004; /* of level 0.9 */
  double sum = 0;
  for (size_t i = 0; i < 6; i++)
    sum += pinball_of(forecast_targets[i],
                      forecast_pairs[2 * i] + z * sqrt(forecast_pairs[2 * i + 1]), 0.9) /
           6;
  assert_near(forecast_value(&forecast_gaussian, "pinball:levels=0.9"), sum, 1e-13);
  /* medians 2, 0, 2 */
  assert_near(forecast_value(&forecast_sample_set, "pinball:levels=0.5"),
              0.5 * (0.5 + 1 + 5) / 3, 1e-14);
}

TEST(test_levels_must_be_there) {
  forecast_refuses(&forecast_quantile_set, "pinball:levels=0.25", PCAL_USAGE,
                   "pinball: there is no quantile of level 0.25; choose among levels");
}
