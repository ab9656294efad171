#include "class_rows.h"

#include "emulated.h"
#include "stats/distributions.h"

static given_data skce_test_data(const class_rows *rows) {
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = rows->rows,
                      .columns = rows->classes,
                      .scores = rows->probs,
                      .labels = rows->labels};
}

/* Labels drawn from the probabilities themselves. */
static void skce_test_calibrate(uint64_t stream, class_rows *rows) {
  const pc_rng rng = {9, stream};
  for (size_t i = 0; i < rows->rows; i++) {
    double u = pc_rng_uniform(&rng, i);
    size_t label = 0;
    for (; label + 1 < rows->classes && u > rows->probs[i * rows->classes + label]; label++)
      u -= rows->probs[i * rows->classes + label];
    rows->labels[i] = (int32_t)label;
  }
}

/* A calibrated model is rejected about once in twenty times, a bad one nearly always. */
TEST(test_size_and_power) {
  static class_rows rows;
  const size_t sets = fewer_if_emulated(200, 50);
  size_t rejected[2] = {0, 0}, block[2] = {0, 0};
  for (uint64_t set = 0; set < sets; set++) {
    class_rows_draw(set, 300, 3, 0, &rows);
    const given_data data = skce_test_data(&rows);
    for (int calibrated = 0; calibrated < 2; calibrated++) {
      if (calibrated)
        skce_test_calibrate(set, &rows);
      pcal_results *results =
          given_results(&data, "skce-test:replicas=100 skce-test:method=block,block=4");
      rejected[calibrated] += given_result(results, "skce-test:replicas=100").p_value < 0.05;
      block[calibrated] +=
          given_result(results, "skce-test:method=block,block=4").p_value < 0.05;
      pcal_results_free(results);
    }
  }
  assert_in_range(rejected[1], sets / 100, fewer_if_emulated(20, 8));
  assert_in_range(block[1], sets / 200, fewer_if_emulated(20, 8));
  assert_true(rejected[0] > sets * 6 / 10 && block[0] > block[1] && rejected[0] > block[0]);
}

/* By hand: T is N times skce; z comes from the values of the blocks. */
TEST(test_statistics) {
  static class_rows rows;
  class_rows_draw(1, 8, 3, 0, &rows);
  const given_data data = skce_test_data(&rows);
  pcal_results *results =
      given_results(&data, "skce skce-test skce-test:method=block skce:estimator=block");
  const pcal_result all = given_result(results, "skce"),
                    test = given_result(results, "skce-test");
  assert_near(test.value, 8 * all.value, 1e-12);
  assert_true(test.tested && test.p_value > 0 && test.p_value <= 1);
  double mean = 0, square = 0;
  for (size_t b = 0; b < 4; b++) {
    given_data two = data;
    two.rows = 2;
    two.scores = rows.probs + 6 * b;
    two.labels = rows.labels + 2 * b;
    pcal_results *pair = given_results(&two, "skce");
    const double value = given_result(pair, "skce").value;
    mean += value / 4;
    square += value * value / 4;
    pcal_results_free(pair);
  }
  const double z = mean / sqrt((square - mean * mean) / 3);
  const pcal_result block = given_result(results, "skce-test:method=block");
  assert_near(block.value, z, 1e-9);
  assert_near(block.p_value, pc_normal_tail(z), 1e-12);
  assert_near(block.parts[0].value, given_result(results, "skce:estimator=block").value, 1e-15);
  pcal_results_free(results);
}

TEST(test_edges) {
  static class_rows rows;
  class_rows_draw(1, 1, 3, 0, &rows);
  const given_data data = skce_test_data(&rows);
  pcal_results *results = given_results(&data, "skce-test skce-test:method=block");
  assert_false(given_result(results, "skce-test").defined);
  assert_false(given_result(results, "skce-test:method=block").defined);
  pcal_results_free(results);
  pcal_measure *measure = NULL;
  pcal_error err;
  const pcal_env env = PCAL_ENV_INIT;
  assert_int_equal(given_new(&data, "skce-test:block=4", &env, &measure, &err), PCAL_USAGE);
  assert_non_null(strstr(err.message, "method=block"));
  assert_int_equal(given_new(&data, "skce-test:method=block,replicas=30", &env, &measure, &err),
                   PCAL_USAGE);
}
