/* Each call of the driver of a GPU fails in turn, and each allocation: an error with a sentence, or the result
 * of the rows in memory; nothing is left on the GPU or in memory. */
#include "unit.h"

#include "base/rng.h"
#include "curve/class_counts.h"
#include "device/device_curves.h"
#include "gpu_fixture.h"

enum {
  FAULT_CLASSES = 3,
  FAULT_FEW = 300,
  FAULT_PAIRS = 2100,
  FAULT_SORTED = 66000, /* top scores stay on the GPU */
  FAULT_ROWS = 700000   /* scores of all classes are counted there */
};

TEST_GROUP(set_up, tear_down)

static float fault_logits[FAULT_ROWS * FAULT_CLASSES];
static int64_t fault_labels[FAULT_ROWS], fault_groups[FAULT_ROWS];
static double fault_weights[FAULT_ROWS];

static void fault_simulate(size_t rows) {
  const pc_rng rng = {11, 3};
  for (size_t i = 0; i < rows * FAULT_CLASSES; i++)
    fault_logits[i] = (float)(2 * pc_rng_normal(&rng, i));
  for (size_t r = 0; r < rows; r++) {
    fault_labels[r] = (int64_t)((r * r + r / 3) % FAULT_CLASSES);
    fault_weights[r] = (double)(1 + r % 3);
    fault_groups[r] = (int64_t)(r % 2);
  }
}

static struct {
  void (*fail_in)(long);
  long (*left)(void);
  void (*free_all)(void);
  long over; /* calls that were missing to the one that fails */
} fault_driver;

/* One call; `specs` NULL: fits the temperature. */
typedef struct fault_call {
  const char *const *specs;
  size_t spec_count, rows;
  int probs, weighted, grouped;
  const void *scores, *labels; /* on the GPU */
} fault_call;

static pcal_status fault_use(const fault_call *call, pcal_source *source, const pcal_env *env,
                             pcal_error *err) {
  pcal_measure_config measure = PCAL_MEASURE_CONFIG_INIT;
  pcal_fit_config fit = PCAL_FIT_CONFIG_INIT;
  pcal_calibrator *calibrator = NULL;
  pcal_results *results = NULL;
  measure.specs = call->specs;
  measure.spec_count = call->spec_count;
  fit.method = "temperature";
  const pcal_status status = call->specs != NULL
                                 ? pcal_measure_run(source, &measure, env, &results, err)
                                 : pcal_fit_run(source, &fit, env, &calibrator, err);
  pcal_results_free(results);
  pcal_calibrator_free(calibrator);
  return status;
}

static pcal_status fault_run(const pcal_env *env, void *user, pcal_error *err) {
  const fault_call *call = user;
  enum { SCORES, LABELS, WEIGHTS, GROUPS, PARTS };
  const void *const at[PARTS] = {call->scores, call->labels, fault_weights, fault_groups};
  static const pcal_type types[PARTS] = {PCAL_F32, PCAL_I64, PCAL_F64, PCAL_I64};
  pcal_input parts[PARTS] = {PCAL_INPUT_INIT, PCAL_INPUT_INIT, PCAL_INPUT_INIT,
                             PCAL_INPUT_INIT};
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_device *device = NULL;
  pcal_source *source = NULL;
  pcal_env one = *env;
  one.threads = 1;
  pcal_status status = pcal_device_open(call->scores, &one, &device, err);
  for (size_t p = 0; p < PARTS; p++) {
    parts[p].data = at[p];
    parts[p].type = types[p];
    parts[p].rows = call->rows;
    parts[p].columns = p == SCORES ? FAULT_CLASSES : 0;
    parts[p].device = p <= LABELS ? device : NULL;
  }
  *(call->probs ? &inputs.probs : &inputs.logits) = &parts[SCORES];
  inputs.labels = &parts[LABELS];
  inputs.weights = call->weighted ? &parts[WEIGHTS] : NULL;
  inputs.groups = call->grouped ? &parts[GROUPS] : NULL;
  if (status == PCAL_OK)
    status = pcal_source_open(&inputs, &one, &source, err);
  if (status == PCAL_OK)
    status = fault_use(call, source, &one, err);
  fault_driver.over = fault_driver.left();
  fault_driver.fail_in(0); /* what cannot be reached cannot be freed */
  pcal_source_free(source);
  pcal_device_free(device);
  return status;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAULT_SLOW_SHARE 2 /* sanitizers slow down calls on many rows by far */
#else
#define FAULT_SLOW_SHARE 6
#endif

/* The next call to fail: all of the first 60 and some of the others, which repeat earlier ones; fewer if each run
 * takes long. */
static long fault_next(const fault_call *call, long n) {
  if (call->rows == FAULT_ROWS)
    return n + 1 + n / FAULT_SLOW_SHARE;
  return n < 60 ? n + 1 : n + 1 + n / (call->rows == FAULT_SORTED ? 5 : 20);
}

/* Calls of the driver fail, one in each run.  Where the result is there all the same, that call was to free memory, and
 * the memory stays. */
static void fault_each_driver_call(const fault_call *call) {
  long blocks = fake.blocks();
  size_t refused = 0;
  for (long n = 1;; n = fault_next(call, n)) {
    unit_memory memory = {0};
    const pcal_env env = unit_env(&memory);
    pcal_error err = PCAL_ERROR_INIT;
    fault_driver.fail_in(n);
    const pcal_status status = fault_run(&env, (void *)(uintptr_t)call, &err);
    assert_true(status == PCAL_OK || fake.blocks() == blocks);
    blocks = fake.blocks();
    assert_int_equal(atomic_load(&memory.live), 0);
    assert_true(status == PCAL_OK || err.message[0] != '\0');
    refused += status != PCAL_OK;
    if (fault_driver.over > 0) { /* the call makes fewer */
      assert_int_equal(status, PCAL_OK);
      break;
    }
  }
  assert_true(refused > (call->rows == FAULT_ROWS ? 1 : 5));
}

/* Some of the allocations of a call that takes long. */
static void fault_some_allocations(const fault_call *call) {
  for (size_t n = 1;; n += 1 + n / FAULT_SLOW_SHARE) {
    unit_memory memory = {0};
    atomic_store(&memory.fail_at, n);
    const pcal_env env = unit_env(&memory);
    pcal_error err = PCAL_ERROR_INIT;
    const pcal_status status = fault_run(&env, (void *)(uintptr_t)call, &err);
    assert_int_equal(atomic_load(&memory.live), 0);
    if (atomic_load(&memory.calls) < n)
      return;
    assert_int_equal(status, PCAL_MEMORY);
  }
}

static void fault_find_driver(void) {
  find("fake_cuda_fail_in", (void *)&fault_driver.fail_in);
  find("fake_cuda_fail_left", (void *)&fault_driver.left);
  find("fake_cuda_free_all", (void *)&fault_driver.free_all);
}

static void fault_sweep(fault_call call) {
  if (fake.is_real)
    skip();
  fault_find_driver();
  fault_simulate(call.rows);
  for (size_t i = 0; call.probs && i < call.rows; i++) {
    const float high = (float)(0.34 + 0.66 * pc_rng_uniform(&(pc_rng){12, 3}, i));
    for (size_t j = 0; j < FAULT_CLASSES; j++)
      fault_logits[i * FAULT_CLASSES + j] = j == i % FAULT_CLASSES ? high : (1 - high) / 2;
  }
  call.scores = upload(fault_logits, call.rows * FAULT_CLASSES * sizeof *fault_logits);
  call.labels = upload(fault_labels, call.rows * sizeof *fault_labels);
  fault_each_driver_call(&call);
  if (call.rows > FAULT_PAIRS)
    fault_some_allocations(&call);
  else
    unit_fail_each_allocation(fault_run, &call);
  fault_driver.free_all(); /* also blocks that the failing driver did not free */
}

static const char *const fault_sums[] = {"accuracy", "brier",           "log",
                                         "ece",      "cwce:debias=yes", "sce"};

TEST(test_sums) {
  fault_sweep((fault_call){fault_sums, UNIT_COUNT(fault_sums), FAULT_FEW});
}

TEST(test_sums_of_probabilities) {
  fault_sweep((fault_call){fault_sums, UNIT_COUNT(fault_sums), FAULT_FEW, .probs = 1});
}

/* Bins of every class with more sums, and kernels on scores. */
TEST(test_sums_of_classes) {
  static const char *const specs[] = {"cwce:debias=yes", "scaled-brier", "gce:variant=10",
                                      "tce-kde",         "mmce",         "decomposition"};
  fault_sweep((fault_call){specs, UNIT_COUNT(specs), FAULT_FEW});
}

TEST(test_weights_and_groups) {
  fault_sweep((fault_call){fault_sums, UNIT_COUNT(fault_sums), FAULT_FEW, .weighted = 1});
  fault_sweep((fault_call){fault_sums, UNIT_COUNT(fault_sums), FAULT_FEW, .probs = 1,
                           .weighted = 1, .grouped = 1});
}

TEST(test_sorted_scores) {
  static const char *const specs[] = {"ks", "smece"};
  fault_sweep((fault_call){specs, UNIT_COUNT(specs), FAULT_FEW});
}

TEST(test_pairs) {
  static const char *const specs[] = {"skce"};
  fault_sweep((fault_call){specs, UNIT_COUNT(specs), FAULT_PAIRS});
}

TEST(test_scores_that_stay) {
  static const char *const specs[] = {"ks", "tce:p=2,binning=mass,debias=yes"};
  fault_sweep((fault_call){specs, UNIT_COUNT(specs), FAULT_SORTED});
}

TEST(test_many_scores_of_classes) {
  static const char *const specs[] = {"ace"};
  fault_sweep((fault_call){specs, UNIT_COUNT(specs), FAULT_ROWS});
}

TEST(test_dirichlet_kernels) {
  static const char *const specs[] = {"ce-kde:bandwidth=0.1"};
  fault_sweep((fault_call){specs, UNIT_COUNT(specs), FAULT_PAIRS});
}

TEST(test_temperature) {
  fault_sweep((fault_call){.rows = FAULT_FEW});
}

/* ---- Sorted scores of every class ---- */

/* What both passes have found; refuse: the receiver that fails, 1 to 3. */
typedef struct fault_found {
  uint64_t rows, hits;
  size_t listed;
  size_t buckets;
  int refuse;
} fault_found;

static pcal_status fault_receive(const fault_found *found, int receiver, pcal_error *err) {
  return found->refuse == receiver ? pc_fail_memory(err, "receiving") : PCAL_OK;
}

static pcal_status fault_counts(void *user, const uint32_t *counts, pcal_error *err) {
  fault_found *found = user;
  for (size_t b = 0; b < found->buckets * FAULT_CLASSES; b++)
    found->rows += counts[b];
  return fault_receive(found, 1, err);
}

static pcal_status fault_words(void *user, const uint64_t *words, pcal_error *err) {
  fault_found *found = user;
  for (size_t j = 0; j < FAULT_CLASSES; j++)
    found->hits += words[j * PC_CLASS_CURVES_WORDS + PC_CLASS_CURVES_HITS];
  return fault_receive(found, 2, err);
}

static pcal_status fault_listed(void *user, const double *scores, const uint32_t *places,
                                size_t count, pcal_error *err) {
  fault_found *found = user;
  for (size_t i = 0; i < count; i++)
    assert_true(scores[i] >= 0 && scores[i] <= 1 && places[i] / 2 < FAULT_CLASSES);
  found->listed += count;
  return fault_receive(found, 3, err);
}

/* Counts all scores; then adds them up, and lists those in every other bucket. */
static pcal_status fault_curves(pcal_device *device, const pcal_batch *batch,
                                const pc_device_labels *labels, fault_found *out, int *done,
                                pcal_error *err) {
  const pc_device_curves_found found = {fault_counts, fault_words, fault_listed, out};
  static const uint32_t first[FAULT_CLASSES] = {0, 1, 2};
  pc_device_curves curves = {.normalize = 0};
  curves.curves.rule = pc_class_bucket_rule_for(FAULT_CLASSES);
  curves.curves.buckets = (uint32_t)pc_class_bucket_count(&curves.curves.rule);
  *out = (fault_found){.buckets = curves.curves.buckets, .refuse = out->refuse};
  PC_TRY(pc_device_class_curves(device, batch, labels, &curves, &found, done, err));
  if (!*done)
    return PCAL_OK;
  uint16_t *segment = calloc(out->buckets * FAULT_CLASSES, sizeof *segment);
  for (size_t b = 0; b < out->buckets * FAULT_CLASSES; b++)
    segment[b] = b % 2 ? PC_CLASS_CURVES_WANTED : 0;
  curves.segment = segment;
  curves.first = first;
  curves.segments = FAULT_CLASSES;
  const pcal_status status =
      pc_device_class_curves(device, batch, labels, &curves, &found, done, err);
  free(segment);
  return status;
}

static void fault_check_curves(const fault_found *found) {
  assert_int_equal(found->rows, FAULT_FEW * FAULT_CLASSES);
  assert_in_range(found->listed, 1, FAULT_FEW * FAULT_CLASSES - 1);
  assert_int_equal(found->hits, FAULT_FEW);
}

/* Fails the n-th call of the driver; returns the status. */
static pcal_status fault_curves_in(const void *scores, const pc_device_labels *labels,
                                   int refuse, long n) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err = PCAL_ERROR_INIT;
  fault_found found = {.refuse = refuse};
  int done = 0;
  assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
  batch.kind = PCAL_LOGIT;
  batch.type = PCAL_F32;
  batch.scores = scores;
  batch.rows = FAULT_FEW;
  batch.columns = FAULT_CLASSES;
  batch.row_stride = FAULT_CLASSES * sizeof *fault_logits;
  batch.column_stride = sizeof *fault_logits;
  fault_driver.fail_in(n);
  const pcal_status status = fault_curves(batch.device, &batch, labels, &found, &done, &err);
  fault_driver.over = fault_driver.left();
  fault_driver.fail_in(0);
  pcal_device_free(batch.device);
  assert_true(status == PCAL_OK || err.message[0] != '\0');
  if (status == PCAL_OK && done)
    fault_check_curves(&found);
  return status;
}

TEST(test_sorted_scores_of_classes) {
  if (fake.is_real)
    skip();
  fault_find_driver();
  fault_simulate(FAULT_FEW);
  const void *scores = upload(fault_logits, FAULT_FEW * FAULT_CLASSES * sizeof *fault_logits);
  const pc_device_labels labels = {upload(fault_labels, FAULT_FEW * sizeof *fault_labels),
                                   sizeof *fault_labels};
  const long blocks = fake.blocks();
  for (int refuse = 0; refuse < 4; refuse++) {
    size_t refused = 0;
    fault_driver.over = 0;
    for (long n = 1; fault_driver.over == 0; n++) {
      refused += fault_curves_in(scores, &labels, refuse, n) != PCAL_OK;
      assert_int_equal(fake.blocks(), blocks);
    }
    assert_true(refused > 5);
  }
  fault_driver.free_all();
}
