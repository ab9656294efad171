/* The portable table comes first and the fastest last; none has an empty place. */
#include "unit.h"

#include "kernels/dispatch.h"

TEST(levels) {
  static const char *const names[] = {"portable", "avx2", "avx512"};
  size_t count = 0;
  for (; pc_kernels_at(count) != NULL; count++) {
    const pc_kernels *kernels = pc_kernels_at(count);
    assert_string_equal(kernels->name, names[count]);
    assert_non_null(kernels->bin_index);
    assert_non_null(kernels->class_column);
    assert_non_null(kernels->convolve);
    assert_non_null(kernels->fast);
    assert_non_null(kernels->linear);
    assert_non_null(kernels->pair);
    assert_non_null(kernels->prob_row);
    assert_non_null(kernels->replica_sum);
    assert_non_null(kernels->row);
    assert_non_null(kernels->temperature);
    assert_non_null(kernels->vector_scaling);
  }
  assert_true(count >= 1);
  assert_ptr_equal(pc_kernels_best(), pc_kernels_at(count - 1));
}
