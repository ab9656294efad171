#include "kernels/column_sum.h"

#include "kernels/row_kernels.h"

static void column_sum_add(pc_sum *sum, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (values[i] != 0.0)
      pc_sum_add(sum, values[i]);
}

/* At most PC_SPLIT_ROWS numbers. */
static void column_sum_split(const pc_row_kernels *kernels, pc_sum *sum, const double *values,
                             size_t count) {
  double left[PC_SPLIT_ROWS];
  pc_split_sums pieces;
  kernels->split(values, count, left, &pieces);
  if (pieces.largest > PC_SPLIT_LARGEST) {
    column_sum_add(sum, values, count);
    return;
  }
  for (size_t p = 0; p < PC_SPLIT_PIECES; p++)
    pc_sum_add_units(sum, pieces.units[p], pc_split_exponent(p));
  if (!pieces.all)
    column_sum_add(sum, left, count);
}

void pc_sum_add_column(pc_sum *sum, const double *values, size_t count) {
  const pc_row_kernels *kernels = pc_row_kernels_best();
  for (size_t begin = 0; begin < count; begin += PC_SPLIT_ROWS) {
    const size_t left = count - begin;
    column_sum_split(kernels, sum, values + begin, left < PC_SPLIT_ROWS ? left : PC_SPLIT_ROWS);
  }
}
