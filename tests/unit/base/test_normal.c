#include "../unit.h"

#include "base/normal.h"

TEST(test_cdf_and_density) {
  assert_near(pc_normal_cdf(0), 0.5, 1e-16);
  assert_near(pc_normal_cdf(1.959963984540054), 0.975, 1e-15);
  assert_near(pc_normal_cdf(-10), 7.619853024160527e-24, 1e-13);
  assert_near(pc_normal_density(0), 0.3989422804014327, 1e-15);
  assert_near(pc_normal_density(-2), 0.05399096651318806, 1e-15);
}

/* From 40-digit arithmetic, for the doubles nearest to these probabilities. */
TEST(test_quantile_values) {
  static const double known[][2] = {
      {0.975, 1.9599639845400538556},           {0.1, -1.2815515655446004353},
      {0.001, -3.0902323061678135354},          {1e-5, -4.2648907939228246102},
      {1e-10, -6.3613409024040561991},          {1e-15, -7.9413453261709967713},
      {1e-100, -21.273453560965324294},         {1e-300, -37.047096299361199237},
      {0x1p-53, -8.2095361516013868556},        {0.75, 0.6744897501960817432},
      {0.925, 1.4395314709384562291},           {0.0750001, -1.4395307645017296865},
      {0.5 + 0x1p-30, 2.3344794983332981399e-9}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const double error = pc_normal_quantile(known[i][0]) / known[i][1] - 1;
    assert_true(fabs(error) < 1e-15);
  }
  assert_true(pc_normal_quantile(0.5) == 0);
  assert_true(pc_normal_quantile(0) == -INFINITY);
  assert_true(pc_normal_quantile(1) == INFINITY);
  assert_true(isnan(pc_normal_quantile(-0.1)) && isnan(pc_normal_quantile(1.1)));
  assert_true(isnan(pc_normal_quantile(NAN)));
}

TEST(test_quantile_inverts_the_cdf) {
  for (double p = 0x1p-20; p < 0.5; p *= 1.01) {
    const double x = pc_normal_quantile(p);
    const double back = 0.5 * erfc(-x / sqrt(2.0));
    assert_true(fabs(back / p - 1) < 1e-13);
    assert_true(fabs(pc_normal_quantile(1 - p) + x) < 1e-9);
  }
}
