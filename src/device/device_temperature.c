/* Sums for a fit of the temperature, on the GPU of the rows: see device.h and
 * temperature_rows_body.h.
 *
 * A launch for every PC_DEVICE_ROWS rows writes their values to the memory of the device, and a second
 * one adds them up.  Only the sums, some kilobytes, are copied back, and only for them the host
 * waits. */
#include <math.h>
#include <string.h>

#include "device/device_state.h"
#include "device/temperature_rows_body.h"

#define DEVICE_TEMPERATURE_BYTES (PC_TEMPERATURE_ROWS_WORDS * sizeof(uint64_t))
#define DEVICE_CHOSEN ((size_t)8 << 20) /* place of the chosen rows, behind their values */

_Static_assert(PC_TEMPERATURE_ROWS_WORDS <= PC_ROW_SUMS_WORDS, "sums fit their memory");
_Static_assert(PC_DEVICE_ROWS *PC_TEMPERATURE_ROWS_VALUES * sizeof(double) <= DEVICE_BYTES,
               "the values of rows fit the memory of the device");
_Static_assert(PC_SAMPLE_ROWS_MAX *PC_TEMPERATURE_ROWS_VALUES * sizeof(double) <= DEVICE_CHOSEN,
               "the values of chosen rows end before their list");

static int device_temperature_wide(size_t classes) {
  return classes > DEVICE_NARROW_CLASSES;
}

static cuda_function *device_temperature_kernel(const pcal_device *device, pcal_type type,
                                                size_t classes) {
  const size_t t = type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64;
  return device_temperature_wide(classes) ? device->temperature_wide[t]
                                          : device->temperature_narrow[t];
}

int pc_device_has_temperature(const pcal_device *device, pcal_type type, size_t classes) {
  return device_temperature_kernel(device, type, classes) != NULL &&
         device->value_sums != NULL &&
         device->sample[type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64] != NULL;
}

/* The values of some rows, then their sums. */
static cuda_result device_temperature_launch(const pcal_device *device, const pcal_batch *batch,
                                             pc_temperature_rows *rows) {
  const uint64_t step = device_temperature_wide(rows->classes)
                            ? PC_TEMPERATURE_ROWS_THREADS / PC_TEMPERATURE_ROWS_LANES
                            : PC_TEMPERATURE_ROWS_THREADS;
  pc_value_sums sums = {rows->values, rows->words, rows->rows};
  const uint32_t columns = PC_TEMPERATURE_ROWS_VALUES - !rows->with_one;
  void *parameters[] = {rows}, *sums_parameters[] = {&sums};
  const cuda_result result = device->driver.launch(
      device_temperature_kernel(device, batch->type, batch->columns),
      (unsigned)((rows->rows + step - 1) / step), 1, 1, PC_TEMPERATURE_ROWS_THREADS, 1, 1, 0,
      batch->stream, parameters, NULL);
  if (result != 0)
    return result;
  return device->driver.launch(device->value_sums, columns * pc_value_sums_blocks(rows->rows),
                               1, 1, PC_VALUE_SUMS_THREADS, 1, 1, 0, batch->stream,
                               sums_parameters, NULL);
}

static cuda_result device_temperature_all(const pcal_device *device, const pcal_batch *batch,
                                          const pc_device_labels *labels,
                                          pc_temperature_rows *rows) {
  const size_t row =
      batch->columns * (batch->type == PCAL_F32 ? sizeof(float) : sizeof(double));
  cuda_result result = 0;
  for (size_t begin = 0; begin < batch->rows && result == 0; begin += PC_DEVICE_ROWS) {
    const size_t left = batch->rows - begin;
    rows->scores = (const char *)batch->scores + begin * row;
    rows->labels = (const char *)labels->at + begin * labels->size;
    rows->rows = left < PC_DEVICE_ROWS ? left : PC_DEVICE_ROWS;
    result = device_temperature_launch(device, batch, rows);
  }
  return result;
}

static cuda_result device_temperature_chosen(const pcal_device *device, const pcal_batch *batch,
                                             const pc_device_trial *trial,
                                             pc_temperature_rows *rows) {
  const size_t bytes = trial->chosen_count * sizeof *trial->chosen;
  rows->rows = trial->chosen_count;
  rows->chosen = pc_device_place(device, DEVICE_CHOSEN);
  memcpy(device->host, trial->chosen, bytes);
  const cuda_result result = device->driver.copy_to_device(device->memory + DEVICE_CHOSEN,
                                                           device->host, bytes, batch->stream);
  return result != 0 ? result : device_temperature_launch(device, batch, rows);
}

static cuda_result device_temperature_run(const pcal_device *device, const pcal_batch *batch,
                                          const pc_device_labels *labels,
                                          const pc_device_trial *trial) {
  const pc_cuda_driver *driver = &device->driver;
  pc_temperature_rows rows = {.scores = batch->scores,
                              .labels = labels->at,
                              .values = pc_device_place(device, 0),
                              .words = (uint64_t *)(uintptr_t)device->sums,
                              .classes = (uint32_t)batch->columns,
                              .label_size = labels->size,
                              .with_one = trial->with_one != 0,
                              .beta = trial->beta};
  cuda_result result = driver->clear(device->sums, 0, DEVICE_TEMPERATURE_BYTES, batch->stream);
  if (result == 0)
    result = trial->chosen == NULL ? device_temperature_all(device, batch, labels, &rows)
                                   : device_temperature_chosen(device, batch, trial, &rows);
  if (result == 0)
    result = driver->copy_to_host(device->sums_host, device->sums, DEVICE_TEMPERATURE_BYTES,
                                  batch->stream);
  return result == 0 ? driver->synchronize(batch->stream) : result;
}

/* Ends an operation that leaves page-locked memory behind. */
static pcal_status device_temperature_end(pcal_device *device, const pcal_batch *batch,
                                          pcal_status status) {
  if (status != PCAL_OK) /* a copy may still be on its way */
    device->driver.synchronize(batch->stream);
  pc_device_leave(device);
  return status;
}

pcal_status pc_device_temperature(pcal_device *device, const pcal_batch *batch,
                                  const pc_device_labels *labels, const pc_device_trial *trial,
                                  uint64_t *words, pcal_error *err) {
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve_sums(device, 1, err);
  if (status == PCAL_OK)
    status =
        pc_cuda_check(&device->driver, device_temperature_run(device, batch, labels, trial),
                      "adding up rows on the GPU", err);
  if (status == PCAL_OK)
    memcpy(words, device->sums_host, DEVICE_TEMPERATURE_BYTES);
  return device_temperature_end(device, batch, status);
}

/* ---- A sample of rows ---- */

static cuda_result device_sample_run(const pcal_device *device, const pcal_batch *batch,
                                     const pc_device_labels *labels, unsigned level) {
  const pc_cuda_driver *driver = &device->driver;
  pc_sample_rows sample = {.scores = batch->scores,
                           .labels = labels->at,
                           .found = pc_device_place(device, 0),
                           .rows = batch->rows,
                           .classes = (uint32_t)batch->columns,
                           .label_size = labels->size,
                           .level = level};
  const unsigned blocks =
      (unsigned)((batch->rows + PC_SAMPLE_ROWS_THREADS - 1) / PC_SAMPLE_ROWS_THREADS);
  void *parameters[] = {&sample};
  cuda_result result = driver->clear(device->memory, 0, sizeof *sample.found, batch->stream);
  if (result == 0)
    result = driver->launch(device->sample[batch->type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64],
                            blocks, 1, 1, PC_SAMPLE_ROWS_THREADS, 1, 1, 0, batch->stream,
                            parameters, NULL);
  if (result == 0)
    result =
        driver->copy_to_host(device->host, device->memory, sizeof *sample.found, batch->stream);
  return result == 0 ? driver->synchronize(batch->stream) : result;
}

pcal_status pc_device_sample(pcal_device *device, const pcal_batch *batch,
                             const pc_device_labels *labels, unsigned level,
                             pc_sample_found *out, pcal_error *err) {
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve_sums(device, 1, err);
  if (status == PCAL_OK)
    status = pc_cuda_check(&device->driver, device_sample_run(device, batch, labels, level),
                           "drawing rows on the GPU", err);
  if (status == PCAL_OK)
    memcpy(out, device->host, sizeof *out);
  return device_temperature_end(device, batch, status);
}
