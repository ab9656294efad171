/* Runs the kernels pc_scaled_softmax_* of device/device_kernels.cu on the CPU, block by block: all threads
 * of a block finish a phase before the next one begins. */
#ifndef SCALED_SOFTMAX_EMULATOR_H
#define SCALED_SOFTMAX_EMULATOR_H

#include <math.h>
#include <string.h>

#include "device/scaled_softmax_body.h"

#define SCALED_EACH for (uint32_t t = 0; t < PC_SCALED_SOFTMAX_THREADS; t++)

static inline void scaled_softmax_emulate(const pc_scaled_softmax *softmax, int is_double,
                                          int wide, uint32_t blocks) {
  pc_scaled_softmax_shared shared;
  for (uint32_t b = 0; b < blocks && wide; b++) {
    memset(&shared, 0xff, sizeof shared); /* NaN: nothing is read before it is written */
    SCALED_EACH
    is_double ? pc_scaled_softmax_look_f64(softmax, b, t, &shared)
              : pc_scaled_softmax_look_f32(softmax, b, t, &shared);
    SCALED_EACH
    is_double ? pc_scaled_softmax_add_f64(softmax, b, t, &shared)
              : pc_scaled_softmax_add_f32(softmax, b, t, &shared);
    SCALED_EACH
    is_double ? pc_scaled_softmax_write_f64(softmax, b, t, &shared)
              : pc_scaled_softmax_write_f32(softmax, b, t, &shared);
  }
  for (uint64_t row = 0; !wide && row < (uint64_t)blocks * PC_SCALED_SOFTMAX_THREADS; row++)
    is_double ? pc_scaled_softmax_narrow_row_f64(softmax, row)
              : pc_scaled_softmax_narrow_row_f32(softmax, row);
}

#endif
