#include "testing.h"

#include <stddef.h>
#include <stdint.h>

#include <float.h>
#include <math.h>

#include "base/rng.h"
#include "base/sum.h"

#define COUNT 1000

static double sum_of(const double *values, size_t count) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t i = 0; i < count; i++)
    pc_sum_add(&sum, values[i]);
  return pc_sum_value(&sum);
}

static void shuffle(double *values, size_t count, uint64_t seed) {
  const pc_rng rng = {seed, 0};
  for (size_t i = count - 1; i > 0; i--) {
    const size_t j = pc_rng_bits(&rng, i) % (i + 1);
    const double kept = values[i];
    values[i] = values[j];
    values[j] = kept;
  }
}

static int same(double a, double b) {
  return pc_double_bits(a) == pc_double_bits(b);
}

TEST(test_single_values) {
  const pc_rng rng = {1, 1};
  for (uint64_t i = 0; i < 20000; i++) {
    const double value = pc_double_from_bits(pc_rng_bits(&rng, i));
    if (isfinite(value) && value != 0)
      assert_true(same(sum_of(&value, 1), value));
  }
  const double edges[] = {0x1p-1074, -0x1p-1074, DBL_MIN, DBL_MAX, -DBL_MAX, 1.0, -1.0};
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
    assert_true(same(sum_of(&edges[i], 1), edges[i]));
}

TEST(test_zero_is_positive) {
  assert_true(same(sum_of(NULL, 0), 0.0));
  assert_true(same(sum_of((const double[]){-0.0}, 1), 0.0));
  assert_true(same(sum_of((const double[]){1e300, -1e300}, 2), 0.0));
}

TEST(test_known_sums) {
  double tenths[10];
  for (int i = 0; i < 10; i++)
    tenths[i] = 0.1;
  assert_true(sum_of(tenths, 10) == 1.0);
  assert_true(sum_of((const double[]){1e100, 1, -1e100}, 3) == 1.0);
  assert_true(sum_of((const double[]){DBL_MAX, 0x1p-1074, -DBL_MAX}, 3) == 0x1p-1074);
  assert_true(sum_of((const double[]){DBL_MAX, DBL_MAX, -DBL_MAX}, 3) == DBL_MAX);
  assert_true(sum_of((const double[]){DBL_MAX, DBL_MAX}, 2) == INFINITY);
  assert_true(sum_of((const double[]){-DBL_MAX, -0x1p970}, 2) == -INFINITY);
  assert_true(sum_of((const double[]){DBL_MAX, 0x1p969}, 2) == DBL_MAX);
}

TEST(test_ties_round_to_even) {
  assert_true(sum_of((const double[]){1, 0x1p-53}, 2) == 1.0);
  assert_true(sum_of((const double[]){1, 0x1p-53, 0x1p-1074}, 3) == 1 + DBL_EPSILON);
  assert_true(sum_of((const double[]){1, 0x1p-53, -0x1p-1074}, 3) == 1.0);
  assert_true(sum_of((const double[]){1 + DBL_EPSILON, 0x1p-53}, 2) == 1 + 2 * DBL_EPSILON);
  assert_true(sum_of((const double[]){-1, -0x1p-53, -0x1p-1074}, 3) == -1 - DBL_EPSILON);
}

/* Terms of all sizes cancel and leave one small number. */
TEST(test_order_does_not_matter) {
  const pc_rng rng = {2, 1};
  double values[2 * COUNT + 1];
  for (uint64_t i = 0; i < COUNT; i++) {
    const double size = ldexp(pc_rng_uniform(&rng, i), (int)(i * 7 % 2000) - 1000);
    values[2 * i] = size;
    values[2 * i + 1] = -size;
  }
  values[2 * COUNT] = 0x1.23456789abcdep-900;
  for (uint64_t seed = 0; seed < 20; seed++) {
    shuffle(values, 2 * COUNT + 1, seed);
    assert_true(sum_of(values, 2 * COUNT + 1) == 0x1.23456789abcdep-900);
  }
}

/* Multiples of 2^-60 with 53 bits or fewer: their sum is exact in 128 bits. */
TEST(test_against_integers) {
  for (uint64_t round = 0; round < 50; round++) {
    const pc_rng rng = {round, 2};
    pc_int128 exact = 0;
    pc_sum sum;
    pc_sum_clear(&sum);
    for (uint64_t i = 0; i < 5000; i++) {
      const int64_t units = (int64_t)pc_rng_bits(&rng, i) >> (11 + i % 40);
      exact += units;
      pc_sum_add(&sum, (double)units * 0x1p-60);
    }
    assert_true(same(pc_sum_value(&sum), (double)exact * 0x1p-60));
  }
}

TEST(test_units) {
  static const int64_t units[] = {0, 1, -1, INT64_MAX, INT64_MIN, -987654321012345678};
  static const int exponents[] = {-1074, -1043, -91, -40, 0, 31, 900};
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; e++) {
      const int64_t low = units[u] % 4294967296, high = units[u] / 4294967296;
      pc_sum whole, parts;
      pc_sum_clear(&whole);
      pc_sum_clear(&parts);
      pc_sum_add_units(&whole, units[u], exponents[e]);
      pc_sum_add(&parts, ldexp((double)low, exponents[e]));
      pc_sum_add(&parts, ldexp((double)high, exponents[e] + 32));
      assert_true(pc_sum_equal(&whole, &parts));
    }
}

TEST(test_many_additions) {
  pc_sum sum;
  pc_sum_clear(&sum);
  const double value = -(2 - DBL_EPSILON);
  for (int i = 0; i < 3000000; i++)
    pc_sum_add(&sum, value);
  assert_true(pc_sum_value(&sum) == -6000000.0 + 3000000 * DBL_EPSILON);
  for (int i = 0; i < 3000000; i++)
    pc_sum_add(&sum, -value);
  assert_true(same(pc_sum_value(&sum), 0.0));
}

TEST(test_reading_changes_nothing) {
  pc_sum sum;
  pc_sum_clear(&sum);
  pc_sum_add(&sum, 0.1);
  assert_true(pc_sum_value(&sum) == 0.1);
  assert_true(pc_sum_value(&sum) == 0.1);
  pc_sum_add(&sum, -0.1);
  assert_true(same(pc_sum_value(&sum), 0.0));
}

TEST(test_merging) {
  const pc_rng rng = {3, 1};
  pc_sum whole, part[7], empty, total;
  pc_sum_clear(&whole);
  pc_sum_clear(&empty);
  pc_sum_clear(&total);
  for (int p = 0; p < 7; p++)
    pc_sum_clear(&part[p]);
  for (uint64_t i = 0; i < 30000; i++) {
    const double value = ldexp(pc_rng_normal(&rng, i), (int)(i % 200) - 100);
    pc_sum_add(&whole, value);
    pc_sum_add(&part[i % 7], value);
  }
  for (int p = 6; p >= 0; p--) {
    pc_sum_merge(&total, &part[p]);
    pc_sum_merge(&total, &empty);
  }
  assert_true(same(pc_sum_value(&total), pc_sum_value(&whole)));
  pc_sum_merge(&total, &total);
  assert_true(same(pc_sum_value(&total), 2 * pc_sum_value(&whole)));
}

TEST(test_whole_weights_repeat) {
  const pc_rng rng = {4, 1};
  pc_sum weighted, repeated;
  pc_sum_clear(&weighted);
  pc_sum_clear(&repeated);
  for (uint64_t i = 0; i < COUNT; i++) {
    const double value = ldexp(pc_rng_normal(&rng, i), (int)(i * 13 % 1900) - 950);
    pc_sum_add_product(&weighted, (double)(i % 5), value);
    for (uint64_t k = 0; k < i % 5; k++)
      pc_sum_add(&repeated, value);
  }
  assert_true(same(pc_sum_value(&weighted), pc_sum_value(&repeated)));
}

/* Integers of 53 bits: the products are exact in 128 bits. */
TEST(test_products_are_exact) {
  const pc_rng rng = {5, 1};
  for (uint64_t round = 0; round < 2000; round++) {
    pc_sum sum;
    pc_sum_clear(&sum);
    pc_int128 exact = 0;
    for (uint64_t i = 0; i < 8; i++) {
      const int64_t a = (int64_t)pc_rng_bits(&rng, 16 * round + 2 * i) >> 11;
      const int64_t b = (int64_t)pc_rng_bits(&rng, 16 * round + 2 * i + 1) >> (11 + i * 5);
      exact += (pc_int128)a * b;
      pc_sum_add_product(&sum, ldexp((double)a, -300), ldexp((double)b, 100));
    }
    assert_true(same(pc_sum_value(&sum), (double)exact * 0x1p-200));
  }
}

static double product_of(double weight, double value) {
  pc_sum sum;
  pc_sum_clear(&sum);
  pc_sum_add_product(&sum, weight, value);
  return pc_sum_value(&sum);
}

TEST(test_products_at_the_ends) {
  assert_true(same(product_of(0.0, DBL_MAX), 0.0));
  assert_true(same(product_of(-1.0, 0.0), 0.0));
  assert_true(product_of(0x1p-1074, 0x1p1023) == 0x1p-51);
  assert_true(product_of(-0x1p-1074, 1.0) == -0x1p-1074);
  assert_true(product_of(0x1p-537, 0x1p-537) == 0x1p-1074);
  assert_true(same(product_of(0x1p-538, 0x1p-537), 0.0));
  assert_true(same(product_of(0x1p-1074, 0x1p-1074), 0.0));
  assert_true(product_of(DBL_MAX, 1.0) == DBL_MAX);
  assert_true(product_of(DBL_MAX, 0.5) == DBL_MAX / 2);
  assert_true(product_of(DBL_MAX, 1 + DBL_EPSILON) == INFINITY);
  assert_true(product_of(DBL_MAX, -DBL_MAX) == -INFINITY);
  assert_true(product_of(DBL_MAX, 2.0) == INFINITY);
}

TEST(test_fixed_range) {
  const double values[] = {0.0, 1.0, -1.0, 2.0, -2.0, 3.5, 0.1, -0.3, 0x1p-61, 4 - 0x1p-51};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    pc_fixed sum = {0};
    pc_fixed_add(&sum, values[i]);
    const double read = pc_fixed_value(&sum);
    assert_true(fabs(read) <= fabs(values[i]) && fabs(read - values[i]) < 0x1p-61);
    if (fabs(values[i]) >= 0.1)
      assert_true(read == values[i]);
  }
  pc_fixed tiny = {0};
  pc_fixed_add(&tiny, 0x1.8p-61);
  assert_true(pc_fixed_value(&tiny) == 0x1p-61);
  pc_fixed_add(&tiny, -0x1.8p-61);
  assert_true(same(pc_fixed_value(&tiny), 0.0));
}

TEST(test_fixed_weights) {
  const pc_rng rng = {6, 1};
  pc_fixed weighted = {0}, repeated = {0};
  for (uint64_t i = 0; i < COUNT; i++) {
    const double value = 2 * pc_rng_uniform(&rng, i) - 1;
    pc_fixed_add_weighted(&weighted, (double)(i % 7), value);
    for (uint64_t k = 0; k < i % 7; k++)
      pc_fixed_add(&repeated, value);
  }
  assert_true(weighted.units == repeated.units);
  pc_fixed large = {0};
  pc_fixed_add_weighted(&large, 0x1p53 - 1, -2.0);
  assert_true(pc_fixed_value(&large) == -(0x1p54 - 2));
}

TEST(test_fixed_fractional_weights) {
  pc_fixed sum = {0};
  pc_fixed_add_weighted(&sum, 2.5, 0.25);
  assert_true(pc_fixed_value(&sum) == 0.625);
  pc_fixed_add_weighted(&sum, 0.5, -1.25);
  assert_true(same(pc_fixed_value(&sum), 0.0));
  pc_fixed forth = {0}, back = {0};
  const pc_rng rng = {7, 1};
  for (uint64_t i = 0; i < COUNT; i++) {
    const uint64_t j = COUNT - 1 - i;
    pc_fixed_add_weighted(&forth, 3 * pc_rng_uniform(&rng, i), pc_rng_uniform(&rng, i + COUNT));
    pc_fixed_add_weighted(&back, 3 * pc_rng_uniform(&rng, j), pc_rng_uniform(&rng, j + COUNT));
  }
  assert_true(forth.units == back.units);
  double plain = 0;
  for (uint64_t i = 0; i < COUNT; i++)
    plain += 3 * pc_rng_uniform(&rng, i) * pc_rng_uniform(&rng, i + COUNT);
  assert_true(fabs(pc_fixed_value(&forth) - plain) < 1e-11);
}

/* 2^100 + 2^47 units are a midpoint, one more is not. */
TEST(test_fixed_rounds_to_even) {
  const pc_int128 midpoint = ((pc_int128)1 << 100) + ((pc_int128)1 << 47);
  const pc_fixed low = {midpoint}, above = {midpoint + 1}, negative = {-midpoint - 1};
  assert_true(pc_fixed_value(&low) == 0x1p39);
  assert_true(pc_fixed_value(&above) == 0x1p39 * (1 + DBL_EPSILON));
  assert_true(pc_fixed_value(&negative) == -0x1p39 * (1 + DBL_EPSILON));
}

/* The short way and the one for any size, around every power of two and in between. */
TEST(test_fixed_small_and_large) {
  const pc_rng rng = {8, 1};
  for (unsigned power = 0; power < 126; power++)
    for (uint64_t i = 0; i < 40; i++) {
      const pc_int128 one = (pc_int128)1 << power;
      const pc_int128 half = power < 54 || i % 4 == 0 ? 0 : (pc_int128)1 << (power - 53);
      const pc_int128 near = half + (int64_t)(i % 5) - 2;
      const pc_int128 any = (pc_int128)pc_rng_bits(&rng, i) << 60 | (pc_int128)i;
      const pc_int128 more = i < 20 ? near : any % one;
      const pc_fixed up = {one + more}, down = {-one - more};
      assert_true(same(pc_fixed_value(&up), pc_fixed_large_value(&up)));
      assert_true(same(pc_fixed_value(&down), -pc_fixed_value(&up)) || up.units == 0);
    }
}
