/* Spiegelhalter, Hosmer-Lemeshow, Cox, KS and Kuiper by hand, and their size under the null. */
#include "../measure/measure_help.h"

#include <math.h>

#include "base/rng.h"
#include "emulated.h"
#include "stats/distributions.h"

#define VIEW_TEST_SETS 2000
#define VIEW_TEST_ROWS 1000

static const given_data view_test_rows = {
    .kind = PCAL_PROBABILITY,
    .rows = 4,
    .columns = 1,
    .scores = (const double[]){0.25, 0.75, 0.75, 0.5},
    .labels = (const int32_t[]){0, 1, 0, 1},
};

static pcal_result view_test_result(const given_data *data, const char *spec,
                                    pcal_results **results) {
  *results = given_results(data, spec);
  return given_result(*results, spec);
}

/* (-0.25)(0.5) + (0.25)(-0.5) + (-0.75)(-0.5) = 0.125; variance 3 (0.25)(3/16) = 9/64. */
TEST(test_spiegelhalter_by_hand) {
  pcal_results *results;
  const pcal_result result = view_test_result(&view_test_rows, "spiegelhalter", &results);
  assert_near(result.value, 0.125 / sqrt(9.0 / 64), 1e-14);
  assert_true(result.tested);
  assert_near(result.p_value, 2 * pc_normal_tail(1.0 / 3), 1e-14);
  pcal_results_free(results);
}

/* One bin: outcomes 2, expected 2.25, variance 3 * 3/16 + 1/4. */
TEST(test_hosmer_lemeshow_by_hand) {
  pcal_results *results;
  pcal_result result =
      view_test_result(&view_test_rows, "hosmer-lemeshow:bins=1,expected=0", &results);
  assert_near(result.value, 0.0625 / 0.8125, 1e-13);
  assert_near(result.p_value, pc_chi_square_tail(0.0625 / 0.8125, 1), 1e-13);
  assert_near(given_part(&result, "degrees"), 1.0, 0);
  pcal_results_free(results);
  result = view_test_result(&view_test_rows, "hosmer-lemeshow:bins=1,variance=mean,expected=0",
                            &results);
  assert_near(result.value, 0.0625 / (2.25 * (1 - 2.25 / 4)), 1e-13);
  pcal_results_free(results);
}

/* C after 0.25: -0.25; after 0.5: 0.25; after both 0.75: -0.25. */
TEST(test_walks_by_hand) {
  pcal_results *results;
  pcal_result result = view_test_result(&view_test_rows, "ks-test", &results);
  assert_near(result.value, 0.25 / sqrt(0.8125), 1e-14);
  assert_near(result.p_value, pc_brownian_maximum_tail(result.value), 1e-14);
  pcal_results_free(results);
  result = view_test_result(&view_test_rows, "kuiper", &results);
  assert_near(result.value, 0.5 / sqrt(0.8125), 1e-14);
  assert_near(result.p_value, pc_brownian_range_tail(result.value), 1e-14);
  pcal_results_free(results);
}

/* Two distinct scores: the fit meets both frequencies, 1/4 at p = 0.2 and 1/2 at p = 0.8. */
TEST(test_cox_by_hand) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 6,
                           .columns = 1,
                           .scores = (const double[]){0.2, 0.2, 0.2, 0.2, 0.8, 0.8},
                           .labels = (const int32_t[]){0, 0, 1, 0, 1, 0}};
  const double x = log(4), slope = log(3) / (2 * x), intercept = -slope * x;
  const double fitted = 3 * log(0.75) + log(0.25) + 2 * log(0.5);
  const double given = 3 * log(0.8) + log(0.2) + log(0.8) + log(0.2);
  pcal_results *results;
  const pcal_result result = view_test_result(&data, "cox", &results);
  assert_near(given_part(&result, "slope"), slope, 1e-8);
  assert_near(given_part(&result, "intercept"), intercept, 1e-8);
  assert_near(result.value, 2 * (fitted - given), 1e-10);
  assert_near(result.p_value, exp(-(fitted - given)), 1e-10);
  pcal_results_free(results);
}

static void view_test_cannot(const given_data *data, const char *spec, const char *why) {
  pcal_results *results;
  const pcal_result result = view_test_result(data, spec, &results);
  assert_false(result.defined);
  assert_contains(result.why, why);
  pcal_results_free(results);
}

TEST(test_what_cannot_be_tested) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 2,
                     .columns = 1,
                     .scores = (const double[]){0, 1},
                     .labels = (const int32_t[]){0, 1}};
  view_test_cannot(&data, "spiegelhalter", "every score is 0, 1/2 or 1");
  view_test_cannot(&data, "hosmer-lemeshow", "every score is 0 or 1");
  view_test_cannot(&data, "ks-test", "every score is 0 or 1 and came true");
  view_test_cannot(&data, "cox", "has no finite logit; use cox:clip=1e-9");
  view_test_cannot(&data, "cox:clip=0.1", "separate the outcomes");
  data.labels = (const int32_t[]){1, 1};
  view_test_cannot(&data, "cox:clip=0.1", "all outcomes are the same");
  data.scores = (const double[]){0.3, 0.3};
  data.labels = (const int32_t[]){0, 1};
  view_test_cannot(&data, "cox", "all scores are the same");
}

/* A certain score that did not come true: infinitely unlikely. */
TEST(test_certainty_refuted) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){1, 1},
                           .labels = (const int32_t[]){1, 0}};
  static const char *const specs[] = {"ks-test", "kuiper", "hosmer-lemeshow"};
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    pcal_results *results;
    const pcal_result result = view_test_result(&data, specs[s], &results);
    assert_true(result.defined && isinf(result.value) && result.p_value == 0);
    pcal_results_free(results);
  }
}

/* The smallest of three p-values, times three. */
TEST(test_classwise_takes_holm) {
  const given_data data = {
      .kind = PCAL_PROBABILITY,
      .rows = 4,
      .columns = 3,
      .scores = (const double[]){0.5, 0.3, 0.2, 0.2, 0.1, 0.7, 0.3, 0.5, 0.2, 0.4, 0.35, 0.25},
      .labels = (const int32_t[]){0, 2, 0, 2},
  };
  double smallest = 1;
  size_t class = 9;
  for (size_t c = 0; c < 3; c++) {
    double scores[4];
    int32_t labels[4];
    for (size_t i = 0; i < 4; i++) {
      scores[i] = data.scores[3 * i + c];
      labels[i] = data.labels[i] == (int32_t)c;
    }
    const given_data one = {
        .kind = PCAL_PROBABILITY, .rows = 4, .columns = 1, .scores = scores, .labels = labels};
    pcal_results *results;
    const pcal_result result = view_test_result(&one, "kuiper", &results);
    class = result.p_value < smallest ? c : class;
    smallest = fmin(smallest, result.p_value);
    pcal_results_free(results);
  }
  pcal_results *results;
  const pcal_result result = view_test_result(&data, "kuiper:view=classwise", &results);
  assert_near(result.p_value, fmin(3 * smallest, 1), 1e-14);
  assert_near(given_part(&result, "class"), (double)class, 0);
  assert_int_equal(result.notion, PCAL_NOTION_CLASS_WISE);
  pcal_results_free(results);
}

/* Labels drawn from the scores: each test rejects at 5 % in about 5 % of the sets. */
TEST(test_size_under_the_null) {
  skip_if_emulated();
  static const char *const specs[] = {"spiegelhalter", "hosmer-lemeshow", "cox", "ks-test",
                                      "kuiper"};
  static double scores[VIEW_TEST_ROWS];
  static int32_t labels[VIEW_TEST_ROWS];
  int rejected[UNIT_COUNT(specs)] = {0};
  const pc_rng rng = {11, 0};
  uint64_t draw = 0;
  for (int set = 0; set < VIEW_TEST_SETS; set++) {
    for (size_t i = 0; i < VIEW_TEST_ROWS; i++) {
      scores[i] = pc_rng_uniform(&rng, draw++);
      labels[i] = pc_rng_uniform(&rng, draw++) < scores[i];
    }
    const given_data data = {.kind = PCAL_PROBABILITY,
                             .rows = VIEW_TEST_ROWS,
                             .columns = 1,
                             .scores = scores,
                             .labels = labels};
    pcal_results *results =
        given_results(&data, "spiegelhalter hosmer-lemeshow cox ks-test kuiper");
    for (size_t s = 0; s < UNIT_COUNT(specs); s++)
      rejected[s] += given_result(results, specs[s]).p_value < 0.05;
    pcal_results_free(results);
  }
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    const double share = (double)rejected[s] / VIEW_TEST_SETS;
    if (share < 0.035 || share > 0.065)
      print_error("%s rejects %.2f %%\n", specs[s], 100 * share);
    assert_true(share > 0.035 && share < 0.065);
  }
}

#define VIEW_TEST_MOST 100

/* Calibrated rows of several classes: normal logits, labels drawn from their softmax. */
static void view_test_draw(const pc_rng *rng, size_t rows, size_t classes, double *scores,
                           int32_t *labels, uint64_t *draw) {
  for (size_t i = 0; i < rows; i++) {
    double sum = 0, left = 0;
    for (size_t k = 0; k < classes; k++)
      sum += scores[i * classes + k] = exp(3 * pc_rng_normal(rng, (*draw)++));
    left = pc_rng_uniform(rng, (*draw)++);
    labels[i] = (int32_t)classes - 1;
    for (size_t k = classes; k-- > 0;)
      scores[i * classes + k] /= sum;
    for (size_t k = 0; k + 1 < classes; k++) {
      left -= scores[i * classes + k];
      if (left < 0) {
        labels[i] = (int32_t)k;
        break;
      }
    }
  }
}

/* The smallest of many p-values is not too small for calibrated rows, however few there are of
 * a class. */
TEST(test_size_by_class) {
  skip_if_emulated();
  static const struct {
    size_t rows, classes, sets;
  } cases[] = {{300, 10, 400}, {300, VIEW_TEST_MOST, 60}, {1000, 2, 300}};
  static const char *const specs[] = {
      "spiegelhalter:view=classwise", "hosmer-lemeshow:view=classwise",
      "cox:view=classwise,clip=1e-9", "ks-test:view=classwise", "kuiper:view=classwise"};
  static double scores[1000 * VIEW_TEST_MOST];
  static int32_t labels[1000];
  const pc_rng rng = {12, 0};
  uint64_t draw = 0;
  for (size_t c = 0; c < UNIT_COUNT(cases); c++) {
    size_t rejected[UNIT_COUNT(specs)] = {0};
    for (size_t set = 0; set < cases[c].sets; set++) {
      view_test_draw(&rng, cases[c].rows, cases[c].classes, scores, labels, &draw);
      const given_data data = {.kind = PCAL_PROBABILITY,
                               .rows = cases[c].rows,
                               .columns = cases[c].classes,
                               .scores = scores,
                               .labels = labels};
      for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
        pcal_results *results;
        const pcal_result result = view_test_result(&data, specs[s], &results);
        rejected[s] += result.defined && result.p_value < 0.05;
        pcal_results_free(results);
      }
    }
    for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
      const double share = (double)rejected[s] / (double)cases[c].sets;
      if (share > 0.085)
        print_error("%s, %zu classes: %.1f %%\n", specs[s], cases[c].classes, 100 * share);
      assert_true(share <= 0.085);
    }
  }
}

/* Four bins of 25 rows at 0.02, 0.06, 0.3 and 0.5: the first two expect 0.5 and 1.5 outcomes
 * and join the third, which expects 7.5; 9.5 of 75 and 12.5 of 25 are left. */
TEST(test_bins_that_expect_little_are_joined) {
  static double scores[100];
  static int32_t labels[100];
  static const double levels[] = {0.02, 0.06, 0.3, 0.5};
  for (size_t i = 0; i < 100; i++) {
    scores[i] = levels[i / 25];
    labels[i] = i % 5 == 0; /* 5 in each bin */
  }
  given_data data = {
      .kind = PCAL_PROBABILITY, .rows = 100, .columns = 1, .scores = scores, .labels = labels};
  pcal_results *results;
  const pcal_result result = view_test_result(&data, "hosmer-lemeshow:bins=4", &results);
  const double low = 25 * (0.02 * 0.98 + 0.06 * 0.94 + 0.3 * 0.7), high = 25 * 0.25;
  assert_near(result.value, 5.5 * 5.5 / low + 7.5 * 7.5 / high, 1e-12);
  assert_near(given_part(&result, "degrees"), 2, 0);
  pcal_results_free(results);
  data.rows = 50;
  view_test_cannot(&data, "hosmer-lemeshow", "too few outcomes are expected");
}
