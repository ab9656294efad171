#include "../measure/measure_help.h"

/* Three classes; sorted by confidence: 0.4 wrong, 0.5 right, 0.5 wrong, 0.7 right. */
static const given_data ks_rows = {
    .kind = PCAL_PROBABILITY,
    .rows = 4,
    .columns = 3,
    .scores = (const double[]){0.5, 0.3, 0.2, 0.2, 0.1, 0.7, 0.3, 0.5, 0.2, 0.4, 0.35, 0.25},
    .labels = (const int32_t[]){0, 2, 0, 2},
};

static void ks_check(const given_data *data, const char *spec, double value, double at,
                     double gap) {
  pcal_results *results = given_results(data, spec);
  const pcal_result result = given_result(results, spec);
  assert_near(result.value, value, 1e-14);
  assert_near(given_part(&result, "at"), at, 1e-14);
  assert_near(given_part(&result, "signed"), gap, 1e-14);
  pcal_results_free(results);
}

/* 0.4, then -0.1 + 0.5 more at the tie: 0.4 again, then 0.1.  Over rows it would be 0.4 or
 * 0.9, depending on which of the two ties comes first. */
TEST(test_1_only_distinct_scores_count) {
  ks_check(&ks_rows, "ks", 0.1, 0.4, 0.1);
  const given_data ties = {.kind = PCAL_CONFIDENCE,
                           .rows = 4,
                           .columns = 1,
                           .scores = (const double[]){0.5, 0.5, 0.5, 0.5},
                           .labels = (const int32_t[]){0, 0, 1, 1}};
  ks_check(&ties, "ks", 0.0, 0.5, 0.0);
}

TEST(test_2_ranks) {
  assert_near(given_value(&ks_rows, "ks:rank=1"), 0.1, 1e-14);
  /* second: 0.2 (class 0, wrong), 0.3 (class 1, wrong), 0.3 (class 0, right), 0.35 (wrong):
   * 0.2, then 0.2 + 0.6 - 1, then 0.15 more */
  ks_check(&ks_rows, "ks:rank=2", 0.2 / 4, 0.2, 0.2 / 4);
  /* third: 0.1, 0.2, 0.2 wrong, 0.25 right: 0.1, 0.5, -0.25 */
  ks_check(&ks_rows, "ks:rank=3", 0.5 / 4, 0.2, 0.5 / 4);
}

TEST(test_2_within) {
  assert_same(given_value(&ks_rows, "ks:within=1"), given_value(&ks_rows, "ks:rank=1"));
  /* 0.75 (labels 0 1, wrong), 0.8 and 0.8 and 0.9 right: 0.75, 0.35, 0.25 */
  ks_check(&ks_rows, "ks:within=2", 0.75 / 4, 0.75, 0.75 / 4);
  assert_near(given_value(&ks_rows, "ks:within=3") + 1, 1.0, 1e-15);
}

TEST(test_2_classes) {
  /* class 2: 0.2 and 0.2 wrong, 0.25 right, 0.7 right: 0.4, -0.35, -0.65 */
  ks_check(&ks_rows, "ks:class=2", 0.65 / 4, 0.7, -0.65 / 4);
  /* class 1: 0.1, 0.3, 0.35, 0.5, never true */
  ks_check(&ks_rows, "ks:class=1", 1.25 / 4, 0.5, 1.25 / 4);
}

TEST(test_2_at_most_one_of_them) {
  given_refused(&ks_rows, "ks:rank=1,within=2", PCAL_USAGE,
                "give one of rank, within and class");
  given_refused(&ks_rows, "ks:class=0,within=2", PCAL_USAGE, "not several");
  given_refused(&ks_rows, "ks:rank=4", PCAL_USAGE,
                "ks: rank=4 is too large for the data; the largest possible is 3");
  given_refused(&ks_rows, "ks:class=3", PCAL_USAGE, "the largest possible is 2");
  given_refused(&ks_rows, "ks:within=4", PCAL_USAGE, "the largest possible is 3");
  given_refused(&ks_rows, "ks:rank=0", PCAL_USAGE, "rank must be between 1 and");
}

/* Predicted 0: 0.4 wrong, 0.5 right, so 0.4; predicted 1: 0.5 wrong; predicted 2: 0.7 right. */
TEST(test_3_by_label) {
  pcal_results *results = given_results(&ks_rows, "ks:by=label");
  const pcal_result result = given_result(results, "ks:by=label");
  assert_near(result.value, (0.4 + 0.5 + 0.3) / 4, 1e-14);
  assert_int_equal(result.part_count, 0);
  assert_string_equal(result.spec, "ks:rank=1,by=label");
  pcal_results_free(results);
  given_refused(&ks_rows, "ks:by=label,rank=2", PCAL_USAGE, "ks: by=label needs rank=1");
  given_refused(&ks_rows, "ks:by=label,class=1", PCAL_USAGE, "ks: by=label needs rank=1");
}

TEST(test_4_one_column_means_class_1) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.25, 0.5},
                           .labels = (const int32_t[]){1, 0}};
  ks_check(&data, "ks", 0.75 / 2, 0.25, -0.75 / 2);
  ks_check(&data, "ks:rank=1", 0.5 / 2, 0.5, -0.5 / 2);
  pcal_results *results = given_results(&data, "ks");
  assert_string_equal(given_result(results, "ks").spec, "ks:class=1,by=pooled");
  assert_string_equal(given_result(results, "ks").label, "ks");
  assert_int_equal(given_result(results, "ks").notion, PCAL_NOTION_CANONICAL);
  pcal_results_free(results);
}

TEST(test_confidences_have_one_rank) {
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.25, 0.5},
                           .labels = (const int32_t[]){1, 0}};
  ks_check(&data, "ks", 0.75 / 2, 0.25, -0.75 / 2);
  given_refused(&data, "ks:rank=2", PCAL_USAGE, "the largest possible is 1");
  given_refused(&data, "ks:class=1", PCAL_USAGE,
                "ks: confidences are of the predicted "
                "class only; remove within= and class=");
  given_refused(&data, "ks:within=1", PCAL_USAGE,
                "ks: confidences are of the predicted "
                "class only; remove within= and class=");
  given_refused(&data, "ks:by=label", PCAL_USAGE, "by=label needs the predicted labels");
}

TEST(test_notion_follows_the_view) {
  pcal_results *results = given_results(&ks_rows, "ks ks:class=1 ks:within=2");
  assert_int_equal(given_result(results, "ks").notion, PCAL_NOTION_TOP_LABEL);
  assert_int_equal(given_result(results, "ks:class=1").notion, PCAL_NOTION_CLASS_WISE);
  assert_int_equal(given_result(results, "ks").bound, PCAL_BOUND_LOWER);
  pcal_results_free(results);
}

/* ---- the curve ---- */

TEST(test_curve) {
  pcal_results *results = given_results_with_curves(&ks_rows, "ks ks:class=2");
  given_check_column(results, 0, "score", (const double[]){0.4, 0.5, 0.7}, 3);
  given_check_column(results, 0, "fraction", (const double[]){0.25, 0.75, 1}, 3);
  given_check_column(results, 0, "cumulated_score", (const double[]){0.1, 0.35, 0.525}, 3);
  given_check_column(results, 0, "cumulated_outcome", (const double[]){0, 0.25, 0.5}, 3);
  given_check_column(results, 1, "score", (const double[]){0.2, 0.25, 0.7}, 3);
  given_check_column(results, 1, "cumulated_outcome", (const double[]){0, 0.25, 0.5}, 3);
  pcal_results_free(results);
  results = given_results(&ks_rows, "ks");
  pcal_curve curve = PCAL_CURVE_INIT;
  pcal_results_get_curve(results, 0, &curve);
  assert_int_equal(curve.count, 0); /* nobody asked */
  assert_int_equal(curve.column_count, 0);
  pcal_results_free(results);
}

TEST(test_curve_by_label) {
  pcal_results *results = given_results_with_curves(&ks_rows, "ks:by=label");
  given_check_column(results, 0, "label", (const double[]){0, 0, 1, 2}, 4);
  given_check_column(results, 0, "score", (const double[]){0.4, 0.5, 0.5, 0.7}, 4);
  given_check_column(results, 0, "fraction", (const double[]){0.25, 0.5, 0.25, 0.25}, 4);
  given_check_column(results, 0, "cumulated_outcome", (const double[]){0, 0.25, 0, 0.25}, 4);
  pcal_results_free(results);
}

#define KS_MANY 20000

/* A long curve is thinned, and still has its largest distance. */
TEST(test_curve_is_thinned) {
  static double scores[KS_MANY];
  static int32_t labels[KS_MANY];
  for (size_t i = 0; i < KS_MANY; i++) {
    scores[i] = ((double)i + 0.5) / KS_MANY;
    labels[i] = i * 7919 % KS_MANY < KS_MANY / 3 + i / 3;
  }
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = KS_MANY,
                           .columns = 1,
                           .scores = scores,
                           .labels = labels};
  pcal_results *results = given_results_with_curves(&data, "ks");
  const pcal_result result = given_result(results, "ks");
  pcal_curve curve = PCAL_CURVE_INIT;
  pcal_results_get_curve(results, 0, &curve);
  assert_true(curve.count > 500 && curve.count <= 1000);
  double largest = 0.0;
  for (size_t i = 0; i < curve.count; i++)
    largest = fmax(largest, fabs(curve.columns[2][i] - curve.columns[3][i]));
  assert_near(largest, result.value, 1e-12);
  assert_near(curve.columns[1][curve.count - 1], 1.0, 1e-15);
  pcal_results_free(results);
}
