/* The error bounds stated in kernels/lane_math.h, against long double. */
#include "unit.h"

#include "base/rng.h"
#include "emulated.h"
#include "kernels/lane_math.h"

#define LANE_DRAWS fewer_if_emulated(400000, 10000)

static double lane_ulps(double got, long double want) {
  const double near = fabs((double)want);
  return (double)(fabsl((long double)got - want) / (nextafter(near, INFINITY) - near));
}

TEST(test_exp_bound) {
  const pc_rng rng = {1, 1};
  double worst = 0.0;
  for (uint64_t i = 0; i < LANE_DRAWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    const double x = i % 2 == 0 ? -40 * u : -708 + 1417 * u;
    worst = fmax(worst, lane_ulps(pc_lane_exp(x), expl(x)));
  }
  assert_true(worst < 1.5);
}

TEST(test_exp_ends) {
  assert_true(pc_lane_exp(0.0) == 1.0);
  assert_true(pc_lane_exp(-0.0) == 1.0);
  assert_true(pc_lane_exp(-708.75) == 0.0);
  assert_true(pc_lane_exp(-709.0) == 0.0);
  assert_true(pc_lane_exp_lowest(3.0) == -709.0);
  assert_true(pc_lane_exp(-1e300) == 0.0);
  assert_true(pc_lane_exp(-INFINITY) == 0.0);
  assert_true(pc_lane_exp(-708.0) > 0.0);
  assert_true(isnan(pc_lane_exp(NAN)));
}

TEST(test_near_exp_bound) {
  const pc_rng rng = {1, 5};
  double worst = 0.0;
  for (uint64_t i = 0; i < LANE_DRAWS; i++) {
    const double u = pc_rng_uniform(&rng, i), x = -1.5 * (i % 4 == 0 ? u * u * u * u : u);
    worst = fmax(worst, (double)fabsl(pc_lane_exp_near(x) / expl(x) - 1));
  }
  assert_true(worst < 2.5e-15);
  assert_near(pc_lane_exp_near(0.0), 1.0, 2.5e-15);
  assert_near(pc_lane_exp_near(-1.5), exp(-1.5), 2.5e-15);
}

TEST(test_exp2_bound) {
  const pc_rng rng = {1, 5};
  double worst = 0.0;
  for (uint64_t i = 0; i < LANE_DRAWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    const double y = i % 2 == 0 ? -60 * u : -1022 + 2045 * u;
    worst = fmax(worst, fabs((double)(pc_lane_exp2(y) / exp2l(y) - 1)));
  }
  assert_true(worst < 1e-14);
  assert_true(pc_lane_exp2(0.0) == 1.0 && pc_lane_exp2(-3.0) == 0.125);
  assert_true(pc_lane_exp2(-1022.0) == 0x1p-1022 && pc_lane_exp2(-1023.0) == 0.0);
  assert_true(pc_lane_exp2(-1022.6) == 0.0);
  assert_true(pc_lane_exp2_lowest(0.3) == -1023.0);
}

TEST(test_log_bound) {
  const pc_rng rng = {1, 2};
  double worst = 0.0;
  for (uint64_t i = 0; i < LANE_DRAWS; i++) {
    const double u = pc_rng_uniform(&rng, i) - 0.5;
    const double x = exp(i % 2 == 0 ? 2 * u : 1400 * u);
    worst = fmax(worst, lane_ulps(pc_lane_log(x), logl(x)));
  }
  assert_true(worst < 2.0);
  assert_true(pc_lane_log(1.0) == 0.0);
}

TEST(test_log1p_bound) {
  const pc_rng rng = {1, 3};
  double worst = 0.0;
  for (uint64_t i = 0; i < LANE_DRAWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    const double x = i % 3 == 0 ? exp(690 * u) : exp(-80 * u);
    worst = fmax(worst, lane_ulps(pc_lane_log1p(x), log1pl(x)));
  }
  assert_true(worst < 3.0);
  assert_true(pc_lane_log1p(0.0) == 0.0);
  assert_true(pc_lane_log1p(1e-300) == 1e-300);
}

TEST(test_log_gamma_bound) {
  const pc_rng rng = {1, 6};
  for (uint64_t i = 0; i < LANE_DRAWS / 4; i++) {
    const double u = pc_rng_uniform(&rng, i);
    const double x = i % 3 == 0 ? 1 + u * u * u : i % 3 == 1 ? 1 + 40 * u : exp(27.6 * u);
    const long double want = lgammal(x), off = fabsl(pc_lane_log_gamma(x) - want);
    assert_true(off < (x <= 20 ? 4e-14L : 1e-15L * want));
  }
  assert_true(fabs(pc_lane_log_gamma(1.0)) < 4e-14);
  assert_near(pc_lane_log_gamma(11.0), log(3628800), 2e-15);
}

static double lane_expf(float x) {
  return PC_LANE_EXPF_UNIT * (double)pc_lane_expf(x);
}

TEST(test_float_exp_bound) {
  const pc_rng rng = {1, 4};
  double worst = 0.0;
  for (uint64_t i = 0; i < LANE_DRAWS; i++) {
    const float x = pc_lane_expf_lowest() * (float)pc_rng_uniform(&rng, i);
    const double off = fabs(lane_expf(x) / exp((double)x) - 1);
    worst = fmax(worst, off / (1.5e-7 - 8e-8 * (double)x));
  }
  assert_true(worst < 1.0);
  assert_true(lane_expf(0.0f) == 1.0);
  assert_true(lane_expf(-0.0f) == 1.0);
}

TEST(test_float_log1p_bound) {
  const pc_rng rng = {1, 5};
  for (uint64_t i = 0; i < LANE_DRAWS; i++) {
    const float x = (float)exp(-60 + 129 * pc_rng_uniform(&rng, i));
    float inverse;
    const double log_sum = (double)pc_lane_log1pf(x, &inverse);
    assert_true(fabs(log_sum / log1p((double)x) - 1) < 3e-7);
    assert_true(fabs((double)inverse * (1 + (double)x) - 1) < 1.2e-7);
  }
  float inverse;
  assert_true(pc_lane_log1pf(0.0f, &inverse) == 0.0f && inverse == 1.0f);
}
