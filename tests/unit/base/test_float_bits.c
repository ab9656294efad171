#include "testing.h"

#include <stddef.h>
#include <stdint.h>

#include <float.h>
#include <math.h>

#include "base/float_bits.h"

TEST(test_bits_round_trip) {
  assert_true(pc_double_bits(1.0) == UINT64_C(0x3ff0000000000000));
  assert_true(pc_double_bits(-0.0) == UINT64_C(0x8000000000000000));
  assert_true(pc_double_from_bits(UINT64_C(0x4000000000000000)) == 2.0);
  assert_int_equal(pc_leading_zeros(1), 63);
  assert_int_equal(pc_leading_zeros(UINT64_MAX), 0);
}

TEST(test_exact_values_stay) {
  assert_true(pc_round_binary(1, 0, 0) == 1.0);
  assert_true(pc_round_binary(3, -1, 0) == 1.5);
  assert_true(pc_round_binary(1, -1074, 0) == 0x1p-1074);
  assert_true(pc_round_binary((UINT64_C(1) << 53) - 1, 971, 0) == DBL_MAX);
  assert_true(pc_round_binary(1, -1022, 0) == DBL_MIN);
  assert_true(pc_round_binary((UINT64_C(1) << 52) - 1, -1074, 0) == DBL_MIN - 0x1p-1074);
}

TEST(test_ties_go_to_even) {
  const uint64_t one = UINT64_C(1) << 63;
  assert_true(pc_round_binary(one + 0x400, -63, 0) == 1.0);
  assert_true(pc_round_binary(one + 0x400, -63, 1) == 1.0 + DBL_EPSILON);
  assert_true(pc_round_binary(one + 0x3ff, -63, 1) == 1.0);
  assert_true(pc_round_binary(one + 0xc00, -63, 0) == 1.0 + 2 * DBL_EPSILON);
  assert_true(pc_round_binary(UINT64_MAX, -64, 0) == 1.0);
}

TEST(test_range_ends) {
  assert_true(pc_round_binary(1, 1024, 0) == INFINITY);
  assert_true(pc_round_binary(UINT64_MAX, 960, 0) == INFINITY);
  assert_true(pc_round_binary(UINT64_MAX - 0x400, 960, 0) == DBL_MAX);
  const uint64_t half = UINT64_C(1) << 63;
  assert_true(pc_round_binary(half, -1075 - 63, 0) == 0.0);
  assert_true(pc_round_binary(half, -1075 - 63, 1) == 0x1p-1074);
  assert_true(pc_round_binary(UINT64_MAX, -1076 - 63, 1) == 0.0);
  assert_true(pc_round_binary(3 * (half >> 1), -1074 - 63, 0) == 0x1p-1073);
  assert_true(pc_round_binary(1, -100000, 0) == 0.0);
}
