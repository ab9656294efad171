/* Two GPUs: that of the scores computes, and arrays on another GPU than the one they are said to be on are
 * refused before the driver sees their addresses.  The driver is that of test_device.c. */
#include "unit.h"

#include "gpu_compare.h"
#include "io/source.h"

TEST_GROUP(set_up, tear_down)

static const char *const usual[] = {"default", "cwce:p=2,bins=100", "tce-kde", "auc"};

/* The same logits on both GPUs, and the GPUs. */
typedef struct two_devices {
  data_set data;
  void *scores[2];
  pcal_device *device[2];
} two_devices;

static void *upload_to(int gpu, const void *data, size_t bytes) {
  fake.use(gpu);
  void *there = upload(data, bytes);
  fake.use(0);
  return there;
}

static void two_open(two_devices *two) {
  two->data = simulate(10);
  for (int gpu = 0; gpu < 2; gpu++) {
    two->scores[gpu] = upload_to(gpu, two->data.logits, ROWS * 10 * sizeof(float));
    assert_int_equal(pcal_device_open(two->scores[gpu], NULL, &two->device[gpu], NULL),
                     PCAL_OK);
  }
}

static void two_close(two_devices *two) {
  for (int gpu = 0; gpu < 2; gpu++) {
    pcal_device_free(two->device[gpu]);
    drop(two->scores[gpu]);
  }
  forget(&two->data);
  assert_int_equal(fake.blocks(), 0);
}

static const char wrong_batch[] = "scores: the GPU that the batch names does not hold the "
                                  "scores; open the one that holds their "
                                  "address";

TEST(test_the_gpu_of_the_scores_is_used) {
  if (fake.is_real)
    skip();
  two_devices two;
  two_open(&two);
  pcal_batch batch = batch_of(&two.data);
  pcal_status status;
  char *expected = measured(&batch, usual, UNIT_COUNT(usual), &status);
  for (int gpu = 0; gpu < 2; gpu++) {
    assert_int_equal(pcal_device_holds(two.device[gpu], two.scores[gpu]), 1);
    assert_int_equal(pcal_device_holds(two.device[gpu], two.scores[!gpu]), 0);
    batch.scores = two.scores[gpu];
    batch.device = two.device[gpu];
    char *got = measured(&batch, usual, UNIT_COUNT(usual), &status);
    assert_string_equal(expected, without_device(got));
    free(got);
  }
  free(expected);
  two_close(&two);
}

/* A source of a batch. */
static pcal_status two_borrow(const pcal_batch *batch, pcal_source **out, pcal_error *err) {
  static unit_memory memory;
  static pcal_env env;
  env = unit_env(&memory);
  return pc_source_borrow(batch, NULL, &env, out, err);
}

/* Also scores in the memory of the process. */
TEST(test_scores_on_another_gpu_are_refused) {
  if (fake.is_real)
    skip();
  two_devices two;
  two_open(&two);
  const void *const wrong[] = {two.scores[0], two.scores[1], two.data.logits, two.data.logits};
  for (int w = 0; w < 4; w++) {
    pcal_batch batch = batch_of(&two.data);
    pcal_error err = PCAL_ERROR_INIT;
    pcal_source *source = NULL;
    pcal_status status;
    batch.scores = wrong[w];
    batch.device = two.device[w % 2 == 0];
    const char *const *const lists[] = {additive, usual};
    for (int l = 0; l < 2; l++) {
      char *message = measured(&batch, lists[l], 4, &status);
      assert_int_equal(status, PCAL_USAGE);
      assert_string_equal(message, wrong_batch);
      free(message);
    }
    assert_int_equal(two_borrow(&batch, &source, &err), PCAL_USAGE);
    assert_string_equal(err.message, wrong_batch);
    assert_null(source);
  }
  two_close(&two);
}

TEST(test_calibrators_refuse_them) {
  if (fake.is_real)
    skip();
  two_devices two;
  two_open(&two);
  pcal_batch batch = batch_of(&two.data);
  pcal_fit_config fit = PCAL_FIT_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  pcal_source *source = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  float *out = malloc(ROWS * 10 * sizeof *out);
  fit.method = "temperature";
  assert_int_equal(two_borrow(&batch, &source, &err), PCAL_OK);
  assert_int_equal(pcal_fit_run(source, &fit, NULL, &calibrator, &err), PCAL_OK);
  pcal_source_free(source);
  batch.scores = two.scores[1];
  batch.device = two.device[0];
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, out, &err), PCAL_USAGE);
  assert_string_equal(err.message, wrong_batch);
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, two.scores[0], &err),
                   PCAL_USAGE);
  assert_string_equal(err.message, wrong_batch);
  pcal_calibrator_free(calibrator);
  free(out);
  two_close(&two);
}

/* Inputs of a source: logits, labels, weights and groups, each on a GPU of its own. */
enum { LOGITS, LABELS, WEIGHTS, GROUPS, PARTS };

typedef struct two_parts {
  const void *at[PARTS];
  pcal_device *device[PARTS];
} two_parts;

static char *measured_parts(const two_parts *given, pcal_status *status) {
  static const pcal_type types[PARTS] = {PCAL_F32, PCAL_I32, PCAL_F64, PCAL_U32};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_input parts[PARTS] = {PCAL_INPUT_INIT, PCAL_INPUT_INIT, PCAL_INPUT_INIT,
                             PCAL_INPUT_INIT};
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  sink_bytes text = {0};
  for (size_t p = 0; p < PARTS; p++) {
    parts[p].data = given->at[p];
    parts[p].type = types[p];
    parts[p].rows = ROWS;
    parts[p].columns = p == LOGITS ? 10 : 0;
    parts[p].device = given->device[p];
  }
  inputs.logits = &parts[LOGITS];
  inputs.labels = &parts[LABELS];
  inputs.weights = &parts[WEIGHTS];
  inputs.groups = &parts[GROUPS];
  config.specs = usual;
  config.spec_count = UNIT_COUNT(usual);
  *status = pcal_source_open(&inputs, NULL, &source, &err);
  if (*status == PCAL_OK)
    *status = pcal_measure_run(source, &config, NULL, &results, &err);
  if (*status == PCAL_OK)
    *status = pcal_results_write(results, PCAL_JSON, sink_collect, &text, &err);
  if (*status != PCAL_OK)
    sink_collect(&text, err.message, strlen(err.message));
  pcal_results_free(results);
  pcal_source_free(source);
  return text.bytes;
}

TEST(test_parts_of_a_source_on_two_gpus) {
  if (fake.is_real)
    skip();
  static const char *const names[PARTS] = {"logits", "labels", "weights", "groups"};
  static const size_t sizes[PARTS] = {10 * sizeof(float), sizeof(int32_t), sizeof(double),
                                      sizeof(uint32_t)};
  two_devices two;
  pcal_status status;
  two_open(&two);
  const two_parts here = {{two.data.logits, two.data.labels, two.data.weights, two.data.groups},
                          {NULL}};
  char *expected = measured_parts(&here, &status);
  assert_int_equal(status, PCAL_OK);
  void *there[2][PARTS];
  for (int gpu = 0; gpu < 2; gpu++)
    for (size_t p = 0; p < PARTS; p++)
      there[gpu][p] = upload_to(gpu, here.at[p], ROWS * sizes[p]);
  for (unsigned where = 0; where < 1u << PARTS; where++) { /* bit p: the GPU of part p */
    two_parts parts;
    for (size_t p = 0; p < PARTS; p++) {
      parts.at[p] = there[where >> p & 1][p];
      parts.device[p] = two.device[where >> p & 1];
    }
    char *got = measured_parts(&parts, &status);
    assert_int_equal(status, PCAL_OK);
    assert_string_equal(expected, without_device(got));
    free(got);
    const size_t wrong = where % PARTS;
    char sentence[160];
    parts.device[wrong] = two.device[!(where >> wrong & 1)];
    snprintf(
        sentence, sizeof sentence,
        "%s: the GPU that the input names does not hold the array; open the one that holds "
        "its address",
        names[wrong]);
    got = measured_parts(&parts, &status);
    assert_int_equal(status, PCAL_USAGE);
    assert_string_equal(got, sentence);
    free(got);
  }
  free(expected);
  for (int gpu = 0; gpu < 2; gpu++)
    for (size_t p = 0; p < PARTS; p++)
      drop(there[gpu][p]);
  two_close(&two);
}
