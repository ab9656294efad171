/* Draws of rows that stand for many copies: standard errors are those of as many rows. */
#include "measure/replicas/draws.h"

#include "emulated.h"
#include "kernels/replica_sum_kernels.h"
#include "measure_help.h"

#define DRAWS_DISTINCT 20
#define DRAWS_COPIES 50000.0
#define DRAWS_REPLICAS fewer_if_emulated(4000, 2000)

/* Twenty distinct rows: scores of ten places, with both outcomes; class 1 is rarer than said.
 */
typedef struct draws_data {
  double scores[DRAWS_DISTINCT], weights[DRAWS_DISTINCT];
  int32_t labels[DRAWS_DISTINCT];
} draws_data;

static draws_data draws_twenty(void) {
  draws_data data;
  for (size_t i = 0; i < DRAWS_DISTINCT; i++) {
    data.scores[i] = 0.5 + 0.04 * (double)(i / 2);
    data.labels[i] = (int32_t)(i % 2);
    data.weights[i] = i % 2 == 0 ? 1.5 * DRAWS_COPIES : 0.5 * DRAWS_COPIES;
  }
  return data;
}

static pcal_results *draws_measure(const draws_data *data, const char *spec,
                                   pcal_interval_method method, uint64_t seed) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  const given_data given = {.kind = PCAL_PROBABILITY,
                            .rows = DRAWS_DISTINCT,
                            .columns = 1,
                            .scores = data->scores,
                            .labels = data->labels,
                            .weights = data->weights};
  const pcal_batch batch = given_batch(&given);
  config.kind = PCAL_PROBABILITY;
  config.columns = 1;
  config.specs = &spec;
  config.spec_count = 1;
  config.interval = 0.95;
  config.interval_method = method;
  config.null = 1;
  config.replicas = DRAWS_REPLICAS;
  env.seed = seed;
  assert_int_equal(pcal_measure_new(&config, &env, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  pcal_measure_free(measure);
  return results;
}

static double draws_se(const draws_data *data, const char *spec, pcal_interval_method method,
                       uint64_t seed) {
  pcal_result result = {.size = sizeof result};
  pcal_results *results = draws_measure(data, spec, method, seed);
  pcal_results_get(results, 0, &result);
  assert_true(result.has_interval);
  pcal_results_free(results);
  return result.se;
}

/* All bins lie on one side, so the ECE is the mean of score less outcome, and its standard
 * error that of a mean. */
static double draws_expected(const draws_data *data) {
  double n = 0.0, mean = 0.0, square = 0.0;
  for (size_t i = 0; i < DRAWS_DISTINCT; i++) {
    const double x = data->scores[i] - data->labels[i];
    n += data->weights[i];
    mean += data->weights[i] * x;
    square += data->weights[i] * x * x;
  }
  mean /= n;
  return sqrt((square / n - mean * mean) / n);
}

TEST(test_standard_error_of_a_million_rows) {
  const draws_data data = draws_twenty();
  const double expected = draws_expected(&data);
  assert_true(fabs(draws_se(&data, "ece", PCAL_INTERVAL_PERCENTILE, 0) / expected - 1) < 0.05);
  assert_true(fabs(draws_se(&data, "ks", PCAL_INTERVAL_PERCENTILE, 0) / expected - 1) < 0.05);
  double variance = 0.0;
  for (uint64_t seed = 1; seed <= 40; seed++) /* 50 blocks each: 3 % in all */
    variance += pow(draws_se(&data, "ece", PCAL_INTERVAL_JACKKNIFE, seed), 2) / 40;
  assert_true(fabs(sqrt(variance) / expected - 1) < 0.08);
}

/* The band of accuracy in calibrated replicas: a sum of binomials. */
TEST(test_null_of_a_million_rows) {
  const draws_data data = draws_twenty();
  double n = 0.0, mean = 0.0, variance = 0.0;
  for (size_t i = 0; i < DRAWS_DISTINCT; i++) {
    n += data.weights[i];
    mean += data.weights[i] * data.scores[i];
    variance += data.weights[i] * data.scores[i] * (1 - data.scores[i]);
  }
  pcal_result result = {.size = sizeof result};
  pcal_results *results = draws_measure(&data, "accuracy", PCAL_INTERVAL_AUTO, 3);
  pcal_results_get(results, 0, &result);
  assert_true(result.has_null);
  /* A score of 1/2 predicts class 0, which comes true as often. */
  const double sd = sqrt(variance) / n;
  assert_true(fabs(result.null_mean - mean / n) < 5 * sd / sqrt((double)DRAWS_REPLICAS));
  assert_true(fabs((result.null_high - result.null_low) / (2 * 1.959964 * sd) - 1) < 0.08);
  pcal_results_free(results);
}

/* Blocks share out all copies, each about as many. */
TEST(test_blocks_share_all_copies) {
  const double copies[] = {1, 2, 16, 17, 1000, 50000};
  const size_t blocks[] = {20, 50}, keys = fewer_if_emulated(2000, 1000);
  for (size_t c = 0; c < 12; c++) {
    const size_t count = blocks[c / 6];
    const double m = copies[c % 6];
    double square = 0.0;
    for (uint64_t key = 0; key < keys; key++) {
      double all = 0.0;
      for (size_t first = 0; first < count; first += PC_DRAWS_BATCH) {
        double out[PC_DRAWS_BATCH];
        pc_draw_blocks(5, key * 977, m, count, first, out);
        for (size_t q = 0; q < PC_DRAWS_BATCH; q++) {
          assert_true(out[q] >= 0 && (first + q < count || out[q] == 0));
          all += out[q];
          if (first + q < count)
            square += pow(out[q] - m / (double)count, 2);
        }
      }
      assert_true(all == m);
    }
    const double expected = m * (1 - 1 / (double)count); /* of all blocks together */
    assert_true(fabs(square / (double)keys / expected - 1) < 0.06);
  }
}

/* Shares of labels: all copies, in the proportion of the probabilities. */
TEST(test_labels_share_all_copies) {
  double probs[] = {0.1, 0.6, 0.05, 0.25}, score[] = {0.6}, copies[1];
  int32_t top[] = {1};
  uint64_t ids[] = {99};
  const double numbers[] = {2, 16, 17, 3000};
  const pcal_env env = pc_env_resolve(NULL);
  pc_drawn_outcomes shares = {0};
  const pc_kept_rows rows = {.count = 1,
                             .classes = 4,
                             .ids = ids,
                             .copies = copies,
                             .score = score,
                             .top_label = top,
                             .probs = probs};
  for (size_t c = 0; c < 4; c++) {
    double seen[4] = {0.0};
    copies[0] = numbers[c];
    const size_t replicas = fewer_if_emulated(3000, 300);
    const double draws = (double)replicas * copies[0];
    for (size_t replica = 0; replica < replicas; replica++) {
      double all = 0.0;
      pc_drawn_outcomes_clear(&shares);
      assert_int_equal(pc_draw_labels(&env, 1, replica, &rows, 0, &shares, NULL), PCAL_OK);
      for (int32_t k = 0; k < 4; k++) {
        seen[k] += pc_drawn_outcomes_copies(&shares, 0, k);
        all += pc_drawn_outcomes_copies(&shares, 0, k);
      }
      assert_true(all == copies[0]);
    }
    for (size_t k = 0; k < 4; k++)
      assert_true(fabs(seen[k] - draws * probs[k]) < 5 * sqrt(draws * probs[k]));
  }
  pc_drawn_outcomes_free(&env, &shares);
}

/* Few copies of a row draw what rows with their keys draw. */
TEST(test_copies_draw_as_rows_of_their_own) {
  enum { COPIES = 5, REPLICAS = 64 };
  double probs[4 * COPIES], score[COPIES], copies[COPIES];
  int32_t top[COPIES], drawn[COPIES * PC_REPLICA_LANES];
  uint64_t ids[COPIES];
  uint8_t hits[COPIES];
  const pcal_env env = pc_env_resolve(NULL);
  pc_drawn_outcomes shares = {0};
  for (size_t c = 0; c < COPIES; c++) {
    memcpy(probs + 4 * c, (const double[]){0.2, 0.35, 0.15, 0.3}, 4 * sizeof(double));
    score[c] = 0.35;
    top[c] = 1;
    copies[c] = COPIES;
    ids[c] = pc_draw_copy_key(99, c);
  }
  assert_true(ids[0] == 99);
  const pc_kept_rows rows = {.count = COPIES,
                             .classes = 4,
                             .ids = ids,
                             .copies = copies,
                             .score = score,
                             .top_label = top,
                             .probs = probs};
  for (size_t replica = 0; replica < REPLICAS; replica++) {
    const size_t lane = replica % PC_REPLICA_LANES;
    pc_draw_label_lanes(1, replica - lane, &rows, drawn, hits);
    pc_drawn_outcomes_clear(&shares);
    assert_int_equal(pc_draw_labels(&env, 1, replica, &rows, 0, &shares, NULL), PCAL_OK);
    for (int32_t k = 0; k < 4; k++) {
      double expected = 0.0;
      for (size_t c = 0; c < COPIES; c++)
        expected += drawn[c * PC_REPLICA_LANES + lane] == k;
      assert_same(pc_drawn_outcomes_copies(&shares, 0, k), expected);
    }
  }
  pc_drawn_outcomes_free(&env, &shares);
}

/* Whether the first class came true does not depend on whether the others are known. */
TEST(test_hits_do_not_depend_on_what_is_kept) {
  double probs[] = {0.1, 0.6, 0.05, 0.25}, score[] = {0.6};
  int32_t top[] = {1};
  uint64_t ids[] = {4};
  pc_kept_rows whole = {.count = 1, .classes = 4, .ids = ids, .score = score, .top_label = top};
  pc_kept_rows bare = whole;
  whole.probs = probs;
  for (size_t replica = 0; replica < 500; replica++)
    assert_int_equal(pc_draw_label(7, replica, &whole, 0) == 1,
                     pc_draw_label(7, replica, &bare, 0) == 1);
}

/* Targets of many copies of a normal prediction have its mean and variance. */
TEST(test_targets_have_the_law_of_the_prediction) {
  double forecast[] = {3.0, 2.0, 0.0}, copies[] = {100000};
  uint64_t ids[] = {12};
  const pcal_env env = pc_env_resolve(NULL);
  const pc_layout layout = {
      .kind = PCAL_MEAN_STD, .columns = 2, .classes = 3, .form = PC_FORM_GAUSSIAN};
  const pc_kept_rows rows = {
      .count = 1, .classes = 3, .ids = ids, .copies = copies, .probs = forecast};
  double means = 0.0, variance = 0.0;
  for (size_t replica = 0; replica < 400; replica++) {
    pc_drawn_outcomes shares = {0};
    double all = 0.0, mean = 0.0, square = 0.0;
    assert_int_equal(pc_draw_targets(&env, 1, replica, &layout, &rows, 0, &shares, NULL),
                     PCAL_OK);
    for (size_t s = 0; s < shares.count; s++) {
      all += shares.list[s].copies;
      mean += shares.list[s].copies * shares.list[s].outcome / copies[0];
      square += shares.list[s].copies * pow(shares.list[s].outcome - 3, 2) / copies[0];
    }
    assert_true(all == copies[0] && shares.count <= 712);
    assert_true(fabs(square - 4) < 5 * 4 * sqrt(2 / 1e5));
    means += mean / 400;
    variance += pow(mean - 3, 2) / 400;
    pc_drawn_outcomes_free(&env, &shares);
  }
  assert_true(fabs(means - 3) < 5 * sqrt(4 / 1e5 / 400));
  assert_true(fabs(variance / (4 / 1e5) - 1) < 5 * sqrt(2.0 / 400));
}
