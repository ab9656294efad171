/* Sums over the rows of a batch, on its GPU: see device.h and row_sums_body.h.
 *
 * Labels on the GPU: one launch.  Labels on the host: a launch for every PC_DEVICE_ROWS rows, whose
 * labels are copied first.  The results, some kilobytes, are copied back, and only for them the
 * host waits. */
#include <math.h>
#include <string.h>

#include "device/device_state.h"
#include "device/row_sums_body.h"

#define DEVICE_SUMS_BLOCKS 8 /* on a multiprocessor */
#define DEVICE_SUMS_BYTES (PC_ROW_SUMS_WORDS * sizeof(uint64_t))

static int device_sums_wide(size_t classes) {
  return classes > DEVICE_NARROW_CLASSES;
}

static cuda_function *device_sums_kernel(const pcal_device *device, pcal_type type,
                                         size_t classes) {
  const size_t t = type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64;
  return device_sums_wide(classes) ? device->sums_wide[t] : device->sums_narrow[t];
}

int pc_device_has_row_sums(const pcal_device *device, pcal_type type, size_t classes) {
  return device_sums_kernel(device, type, classes) != NULL;
}

/* As many blocks as run at once, unless a block would have too many rows or none. */
static unsigned device_sums_blocks(const pcal_device *device, const pc_row_sums *sums) {
  const uint64_t step = device_sums_wide(sums->classes)
                            ? PC_ROW_SUMS_THREADS / PC_ROW_SUMS_LANES
                            : PC_ROW_SUMS_THREADS;
  const uint64_t most = (sums->rows + step - 1) / step;
  const uint64_t least = (sums->rows + PC_ROW_SUMS_BLOCK_ROWS - 1) / PC_ROW_SUMS_BLOCK_ROWS;
  const uint64_t at_once = (uint64_t)device->multiprocessors * DEVICE_SUMS_BLOCKS;
  return (unsigned)(most < at_once ? most : least > at_once ? least : at_once);
}

static cuda_result device_sums_launch(const pcal_device *device, const pcal_batch *batch,
                                      pc_row_sums *sums) {
  const uint32_t size = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  const uint32_t shared =
      pc_row_sums_layout_of(sums, size, device_sums_wide(sums->classes)).bytes;
  void *parameters[] = {sums};
  return device->driver.launch(device_sums_kernel(device, batch->type, batch->columns),
                               device_sums_blocks(device, sums), 1, 1, PC_ROW_SUMS_THREADS, 1,
                               1, shared, batch->stream, parameters, NULL);
}

/* Rows whose labels are on the host. */
static cuda_result device_sums_pieces(const pcal_device *device, const pcal_batch *batch,
                                      pc_row_sums *sums) {
  const pc_cuda_driver *driver = &device->driver;
  cuda_result result = 0;
  for (size_t begin = 0; begin < batch->rows && result == 0; begin += PC_DEVICE_ROWS) {
    const size_t left = batch->rows - begin;
    const size_t rows = left < PC_DEVICE_ROWS ? left : PC_DEVICE_ROWS;
    const size_t bytes = rows * sizeof *batch->labels;
    sums->rows = rows;
    sums->scores = (const char *)batch->scores + (ptrdiff_t)begin * batch->row_stride;
    sums->labels = pc_device_place(device, 0);
    sums->label_size = sizeof *batch->labels;
    memcpy(device->host, batch->labels + begin, bytes);
    result = driver->copy_to_device(device->memory, device->host, bytes, batch->stream);
    if (result == 0)
      result = device_sums_launch(device, batch, sums);
    if (result == 0) /* the page-locked memory is used again */
      result = driver->synchronize(batch->stream);
  }
  return result;
}

static cuda_result device_sums_run(const pcal_device *device, const pcal_batch *batch,
                                   const void *labels, uint32_t label_size, pc_row_sums *sums) {
  const pc_cuda_driver *driver = &device->driver;
  const size_t bytes = pc_row_sums_words(sums) * sizeof(uint64_t);
  cuda_result result = driver->clear(device->sums, 0, bytes, batch->stream);
  if (result != 0)
    return result;
  sums->labels = labels;
  sums->label_size = label_size;
  result = labels == NULL ? device_sums_pieces(device, batch, sums)
                          : device_sums_launch(device, batch, sums);
  if (result == 0)
    result = driver->copy_to_host(device->sums_host, device->sums, bytes, batch->stream);
  return result == 0 ? driver->synchronize(batch->stream) : result;
}

pcal_status pc_device_reserve_sums(pcal_device *device, int all, pcal_error *err) {
  const pc_cuda_driver *driver = &device->driver;
  if (device->sums_host == NULL)
    PC_TRY(pc_cuda_check(driver, driver->host_alloc(&device->sums_host, DEVICE_SUMS_BYTES),
                         "reserving page-locked memory", err));
  if (device->sums == 0)
    PC_TRY(pc_cuda_check(driver, driver->memory_alloc(&device->sums, DEVICE_SUMS_BYTES),
                         "reserving memory", err));
  return all ? pc_device_reserve(device, 1, err) : PCAL_OK;
}

pcal_status pc_device_row_sums(pcal_device *device, const pcal_batch *batch, const void *labels,
                               uint32_t label_size, pc_row_sums *sums, uint64_t *words,
                               pcal_error *err) {
  sums->scores = batch->scores;
  sums->rows = batch->rows;
  sums->classes = (uint32_t)batch->columns;
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve_sums(device, labels == NULL, err);
  sums->words = (uint64_t *)(uintptr_t)device->sums;
  if (status == PCAL_OK)
    status =
        pc_cuda_check(&device->driver, device_sums_run(device, batch, labels, label_size, sums),
                      "adding up rows on the GPU", err);
  if (status != PCAL_OK) /* a copy may still be on its way into the page-locked memory */
    device->driver.synchronize(batch->stream);
  else
    memcpy(words, device->sums_host, pc_row_sums_words(sums) * sizeof *words);
  pc_device_leave(device);
  return status;
}
