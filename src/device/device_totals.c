/* Totals of rows, which kernels for every class read: see device_state.h. */
#include <string.h>

#include "device/device_state.h"

_Static_assert(DEVICE_ROWS_COLUMNS + PC_DEVICE_ROWS * PC_DEVICE_PROB_BYTES <= DEVICE_BYTES,
               "columns fit the memory of the device");

cuda_result pc_device_column(const pcal_device *device, const pcal_batch *batch,
                             const void *column, size_t size, size_t begin, size_t rows,
                             size_t place) {
  if (column == NULL)
    return 0;
  memcpy(device->host + place, (const char *)column + begin * size, rows * size);
  return device->driver.copy_to_device(device->memory + place, device->host + place,
                                       rows * size, batch->stream);
}

cuda_result pc_device_totals_begin(const pcal_device *device, const pcal_batch *batch,
                                   pc_row_sums *sums) {
  pc_row_form form;
  (void)pc_device_row_form(batch->kind, &form);
  memset(sums, 0, sizeof *sums);
  sums->words = (uint64_t *)(uintptr_t)device->sums;
  sums->row_total = pc_device_place(device, DEVICE_ROWS_TOTALS);
  sums->row_largest = pc_device_place(device, DEVICE_ROWS_LARGEST);
  sums->columns =
      pc_device_prob_columns(pc_device_place(device, DEVICE_ROWS_COLUMNS), PC_DEVICE_ROWS);
  sums->classes = (uint32_t)batch->columns;
  sums->form = form;
  return device->driver.clear(device->sums, 0, pc_row_sums_words(sums) * sizeof(uint64_t),
                              batch->stream);
}

cuda_result pc_device_totals(const pcal_device *device, const pcal_batch *batch,
                             const pc_device_labels *labels, size_t begin, size_t rows,
                             int normalize, pc_row_sums *sums) {
  const int here = labels->at == NULL;
  sums->rows = rows;
  sums->scores = (const char *)batch->scores + (ptrdiff_t)begin * batch->row_stride;
  sums->labels = here ? pc_device_place(device, DEVICE_ROWS_LABELS)
                      : (const void *)((const char *)labels->at + begin * labels->size);
  sums->label_size = here ? sizeof(int32_t) : labels->size;
  pc_prob_rows checked = {.labels = sums->labels,
                          .label_size = sums->label_size,
                          .out = sums->columns,
                          .odd = (uint32_t *)(void *)(sums->words + PC_ROW_SUMS_ODD),
                          .rows = rows,
                          .normalize = normalize != 0};
  cuda_result result = pc_device_column(device, batch, here ? batch->labels : NULL,
                                        sizeof(int32_t), begin, rows, DEVICE_ROWS_LABELS);
  if (result == 0 && sums->form != PC_ROW_LOGITS)
    result = pc_device_prob_launch(device, batch, begin, &checked);
  return result == 0 ? pc_device_sums_launch(device, batch, sums, 0) : result;
}

void pc_device_bins_rows(const pcal_device *device, const pc_row_sums *rows, unsigned blocks,
                         pc_class_bins *bins) {
  bins->scores = rows->scores;
  bins->labels = rows->labels;
  bins->label_size = rows->label_size;
  bins->rows = rows->rows;
  bins->classes = rows->classes;
  bins->form = rows->form;
  bins->total = rows->form == PC_ROW_LOGITS ? rows->row_total : rows->columns.scale;
  bins->largest = rows->row_largest;
  bins->slices = pc_class_bins_slices(bins, (uint64_t)device->multiprocessors * blocks);
}
