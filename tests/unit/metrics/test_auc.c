/* AUC by counting pairs, DeLong's interval, Hand and Till by counting pairs of classes. */
#include "class_rows.h"
#include "event_rows.h"

/* DeLong from the 25 x 15 matrix of comparisons, on the logit scale. */
TEST(test_delong) {
  event_rows rows;
  const given_data data = event_rows_given(&rows);
  event_check_interval(&data, "auc", 0.9026666666666666, 0.752844002914019, 0.9657951838361011);
  pcal_results *results;
  const pcal_result plain = event_interval(&data, "auc", PCAL_INTERVAL_NORMAL, &results);
  assert_near(plain.high, 1.0, 0.0); /* not beyond the range */
  assert_near(plain.value - plain.low, 1.959963984540054 * 0.049909335789427196, 1e-12);
  pcal_results_free(results);
}

/* A weight of w counts as w rows, in the interval too. */
TEST(test_weights_are_copies) {
  const double scores[] = {0.2, 0.2, 0.2, 0.5, 0.6, 0.6, 0.9};
  const int32_t labels[] = {0, 0, 0, 1, 0, 1, 1};
  const given_data copies = {
      .kind = PCAL_PROBABILITY, .rows = 7, .columns = 1, .scores = scores, .labels = labels};
  const given_data weighted = {.kind = PCAL_PROBABILITY,
                               .rows = 5,
                               .columns = 1,
                               .scores = scores + 2,
                               .labels = labels + 2,
                               .weights = (const double[]){3, 1, 1, 1, 1}};
  pcal_results *results;
  const pcal_result one = event_interval(&copies, "auc", PCAL_INTERVAL_AUTO, &results);
  assert_near(one.value, (3 + 3.5 + 4) / 12, 1e-15);
  event_check_interval(&weighted, "auc", one.value, one.low, one.high);
  pcal_results_free(results);
}

static double auc_counted(const class_rows *rows, size_t class, const size_t *against) {
  double wins = 0, pairs = 0;
  for (size_t i = 0; i < rows->rows; i++)
    for (size_t j = 0; j < rows->rows; j++) {
      const size_t other = (size_t)rows->labels[j];
      if ((size_t)rows->labels[i] != class || other == class ||
          (against != NULL && other != *against))
        continue;
      const double a = rows->probs[i * rows->classes + class],
                   b = rows->probs[j * rows->classes + class];
      wins += a > b ? 1 : a == b ? 0.5 : 0;
      pairs += 1;
    }
  return wins / pairs;
}

TEST(test_several_classes_by_counting) {
  static class_rows rows;
  class_rows_draw(3, 200, 4, 1, &rows);
  const given_data data = class_rows_given(&rows);
  double rest = 0, pairs = 0;
  for (size_t k = 0; k < 4; k++) {
    rest += auc_counted(&rows, k, NULL) / 4;
    for (size_t l = 0; l < 4; l++)
      pairs += l == k ? 0 : auc_counted(&rows, k, &l) / 12;
  }
  assert_near(given_value(&data, "auc"), rest, 1e-14);
  assert_near(given_value(&data, "auc:view=hand-till"), pairs, 1e-14);
}

/* Edge case 2: a class without rows is left out. */
TEST(test_absent_class) {
  const given_data data = {
      .kind = PCAL_PROBABILITY,
      .rows = 4,
      .columns = 3,
      .scores = (const double[]){0.5, 0.3, 0.2, 0.2, 0.1, 0.7, 0.3, 0.1, 0.6, 0.4, 0.1, 0.5},
      .labels = (const int32_t[]){0, 2, 0, 2},
  };
  assert_near(given_value(&data, "auc"), 0.75, 1e-15);
  assert_near(given_value(&data, "auc:view=hand-till"), 0.75, 1e-15);
}

/* Edge cases 2, 3 and 5. */
TEST(test_no_value_and_no_interval) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 4,
                     .columns = 1,
                     .scores = (const double[]){0.1, 0.2, 0.7, 0.8},
                     .labels = (const int32_t[]){0, 0, 0, 0}};
  pcal_results *results;
  event_check_undefined(&data, "auc", "all outcomes are the same");
  data.labels = (const int32_t[]){0, 0, 1, 1};
  pcal_result result = event_interval(&data, "auc", PCAL_INTERVAL_AUTO, &results);
  assert_near(result.value, 1, 0);
  assert_false(result.has_interval);
  assert_contains(result.unsure, "do not determine a standard error");
  pcal_results_free(results);
  data.labels = (const int32_t[]){0, 1, 0, 0};
  result = event_interval(&data, "auc", PCAL_INTERVAL_AUTO, &results);
  assert_false(result.has_interval);
  pcal_results_free(results);
}

/* The top of two columns: correct rows against wrong ones. */
TEST(test_failure_auroc) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 4,
                           .columns = 2,
                           .scores = (const double[]){0.9, 0.1, 0.4, 0.6, 0.3, 0.7, 0.45, 0.55},
                           .labels = (const int32_t[]){0, 1, 0, 0}};
  assert_near(given_value(&data, "failure-auroc"), 3.0 / 4, 1e-15);
  assert_near(given_value(&data, "auc:view=top"), 3.0 / 4, 1e-15);
  assert_near(given_value(&data, "auc"), 1.0 / 3 * 2, 1e-15);
}

TEST(test_refused_views) {
  const given_data confidence = {.kind = PCAL_CONFIDENCE,
                                 .rows = 2,
                                 .columns = 1,
                                 .scores = (const double[]){0.6, 0.7},
                                 .labels = (const int32_t[]){0, 1}};
  given_refused(&confidence, "auc:view=ovr", PCAL_USAGE, "needs the probabilities of all");
  given_refused(&confidence, "auc:view=positive", PCAL_USAGE, "have only confidences");
  assert_near(given_value(&confidence, "auc"), 1, 0);
}
