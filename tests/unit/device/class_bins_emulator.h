/* Runs the kernels pc_class_bins_* of device/device_kernels.cu on the CPU, block by block: all
 * threads of a block finish a phase before the next one begins. */
#ifndef CLASS_BINS_EMULATOR_H
#define CLASS_BINS_EMULATOR_H

#include <math.h>
#include <string.h>

#include "device/class_bins_body.h"

#define CLASS_BINS_EACH for (uint32_t t = 0; t < PC_CLASS_BINS_THREADS; t++)

static inline void class_bins_emulate_block(const pc_class_bins *bins, int is_double,
                                            uint32_t block) {
  static pc_class_bins_shared shared;
  pc_class_bins_thread mine[PC_CLASS_BINS_THREADS];
  memset(&shared, 0xff, sizeof shared); /* nothing is read before it is written */
  CLASS_BINS_EACH pc_class_bins_begin(bins, block, t, &shared, &mine[t]);
  for (uint64_t first = mine[0].slice * PC_CLASS_BINS_THREADS; first < bins->rows;
       first += (uint64_t)bins->slices * PC_CLASS_BINS_THREADS) {
    CLASS_BINS_EACH pc_class_bins_load(bins, &mine[t], first, &shared);
    CLASS_BINS_EACH
    is_double ? pc_class_bins_add_f64(bins, &mine[t], first, &shared)
              : pc_class_bins_add_f32(bins, &mine[t], first, &shared);
  }
  CLASS_BINS_EACH pc_class_bins_store(&mine[t], &shared);
  for (uint32_t g = 0; g < bins->grid_count; g++)
    CLASS_BINS_EACH pc_class_bins_publish_first(bins, &mine[t], g, &shared);
  CLASS_BINS_EACH pc_class_bins_publish_cells(bins, &mine[t], &shared);
}

static inline void class_bins_emulate(const pc_class_bins *bins, int is_double,
                                      uint32_t blocks) {
  for (uint32_t b = 0; b < blocks; b++)
    class_bins_emulate_block(bins, is_double, b);
}

#endif
