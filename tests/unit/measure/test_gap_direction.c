/* The interval of the mean of signed gaps, against closed forms: all rows have one score, so that
 * means and variances are those of a share. */
#include "measure/replicas/gap_direction.h"

#include "measure_help.h"

enum { DIRECTION_ROWS = 100, DIRECTION_CLASSES = 3 };

static const double direction_z = 1.959963984540054; /* for a level of 0.95 */

typedef struct direction_data {
  int32_t labels[DIRECTION_ROWS], top[DIRECTION_ROWS];
  double score[DIRECTION_ROWS], probs[DIRECTION_ROWS * DIRECTION_CLASSES];
  double ones[DIRECTION_ROWS];
} direction_data;

/* Rows that give `score` to class 0 and half of the rest to classes 1 and 2; the first `hits` rows
 * are of class 0, the others of class 1. */
static pc_kept_rows direction_rows(direction_data *data, double score, size_t hits) {
  for (size_t i = 0; i < DIRECTION_ROWS; i++) {
    data->labels[i] = i >= hits;
    data->top[i] = 0;
    data->score[i] = data->probs[i * DIRECTION_CLASSES] = score;
    data->probs[i * DIRECTION_CLASSES + 1] = data->probs[i * DIRECTION_CLASSES + 2] =
        0.5 * (1.0 - score);
    data->ones[i] = 1.0;
  }
  return (pc_kept_rows){.count = DIRECTION_ROWS,
                        .classes = DIRECTION_CLASSES,
                        .labels = data->labels,
                        .weights = data->ones,
                        .copies = data->ones,
                        .probs = data->probs,
                        .score = data->score,
                        .top_label = data->top};
}

static pc_interval direction_ends(const char *spec, int by_cluster, const pc_kept_rows *rows) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  const pc_interval_request request = {.level = 0.95, .replicas = 20, .by_cluster = by_cluster};
  pc_layout layout;
  pc_measure_plan plan;
  pcal_error err;
  if (pc_layout_make(PCAL_PROBABILITY, DIRECTION_CLASSES, &layout, &err) != PCAL_OK ||
      pc_measure_plan_new(&env, &layout, &request, &spec, 1, &plan, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  const pc_row_moments moments = pc_row_moments_of(rows, 0, 0);
  const pc_gap_moments gaps = pc_gap_moments_of(&plan, 0, rows, 0);
  const pc_interval ends = pc_gap_direction(&plan, 0, &moments, &gaps);
  pc_measure_plan_free(&env, &plan);
  return ends;
}

static double direction_low(const char *spec, int by_cluster, const pc_kept_rows *rows) {
  return direction_ends(spec, by_cluster, rows).low;
}

/* Gaps are -0.2 in 60 rows and 0.8 in 40: mean 0.2, and the variance 0.24 that the data show is
 * larger than the claimed 0.16. */
TEST(test_the_variance_of_the_data) {
  direction_data data;
  const pc_kept_rows rows = direction_rows(&data, 0.8, 60);
  const double low = 0.2 - direction_z * sqrt(0.24 / 99.0);
  assert_near(direction_low("ece", 0, &rows), low, 1e-12);
  assert_near(direction_low("ece:norm=l2", 0, &rows), low, 1e-12); /* v is constant */
  assert_near(direction_low("smece", 0, &rows), low, 1e-12);
  assert_near(direction_ends("ece", 0, &rows).high, 0.4 - low, 1e-12);
}

/* A mean of 0.09 is 1.97 standard errors of 0.0456 from 0, on either side: beyond 1.96 of them in
 * 5 % of calibrated sets, but beyond 2.24 in half as many. */
TEST(test_either_side_counts_at_zero) {
  direction_data data;
  const pc_kept_rows rows = direction_rows(&data, 0.8, 71);
  const pc_interval ends = direction_ends("ece", 0, &rows);
  assert_same(ends.low, 0.0);
  assert_near(ends.high, 0.09 + direction_z * sqrt(0.71 * 0.29 / 99.0), 1e-12);
}

/* Gaps are -0.4 in 80 rows and 0.6 in 20: the claimed variance 0.24 is larger than 0.16. */
TEST(test_the_claimed_variance) {
  direction_data data;
  const pc_kept_rows rows = direction_rows(&data, 0.6, 80);
  assert_near(direction_low("ece", 0, &rows), 0.2 - direction_z * sqrt(0.24 / 99.0), 1e-12);
}

/* v is 1 for class 0 and -1 for the others: gaps of rows are -0.4/3 in 60 rows and 1.6/3 in 40.
 * With norm=l2, |v| is c (1 - c) of the bins' centres, 23/30 and 1/10 (0.1 is in the second of 15
 * bins): both gaps and norm follow from them. */
TEST(test_over_classes) {
  direction_data data;
  const pc_kept_rows rows = direction_rows(&data, 0.8, 60);
  const double mean = 0.4 / 3.0, shown = (60.0 * 0.64 + 40.0 * 1.44) / 9.0;
  assert_near(direction_low("gce:scope=all", 0, &rows),
              mean - direction_z * sqrt(shown / (99.0 * 100.0)), 1e-12);
  const double centre = (floor(0.8 * 15.0) + 0.5) / 15.0, low = 1.5 / 15.0;
  const double v = centre * (1.0 - centre), w = low * (1.0 - low);
  const double right = (-0.2 * v - 0.2 * w) / 3.0, wrong = (0.8 * v + 0.9 * w - 0.1 * w) / 3.0;
  const double middle = 0.6 * right + 0.4 * wrong, away = right - middle,
               other = wrong - middle;
  const double spread = 60.0 * away * away + 40.0 * other * other;
  const double norm = sqrt((v * v + 2.0 * w * w) / 3.0);
  assert_near(direction_low("gce:scope=all,norm=l2", 0, &rows),
              (fabs(middle) - direction_z * sqrt(spread / (99.0 * 100.0))) / norm, 1e-12);
}

/* A mean that chance explains gives no bound. */
TEST(test_no_direction) {
  direction_data data;
  const pc_kept_rows rows = direction_rows(&data, 0.8, 79);
  assert_same(direction_low("ece", 0, &rows), 0.0);
}

/* Edge cases 1 and 3. */
TEST(test_nothing_is_said) {
  direction_data data;
  pc_kept_rows rows = direction_rows(&data, 0.8, 60);
  assert_same(direction_low("brier", 0, &rows), 0.0);
  assert_true(isinf(direction_ends("brier", 0, &rows).high));
  assert_same(direction_low("ece", 1, &rows), 0.0);
  assert_same(direction_low("gce:scope=all,binning=adaptive", 0, &rows), 0.0);
  assert_same(direction_low("gce:classwise=yes", 0, &rows), 0.0); /* another view */
  rows.probs = NULL;
  assert_same(direction_low("gce:scope=all", 0, &rows), 0.0);
  rows = direction_rows(&data, 0.2, 91);
  assert_same(direction_low("ece", 0, &rows), 0.0); /* nine rows of the rarer outcome */
  rows = direction_rows(&data, 0.2, 90);
  assert_true(direction_low("ece", 0, &rows) > 0.5);
}
