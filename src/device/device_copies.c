/* Copies to the memory of a GPU: see device.h.  They pass through the page-locked memory: while one
 * half of it is filled by all threads, the other one is copied. */
#include <string.h>

#include "base/executor.h"
#include "device/device_state.h"

#define DEVICE_FILL_TASK ((size_t)1 << 20) /* bytes that a thread copies at once */
#define DEVICE_FILL_COST 0.2               /* nanoseconds per byte, for the executor */

typedef struct device_fill {
  char *to;
  const char *from;
  size_t bytes;
} device_fill;

static pcal_status device_fill_task(void *user, size_t index, size_t worker, pcal_error *err) {
  const device_fill *fill = user;
  const size_t begin = index * DEVICE_FILL_TASK, left = fill->bytes - begin;
  (void)worker;
  (void)err;
  memcpy(fill->to + begin, fill->from + begin,
         left < DEVICE_FILL_TASK ? left : DEVICE_FILL_TASK);
  return PCAL_OK;
}

/* Copies into the page-locked memory, with all threads: `from` may be a mapped file, which is then
 * read here. */
static void device_fill_half(const pcal_device *device, char *to, const char *from,
                             size_t bytes) {
  device_fill fill = {to, from, bytes};
  const size_t tasks = (bytes + DEVICE_FILL_TASK - 1) / DEVICE_FILL_TASK;
  pcal_env env =
      device->env; /* that of pcal_device_open, whose callbacks and pool may be gone */
  env.interrupted = NULL;
  env.progress = NULL;
  env.pool = NULL;
  if (pc_run(&env, tasks, DEVICE_FILL_COST * (double)bytes, device_fill_task, &fill, NULL) !=
      PCAL_OK)
    memcpy(to, from, bytes);
}

cuda_result pc_device_fill(const pcal_device *device, void *stream, const char *from,
                           size_t bytes, cuda_address to) {
  const pc_cuda_driver *driver = &device->driver;
  cuda_result result = 0;
  for (size_t begin = 0; begin < bytes && result == 0; begin += PC_DEVICE_PIECE) {
    const size_t left = bytes - begin, here = left < PC_DEVICE_PIECE ? left : PC_DEVICE_PIECE;
    char *half = device->host + begin / PC_DEVICE_PIECE % 2 * PC_DEVICE_PIECE;
    device_fill_half(device, half, from + begin, here);
    if (begin > 0)
      result = driver->synchronize(stream); /* the piece before has arrived */
    if (result == 0)
      result = driver->copy_to_device(to + begin, half, here, stream);
  }
  return result == 0 ? driver->synchronize(stream) : result;
}

pcal_status pc_device_allocate(pcal_device *device, size_t bytes, void **out, pcal_error *err) {
  cuda_address to = 0;
  PC_TRY(pc_device_enter(device, err));
  const pcal_status status = pc_cuda_check(
      &device->driver, device->driver.memory_alloc(&to, bytes), "reserving memory", err);
  pc_device_leave(device);
  *out = status == PCAL_OK ? (void *)(uintptr_t)to : NULL;
  return status;
}

pcal_status pc_device_upload(pcal_device *device, void *stream, const void *from, size_t bytes,
                             void **out, pcal_error *err) {
  cuda_address to = 0;
  *out = NULL;
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve(device, 0, err);
  if (status == PCAL_OK)
    status = pc_cuda_check(&device->driver, device->driver.memory_alloc(&to, bytes),
                           "reserving memory", err);
  if (status == PCAL_OK) {
    status = pc_cuda_check(&device->driver, pc_device_fill(device, stream, from, bytes, to),
                           "copying to the GPU", err);
    if (status != PCAL_OK) { /* a copy may still be on its way */
      device->driver.synchronize(stream);
      device->driver.memory_free(to);
    }
  }
  pc_device_leave(device);
  if (status == PCAL_OK)
    *out = (void *)(uintptr_t)to;
  return status;
}

void pc_device_drop(pcal_device *device, void *address) {
  if (address == NULL || pc_device_enter(device, NULL) != PCAL_OK)
    return;
  device->driver.memory_free((cuda_address)(uintptr_t)address);
  pc_device_leave(device);
}

pcal_status pc_device_put(pcal_device *device, void *stream, const void *from, size_t bytes,
                          void *to, pcal_error *err) {
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve(device, 0, err);
  if (status == PCAL_OK)
    status =
        pc_cuda_check(&device->driver,
                      pc_device_fill(device, stream, from, bytes, (cuda_address)(uintptr_t)to),
                      "copying to the GPU", err);
  if (status != PCAL_OK) /* a copy may still be on its way out of the page-locked memory */
    device->driver.synchronize(stream);
  pc_device_leave(device);
  return status;
}
