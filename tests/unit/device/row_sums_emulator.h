/* Runs the kernels pc_row_sums_* of device/device_kernels.cu on the CPU, block by block: all threads of
 * a block finish a phase before the next one begins. */
#ifndef ROW_SUMS_EMULATOR_H
#define ROW_SUMS_EMULATOR_H

#include <math.h>
#include <stdlib.h>

#include "device/row_sums_columns_body.h"

/* Which kernel. */
typedef enum row_sums_form { ROW_SUMS_F32, ROW_SUMS_F64, ROW_SUMS_FAST } row_sums_form;

#define ROW_SUMS_EACH for (uint32_t t = 0; t < PC_ROW_SUMS_THREADS; t++)

static inline void row_sums_emulate_narrow(const pc_row_sums *sums, row_sums_form form,
                                           uint32_t blocks, uint32_t block,
                                           pc_row_sums_thread *mine) {
  for (uint64_t first = (uint64_t)block * PC_ROW_SUMS_THREADS; first < sums->rows;
       first += (uint64_t)blocks * PC_ROW_SUMS_THREADS) {
    ROW_SUMS_EACH
    form == ROW_SUMS_F64 ? pc_row_sums_load_f64(sums, &mine[t], first)
                         : pc_row_sums_load_f32(sums, &mine[t], first);
    ROW_SUMS_EACH
    form == ROW_SUMS_F64   ? pc_row_sums_add_narrow_f64(sums, &mine[t], first)
    : form == ROW_SUMS_F32 ? pc_row_sums_add_narrow_f32(sums, &mine[t], first)
                           : pc_row_sums_add_narrow_fast(sums, &mine[t], first);
  }
}

static inline void row_sums_emulate_wide(const pc_row_sums *sums, row_sums_form form,
                                         uint32_t blocks, pc_row_sums_thread *mine) {
  for (uint64_t first = 0; first < sums->rows; first += pc_row_sums_round(blocks)) {
    for (uint32_t step = 0; step < PC_ROW_SUMS_STEPS; step++) {
      ROW_SUMS_EACH
      form == ROW_SUMS_F64   ? pc_row_sums_look_f64(sums, &mine[t], first, step)
      : form == ROW_SUMS_F32 ? pc_row_sums_look_f32(sums, &mine[t], first, step)
                             : pc_row_sums_look_fast(sums, &mine[t], first, step);
      ROW_SUMS_EACH
      form == ROW_SUMS_F64   ? pc_row_sums_add_f64(sums, &mine[t], first, step)
      : form == ROW_SUMS_F32 ? pc_row_sums_add_f32(sums, &mine[t], first, step)
                             : pc_row_sums_add_fast(sums, &mine[t], first, step);
      ROW_SUMS_EACH pc_row_sums_keep(sums, &mine[t], first, step);
    }
    ROW_SUMS_EACH
    form == ROW_SUMS_F64 ? pc_row_sums_finish_wide_f64(sums, &mine[t], first)
                         : pc_row_sums_finish_wide_f32(sums, &mine[t], first);
  }
}

/* The kernel for rows of probabilities. */
static inline void row_sums_emulate_columns(const pc_row_sums *sums, uint32_t blocks,
                                            uint32_t shared_bytes) {
  pc_row_sums_thread mine[PC_ROW_SUMS_THREADS];
  char *shared = malloc(shared_bytes);
  for (uint32_t b = 0; b < blocks; b++) {
    memset(shared, 0xff, shared_bytes); /* nothing is read before it is written */
    ROW_SUMS_EACH pc_row_sums_begin(sums, shared, b, blocks, t, 0, 0, &mine[t]);
    for (uint64_t first = (uint64_t)b * PC_ROW_SUMS_THREADS; first < sums->rows;
         first += (uint64_t)blocks * PC_ROW_SUMS_THREADS)
      ROW_SUMS_EACH pc_row_sums_add_column(sums, &mine[t], first + t);
    ROW_SUMS_EACH pc_row_sums_store(sums, &mine[t]);
    ROW_SUMS_EACH pc_row_sums_gather(sums, &mine[t]);
    ROW_SUMS_EACH pc_row_sums_publish(sums, &mine[t]);
  }
  free(shared);
}

/* shared_bytes: as given to the launch. */
static inline void row_sums_emulate(const pc_row_sums *sums, row_sums_form form, int wide,
                                    uint32_t blocks, uint32_t shared_bytes) {
  pc_row_sums_thread mine[PC_ROW_SUMS_THREADS];
  const uint32_t size = form == ROW_SUMS_F64 ? sizeof(double) : sizeof(float);
  char *shared = malloc(shared_bytes);
  for (uint32_t b = 0; b < blocks; b++) {
    memset(shared, 0xff, shared_bytes); /* nothing is read before it is written */
    ROW_SUMS_EACH pc_row_sums_begin(sums, shared, b, blocks, t, size, wide, &mine[t]);
    if (wide)
      row_sums_emulate_wide(sums, form, blocks, mine);
    else
      row_sums_emulate_narrow(sums, form, blocks, b, mine);
    ROW_SUMS_EACH pc_row_sums_store(sums, &mine[t]);
    ROW_SUMS_EACH pc_row_sums_gather(sums, &mine[t]);
    ROW_SUMS_EACH pc_row_sums_publish(sums, &mine[t]);
  }
  free(shared);
}

#endif
