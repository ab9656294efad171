#include "kernels/column_sum.h"
#include "kernels/dispatch.h"

#include <math.h>

#include "kernels/row_kernels.h"

static void column_sum_add(pc_sum *sum, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (values[i] != 0.0)
      pc_sum_add(sum, values[i]);
}

int pc_sum_add_block(pc_sum *sum, const double *values, size_t count) {
  const pc_row_kernels *kernels = pc_kernels_best()->row;
  double left[PC_SPLIT_ROUNDS][PC_SPLIT_ROWS];
  const double *rest = values;
  for (size_t round = 0; round < PC_SPLIT_ROUNDS; round++) {
    pc_split_sums pieces;
    kernels->split(rest, count, round, left[round], &pieces);
    if (isinf(pieces.largest))
      return 0;
    if (pieces.largest > PC_SPLIT_LARGEST)
      break;
    for (size_t p = 0; p < PC_SPLIT_PIECES; p++)
      pc_sum_add_units(sum, pieces.units[p], pc_split_exponent(round, p));
    if (pieces.all)
      return 1;
    rest = left[round];
  }
  column_sum_add(sum, rest, count);
  return 1;
}

void pc_sum_add_column(pc_sum *sum, const double *values, size_t count) {
  for (size_t begin = 0; begin < count; begin += PC_SPLIT_ROWS) {
    const size_t left = count - begin;
    pc_sum_add_block(sum, values + begin, left < PC_SPLIT_ROWS ? left : PC_SPLIT_ROWS);
  }
}
