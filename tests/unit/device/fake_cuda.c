/* A driver without a GPU, for tests: a library called libcuda.so.1 whose "GPU" is memory of the
 * process at addresses that cannot be followed, and whose kernels are those of
 * device/softmax_rows_body.h and its neighbours.
 *
 * There are two GPUs, each with memory that only its own context may use.  fake_cuda_use: the GPU of
 * callers without a context.
 *
 * Copies and kernels take effect late: see fake_queue.h.
 *
 * fake_cuda_fail(symbol, result): calls of that function return this result.  fake_cuda_fail_in(n): of the calls that
 * can fail the n-th does, once.  fake_cuda_capability:
 * the GPU's capability times ten.  fake_cuda_stream: where work is to be queued from now on; fake_cuda_strays: calls
 * that did so elsewhere.  fake_cuda_unfinished: times that a call of the library left its context without waiting
 * for its work, whose page-locked memory the next call fills. */
#include <stdlib.h>
#include <string.h>

#include "device/cuda_driver.h"

#define FAKE_BIT (UINT64_C(1) << 62)
#define FAKE_SECOND (UINT64_C(1) << 61) /* memory of the second GPU */
#define FAKE_CONTEXTS 8                 /* that are current one after the other */
#define FAKE_API __attribute__((visibility("default")))
#define FAKE_NOT_FOUND 500
#define FAKE_INVALID_VALUE 1

/* In the order of `names` in cuModuleGetFunction. */
enum {
  FAKE_WIDE_F32 = 1,
  FAKE_WIDE_F64,
  FAKE_NARROW_F32,
  FAKE_NARROW_F64,
  FAKE_SUMS_WIDE_F32,
  FAKE_SUMS_WIDE_F64,
  FAKE_SUMS_NARROW_F32,
  FAKE_SUMS_NARROW_F64,
  FAKE_TEMPERATURE_WIDE_F32,
  FAKE_TEMPERATURE_WIDE_F64,
  FAKE_TEMPERATURE_NARROW_F32,
  FAKE_TEMPERATURE_NARROW_F64,
  FAKE_SAMPLE_F32,
  FAKE_SAMPLE_F64,
  FAKE_VALUE_SUMS,
  FAKE_PAIR_STRIPS,
  FAKE_PAIR_PACKS,
  FAKE_SCALED_WIDE_F32,
  FAKE_SCALED_WIDE_F64,
  FAKE_SCALED_NARROW_F32,
  FAKE_SCALED_NARROW_F64,
  FAKE_CLASS_BINS_F32,
  FAKE_CLASS_BINS_F64,
  FAKE_CLASS_MOMENTS_F32,
  FAKE_CLASS_MOMENTS_F64,
  FAKE_DIRICHLET_DENSITY,
  FAKE_DIRICHLET_LABELS,
  FAKE_SUMS_WIDE_FAST,
  FAKE_SUMS_NARROW_FAST,
  FAKE_SCORE_BUCKETS,
  FAKE_SCORE_SPLIT,
  FAKE_SCORE_FILTER,
  FAKE_PROB_ROWS_F32,
  FAKE_PROB_ROWS_F64,
  FAKE_SUMS_COLUMNS,
  FAKE_CLASS_CELLS_F32,
  FAKE_CLASS_CELLS_F64,
  FAKE_CLASS_COUNTS_F32,
  FAKE_CLASS_COUNTS_F64,
  FAKE_CLASS_SEGMENTS_F32,
  FAKE_CLASS_SEGMENTS_F64
};

#define FAKE_MULTIPROCESSORS 2
#define FAKE_SHARED_BYTES 49152 /* that a kernel gets without asking for more */

static struct {
  char symbol[64];
  cuda_result result;
  int capability;
  size_t read; /* bytes copied to the host */
  long blocks; /* of memory that were not freed, and contexts and modules */
  int current[FAKE_CONTEXTS], depth; /* GPUs of the contexts */
  long left;                         /* calls up to the one that fails; 0: none does */
  const cuda_stream *stream;
  long strays;
  long unfinished; /* times that a context was left with work that nobody had waited for */
} fake = {.capability = 90};
static char fake_contexts[2];
static size_t fake_pending(void); /* fake_queue.h: work that is not done */

FAKE_API void fake_cuda_fail(const char *symbol, cuda_result result);
FAKE_API void fake_cuda_fail_in(long calls);
FAKE_API long fake_cuda_fail_left(void);
FAKE_API void fake_cuda_free_all(void); /* blocks that were not freed */
FAKE_API void fake_cuda_capability(int capability);
FAKE_API long fake_cuda_blocks(void);
FAKE_API size_t fake_cuda_read(void);
FAKE_API void fake_cuda_use(int ordinal);
FAKE_API void fake_cuda_stream(const cuda_stream *stream);
FAKE_API long fake_cuda_strays(void);
FAKE_API long fake_cuda_unfinished(void);

void fake_cuda_fail(const char *symbol, cuda_result result) {
  strncpy(fake.symbol, symbol, sizeof fake.symbol - 1);
  fake.result = result;
}

void fake_cuda_fail_in(long calls) {
  fake.left = calls;
}

long fake_cuda_fail_left(void) {
  return fake.left;
}

/* Counts a call; returns 1 if it is the one that fails. */
static int fake_fails(void) {
  return fake.left > 0 && --fake.left == 0;
}

void fake_cuda_capability(int capability) {
  fake.capability = capability;
}

long fake_cuda_blocks(void) {
  return fake.blocks;
}

size_t fake_cuda_read(void) {
  return fake.read;
}

void fake_cuda_stream(const cuda_stream *stream) {
  fake.stream = stream;
  fake.strays = 0;
}

long fake_cuda_strays(void) {
  return fake.strays;
}

long fake_cuda_unfinished(void) {
  return fake.unfinished;
}

#define FAKE_FAIL(function)                 \
  do {                                      \
    if (strcmp(fake.symbol, function) == 0) \
      return fake.result;                   \
    if (fake_fails())                       \
      return 700;                           \
  } while (0)

void fake_cuda_use(int ordinal) {
  fake.current[0] = ordinal;
}

static int fake_ordinal(cuda_address address) {
  return (address & FAKE_SECOND) != 0;
}

/* True if the current context may use the address. */
static int fake_is_own(cuda_address address) {
  return fake_ordinal(address) == fake.current[fake.depth];
}

static void *fake_host(cuda_address address) {
  return (void *)(uintptr_t)(address & ~(FAKE_BIT | FAKE_SECOND));
}

#define FAKE_DECLARE(field, symbol, parameters) FAKE_API cuda_result symbol parameters;
FAKE_DECLARE(init, cuInit, (unsigned flags))
FAKE_DECLARE(error, cuGetErrorString, (cuda_result result, const char **out))
FAKE_DECLARE(pointer, cuPointerGetAttribute, (void *out, int attribute, cuda_address address))
FAKE_DECLARE(device, cuDeviceGetAttribute, (int *out, int attribute, cuda_ordinal device))
FAKE_DECLARE(retain, cuDevicePrimaryCtxRetain, (cuda_context * *out, cuda_ordinal device))
FAKE_DECLARE(release, cuDevicePrimaryCtxRelease_v2, (cuda_ordinal device))
FAKE_DECLARE(push, cuCtxPushCurrent_v2, (cuda_context * context))
FAKE_DECLARE(pop, cuCtxPopCurrent_v2, (cuda_context * *out))
FAKE_DECLARE(load, cuModuleLoadData, (cuda_module * *out, const void *image))
FAKE_DECLARE(unload, cuModuleUnload, (cuda_module * module))
FAKE_DECLARE(function, cuModuleGetFunction,
             (cuda_function * *out, cuda_module *module, const char *name))
FAKE_DECLARE(alloc, cuMemAlloc_v2, (cuda_address * out, size_t bytes))
FAKE_DECLARE(free, cuMemFree_v2, (cuda_address address))
FAKE_DECLARE(host_alloc, cuMemAllocHost_v2, (void **out, size_t bytes))
FAKE_DECLARE(host_free, cuMemFreeHost, (void *block))
FAKE_DECLARE(to_host, cuMemcpyDtoHAsync_v2,
             (void *to, cuda_address from, size_t bytes, cuda_stream *stream))
FAKE_DECLARE(to_device, cuMemcpyHtoDAsync_v2,
             (cuda_address to, const void *from, size_t bytes, cuda_stream *stream))
FAKE_DECLARE(clear, cuMemsetD8Async,
             (cuda_address at, unsigned char value, size_t bytes, cuda_stream *stream))
FAKE_DECLARE(launch, cuLaunchKernel,
             (cuda_function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
              unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
              cuda_stream *stream, void **parameters, void **extra))
FAKE_DECLARE(synchronize, cuStreamSynchronize, (cuda_stream * stream))

cuda_result cuInit(unsigned flags) {
  FAKE_FAIL("cuInit");
  return flags == 0 ? 0 : FAKE_INVALID_VALUE;
}

cuda_result cuGetErrorString(cuda_result result, const char **out) {
  *out = result == 700 ? "an illegal memory access was encountered" : "some error";
  return 0;
}

cuda_result cuPointerGetAttribute(void *out, int attribute, cuda_address address) {
  FAKE_FAIL("cuPointerGetAttribute");
  if (attribute != CUDA_POINTER_ORDINAL || (address & FAKE_BIT) == 0)
    return FAKE_INVALID_VALUE;
  *(int *)out = fake_ordinal(address);
  return 0;
}

cuda_result cuDeviceGetAttribute(int *out, int attribute, cuda_ordinal device) {
  FAKE_FAIL("cuDeviceGetAttribute");
  *out = attribute == CUDA_CAPABILITY_MAJOR  ? fake.capability / 10
         : attribute == CUDA_MULTIPROCESSORS ? FAKE_MULTIPROCESSORS
                                             : fake.capability % 10;
  return device == 0 || device == 1 ? 0 : FAKE_INVALID_VALUE;
}

cuda_result cuDevicePrimaryCtxRetain(cuda_context **out, cuda_ordinal device) {
  FAKE_FAIL("cuDevicePrimaryCtxRetain");
  fake.blocks++;
  *out = (cuda_context *)(void *)&fake_contexts[device];
  return 0;
}

cuda_result cuDevicePrimaryCtxRelease_v2(cuda_ordinal device) {
  fake.blocks--;
  return device == 0 || device == 1 ? 0 : FAKE_INVALID_VALUE;
}

cuda_result cuCtxPushCurrent_v2(cuda_context *context) {
  FAKE_FAIL("cuCtxPushCurrent_v2");
  if (fake.depth + 1 == FAKE_CONTEXTS)
    return FAKE_INVALID_VALUE;
  fake.current[++fake.depth] = context == (cuda_context *)(void *)&fake_contexts[1];
  return 0;
}

cuda_result cuCtxPopCurrent_v2(cuda_context **out) {
  *out = (cuda_context *)(void *)&fake_contexts[fake.current[fake.depth]];
  fake.unfinished += fake_pending() > 0;
  fake.depth--;
  return 0;
}

cuda_result cuModuleLoadData(cuda_module **out, const void *image) {
  FAKE_FAIL("cuModuleLoadData");
  const int machine_code = memcmp(image, "\177ELF", 4) == 0;
  if (machine_code ? fake.capability != 90 : strstr(image, ".version 8.0") == NULL)
    return FAKE_INVALID_VALUE;
  fake.blocks++;
  *out = (cuda_module *)(void *)&fake;
  return 0;
}

cuda_result cuModuleUnload(cuda_module *module) {
  fake.blocks--;
  return module == NULL ? FAKE_INVALID_VALUE : 0;
}

cuda_result cuModuleGetFunction(cuda_function **out, cuda_module *module, const char *name) {
  static const char *const names[] = {"pc_softmax_wide_f32",
                                      "pc_softmax_wide_f64",
                                      "pc_softmax_narrow_f32",
                                      "pc_softmax_narrow_f64",
                                      "pc_row_sums_wide_f32",
                                      "pc_row_sums_wide_f64",
                                      "pc_row_sums_narrow_f32",
                                      "pc_row_sums_narrow_f64",
                                      "pc_temperature_wide_f32",
                                      "pc_temperature_wide_f64",
                                      "pc_temperature_narrow_f32",
                                      "pc_temperature_narrow_f64",
                                      "pc_sample_rows_f32",
                                      "pc_sample_rows_f64",
                                      "pc_value_sums_all",
                                      "pc_pair_sums_strips_all",
                                      "pc_pair_sums_packs_all",
                                      "pc_scaled_softmax_wide_f32",
                                      "pc_scaled_softmax_wide_f64",
                                      "pc_scaled_softmax_narrow_f32",
                                      "pc_scaled_softmax_narrow_f64",
                                      "pc_class_bins_f32",
                                      "pc_class_bins_f64",
                                      "pc_class_moments_f32",
                                      "pc_class_moments_f64",
                                      "pc_dirichlet_sums_density",
                                      "pc_dirichlet_sums_labels",
                                      "pc_row_sums_wide_fast",
                                      "pc_row_sums_narrow_fast",
                                      "pc_score_buckets_all",
                                      "pc_score_split_all",
                                      "pc_score_filter_all",
                                      "pc_prob_rows_f32",
                                      "pc_prob_rows_f64",
                                      "pc_row_sums_columns_all",
                                      "pc_class_cells_f32",
                                      "pc_class_cells_f64",
                                      "pc_class_counts_f32",
                                      "pc_class_counts_f64",
                                      "pc_class_segments_f32",
                                      "pc_class_segments_f64"};
  FAKE_FAIL("cuModuleGetFunction");
  for (uintptr_t i = 0; module != NULL && i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0) {
      *out = (cuda_function *)(i + 1);
      return 0;
    }
  return FAKE_NOT_FOUND;
}

/* Blocks that are not freed yet; `locked`: the bytes of one in page-locked memory, else 0. */
static struct {
  char *at;
  size_t locked;
} fake_live[4096];

static void fake_replace(const void *from, void *to, size_t locked) {
  for (size_t i = 0; i < sizeof fake_live / sizeof *fake_live; i++)
    if (fake_live[i].at == from) {
      fake_live[i].at = to;
      fake_live[i].locked = locked;
      return;
    }
}

static int fake_is_locked(const void *address) {
  const char *at = address;
  for (size_t i = 0; i < sizeof fake_live / sizeof *fake_live; i++)
    if (fake_live[i].locked > 0 && at >= fake_live[i].at &&
        at < fake_live[i].at + fake_live[i].locked)
      return 1;
  return 0;
}

#include "fake_queue.h"

cuda_result cuMemAlloc_v2(cuda_address *out, size_t bytes) {
  FAKE_FAIL("cuMemAlloc_v2");
  void *block = malloc(bytes);
  fake.blocks++;
  fake_replace(NULL, block, 0);
  *out = (uint64_t)(uintptr_t)block | FAKE_BIT;
  *out |= fake.current[fake.depth] == 1 ? FAKE_SECOND : 0;
  return 0;
}

cuda_result cuMemFree_v2(cuda_address address) {
  fake.blocks--;
  fake_finish(NULL, 1, 0);
  fake_replace(fake_host(address), NULL, 0);
  free(fake_host(address));
  return 0;
}

cuda_result cuMemAllocHost_v2(void **out, size_t bytes) {
  FAKE_FAIL("cuMemAllocHost_v2");
  fake.blocks++;
  *out = malloc(bytes);
  fake_replace(NULL, *out, bytes);
  return 0;
}

void fake_cuda_free_all(void) {
  fake_finish(NULL, 1, 1);
  for (size_t i = 0; i < sizeof fake_live / sizeof *fake_live; i++) {
    free(fake_live[i].at);
    fake_live[i].at = NULL;
    fake_live[i].locked = 0;
  }
  fake.blocks = 0;
}

cuda_result cuMemFreeHost(void *block) {
  fake.blocks--;
  fake_finish(NULL, 1, 0);
  fake_replace(block, NULL, 0);
  free(block);
  return 0;
}

cuda_result cuMemcpyDtoHAsync_v2(void *to, cuda_address from, size_t bytes,
                                 cuda_stream *stream) {
  fake.strays += stream != fake.stream;
  FAKE_FAIL("cuMemcpyDtoHAsync_v2");
  if (!fake_is_own(from))
    return FAKE_INVALID_VALUE;
  fake.read += bytes;
  return fake_begin(
      &(fake_work){.stream = stream, .to = to, .from = fake_host(from), .bytes = bytes},
      !fake_is_locked(to));
}

cuda_result cuMemcpyHtoDAsync_v2(cuda_address to, const void *from, size_t bytes,
                                 cuda_stream *stream) {
  fake.strays += stream != fake.stream;
  FAKE_FAIL("cuMemcpyHtoDAsync_v2");
  if (!fake_is_own(to))
    return FAKE_INVALID_VALUE;
  return fake_begin(
      &(fake_work){.stream = stream, .to = fake_host(to), .from = from, .bytes = bytes},
      !fake_is_locked(from));
}

cuda_result cuMemsetD8Async(cuda_address at, unsigned char value, size_t bytes,
                            cuda_stream *stream) {
  fake.strays += stream != fake.stream;
  FAKE_FAIL("cuMemsetD8Async");
  if (!fake_is_own(at))
    return FAKE_INVALID_VALUE;
  return fake_begin(
      &(fake_work){.stream = stream, .to = fake_host(at), .bytes = bytes, .value = value}, 0);
}

cuda_result cuLaunchKernel(cuda_function *function, unsigned grid_x, unsigned grid_y,
                           unsigned grid_z, unsigned block_x, unsigned block_y,
                           unsigned block_z, unsigned shared_bytes, cuda_stream *stream,
                           void **parameters, void **extra) {
  fake_work work = {.stream = stream,
                    .kernel = (uintptr_t)function,
                    .grid = grid_x,
                    .block = block_x,
                    .shared = shared_bytes};
  fake.strays += stream != fake.stream;
  FAKE_FAIL("cuLaunchKernel");
  if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || extra != NULL)
    return FAKE_INVALID_VALUE;
  memcpy(&work.parameters, parameters[0], fake_parameter_bytes(work.kernel));
  return fake_begin(&work, 0);
}

cuda_result cuStreamSynchronize(cuda_stream *stream) {
  fake.strays += stream != fake.stream;
  const int broken = strcmp(fake.symbol, "cuStreamSynchronize") == 0;
  if (!broken && !fake_fails())
    return fake_finish(stream, 0, 0);
  fake_finish(stream, 0, 1); /* what has failed does nothing more */
  return broken ? fake.result : 700;
}
