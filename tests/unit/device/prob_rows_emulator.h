/* Runs the kernels pc_prob_rows_* of device/device_kernels.cu on the CPU, block by block: all threads of
 * a block finish a phase before the next one begins. */
#ifndef PROB_ROWS_EMULATOR_H
#define PROB_ROWS_EMULATOR_H

#include <string.h>

#include "device/prob_rows_body.h"

#define PROB_ROWS_EACH for (uint32_t t = 0; t < PC_PROB_ROWS_THREADS; t++)
#define PROB_ROWS_PHASE(name, ...)                               \
  PROB_ROWS_EACH                                                 \
  is_double ? pc_prob_rows_##name##_f64(rows, b, t, __VA_ARGS__) \
            : pc_prob_rows_##name##_f32(rows, b, t, __VA_ARGS__)

static inline void prob_rows_emulate(const pc_prob_rows *rows, int is_double, uint32_t blocks) {
  static pc_prob_rows_shared shared;
  static pc_prob_rows_found found[PC_PROB_ROWS_THREADS];
  double square[PC_PROB_ROWS_THREADS];
  for (uint32_t b = 0; b < blocks; b++) {
    memset(&shared, 0xff, sizeof shared); /* nothing is read before it is written */
    PROB_ROWS_PHASE(look, &shared);
    PROB_ROWS_PHASE(check, &shared);
    PROB_ROWS_PHASE(again, &shared);
    PROB_ROWS_EACH square[t] = is_double
                                   ? pc_prob_rows_square_f64(rows, b, t, &shared, &found[t])
                                   : pc_prob_rows_square_f32(rows, b, t, &shared, &found[t]);
    memcpy(shared.sum, square, sizeof square);
    PROB_ROWS_PHASE(write, &shared, &found[t]);
  }
}

#endif
