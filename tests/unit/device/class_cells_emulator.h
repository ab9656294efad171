/* Runs the kernels pc_class_cells_* of device/device_kernels.cu on the CPU, block by block: all threads of
 * a block finish a phase before the next one begins. */
#ifndef CLASS_CELLS_EMULATOR_H
#define CLASS_CELLS_EMULATOR_H

#include <string.h>

#include "device/class_cells_body.h"

#define CLASS_CELLS_EACH for (uint32_t t = 0; t < PC_CLASS_BINS_THREADS; t++)

static inline void class_cells_emulate(const pc_class_cells *cells, int is_double,
                                       uint32_t blocks) {
  static pc_class_cells_shared shared;
  const pc_class_bins *bins = &cells->bins;
  for (uint32_t b = 0; b < blocks; b++) {
    pc_class_bins_thread mine[PC_CLASS_BINS_THREADS];
    pc_class_cells_sums sums[PC_CLASS_BINS_THREADS];
    memset(&shared, 0xff, sizeof shared); /* nothing is read before it is written */
    CLASS_CELLS_EACH pc_class_cells_clear(0, &sums[t]);
    CLASS_CELLS_EACH pc_class_bins_begin(bins, b, t, &shared.bins, &mine[t]);
    for (uint64_t first = mine[0].slice * PC_CLASS_BINS_THREADS; first < bins->rows;
         first += (uint64_t)bins->slices * PC_CLASS_BINS_THREADS) {
      CLASS_CELLS_EACH pc_class_bins_load(bins, &mine[t], first, &shared.bins);
      CLASS_CELLS_EACH pc_class_cells_load(cells, &mine[t], first, &shared);
      CLASS_CELLS_EACH
      is_double ? pc_class_cells_add_f64(cells, &mine[t], first, &shared, &sums[t])
                : pc_class_cells_add_f32(cells, &mine[t], first, &shared, &sums[t]);
    }
    CLASS_CELLS_EACH pc_class_cells_publish(cells, &sums[t]);
  }
}

#endif
