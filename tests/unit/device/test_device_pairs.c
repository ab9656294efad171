/* Pairs of rows on a GPU: the bits of the sums and the bytes of the results of the CPU, for every
 * kernel, and one sentence for every failure of the driver. */
#include "unit.h"

#include "base/rng.h"
#include "device/device.h"
#include "device/device_dirichlet.h"
#include "gpu_fixture.h"
#include "stats/dirichlet_kde.h"
#include "stats/pair_sum.h"

#define ROWS 2210
#define CLASSES_MAX 200

TEST_GROUP(set_up, tear_down)

static float logits[ROWS * CLASSES_MAX];
static int64_t labels[ROWS];

/* Rows that are far, close and equal, of `classes` classes. */
static void simulate(size_t classes) {
  const pc_rng rng = {31, classes};
  for (size_t r = 0; r < ROWS; r++) {
    const size_t like = r % 9 == 8 ? r - 1 : r;
    for (size_t j = 0; j < classes; j++)
      logits[r * classes + j] = (float)(3 * pc_rng_normal(&rng, like * classes + j) +
                                        (r % 18 == 8 && j == 0 ? 1e-6 : 0));
    labels[r] = (int64_t)(pc_rng_uniform(&rng, ROWS * classes + r) * (double)classes);
  }
}

/* Packs of random rows, sorted as little as possible: any order must give the bits of the CPU. */
static pc_pair_rows rows_of(size_t classes, size_t count, int weighted, void **block) {
  const pc_rng rng = {17, classes};
  double probs[CLASSES_MAX];
  *block = malloc(pc_pair_rows_bytes(count, classes));
  pc_pair_rows rows = pc_pair_rows_in(*block, count, classes);
  for (size_t r = 0; r < count; r++) {
    double sum = 0;
    for (size_t j = 0; j < classes; j++)
      sum += probs[j] = pc_rng_uniform(&rng, (r % 7 == 6 ? r - 1 : r) * classes + j);
    for (size_t j = 0; j < classes; j++)
      probs[j] /= sum;
    pc_pair_rows_add(&rows, probs, (int32_t)(r / 100 % classes), weighted ? 1.0 + r % 3 : 1.0);
  }
  pc_pair_rows_close(&rows);
  return rows;
}

TEST(test_sums_are_those_of_the_cpu) {
  static const size_t classes[] = {2, 3, 10, 200}, counts[] = {2000, 2003, 2064};
  const pcal_env env = pc_env_resolve(NULL);
  pcal_device *device = NULL;
  void *there = upload(labels, sizeof labels);
  assert_int_equal(pcal_device_open(there, NULL, &device, NULL), PCAL_OK);
  for (size_t c = 0; c < UNIT_COUNT(classes); c++)
    for (int kind = 0; kind < (classes[c] == 200 ? 2 : 8); kind++) {
      void *block;
      double here, on_gpu;
      const pc_pair_rows rows = rows_of(classes[c], counts[(size_t)kind % 3], kind & 1, &block);
      const pc_pair_form form =
          pc_pair_form_make(kind >> 1 & 1, kind >> 2 & 1, kind == 3 ? 0.05 : 1.0, &rows);
      const pc_device_queue none = {NULL, NULL}, queue = {device, stream_begin()};
      assert_int_equal(pc_pair_sum(&env, &form, &rows, &none, &here, NULL), PCAL_OK);
      assert_int_equal(pc_pair_sum(&env, &form, &rows, &queue, &on_gpu, NULL), PCAL_OK);
      stream_end();
      assert_memory_equal(&here, &on_gpu, sizeof here);
      assert_true(here != 0);
      free(block);
    }
  drop(there);
  pcal_device_free(device);
  assert_int_equal(fake.blocks(), 0);
}

/* Rows of distinct and of equal probabilities, with zeros, in packs of one label and of several. */
TEST(test_dirichlet_kernels_are_those_of_the_cpu) {
  static const size_t classes[] = {2, 3, 10}, counts[] = {2000, 2003, 2064};
  static const double bandwidths[] = {1e-5, 1e-3, 0.02, 0.3, 1.0};
  const pcal_env env = pc_env_resolve(NULL);
  pcal_device *device = NULL;
  void *there = upload(labels, sizeof labels);
  assert_int_equal(pcal_device_open(there, NULL, &device, NULL), PCAL_OK);
  assert_true(pc_device_has_dirichlet(device));
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    double likelihood[2][UNIT_COUNT(bandwidths)], error[2][3];
    void *block;
    const pc_pair_rows rows = rows_of(classes[c], counts[c], c > 0, &block);
    double total = 0;
    for (size_t i = 0; i < rows.count; i++)
      total += rows.weights[i];
    for (size_t i = 0; i < rows.count && c == 1; i += 50) /* zeros, several of them */
      rows.probs[i / PC_LANES * PC_LANES * classes[c] + i % PC_LANES] = 0.0;
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
      pc_dirichlet_kde dirichlet;
      const pc_device_queue queue = {on_gpu ? device : NULL, stream_begin()};
      assert_int_equal(pc_dirichlet_kde_new(&env, &rows, total, &queue, &dirichlet, NULL),
                       PCAL_OK);
      assert_int_equal(pc_dirichlet_kde_likelihood(&dirichlet, bandwidths,
                                                   UNIT_COUNT(bandwidths), likelihood[on_gpu],
                                                   NULL),
                       PCAL_OK);
      for (size_t e = 0; e < 3; e++)
        assert_int_equal(pc_dirichlet_kde_error(&dirichlet, bandwidths[e + 1], 1.0 + (double)e,
                                                &error[on_gpu][e], NULL),
                         PCAL_OK);
      pc_dirichlet_kde_free(&dirichlet);
      stream_end();
    }
    assert_memory_equal(likelihood[0], likelihood[1], sizeof likelihood[0]);
    assert_memory_equal(error[0], error[1], sizeof error[0]);
    assert_true(isfinite(likelihood[0][4]) && error[0][1] > 0);
    free(block);
  }
  drop(there);
  pcal_device_free(device);
  assert_int_equal(fake.blocks(), 0);
}

/* ---- Whole results ---- */

static const char *const specs[] = {"skce", "kce", "skce:kernel=gaussian,distance=tv,scale=0.3",
                                    "ce-kde", "ce-kde:bandwidth=0.05,p=2"};

static char *measured(const void *scores, pcal_device *device, size_t classes,
                      pcal_status *status) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_input z = PCAL_INPUT_INIT, y = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  pcal_error err = PCAL_ERROR_INIT;
  sink_bytes text = {0};
  z.data = scores;
  z.type = PCAL_F32;
  z.rows = y.rows = ROWS;
  z.columns = classes;
  z.device = device;
  y.data = labels;
  y.type = PCAL_I64;
  inputs.logits = &z;
  inputs.labels = &y;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, NULL), PCAL_OK);
  *status = pcal_measure_run(source, &config, NULL, &results, &err);
  if (*status == PCAL_OK)
    assert_int_equal(pcal_results_write(results, PCAL_JSON, sink_collect, &text, NULL),
                     PCAL_OK);
  else
    sink_collect(&text, err.message, strlen(err.message));
  pcal_results_free(results);
  pcal_source_free(source);
  return text.bytes;
}

TEST(test_same_bytes_of_pairs) {
  static const size_t classes[] = {2, 10, 40};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    pcal_device *device = NULL;
    pcal_status status;
    simulate(classes[c]);
    char *here = measured(logits, NULL, classes[c], &status);
    void *there = upload(logits, ROWS * classes[c] * sizeof *logits);
    assert_int_equal(pcal_device_open(there, NULL, &device, NULL), PCAL_OK);
    char *on_gpu = measured(there, device, classes[c], &status);
    assert_int_equal(status, PCAL_OK);
    assert_non_null(strstr(on_gpu, "\"device\": \"pairs\""));
    assert_string_equal(here, without_device(on_gpu));
    free(here);
    free(on_gpu);
    drop(there);
    pcal_device_free(device);
  }
  assert_int_equal(fake.blocks(), 0);
}

TEST(test_failures_of_pairs_are_one_sentence) {
  if (fake.is_real)
    skip();
  static const struct {
    const char *symbol;
    int result;
    pcal_status status;
    const char *message;
  } failures[] = {
      {"cuMemAlloc_v2", 2, PCAL_MEMORY,
       "the GPU is out of memory while reserving memory; free some of it"},
      {"cuMemcpyHtoDAsync_v2", 700, PCAL_IO,
       "copying to the GPU failed: an illegal memory access was encountered (CUDA error 700); "
       "check the program that uses the GPU"},
      {"cuLaunchKernel", 700, PCAL_IO,
       "pairing rows on the GPU failed: an illegal memory access was encountered (CUDA error "
       "700); check the program that uses the GPU"},
      {"cuModuleGetFunction", 500, PCAL_OK, NULL}, /* without kernels: on the CPU */
  };
  simulate(10);
  void *there = upload(logits, ROWS * 10 * sizeof *logits);
  for (size_t f = 0; f < UNIT_COUNT(failures); f++) {
    pcal_device *device = NULL;
    pcal_status status;
    if (failures[f].status == PCAL_OK)
      fake.break_down(failures[f].symbol, failures[f].result);
    assert_int_equal(pcal_device_open(there, NULL, &device, NULL), PCAL_OK);
    fake.break_down(failures[f].symbol, failures[f].result);
    char *message = measured(there, device, 10, &status);
    assert_int_equal(status, failures[f].status);
    if (failures[f].message != NULL)
      assert_string_equal(message, failures[f].message);
    fake.break_down("", 0);
    free(message);
    pcal_device_free(device);
  }
  drop(there);
  assert_int_equal(fake.blocks(), 0);
}
