/* Every metric whose machine is sum, grid or pair, and every metric of the groups default and paper, is
 * computed on the GPU, for logits, probabilities and log-probabilities, with and without weights and
 * groups (the group paper and pairs: with both or none), on the stream of the rows: results say so, and have the bytes
 * of the same rows in memory.
 *
 * The driver is that of test_device.c.  Metrics that have to copy are named below, with the reason. */
#include "unit.h"

#include "gpu_data_set.h"

#define SOURCE_ROWS 2403 /* those with weight are enough for pairs on the GPU */
#define CLASSES_MAX 5
#define SPECS_LEAST 20 /* metrics and groups that are measured in each form, and with pairs */
#define PAIR_SPECS_LEAST 28

TEST_GROUP(set_up, tear_down)

typedef struct registry_case {
  pcal_kind kind;
  int weighted, grouped;
  int pairs; /* compares pairs of rows too, which takes most of the time */
} registry_case;

/* Rows of one kind, in memory and on the GPU. */
typedef struct registry_rows {
  float scores[SOURCE_ROWS * CLASSES_MAX];
  size_t classes;
  int64_t labels[SOURCE_ROWS], groups[SOURCE_ROWS];
  double weights[SOURCE_ROWS];
  void *there, *stream;
  pcal_device *device;
} registry_rows;

static registry_rows rows;

static void make_rows(pcal_kind kind, size_t classes) {
  const pc_rng rng = {77, 3};
  rows.classes = classes;
  for (size_t r = 0; r < SOURCE_ROWS; r++) {
    float *z = rows.scores + r * classes;
    double sum = 0;
    for (size_t j = 0; j < classes; j++) {
      z[j] = (float)(2 * pc_rng_normal(&rng, r * classes + j));
      sum += exp((double)z[j]);
    }
    for (size_t j = 0; kind != PCAL_LOGIT && j < classes; j++)
      z[j] = kind == PCAL_PROBABILITY ? (float)(exp((double)z[j]) / sum)
                                      : (float)((double)z[j] - log(sum));
    rows.labels[r] = (int64_t)(pc_rng_uniform(&rng, 50000 + r) *
                               pc_rng_uniform(&rng, 90000 + r) * (double)classes);
    rows.weights[r] = (double)(r % 7);
    rows.groups[r] = (int64_t)(r % 3);
  }
  rows.there = upload(rows.scores, sizeof rows.scores);
  assert_int_equal(pcal_device_open(rows.there, NULL, &rows.device, NULL), PCAL_OK);
  rows.stream = stream_begin();
}

static void drop_rows(void) {
  stream_end();
  pcal_device_free(rows.device);
  drop(rows.there);
}

/* "cuda" or "pairs" if all results have been computed there, else another word. */
static const char *computed_at(const pcal_results *results) {
  const char *found = "cuda";
  for (size_t i = 0; i < pcal_results_count(results); i++) {
    pcal_result result = PCAL_RESULT_INIT;
    assert_int_equal(pcal_results_get(results, i, &result), PCAL_OK);
    if (result.device == NULL ||
        (strcmp(result.device, "cuda") != 0 && strcmp(result.device, "pairs") != 0))
      found = result.device;
  }
  return found;
}

/* The JSON of a metric; NULL if it does not apply.  *device: where its values were computed. */
static char *measured_metric(const registry_case *data, int gpu, const char *spec,
                             const char **device) {
  pcal_input parts[4] = {PCAL_INPUT_INIT, PCAL_INPUT_INIT, PCAL_INPUT_INIT, PCAL_INPUT_INIT};
  static const pcal_type types[] = {PCAL_F32, PCAL_I64, PCAL_F64, PCAL_I64};
  const void *at[] = {gpu ? rows.there : rows.scores, rows.labels, rows.weights, rows.groups};
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  sink_bytes json = {0};
  for (size_t p = 0; p < 4; p++) {
    parts[p].data = at[p];
    parts[p].type = types[p];
    parts[p].rows = SOURCE_ROWS;
    parts[p].columns = p == 0 ? rows.classes : 0;
    parts[p].device = gpu && p == 0 ? rows.device : NULL;
    parts[p].device_stream = gpu && p == 0 ? rows.stream : NULL;
  }
  *(data->kind == PCAL_LOGIT         ? &inputs.logits
    : data->kind == PCAL_PROBABILITY ? &inputs.probs
                                     : &inputs.log_probs) = &parts[0];
  inputs.labels = &parts[1];
  inputs.weights = data->weighted ? &parts[2] : NULL;
  inputs.groups = data->grouped ? &parts[3] : NULL;
  config.specs = &spec;
  config.spec_count = 1;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  if (pcal_measure_run(source, &config, NULL, &results, NULL) == PCAL_OK) {
    *device = computed_at(results);
    assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &json, NULL),
                     PCAL_OK);
  }
  pcal_results_free(results);
  pcal_source_free(source);
  return json.bytes;
}

/* Metrics that copy: none. */
static int may_copy(const registry_case *data, const char *spec) {
  (void)data;
  (void)spec;
  return 0;
}

static size_t measured_count;

/* All of them can be measured with these rows, in memory and on the GPU. */
static size_t check_metric(const registry_case *data, const char *spec) {
  const char *here = NULL, *there = NULL;
  char *expected = measured_metric(data, 0, spec, &here);
  char *found = measured_metric(data, 1, spec, &there);
  size_t bad = 0;
  if (expected == NULL)
    print_error("%s, kind %d: not measured in memory\n", spec, (int)data->kind);
  assert_non_null(expected);
  assert_non_null(found);
  measured_count++;
  assert_string_equal(expected, without_device(found));
  if (!may_copy(data, spec) && strcmp(there, "cuda") != 0 && strcmp(there, "pairs") != 0) {
    print_error("%s, kind %d, weights %d, groups %d: %s\n", spec, (int)data->kind,
                data->weighted, data->grouped, there);
    bad = 1;
  }
  free(expected);
  free(found);
  return bad;
}

/* The specs of a group of metrics, and all metrics with the machine. */
static size_t check_all(const registry_case *data) {
  static const char *const groups[] = {"default", "paper"};
  size_t bad = 0;
  const pcal_registry_row *row;
  for (size_t g = 0; g < (data->pairs ? 2 : 1); g++)
    bad += check_metric(data, groups[g]);
  for (size_t m = 0; (row = pcal_registry_at(PCAL_METRICS, m)) != NULL; m++)
    if (row->task == PCAL_CLASSIFICATION &&
        (row->machine == PCAL_MACHINE_SUM || row->machine == PCAL_MACHINE_GRID ||
         (row->machine == PCAL_MACHINE_PAIR && data->pairs)))
      bad += check_metric(data, row->name);
  return bad;
}

static void check_kind(pcal_kind kind, size_t classes) {
  size_t bad = 0;
  make_rows(kind, classes);
  for (int form = 0; form < 4; form++) {
    const int pairs = form == 0 || (form == 3 && kind == PCAL_LOGIT);
    const registry_case data = {kind, form & 1, form >> 1, pairs};
    measured_count = 0;
    bad += check_all(&data);
    assert_true(measured_count >= (pairs ? PAIR_SPECS_LEAST : SPECS_LEAST));
  }
  drop_rows();
  assert_int_equal(bad, 0);
  assert_int_equal(fake.blocks(), 0);
}

TEST(test_logits) {
  check_kind(PCAL_LOGIT, 5);
}

TEST(test_probabilities) {
  check_kind(PCAL_PROBABILITY, 5);
}

TEST(test_log_probabilities) {
  check_kind(PCAL_LOG_PROBABILITY, 5);
}

TEST(test_two_classes) {
  check_kind(PCAL_LOGIT, 2);
  check_kind(PCAL_PROBABILITY, 2);
}
