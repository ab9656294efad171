/* Exact sums on a GPU: values are cut into integers, whose sums go into limbs of 32 bits as those of
 * pc_sum before carries (base/sum.h). */
#ifndef PC_GPU_SUMS_H
#define PC_GPU_SUMS_H

#include "base/float_bits.h"
#include "device/gpu_layer.h"

/* Adds units * 2^(position - 1074), as pc_sum_add_units. */
static inline void pc_gpu_add_limbs(uint64_t *limbs, int64_t units, uint32_t position) {
  const uint64_t sign = units < 0 ? UINT64_MAX : 0, low = UINT32_MAX;
  const uint64_t size = ((uint64_t)units ^ sign) - sign;
  const uint32_t shift = position % 32;
  uint64_t *limb = limbs + position / 32;
  const uint64_t first = (size << shift) & low, second = (size >> (32 - shift)) & low;
  const uint64_t third = shift == 0 ? 0 : size >> (64 - shift);
  if (first != 0)
    pc_gpu_add_64(limb, (first ^ sign) - sign);
  if (second != 0)
    pc_gpu_add_64(limb + 1, (second ^ sign) - sign);
  if (third != 0)
    pc_gpu_add_64(limb + 2, (third ^ sign) - sign);
}

/* Adds a finite value by its mantissa. */
static inline void pc_gpu_add_whole(uint64_t *limbs, double value) {
  const uint64_t bits = pc_double_bits(value), mantissa = bits & ((UINT64_C(1) << 52) - 1);
  const uint32_t field = (uint32_t)(bits >> 52) & 0x7ff, normal = field != 0;
  const int64_t units = (int64_t)(mantissa | (uint64_t)normal << 52);
  pc_gpu_add_limbs(limbs, bits >> 63 != 0 ? -units : units, field - normal);
}

/* Splits off the multiple of the last bit of the anchor, as row_cut in kernels/row_kernels.c. */
static inline double pc_gpu_cut(double rest, double anchor, int64_t *units) {
  const double sum = rest + anchor;
  *units = (int64_t)(pc_double_bits(sum) - pc_double_bits(anchor));
  return rest - (sum - anchor);
}

#endif
