/* Runs the kernels pc_pair_sums_* of device/device_kernels.cu on the CPU, block by block: all threads of
 * a block finish a phase before the next one begins. */
#ifndef PAIR_SUMS_EMULATOR_H
#define PAIR_SUMS_EMULATOR_H

#include <math.h>

#include "device/pair_sums_body.h"

#define PAIR_SUMS_EACH for (uint32_t t = 0; t < PC_PAIR_SUMS_THREADS; t++)

static inline void pair_sums_emulate_strips(const pc_pair_sums *sums, uint32_t blocks) {
  pc_pair_sums_shared shared;
  for (uint32_t b = 0; b < blocks; b++) {
    memset(&shared, 0xff, sizeof shared); /* NaN: nothing is read before it is written */
    PAIR_SUMS_EACH pc_pair_sums_add(sums, b, t, &shared);
    PAIR_SUMS_EACH pc_pair_sums_publish(sums, b, t, &shared);
  }
}

static inline void pair_sums_emulate_packs(const pc_pair_sums *sums, uint32_t blocks) {
  pc_pair_sums_shared shared;
  for (uint32_t b = 0; b < blocks; b++) {
    memset(&shared, 0xff, sizeof shared);
    PAIR_SUMS_EACH pc_pair_sums_inside(sums, b, t, &shared);
    PAIR_SUMS_EACH pc_pair_sums_publish_inside(sums, b, t, &shared);
  }
}

#endif
