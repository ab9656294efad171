/* See device_cells.h.  For every PC_DEVICE_ROWS rows: labels on the host, weights and groups are copied
 * to the GPU, which finds the total of each row (row_sums_body.h, prob_rows_body.h) and adds its scores
 * to the cells.  The cells have memory of their own, freed at the end. */
#include "device/device_cells.h"

#include <stddef.h>
#include <string.h>

#include "device/device_state.h"

#define DEVICE_CELLS_BLOCKS 6 /* on a multiprocessor */

/* Where columns of PC_DEVICE_ROWS rows begin, in the memory of the GPU and in the page-locked memory. */
#define DEVICE_CELLS_WEIGHTS 0
#define DEVICE_CELLS_LABELS (DEVICE_CELLS_WEIGHTS + PC_DEVICE_ROWS * sizeof(double))
#define DEVICE_CELLS_NUMBERS (DEVICE_CELLS_LABELS + PC_DEVICE_ROWS * sizeof(int32_t))
#define DEVICE_CELLS_TOTALS (DEVICE_CELLS_NUMBERS + PC_DEVICE_ROWS * sizeof(uint32_t))
#define DEVICE_CELLS_LARGEST (DEVICE_CELLS_TOTALS + PC_DEVICE_ROWS * sizeof(double))
#define DEVICE_CELLS_COLUMNS (DEVICE_CELLS_LARGEST + PC_DEVICE_ROWS * sizeof(double))
_Static_assert(DEVICE_CELLS_COLUMNS + PC_DEVICE_ROWS * PC_DEVICE_PROB_BYTES <= DEVICE_BYTES,
               "columns fit the memory of the device");
_Static_assert(DEVICE_CELLS_TOTALS <= PC_DEVICE_PIECE &&
                   PC_DEVICE_CELL_BYTES <= DEVICE_HOST_BYTES - PC_DEVICE_PIECE,
               "columns fit one half of the page-locked memory, and cells the other");
_Static_assert(offsetof(pc_class_cells, bins) == 0, "the launch passes its address");

size_t pc_device_cells_bytes(const pc_device_cells *cells, const pc_class_cells *grid) {
  return cells->groups * grid->bins.classes * (grid->bins.grid[0].cut_count + 1) *
         pc_class_cells_words(grid) * sizeof(uint64_t);
}

int pc_device_has_cells(const pcal_device *device, pcal_type type) {
  return device->class_cells[type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64] != NULL;
}

static size_t device_cells_all(const pc_device_cells *cells) {
  size_t bytes = 0;
  for (size_t g = 0; g < cells->count; g++)
    bytes += pc_device_cells_bytes(cells, &cells->list[g]);
  return bytes;
}

/* Copies rows [begin, begin + rows) of a column of the host; nothing if there is none. */
static cuda_result device_cells_column(const pcal_device *device, const pcal_batch *batch,
                                       const void *column, size_t size, size_t begin,
                                       size_t rows, size_t place) {
  if (column == NULL)
    return 0;
  memcpy(device->host + place, (const char *)column + begin * size, rows * size);
  return device->driver.copy_to_device(device->memory + place, device->host + place,
                                       rows * size, batch->stream);
}

/* The totals of the rows, and their check. */
static cuda_result device_cells_totals(const pcal_device *device, const pcal_batch *batch,
                                       size_t begin, int normalize, pc_row_sums *sums) {
  pc_prob_rows rows = {.labels = sums->labels,
                       .label_size = sums->label_size,
                       .out = sums->columns,
                       .odd = (uint32_t *)(void *)(sums->words + PC_ROW_SUMS_ODD),
                       .rows = sums->rows,
                       .normalize = normalize != 0};
  const cuda_result result = sums->form == PC_ROW_LOGITS
                                 ? 0
                                 : pc_device_prob_launch(device, batch, begin, &rows);
  return result == 0 ? pc_device_sums_launch(device, batch, sums, 0) : result;
}

static cuda_result device_cells_grid(const pcal_device *device, const pcal_batch *batch,
                                     const pc_row_sums *sums, const pc_device_cells *cells,
                                     pc_class_cells *grid) {
  pc_class_bins *bins = &grid->bins;
  void *parameters[] = {grid};
  bins->scores = sums->scores;
  bins->labels = sums->labels;
  bins->label_size = sums->label_size;
  bins->rows = sums->rows;
  bins->form = sums->form;
  bins->total = sums->form == PC_ROW_LOGITS ? sums->row_total : sums->columns.scale;
  bins->largest = sums->row_largest;
  bins->slices =
      pc_class_bins_slices(bins, (uint64_t)device->multiprocessors * DEVICE_CELLS_BLOCKS);
  grid->weights =
      batch->weights == NULL ? NULL : pc_device_place(device, DEVICE_CELLS_WEIGHTS);
  grid->groups = cells->by_groups ? pc_device_place(device, DEVICE_CELLS_NUMBERS) : NULL;
  return device->driver.launch(
      device->class_cells[batch->type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64],
      pc_class_bins_blocks(bins), 1, 1, PC_CLASS_BINS_THREADS, 1, 1, 0, batch->stream,
      parameters, NULL);
}

/* Rows [begin, begin + rows) of a batch. */
static cuda_result device_cells_piece(const pcal_device *device, const pcal_batch *batch,
                                      const pc_device_labels *labels, size_t begin, size_t rows,
                                      pc_row_sums *sums, pc_device_cells *cells) {
  const int here = labels->at == NULL;
  sums->rows = rows;
  sums->scores = (const char *)batch->scores + (ptrdiff_t)begin * batch->row_stride;
  sums->labels = here ? pc_device_place(device, DEVICE_CELLS_LABELS)
                      : (const void *)((const char *)labels->at + begin * labels->size);
  sums->label_size = here ? sizeof(int32_t) : labels->size;
  cuda_result result =
      device_cells_column(device, batch, here ? batch->labels : NULL, sizeof(int32_t), begin,
                          rows, DEVICE_CELLS_LABELS);
  if (result == 0)
    result = device_cells_column(device, batch, batch->weights, sizeof(double), begin, rows,
                                 DEVICE_CELLS_WEIGHTS);
  if (result == 0)
    result = device_cells_column(device, batch, cells->by_groups ? batch->groups : NULL,
                                 sizeof(uint32_t), begin, rows, DEVICE_CELLS_NUMBERS);
  if (result == 0)
    result = device_cells_totals(device, batch, begin, cells->normalize, sums);
  for (size_t g = 0; g < cells->count && result == 0; g++)
    result = device_cells_grid(device, batch, sums, cells, &cells->list[g]);
  return result == 0 ? device->driver.synchronize(batch->stream) : result;
}

static cuda_result device_cells_run(const pcal_device *device, const pcal_batch *batch,
                                    const pc_device_labels *labels, cuda_address words,
                                    pc_device_cells *cells) {
  const pc_cuda_driver *driver = &device->driver;
  const size_t bytes = device_cells_all(cells);
  pc_row_form form;
  pc_row_sums sums = {.words = (uint64_t *)(uintptr_t)device->sums,
                      .row_total = pc_device_place(device, DEVICE_CELLS_TOTALS),
                      .row_largest = pc_device_place(device, DEVICE_CELLS_LARGEST),
                      .columns = pc_device_prob_columns(
                          pc_device_place(device, DEVICE_CELLS_COLUMNS), PC_DEVICE_ROWS),
                      .classes = (uint32_t)batch->columns};
  (void)pc_device_row_form(batch->kind, &form);
  sums.form = form;
  cuda_result result = driver->clear(
      device->sums, 0, pc_row_sums_words(&sums) * sizeof(uint64_t), batch->stream);
  if (result == 0)
    result = driver->clear(words, 0, bytes, batch->stream);
  for (size_t begin = 0; begin < batch->rows && result == 0; begin += PC_DEVICE_ROWS) {
    const size_t left = batch->rows - begin;
    result = device_cells_piece(device, batch, labels, begin,
                                left < PC_DEVICE_ROWS ? left : PC_DEVICE_ROWS, &sums, cells);
  }
  if (result == 0)
    result = driver->copy_to_host(device->sums_host, device->sums, sizeof(uint64_t),
                                  batch->stream);
  if (result == 0)
    result =
        driver->copy_to_host(device->host + PC_DEVICE_PIECE, words, bytes, batch->stream);
  return result == 0 ? driver->synchronize(batch->stream) : result;
}

/* Where the cells of each grid are: the same distances on the GPU and on the host. */
static void device_cells_place(const pcal_device *device, const pcal_batch *batch,
                               cuda_address words, pc_device_cells *cells) {
  size_t at = 0;
  for (size_t g = 0; g < cells->count; g++) {
    cells->list[g].bins.classes = (uint32_t)batch->columns;
    cells->list[g].bins.words = (uint64_t *)(uintptr_t)(words + at);
    cells->words[g] =
        (const uint64_t *)(const void *)(device->host + PC_DEVICE_PIECE + at);
    at += pc_device_cells_bytes(cells, &cells->list[g]);
  }
}

pcal_status pc_device_class_cells(pcal_device *device, const pcal_batch *batch,
                                  const pc_device_labels *labels, pc_device_cells *cells,
                                  int *done, pcal_error *err) {
  const pc_cuda_driver *driver = &device->driver;
  cuda_address words = 0;
  uint64_t odd;
  *done = 0;
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve_sums(device, 1, err);
  device_cells_place(device, batch, 0, cells);
  if (status == PCAL_OK && driver->memory_alloc(&words, device_cells_all(cells)) != 0) {
    pc_device_leave(device);
    return PCAL_OK;
  }
  if (status == PCAL_OK) {
    device_cells_place(device, batch, words, cells);
    status = pc_cuda_check(driver, device_cells_run(device, batch, labels, words, cells),
                           "adding up rows on the GPU", err);
    if (status != PCAL_OK) /* a copy may still be on its way into the page-locked memory */
      driver->synchronize(batch->stream);
    driver->memory_free(words);
  }
  if (status != PCAL_OK) {
    pc_device_leave(device);
    return status;
  }
  memcpy(&odd, device->sums_host, sizeof odd);
  cells->odd = odd != 0;
  *done = 1;
  return PCAL_OK;
}
