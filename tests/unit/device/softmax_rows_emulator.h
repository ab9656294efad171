/* Runs the kernels of device/device_kernels.cu on the CPU, block by block: all threads of a block
 * finish a phase before the next one begins. */
#ifndef SOFTMAX_ROWS_EMULATOR_H
#define SOFTMAX_ROWS_EMULATOR_H

#include <math.h>

#include "device/softmax_rows_body.h"

#define EMULATOR_EACH_THREAD for (uint32_t t = 0; t < PC_SOFTMAX_ROWS_THREADS; t++)

static inline void emulator_wide(const pc_softmax_rows *rows, int is_double, uint32_t blocks) {
  for (uint32_t b = 0; b < blocks; b++) {
    pc_softmax_rows_shared shared;
    memset(&shared, 0xff, sizeof shared); /* NaN: nothing is read before it is written */
    EMULATOR_EACH_THREAD
    is_double ? pc_softmax_rows_look_f64(rows, b, t, &shared)
              : pc_softmax_rows_look_f32(rows, b, t, &shared);
    EMULATOR_EACH_THREAD
    is_double ? pc_softmax_rows_add_f64(rows, b, t, &shared)
              : pc_softmax_rows_add_f32(rows, b, t, &shared);
    EMULATOR_EACH_THREAD
    is_double ? pc_softmax_rows_write_f64(rows, b, t, &shared)
              : pc_softmax_rows_write_f32(rows, b, t, &shared);
  }
}

static inline void emulator_narrow(const pc_softmax_rows *rows, int is_double,
                                   uint32_t blocks) {
  for (uint64_t row = 0; row < (uint64_t)blocks * PC_SOFTMAX_ROWS_THREADS; row++)
    is_double ? pc_softmax_rows_narrow_f64(rows, row) : pc_softmax_rows_narrow_f32(rows, row);
}

#endif
