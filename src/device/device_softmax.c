/* See device_softmax.h and scaled_softmax_body.h. */
#include "device/device_softmax.h"

#include <string.h>

#include "device/device_state.h"
#include "device/scaled_softmax.h"

static cuda_function *device_softmax_kernel(const pcal_device *device, pcal_type type,
                                            size_t classes) {
  const size_t t = type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64;
  return classes > DEVICE_NARROW_CLASSES ? device->scaled_wide[t] : device->scaled_narrow[t];
}

int pc_device_has_scaled_softmax(const pcal_device *device, pcal_type type, size_t classes) {
  return device_softmax_kernel(device, type, classes) != NULL;
}

static cuda_result device_softmax_run(const pcal_device *device, const pcal_batch *batch,
                                      double beta, void *out) {
  const pc_cuda_driver *driver = &device->driver;
  const uint64_t step = batch->columns > DEVICE_NARROW_CLASSES
                            ? PC_SCALED_SOFTMAX_THREADS / PC_SCALED_SOFTMAX_LANES
                            : PC_SCALED_SOFTMAX_THREADS;
  pc_scaled_softmax softmax = {.scores = batch->scores,
                               .out = out,
                               .odd = (uint32_t *)(uintptr_t)device->sums,
                               .rows = batch->rows,
                               .classes = (uint32_t)batch->columns,
                               .beta = beta};
  void *parameters[] = {&softmax};
  cuda_result result = driver->clear(device->sums, 0, sizeof *softmax.odd, batch->stream);
  if (result == 0)
    result =
        driver->launch(device_softmax_kernel(device, batch->type, batch->columns),
                       (unsigned)((batch->rows + step - 1) / step), 1, 1,
                       PC_SCALED_SOFTMAX_THREADS, 1, 1, 0, batch->stream, parameters, NULL);
  if (result == 0)
    result = driver->copy_to_host(device->sums_host, device->sums, sizeof *softmax.odd,
                                  batch->stream);
  return result == 0 ? driver->synchronize(batch->stream) : result;
}

pcal_status pc_device_scaled_softmax(pcal_device *device, const pcal_batch *batch, double beta,
                                     void *out, int *odd, pcal_error *err) {
  uint32_t found = 0;
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve_sums(device, 0, err);
  if (status == PCAL_OK)
    status = pc_cuda_check(&device->driver, device_softmax_run(device, batch, beta, out),
                           "the softmax on the GPU", err);
  if (status != PCAL_OK) /* a copy may still be on its way into the page-locked memory */
    device->driver.synchronize(batch->stream);
  else
    memcpy(&found, device->sums_host, sizeof found);
  *odd = found != 0;
  pc_device_leave(device);
  return status;
}
