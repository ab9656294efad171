/* Each call of the driver of a GPU fails in turn, and each allocation: an error with a sentence, or the result
 * of the rows in memory; nothing is left on the GPU or in memory. */
#include "unit.h"

#include "base/rng.h"
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
static int64_t fault_labels[FAULT_ROWS];
static double fault_weights[FAULT_FEW];
static int32_t fault_groups[FAULT_FEW];

static void fault_simulate(void) {
  const pc_rng rng = {11, 3};
  for (size_t i = 0; i < FAULT_ROWS * FAULT_CLASSES; i++)
    fault_logits[i] = (float)(2 * pc_rng_normal(&rng, i));
  for (size_t r = 0; r < FAULT_ROWS; r++)
    fault_labels[r] = (int64_t)((r * r + r / 3) % FAULT_CLASSES);
  for (size_t r = 0; r < FAULT_FEW; r++) {
    fault_weights[r] = (double)(1 + r % 3);
    fault_groups[r] = (int32_t)(r % 2);
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
  int slow;                    /* only some calls fail */
  int weighted;                /* rows have weights and groups, in memory */
  const void *logits, *labels; /* on the GPU */
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
  pcal_input logits = PCAL_INPUT_INIT, labels = PCAL_INPUT_INIT, weights = PCAL_INPUT_INIT,
             groups = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_device *device = NULL;
  pcal_source *source = NULL;
  pcal_env one = *env;
  one.threads = 1;
  pcal_status status = pcal_device_open(call->logits, &one, &device, err);
  logits.data = call->logits;
  logits.columns = FAULT_CLASSES;
  labels.data = call->labels;
  labels.type = PCAL_I64;
  logits.rows = labels.rows = call->rows;
  logits.device = labels.device = device;
  inputs.logits = &logits;
  inputs.labels = &labels;
  weights.data = fault_weights;
  weights.type = PCAL_F64;
  groups.data = fault_groups;
  groups.type = PCAL_I32;
  weights.rows = groups.rows = call->rows;
  if (call->weighted) {
    inputs.weights = &weights;
    inputs.groups = &groups;
  }
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

/* Sanitizers slow down calls on many rows by far. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAULT_SLOW_STEP(n, part) (1 + (n) / 4)
#else
#define FAULT_SLOW_STEP(n, part) ((n) < 60 ? 1 : 1 + (n) / (part))
#endif

/* Each call of the driver fails once; from 60 on only some of them, which repeat earlier ones.  Where the result
 * is there all the same, that call was to free memory, and the memory stays. */
static void fault_each_driver_call(const fault_call *call) {
  long blocks = fake.blocks();
  size_t refused = 0;
  for (long n = 1;; n += call->slow ? FAULT_SLOW_STEP(n, 5) : n < 60 ? 1 : 1 + n / 20) {
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
  assert_true(refused > (call->slow ? 1 : 5));
}

/* About thirty of the allocations of a call that takes long. */
static void fault_some_allocations(const fault_call *call) {
  for (size_t n = 1;; n += 1 + n / 6) {
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

static void fault_sweep_call(fault_call call) {
  if (fake.is_real)
    skip();
  find("fake_cuda_fail_in", (void *)&fault_driver.fail_in);
  find("fake_cuda_fail_left", (void *)&fault_driver.left);
  find("fake_cuda_free_all", (void *)&fault_driver.free_all);
  fault_simulate();
  call.logits = upload(fault_logits, call.rows * FAULT_CLASSES * sizeof *fault_logits);
  call.labels = upload(fault_labels, call.rows * sizeof *fault_labels);
  fault_each_driver_call(&call);
  if (call.slow)
    fault_some_allocations(&call);
  else
    unit_fail_each_allocation(fault_run, &call);
  fault_driver.free_all(); /* also blocks that the failing driver did not free */
}

static void fault_sweep(const char *const *specs, size_t count, size_t rows) {
  fault_sweep_call((fault_call){
      .specs = specs, .spec_count = count, .rows = rows, .slow = rows > FAULT_PAIRS});
}

TEST(test_sums) {
  static const char *const specs[] = {"accuracy", "brier",           "log",
                                      "ece",      "cwce:debias=yes", "sce"};
  fault_sweep(specs, UNIT_COUNT(specs), FAULT_FEW);
}

TEST(test_sorted_scores) {
  static const char *const specs[] = {"ks", "smece"};
  fault_sweep(specs, UNIT_COUNT(specs), FAULT_FEW);
}

TEST(test_pairs) {
  static const char *const specs[] = {"skce"};
  fault_sweep(specs, UNIT_COUNT(specs), FAULT_PAIRS);
}

TEST(test_scores_that_stay) {
  static const char *const specs[] = {"ks", "tce:p=2,binning=mass,debias=yes"};
  fault_sweep(specs, UNIT_COUNT(specs), FAULT_SORTED);
}

TEST(test_scores_of_classes) {
  static const char *const specs[] = {"ace"};
  fault_sweep(specs, UNIT_COUNT(specs), FAULT_ROWS);
}

/* Bins of every class with more sums, and kernels on scores. */
TEST(test_sums_of_classes) {
  static const char *const specs[] = {"cwce:debias=yes", "scaled-brier", "gce:variant=10",
                                      "tce-kde",         "mmce",         "decomposition"};
  fault_sweep(specs, UNIT_COUNT(specs), FAULT_FEW);
}

TEST(test_weights_and_groups) {
  static const char *const specs[] = {"accuracy", "brier",           "ece",
                                      "sce",      "cwce:debias=yes", "ks"};
  fault_sweep_call((fault_call){
      .specs = specs, .spec_count = UNIT_COUNT(specs), .rows = FAULT_FEW, .weighted = 1});
}

TEST(test_densities) {
  static const char *const specs[] = {"ce-kde"};
  fault_sweep(specs, UNIT_COUNT(specs), FAULT_FEW);
}

TEST(test_temperature) {
  fault_sweep(NULL, 0, FAULT_FEW);
}
