/* Sums over the rows of a batch, on its GPU: see device.h, row_sums_body.h, class_bins_body.h and
 * class_moments_body.h.
 *
 * Sums alone, with labels on the GPU: one launch.  Otherwise a launch of each kernel for every
 * PC_DEVICE_ROWS rows: labels on the host are copied first, and the top scores are copied back.
 * The results, some kilobytes and 8 bytes for each top score, arrive in page-locked memory, and
 * only for them the host waits.
 *
 * The memory of the GPU holds, for the rows of one launch, labels, totals and largest logits, and
 * the bins of all classes; the page-locked memory holds the totals and labels of all rows, and the
 * bins. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "device/device_state.h"
#include "device/row_sums_body.h"

#define DEVICE_SUMS_BLOCKS 6  /* of row sums, on a multiprocessor */
#define DEVICE_CLASS_BLOCKS 8 /* of bins of classes */
#define DEVICE_SUMS_BYTES (PC_ROW_SUMS_WORDS * sizeof(uint64_t))

static int device_sums_wide(size_t classes) {
  return classes > DEVICE_NARROW_CLASSES;
}

static cuda_function *device_sums_kernel(const pcal_device *device, uint32_t form,
                                         pcal_type type, size_t classes, int fast) {
  const size_t t = type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64;
  if (form != PC_ROW_LOGITS)
    return device->sums_columns;
  if (fast)
    return device_sums_wide(classes) ? device->sums_fast_wide : device->sums_fast_narrow;
  return device_sums_wide(classes) ? device->sums_wide[t] : device->sums_narrow[t];
}

int pc_device_has_fast_sums(const pcal_device *device) {
  return device->sums_fast_wide != NULL && device->sums_fast_narrow != NULL;
}

int pc_device_has_row_sums(const pcal_device *device, pcal_kind kind, pcal_type type,
                           size_t classes) {
  const size_t t = type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64;
  pc_row_form form;
  return pc_device_row_form(kind, &form) &&
         (form == PC_ROW_LOGITS || pc_device_has_prob_rows(device, type)) &&
         device_sums_kernel(device, form, type, classes, 0) != NULL &&
         device->class_bins[t] != NULL && device->class_moments[t] != NULL;
}

/* As many blocks as run at once, unless a block would have too many rows or none; twice as many for wide rows in
 * the exact precision, so that no multiprocessor waits long for the last ones. */
static unsigned device_sums_blocks(const pcal_device *device, const pc_row_sums *sums, int wide,
                                   int fast) {
  const uint64_t step = wide ? PC_ROW_SUMS_THREADS / PC_ROW_SUMS_LANES : PC_ROW_SUMS_THREADS;
  const uint64_t most = (sums->rows + step - 1) / step;
  const uint64_t least = (sums->rows + PC_ROW_SUMS_BLOCK_ROWS - 1) / PC_ROW_SUMS_BLOCK_ROWS;
  const uint64_t turns = wide && !fast ? 2 : 1;
  const uint64_t at_once = (uint64_t)device->multiprocessors * DEVICE_SUMS_BLOCKS * turns;
  return (unsigned)(most < at_once ? most : least > at_once ? least : at_once);
}

cuda_result pc_device_sums_launch(const pcal_device *device, const pcal_batch *batch,
                                  pc_row_sums *sums, int fast) {
  const int columns = sums->form != PC_ROW_LOGITS;
  const int wide = !columns && device_sums_wide(sums->classes);
  const uint32_t size = columns ? 0 : batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  const uint32_t shared = pc_row_sums_layout_of(sums, size, wide).bytes;
  void *parameters[] = {sums};
  return device->driver.launch(
      device_sums_kernel(device, sums->form, batch->type, batch->columns, fast),
      device_sums_blocks(device, sums, wide, fast), 1, 1, PC_ROW_SUMS_THREADS, 1, 1, shared,
      batch->stream, parameters, NULL);
}

/* ---- Memory ---- */

#define DEVICE_SUMS_TOTALS (PC_DEVICE_ROWS * sizeof(int32_t)) /* after the labels */
#define DEVICE_SUMS_LARGEST (DEVICE_SUMS_TOTALS + PC_DEVICE_ROWS * sizeof(double))
#define DEVICE_SUMS_CLASSES (DEVICE_SUMS_LARGEST + PC_DEVICE_ROWS * sizeof(double))
_Static_assert(offsetof(pc_class_moments, bins) == 0, "device_sums_bins passes its address");
#define DEVICE_SUMS_COLUMNS (DEVICE_SUMS_CLASSES + PC_DEVICE_CLASS_BYTES)
_Static_assert(DEVICE_SUMS_COLUMNS + PC_DEVICE_ROWS * PC_DEVICE_PROB_BYTES <= DEVICE_BYTES,
               "columns and bins fit the memory of the device");

#define DEVICE_SUMS_HOST_LABELS (PC_DEVICE_SUMS_ROWS * sizeof(double)) /* after the totals */
#define DEVICE_SUMS_HOST_CLASSES \
  (DEVICE_SUMS_HOST_LABELS + PC_DEVICE_SUMS_ROWS * sizeof(int32_t))
#define DEVICE_SUMS_HOST_BUCKETS (DEVICE_SUMS_HOST_CLASSES + PC_DEVICE_CLASS_BYTES)
_Static_assert(DEVICE_SUMS_HOST_BUCKETS + PC_DEVICE_BUCKET_BYTES <= DEVICE_HOST_BYTES,
               "totals, labels, bins and buckets fit the page-locked memory");

static size_t device_sums_class_bytes(const pc_class_bins *bins) {
  return (size_t)bins->cell_count * PC_CLASS_BINS_WORDS * sizeof(uint64_t);
}

static size_t device_sums_moment_bytes(const pc_class_moments *moments) {
  return (size_t)moments->bins.cell_count * PC_CLASS_MOMENTS_WORDS * sizeof(uint64_t);
}

/* True if something is added up for every class. */
static int device_sums_by_class(const pc_device_sums *sums) {
  return sums->class_launches + sums->moment_launches > 0;
}

static size_t device_sums_all_classes(const pc_device_sums *sums) {
  size_t bytes = 0;
  for (size_t l = 0; l < sums->class_launches; l++)
    bytes += device_sums_class_bytes(&sums->classes[l]);
  for (size_t l = 0; l < sums->moment_launches; l++)
    bytes += device_sums_moment_bytes(&sums->moments[l]);
  return bytes;
}

/* ---- Launches ---- */

/* Bins of all classes of the rows of the last launch of row sums: their arguments, and the launch of
 * a kernel whose argument begins with them. */
static cuda_result device_sums_bins(const pcal_device *device, const pcal_batch *batch,
                                    const pc_row_sums *rows, cuda_function *kernel, size_t at,
                                    pc_class_bins *bins) {
  void *parameters[] = {bins};
  pc_device_bins_rows(device, rows, DEVICE_CLASS_BLOCKS, bins);
  bins->words = pc_device_place(device, at);
  return device->driver.launch(kernel, pc_class_bins_blocks(bins), 1, 1, PC_CLASS_BINS_THREADS,
                               1, 1, 0, batch->stream, parameters, NULL);
}

static cuda_result device_sums_classes(const pcal_device *device, const pcal_batch *batch,
                                       pc_device_sums *sums) {
  const size_t t = batch->type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64;
  size_t at = DEVICE_SUMS_CLASSES;
  cuda_result result = 0;
  for (size_t l = 0; l < sums->class_launches && result == 0; l++) {
    pc_class_bins *bins = &sums->classes[l];
    result = device_sums_bins(device, batch, &sums->rows, device->class_bins[t], at, bins);
    at += device_sums_class_bytes(bins);
  }
  for (size_t l = 0; l < sums->moment_launches && result == 0; l++) {
    pc_class_moments *moments = &sums->moments[l];
    result = device_sums_bins(device, batch, &sums->rows, device->class_moments[t], at,
                              &moments->bins);
    at += device_sums_moment_bytes(moments);
  }
  return result;
}

/* Checks rows of probabilities; those of logits are checked while they are added up. */
static cuda_result device_sums_check(const pcal_device *device, const pcal_batch *batch,
                                     size_t begin, pc_device_sums *sums) {
  pc_prob_rows rows = {.labels = sums->rows.labels,
                       .label_size = sums->rows.label_size,
                       .out = sums->rows.columns,
                       .odd = (uint32_t *)(void *)(sums->rows.words + PC_ROW_SUMS_ODD),
                       .rows = sums->rows.rows,
                       .normalize = sums->normalize != 0};
  return sums->rows.form == PC_ROW_LOGITS ? 0
                                          : pc_device_prob_launch(device, batch, begin, &rows);
}

/* Rows [begin, begin + rows) of a batch. */
static cuda_result device_sums_piece(const pcal_device *device, const pcal_batch *batch,
                                     const pc_device_labels *labels, size_t begin, size_t rows,
                                     pc_device_sums *sums) {
  const pc_cuda_driver *driver = &device->driver;
  cuda_result result = 0;
  sums->rows.rows = rows;
  sums->rows.scores = (const char *)batch->scores + (ptrdiff_t)begin * batch->row_stride;
  if (labels->at == NULL) {
    char *host = device->host + DEVICE_SUMS_HOST_LABELS + begin * sizeof *batch->labels;
    memcpy(host, batch->labels + begin, rows * sizeof *batch->labels);
    result = driver->copy_to_device(device->memory, host, rows * sizeof *batch->labels,
                                    batch->stream);
    sums->rows.labels = pc_device_place(device, 0);
    sums->rows.label_size = sizeof *batch->labels;
  } else {
    sums->rows.labels = (const char *)labels->at + begin * labels->size;
    sums->rows.label_size = labels->size;
  }
  if (sums->keep != NULL)
    sums->rows.row_total = pc_device_scores_totals(device, sums->keep->rows + begin);
  if (result == 0)
    result = device_sums_check(device, batch, begin, sums);
  if (result == 0)
    result = pc_device_sums_launch(device, batch, &sums->rows, sums->fast);
  if (result == 0)
    result = device_sums_classes(device, batch, sums);
  if (result == 0 && sums->with_scores)
    result = driver->copy_to_host(device->host + begin * sizeof(double),
                                  (cuda_address)(uintptr_t)sums->rows.row_total,
                                  rows * sizeof(double), batch->stream);
  return result;
}

static cuda_result device_sums_clear(const pcal_device *device, void *stream,
                                     const pc_device_sums *sums) {
  const pc_cuda_driver *driver = &device->driver;
  const size_t classes = device_sums_all_classes(sums);
  const cuda_result result =
      driver->clear(device->sums, 0, pc_row_sums_words(&sums->rows) * sizeof(uint64_t), stream);
  return result != 0 || classes == 0
             ? result
             : driver->clear(device->memory + DEVICE_SUMS_CLASSES, 0, classes, stream);
}

/* Copies the results and waits for them. */
static cuda_result device_sums_fetch(const pcal_device *device, void *stream,
                                     const pc_device_sums *sums) {
  const pc_cuda_driver *driver = &device->driver;
  const size_t classes = device_sums_all_classes(sums);
  cuda_result result =
      driver->copy_to_host(device->sums_host, device->sums,
                           pc_row_sums_words(&sums->rows) * sizeof(uint64_t), stream);
  if (result == 0 && classes > 0)
    result = driver->copy_to_host(device->host + DEVICE_SUMS_HOST_CLASSES,
                                  device->memory + DEVICE_SUMS_CLASSES, classes, stream);
  return result == 0 ? driver->synchronize(stream) : result;
}

static cuda_result device_sums_run(const pcal_device *device, const pcal_batch *batch,
                                   const pc_device_labels *labels, pc_device_sums *sums) {
  const int columns = sums->with_scores || device_sums_by_class(sums);
  const int checked = sums->rows.form != PC_ROW_LOGITS;
  const int pieces = columns || checked || labels->at == NULL;
  const size_t step = pieces ? PC_DEVICE_ROWS : batch->rows;
  sums->rows.words = (uint64_t *)(uintptr_t)device->sums;
  sums->rows.row_total = columns ? pc_device_place(device, DEVICE_SUMS_TOTALS) : NULL;
  sums->rows.row_largest =
      device_sums_by_class(sums) ? pc_device_place(device, DEVICE_SUMS_LARGEST) : NULL;
  if (checked)
    sums->rows.columns =
        pc_device_prob_columns(pc_device_place(device, DEVICE_SUMS_COLUMNS), PC_DEVICE_ROWS);
  cuda_result result = device_sums_clear(device, batch->stream, sums);
  for (size_t begin = 0; begin < batch->rows && result == 0; begin += step) {
    const size_t left = batch->rows - begin;
    result = device_sums_piece(device, batch, labels, begin, left < step ? left : step, sums);
  }
  if (result == 0 && sums->keep != NULL)
    result = pc_device_scores_count(device, batch->stream, sums->keep->rows, batch->rows,
                                    device->host + DEVICE_SUMS_HOST_BUCKETS);
  return result == 0 ? device_sums_fetch(device, batch->stream, sums) : result;
}

/* ---- The door ---- */

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

/* Where the results are. */
static void device_sums_results(const pcal_device *device, void *stream, pc_device_sums *sums) {
  const char *classes = device->host == NULL ? NULL : device->host + DEVICE_SUMS_HOST_CLASSES;
  if (sums->keep != NULL) {
    sums->bucket_words =
        (const uint64_t *)(const void *)(device->host + DEVICE_SUMS_HOST_BUCKETS);
    sums->keep->stream = stream;
  }
  sums->words = device->sums_host;
  sums->total = sums->with_scores ? (const double *)(const void *)device->host : NULL;
  for (size_t l = 0; l < sums->class_launches; l++) {
    sums->class_words[l] = (const uint64_t *)(const void *)classes;
    classes += device_sums_class_bytes(&sums->classes[l]);
  }
  for (size_t l = 0; l < sums->moment_launches; l++) {
    sums->moment_words[l] = (const uint64_t *)(const void *)classes;
    classes += device_sums_moment_bytes(&sums->moments[l]);
  }
}

pcal_status pc_device_row_sums(pcal_device *device, const pcal_batch *batch,
                               const pc_device_labels *labels, pc_device_sums *sums,
                               pcal_error *err) {
  pc_row_form form;
  (void)pc_device_row_form(batch->kind, &form);
  const int all = labels->at == NULL || sums->with_scores || device_sums_by_class(sums) ||
                  sums->keep != NULL || form != PC_ROW_LOGITS;
  sums->rows.classes = (uint32_t)batch->columns;
  sums->rows.form = form;
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve_sums(device, all, err);
  if (status == PCAL_OK && sums->keep != NULL &&
      !pc_device_scores_reserve(device, sums->keep)) {
    sums->bucket_words = NULL;
    return PCAL_OK;
  }
  if (status == PCAL_OK)
    status = pc_cuda_check(&device->driver, device_sums_run(device, batch, labels, sums),
                           "adding up rows on the GPU", err);
  if (status != PCAL_OK) { /* a copy may still be on its way into the page-locked memory */
    device->driver.synchronize(batch->stream);
    pc_device_leave(device);
    return status;
  }
  device_sums_results(device, batch->stream, sums);
  return PCAL_OK;
}

void pc_device_row_sums_done(pcal_device *device) {
  pc_device_leave(device);
}
