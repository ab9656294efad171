/* PC_LANES narrow rows, one after the other, turned into lanes: [class][lane]; and back.  Two
 * classes at a time go through pairs, which compilers part and join in vectors. */
#ifndef PC_LANE_TURN_H
#define PC_LANE_TURN_H

#include <string.h>

#include "kernels/row_kernels.h"

/* count: classes, at most PC_NARROW_CLASSES. */
#define PC_LANE_TURN(name, type)                                                               \
  static inline __attribute__((always_inline)) void name(const type *restrict z, size_t count, \
                                                         type *restrict out) {                 \
    const size_t even = count / 2 * 2;                                                         \
    for (size_t j = 0; j < even; j += 2) {                                                     \
      type pairs[2 * PC_LANES];                                                                \
      for (size_t l = 0; l < PC_LANES; l++)                                                    \
        memcpy(&pairs[2 * l], &z[l * count + j], 2 * sizeof *z);                               \
      for (size_t l = 0; l < PC_LANES; l++) {                                                  \
        out[j * PC_LANES + l] = pairs[2 * l];                                                  \
        out[(j + 1) * PC_LANES + l] = pairs[2 * l + 1];                                        \
      }                                                                                        \
    }                                                                                          \
    for (size_t l = 0; even < count && l < PC_LANES; l++)                                      \
      out[even * PC_LANES + l] = z[l * count + even];                                          \
  }

#define PC_LANE_TURN_BACK(name, type)                                                        \
  static inline __attribute__((always_inline)) void name(const type *restrict lanes,         \
                                                         size_t count, type *restrict out) { \
    type pairs[PC_NARROW_CLASSES * PC_LANES];                                                \
    const size_t even = count / 2 * 2;                                                       \
    for (size_t j = 0; j < even; j += 2)                                                     \
      for (size_t l = 0; l < PC_LANES; l++) {                                                \
        pairs[j * PC_LANES + 2 * l] = lanes[j * PC_LANES + l];                               \
        pairs[j * PC_LANES + 2 * l + 1] = lanes[(j + 1) * PC_LANES + l];                     \
      }                                                                                      \
    for (size_t j = 0; j < even; j += 2)                                                     \
      for (size_t l = 0; l < PC_LANES; l++)                                                  \
        memcpy(&out[l * count + j], &pairs[j * PC_LANES + 2 * l], 2 * sizeof *out);          \
    for (size_t l = 0; even < count && l < PC_LANES; l++)                                    \
      out[l * count + even] = lanes[even * PC_LANES + l];                                    \
  }

#endif
