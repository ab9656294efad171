/* The kernels of softmax_rows_body.h for NVIDIA GPUs.  tools/make-gpu-code compiles this file into
 * softmax_rows.ptx and softmax_rows.sm_90.cubin, which are checked in. */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Functions of the headers below run on the GPU. */
#define inline inline __device__
#include "device/softmax_rows_body.h"
#undef inline

#define SOFTMAX_ROWS_KERNELS(type)                                                             \
  extern "C" __global__ void __launch_bounds__(PC_SOFTMAX_ROWS_THREADS)                        \
      pc_softmax_wide_##type(pc_softmax_rows rows) {                                           \
    __shared__ pc_softmax_rows_shared shared;                                                  \
    pc_softmax_rows_look_##type(&rows, blockIdx.x, threadIdx.x, &shared);                      \
    __syncthreads();                                                                           \
    pc_softmax_rows_add_##type(&rows, blockIdx.x, threadIdx.x, &shared);                       \
    __syncthreads();                                                                           \
    pc_softmax_rows_write_##type(&rows, blockIdx.x, threadIdx.x, &shared);                     \
  }                                                                                            \
  extern "C" __global__ void __launch_bounds__(PC_SOFTMAX_ROWS_THREADS)                        \
      pc_softmax_narrow_##type(pc_softmax_rows rows) {                                         \
    pc_softmax_rows_narrow_##type(&rows,                                                       \
                                  (uint64_t)blockIdx.x * PC_SOFTMAX_ROWS_THREADS + threadIdx.x); \
  }

SOFTMAX_ROWS_KERNELS(f32)
SOFTMAX_ROWS_KERNELS(f64)
