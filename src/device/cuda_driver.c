#include "device/cuda_driver.h"

#include <dlfcn.h>
#include <string.h>

#define CUDA_DRIVER_LIBRARY "libcuda.so.1"

/* ISO C has no conversion between pointers to objects and to functions. */
static int cuda_driver_find(void *library, const char *symbol, void *field, size_t size) {
  void *found = dlsym(library, symbol);
  memcpy(field, &found, size);
  return found != NULL;
}

pcal_status pc_cuda_driver_open(pc_cuda_driver *out, pcal_error *err) {
  const char *missing = NULL;
  *out = (pc_cuda_driver){.library = dlopen(CUDA_DRIVER_LIBRARY, RTLD_NOW | RTLD_LOCAL)};
  if (out->library == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "the scores are on a GPU, and there is no NVIDIA driver (%s) here; copy them "
                   "into the memory of the process",
                   CUDA_DRIVER_LIBRARY);
#define CUDA_DRIVER_FIND(field, symbol, parameters)                                   \
  if (!cuda_driver_find(out->library, symbol, (void *)&out->field, sizeof out->field)) \
    missing = symbol;
  CUDA_DRIVER_LIST(CUDA_DRIVER_FIND)
#undef CUDA_DRIVER_FIND
  if (missing == NULL)
    return PCAL_OK;
  pc_cuda_driver_close(out);
  return pc_fail(err, PCAL_USAGE,
                 "the NVIDIA driver here has no function %s; install a driver of CUDA 12 or "
                 "later, or copy the scores into the memory of the process",
                 missing);
}

void pc_cuda_driver_close(pc_cuda_driver *driver) {
  if (driver->library != NULL)
    dlclose(driver->library);
  *driver = (pc_cuda_driver){.library = NULL};
}

pcal_status pc_cuda_check(const pc_cuda_driver *driver, cuda_result result,
                          const char *activity, pcal_error *err) {
  const char *reason = NULL;
  if (result == 0)
    return PCAL_OK;
  if (driver->error_string(result, &reason) != 0 || reason == NULL)
    reason = "unknown error";
  if (result == CUDA_OUT_OF_MEMORY)
    return pc_fail(err, PCAL_MEMORY, "the GPU is out of memory while %-s; free some of it",
                   activity);
  return pc_fail(err, PCAL_IO,
                 "%-s failed: %s (CUDA error %d); check the program that uses the GPU", activity,
                 reason, result);
}
