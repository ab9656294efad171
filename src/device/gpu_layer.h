/* The thin layer between the body of a kernel and the machine that runs it: operations on memory
 * that several threads change.  On a GPU they are atomic; on the CPU, where tests run the threads
 * of a block one after the other, they are plain. */
#ifndef PC_GPU_LAYER_H
#define PC_GPU_LAYER_H

#include <stdint.h>

#if defined(__CUDACC__)
#define PC_GPU_PRAGMA(text) _Pragma(#text)
#define PC_GPU_UNROLL(count) PC_GPU_PRAGMA(unroll count)
#else
#define PC_GPU_UNROLL(count)
#endif

static inline void pc_gpu_add_32(uint32_t *at, uint32_t value) {
#if defined(__CUDACC__)
  atomicAdd(at, value);
#else
  *at += value;
#endif
}

/* Adds 1 and returns the value before. */
static inline uint32_t pc_gpu_count_32(uint32_t *at) {
#if defined(__CUDACC__)
  return atomicAdd(at, 1u);
#else
  return (*at)++;
#endif
}

static inline void pc_gpu_max_32(uint32_t *at, uint32_t value) {
#if defined(__CUDACC__)
  atomicMax(at, value);
#else
  *at = value > *at ? value : *at;
#endif
}

static inline void pc_gpu_add_64(uint64_t *at, uint64_t value) {
#if defined(__CUDACC__)
  atomicAdd((unsigned long long *)at, (unsigned long long)value);
#else
  *at += value;
#endif
}

static inline void pc_gpu_max_64(uint64_t *at, uint64_t value) {
#if defined(__CUDACC__)
  atomicMax((unsigned long long *)at, (unsigned long long)value);
#else
  *at = value > *at ? value : *at;
#endif
}

#endif
