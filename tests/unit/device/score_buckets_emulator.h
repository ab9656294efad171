/* Runs the kernels pc_score_buckets_all, pc_score_split_all and pc_score_filter_all of device/device_kernels.cu on the CPU,
 * block by block: all threads of a block finish a phase before the next one begins. */
#ifndef SCORE_BUCKETS_EMULATOR_H
#define SCORE_BUCKETS_EMULATOR_H

#include <string.h>

#include "device/score_buckets_body.h"

static inline void score_buckets_emulate(const pc_score_buckets *buckets) {
  static pc_score_buckets_shared shared;
  for (uint32_t b = 0; b < buckets->chunks * PC_SCORE_BUCKETS_SLICES; b++) {
    memset(&shared, 0xff, sizeof shared); /* nothing is read before it is written */
    for (uint32_t t = 0; t < PC_SCORE_BUCKETS_THREADS; t++)
      pc_score_buckets_begin(t, &shared);
    for (uint32_t t = 0; t < PC_SCORE_BUCKETS_THREADS; t++)
      pc_score_buckets_add(buckets, b, t, &shared);
    for (uint32_t t = 0; t < PC_SCORE_BUCKETS_THREADS; t++)
      pc_score_buckets_publish(buckets, b, t, &shared);
  }
}

static inline void score_split_emulate(const pc_score_targets *targets) {
  static pc_score_buckets_shared shared;
  for (uint32_t b = 0; b < targets->chunks * pc_score_split_slices(targets); b++) {
    memset(&shared, 0xff, sizeof shared);
    for (uint32_t t = 0; t < PC_SCORE_BUCKETS_THREADS; t++)
      pc_score_buckets_begin(t, &shared);
    for (uint32_t t = 0; t < PC_SCORE_BUCKETS_THREADS; t++)
      pc_score_split_add(targets, b, t, &shared);
    for (uint32_t t = 0; t < PC_SCORE_BUCKETS_THREADS; t++)
      pc_score_split_publish(targets, b, t, &shared);
  }
}

static inline void score_filter_emulate(const pc_score_targets *targets) {
  static pc_score_filter_thread mine[PC_SCORE_FILTER_THREADS];
  for (uint32_t b = 0; b < pc_score_filter_blocks(targets->rows); b++) {
    pc_score_filter_shared shared;
    memset(&shared, 0xff, sizeof shared);
    for (uint32_t t = 0; t < PC_SCORE_FILTER_THREADS; t++)
      pc_score_filter_begin(t, &shared);
    for (uint32_t t = 0; t < PC_SCORE_FILTER_THREADS; t++)
      pc_score_filter_look(targets, b, t, &shared, &mine[t]);
    for (uint32_t t = 0; t < PC_SCORE_FILTER_THREADS; t++)
      pc_score_filter_reserve(targets, t, &shared);
    for (uint32_t t = 0; t < PC_SCORE_FILTER_THREADS; t++)
      pc_score_filter_write(targets, b, t, &shared, &mine[t]);
  }
}

#endif
