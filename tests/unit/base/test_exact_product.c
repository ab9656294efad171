/* Products that round to the same double, against 128-bit integers. */
#include "base/exact_product.h"

#include "../unit.h"
#include "base/rng.h"
#include "base/sum.h"

TEST(whole_numbers) {
  const pc_rng rng = {3, 1};
  for (uint64_t i = 0; i < 20000; i++) {
    const int64_t a = (int64_t)(pc_rng_bits(&rng, 2 * i) >> 14);
    const int64_t b = (int64_t)(pc_rng_bits(&rng, 2 * i + 1) >> 14);
    const int64_t c = a - (int64_t)(i % 3), d = b + (int64_t)(i % 5);
    const pc_int128 difference = (pc_int128)a * b - (pc_int128)c * d;
    const int expected = (difference > 0) - (difference < 0);
    assert_int_equal(pc_compare_products((double)a, (double)b, (double)c, (double)d), expected);
  }
  assert_int_equal(pc_compare_products(0x1p52 + 1, 0x1p52 - 1, 0x1p52, 0x1p52), -1);
  assert_int_equal(pc_compare_products(0x1p52, 0x1p52, 0x1p52 + 1, 0x1p52 - 1), 1);
  assert_int_equal(pc_compare_products(3, 4, 2, 6), 0);
}
