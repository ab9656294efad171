/* Numbers in brackets are the edge cases of ets.c. */
#include "calibrators/temperature/ets.h"
#include "calibrators/temperature/ets_pass.h"
#include "convex_help.h"

enum { ROWS = 1500, K = 5 };

static double logits[ROWS * K], out[ROWS * K];
static int32_t labels[ROWS];

static const char *const methods[] = {"ets", "ets:objective=brier", "ets:fit=sequential",
                                      "ets:fit=sequential,objective=brier"};

/* Every derivative against differences of the value and of the gradient. */
TEST(derivatives) {
  help_draw(logits, labels, 200, K, 2.0, 1.5);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, 200, K);
  help_task task;
  help_task_open(&task, &batch, "ets", NULL);
  for (int brier = 0; brier < 2; brier++) {
    const pc_ets_trial at = {-0.7, {0.6, 0.3, 0.1}};
    const double h = 1e-6;
    pc_ets_values here, sides[2];
    assert_int_equal(pc_ets_pass(&task.task, brier, 0, &at, 1, &here, NULL), PCAL_OK);
    for (size_t i = 0; i < PC_ETS_TERMS; i++) {
      pc_ets_trial moved[2] = {at, at};
      for (int s = 0; s < 2; s++)
        *(i == 0 ? &moved[s].tau : &moved[s].weight[i - 1]) += s == 0 ? -h : h;
      assert_int_equal(pc_ets_pass(&task.task, brier, 0, moved, 2, sides, NULL), PCAL_OK);
      assert_true(fabs((sides[1].value - sides[0].value) / (2 * h) - here.gradient[i]) < 1e-8);
      for (size_t j = 0; j < PC_ETS_TERMS; j++)
        assert_true(fabs((sides[1].gradient[j] - sides[0].gradient[j]) / (2 * h) -
                         here.hessian[i * PC_ETS_TERMS + j]) < 1e-6);
    }
  }
  help_task_close(&task);
}

static double brier(const double *probs) {
  double sum = 0.0;
  for (size_t i = 0; i < ROWS; i++)
    for (size_t j = 0; j < K; j++) {
      const double gap = probs[i * K + j] - (labels[i] == (int32_t)j);
      sum += gap * gap;
    }
  return sum / ROWS;
}

/* A share of wrong labels: a share of uniform probabilities. */
TEST(wrong_labels) {
  help_draw(logits, labels, ROWS, K, 4.0, 1.5);
  for (size_t i = 0; i < ROWS; i += 5)
    labels[i] = (int32_t)(i / 5 % K);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  double after[4];
  for (size_t m = 0; m < 4; m++) {
    pcal_calibrator *calibrator = help_fit(&batch, methods[m]);
    const pc_ets *model = calibrator->parameters;
    after[m] = calibrator->fit.after;
    help_apply(calibrator, &batch, out);
    assert_near(m % 2 == 0 ? help_log(out, labels, ROWS, K) : brier(out), after[m], 1e-12);
    assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
    assert_near(model->weight[0] + model->weight[1] + model->weight[2], 1.0, 1e-14);
    assert_true(model->weight[2] > 0.05);
    assert_true((pc_calibrator_traits(calibrator) & PC_INJECTIVE) != 0);
    pcal_calibrator_free(calibrator);
  }
  assert_true(after[0] <= after[2] && after[1] <= after[3]); /* [1] */
}

/* Without a reason for a mixture it is temperature scaling, and never worse. */
TEST(never_worse_than_temperature) {
  help_draw(logits, labels, ROWS, K, 3.0, 1.8);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_calibrator *log_one = help_fit(&batch, "temperature");
  pcal_calibrator *brier_one = help_fit(&batch, "temperature:objective=brier");
  for (size_t m = 0; m < 4; m++) {
    pcal_calibrator *calibrator = help_fit(&batch, methods[m]);
    assert_true(calibrator->fit.after <= (m % 2 == 0 ? log_one : brier_one)->fit.after + 1e-12);
    pcal_calibrator_free(calibrator);
  }
  pcal_calibrator_free(log_one);
  pcal_calibrator_free(brier_one);
}

/* [2] */
TEST(the_published_fit) {
  help_draw(logits, labels, ROWS, K, 20.0, 12.0);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  pcal_calibrator *calibrator = help_fit(&batch, "ets:convention=zhang");
  const pc_ets *model = calibrator->parameters;
  char spec[PC_SPEC_MAX];
  pc_options_write(&calibrator->options, 1, spec, sizeof spec);
  assert_string_equal(spec, "ets:fit=sequential,objective=brier,convention=zhang");
  assert_near(model->temperature, 5.0, 1e-9);
  assert_int_equal(calibrator->fit.status, PC_FIT_STOPPED);
  pcal_calibrator_free(calibrator);
  help_refused(
      &batch, "ets:convention=zhang,fit=joint", PCAL_USAGE,
      "ets: convention=zhang means fit=sequential and objective=brier; remove the other value");
}

/* [3] */
TEST(labels_of_probability_zero) {
  const double probs[][2] = {{1, 0}, {1, 0}, {1, 0}, {0.2, 0.8}, {0.3, 0.7}};
  const int32_t y[] = {0, 0, 1, 1, 0};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], y, 5, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "ets");
  const pc_ets *model = calibrator->parameters;
  assert_same(calibrator->fit.before, (double)INFINITY);
  assert_true(isfinite(calibrator->fit.after));
  assert_true(model->weight[2] > 0.0);
  pcal_calibrator_free(calibrator);
}

/* [3] Gaps beyond the largest number are not impossible: the objective is that of temperature. */
TEST(logits_far_apart) {
  static const double far[][2] = {
      {1.7e308, -1.7e308}, {-1.7e308, 1.7e308}, {1.7e308, -1.7e308}, {1, 0}, {0, 1}};
  const int32_t y[] = {1, 1, 0, 0, 1};
  const pcal_batch batch = help_batch(PCAL_LOGIT, &far[0][0], y, 5, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "ets");
  pcal_calibrator *temperature = help_fit(&batch, "temperature");
  assert_same(calibrator->fit.before, 1e300 / 5);
  assert_same(calibrator->fit.before, temperature->fit.before);
  assert_true(calibrator->fit.after < 1.0);
  pcal_calibrator_free(temperature);
  pcal_calibrator_free(calibrator);
}

/* The same when w is found after T: a start at which a row is impossible is no end. */
TEST(impossible_rows_do_not_end_it) {
  static double probs[60 * 3];
  int32_t y[60];
  for (size_t i = 0; i < 60; i++) {
    const int hard = i % 10 == 0;
    y[i] = (int32_t)(i % 3);
    for (size_t j = 0; j < 3; j++)
      probs[i * 3 + j] = hard ? (j == (i + 1) % 3) : j == (i / 7 + i) % 3 ? 0.6 : 0.2;
  }
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, y, 60, 3);
  pcal_calibrator *joint = help_fit(&batch, "ets");
  pcal_calibrator *calibrator = help_fit(&batch, "ets:fit=sequential");
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  assert_true(calibrator->fit.gradient <= 1e-8);
  assert_true(joint->fit.after <= calibrator->fit.after + 1e-12);
  pcal_calibrator_free(joint);
  pcal_calibrator_free(calibrator);
}

/* [7] */
TEST(few_rows_are_refused) {
  help_draw(logits, labels, 3, K, 2.0, 1.5);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, 3, K);
  help_refused(&batch, "ets", PCAL_USAGE,
               "ets has 4 parameters, too many for 3 rows; use temperature, or give more rows");
}

TEST(extremes) {
  for (size_t m = 0; m < 4; m++)
    help_extremes(methods[m]);
  help_extremes("ets:convention=zhang");
}

TEST(reads_only_its_parameters) {
  static const char wrong[] =
      "cal.json, line 9: w must hold three numbers, none negative, that sum to one";
  help_refuses("ets", "{\"T\": 1}", "cal.json, line 9: the parameters of ets are T and w");
  help_refuses("ets", "{\"T\": 0, \"w\": [1, 0, 0]}",
               "cal.json, line 9: T must be a number between 0.0001 and 10000");
  help_refuses("ets", "{\"T\": 1, \"w\": [1, 0]}", wrong);
  help_refuses("ets", "{\"T\": 1, \"w\": [1, 0, 0, 0]}", wrong);
  help_refuses("ets", "{\"T\": 1, \"w\": [1.5, -0.5, 0]}", wrong);
  help_refuses("ets", "{\"T\": 1, \"w\": [0.5, 0.4, 0]}", wrong);
  help_refuses("ets", "{\"T\": 1, \"w\": 1}", wrong);
}
