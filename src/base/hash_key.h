/* A hash of one number; plain C for the CPU and for GPUs. */
#ifndef PC_HASH_KEY_H
#define PC_HASH_KEY_H

#include <stdint.h>

/* Hash of a 64-bit key: the finaliser of SplitMix64. */
static inline uint64_t pc_hash_u64(uint64_t key) {
  key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
  return key ^ (key >> 31);
}

#endif
