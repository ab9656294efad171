/* The functions of NVIDIA's driver that propercal calls.  The driver's library is opened when a
 * device is; neither building nor installing needs anything of NVIDIA's.
 *
 * Names and numbers are those of the driver interface, CUDA 12
 * (https://docs.nvidia.com/cuda/cuda-driver-api/). */
#ifndef PC_CUDA_DRIVER_H
#define PC_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef int cuda_result; /* 0: success */
typedef int cuda_ordinal;
typedef uint64_t cuda_address; /* in the memory of a GPU */
typedef struct cuda_context cuda_context;
typedef struct cuda_module cuda_module;
typedef struct cuda_function cuda_function;
typedef struct cuda_stream cuda_stream;

#define CUDA_OUT_OF_MEMORY 2
#define CUDA_POINTER_ORDINAL 9 /* attribute of an address: the ordinal of its GPU */
#define CUDA_MULTIPROCESSORS 16
#define CUDA_CAPABILITY_MAJOR 75
#define CUDA_CAPABILITY_MINOR 76

/* X(result, field, symbol, parameters) */
#define CUDA_DRIVER_LIST(X)                                                                   \
  X(init, "cuInit", (unsigned flags))                                                         \
  X(error_string, "cuGetErrorString", (cuda_result result, const char **out))                 \
  X(pointer_attribute, "cuPointerGetAttribute",                                               \
    (void *out, int attribute, cuda_address address))                                         \
  X(device_attribute, "cuDeviceGetAttribute", (int *out, int attribute, cuda_ordinal device)) \
  X(context_retain, "cuDevicePrimaryCtxRetain", (cuda_context * *out, cuda_ordinal device))   \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (cuda_ordinal device))                   \
  X(context_push, "cuCtxPushCurrent_v2", (cuda_context * context))                            \
  X(context_pop, "cuCtxPopCurrent_v2", (cuda_context * *out))                                 \
  X(module_load, "cuModuleLoadData", (cuda_module * *out, const void *image))                 \
  X(module_unload, "cuModuleUnload", (cuda_module * module))                                  \
  X(module_function, "cuModuleGetFunction",                                                   \
    (cuda_function * *out, cuda_module * module, const char *name))                           \
  X(memory_alloc, "cuMemAlloc_v2", (cuda_address * out, size_t bytes))                        \
  X(memory_free, "cuMemFree_v2", (cuda_address address))                                      \
  X(host_alloc, "cuMemAllocHost_v2", (void **out, size_t bytes))                              \
  X(host_free, "cuMemFreeHost", (void *block))                                                \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2",                                                     \
    (void *to, cuda_address from, size_t bytes, cuda_stream *stream))                         \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2",                                                   \
    (cuda_address to, const void *from, size_t bytes, cuda_stream *stream))                   \
  X(clear, "cuMemsetD8Async",                                                                 \
    (cuda_address at, unsigned char value, size_t bytes, cuda_stream *stream))                \
  X(launch, "cuLaunchKernel",                                                                 \
    (cuda_function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,             \
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,             \
     cuda_stream *stream, void **parameters, void **extra))                                   \
  X(synchronize, "cuStreamSynchronize", (cuda_stream * stream))

typedef struct pc_cuda_driver {
  void *library;
#define CUDA_DRIVER_FIELD(field, symbol, parameters) cuda_result(*field) parameters;
  CUDA_DRIVER_LIST(CUDA_DRIVER_FIELD)
#undef CUDA_DRIVER_FIELD
} pc_cuda_driver;

/* Opens the driver.  Fails with PCAL_USAGE where there is none, or one without these functions. */
PC_CHECKED pcal_status pc_cuda_driver_open(pc_cuda_driver *out, pcal_error *err);
void pc_cuda_driver_close(pc_cuda_driver *driver); /* a zeroed driver is allowed */

/* PCAL_OK for success.  Otherwise fails with PCAL_MEMORY or PCAL_IO; `activity`, a literal, says
 * what was being done: "reading from the GPU". */
PC_CHECKED pcal_status pc_cuda_check(const pc_cuda_driver *driver, cuda_result result,
                                     const char *activity, pcal_error *err);

#endif
