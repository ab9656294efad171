/* Numbers in brackets are the edge cases of platt.c. */
#include "calibrators/linear/logistic.h"
#include "convex_help.h"

enum { ROWS = 800, K = 4 };

static double logits[ROWS * K], out[ROWS * K];
static int32_t labels[ROWS];

/* Two scores only: q is the mean of the smooth targets of each. */
TEST(closed_form) {
  static const double z[] = {1, 1, 1, 1, 1, -2, -2, -2, -2, -2};
  static const int32_t y[] = {1, 1, 1, 1, 0, 0, 0, 0, 1, 0};
  const pcal_batch batch = help_batch(PCAL_LOGIT, z, y, 10, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "platt");
  const pc_logistic *model = calibrator->parameters;
  const double high = 6.0 / 7.0, low = 1.0 / 7.0;
  const double first = (4.0 * high + low) / 5.0, second = (high + 4.0 * low) / 5.0;
  double q[10];
  help_apply(calibrator, &batch, q);
  assert_near(q[0], first, 1e-10);
  assert_near(q[9], second, 1e-10);
  const double odds = log(first / (1.0 - first)), other = log(second / (1.0 - second));
  assert_near(model->slope[0][0], (odds - other) / 3.0, 1e-9);
  assert_near(model->shift[0], odds - model->slope[0][0], 1e-9);
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  assert_true((pc_calibrator_traits(calibrator) & PC_INJECTIVE) != 0);
  char word[64];
  assert_string_equal(pc_calibrator_objective(calibrator, word, sizeof word), "log-ovr");
  pcal_calibrator_free(calibrator);
}

/* The objective is the sum over classes of smooth log scores; moving a or b raises it. */
TEST(result_is_a_minimum) {
  help_draw(logits, labels, ROWS, K, 2.0, 1.5);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_calibrator *calibrator = help_fit(&batch, "platt");
  const pc_logistic *model = calibrator->parameters;
  double best = 0.0;
  for (int side = 0; side < 5; side++) {
    double total = 0.0;
    for (size_t c = 0; c < K; c++) {
      double hits = 0.0;
      for (size_t i = 0; i < ROWS; i++)
        hits += labels[i] == (int32_t)c;
      const double a = model->slope[0][c] + (side == 1 ? 0.01 : side == 2 ? -0.01 : 0.0);
      const double b = model->shift[c] + (side == 3 ? 0.01 : side == 4 ? -0.01 : 0.0);
      for (size_t i = 0; i < ROWS; i++) {
        const double p = 1.0 / (1.0 + exp(-(a * logits[i * K + c] + b)));
        const double t =
            labels[i] == (int32_t)c ? (hits + 1.0) / (hits + 2.0) : 1.0 / (ROWS - hits + 2.0);
        total -= (t * log(p) + (1.0 - t) * log(1.0 - p)) / ROWS;
      }
    }
    best = side == 0 ? total : best;
    assert_true(side == 0 || total > best);
  }
  assert_near(calibrator->fit.after, best, 1e-12);
  help_apply(calibrator, &batch, out);
  for (size_t i = 0; i < ROWS; i++)
    assert_near(out[i * K] + out[i * K + 1] + out[i * K + 2] + out[i * K + 3], 1.0, 1e-14);
  pcal_calibrator_free(calibrator);
}

/* [1] Probabilities as log-odds: the same as their logits. */
TEST(probabilities_enter_as_odds) {
  static double probs[ROWS];
  help_draw(logits, labels, ROWS, 1, 2.0, 1.5);
  for (size_t i = 0; i < ROWS; i++) {
    labels[i] = logits[i] > 1.5 - 0.01 * (double)(i % 300);
    probs[i] = 1.0 / (1.0 + exp(-logits[i]));
  }
  const pcal_batch a = help_batch(PCAL_LOGIT, logits, labels, ROWS, 1);
  const pcal_batch b = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 1);
  pcal_calibrator *first = help_fit(&a, "platt"), *second = help_fit(&b, "platt");
  const pc_logistic *one = first->parameters, *two = second->parameters;
  assert_near(one->slope[0][0], two->slope[0][0], 1e-9);
  assert_near(one->shift[0], two->shift[0], 1e-9);
  assert_int_equal(first->fit.warning_count, 0);
  assert_true(help_warns(second, "probabilities were given: a and b act on their log-odds"));
  pcal_calibrator_free(first);
  pcal_calibrator_free(second);
}

/* [3] */
TEST(shares_of_tiny_sigmoids_are_kept) {
  static const char text[] =
      "{\"format\": \"propercal-calibrator\", \"version\": 1, \"spec\": "
      "\"platt\", \"method\": \"platt\", \"classes\": 2, \"columns\": 2, "
      "\"input\": \"logit\", \"normalize\": false, \"parameters\": "
      "{\"a\": [1, 1], \"b\": [-900, -900]}, \"fit\": {\"status\": "
      "\"converged\", \"iterations\": 3, \"gradient\": 0, \"objective\": "
      "{\"name\": \"log-ovr\", \"before\": 1, \"after\": 1}, \"rows\": 4, "
      "\"weighted\": false, \"weight\": 4, \"normalized_rows\": 0, "
      "\"skipped_rows\": 0, \"warnings\": []}}";
  const double z[2] = {1, 2};
  const int32_t y[1] = {0};
  const pcal_batch batch = help_batch(PCAL_LOGIT, z, y, 1, 2);
  pcal_calibrator *calibrator = help_load(text);
  double q[2];
  help_apply(calibrator, &batch, q);
  assert_near(q[0], 1.0 / (1.0 + exp(1.0)), 1e-15);
  assert_near(q[1], 1.0 / (1.0 + exp(-1.0)), 1e-15);
  pcal_calibrator_free(calibrator);
}

/* [4] */
TEST(smooth_targets_keep_it_finite) {
  const double z[4] = {-2, -1, 1, 2};
  const int32_t y[4] = {0, 0, 1, 1}, none[4] = {0, 0, 0, 0};
  const pcal_batch apart = help_batch(PCAL_LOGIT, z, y, 4, 1);
  const pcal_batch absent = help_batch(PCAL_LOGIT, z, none, 4, 1);
  pcal_calibrator *calibrator = help_fit(&apart, "platt");
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  pcal_calibrator_free(calibrator);
  calibrator = help_fit(&absent, "platt");
  double q[4];
  help_apply(calibrator, &absent, q);
  assert_near(q[0], 1.0 / 6.0, 1e-9);
  assert_near(q[3], 1.0 / 6.0, 1e-9);
  assert_true(help_warns(calibrator, "1 class never occurs among the labels"));
  pcal_calibrator_free(calibrator);
}

/* [6] */
TEST(few_rows_are_refused) {
  help_draw(logits, labels, 5, K, 2.0, 1.5);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, 5, K);
  help_refused(&batch, "platt", PCAL_USAGE,
               "platt has 8 parameters, too many for 5 rows; use temperature, or give more "
               "rows");
}

TEST(extremes) {
  help_extremes("platt");
}

TEST(reads_only_its_parameters) {
  help_refuses("platt", "{\"a\": [1, 1]}",
               "cal.json, line 9: the parameters of platt are a and b");
  help_refuses("platt", "{\"a\": [1, 1, 1], \"b\": [0, 0]}",
               "cal.json, line 9: a must hold 2 numbers, one for each column of scores");
  help_refuses("platt", "{\"a\": [1, 1], \"b\": [0, null]}",
               "cal.json, line 9: b must hold numbers between -1e+100 and 1e+100");
}
