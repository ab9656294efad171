/* Runs the kernels pc_temperature_*, pc_sample_rows_* and pc_value_sums_all of
 * device/device_kernels.cu on the CPU, block by block: all threads of a block finish a phase before
 * the next one begins. */
#ifndef TEMPERATURE_ROWS_EMULATOR_H
#define TEMPERATURE_ROWS_EMULATOR_H

#include <math.h>

#include "device/temperature_rows_body.h"

#define TEMPERATURE_EACH for (uint32_t t = 0; t < PC_TEMPERATURE_ROWS_THREADS; t++)

static inline void temperature_rows_emulate_wide(const pc_temperature_rows *rows, int is_double,
                                                 uint32_t block,
                                                 pc_temperature_rows_shared *shared) {
  TEMPERATURE_EACH
  is_double ? pc_temperature_rows_look_f64(rows, block, t, shared)
            : pc_temperature_rows_look_f32(rows, block, t, shared);
  TEMPERATURE_EACH
  is_double ? pc_temperature_rows_add_f64(rows, block, t, shared)
            : pc_temperature_rows_add_f32(rows, block, t, shared);
  TEMPERATURE_EACH pc_temperature_rows_fold(rows, block, t, shared);
  TEMPERATURE_EACH
  is_double ? pc_temperature_rows_write_f64(rows, block, t, shared)
            : pc_temperature_rows_write_f32(rows, block, t, shared);
}

static inline void temperature_rows_emulate(const pc_temperature_rows *rows, int is_double,
                                            int wide, uint32_t blocks) {
  pc_temperature_rows_shared shared;
  for (uint32_t b = 0; b < blocks; b++) {
    memset(&shared, 0xff, sizeof shared); /* NaN: nothing is read before it is written */
    TEMPERATURE_EACH pc_temperature_rows_begin(t, &shared);
    if (wide)
      temperature_rows_emulate_wide(rows, is_double, b, &shared);
    TEMPERATURE_EACH {
      const uint64_t item = (uint64_t)b * PC_TEMPERATURE_ROWS_THREADS + t;
      if (!wide && is_double)
        pc_temperature_rows_narrow_f64(rows, item, &shared);
      else if (!wide)
        pc_temperature_rows_narrow_f32(rows, item, &shared);
    }
  }
}

static inline void sample_rows_emulate(const pc_sample_rows *sample, int is_double,
                                       uint32_t blocks) {
  for (uint64_t row = 0; row < (uint64_t)blocks * PC_SAMPLE_ROWS_THREADS; row++)
    is_double ? pc_sample_rows_find_f64(sample, row) : pc_sample_rows_find_f32(sample, row);
}

static inline void value_sums_emulate(const pc_value_sums *sums, uint32_t blocks) {
  pc_value_sums_shared shared;
  for (uint32_t b = 0; b < blocks; b++) {
    TEMPERATURE_EACH pc_value_sums_add(sums, b, t, &shared);
    TEMPERATURE_EACH pc_value_sums_publish(sums, b, t, &shared);
  }
}

#endif
