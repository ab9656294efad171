/* Keys of rows for a random sample that depends only on the rows
 * (calibrators/temperature/row_sample.h): a hash of the label and of some scores.  Plain C for the
 * CPU and for GPUs. */
#ifndef PC_SAMPLE_KEY_H
#define PC_SAMPLE_KEY_H

#include "base/float_bits.h"
#include "base/rng.h"

#define PC_SAMPLE_KEY_SCORES 3 /* of the label and the next classes, mostly in one cache line */

static inline uint64_t pc_sample_key_begin(int32_t label) {
  return pc_hash_u64((uint64_t)label + UINT64_C(0x9e3779b97f4a7c15));
}

static inline uint64_t pc_sample_key_add(uint64_t key, double score) {
  return pc_hash_u64(key + pc_double_bits(score + 0.0));
}

/* True if a key starts with `level` zero bits. */
static inline int pc_sample_key_within(unsigned level, uint64_t key) {
  return level == 0 || (level < 64 && key >> (64 - level) == 0);
}

#endif
