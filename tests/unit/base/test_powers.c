#include "testing.h"

#include <stddef.h>
#include <stdint.h>

#include "base/bigint.h"
#include "base/powers.h"

TEST(test_exact_tables) {
  double ten = 1;
  for (int i = 0; i <= 22; i++, ten *= 10)
    assert_true(pc_ten_power[i] == ten);
  uint64_t five = 1;
  for (int i = 0; i <= 26; i++, five *= 5)
    assert_true(pc_five_power[i] == five);
}

/* (2 mantissa - 1) 2^exponent < 2 * 5^power < (2 mantissa + 1) 2^exponent */
static void check_wide(int power, pc_wide wide) {
  assert_true(wide.mantissa >> 63 == 1);
  for (int side = -1; side <= 1; side += 2) {
    pc_big bound, exact;
    pc_big_set(&bound, wide.mantissa - (side < 0));
    pc_big_multiply_add(&bound, 2, 1);
    pc_big_set(&exact, 2);
    pc_big_power_of_five(&exact, power);
    pc_big_power_of_five(&bound, -power);
    if (wide.exponent > 0)
      pc_big_shift(&bound, wide.exponent);
    else
      pc_big_shift(&exact, -wide.exponent);
    assert_int_equal(pc_big_compare(&bound, &exact), side);
  }
}

TEST(test_wide_table_is_rounded_to_nearest) {
  for (int i = 0; i < 26; i++)
    check_wide(PC_FIVE_FIRST + PC_FIVE_STEP * i, pc_five_wide[i]);
}
