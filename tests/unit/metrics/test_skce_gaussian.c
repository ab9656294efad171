/* Against the formula written out as a double loop, with exp of the C library. */
#include "base/rng.h"
#include "forecast_help.h"

#define SKCE_ROWS 300

static double skce_expected(double d, double v) {
  return exp(-d * d / (2 * v)) / sqrt(v);
}

static double skce_pair(const double *a, double ya, const double *b, double yb, double l) {
  const double ma = a[0] / l, mb = b[0] / l, sa = sqrt(a[1]) / l, sb = sqrt(b[1]) / l;
  const double w = sqrt((ma - mb) * (ma - mb) + (sa - sb) * (sa - sb));
  return exp(-w) *
         (exp(-(ya - yb) * (ya - yb) / l / l / 2) - skce_expected(ma - yb / l, 1 + sa * sa) -
          skce_expected(mb - ya / l, 1 + sb * sb) +
          skce_expected(ma - mb, 1 + sa * sa + sb * sb));
}

static double skce_loop(const forecast_data *data, double length, int biased) {
  double sum = 0, pairs = 0;
  for (size_t i = 0; i < data->rows; i++)
    for (size_t j = 0; j < data->rows; j++) {
      if (!biased && j <= i)
        continue;
      sum += skce_pair(data->scores + 2 * i, data->targets[i], data->scores + 2 * j,
                       data->targets[j], length);
      pairs++;
    }
  return sum / pairs;
}

TEST(test_equals_the_double_loop) {
  static double pairs[2 * SKCE_ROWS], targets[SKCE_ROWS];
  const pc_rng rng = {7, 1};
  for (size_t i = 0; i < SKCE_ROWS; i++) {
    pairs[2 * i] = pc_rng_normal(&rng, 3 * i);
    pairs[2 * i + 1] = 0.01 + pc_rng_uniform(&rng, 3 * i + 1);
    targets[i] = pairs[2 * i] + 0.9 * pc_rng_normal(&rng, 3 * i + 2);
  }
  const forecast_data data = {PCAL_MEAN_VARIANCE, SKCE_ROWS, 2, pairs, targets, NULL, NULL};
  assert_near(forecast_value(&data, "skce"), skce_loop(&data, 1, 0), 1e-10);
  assert_near(forecast_value(&data, "skce:length=0.3"), skce_loop(&data, 0.3, 0), 1e-10);
  assert_near(forecast_value(&data, "skce:estimator=biased"), skce_loop(&data, 1, 1), 1e-10);
  double blocks = 0;
  for (size_t b = 0; b < SKCE_ROWS; b += 10) {
    const forecast_data block = {PCAL_MEAN_VARIANCE, 10,   2,   pairs + 2 * b,
                                 targets + b,        NULL, NULL};
    blocks += skce_loop(&block, 1, 0) * 10 / SKCE_ROWS;
  }
  assert_near(forecast_value(&data, "skce:estimator=block,block=10"), blocks, 1e-10);
}

/* Weights are copies. */
TEST(test_copies_are_pairs) {
  const double pairs[] = {0, 1, 0, 1, 1, 2}, targets[] = {0.5, 0.5, -1};
  const double weights[] = {2, 1};
  const forecast_data written = {PCAL_MEAN_VARIANCE, 3, 2, pairs, targets, NULL, NULL};
  const forecast_data weighted = {PCAL_MEAN_VARIANCE, 2,    2,      pairs + 2,
                                  targets + 1,        NULL, weights};
  assert_near(forecast_value(&weighted, "skce"), skce_loop(&written, 1, 0), 1e-13);
  assert_near(forecast_value(&weighted, "skce:estimator=biased"), skce_loop(&written, 1, 1),
              1e-13);
}
