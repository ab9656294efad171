/* Probabilities, weights and groups of rows on a GPU: the bytes of the results, and the errors, of the same
 * rows in memory; one sentence for every failure of the driver.  The driver is that of test_device.c. */
#include "unit.h"

#include "gpu_compare.h"

TEST_GROUP(set_up, tear_down)

static const char *const all_bins[] = {"default",        "cwce:debias=yes", "scaled-brier",
                                       "gce:variant=10", "gce:variant=12",  "sce:bins=100",
                                       "decomposition"};

/* A batch of probabilities or their logarithms, as doubles, in *out. */
static pcal_batch probabilities(const data_set *data, pcal_kind kind, double *out) {
  pcal_batch batch = batch_of(data);
  const size_t k = data->classes;
  for (size_t r = 0; r < ROWS; r++) {
    double sum = 0;
    for (size_t j = 0; j < k; j++)
      sum += exp((double)data->logits[r * k + j]);
    for (size_t j = 0; j < k; j++)
      out[r * k + j] = kind == PCAL_PROBABILITY ? exp((double)data->logits[r * k + j]) / sum
                                                : (double)data->logits[r * k + j] - log(sum);
  }
  batch.kind = kind;
  batch.type = PCAL_F64;
  batch.scores = out;
  return batch;
}

/* Whole weights and others, and no weight for some rows. */
static void weigh(data_set *data) {
  for (size_t r = 0; r < ROWS; r++)
    data->weights[r] = r % 5 == 4   ? 0.0
                       : r % 3 == 0 ? (double)(r % 9)
                                    : 0.37 * (double)(r % 11);
}

static void check_forms(data_set *data, pcal_batch batch) {
  check_same(batch, all_bins, UNIT_COUNT(all_bins), PCAL_OK);
  batch.weights = data->weights;
  check_same(batch, all_bins, UNIT_COUNT(all_bins), PCAL_OK);
  batch.groups = data->groups;
  check_same(batch, all_bins, UNIT_COUNT(all_bins), PCAL_OK);
  batch.weights = NULL;
  check_same(batch, all_bins, UNIT_COUNT(all_bins), PCAL_OK);
}

TEST(test_same_bytes_with_weights_and_groups) {
  static const size_t classes[] = {2, 3, 10, 33, 130};
  for (size_t c = 0; c < UNIT_COUNT(classes); c++) {
    data_set data = simulate(classes[c]);
    double *probs = malloc(ROWS * classes[c] * sizeof *probs);
    weigh(&data);
    check_forms(&data, batch_of(&data));
    check_forms(&data, probabilities(&data, PCAL_PROBABILITY, probs));
    check_forms(&data, probabilities(&data, PCAL_LOG_PROBABILITY, probs));
    free(probs);
    forget(&data);
  }
}

/* Rows used as stored though they are outside [0, 1], and rows refused; all classes but one at 0. */
TEST(test_odd_rows) {
  static const double offs[] = {1e-6, -1e-6, 3e-5, 5e-3, 0.5, -1.0, INFINITY};
  data_set data = simulate(10);
  double probs[ROWS * 10];
  for (size_t i = 0; i < UNIT_COUNT(offs); i++)
    for (int weighted = 0; weighted < 2; weighted++) {
      pcal_batch batch = probabilities(&data, PCAL_PROBABILITY, probs);
      batch.weights = weighted ? data.weights : NULL;
      probs[333 * 10 + 7] =
          offs[i] < 0 && offs[i] > -1 ? offs[i] : probs[333 * 10 + 7] + offs[i];
      for (size_t j = 0; offs[i] < 0 && offs[i] > -1 && j < 10; j++)
        probs[333 * 10 + j] = j == 7 ? offs[i] : j == 2 ? 1.0 - offs[i] : 0.0;
      check_same(batch, all_bins, UNIT_COUNT(all_bins), i < 2 ? PCAL_OK : PCAL_DATA);
    }
  pcal_batch batch = probabilities(&data, PCAL_LOG_PROBABILITY, probs);
  for (size_t j = 0; j < 10; j++)
    probs[10 + j] = (int32_t)j == data.labels[1] ? 0.0 : (double)-INFINITY;
  check_same(batch, all_bins, UNIT_COUNT(all_bins), PCAL_OK);
  data.labels[5] = 10;
  check_same(batch, all_bins, UNIT_COUNT(all_bins), PCAL_DATA);
  batch.weights = data.weights;
  data.labels[5] = 0;
  data.weights[6] = -1;
  check_same(batch, all_bins, UNIT_COUNT(all_bins), PCAL_DATA);
  data.weights[6] = NAN;
  check_same(batch, all_bins, UNIT_COUNT(all_bins), PCAL_DATA);
  forget(&data);
}

/* More groups than the GPU has cells for: the rows are copied. */
TEST(test_many_groups) {
  data_set data = simulate(3);
  pcal_batch batch = batch_of(&data);
  for (size_t r = 0; r < ROWS; r++)
    data.groups[r] = (uint32_t)(r % 100);
  batch.groups = data.groups;
  check_same(batch, all_bins, UNIT_COUNT(all_bins), PCAL_OK);
  forget(&data);
}

/* No memory for the cells: the rows are copied; every other failure is one sentence. */
TEST(test_failures_with_weights) {
  if (fake.is_real)
    skip();
  static const char *const symbols[] = {"cuMemsetD8Async", "cuMemcpyHtoDAsync_v2",
                                        "cuLaunchKernel", "cuStreamSynchronize",
                                        "cuMemcpyDtoHAsync_v2"};
  data_set data = simulate(10);
  double probs[ROWS * 10];
  for (int kind = 0; kind < 3; kind++) {
    pcal_batch batch =
        kind == 0 ? batch_of(&data) : probabilities(&data, PCAL_PROBABILITY, probs);
    const size_t size = kind == 0 ? sizeof(float) : sizeof(double);
    void *scores = upload(batch.scores, ROWS * 10 * size);
    batch.scores = scores;
    batch.weights = kind < 2 ? data.weights : NULL;
    for (size_t f = 0; f < UNIT_COUNT(symbols); f++) {
      pcal_status status;
      assert_int_equal(pcal_device_open(scores, NULL, &batch.device, NULL), PCAL_OK);
      fake.break_down(symbols[f], 700);
      char *message = measured(&batch, all_bins, UNIT_COUNT(all_bins), &status);
      fake.break_down("", 0);
      assert_int_equal(status, PCAL_IO);
      assert_string_equal(message,
                          "adding up rows on the GPU failed: an illegal memory access was "
                          "encountered (CUDA error 700); check the program that uses the GPU");
      free(message);
      pcal_device_free(batch.device);
    }
    drop(scores);
  }
  forget(&data);
  assert_int_equal(fake.blocks(), 0);
}
