/* The portable variant comes first, the fastest last, and all kinds go to the same level. */
#include "unit.h"

#include "kernels/cuts.h"
#include "kernels/pair_kernels.h"
#include "kernels/row_kernels.h"
#include "kernels/spread.h"
#include "kernels/tempered.h"

static void test_levels(void **state) {
  (void)state;
  size_t count = 0;
  assert_ptr_equal(pc_row_kernels_at(0), &pc_row_kernels_portable);
  assert_ptr_equal(pc_pair_kernels_at(0), &pc_pair_kernels_portable);
  assert_ptr_equal(pc_tempered_kernels_at(0), &pc_tempered_kernels_portable);
  assert_ptr_equal(pc_spread_kernels_at(0), &pc_spread_kernels_portable);
  assert_ptr_equal(pc_cut_kernels_at(0), &pc_cut_kernels_portable);
  for (; pc_row_kernels_at(count) != NULL; count++) {
    assert_string_equal(pc_row_kernels_at(count)->name, pc_pair_kernels_at(count)->name);
    assert_string_equal(pc_row_kernels_at(count)->name, pc_tempered_kernels_at(count)->name);
    assert_string_equal(pc_row_kernels_at(count)->name, pc_spread_kernels_at(count)->name);
    assert_string_equal(pc_row_kernels_at(count)->name, pc_cut_kernels_at(count)->name);
  }
  assert_null(pc_pair_kernels_at(count));
  assert_null(pc_tempered_kernels_at(count));
  assert_null(pc_spread_kernels_at(count));
  assert_null(pc_cut_kernels_at(count));
  assert_ptr_equal(pc_row_kernels_best(), pc_row_kernels_at(count - 1));
  assert_ptr_equal(pc_pair_kernels_best(), pc_pair_kernels_at(count - 1));
  assert_ptr_equal(pc_tempered_kernels_best(), pc_tempered_kernels_at(count - 1));
  assert_ptr_equal(pc_spread_kernels_best(), pc_spread_kernels_at(count - 1));
  assert_ptr_equal(pc_cut_kernels_best(), pc_cut_kernels_at(count - 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
