/* See device_cells.h.  For every PC_DEVICE_ROWS rows: labels on the host, weights and groups are copied
 * to the GPU, which finds the total of each row (row_sums_body.h, prob_rows_body.h) and adds its scores
 * to the cells.  The cells have memory of their own, freed at the end. */
#include "device/device_cells.h"

#include <stddef.h>
#include <string.h>

#include "device/device_state.h"

#define DEVICE_CELLS_BLOCKS 6 /* on a multiprocessor */

_Static_assert(DEVICE_ROWS_TOTALS <= PC_DEVICE_PIECE &&
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

static cuda_result device_cells_grid(const pcal_device *device, const pcal_batch *batch,
                                     const pc_row_sums *sums, const pc_device_cells *cells,
                                     pc_class_cells *grid) {
  pc_class_bins *bins = &grid->bins;
  void *parameters[] = {grid};
  pc_device_bins_rows(device, sums, DEVICE_CELLS_BLOCKS, bins);
  grid->weights = batch->weights == NULL ? NULL : pc_device_place(device, DEVICE_ROWS_WEIGHTS);
  grid->groups = cells->by_groups ? pc_device_place(device, DEVICE_ROWS_GROUPS) : NULL;
  return device->driver.launch(
      device->class_cells[batch->type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64],
      pc_class_bins_blocks(bins), 1, 1, PC_CLASS_BINS_THREADS, 1, 1, 0, batch->stream,
      parameters, NULL);
}

/* Copies the groups of rows; those beyond the last one, which another thread has written since they
 * were counted, become group 0. */
static cuda_result device_cells_groups(const pcal_device *device, const pcal_batch *batch,
                                       const pc_device_cells *cells, size_t begin,
                                       size_t rows) {
  uint32_t *copy = (uint32_t *)(void *)(device->host + DEVICE_ROWS_GROUPS);
  if (!cells->by_groups)
    return 0;
  for (size_t i = 0; i < rows; i++) {
    const uint32_t group = batch->groups[begin + i];
    copy[i] = group < cells->groups ? group : 0;
  }
  return device->driver.copy_to_device(device->memory + DEVICE_ROWS_GROUPS, copy,
                                       rows * sizeof *copy, batch->stream);
}

/* Rows [begin, begin + rows) of a batch. */
static cuda_result device_cells_piece(const pcal_device *device, const pcal_batch *batch,
                                      const pc_device_labels *labels, size_t begin, size_t rows,
                                      pc_row_sums *sums, pc_device_cells *cells) {
  cuda_result result = pc_device_column(device, batch, batch->weights, sizeof(double), begin,
                                        rows, DEVICE_ROWS_WEIGHTS);
  if (result == 0)
    result = device_cells_groups(device, batch, cells, begin, rows);
  if (result == 0)
    result = pc_device_totals(device, batch, labels, begin, rows, cells->normalize, sums);
  for (size_t g = 0; g < cells->count && result == 0; g++)
    result = device_cells_grid(device, batch, sums, cells, &cells->list[g]);
  return result == 0 ? device->driver.synchronize(batch->stream) : result;
}

static cuda_result device_cells_run(const pcal_device *device, const pcal_batch *batch,
                                    const pc_device_labels *labels, cuda_address words,
                                    pc_device_cells *cells) {
  const pc_cuda_driver *driver = &device->driver;
  const size_t bytes = device_cells_all(cells);
  pc_row_sums sums;
  cuda_result result = pc_device_totals_begin(device, batch, &sums);
  if (result == 0)
    result = driver->clear(words, 0, bytes, batch->stream);
  for (size_t begin = 0; begin < batch->rows && result == 0; begin += PC_DEVICE_ROWS) {
    const size_t left = batch->rows - begin;
    result = device_cells_piece(device, batch, labels, begin,
                                left < PC_DEVICE_ROWS ? left : PC_DEVICE_ROWS, &sums, cells);
  }
  if (result == 0)
    result =
        driver->copy_to_host(device->sums_host, device->sums, sizeof(uint64_t), batch->stream);
  if (result == 0)
    result = driver->copy_to_host(device->host + PC_DEVICE_PIECE, words, bytes, batch->stream);
  return result == 0 ? driver->synchronize(batch->stream) : result;
}

/* Where the cells of each grid are: the same distances on the GPU and on the host. */
static void device_cells_place(const pcal_device *device, const pcal_batch *batch,
                               cuda_address words, pc_device_cells *cells) {
  size_t at = 0;
  for (size_t g = 0; g < cells->count; g++) {
    cells->list[g].bins.classes = (uint32_t)batch->columns;
    cells->list[g].bins.words = (uint64_t *)(uintptr_t)(words + at);
    cells->words[g] = (const uint64_t *)(const void *)(device->host + PC_DEVICE_PIECE + at);
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
