#include "kernels/softmax.h"

#include <float.h>

#include "../unit.h"
#include "base/rng.h"

TEST(closed_forms) {
  double out[3];
  const double quarter[] = {0, log(3)};
  assert_near(pc_softmax_row(quarter, 2, out), log(4), 1e-15);
  assert_near(out[0], 0.25, 1e-15);
  assert_near(out[1], 0.75, 1e-15);
  const double thirds[] = {log(5), log(2), log(3)};
  assert_near(pc_softmax_row(thirds, 3, out), log(10), 1e-15);
  assert_near(out[0], 0.5, 1e-15);
  assert_near(out[1], 0.2, 1e-15);
  assert_near(out[2], 0.3, 1e-15);
  const double single[] = {-17.5};
  assert_same(pc_softmax_row(single, 1, out), -17.5);
  assert_same(out[0], 1.0);
}

TEST(equal_scores_are_uniform) {
  static const size_t counts[] = {1, 2, 3, 7, 10, 1000};
  double scores[1000], out[1000];
  for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
    for (size_t j = 0; j < counts[c]; j++)
      scores[j] = 3.25;
    const double norm = pc_softmax_row(scores, counts[c], out);
    assert_near(norm, 3.25 + log((double)counts[c]), 1e-15);
    for (size_t j = 0; j < counts[c]; j++)
      assert_same(out[j], 1.0 / (double)counts[c]);
  }
}

TEST(huge_scores) {
  double out[3];
  const double mixed[] = {1e30, -1e30, 1e30};
  assert_same(pc_softmax_row(mixed, 3, out), 1e30);
  assert_same(out[0], 0.5);
  assert_same(out[1], 0.0);
  assert_same(out[2], 0.5);
  const double low[] = {-1e30, -1e30};
  assert_same(pc_softmax_row(low, 2, out), -1e30);
  assert_same(out[0], 0.5);
  assert_same(out[1], 0.5);
  const double ends[] = {-DBL_MAX, DBL_MAX, 0};
  assert_same(pc_softmax_row(ends, 3, out), DBL_MAX);
  assert_same(out[0], 0.0);
  assert_same(out[1], 1.0);
  assert_same(out[2], 0.0);
}

TEST(tiny_probabilities_stay_accurate) {
  double out[3];
  const double scores[] = {-700, 0, -100};
  assert_same(pc_softmax_row(scores, 3, out), 0.0);
  assert_near(out[0], 9.85967654375977e-305, 4e-16);
  assert_same(out[1], 1.0);
  assert_near(out[2], 3.720075976020836e-44, 4e-16);
}

/* Scores and shifts are multiples of 1/64, so that shifted scores are exact. */
TEST(shifts_change_no_bit) {
  static const double shifts[] = {1, -3.5, 1024, -1e6, 1e12};
  const pc_rng rng = {1, 2};
  double scores[10], shifted[10], out[10], again[10];
  for (size_t row = 0; row < 100; row++) {
    for (size_t j = 0; j < 10; j++)
      scores[j] = floor(pc_rng_normal(&rng, row * 10 + j) * 320) / 64;
    pc_softmax_row(scores, 10, out);
    for (size_t s = 0; s < UNIT_COUNT(shifts); s++) {
      for (size_t j = 0; j < 10; j++)
        shifted[j] = scores[j] + shifts[s];
      pc_softmax_row(shifted, 10, again);
      assert_memory_equal(again, out, sizeof out);
    }
  }
}

TEST(sums_to_one) {
  static const size_t counts[] = {2, 3, 10, 100, 1000};
  const pc_rng rng = {3, 4};
  double scores[1000], out[1000];
  for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
    for (size_t row = 0; row < 20; row++) {
      for (size_t j = 0; j < counts[c]; j++)
        scores[j] = 10 * pc_rng_normal(&rng, row * 1000 + j);
      const double norm = pc_softmax_row(scores, counts[c], out);
      long double sum = 0;
      for (size_t j = 0; j < counts[c]; j++) {
        sum += out[j];
        assert_near(out[j], exp(scores[j] - norm), 2e-14);
      }
      assert_near((double)(sum - 1) + 1, 1.0, ((double)counts[c] + 1) * 0x1p-53);
    }
  }
}

TEST(works_in_place) {
  double scores[] = {1, 2, 3, -4}, out[4];
  const double norm = pc_softmax_row(scores, 4, out);
  assert_same(pc_softmax_row(scores, 4, scores), norm);
  assert_memory_equal(scores, out, sizeof out);
}

/* To 60 digits and rounded: 1/(1+e^-z), 1/(1+e^z), log(1+e^-z). */
static const struct {
  double z, greater, lesser, rest;
} sigmoids[] = {
    {0.001, 0.5002499999791666, 0.4997500000208333, 0.6926473055599401},
    {1, 0.7310585786300049, 0.2689414213699951, 0.3132616875182228},
    {2.5, 0.9241418199787564, 0.07585818002124355, 0.07888973429254963},
    {36, 0.9999999999999998, 2.3195228302435686e-16, 2.319522830243569e-16},
    {40, 1, 4.248354255291589e-18, 4.248354255291589e-18},
    {100, 1, 3.720075976020836e-44, 3.720075976020836e-44},
    {700, 1, 9.85967654375977e-305, 9.85967654375977e-305},
};

TEST(sigmoid_is_accurate_on_both_sides) {
  const double close = 4.5e-16;
  for (size_t i = 0; i < UNIT_COUNT(sigmoids); i++) {
    double out[2];
    assert_near(pc_sigmoid_pair(sigmoids[i].z, out), sigmoids[i].rest, close);
    assert_near(out[1], sigmoids[i].greater, close);
    assert_near(out[0], sigmoids[i].lesser, close);
    assert_near(pc_sigmoid_pair(-sigmoids[i].z, out), sigmoids[i].rest, close);
    assert_near(out[0], sigmoids[i].greater, close);
    assert_near(out[1], sigmoids[i].lesser, close);
  }
}

TEST(sigmoid_ends) {
  static const double beyond[] = {746, 1000, 1e30, DBL_MAX};
  double out[2];
  assert_near(pc_sigmoid_pair(0.0, out), log(2), 4e-16);
  assert_same(out[0], 0.5);
  assert_same(out[1], 0.5);
  assert_same(pc_sigmoid_pair(-740, out), 4.2e-322);
  assert_same(out[0], 1.0);
  assert_same(out[1], 4.2e-322);
  for (size_t i = 0; i < UNIT_COUNT(beyond); i++) {
    assert_same(pc_sigmoid_pair(beyond[i], out), 0.0);
    assert_same(out[0], 0.0);
    assert_same(out[1], 1.0);
    assert_same(pc_sigmoid_pair(-beyond[i], out), 0.0);
    assert_same(out[0], 1.0);
    assert_same(out[1], 0.0);
  }
}

TEST(sigmoid_is_a_softmax_of_two) {
  const pc_rng rng = {5, 6};
  for (uint64_t i = 0; i < 1000; i++) {
    const double z = 20 * pc_rng_normal(&rng, i), scores[] = {0.0, z};
    double pair[2], row[2];
    const double norm = pc_sigmoid_pair(z, pair) + fmax(z, 0);
    assert_near(pc_softmax_row(scores, 2, row), norm, 1e-15 + 1e-15 / norm);
    assert_near(pair[0], row[0], 5e-16);
    assert_near(pair[1], row[1], 5e-16);
  }
}
