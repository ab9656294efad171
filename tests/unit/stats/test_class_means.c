#include "stats/class_means.h"

#include "../unit.h"
#include "base/normal.h"

static pc_bin means_bin(double weight, double score, double hits) {
  return (pc_bin){0, 1, weight, hits, score, (double)NAN, (double)NAN};
}

/* One bin at 0.2 with 130 of 500 hits, one at 0.6 with 330 of 500: 60 more than the 400 expected. */
TEST(test_a_class_that_is_too_rare) {
  const pc_bin bins[] = {means_bin(500, 100, 130), means_bin(0, 0, 0),
                         means_bin(500, 300, 330)};
  const double variance = 500 * 0.2 * 0.8 + 500 * 0.6 * 0.4;
  pc_class_means means = {0};
  pc_class_means_add(bins, 3, 2, &means);
  assert_int_equal(means.classes, 1);
  assert_int_equal(means.off, 1);
  assert_int_equal(means.worst, 0);
  assert_near(means.claimed, 0.4, 1e-15);
  assert_near(means.observed, 0.46, 1e-15);
  assert_near(means.margin, (1.96 * sqrt(variance) + 0.5) / 1000, 1e-15);
  assert_near(means.deviate, 59.5 / sqrt(variance), 0.05); /* almost symmetric */
}

/* A rare class has a skewed number of hits: 6 where 1 is expected occur with probability 5.9e-4
 * (Poisson), although they are 4.5 deviations above it. */
TEST(test_a_rare_class) {
  const pc_bin bin = means_bin(1e6, 1, 6);
  pc_class_means means = {0};
  pc_class_means_add(&bin, 1, 3, &means);
  assert_near(means.deviate, -pc_normal_quantile(5.94e-4), 0.05);
  assert_int_equal(means.off, 1); /* two-sided 0.0012 < 0.01 / 3 */
  means = (pc_class_means){0};
  pc_class_means_add(&bin, 1, 10, &means);
  assert_int_equal(means.off, 0);
}

TEST(test_edges) {
  const pc_bin certain = means_bin(10, 10, 10), wrong = means_bin(10, 10, 9),
               empty = means_bin(0, 0, 0), right = means_bin(100, 50, 50);
  pc_class_means means = {0};
  pc_class_means_add(&certain, 1, 4, &means);
  pc_class_means_add(&empty, 1, 4, &means);
  pc_class_means_add(&right, 1, 4, &means);
  assert_int_equal(means.off, 0);
  pc_class_means_add(&wrong, 1, 4, &means);
  assert_int_equal(means.classes, 4);
  assert_int_equal(means.off, 1);
  assert_int_equal(means.worst, 3);
  assert_true(isinf(means.deviate));
}
