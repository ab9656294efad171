/* Rows on a GPU: the bytes of the results of the same rows in memory, for kernels and for copies, and
 * one sentence for every failure of the driver.
 *
 * The driver is one of our own, without a GPU (fake_cuda.c).  With PROPERCAL_GPU in the environment it
 * is NVIDIA's, and tests of failures are skipped (tools/check-gpu). */
#include "unit.h"

#include <dlfcn.h>

#include "base/rng.h"
#include "propercal.h"

#define ROWS 700

static struct {
  void *library;
  int (*alloc)(uint64_t *out, size_t bytes);
  int (*release)(uint64_t address);
  int (*copy)(uint64_t to, const void *from, size_t bytes, void *stream);
  void (*break_down)(const char *symbol, int result);
  void (*capability)(int capability);
  long (*blocks)(void);
  int is_real; /* NVIDIA's driver */
} fake;

static void find(const char *symbol, void *function) {
  void *found = dlsym(fake.library, symbol);
  assert_non_null(found);
  memcpy(function, &found, sizeof found);
}

static long no_blocks(void) {
  return 0;
}

/* A context for upload(). */
static void set_up_gpu(void) {
  int (*init)(unsigned), (*retain)(void **, int), (*use)(void *);
  void *context;
  find("cuInit", (void *)&init);
  find("cuDevicePrimaryCtxRetain", (void *)&retain);
  find("cuCtxSetCurrent", (void *)&use);
  assert_int_equal(init(0), 0);
  assert_int_equal(retain(&context, 0), 0);
  assert_int_equal(use(context), 0);
}

/* The library is found by its name once it is loaded. */
static int set_up(void **state) {
  (void)state;
  fake.is_real = getenv("PROPERCAL_GPU") != NULL;
  fake.library = dlopen(fake.is_real ? "libcuda.so.1" : FAKE_CUDA, RTLD_NOW);
  assert_non_null(fake.library);
  fake.blocks = no_blocks;
  find("cuMemAlloc_v2", (void *)&fake.alloc);
  find("cuMemFree_v2", (void *)&fake.release);
  find("cuMemcpyHtoDAsync_v2", (void *)&fake.copy);
  if (fake.is_real) {
    set_up_gpu();
    return 0;
  }
  find("fake_cuda_fail", (void *)&fake.break_down);
  find("fake_cuda_capability", (void *)&fake.capability);
  find("fake_cuda_blocks", (void *)&fake.blocks);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return dlclose(fake.library);
}
TEST_GROUP(set_up, tear_down)

/* A copy of an array on the GPU. */
static void *upload(const void *data, size_t bytes) {
  uint64_t address;
  assert_int_equal(fake.alloc(&address, bytes), 0);
  assert_int_equal(fake.copy(address, data, bytes, NULL), 0);
  return (void *)(uintptr_t)address;
}

static void drop(void *address) {
  fake.release((uint64_t)(uintptr_t)address);
}

typedef struct data_set {
  float *logits;
  int32_t *labels;
  double *weights;
  uint32_t *groups;
  size_t classes;
} data_set;

static data_set simulate(size_t classes) {
  const pc_rng rng = {5, classes};
  data_set data = {malloc(ROWS * classes * sizeof(float)), malloc(ROWS * sizeof(int32_t)),
                   malloc(ROWS * sizeof(double)), malloc(ROWS * sizeof(uint32_t)), classes};
  for (size_t i = 0; i < ROWS * classes; i++)
    data.logits[i] = (float)(3 * pc_rng_normal(&rng, i));
  for (size_t r = 0; r < ROWS; r++) {
    size_t top = 0;
    for (size_t j = 1; j < classes; j++)
      top = data.logits[r * classes + j] > data.logits[r * classes + top] ? j : top;
    data.labels[r] = (int32_t)(r % 4 == 0 ? r % classes : top);
    data.weights[r] = (double)(r % 3);
    data.groups[r] = (uint32_t)(r % 2);
  }
  return data;
}

static void forget(data_set *data) {
  free(data->logits);
  free(data->labels);
  free(data->weights);
  free(data->groups);
}

/* Measures a batch; the results as JSON, or the message of the error. */
static char *measured(const pcal_batch *batch, const char *const *specs, size_t count,
                      pcal_status *status) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  sink_bytes text = {0};
  config.kind = batch->kind;
  config.columns = batch->columns;
  config.specs = specs;
  config.spec_count = count;
  *status = pcal_measure_new(&config, NULL, &measure, &err);
  if (*status == PCAL_OK)
    *status = pcal_measure_update(measure, batch, &err);
  if (*status == PCAL_OK)
    *status = pcal_measure_finish(measure, &results, &err);
  if (*status == PCAL_OK)
    *status = pcal_results_write(results, PCAL_JSON, sink_collect, &text, &err);
  if (*status != PCAL_OK)
    sink_collect(&text, err.message, strlen(err.message));
  pcal_results_free(results);
  pcal_measure_free(measure);
  return text.bytes;
}

static pcal_batch batch_of(const data_set *data) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.rows = ROWS;
  batch.columns = data->classes;
  batch.scores = data->logits;
  batch.labels = data->labels;
  return batch;
}

/* The same JSON, or the same error, from the GPU as from memory. */
static void check_same(pcal_batch batch, const char *const *specs, size_t count,
                       pcal_status expected) {
  pcal_status here, there;
  pcal_error err;
  const size_t size = batch.type == PCAL_F32 ? sizeof(float) : sizeof(double);
  char *in_memory = measured(&batch, specs, count, &here);
  void *scores = upload(batch.scores, batch.rows * batch.columns * size);
  assert_int_equal(pcal_device_open(scores, NULL, &batch.device, &err), PCAL_OK);
  batch.scores = scores;
  char *on_gpu = measured(&batch, specs, count, &there);
  assert_string_equal(in_memory, on_gpu);
  assert_int_equal(here, expected);
  assert_int_equal(there, expected);
  pcal_device_free(batch.device);
  drop(scores);
  free(in_memory);
  free(on_gpu);
  assert_int_equal(fake.blocks(), 0);
}

static const char *const lean[] = {"accuracy", "brier", "rbs", "log", "ece", "ks", "smece"};

TEST(test_same_bytes_by_the_softmax) {
  static const size_t classes[] = {3, 10, 32, 33, 100};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    data_set data = simulate(classes[c]);
    pcal_batch batch = batch_of(&data);
    check_same(batch, lean, UNIT_COUNT(lean), PCAL_OK);
    batch.weights = data.weights;
    batch.groups = data.groups;
    check_same(batch, lean, UNIT_COUNT(lean), PCAL_OK);
    forget(&data);
  }
}

TEST(test_same_bytes_by_copies) {
  static const char *const all[] = {"default", "skce"};
  static const size_t classes[] = {2, 10, 100};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    data_set data = simulate(classes[c]);
    check_same(batch_of(&data), all, UNIT_COUNT(all), PCAL_OK);
    forget(&data);
  }
}

TEST(test_same_bytes_without_kernels) {
  if (fake.is_real)
    skip();
  data_set data = simulate(10);
  static const int capabilities[] = {75, 120};
  for (size_t c = 0; c < UNIT_COUNT(capabilities); c++) { /* the PTX in place of machine code */
    fake.capability(capabilities[c]);
    check_same(batch_of(&data), lean, UNIT_COUNT(lean), PCAL_OK);
  }
  fake.break_down("cuModuleLoadData", 222);
  check_same(batch_of(&data), lean, UNIT_COUNT(lean), PCAL_OK);
  fake.break_down("cuModuleGetFunction", 500);
  check_same(batch_of(&data), lean, UNIT_COUNT(lean), PCAL_OK);
  fake.break_down("", 0);
  fake.capability(90);
  forget(&data);
}

TEST(test_same_errors) {
  data_set data = simulate(10);
  data.logits[123] = NAN;
  check_same(batch_of(&data), lean, UNIT_COUNT(lean), PCAL_DATA);
  data.logits[123] = INFINITY;
  check_same(batch_of(&data), lean, UNIT_COUNT(lean), PCAL_DATA);
  data.logits[123] = 0;
  data.labels[77] = 10;
  check_same(batch_of(&data), lean, UNIT_COUNT(lean), PCAL_DATA);
  data.labels[77] = -1;
  check_same(batch_of(&data), lean, UNIT_COUNT(lean), PCAL_DATA);
  forget(&data);
}

/* Scores, labels and weights on the GPU, as a source: the same results. */
TEST(test_sources) {
  data_set data = simulate(10);
  void *there[] = {upload(data.logits, ROWS * 10 * sizeof(float)),
                   upload(data.labels, ROWS * sizeof(int32_t)),
                   upload(data.weights, ROWS * sizeof(double))};
  const void *here[] = {data.logits, data.labels, data.weights};
  static const pcal_type types[] = {PCAL_F32, PCAL_I32, PCAL_F64};
  pcal_device *device = NULL;
  char *text[2];
  assert_int_equal(pcal_device_open(there[0], NULL, &device, NULL), PCAL_OK);
  assert_int_equal(pcal_device_holds(device, there[1]), 1);
  assert_int_equal(pcal_device_holds(device, here[1]), 0);
  for (int gpu = 0; gpu < 2; gpu++) {
    pcal_input parts[3] = {PCAL_INPUT_INIT, PCAL_INPUT_INIT, PCAL_INPUT_INIT};
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    pcal_source *source = NULL;
    pcal_results *results = NULL;
    sink_bytes json = {0};
    for (size_t p = 0; p < 3; p++) {
      parts[p].data = gpu ? there[p] : here[p];
      parts[p].type = types[p];
      parts[p].rows = ROWS;
      parts[p].columns = p == 0 ? 10 : 0;
      parts[p].device = gpu ? device : NULL;
    }
    inputs.logits = &parts[0];
    inputs.labels = &parts[1];
    inputs.weights = &parts[2];
    assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
    assert_int_equal(pcal_measure_run(source, NULL, NULL, &results, NULL), PCAL_OK);
    assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &json, NULL),
                     PCAL_OK);
    text[gpu] = json.bytes;
    pcal_results_free(results);
    pcal_source_free(source);
  }
  assert_string_equal(text[0], text[1]);
  for (size_t p = 0; p < 3; p++)
    drop(there[p]);
  pcal_device_free(device);
  free(text[0]);
  free(text[1]);
  forget(&data);
  assert_int_equal(fake.blocks(), 0);
}

/* A driver function that fails while rows are measured, its result, and the error. */
TEST(test_failures_are_one_sentence) {
  if (fake.is_real)
    skip();
  static const struct {
    const char *symbol;
    int result;
    pcal_status status;
    const char *message;
  } failures[] = {
      {"cuMemAllocHost_v2", 2, PCAL_MEMORY,
       "the GPU is out of memory while reserving page-locked memory; free some of it"},
      {"cuMemAlloc_v2", 2, PCAL_MEMORY,
       "the GPU is out of memory while reserving memory; free some of it"},
      {"cuMemcpyHtoDAsync_v2", 700, PCAL_IO,
       "the softmax on the GPU failed: an illegal memory access was encountered (CUDA error "
       "700); "
       "check the program that uses the GPU"},
      {"cuLaunchKernel", 700, PCAL_IO, NULL},
      {"cuStreamSynchronize", 700, PCAL_IO, NULL},
      {"cuMemcpyDtoHAsync_v2", 700, PCAL_IO, NULL},
      {"cuCtxPushCurrent_v2", 700, PCAL_IO, NULL},
  };
  data_set data = simulate(10);
  pcal_batch batch = batch_of(&data);
  void *scores = upload(data.logits, ROWS * 10 * sizeof(float));
  batch.scores = scores;
  for (size_t f = 0; f < UNIT_COUNT(failures); f++) {
    pcal_status status;
    assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
    fake.break_down(failures[f].symbol, failures[f].result);
    char *message = measured(&batch, lean, UNIT_COUNT(lean), &status);
    assert_int_equal(status, failures[f].status);
    if (failures[f].message != NULL)
      assert_string_equal(message, failures[f].message);
    fake.break_down("", 0);
    free(message);
    pcal_device_free(batch.device);
  }
  drop(scores);
  forget(&data);
  assert_int_equal(fake.blocks(), 0);
}

TEST(test_opening_fails_in_one_sentence) {
  if (fake.is_real)
    skip();
  pcal_device *device = NULL;
  pcal_error err;
  float here = 0;
  void *there = upload(&here, sizeof here);
  assert_int_equal(pcal_device_open(&here, NULL, &device, &err), PCAL_USAGE);
  assert_string_equal(err.message,
                      "no GPU holds the address of the scores; pass the address of an "
                      "array on a GPU of this process");
  assert_null(device);
  fake.break_down("cuInit", 100);
  assert_int_equal(pcal_device_open(there, NULL, &device, &err), PCAL_IO);
  fake.break_down("cuDevicePrimaryCtxRetain", 2);
  assert_int_equal(pcal_device_open(there, NULL, &device, &err), PCAL_MEMORY);
  fake.break_down("", 0);
  drop(there);
  assert_int_equal(pcal_device_open(NULL, NULL, &device, &err), PCAL_USAGE);
  pcal_device_free(NULL);
  assert_int_equal(pcal_device_holds(NULL, there), 0);
}

TEST(test_scores_must_be_contiguous) {
  data_set data = simulate(10);
  pcal_batch batch = batch_of(&data);
  pcal_status status;
  void *scores = upload(data.logits, ROWS * 10 * sizeof(float));
  assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
  batch.scores = scores;
  batch.rows = ROWS / 2;
  batch.row_stride = 20 * sizeof(float);
  batch.column_stride = sizeof(float);
  char *message = measured(&batch, lean, UNIT_COUNT(lean), &status);
  assert_int_equal(status, PCAL_USAGE);
  assert_string_equal(message,
                      "scores: scores on a GPU must be contiguous, row after row; copy them "
                      "there");
  free(message);
  pcal_device_free(batch.device);
  drop(scores);
  forget(&data);
}
