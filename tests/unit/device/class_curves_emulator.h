/* Runs the kernels pc_class_counts_* and pc_class_segments_* of device/device_kernels.cu on the CPU, block
 * by block: all threads of a block finish a phase before the next one begins. */
#ifndef CLASS_CURVES_EMULATOR_H
#define CLASS_CURVES_EMULATOR_H

#include <string.h>

#include "device/class_curves_body.h"

#define CLASS_CURVES_EACH for (uint32_t t = 0; t < PC_CLASS_BINS_THREADS; t++)

static inline void class_curves_emulate(const pc_class_curves *curves, int second,
                                        int is_double, uint32_t blocks) {
  static pc_class_bins_shared shared;
  const pc_class_bins *bins = &curves->bins;
  for (uint32_t b = 0; b < blocks; b++) {
    pc_class_bins_thread mine[PC_CLASS_BINS_THREADS];
    pc_class_curves_sums sums[PC_CLASS_BINS_THREADS];
    memset(&shared, 0xff, sizeof shared); /* nothing is read before it is written */
    CLASS_CURVES_EACH pc_class_curves_clear(0, &sums[t]);
    CLASS_CURVES_EACH pc_class_bins_begin(bins, b, t, &shared, &mine[t]);
    for (uint64_t first = mine[0].slice * PC_CLASS_BINS_THREADS; first < bins->rows;
         first += (uint64_t)bins->slices * PC_CLASS_BINS_THREADS) {
      CLASS_CURVES_EACH pc_class_bins_load(bins, &mine[t], first, &shared);
      CLASS_CURVES_EACH {
        pc_class_curves_sums *own = second ? &sums[t] : NULL;
        if (is_double)
          pc_class_curves_strip_f64(curves, &mine[t], first, &shared, own);
        else
          pc_class_curves_strip_f32(curves, &mine[t], first, &shared, own);
      }
    }
    if (second)
      CLASS_CURVES_EACH pc_class_curves_publish(curves, &sums[t]);
  }
}

#endif
