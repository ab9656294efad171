/* Runs the kernels pc_class_moments_* of device/device_kernels.cu on the CPU, block by block: all
 * threads of a block finish a phase before the next one begins. */
#ifndef CLASS_MOMENTS_EMULATOR_H
#define CLASS_MOMENTS_EMULATOR_H

#include <string.h>

#include "device/class_moments_body.h"

#define CLASS_MOMENTS_EACH for (uint32_t t = 0; t < PC_CLASS_BINS_THREADS; t++)

static inline void class_moments_emulate(const pc_class_moments *moments, int is_double,
                                         uint32_t blocks) {
  static pc_class_bins_shared shared;
  const pc_class_bins *bins = &moments->bins;
  for (uint32_t b = 0; b < blocks; b++) {
    pc_class_bins_thread mine[PC_CLASS_BINS_THREADS];
    pc_class_moments_first sums[PC_CLASS_BINS_THREADS];
    memset(sums, 0, sizeof sums);
    memset(&shared, 0xff, sizeof shared); /* nothing is read before it is written */
    CLASS_MOMENTS_EACH pc_class_bins_begin(bins, b, t, &shared, &mine[t]);
    for (uint64_t first = mine[0].slice * PC_CLASS_BINS_THREADS; first < bins->rows;
         first += (uint64_t)bins->slices * PC_CLASS_BINS_THREADS) {
      CLASS_MOMENTS_EACH pc_class_bins_load(bins, &mine[t], first, &shared);
      CLASS_MOMENTS_EACH
      is_double ? pc_class_moments_add_f64(moments, &mine[t], first, &shared, &sums[t])
                : pc_class_moments_add_f32(moments, &mine[t], first, &shared, &sums[t]);
    }
    CLASS_MOMENTS_EACH pc_class_moments_end(moments, &mine[t], &sums[t]);
  }
}

#endif
