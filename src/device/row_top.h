/* The largest logit of the threads of a row, for the bodies of kernels.
 *
 * A loop whose end is checked after each logit waits for each load; these loops load PC_ROW_TOP_LOADS
 * logits at once, and beyond the end of a row the first of these again. */
#ifndef PC_ROW_TOP_H
#define PC_ROW_TOP_H

#include <math.h>

#include "device/gpu_layer.h"

#define PC_ROW_TOP_LOADS 8

/* The largest of the logits first, first + step, ... of a row; *at: its lowest index; *odd: 1 if one
 * of them is not finite. */
#define PC_ROW_TOP(number, name)                                                              \
  static inline number name(const number *z, uint32_t classes, uint32_t first, uint32_t step, \
                            uint32_t *at, int *odd) {                                         \
    number top = (number)-INFINITY, rest = 0, here[PC_ROW_TOP_LOADS];                         \
    uint32_t best = 0;                                                                        \
    for (uint32_t j = first; j < classes; j += PC_ROW_TOP_LOADS * step) {                     \
      PC_GPU_UNROLL(8)                                                                        \
      for (uint32_t i = 0; i < PC_ROW_TOP_LOADS; i++)                                         \
        here[i] = z[j + i * step < classes ? j + i * step : j];                               \
      PC_GPU_UNROLL(8)                                                                        \
      for (uint32_t i = 0; i < PC_ROW_TOP_LOADS; i++) {                                       \
        best = here[i] > top ? j + i * step : best;                                           \
        top = here[i] > top ? here[i] : top;                                                  \
        rest += here[i] - here[i];                                                            \
      }                                                                                       \
    }                                                                                         \
    *at = best;                                                                               \
    *odd = rest != 0;                                                                         \
    return top;                                                                               \
  }

PC_ROW_TOP(float, pc_row_top_f32)
PC_ROW_TOP(double, pc_row_top_f64)

/* The largest of `count` threads' logits, and its lowest index. */
static inline double pc_row_top_fold(const double *top, const uint32_t *at, uint32_t count,
                                     uint32_t *best) {
  double largest = top[0];
  uint32_t found = at[0];
  PC_GPU_UNROLL(15)
  for (uint32_t t = 1; t < count; t++) { /* no branches */
    const int better = (top[t] > largest) | ((top[t] == largest) & (at[t] < found));
    found = better ? at[t] : found;
    largest = better ? top[t] : largest;
  }
  *best = found;
  return largest;
}

#endif
