/* The thin layer between the body of a kernel and the machine that runs it: operations on memory
 * that several threads change, wide loads, a rounding and an exponential.  On a GPU the first are
 * atomic; on the CPU, where tests run the threads of a block one after the other, they are plain. */
#ifndef PC_GPU_LAYER_H
#define PC_GPU_LAYER_H

#include <math.h>
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

/* Adds a value; returns 1 if the sum passed 2^32, else 0. */
static inline uint32_t pc_gpu_add_carry_32(uint32_t *at, uint32_t value) {
#if defined(__CUDACC__)
  const uint32_t before = atomicAdd(at, value);
#else
  const uint32_t before = *at;
  *at += value;
#endif
  return before + value < before;
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

/* Adds a value and returns the sum before. */
static inline uint64_t pc_gpu_take_64(uint64_t *at, uint64_t value) {
#if defined(__CUDACC__)
  return atomicAdd((unsigned long long *)at, (unsigned long long)value);
#else
  const uint64_t before = *at;
  *at += value;
  return before;
#endif
}

static inline void pc_gpu_max_64(uint64_t *at, uint64_t value) {
#if defined(__CUDACC__)
  atomicMax((unsigned long long *)at, (unsigned long long)value);
#else
  *at = value > *at ? value : *at;
#endif
}

/* Two numbers at an even index of an array. */
static inline void pc_gpu_load_two(const double *from, double out[2]) {
#if defined(__CUDACC__)
  const double2 both = *(const double2 *)(const void *)from;
  out[0] = both.x;
  out[1] = both.y;
#else
  out[0] = from[0];
  out[1] = from[1];
#endif
}

/* x + shift rounded down; `step` is the distance between numbers near the sum. */
static inline double pc_gpu_add_down(double x, double shift, double step) {
#if defined(__CUDACC__)
  (void)step;
  return __dadd_rd(x, shift);
#else
  const double nearest = x + shift;
  return nearest - shift > x ? nearest - step : nearest;
#endif
}

/* 2^x in float, of about 22 bits; results below 2^-126 are 0 on a GPU. */
static inline float pc_gpu_exp2(float x) {
#if defined(__CUDACC__)
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return exp2f(x);
#endif
}

#endif
