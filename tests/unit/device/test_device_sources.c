/* Sources of rows on a GPU, or computed there: the bytes of the results of the same rows in memory.  The
 * driver is that of test_device.c. */
#include "unit.h"

#include "device/class_bins.h"
#include "gpu_data_set.h"

TEST_GROUP(set_up, tear_down)

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
  assert_string_equal(text[0], without_device(text[1]));
  for (size_t p = 0; p < 3; p++)
    drop(there[p]);
  pcal_device_free(device);
  free(text[0]);
  free(text[1]);
  forget(&data);
  assert_int_equal(fake.blocks(), 0);
}

/* The results of a source of logits and labels, as JSON, or the message of the error. */
static char *measured_source(pcal_input *logits, pcal_input *labels) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  sink_bytes text = {0};
  pcal_error err;
  inputs.logits = logits;
  inputs.labels = labels;
  config.specs = additive;
  config.spec_count = UNIT_COUNT(additive);
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  if (pcal_measure_run(source, &config, NULL, &results, &err) == PCAL_OK)
    assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &text, NULL),
                     PCAL_OK);
  else
    sink_collect(&text, err.message, strlen(err.message));
  pcal_results_free(results);
  pcal_source_free(source);
  return text.bytes;
}

/* The same from arrays on the GPU, of which at most `most_read` bytes are copied. */
static void check_source(const data_set *data, pcal_type type, const void *labels, size_t size,
                         size_t most_read) {
  pcal_input here[2] = {PCAL_INPUT_INIT, PCAL_INPUT_INIT};
  here[0].data = data->logits;
  here[0].type = PCAL_F32;
  here[0].rows = here[1].rows = ROWS;
  here[0].columns = data->classes;
  here[1].data = labels;
  here[1].type = type;
  char *expected = measured_source(&here[0], &here[1]);
  void *there[] = {upload(data->logits, ROWS * data->classes * sizeof(float)),
                   upload(labels, ROWS * size)};
  pcal_device *device = NULL;
  assert_int_equal(pcal_device_open(there[0], NULL, &device, NULL), PCAL_OK);
  for (size_t p = 0; p < 2; p++) {
    here[p].data = there[p];
    here[p].device = device;
  }
  const size_t before = fake.read();
  char *got = measured_source(&here[0], &here[1]);
  assert_in_range(fake.read() - before, 0, most_read);
  assert_string_equal(expected, without_device(got));
  free(expected);
  free(got);
  drop(there[0]);
  drop(there[1]);
  pcal_device_free(device);
}

/* Bytes of the sums of a row value and of top scores, and of those of each class in 15 bins, which the verdict
 * reads: less than the rows. */
static size_t sums_bytes(size_t classes) {
  return 9000 + classes * 15 * PC_CLASS_BINS_WORDS * sizeof(uint64_t);
}

/* Labels stay on the GPU, unless their type is unusual or a row is invalid. */
TEST(test_sources_by_sums) {
  static const size_t classes[] = {10, 100};
  static int64_t wide[ROWS];
  static uint8_t bytes[ROWS];
  static double doubles[ROWS];
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    data_set data = simulate(classes[c]);
    for (size_t r = 0; r < ROWS; r++) {
      wide[r] = data.labels[r];
      bytes[r] = (uint8_t)data.labels[r];
      doubles[r] = data.labels[r];
    }
    check_source(&data, PCAL_I32, data.labels, sizeof *data.labels, sums_bytes(classes[c]));
    check_source(&data, PCAL_I64, wide, sizeof *wide, sums_bytes(classes[c]));
    check_source(&data, PCAL_U8, bytes, sizeof *bytes, sums_bytes(classes[c]));
    check_source(&data, PCAL_F64, doubles, sizeof *doubles,
                 sums_bytes(classes[c]) + sizeof doubles);
    static const int64_t bad[] = {-1, 1000, (int64_t)1 << 40, PCAL_MISSING_LABEL};
    for (size_t b = 0; b < UNIT_COUNT(bad); b++) {
      wide[b * 100 + 50] = bad[b];
      check_source(&data, PCAL_I64, wide, sizeof *wide, SIZE_MAX);
    }
    data.logits[77] = NAN;
    check_source(&data, PCAL_I32, data.labels, sizeof *data.labels, SIZE_MAX);
    forget(&data);
  }
  assert_int_equal(fake.blocks(), 0);
}

/* Rows in memory, computed on a GPU that the inputs name: the same results, of logits, of
 * probabilities and of pairs, with labels in memory. */
TEST(test_sources_that_are_uploaded) {
  static const char *const specs[] = {"default", "skce", "ace"};
  static const size_t classes[] = {2, 10, 100};
  for (size_t c = 0; c < UNIT_COUNT(classes) * 2; c++) {
    data_set data = simulate(classes[c / 2]);
    pcal_device *device = NULL;
    char *text[2];
    assert_int_equal(pcal_device_open(NULL, NULL, &device, NULL), PCAL_OK);
    for (int gpu = 0; gpu < 2; gpu++) {
      pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
      pcal_input logits = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT;
      pcal_inputs inputs = PCAL_INPUTS_INIT;
      pcal_source *source = NULL;
      pcal_results *results = NULL;
      sink_bytes json = {0};
      logits.data = data.logits;
      logits.type = PCAL_F32;
      logits.rows = labels.rows = ROWS;
      logits.columns = data.classes;
      labels.data = data.labels;
      labels.type = PCAL_I32;
      inputs.logits = &logits;
      inputs.labels = &labels;
      inputs.device = gpu ? device : NULL;
      config.specs = specs;
      config.spec_count = c % 2 == 0 ? 1 : UNIT_COUNT(specs);
      assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
      assert_int_equal(pcal_measure_run(source, &config, NULL, &results, NULL), PCAL_OK);
      assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &json, NULL),
                       PCAL_OK);
      text[gpu] = json.bytes;
      pcal_results_free(results);
      pcal_source_free(source);
    }
    assert_string_equal(text[0], without_device(text[1]));
    free(text[0]);
    free(text[1]);
    pcal_device_free(device);
    forget(&data);
    assert_int_equal(fake.blocks(), 0);
  }
}

/* Probabilities in memory are copied to the GPU that the inputs name, too. */
TEST(test_probabilities_that_are_uploaded) {
  static const char *const specs[] = {"brier", "ece", "cwce"};
  data_set data = simulate(3);
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_input probs = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_device *device = NULL;
  double value[2][UNIT_COUNT(specs)];
  for (size_t i = 0; i < ROWS * 3; i++)
    data.logits[i] = i % 3 == 0 ? 0.5f : 0.25f;
  assert_int_equal(pcal_device_open(NULL, NULL, &device, NULL), PCAL_OK);
  probs.data = data.logits;
  probs.type = PCAL_F32;
  probs.rows = labels.rows = ROWS;
  probs.columns = 3;
  labels.data = data.labels;
  labels.type = PCAL_I32;
  inputs.probs = &probs;
  inputs.labels = &labels;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  for (int gpu = 0; gpu < 2; gpu++) {
    pcal_source *source = NULL;
    pcal_results *results = NULL;
    inputs.device = gpu ? device : NULL;
    assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
    assert_int_equal(pcal_measure_run(source, &config, NULL, &results, NULL), PCAL_OK);
    for (size_t m = 0; m < UNIT_COUNT(specs); m++) {
      pcal_result result = PCAL_RESULT_INIT;
      assert_int_equal(pcal_results_get(results, m, &result), PCAL_OK);
      value[gpu][m] = result.value;
      if (gpu)
        assert_string_equal(result.device, "cuda");
      else
        assert_null(result.device);
    }
    pcal_results_free(results);
    pcal_source_free(source);
  }
  assert_memory_equal(value[0], value[1], sizeof value[0]);
  pcal_device_free(device);
  forget(&data);
  assert_int_equal(fake.blocks(), 0);
}

/* ---- sorted scores of every class ---- */

#define MANY_ROWS 220000 /* whose scores are counted, not kept */

static float many[MANY_ROWS * 10];
static int32_t many_labels[MANY_ROWS];

static void simulate_many(void) {
  const pc_rng rng = {41, 7};
  for (size_t i = 0; i < MANY_ROWS * 10; i++)
    many[i] = (float)(3 * pc_rng_normal(&rng, i));
  for (size_t r = 0; r < MANY_ROWS; r++)
    many_labels[r] = (int32_t)(pc_rng_uniform(&rng, MANY_ROWS * 10 + r) * 10);
}

/* The JSON of metrics of the rows; *device: of the first one. */
static char *measured_many(pcal_kind kind, int gpu, const char **device) {
  static const char *const specs[] = {"ace", "ace:bins=100", "tace", "ece"};
  static float probs[MANY_ROWS * 10];
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_input scores = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  pcal_result result = PCAL_RESULT_INIT;
  sink_bytes json = {0};
  for (size_t r = 0; kind == PCAL_PROBABILITY && r < MANY_ROWS; r++) {
    double sum = 0;
    for (size_t j = 0; j < 10; j++)
      sum += exp((double)many[10 * r + j]);
    for (size_t j = 0; j < 10; j++)
      probs[10 * r + j] = (float)(exp((double)many[10 * r + j]) / sum);
  }
  const float *data = kind == PCAL_LOGIT ? many : probs;
  void *there = upload(data, sizeof many);
  assert_int_equal(pcal_device_open(there, NULL, &scores.device, NULL), PCAL_OK);
  pcal_device *opened = scores.device;
  scores.data = gpu ? there : data;
  scores.device = gpu ? opened : NULL;
  scores.type = PCAL_F32;
  scores.rows = labels.rows = MANY_ROWS;
  scores.columns = 10;
  labels.data = many_labels;
  labels.type = PCAL_I32;
  *(kind == PCAL_LOGIT ? &inputs.logits : &inputs.probs) = &scores;
  inputs.labels = &labels;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_run(source, &config, NULL, &results, NULL), PCAL_OK);
  assert_int_equal(pcal_results_get(results, 0, &result), PCAL_OK);
  *device = result.device;
  assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &json, NULL), PCAL_OK);
  pcal_results_free(results);
  pcal_source_free(source);
  pcal_device_free(opened);
  drop(there);
  return json.bytes;
}

/* They are counted and added up there: only buckets, sums and scores at edges come back. */
TEST(test_sorted_scores_of_classes) {
  static const pcal_kind kinds[] = {PCAL_LOGIT, PCAL_PROBABILITY};
  simulate_many();
  for (size_t k = 0; k < UNIT_COUNT(kinds); k++) {
    const char *device = NULL;
    char *here = measured_many(kinds[k], 0, &device);
    assert_null(device);
    const size_t before = fake.read();
    char *there = measured_many(kinds[k], 1, &device);
    assert_string_equal(device, "cuda");
    assert_string_equal(here, without_device(there));
    assert_in_range(fake.read() - before, 0, sizeof many);
    free(here);
    free(there);
    assert_int_equal(fake.blocks(), 0);
  }
}

/* Without memory for the buckets, and without kernels, the scores are copied once. */
TEST(test_sorted_scores_are_copied_once) {
  const char *device = NULL;
  if (fake.is_real)
    return;
  simulate_many();
  char *here = measured_many(PCAL_LOGIT, 0, &device);
  fake.capability(50);
  const size_t before = fake.read();
  fake.break_down("cuModuleLoadData", 200);
  char *there = measured_many(PCAL_LOGIT, 1, &device);
  fake.break_down("", 0);
  fake.capability(90);
  assert_string_equal(device, "copied");
  assert_string_equal(here, without_device(there));
  assert_in_range(fake.read() - before, sizeof many, sizeof many + sizeof many / 4);
  free(here);
  free(there);
}
