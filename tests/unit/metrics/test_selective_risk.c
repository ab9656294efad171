/* Risk and coverage by hand, in all orders of ties, and against failure-auroc. */
#include "class_rows.h"
#include "event_rows.h"

/* Confidences 0.9, 0.8, 0.7, 0.6: right, wrong, right, wrong. */
static const given_data selective_rows = {
    .kind = PCAL_CONFIDENCE,
    .rows = 4,
    .columns = 1,
    .scores = (const double[]){0.6, 0.9, 0.7, 0.8},
    .labels = (const int32_t[]){0, 1, 1, 0},
};

TEST(test_areas_by_hand) {
  const double area = (0 + 1.0 / 2 + 1.0 / 3 + 2.0 / 4) / 4, ideal = (1.0 / 3 + 2.0 / 4) / 4;
  assert_near(given_value(&selective_rows, "aurc"), area, 1e-14);
  assert_near(given_value(&selective_rows, "excess-aurc"), area - ideal, 1e-14);
  /* trapezoids of 0 0 1 1 2 */
  assert_near(given_value(&selective_rows, "augrc"), (0 + 0.5 + 1 + 1.5) / 16, 1e-14);
}

TEST(test_risks_by_hand) {
  assert_near(given_value(&selective_rows, "selective-risk:coverage=0.25"), 0, 0);
  assert_near(given_value(&selective_rows, "selective-risk:coverage=0.5"), 0.5, 1e-15);
  assert_near(given_value(&selective_rows, "selective-risk:coverage=0.375"), 0.5 / 1.5, 1e-15);
  assert_near(given_value(&selective_rows, "selective-risk:coverage=1"), 0.5, 1e-15);
  assert_near(given_value(&selective_rows, "coverage-at-risk:risk=0.4"), 0.75, 1e-15);
  assert_near(given_value(&selective_rows, "coverage-at-risk:risk=0.1"), 0.25, 1e-15);
}

/* Edge case 2: the most confident rows are tied, one of them wrong. */
TEST(test_no_coverage) {
  given_data data = selective_rows;
  data.scores = (const double[]){0.9, 0.9, 0.9, 0.8};
  assert_near(given_value(&data, "coverage-at-risk:risk=0.3"), 0, 0);
  assert_near(given_value(&data, "coverage-at-risk:risk=0.34"), 0.75, 1e-15);
}

/* Mean over all orders of the rows [begin, end) of a tie, by exchanging them. */
static double selective_all_orders(int *wrong, size_t count, size_t begin, size_t end,
                                   size_t *orders) {
  double sum = 0;
  if (begin + 1 >= end) {
    double errors = 0;
    for (size_t n = 0; n < count; n++) {
      errors += wrong[n];
      sum += errors / (double)(n + 1) / (double)count;
    }
    ++*orders;
    return sum;
  }
  for (size_t i = begin; i < end; i++) {
    int swap = wrong[begin];
    wrong[begin] = wrong[i];
    wrong[i] = swap;
    sum += selective_all_orders(wrong, count, begin + 1, end, orders);
    swap = wrong[begin];
    wrong[begin] = wrong[i];
    wrong[i] = swap;
  }
  return sum;
}

/* Edge case 1. */
TEST(test_ties_are_the_mean_of_all_orders) {
  const given_data data = {
      .kind = PCAL_CONFIDENCE,
      .rows = 8,
      .columns = 1,
      .scores = (const double[]){0.9, 0.7, 0.7, 0.7, 0.7, 0.7, 0.4, 0.3},
      .labels = (const int32_t[]){0, 1, 0, 1, 1, 0, 1, 0},
  };
  int wrong[] = {1, 0, 1, 0, 0, 1, 0, 1};
  size_t orders = 0;
  const double sum = selective_all_orders(wrong, 8, 1, 6, &orders);
  assert_near(given_value(&data, "aurc"), sum / (double)orders, 1e-14);
}

/* Edge case 3: weights are copies, also in large ties. */
TEST(test_weights) {
  enum { SELECTIVE_COPIES = 300 };
  static double scores[SELECTIVE_COPIES];
  static int32_t labels[SELECTIVE_COPIES];
  double area = 0, errors = 0;
  for (size_t i = 0; i < SELECTIVE_COPIES; i++) {
    scores[i] = i < 100 ? 0.9 : 0.5;
    labels[i] = i < 100 ? i % 4 > 0 : i % 2 > 0;
    errors += i < 100 ? 0.25 : 0.5; /* expected over orders */
    area += errors / (double)(i + 1) / SELECTIVE_COPIES;
  }
  const given_data copies = {.kind = PCAL_CONFIDENCE,
                             .rows = SELECTIVE_COPIES,
                             .columns = 1,
                             .scores = scores,
                             .labels = labels};
  const given_data weighted = {.kind = PCAL_CONFIDENCE,
                               .rows = 4,
                               .columns = 1,
                               .scores = (const double[]){0.9, 0.9, 0.5, 0.5},
                               .labels = (const int32_t[]){1, 0, 1, 0},
                               .weights = (const double[]){75, 25, 100, 100}};
  assert_near(given_value(&copies, "aurc"), area, 1e-13);
  assert_near(given_value(&weighted, "aurc"), given_value(&copies, "aurc"), 0);
}

/* augrc = (1 - failure-auroc) a (1 - a) + (1 - a)^2 / 2, with ties. */
TEST(test_augrc_from_auroc) {
  static class_rows rows;
  class_rows_draw(11, 300, 3, 1, &rows);
  const given_data data = class_rows_given(&rows);
  const double a = given_value(&data, "accuracy"), auroc = given_value(&data, "failure-auroc");
  assert_near(given_value(&data, "augrc"), (1 - auroc) * a * (1 - a) + (1 - a) * (1 - a) / 2,
              1e-13);
}
