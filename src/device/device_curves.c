/* See device_curves.h.  For every PC_DEVICE_ROWS rows the GPU finds their totals (device_totals.c) and
 * then counts or adds up the scores of every class.  Buckets, segments and listed scores have memory of
 * their own, freed at the end. */
#include "device/device_curves.h"

#include <stddef.h>
#include <string.h>

#include "device/device_state.h"

#define DEVICE_CURVES_BLOCKS 8                /* on a multiprocessor */
#define DEVICE_CURVES_PIECE ((size_t)1 << 21) /* listed scores that are copied at once */

_Static_assert(PC_DEVICE_CURVE_BUCKETS * sizeof(uint32_t) <= PC_DEVICE_PIECE &&
                   PC_DEVICE_CURVE_SEGMENTS * PC_CLASS_CURVES_WORDS * sizeof(uint64_t) <=
                       PC_DEVICE_PIECE &&
                   DEVICE_CURVES_PIECE * (sizeof(double) + sizeof(uint32_t)) <= PC_DEVICE_PIECE,
               "what is found fits one half of the page-locked memory");
_Static_assert(offsetof(pc_class_curves, bins) == 0, "the launch passes its address");

/* Where the parts of that memory begin. */
typedef struct device_curves_places {
  size_t counts, listed, scores, places, words, first, segment, bytes;
} device_curves_places;

int pc_device_has_class_curves(const pcal_device *device, pcal_type type) {
  const size_t t = type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64;
  return device->class_counts[t] != NULL && device->class_segments[t] != NULL;
}

static size_t device_curves_cells(const pcal_batch *batch, const pc_device_curves *curves) {
  return batch->columns * curves->curves.buckets;
}

static device_curves_places device_curves_layout(const pcal_batch *batch,
                                                 const pc_device_curves *curves) {
  const size_t cells = device_curves_cells(batch, curves);
  device_curves_places at = {.counts = 0};
  if (curves->segment == NULL) {
    at.bytes = cells * sizeof(uint32_t);
    return at;
  }
  at.listed = 0; /* then words, so that one call clears both */
  at.words = sizeof(uint64_t);
  at.scores = at.words + curves->segments * PC_CLASS_CURVES_WORDS * sizeof(uint64_t);
  at.places = at.scores + PC_DEVICE_CURVE_LISTED * sizeof(double);
  at.first = at.places + PC_DEVICE_CURVE_LISTED * sizeof(uint32_t);
  at.segment = at.first + (batch->columns + 1) / 2 * 2 * sizeof(uint32_t);
  at.bytes = at.segment + cells * sizeof(uint16_t);
  return at;
}

static void device_curves_place(cuda_address memory, const device_curves_places *at,
                                pc_class_curves *out) {
  char *base = (char *)(uintptr_t)memory;
  out->counts = (uint32_t *)(void *)(base + at->counts);
  out->listed = (uint32_t *)(void *)(base + at->listed);
  out->words = (uint64_t *)(void *)(base + at->words);
  out->scores = (double *)(void *)(base + at->scores);
  out->places = (uint32_t *)(void *)(base + at->places);
  out->first = (const uint32_t *)(const void *)(base + at->first);
  out->segment = (const uint16_t *)(const void *)(base + at->segment);
  out->room = (uint32_t)PC_DEVICE_CURVE_LISTED;
}

/* Clears the results, and copies the tables of the second pass. */
static cuda_result device_curves_begin(const pcal_device *device, const pcal_batch *batch,
                                       cuda_address memory, const device_curves_places *at,
                                       const pc_device_curves *curves) {
  const size_t cells = device_curves_cells(batch, curves);
  cuda_result result = device->driver.clear(
      memory, 0, curves->segment == NULL ? at->bytes : at->scores, batch->stream);
  if (result == 0 && curves->segment != NULL)
    result = pc_device_fill(device, batch->stream, (const char *)curves->first,
                            batch->columns * sizeof *curves->first, memory + at->first);
  if (result == 0 && curves->segment != NULL)
    result = pc_device_fill(device, batch->stream, (const char *)curves->segment,
                            cells * sizeof *curves->segment, memory + at->segment);
  return result;
}

static cuda_result device_curves_rows(const pcal_device *device, const pcal_batch *batch,
                                      const pc_device_labels *labels,
                                      pc_device_curves *curves) {
  const pc_cuda_driver *driver = &device->driver;
  const size_t t = batch->type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64;
  cuda_function *kernel =
      curves->segment == NULL ? device->class_counts[t] : device->class_segments[t];
  void *parameters[] = {&curves->curves};
  pc_row_sums sums;
  cuda_result result = pc_device_totals_begin(device, batch, &sums);
  for (size_t begin = 0; begin < batch->rows && result == 0; begin += PC_DEVICE_ROWS) {
    const size_t left = batch->rows - begin;
    result = pc_device_totals(device, batch, labels, begin,
                              left < PC_DEVICE_ROWS ? left : PC_DEVICE_ROWS, curves->normalize,
                              &sums);
    pc_device_bins_rows(device, &sums, DEVICE_CURVES_BLOCKS, &curves->curves.bins);
    if (result == 0)
      result = driver->launch(kernel, pc_class_bins_blocks(&curves->curves.bins), 1, 1,
                              PC_CLASS_BINS_THREADS, 1, 1, 0, batch->stream, parameters, NULL);
    if (result == 0 && labels->at == NULL)
      result = driver->synchronize(batch->stream); /* labels share their place */
  }
  return result == 0 ? driver->copy_to_host(device->sums_host, device->sums, sizeof(uint64_t),
                                            batch->stream)
                     : result;
}

/* Copies results to the beginning of the page-locked memory and waits for them. */
static cuda_result device_curves_get(const pcal_device *device, void *stream, cuda_address from,
                                     size_t bytes) {
  const cuda_result result = device->driver.copy_to_host(device->host, from, bytes, stream);
  return result == 0 ? device->driver.synchronize(stream) : result;
}

/* Passes on the listed scores. */
static pcal_status device_curves_pass(const pcal_device *device, void *stream,
                                      const pc_class_curves *curves, size_t count,
                                      const pc_device_curves_found *found, pcal_error *err) {
  const pc_cuda_driver *driver = &device->driver;
  for (size_t begin = 0; begin < count; begin += DEVICE_CURVES_PIECE) {
    const size_t left = count - begin;
    const size_t here = left < DEVICE_CURVES_PIECE ? left : DEVICE_CURVES_PIECE;
    char *places = device->host + PC_DEVICE_PIECE;
    cuda_result result =
        driver->copy_to_host(places, (cuda_address)(uintptr_t)(curves->places + begin),
                             here * sizeof(uint32_t), stream);
    if (result == 0)
      result =
          device_curves_get(device, stream, (cuda_address)(uintptr_t)(curves->scores + begin),
                            here * sizeof(double));
    PC_TRY(pc_cuda_check(driver, result, "reading scores from the GPU", err));
    PC_TRY(found->listed(found->user, (const double *)(const void *)device->host,
                         (const uint32_t *)(const void *)places, here, err));
  }
  return PCAL_OK;
}

/* Reads what the second pass has found. */
static pcal_status device_curves_read(const pcal_device *device, void *stream,
                                      const pc_device_curves *curves,
                                      const pc_device_curves_found *found, int *done,
                                      pcal_error *err) {
  uint32_t listed;
  const size_t words = curves->segments * PC_CLASS_CURVES_WORDS;
  PC_TRY(pc_cuda_check(&device->driver,
                       device_curves_get(device, stream,
                                         (cuda_address)(uintptr_t)curves->curves.listed,
                                         (1 + words) * sizeof(uint64_t)),
                       "reading sums from the GPU", err));
  memcpy(&listed, device->host, sizeof listed);
  *done = listed <= PC_DEVICE_CURVE_LISTED;
  if (!*done)
    return PCAL_OK;
  PC_TRY(found->words(found->user, (const uint64_t *)(const void *)device->host + 1, err));
  return device_curves_pass(device, stream, &curves->curves, listed, found, err);
}

static pcal_status device_curves_run(pcal_device *device, const pcal_batch *batch,
                                     const pc_device_labels *labels, cuda_address memory,
                                     const device_curves_places *at, pc_device_curves *curves,
                                     const pc_device_curves_found *found, int *done,
                                     pcal_error *err) {
  const pc_cuda_driver *driver = &device->driver;
  const int first = curves->segment == NULL;
  uint64_t odd;
  device_curves_place(memory, at, &curves->curves);
  cuda_result result = device_curves_begin(device, batch, memory, at, curves);
  if (result == 0)
    result = device_curves_rows(device, batch, labels, curves);
  if (result == 0)
    result = first ? device_curves_get(device, batch->stream, memory, at->bytes)
                   : driver->synchronize(batch->stream);
  PC_TRY(pc_cuda_check(driver, result, "adding up scores on the GPU", err));
  memcpy(&odd, device->sums_host, sizeof odd);
  *done = odd == 0;
  if (!*done)
    return PCAL_OK;
  return first ? found->counts(found->user, (const uint32_t *)(const void *)device->host, err)
               : device_curves_read(device, batch->stream, curves, found, done, err);
}

pcal_status pc_device_class_curves(pcal_device *device, const pcal_batch *batch,
                                   const pc_device_labels *labels, pc_device_curves *curves,
                                   const pc_device_curves_found *found, int *done,
                                   pcal_error *err) {
  const pc_cuda_driver *driver = &device->driver;
  const device_curves_places at = device_curves_layout(batch, curves);
  cuda_address memory = 0;
  *done = 0;
  if (batch->rows >
          UINT32_MAX / batch->columns || /* the counter of listed scores has 32 bits */
      device_curves_cells(batch, curves) > PC_DEVICE_CURVE_BUCKETS ||
      (curves->segment != NULL && curves->segments > PC_DEVICE_CURVE_SEGMENTS - 1))
    return PCAL_OK;
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve_sums(device, 1, err);
  if (status == PCAL_OK && driver->memory_alloc(&memory, at.bytes) == 0) {
    status = device_curves_run(device, batch, labels, memory, &at, curves, found, done, err);
    if (status != PCAL_OK) /* a copy may still be on its way into the page-locked memory */
      driver->synchronize(batch->stream);
    driver->memory_free(memory);
  }
  pc_device_leave(device);
  return status;
}
