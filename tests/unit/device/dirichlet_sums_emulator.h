/* Runs the kernels pc_dirichlet_sums_* of device/device_kernels.cu on the CPU, thread by thread. */
#ifndef DIRICHLET_SUMS_EMULATOR_H
#define DIRICHLET_SUMS_EMULATOR_H

#include "device/dirichlet_sums_body.h"

static inline void dirichlet_sums_emulate(const pc_dirichlet_sums *sums, int by_label,
                                          uint32_t blocks) {
  const uint64_t threads = (uint64_t)blocks * PC_DIRICHLET_SUMS_THREADS;
  for (uint64_t t = 0; t < threads; t++)
    by_label ? pc_dirichlet_labels(sums, t) : pc_dirichlet_density(sums, t);
}

#endif
