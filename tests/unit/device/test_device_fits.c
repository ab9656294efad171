/* Fits of the temperature to logits on a GPU: the bytes of the calibrator fitted to the same rows in
 * memory, with little copied, and one sentence for every failure of the driver. */
#include "unit.h"

#include "base/rng.h"
#include "gpu_fixture.h"

#define ROWS_MAX 3000
#define CLASSES_MAX 100

TEST_GROUP(set_up, tear_down)

static struct {
  size_t rows, classes;
  float floats[ROWS_MAX * CLASSES_MAX];
  double doubles[ROWS_MAX * CLASSES_MAX], weights[ROWS_MAX];
  int64_t labels[ROWS_MAX];
} data;

static void simulate(size_t rows, size_t classes) {
  const pc_rng rng = {9, classes};
  data.rows = rows;
  data.classes = classes;
  for (size_t i = 0; i < rows * classes; i++) {
    data.floats[i] = (float)(3 * pc_rng_normal(&rng, i));
    data.doubles[i] = (double)data.floats[i];
  }
  for (size_t r = 0; r < rows; r++) {
    size_t top = 0;
    for (size_t j = 1; j < classes; j++)
      top = data.floats[r * classes + j] > data.floats[r * classes + top] ? j : top;
    data.labels[r] = (int64_t)(r % 4 == 0 ? r % classes : top);
    data.weights[r] = (double)(1 + r % 3);
  }
}

/* The arrays of a fit; weights NULL: none. */
typedef struct fit_arrays {
  const void *logits, *labels, *weights;
  pcal_type type;
  pcal_device *device, *label_device;
  const char *method;
  int skip_missing;
  void *stream;
} fit_arrays;

/* The calibrator file and what the fit says about itself, or the message of the error. */
static char *fitted(const fit_arrays *arrays, pcal_status *status) {
  pcal_input parts[3] = {PCAL_INPUT_INIT, PCAL_INPUT_INIT, PCAL_INPUT_INIT};
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  sink_bytes text = {0};
  for (size_t p = 0; p < 3; p++)
    parts[p].rows = data.rows;
  parts[0].data = arrays->logits;
  parts[0].type = arrays->type;
  parts[0].columns = data.classes;
  parts[0].device = arrays->device;
  parts[0].device_stream = parts[1].device_stream = arrays->stream;
  parts[1].data = arrays->labels;
  parts[1].type = PCAL_I64;
  parts[1].device = arrays->label_device;
  parts[2].data = arrays->weights;
  parts[2].type = PCAL_F64;
  inputs.logits = &parts[0];
  inputs.labels = &parts[1];
  inputs.weights = arrays->weights == NULL ? NULL : &parts[2];
  config.method = arrays->method;
  config.skip_missing = arrays->skip_missing;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  *status = pcal_fit_run(source, &config, NULL, &calibrator, &err);
  if (*status == PCAL_OK) {
    assert_int_equal(pcal_calibrator_save(calibrator, sink_collect, &text, NULL), PCAL_OK);
    assert_int_equal(pcal_calibrator_describe(calibrator, PCAL_JSON, sink_collect, &text, NULL),
                     PCAL_OK);
  } else {
    sink_collect(&text, err.message, strlen(err.message));
  }
  pcal_calibrator_free(calibrator);
  pcal_source_free(source);
  return text.bytes;
}

/* The same text from arrays on the GPU, of which at most `most_read` bytes are copied. */
static void check_fit(fit_arrays arrays, int labels_there, pcal_status expected,
                      size_t most_read) {
  pcal_status status;
  const int is_double = arrays.type == PCAL_F64;
  arrays.logits = is_double ? (const void *)data.doubles : data.floats;
  arrays.labels = data.labels;
  char *here = fitted(&arrays, &status);
  assert_int_equal(status, expected);
  void *logits = upload(arrays.logits, data.rows * data.classes *
                                           (is_double ? sizeof(double) : sizeof(float)));
  void *labels = upload(arrays.labels, data.rows * sizeof *data.labels);
  assert_int_equal(pcal_device_open(logits, NULL, &arrays.device, NULL), PCAL_OK);
  arrays.logits = logits;
  if (labels_there) {
    arrays.labels = labels;
    arrays.label_device = arrays.device;
  }
  const size_t before = fake.read();
  arrays.stream = stream_begin();
  char *there = fitted(&arrays, &status);
  stream_end();
  assert_string_equal(here, there);
  assert_int_equal(status, expected);
  assert_in_range(fake.read() - before, 0, most_read);
  pcal_device_free(arrays.device);
  drop(logits);
  drop(labels);
  free(here);
  free(there);
  assert_int_equal(fake.blocks(), 0);
}

static fit_arrays floats(const char *method) {
  return (fit_arrays){.type = PCAL_F32, .method = method};
}

/* Labels are read once for warnings, with 64 rows of logits, the sample once, and sums for each value
 * of beta. */
static size_t little(void) {
  return data.rows * sizeof *data.labels + 64 * data.classes * sizeof(double) + 50000 +
         40 * 5000;
}

TEST(test_same_bytes_of_fits) {
  static const size_t rows[] = {700, 3000, 1}, classes[] = {2, 3, 10, 33, 100};
  for (size_t r = 0; r < UNIT_COUNT(rows); r++)
    for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
      simulate(rows[r], classes[c]);
      for (int there = 0; there < 2; there++)
        check_fit(floats("temperature"), there, PCAL_OK, little());
      fit_arrays doubles = {.type = PCAL_F64, .method = "temperature"};
      check_fit(doubles, 1, PCAL_OK, little());
    }
}

/* Temperature, edge cases 3 to 5: no miss, equal scores, scores without information. */
TEST(test_same_bytes_at_the_bounds) {
  simulate(700, 10);
  for (size_t r = 0; r < data.rows; r++)
    for (size_t j = 0; j < 10; j++)
      if (data.floats[r * 10 + j] > data.floats[r * 10 + (size_t)data.labels[r]])
        data.labels[r] = (int64_t)j;
  check_fit(floats("temperature"), 1, PCAL_OK, little());
  simulate(700, 10);
  for (size_t i = 0; i < data.rows * 10; i++)
    data.floats[i] = (float)(i / 10);
  check_fit(floats("temperature"), 1, PCAL_OK, SIZE_MAX);
  simulate(700, 10);
  for (size_t r = 0; r < data.rows; r++)
    data.labels[r] = (int64_t)(r % 10);
  check_fit(floats("temperature"), 1, PCAL_OK, little());
}

/* Many equal rows, which the host samples in another way; other objectives; weights. */
TEST(test_same_bytes_on_the_host) {
  simulate(3000, 10);
  for (size_t r = 7; r < data.rows; r++) {
    memcpy(data.floats + r * 10, data.floats + r % 7 * 10, 10 * sizeof(float));
    data.labels[r] = data.labels[r % 7];
  }
  check_fit(floats("temperature"), 1, PCAL_OK, SIZE_MAX);
  simulate(700, 10);
  check_fit(floats("temperature:objective=brier"), 1, PCAL_OK, SIZE_MAX);
  check_fit(floats("vector-scaling"), 1, PCAL_OK, SIZE_MAX);
  fit_arrays weighted = floats("temperature");
  weighted.weights = data.weights;
  check_fit(weighted, 1, PCAL_OK, SIZE_MAX);
}

TEST(test_same_errors_of_fits) {
  static const float odd[] = {NAN, INFINITY};
  static const int64_t bad[] = {-1, 10, (int64_t)1 << 40};
  for (size_t i = 0; i < UNIT_COUNT(odd); i++) {
    simulate(3000, 10);
    data.floats[12345] = odd[i];
    check_fit(floats("temperature"), 1, PCAL_DATA, SIZE_MAX);
  }
  for (size_t i = 0; i < UNIT_COUNT(bad); i++) {
    simulate(3000, 10);
    data.labels[777] = bad[i];
    check_fit(floats("temperature"), 1, PCAL_DATA, SIZE_MAX);
  }
  simulate(3000, 10);
  for (size_t r = 0; r < data.rows; r += 5)
    data.floats[r * 10] = NAN;
  fit_arrays skipping = floats("temperature");
  skipping.skip_missing = 1;
  check_fit(skipping, 1, PCAL_OK, SIZE_MAX);
}

TEST(test_same_bytes_without_kernels) {
  if (fake.is_real)
    skip();
  simulate(700, 10);
  fake.break_down("cuModuleGetFunction", 500);
  check_fit(floats("temperature"), 1, PCAL_OK, SIZE_MAX);
  fake.break_down("", 0);
}

/* Labels are on the host, so that they are copied too. */
TEST(test_failures_of_fits_are_one_sentence) {
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
       "copying to the GPU failed: an illegal memory access was encountered (CUDA error 700); "
       "check the program that uses the GPU"},
      {"cuMemsetD8Async", 700, PCAL_IO,
       "drawing rows on the GPU failed: an illegal memory access was encountered (CUDA error "
       "700); check the program that uses the GPU"},
      {"cuLaunchKernel", 700, PCAL_IO, NULL},
      {"cuStreamSynchronize", 700, PCAL_IO, NULL},
      {"cuMemcpyDtoHAsync_v2", 700, PCAL_IO, NULL},
      {"cuCtxPushCurrent_v2", 700, PCAL_IO, NULL},
  };
  simulate(700, 10);
  void *logits = upload(data.floats, 700 * 10 * sizeof(float));
  for (size_t f = 0; f < UNIT_COUNT(failures); f++) {
    fit_arrays arrays = floats("temperature");
    pcal_status status;
    arrays.logits = logits;
    arrays.labels = data.labels;
    assert_int_equal(pcal_device_open(logits, NULL, &arrays.device, NULL), PCAL_OK);
    fake.break_down(failures[f].symbol, failures[f].result);
    char *message = fitted(&arrays, &status);
    assert_int_equal(status, failures[f].status);
    if (failures[f].message != NULL)
      assert_string_equal(message, failures[f].message);
    fake.break_down("", 0);
    free(message);
    pcal_device_free(arrays.device);
  }
  drop(logits);
  assert_int_equal(fake.blocks(), 0);
}

/* ---- Applying ---- */

static pcal_calibrator *temperature_of(const char *method) {
  pcal_input parts[2] = {PCAL_INPUT_INIT, PCAL_INPUT_INIT};
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_calibrator *calibrator = NULL;
  parts[0].data = data.floats;
  parts[0].type = PCAL_F32;
  parts[0].rows = parts[1].rows = data.rows;
  parts[0].columns = data.classes;
  parts[1].data = data.labels;
  parts[1].type = PCAL_I64;
  inputs.logits = &parts[0];
  inputs.labels = &parts[1];
  config.method = method;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_fit_run(source, &config, NULL, &calibrator, NULL), PCAL_OK);
  pcal_source_free(source);
  return calibrator;
}

static pcal_batch batch_of(pcal_type type) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.type = type;
  batch.rows = data.rows;
  batch.columns = data.classes;
  batch.scores = type == PCAL_F32 ? (const void *)data.floats : data.doubles;
  return batch;
}

/* The same bytes, or the same error, with scores and results on the GPU; at most most_read bytes are
 * copied from it before the results are read. */
static void check_apply(const pcal_calibrator *calibrator, pcal_type type, pcal_status expected,
                        size_t most_read) {
  pcal_batch batch = batch_of(type);
  pcal_error here_error = PCAL_ERROR_INIT, there_error = PCAL_ERROR_INIT;
  const size_t bytes =
      batch.rows * batch.columns * (type == PCAL_F32 ? sizeof(float) : sizeof(double));
  char *here = calloc(bytes, 1), *back = calloc(bytes, 1);
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, here, &here_error),
                   expected);
  void *scores = upload(batch.scores, bytes), *out = upload(back, bytes);
  assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
  batch.scores = scores;
  const size_t before = fake.read();
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, out, &there_error),
                   expected);
  assert_in_range(fake.read() - before, 0, most_read);
  assert_string_equal(here_error.message, there_error.message);
  assert_int_equal(fake.get(back, (uint64_t)(uintptr_t)out, bytes, NULL), 0);
  assert_int_equal(fake.wait(NULL), 0);
  if (expected == PCAL_OK)
    assert_memory_equal(here, back, bytes);
  pcal_device_free(batch.device);
  drop(scores);
  drop(out);
  free(here);
  free(back);
}

/* Some rows have ties of the largest logits, or logits so close that their probabilities tie. */
static void add_ties(void) {
  for (size_t r = 0; r + 3 < data.rows; r += 7) {
    float *z = data.floats + r * data.classes;
    z[data.classes - 1] = z[0] = 9.0f;
    z[data.classes * 2] = 9.0f;
    z[data.classes * 3 - 1] = 9.000001f;
    z[data.classes * 3] = 9.000001f;
    z[data.classes * 3 + 1] = 9.0f;
  }
  for (size_t i = 0; i < data.rows * data.classes; i++)
    data.doubles[i] = (double)data.floats[i];
}

TEST(test_same_bytes_of_applying) {
  static const size_t classes[] = {2, 3, 10, 32, 33, 100};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    simulate(700, classes[c]);
    pcal_calibrator *calibrator = temperature_of("temperature");
    add_ties();
    check_apply(calibrator, PCAL_F32, PCAL_OK, 64);
    check_apply(calibrator, PCAL_F64, PCAL_OK, 64);
    data.floats[3 * classes[c]] = INFINITY;
    check_apply(calibrator, PCAL_F32, PCAL_DATA, SIZE_MAX);
    pcal_calibrator_free(calibrator);
  }
  simulate(700, 10);
  pcal_calibrator *other = temperature_of("vector-scaling");
  check_apply(other, PCAL_F32, PCAL_OK, SIZE_MAX);
  pcal_calibrator_free(other);
  assert_int_equal(fake.blocks(), 0);
}

TEST(test_failures_of_applying_are_one_sentence) {
  if (fake.is_real)
    skip();
  static const char *const symbols[] = {"cuMemAllocHost_v2",    "cuMemAlloc_v2",
                                        "cuMemsetD8Async",      "cuLaunchKernel",
                                        "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize"};
  simulate(700, 10);
  pcal_calibrator *calibrator = temperature_of("temperature");
  pcal_batch batch = batch_of(PCAL_F32);
  void *scores = upload(data.floats, 700 * 10 * sizeof(float));
  void *out = upload(data.floats, 700 * 10 * sizeof(float));
  batch.scores = scores;
  for (size_t f = 0; f < UNIT_COUNT(symbols); f++) {
    pcal_error err = PCAL_ERROR_INIT;
    assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
    fake.break_down(symbols[f], f < 2 ? 2 : 700);
    assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, out, &err),
                     f < 2 ? PCAL_MEMORY : PCAL_IO);
    if (f >= 2)
      assert_string_equal(err.message,
                          "the softmax on the GPU failed: an illegal memory access was "
                          "encountered (CUDA error 700); check the program that uses the GPU");
    fake.break_down("", 0);
    pcal_device_free(batch.device);
  }
  drop(scores);
  drop(out);
  pcal_calibrator_free(calibrator);
  assert_int_equal(fake.blocks(), 0);
}
