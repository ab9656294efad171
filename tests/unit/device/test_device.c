/* Rows on a GPU: the bytes of the results of the same rows in memory, for kernels and for copies, and
 * one sentence for every failure of the driver.
 *
 * The driver is one of our own, without a GPU (fake_cuda.c).  With PROPERCAL_GPU in the environment it
 * is NVIDIA's, and tests of failures are skipped (tools/check-gpu). */
#include "unit.h"

#include "gpu_compare.h"

TEST_GROUP(set_up, tear_down)

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

/* Only sums come back. */
TEST(test_same_bytes_by_sums) {
  static const size_t classes[] = {2, 3, 10, 32, 33, 100};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    const size_t before = fake.read();
    data_set data = simulate(classes[c]);
    pcal_batch batch = batch_of(&data);
    check_same(batch, additive, UNIT_COUNT(additive), PCAL_OK);
    batch.rows = 1;
    check_same(batch, additive, 3, PCAL_OK);
    assert_in_range(fake.read() - before, 0, 16000);
    forget(&data);
  }
}

/* Bins of every class and the top scores; the logits stay on the GPU. */
static const char *const usual[] = {"default", "cwce:p=2,bins=100", "sce:bins=7", "tce-kde"};

TEST(test_same_bytes_by_bins_of_classes) {
  static const size_t classes[] = {2, 3, 10, 32, 33, 100, 130};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    const size_t before = fake.read();
    data_set data = simulate(classes[c]);
    pcal_batch batch = batch_of(&data);
    check_same(batch, usual, UNIT_COUNT(usual), PCAL_OK);
    batch.rows = 1;
    check_same(batch, NULL, 0, PCAL_OK);
    assert_in_range(fake.read() - before, 0,
                    40000 + 8 * ROWS + classes[c] * (2 * 16 + 101 + 8) * 24 +
                        classes[c] * 32 * 24);
    forget(&data);
  }
}

/* Squares, scores of hits, thresholds and scores of all classes together; the logits stay there. */
static const char *const moments[] = {"cwce:debias=yes", "scaled-brier",  "gce:variant=10",
                                      "gce:variant=12",  "gce:variant=6", "decomposition"};

TEST(test_same_bytes_by_moments_of_classes) {
  static const size_t classes[] = {2, 3, 10, 33, 130};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    const size_t before = fake.read();
    data_set data = simulate(classes[c]);
    check_same(batch_of(&data), moments, UNIT_COUNT(moments), PCAL_OK);
    assert_in_range(fake.read() - before, 0, 20000 + 8 * ROWS + classes[c] * 4 * 17 * 56);
    forget(&data);
  }
}

/* Where each metric was computed, as the results say. */
static void check_devices(const pcal_batch *batch, const char *const *specs,
                          const char *const *expected, size_t count, const char *note) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  sink_bytes text = {0};
  config.kind = batch->kind;
  config.columns = batch->columns;
  config.specs = specs;
  config.spec_count = count;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  assert_int_equal(pcal_results_write(results, PCAL_TEXT, sink_collect, &text, NULL), PCAL_OK);
  for (size_t i = 0; i < count; i++) {
    pcal_result result = PCAL_RESULT_INIT;
    assert_int_equal(pcal_results_get(results, i, &result), PCAL_OK);
    if (expected == NULL)
      assert_null(result.device);
    else
      assert_string_equal(result.device, expected[i]);
  }
  assert_int_equal(strstr(text.bytes, note) != NULL, expected != NULL);
  free(text.bytes);
  pcal_results_free(results);
  pcal_measure_free(measure);
}

/* Metrics without kernels get copies of the rows; the others are computed on the GPU beside them.  Sums
 * and bins of the top score with weights come from its softmax. */
TEST(test_results_name_copies) {
  static const char *const specs[] = {"accuracy", "ace", "cwce:debias=yes", "skce", "ks"};
  static const char *const devices[] = {"cuda", "copied", "cuda", "copied", "cuda"};
  static const char *const weighted[] = {"cuda", "cuda", "cuda", "cuda",
                                         "cuda", "cuda", "cuda"};
  static const char note[] =
      "computed on the GPU: accuracy, cwce:debias=yes, ks; copied to memory "
      "and\ncomputed there: ace, skce\n";
  static const char all[] = "computed on the GPU: accuracy, brier, rbs, log, ece, ks, smece\n";
  data_set data = simulate(10);
  pcal_batch batch = batch_of(&data);
  check_same(batch, specs, UNIT_COUNT(specs), PCAL_OK);
  check_devices(&batch, specs, NULL, UNIT_COUNT(specs), "GPU");
  void *scores = upload(data.logits, ROWS * 10 * sizeof(float));
  assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
  batch.scores = scores;
  check_devices(&batch, specs, devices, UNIT_COUNT(specs), note);
  batch.weights = data.weights;
  check_devices(&batch, lean, weighted, UNIT_COUNT(lean), all);
  pcal_device_free(batch.device);
  drop(scores);
  forget(&data);
}

/* Scores exactly on edges of bins, all classes equal, and doubles. */
TEST(test_same_bytes_on_edges) {
  static const size_t classes[] = {3, 5, 15, 45};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    data_set data = simulate(classes[c]);
    for (size_t i = 0; i < ROWS * classes[c]; i++)
      data.logits[i] = i / classes[c] % 3 == 0 ? 1.0f : floorf(data.logits[i]);
    pcal_batch batch = batch_of(&data);
    check_same(batch, usual, UNIT_COUNT(usual), PCAL_OK);
    double *doubles = malloc(ROWS * classes[c] * sizeof *doubles);
    for (size_t i = 0; i < ROWS * classes[c]; i++)
      doubles[i] = 1.1 * (double)data.logits[i];
    batch.scores = doubles;
    batch.type = PCAL_F64;
    check_same(batch, usual, UNIT_COUNT(usual), PCAL_OK);
    free(doubles);
    forget(&data);
  }
}

/* More class-wise grids than fit. */
TEST(test_same_bytes_of_many_grids) {
  static const char *const many[] = {"sce:bins=5", "sce:bins=6",  "sce:bins=7",
                                     "sce:bins=8", "cwce:bins=9", "cwce:bins=300"};
  data_set data = simulate(10);
  check_same(batch_of(&data), many, UNIT_COUNT(many), PCAL_OK);
  check_same(batch_of(&data), many, 4, PCAL_OK);
  check_same(batch_of(&data), many + 5, 1, PCAL_OK);
  forget(&data);
}

/* Measures with the fast precision, or the exact one, and checks that the results name it. */
static size_t measured_values(const pcal_batch *batch, int fast, double *out) {
  static const char *const specs[] = {"accuracy", "brier", "log", "ece", "ks", "spherical"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  sink_bytes text = {0};
  config.kind = batch->kind;
  config.columns = batch->columns;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  config.fast = fast;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &text, NULL), PCAL_OK);
  assert_non_null(strstr(text.bytes, fast ? "\"fast\"" : "\"exact\""));
  for (size_t i = 0; i < UNIT_COUNT(specs); i++) {
    pcal_result result = {.size = sizeof result};
    assert_int_equal(pcal_results_get(results, i, &result), PCAL_OK);
    out[i] = result.value;
  }
  free(text.bytes);
  pcal_results_free(results);
  pcal_measure_free(measure);
  return UNIT_COUNT(specs);
}

/* The fast precision on the GPU: named in the results, and close to the exact one. */
TEST(test_fast_precision) {
  static const size_t classes[] = {3, 10, 32, 33, 100};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    data_set data = simulate(classes[c]);
    pcal_batch batch = batch_of(&data);
    void *scores = upload(data.logits, ROWS * classes[c] * sizeof(float));
    double exact[8], fast[8];
    int differ = 0;
    batch.scores = scores;
    assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
    const size_t count = measured_values(&batch, 0, exact);
    measured_values(&batch, 1, fast);
    for (size_t i = 0; i < count; i++) {
      assert_true(fabs(fast[i] - exact[i]) <= 1e-6 * fabs(exact[i]));
      differ |= fast[i] != exact[i];
    }
    assert_true(differ);
    pcal_device_free(batch.device);
    drop(scores);
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

/* One column, with so many rows that its source is read twice. */
TEST(test_long_columns) {
  enum { LONG = 70000 };
  const pc_rng rng = {3, 1};
  float *scores = malloc(LONG * sizeof *scores);
  int32_t *hits = malloc(LONG * sizeof *hits);
  char *text[2];
  for (size_t i = 0; i < LONG; i++) {
    scores[i] = (float)pc_rng_uniform(&rng, i);
    hits[i] = i % 3 != 0;
  }
  void *there = upload(scores, LONG * sizeof *scores);
  pcal_device *device = NULL;
  assert_int_equal(pcal_device_open(there, NULL, &device, NULL), PCAL_OK);
  for (int gpu = 0; gpu < 2; gpu++) {
    pcal_input confidence = PCAL_INPUT_INIT, correct = PCAL_INPUT_INIT;
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    pcal_source *source = NULL;
    pcal_results *results = NULL;
    sink_bytes json = {0};
    confidence.data = gpu ? there : scores;
    confidence.device = gpu ? device : NULL;
    confidence.rows = correct.rows = LONG;
    correct.data = hits;
    correct.type = PCAL_I32;
    inputs.confidence = &confidence;
    inputs.correct = &correct;
    assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
    assert_int_equal(pcal_measure_run(source, NULL, NULL, &results, NULL), PCAL_OK);
    assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &json, NULL),
                     PCAL_OK);
    text[gpu] = json.bytes;
    pcal_results_free(results);
    pcal_source_free(source);
  }
  assert_string_equal(text[0], without_device(text[1]));
  free(text[0]);
  free(text[1]);
  free(scores);
  free(hits);
  drop(there);
  pcal_device_free(device);
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
  check_same(batch_of(&data), usual, UNIT_COUNT(usual), PCAL_DATA);
  data.logits[123] = -INFINITY; /* a class that is ruled out is valid */
  check_same(batch_of(&data), usual, UNIT_COUNT(usual), PCAL_OK);
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
  batch.weights = data.weights; /* so that rows are converted, not added up there */
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

/* The same while rows are added up on the GPU. */
TEST(test_failures_of_sums_are_one_sentence) {
  if (fake.is_real)
    skip();
  static const char *const symbols[] = {"cuMemAllocHost_v2",    "cuMemAlloc_v2",
                                        "cuMemsetD8Async",      "cuMemcpyHtoDAsync_v2",
                                        "cuLaunchKernel",       "cuStreamSynchronize",
                                        "cuMemcpyDtoHAsync_v2", "cuCtxPushCurrent_v2"};
  data_set data = simulate(10);
  pcal_batch batch = batch_of(&data);
  void *scores = upload(data.logits, ROWS * 10 * sizeof(float));
  batch.scores = scores;
  for (size_t f = 0; f < UNIT_COUNT(symbols); f++) {
    pcal_status status;
    assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
    fake.break_down(symbols[f], f < 2 ? 2 : 700);
    char *message = f % 2 == 0 ? measured(&batch, additive, UNIT_COUNT(additive), &status)
                               : measured(&batch, usual, UNIT_COUNT(usual), &status);
    assert_int_equal(status, f < 2 ? PCAL_MEMORY : PCAL_IO);
    if (f >= 2 && f < 7)
      assert_string_equal(message,
                          "adding up rows on the GPU failed: an illegal memory access was "
                          "encountered (CUDA error 700); check the program that uses the GPU");
    fake.break_down("", 0);
    free(message);
    pcal_device_free(batch.device);
  }
  drop(scores);
  forget(&data);
  assert_int_equal(fake.blocks(), 0);
}

/* Two batches; the second one fails if `broken` is a function of the driver. */
static char *measured_twice(const pcal_batch *batch, const char *broken) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  sink_bytes text = {0};
  pcal_batch rows = *batch;
  config.kind = batch->kind;
  config.columns = batch->columns;
  config.specs = usual;
  config.spec_count = UNIT_COUNT(usual);
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &rows, NULL), PCAL_OK);
  rows.first_row = rows.rows;
  if (broken != NULL) {
    fake.break_down(broken, 700);
    assert_int_equal(pcal_measure_update(measure, &rows, NULL), PCAL_IO);
    fake.break_down("", 0);
  }
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &text, NULL), PCAL_OK);
  pcal_results_free(results);
  pcal_measure_free(measure);
  return text.bytes;
}

/* A stream that fails leaves the measure as it was before the call. */
TEST(test_failures_lose_nothing) {
  static const char *const symbols[] = {"cuStreamSynchronize", "cuLaunchKernel",
                                        "cuMemcpyDtoHAsync_v2"};
  if (fake.is_real)
    skip();
  data_set data = simulate(10);
  pcal_batch batch = batch_of(&data);
  void *scores = upload(data.logits, ROWS * 10 * sizeof(float));
  batch.scores = scores;
  assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
  char *expected = measured_twice(&batch, NULL);
  for (size_t s = 0; s < UNIT_COUNT(symbols); s++) {
    char *got = measured_twice(&batch, symbols[s]);
    assert_string_equal(expected, got);
    free(got);
  }
  free(expected);
  pcal_device_free(batch.device);
  drop(scores);
  forget(&data);
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
  fake.break_down("cuModuleLoadData", 2);
  assert_int_equal(pcal_device_open(there, NULL, &device, &err), PCAL_MEMORY);
  assert_string_equal(err.message,
                      "the GPU is out of memory while loading the kernels; free some of it");
  assert_null(device);
  fake.break_down("", 0);
  drop(there);
  assert_int_equal(pcal_device_open(there, NULL, NULL, &err), PCAL_USAGE);
  fake.break_down("cuInit", 100);
  assert_int_equal(pcal_device_open(NULL, NULL, &device, &err), PCAL_IO);
  fake.break_down("", 0);
  assert_int_equal(pcal_device_open(NULL, NULL, &device, &err), PCAL_OK); /* the first GPU */
  pcal_device_free(device);
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
