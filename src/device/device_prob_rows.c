/* Rows of probabilities that a GPU checks: see device.h and prob_rows_body.h. */
#include <string.h>

#include "device/device_state.h"

int pc_device_row_form(pcal_kind kind, pc_row_form *out) {
  *out = kind == PCAL_PROBABILITY       ? PC_ROW_PROBS
         : kind == PCAL_LOG_PROBABILITY ? PC_ROW_LOG_PROBS
                                        : PC_ROW_LOGITS;
  return kind == PCAL_LOGIT || *out != PC_ROW_LOGITS;
}

int pc_device_has_prob_rows(const pcal_device *device, pcal_type type) {
  return device->prob_rows[type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64] != NULL;
}

pc_prob_columns pc_device_prob_columns(void *at, size_t room) {
  double *first = at;
  return (pc_prob_columns){.high = first,
                           .rest_square = first + room,
                           .stored = first + 2 * room,
                           .scale = first + 3 * room,
                           .top = (int32_t *)(void *)(first + 4 * room)};
}

cuda_result pc_device_prob_launch(const pcal_device *device, const pcal_batch *batch,
                                  size_t begin, pc_prob_rows *rows) {
  const size_t each = PC_PROB_ROWS_THREADS / PC_PROB_ROWS_LANES;
  pc_row_form form;
  void *parameters[] = {rows};
  (void)pc_device_row_form(batch->kind, &form);
  rows->form = form;
  rows->scores = (const char *)batch->scores + (ptrdiff_t)begin * batch->row_stride;
  rows->classes = (uint32_t)batch->columns;
  return device->driver.launch(
      device->prob_rows[batch->type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64],
      (unsigned)((rows->rows + each - 1) / each), 1, 1, PC_PROB_ROWS_THREADS, 1, 1, 0,
      batch->stream, parameters, NULL);
}

/* The columns of a batch, then a word that says whether its rows are odd, then its labels: on the GPU
 * and on the host alike. */
typedef struct device_prob_places {
  size_t room; /* rows */
  size_t odd, labels;
} device_prob_places;

static device_prob_places device_prob_places_of(size_t rows) {
  const size_t room = (rows + 1) / 2 * 2, odd = room * PC_DEVICE_PROB_BYTES;
  return (device_prob_places){room, odd, odd + sizeof(uint64_t)};
}

_Static_assert(PC_DEVICE_ROWS *(PC_DEVICE_PROB_BYTES + sizeof(int32_t)) + 64 <= DEVICE_BYTES,
               "the columns of a call fit the memory of the device");

static cuda_result device_prob_run(const pcal_device *device, const pcal_batch *batch,
                                   int normalize, const device_prob_places *at) {
  const pc_cuda_driver *driver = &device->driver;
  pc_prob_rows rows = {.labels = pc_device_place(device, at->labels),
                       .label_size = sizeof(int32_t),
                       .out = pc_device_prob_columns(pc_device_place(device, 0), at->room),
                       .odd = pc_device_place(device, at->odd),
                       .rows = batch->rows,
                       .normalize = normalize != 0};
  memcpy(device->host + at->labels, batch->labels, batch->rows * sizeof *batch->labels);
  memset(device->host + at->odd, 0, sizeof(uint64_t));
  cuda_result result = driver->copy_to_device(
      device->memory + at->odd, device->host + at->odd,
      at->labels - at->odd + batch->rows * sizeof *batch->labels, batch->stream);
  if (result == 0)
    result = pc_device_prob_launch(device, batch, 0, &rows);
  if (result == 0)
    result = driver->copy_to_host(device->host, device->memory, at->labels, batch->stream);
  return result == 0 ? driver->synchronize(batch->stream) : result;
}

pcal_status pc_device_prob_rows(pcal_device *device, const pcal_batch *batch, int normalize,
                                pc_device_softmax *out, pcal_error *err) {
  const device_prob_places at = device_prob_places_of(batch->rows);
  uint32_t odd;
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve(device, 1, err);
  if (status == PCAL_OK)
    status = pc_cuda_check(&device->driver, device_prob_run(device, batch, normalize, &at),
                           "checking rows on the GPU", err);
  if (status != PCAL_OK) { /* a copy may still be on its way into the page-locked memory */
    device->driver.synchronize(batch->stream);
    pc_device_leave(device);
    return status;
  }
  const pc_prob_columns columns = pc_device_prob_columns(device->host, at.room);
  memcpy(&odd, device->host + at.odd, sizeof odd);
  *out = (pc_device_softmax){.rest = columns.high,
                             .rest_square = columns.rest_square,
                             .gap = columns.stored,
                             .top = columns.top,
                             .scale = columns.scale,
                             .finite = odd != PC_PROB_ROWS_ODD};
  return PCAL_OK;
}
