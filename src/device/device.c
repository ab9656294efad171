/* Edge cases:
 *  1. a GPU or a driver too old for the PTX: the device has no kernels; rows are copied, and
 *     results say why.
 *  2. the memory of the device is reserved when it is first needed, and kept:
 *     DEVICE_HOST_BYTES of page-locked memory and DEVICE_BYTES of the GPU. */
#include "device/device.h"

#include <string.h>

#include "device/device_code.h"
#include "device/device_state.h"
#include "device/softmax_rows.h"
#include "system/shared_library.h"

/* ---- Opening ---- */

static cuda_function *device_find_one(const pcal_device *device, const char *name) {
  cuda_function *found = NULL;
  return device->driver.module_function(&found, device->module, name) == 0 ? found : NULL;
}

/* Finds the kernels NAME_f32 and NAME_f64; NULL for those that are not there. */
static void device_find(pcal_device *device, const char *name,
                        cuda_function *out[DEVICE_TYPES]) {
  static const char *const types[DEVICE_TYPES] = {"_f32", "_f64"};
  for (size_t t = 0; t < DEVICE_TYPES; t++) {
    char full[32];
    strcpy(full, name);
    strcat(full, types[t]);
    out[t] = device_find_one(device, full);
  }
}

/* Loads the machine code if it is for this GPU, else the PTX, which the driver compiles. */
static cuda_result device_load_module(pcal_device *device) {
  const pc_cuda_driver *driver = &device->driver;
  int major = 0, minor = 0;
  cuda_result result = driver->device_attribute(&major, CUDA_CAPABILITY_MAJOR, device->ordinal);
  if (result == 0)
    result = driver->device_attribute(&minor, CUDA_CAPABILITY_MINOR, device->ordinal);
  if (result == 0)
    result = driver->device_attribute(&device->multiprocessors, CUDA_MULTIPROCESSORS,
                                      device->ordinal);
  if (result != 0)
    return result;
  if (major == 9 && minor == 0 &&
      driver->module_load(&device->module, pc_device_code_sm_90) == 0)
    return 0;
  result = driver->module_load(&device->module, pc_device_code_ptx);
  if (result != 0)
    device->module = NULL;
  return result;
}

static pcal_status device_load(pcal_device *device, pcal_error *err) {
  const cuda_result result = device_load_module(device);
  if (result == CUDA_OUT_OF_MEMORY)
    return pc_cuda_check(&device->driver, result, "loading the kernels", err);
  if (result != 0)
    return PCAL_OK;
  device_find(device, "pc_softmax_wide", device->wide);
  device_find(device, "pc_softmax_narrow", device->narrow);
  device_find(device, "pc_row_sums_wide", device->sums_wide);
  device_find(device, "pc_row_sums_narrow", device->sums_narrow);
  device_find(device, "pc_class_bins", device->class_bins);
  device_find(device, "pc_class_moments", device->class_moments);
  device_find(device, "pc_class_cells", device->class_cells);
  device_find(device, "pc_class_counts", device->class_counts);
  device_find(device, "pc_class_segments", device->class_segments);
  device_find(device, "pc_temperature_wide", device->temperature_wide);
  device_find(device, "pc_temperature_narrow", device->temperature_narrow);
  device_find(device, "pc_sample_rows", device->sample);
  device_find(device, "pc_scaled_softmax_wide", device->scaled_wide);
  device_find(device, "pc_scaled_softmax_narrow", device->scaled_narrow);
  device_find(device, "pc_prob_rows", device->prob_rows);
  device->sums_columns = device_find_one(device, "pc_row_sums_columns_all");
  device->sums_fast_wide = device_find_one(device, "pc_row_sums_wide_fast");
  device->sums_fast_narrow = device_find_one(device, "pc_row_sums_narrow_fast");
  device->score_buckets = device_find_one(device, "pc_score_buckets_all");
  device->score_split = device_find_one(device, "pc_score_split_all");
  device->score_filter = device_find_one(device, "pc_score_filter_all");
  device->value_sums = device_find_one(device, "pc_value_sums_all");
  device->pair_strips = device_find_one(device, "pc_pair_sums_strips_all");
  device->pair_packs = device_find_one(device, "pc_pair_sums_packs_all");
  device->dirichlet_density = device_find_one(device, "pc_dirichlet_sums_density");
  device->dirichlet_labels = device_find_one(device, "pc_dirichlet_sums_labels");
  return PCAL_OK;
}

int pc_device_has_kernels(const pcal_device *device) {
  return device->module != NULL;
}

pcal_status pc_device_enter(pcal_device *device, pcal_error *err) {
  pc_mutex_lock(&device->lock);
  const pcal_status status = pc_cuda_check(
      &device->driver, device->driver.context_push(device->context), "using the GPU", err);
  if (status != PCAL_OK)
    pc_mutex_unlock(&device->lock);
  return status;
}

void pc_device_leave(pcal_device *device) {
  cuda_context *popped;
  device->driver.context_pop(&popped);
  pc_mutex_unlock(&device->lock);
}

/* The ordinal of the GPU that holds an address; 0 if none does. */
static int device_ordinal(const pcal_device *device, const void *address, cuda_ordinal *out) {
  return device->driver.pointer_attribute(out, CUDA_POINTER_ORDINAL,
                                          (cuda_address)(uintptr_t)address) == 0;
}

int pc_device_holds(const pcal_device *device, const void *address) {
  cuda_ordinal ordinal = -1;
  return device_ordinal(device, address, &ordinal) && ordinal == device->ordinal;
}

static pcal_status device_prepare(pcal_device *device, const void *address, pcal_error *err) {
  const pc_cuda_driver *driver = &device->driver;
  const pcal_status opened = pc_cuda_driver_open(&device->driver, err);
  if (opened != PCAL_OK && address == NULL && pc_shared_libraries_can_open())
    return pc_fail(err, PCAL_USAGE,
                   "there is no NVIDIA driver (libcuda.so.1) of CUDA 12 or later here; leave "
                   "{device} out, or run where there is a GPU");
  PC_TRY(opened);
  PC_TRY(pc_cuda_check(driver, driver->init(0), "starting the NVIDIA driver", err));
  if (address != NULL && !device_ordinal(device, address, &device->ordinal))
    return pc_fail(err, PCAL_USAGE,
                   "no GPU holds the address of the scores; pass the address of an array on a "
                   "GPU of this process");
  PC_TRY(pc_cuda_check(driver, driver->context_retain(&device->context, device->ordinal),
                       "using the GPU", err));
  PC_TRY(pc_device_enter(device, err));
  const pcal_status status = device_load(device, err);
  pc_device_leave(device);
  return status;
}

pcal_status pc_device_open(const void *address, const pcal_env *env, pcal_device **out,
                           pcal_error *err) {
  pcal_device *device = pc_alloc(env, 1, sizeof *device);
  *out = NULL;
  if (device == NULL)
    return pc_fail_memory(err, "opening the GPU");
  device->env = *env;
  if (!pc_mutex_init(&device->lock)) {
    pc_free(env, device);
    return pc_fail_memory(err, "opening the GPU");
  }
  const pcal_status status = device_prepare(device, address, err);
  if (status != PCAL_OK)
    pc_device_free(device);
  else
    *out = device;
  return status;
}

/* Frees what is on the GPU. */
static void device_release(pcal_device *device) {
  const pc_cuda_driver *driver = &device->driver;
  if (device->context == NULL)
    return;
  if (pc_device_enter(device, NULL) == PCAL_OK) {
    if (device->module != NULL)
      driver->module_unload(device->module);
    if (device->memory != 0)
      driver->memory_free(device->memory);
    if (device->host != NULL)
      driver->host_free(device->host);
    if (device->sums != 0)
      driver->memory_free(device->sums);
    if (device->scores != 0)
      driver->memory_free(device->scores);
    if (device->sums_host != NULL)
      driver->host_free(device->sums_host);
    pc_device_leave(device);
  }
  driver->context_release(device->ordinal);
}

void pc_device_free(pcal_device *device) {
  if (device == NULL)
    return;
  const pcal_env env = device->env;
  device_release(device);
  pc_cuda_driver_close(&device->driver);
  pc_mutex_destroy(&device->lock);
  pc_free(&env, device);
}

pcal_status pc_device_reserve(pcal_device *device, int on_gpu, pcal_error *err) {
  const pc_cuda_driver *driver = &device->driver;
  void *host = NULL;
  if (device->host == NULL) {
    PC_TRY(pc_cuda_check(driver, driver->host_alloc(&host, DEVICE_HOST_BYTES),
                         "reserving page-locked memory", err));
    device->host = host;
  }
  if (!on_gpu || device->memory != 0)
    return PCAL_OK;
  return pc_cuda_check(driver, driver->memory_alloc(&device->memory, DEVICE_BYTES),
                       "reserving memory", err);
}

/* ---- Copies ---- */

typedef struct device_reading {
  pcal_device *device;
  cuda_stream *stream;
  cuda_address from;
  size_t bytes, piece;
} device_reading;

static size_t device_piece(const device_reading *reading, size_t number) {
  const size_t left = reading->bytes - number * reading->piece;
  return left < reading->piece ? left : reading->piece;
}

/* Pieces take turns in the two halves of the page-locked memory. */
static char *device_half(const device_reading *reading, size_t number) {
  return reading->device->host + number % 2 * PC_DEVICE_PIECE;
}

static pcal_status device_begin_piece(const device_reading *reading, size_t number,
                                      pcal_error *err) {
  const pc_cuda_driver *driver = &reading->device->driver;
  return pc_cuda_check(driver,
                       driver->copy_to_host(device_half(reading, number),
                                            reading->from + number * reading->piece,
                                            device_piece(reading, number), reading->stream),
                       "reading from the GPU", err);
}

static pcal_status device_read(const device_reading *reading, pc_device_receive receive,
                               void *user, pcal_error *err) {
  const pc_cuda_driver *driver = &reading->device->driver;
  PC_TRY(device_begin_piece(reading, 0, err));
  for (size_t p = 0; p * reading->piece < reading->bytes; p++) {
    PC_TRY(pc_cuda_check(driver, driver->synchronize(reading->stream), "reading from the GPU",
                         err));
    if ((p + 1) * reading->piece < reading->bytes)
      PC_TRY(device_begin_piece(reading, p + 1, err));
    PC_TRY(receive(user, device_half(reading, p), p * reading->piece, device_piece(reading, p),
                   err));
  }
  return PCAL_OK;
}

pcal_status pc_device_read(pcal_device *device, void *stream, const void *from, size_t bytes,
                           size_t piece, pc_device_receive receive, void *user,
                           pcal_error *err) {
  const device_reading reading = {device, stream, (cuda_address)(uintptr_t)from, bytes, piece};
  if (bytes == 0)
    return PCAL_OK;
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve(device, 0, err);
  if (status == PCAL_OK)
    status = device_read(&reading, receive, user, err);
  if (status != PCAL_OK) /* a copy may still be on its way into the page-locked memory */
    device->driver.synchronize(stream);
  pc_device_leave(device);
  return status;
}

static pcal_status device_receive(void *user, const void *bytes, size_t begin, size_t count,
                                  pcal_error *err) {
  (void)err;
  memcpy((char *)user + begin, bytes, count);
  return PCAL_OK;
}

pcal_status pc_device_copy(pcal_device *device, void *stream, const void *from, size_t bytes,
                           void *to, pcal_error *err) {
  return pc_device_read(device, stream, from, bytes, PC_DEVICE_PIECE, device_receive, to, err);
}

/* ---- Softmax ---- */

static cuda_function *device_kernel(const pcal_device *device, pcal_type type, size_t classes) {
  const size_t t = type == PCAL_F32 ? DEVICE_F32 : DEVICE_F64;
  return classes <= DEVICE_NARROW_CLASSES ? device->narrow[t] : device->wide[t];
}

int pc_device_has_softmax(const pcal_device *device, pcal_type type, size_t classes) {
  return device_kernel(device, type, classes) != NULL;
}

/* Columns of `count` rows, one after the other from `base`: on the GPU and on the host alike. */
typedef struct device_columns {
  size_t rest, rest_square, gap, top, odd, bytes, labels;
} device_columns;

static device_columns device_columns_of(size_t count) {
  const size_t even = (count + 1) / 2 * 2; /* keeps the columns aligned */
  device_columns at = {.rest = 0};
  at.rest_square = even * sizeof(double);
  at.gap = 2 * even * sizeof(double);
  at.top = 3 * even * sizeof(double);
  at.odd = at.top + even * sizeof(int32_t);
  at.bytes = at.odd + 2 * sizeof(uint32_t);
  at.labels = at.bytes;
  return at;
}

_Static_assert(PC_DEVICE_ROWS *(3 * sizeof(double) + 2 * sizeof(int32_t)) + 64 <= DEVICE_BYTES,
               "the columns of a call fit the memory of the device");

void *pc_device_place(const pcal_device *device, size_t offset) {
  return (void *)(uintptr_t)(device->memory + offset);
}

static cuda_result device_run(const pcal_device *device, const pcal_batch *batch,
                              const device_columns *at) {
  const pc_cuda_driver *driver = &device->driver;
  const size_t count = batch->rows;
  pc_softmax_rows rows = {.scores = batch->scores,
                          .labels = pc_device_place(device, at->labels),
                          .rest = pc_device_place(device, at->rest),
                          .rest_square = pc_device_place(device, at->rest_square),
                          .gap = pc_device_place(device, at->gap),
                          .top = pc_device_place(device, at->top),
                          .odd = pc_device_place(device, at->odd),
                          .rows = count,
                          .classes = (uint32_t)batch->columns};
  void *parameters[] = {&rows};
  const size_t rows_of_block = batch->columns <= DEVICE_NARROW_CLASSES
                                   ? PC_SOFTMAX_ROWS_THREADS
                                   : PC_SOFTMAX_ROWS_THREADS / PC_SOFTMAX_ROWS_LANES;
  const unsigned blocks = (unsigned)((count + rows_of_block - 1) / rows_of_block);
  cuda_stream *stream = batch->stream;
  memcpy(device->host + at->labels, batch->labels, count * sizeof *batch->labels);
  memset(device->host + at->odd, 0, sizeof(uint32_t));
  cuda_result result =
      driver->copy_to_device(device->memory + at->odd, device->host + at->odd,
                             at->labels - at->odd + count * sizeof(int32_t), stream);
  if (result == 0)
    result = driver->launch(device_kernel(device, batch->type, batch->columns), blocks, 1, 1,
                            PC_SOFTMAX_ROWS_THREADS, 1, 1, 0, stream, parameters, NULL);
  if (result == 0)
    result = driver->copy_to_host(device->host, device->memory, at->bytes, stream);
  return result == 0 ? driver->synchronize(stream) : result;
}

pcal_status pc_device_softmax_rows(pcal_device *device, const pcal_batch *batch,
                                   pc_device_softmax *out, pcal_error *err) {
  const device_columns at = device_columns_of(batch->rows);
  PC_TRY(pc_device_enter(device, err));
  pcal_status status = pc_device_reserve(device, 1, err);
  if (status == PCAL_OK)
    status = pc_cuda_check(&device->driver, device_run(device, batch, &at),
                           "the softmax on the GPU", err);
  if (status != PCAL_OK) { /* a copy may still be on its way into the page-locked memory */
    device->driver.synchronize(batch->stream);
    pc_device_leave(device);
    return status;
  }
  uint32_t odd;
  memcpy(&odd, device->host + at.odd, sizeof odd);
  *out = (pc_device_softmax){.rest = (const double *)(const void *)(device->host + at.rest),
                             .rest_square =
                                 (const double *)(const void *)(device->host + at.rest_square),
                             .gap = (const double *)(const void *)(device->host + at.gap),
                             .top = (const int32_t *)(const void *)(device->host + at.top),
                             .finite = odd == 0};
  return PCAL_OK;
}

void pc_device_softmax_done(pcal_device *device) {
  pc_device_leave(device);
}
