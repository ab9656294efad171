#include "device/cuda_driver.h"

#include "system/shared_library.h"

pcal_status pc_cuda_driver_open(pc_cuda_driver *out, pcal_error *err) {
  const char *missing = NULL;
  *out = (pc_cuda_driver){.library = pc_shared_library_open("libcuda.so.1", "nvcuda.dll")};
  if (out->library == NULL && !pc_shared_libraries_can_open())
    return pc_fail(
        err, PCAL_USAGE,
        "this build of propercal cannot open the NVIDIA driver, because it is static; "
        "take a package or a wheel, or build it from source");
  if (out->library == NULL)
    return pc_fail(
        err, PCAL_USAGE,
        "the scores are on a GPU, and there is no NVIDIA driver (libcuda.so.1) here; "
        "copy them into the memory of the process");
#define CUDA_DRIVER_FIND(field, symbol, parameters)                       \
  if (!pc_shared_library_find(out->library, symbol, (void *)&out->field)) \
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
    pc_shared_library_close(driver->library);
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
                 "%-s failed: %s (CUDA error %d); check the program that uses the GPU",
                 activity, reason, result);
}
