#include "data/weight_unit.h"

#include "../unit.h"

static double unit_of(const double *weights, size_t count) {
  pc_weight_sums sums;
  pc_weight_sums_clear(&sums);
  for (size_t i = 0; i < count; i++)
    pc_weight_sums_add(&sums, weights[i]);
  return pc_weight_unit(&sums);
}

/* 3, 1, 0 and invalid weights: u = 10 / 4. */
TEST(formula_and_weights_that_do_not_count) {
  const double weights[] = {3.0, 0.0, 1.0, -2.0, 1e300, (double)NAN};
  double out[6];
  const double unit = unit_of(weights, 6);
  assert_same(unit, 2.5);
  pc_weights_scale(weights, 6, unit, out);
  assert_same(out[0], 1.2);
  assert_same(out[1], 0.0);
  assert_same(out[2], 0.4);
  assert_same(out[3], -2.0);
  assert_same(out[4], 1e300);
  assert_true(isnan(out[5]));
}

TEST(equal_weights_become_one) {
  const double sizes[] = {1.0 / 3.0, 1000.5, 1e-300, 1e12};
  for (size_t s = 0; s < 4; s++) {
    const double weights[] = {sizes[s], sizes[s], sizes[s]};
    double out[3];
    pc_weights_scale(weights, 3, unit_of(weights, 3), out);
    assert_same(out[0], 1.0);
    assert_same(out[2], 1.0);
  }
}

TEST(powers_of_two_give_the_same_bits) {
  const double weights[] = {0.1, 0.7, 3.3, 1e-9};
  for (int k = -700; k <= 30; k += 73) {
    double scaled[4], expected[4], out[4];
    for (size_t i = 0; i < 4; i++)
      scaled[i] = ldexp(weights[i], k);
    pc_weights_scale(weights, 4, unit_of(weights, 4), expected);
    pc_weights_scale(scaled, 4, unit_of(scaled, 4), out);
    for (size_t i = 0; i < 4; i++)
      assert_same(out[i], expected[i]);
  }
}

TEST(rows_without_weights_count_as_one) {
  const double ones[] = {1.0, 1.0, 2.0};
  pc_weight_sums sums;
  pc_weight_sums_clear(&sums);
  assert_same(pc_weight_unit(&sums), 1.0);
  pc_weight_sums_add_rows(&sums, 0);
  assert_same(pc_weight_unit(&sums), 1.0);
  pc_weight_sums_add_rows(&sums, 2);
  pc_weight_sums_add(&sums, 2.0);
  assert_same(pc_weight_unit(&sums), unit_of(ones, 3));
  assert_same(pc_weight_unit(&sums), 1.5);
}
