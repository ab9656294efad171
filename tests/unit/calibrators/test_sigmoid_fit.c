#include "calibrators/binning/sigmoid_fit.h"

#include "../unit.h"
#include "base/rng.h"

/* Two values of x, two parameters: the targets are met exactly. */
TEST(two_values) {
  const double x[] = {-1.0, 2.0}, weight[] = {4.0, 6.0}, hits[] = {1.0, 4.0};
  const double hit = 6.0 / 7.0, miss = 1.0 / 7.0;
  const pc_sigmoid sigmoid = pc_sigmoid_fit(x, weight, hits, 2);
  assert_near(pc_sigmoid_at(&sigmoid, -1.0), (1 * hit + 3 * miss) / 4, 1e-10);
  assert_near(pc_sigmoid_at(&sigmoid, 2.0), (4 * hit + 2 * miss) / 6, 1e-10);
}

/* The gradient vanishes; separable and one-sided outcomes have finite fits. */
TEST(gradients_vanish) {
  enum { N = 40 };
  for (int shape = 0; shape < 5; shape++) {
    double x[N], weight[N], hits[N], sums[2] = {0, 0}, positive = 0, total = 0;
    const pc_rng rng = {(uint64_t)shape, 1};
    for (size_t i = 0; i < N; i++) {
      x[i] = shape == 4 ? 25 * ((i % 2) * 2.0 - 1) : 6 * pc_rng_uniform(&rng, i) - 3;
      weight[i] = 1 + (double)(i % 3);
      const int hit = shape == 0   ? pc_rng_uniform(&rng, 100 + i) < 0.5
                      : shape == 1 ? x[i] > 0
                      : shape == 2 ? x[i] < 0
                      : shape == 3 ? 0
                                   : x[i] > 0;
      hits[i] = hit ? weight[i] : 0;
      positive += hits[i];
      total += weight[i];
    }
    const pc_sigmoid sigmoid = pc_sigmoid_fit(x, weight, hits, N);
    assert_true(isfinite(sigmoid.a) && isfinite(sigmoid.b));
    const double hit = (positive + 1) / (positive + 2), miss = 1 / (total - positive + 2);
    for (size_t i = 0; i < N; i++) {
      const double gap = weight[i] * pc_sigmoid_at(&sigmoid, x[i]) -
                         (hits[i] * hit + (weight[i] - hits[i]) * miss);
      sums[0] += gap * x[i];
      sums[1] += gap;
    }
    assert_true(fabs(sums[0]) <= 1e-8 * total && fabs(sums[1]) <= 1e-8 * total);
    assert_true(shape != 1 || sigmoid.a > 0);
    assert_true(shape != 2 || sigmoid.a < 0);
  }
}

TEST(equal_values) {
  const double x[] = {3.0, 3.0, 3.0}, weight[] = {1, 1, 2}, hits[] = {1, 0, 0};
  const pc_sigmoid sigmoid = pc_sigmoid_fit(x, weight, hits, 3);
  assert_same(sigmoid.a, 0.0);
  assert_near(pc_sigmoid_at(&sigmoid, 3.0), (1 * 2.0 / 3 + 3 * 0.2) / 4, 1e-10);
}

TEST(logits_are_kept_finite) {
  assert_near(pc_sigmoid_logit(0.0), log(1e-12), 1e-10);
  assert_near(pc_sigmoid_logit(1.00001), -log(1e-12), 1e-4);
  assert_same(pc_sigmoid_logit(0.5), 0.0);
  const pc_sigmoid steep = {1e6, 0.0};
  assert_same(pc_sigmoid_at(&steep, 30.0), 1.0);
  assert_same(pc_sigmoid_at(&steep, -30.0), 0.0);
}
