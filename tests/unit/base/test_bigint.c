#include "testing.h"

#include <stddef.h>
#include <stdint.h>

#include "base/bigint.h"
#include "base/float_bits.h"

static pc_uint128 value_of(const pc_big *big) {
  pc_uint128 value = 0;
  for (int i = big->count - 1; i >= 0; i--)
    value = value << 32 | big->limb[i];
  return value;
}

TEST(test_small_numbers) {
  pc_big big;
  pc_big_set(&big, 0);
  assert_int_equal(big.count, 0);
  assert_int_equal(pc_big_bits(&big), 0);
  pc_big_shift(&big, 100);
  assert_int_equal(big.count, 0);
  pc_big_multiply_add(&big, 10, 7);
  assert_true(value_of(&big) == 7);
  pc_big_set(&big, UINT64_MAX);
  assert_int_equal(pc_big_bits(&big), 64);
  pc_big_multiply_add(&big, UINT32_MAX, UINT32_MAX);
  assert_true(value_of(&big) == (pc_uint128)UINT64_MAX * UINT32_MAX + UINT32_MAX);
  pc_big_set(&big, 5);
  pc_big_shift(&big, 70);
  assert_true(value_of(&big) == (pc_uint128)5 << 70);
  assert_int_equal(pc_big_bits(&big), 73);
}

TEST(test_powers_of_five) {
  pc_uint128 power = 1;
  for (int n = 0; n <= 55; n++, power *= 5) {
    pc_big big;
    pc_big_set(&big, 1);
    pc_big_power_of_five(&big, n);
    assert_true(value_of(&big) == power);
  }
  pc_big one;
  pc_big_set(&one, 1);
  pc_big_power_of_five(&one, -3);
  assert_true(value_of(&one) == 1);
}

TEST(test_comparison) {
  const uint64_t values[] = {
      0,          1,          2,           UINT32_MAX,    UINT64_C(1) << 32,
      UINT64_MAX, 0x80000000, 0x100000001, UINT64_MAX - 1};
  const size_t count = sizeof values / sizeof values[0];
  for (size_t i = 0; i < count * count * count; i++) {
    const uint64_t x = values[i % count], y = values[i / count % count];
    const uint64_t z = values[i / count / count];
    pc_big a, b, c;
    pc_big_set(&a, x);
    pc_big_set(&b, y);
    pc_big_set(&c, z);
    assert_int_equal(pc_big_compare(&a, &b), (x > y) - (x < y));
    const pc_uint128 sum = (pc_uint128)x + y;
    assert_int_equal(pc_big_compare_sum(&a, &b, &c), (sum > z) - (sum < z));
    pc_big_set(&c, x);
    pc_big_multiply_add(&c, 1, 0);
    pc_big_shift(&a, 96);
    pc_big_shift(&c, 97);
    assert_int_equal(pc_big_compare_sum(&a, &a, &c), 0);
  }
}

TEST(test_division) {
  for (uint32_t quotient = 0; quotient < 16; quotient++) {
    for (uint64_t rest = 0; rest < 3; rest++) {
      pc_big divisor, big;
      pc_big_set(&divisor, UINT64_C(0xffffffff00000007));
      pc_big_shift(&divisor, pc_big_divisor_shift(&divisor));
      assert_int_equal(pc_big_bits(&divisor) % 32, 28);
      big = divisor;
      pc_big_multiply_add(&big, quotient, (uint32_t)rest);
      if (quotient == 0)
        pc_big_set(&big, rest);
      assert_int_equal(pc_big_divide(&big, &divisor), quotient);
      assert_true(value_of(&big) == rest);
    }
  }
}

TEST(test_division_just_below) {
  pc_big divisor, big;
  pc_big_set(&divisor, UINT64_C(0x0fffffffffffffff));
  pc_big_set(&big, 9 * UINT64_C(0x0fffffffffffffff) - 1);
  assert_int_equal(pc_big_divide(&big, &divisor), 8);
  assert_true(value_of(&big) == UINT64_C(0x0ffffffffffffffe));
}
