/* The portable variant comes first, the fastest last, and all kinds go to the same level. */
#include "unit.h"

#include "kernels/bin_index.h"
#include "kernels/class_column_sums.h"
#include "kernels/pair_kernels.h"
#include "kernels/row_kernels.h"
#include "kernels/temperature_kernels.h"

TEST(test_levels) {
  size_t count = 0;
  assert_ptr_equal(pc_row_kernels_at(0), &pc_row_kernels_portable);
  assert_ptr_equal(pc_pair_kernels_at(0), &pc_pair_kernels_portable);
  assert_ptr_equal(pc_temperature_kernels_at(0), &pc_temperature_kernels_portable);
  assert_ptr_equal(pc_class_column_kernels_at(0), &pc_class_column_kernels_portable);
  assert_ptr_equal(pc_bin_index_kernels_at(0), &pc_bin_index_kernels_portable);
  for (; pc_row_kernels_at(count) != NULL; count++) {
    assert_string_equal(pc_row_kernels_at(count)->name, pc_pair_kernels_at(count)->name);
    assert_string_equal(pc_row_kernels_at(count)->name, pc_temperature_kernels_at(count)->name);
    assert_string_equal(pc_row_kernels_at(count)->name,
                        pc_class_column_kernels_at(count)->name);
    assert_string_equal(pc_row_kernels_at(count)->name, pc_bin_index_kernels_at(count)->name);
  }
  assert_null(pc_pair_kernels_at(count));
  assert_null(pc_temperature_kernels_at(count));
  assert_null(pc_class_column_kernels_at(count));
  assert_null(pc_bin_index_kernels_at(count));
  assert_ptr_equal(pc_row_kernels_best(), pc_row_kernels_at(count - 1));
  assert_ptr_equal(pc_pair_kernels_best(), pc_pair_kernels_at(count - 1));
  assert_ptr_equal(pc_temperature_kernels_best(), pc_temperature_kernels_at(count - 1));
  assert_ptr_equal(pc_class_column_kernels_best(), pc_class_column_kernels_at(count - 1));
  assert_ptr_equal(pc_bin_index_kernels_best(), pc_bin_index_kernels_at(count - 1));
}
