/* Numbers in brackets are the edge cases of beta.c. */
#include "calibrators/linear/logistic.h"
#include "convex_help.h"

enum { ROWS = 4000, K = 3 };

static double probs[ROWS * K], out[ROWS * K];
static int32_t labels[ROWS];

/* Labels drawn from a beta curve: the fit comes close to its a, b and c. */
TEST(recovers_parameters) {
  const pc_rng score = {3, 1}, label = {3, 2};
  for (size_t i = 0; i < ROWS; i++) {
    probs[i] = pc_rng_uniform(&score, i);
    const double m = 2.0 * log(probs[i]) - 0.5 * log1p(-probs[i]) + 0.7;
    labels[i] = pc_rng_uniform(&label, i) < 1.0 / (1.0 + exp(-m));
  }
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "beta");
  const pc_logistic *model = calibrator->parameters;
  const double a = model->slope[0][0], b = model->slope[1][0], c = model->shift[0];
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  assert_true(fabs(a - 2.0) < 0.3 && fabs(b - 0.5) < 0.2 && fabs(c - 0.7) < 0.3);
  assert_true(fabs(a * log(model->middle[0]) - b * log1p(-model->middle[0]) + c) < 1e-9);
  assert_true((pc_calibrator_traits(calibrator) & PC_INJECTIVE) != 0);
  help_apply(calibrator, &batch, out);
  assert_near(help_log(out, labels, ROWS, 1), calibrator->fit.after, 1e-12);
  pcal_calibrator_free(calibrator);
}

/* Scores that contradict the labels: both slopes are 0, and q is the share of hits. */
TEST(slopes_are_not_negative) {
  for (size_t i = 0; i < 400; i++) {
    probs[i] = i % 2 == 0 ? 0.2 : 0.8;
    labels[i] = i % 2 == 0 ? i % 10 < 8 : i % 10 < 4;
  }
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 400, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "beta");
  const pc_logistic *model = calibrator->parameters;
  double hits = 0.0;
  for (size_t i = 0; i < 400; i++)
    hits += labels[i];
  assert_same(model->slope[0][0], 0.0);
  assert_same(model->slope[1][0], 0.0);
  help_apply(calibrator, &batch, out);
  assert_near(out[0], hits / 400.0, 1e-9);
  assert_true((pc_calibrator_traits(calibrator) & PC_INJECTIVE) == 0);
  assert_same(model->middle[0], hits > 200.0 ? 0.0 : 1.0); /* [6] */
  pcal_calibrator_free(calibrator);
}

/* [2], [4] */
TEST(separable_scores_stop) {
  const double p[4] = {0.1, 0.3, 0.6, 0.9};
  const int32_t y[4] = {0, 0, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, p, y, 4, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "beta");
  assert_int_equal(calibrator->fit.status, PC_FIT_STOPPED);
  assert_true(help_warns(calibrator, "1 of 1 regressions have no finite best parameters"));
  help_sound(calibrator, &batch);
  pcal_calibrator_free(calibrator);
}

TEST(several_classes_sum_to_one) {
  help_draw(probs, labels, 500, K, 2.0, 1.5);
  const pcal_batch batch = help_batch(PCAL_LOGIT, probs, labels, 500, K);
  pcal_calibrator *calibrator = help_fit(&batch, "beta");
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  assert_true(calibrator->fit.after < calibrator->fit.before);
  help_apply(calibrator, &batch, out);
  for (size_t i = 0; i < 500; i++)
    assert_near(out[i * K] + out[i * K + 1] + out[i * K + 2], 1.0, 1e-14);
  pcal_calibrator_free(calibrator);
}

/* [7] */
TEST(few_rows_are_refused) {
  help_draw(probs, labels, 5, K, 2.0, 1.5);
  const pcal_batch batch = help_batch(PCAL_LOGIT, probs, labels, 5, K);
  help_refused(&batch, "beta", PCAL_USAGE,
               "beta has 9 parameters, too many for 5 rows; use temperature, or give more "
               "rows");
}

TEST(extremes) {
  help_extremes("beta");
}

TEST(reads_only_its_parameters) {
  help_refuses("beta", "{\"a\": [1, 1], \"b\": [0, 0]}",
               "cal.json, line 9: the parameters of beta are a, b, c and m");
  help_refuses("beta", "{\"a\": [1, -1], \"b\": [0, 0], \"c\": [0, 0], \"m\": [0.5, 0.5]}",
               "cal.json, line 9: a must hold numbers between 0 and 1e+100");
  help_refuses("beta", "{\"a\": [1, 1], \"b\": [0, 0], \"c\": [0, 0], \"m\": [0.5, 1.5]}",
               "cal.json, line 9: m must hold numbers between 0 and 1");
}
