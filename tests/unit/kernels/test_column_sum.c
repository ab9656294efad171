#include "kernels/column_sum.h"

#include "base/rng.h"
#include "unit.h"

enum { COUNT = 3000 };

/* Sizes from 2^(10 - range) to 2^10, some numbers 0. */
static void draw(uint64_t stream, int range, double *x) {
  const pc_rng rng = {21, stream};
  for (size_t i = 0; i < COUNT; i++)
    x[i] = i % 11 == 0 ? 0.0
                       : ldexp(2 * pc_rng_uniform(&rng, i) - 1, 10 - (int)(i % 1000) % range);
}

static void check(const double *x, size_t count) {
  pc_sum column, single;
  pc_sum_clear(&column);
  pc_sum_clear(&single);
  for (size_t i = 0; i < count; i++)
    pc_sum_add(&single, x[i]);
  pc_sum_add_column(&column, x, count);
  assert_true(pc_sum_equal(&column, &single));
  assert_same(pc_sum_value(&column), pc_sum_value(&single));
}

TEST(columns_are_exact) {
  static double x[COUNT];
  static const int ranges[] = {1, 20, 100, 1000};
  static const size_t counts[] = {0, 1, 31, 1023, 1024, 1025, COUNT};
  for (size_t r = 0; r < UNIT_COUNT(ranges); r++) {
    draw(r, ranges[r], x);
    for (size_t c = 0; c < UNIT_COUNT(counts); c++)
      check(x, counts[c]);
  }
}

TEST(large_numbers_are_exact) {
  static double x[COUNT];
  draw(9, 50, x);
  x[17] = 1e300;
  x[1400] = -1e300;
  x[2100] = 0x1p-1074;
  check(x, COUNT);
}

TEST(infinite_numbers_are_left_alone) {
  double x[40];
  pc_sum sum, none;
  pc_sum_clear(&sum);
  pc_sum_clear(&none);
  for (size_t at = 0; at < 40; at++) {
    for (size_t i = 0; i < 40; i++)
      x[i] = i == at ? (at % 2 == 0 ? INFINITY : -INFINITY) : 1e-30 * (double)i;
    assert_int_equal(pc_sum_add_block(&sum, x, 40), 0);
    assert_true(pc_sum_equal(&sum, &none));
    assert_int_equal(pc_sum_add_block(&sum, x, at), 1);
    pc_sum_clear(&sum);
  }
}
