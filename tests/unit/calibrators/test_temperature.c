/* Numbers in brackets are the edge cases of temperature.c. */
#include "base/json_read.h"
#include "calibrator_help.h"
#include "kernels/dispatch.h"
#include "kernels/temperature_kernels.h"

static double temperature_of(const pcal_calibrator *calibrator) {
  sink_bytes text = help_save(calibrator);
  pc_json_tree tree;
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(pc_json_read(text.bytes, text.length, "c", &env, &tree, NULL), PCAL_OK);
  const double value = pc_json_find(pc_json_find(tree.root, "parameters"), "T")->number;
  pc_json_tree_free(&tree);
  free(text.bytes);
  return value;
}

/* Mean objective of a batch of float64 scores at beta, from its definition. */
static double mean_loss(const pcal_batch *batch, pc_temperature_score wish, double beta) {
  const pc_temperature_kernels *kernels = pc_kernels_best()->temperature;
  double sum = 0.0;
  for (size_t i = 0; i < batch->rows; i++) {
    const double *z = (const double *)batch->scores + i * batch->columns;
    size_t top = 0;
    pc_temperature_block block;
    block.count = 0;
    for (size_t j = 1; j < batch->columns; j++)
      top = z[j] > z[top] ? j : top;
    kernels->add_f64(wish, z, batch->columns, top, (size_t)batch->labels[i], beta, &block);
    kernels->finish(wish, beta, &block);
    sum += block.loss[0];
  }
  return sum / (double)batch->rows;
}

/* A score gap of g with a share f of right answers: sigmoid(g / T) = f for both objectives. */
TEST(closed_form_of_two_classes) {
  static const char *const methods[] = {"temperature", "temperature:objective=brier"};
  enum { ROWS = 10 };
  double pairs[ROWS][2], single[ROWS];
  int32_t labels[ROWS];
  for (int i = 0; i < ROWS; i++) {
    pairs[i][0] = 5.0;
    pairs[i][1] = 7.0;
    single[i] = 2.0;
    labels[i] = i < 8;
  }
  const double expected = 2.0 / log(4.0);
  for (size_t m = 0; m < 2; m++) {
    const pcal_batch two = help_batch(PCAL_LOGIT, &pairs[0][0], labels, ROWS, 2);
    const pcal_batch one = help_batch(PCAL_LOGIT, single, labels, ROWS, 1);
    const pcal_batch *const batches[] = {&two, &one};
    for (size_t b = 0; b < 2; b++) {
      pcal_calibrator *calibrator = help_fit(batches[b], methods[m]);
      assert_near(temperature_of(calibrator), expected, 1e-10);
      assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
      assert_true(calibrator->fit.gradient <= 1e-12);
      const double p = 1 / (1 + exp(-2.0));
      assert_near(calibrator->fit.before,
                  m == 0 ? -0.8 * log(p) - 0.2 * log(1 - p)
                         : 2 * (0.8 * (1 - p) * (1 - p) + 0.2 * p * p),
                  1e-13);
      assert_near(calibrator->fit.after,
                  m == 0 ? -0.8 * log(0.8) - 0.2 * log(0.2) : 2 * (0.8 * 0.04 + 0.2 * 0.64),
                  1e-13);
      double out[2 * ROWS];
      help_apply(calibrator, batches[b], out);
      assert_near(out[b == 0 ? 1 : 0], 0.8, 1e-10);
      pcal_calibrator_free(calibrator);
    }
  }
}

/* [1] Probabilities, log-probabilities and logits of the same model give the same T. */
TEST(kinds_agree) {
  enum { ROWS = 400, K = 4 };
  static double logits[ROWS * K], probs[ROWS * K], logs[ROWS * K];
  int32_t labels[ROWS];
  help_draw(logits, labels, ROWS, K, 3.0, 1.7);
  for (size_t i = 0; i < ROWS; i++) {
    pc_kernels_best()->temperature->softmax(logits + i * K, 1, K, 1.0, probs + i * K);
    for (size_t j = 0; j < K; j++)
      logs[i * K + j] = log(probs[i * K + j]);
  }
  const pcal_batch a = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
  const pcal_batch b = help_batch(PCAL_PROBABILITY, probs, labels, ROWS, K);
  const pcal_batch c = help_batch(PCAL_LOG_PROBABILITY, logs, labels, ROWS, K);
  pcal_calibrator *first = help_fit(&a, "temperature"), *second = help_fit(&b, "temperature");
  pcal_calibrator *third = help_fit(&c, "temperature");
  const double expected = temperature_of(first);
  assert_true(expected > 1.4 && expected < 2.1);
  assert_near(temperature_of(second), expected, 1e-11);
  assert_near(temperature_of(third), expected, 1e-11);
  pcal_calibrator_free(first);
  pcal_calibrator_free(second);
  pcal_calibrator_free(third);
}

/* The result is a minimum: moving T either way makes the objective larger. */
TEST(result_is_a_minimum) {
  enum { ROWS = 3000, K = 7 };
  static double logits[ROWS * K];
  static int32_t labels[ROWS];
  static const double truths[] = {0.3, 1.0, 4.0};
  static const char *const methods[] = {"temperature", "temperature:objective=brier"};
  static const pc_temperature_score wishes[] = {PC_TEMPERATURE_LOG, PC_TEMPERATURE_BRIER};
  for (size_t t = 0; t < UNIT_COUNT(truths); t++)
    for (int m = 0; m < 2; m++) {
      help_draw(logits, labels, ROWS, K, 2.0, truths[t]);
      const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, K);
      pcal_calibrator *calibrator = help_fit(&batch, methods[m]);
      const double beta = 1 / temperature_of(calibrator);
      const double best = mean_loss(&batch, wishes[m], beta);
      assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
      assert_near(calibrator->fit.after, best, 1e-12);
      assert_near(calibrator->fit.before, mean_loss(&batch, wishes[m], 1.0), 1e-12);
      assert_true(mean_loss(&batch, wishes[m], beta * 1.001) > best);
      assert_true(mean_loss(&batch, wishes[m], beta / 1.001) > best);
      assert_true(calibrator->fit.iterations < 12);
      pcal_calibrator_free(calibrator);
    }
}

/* Rows that pull T in opposite directions give the Brier score two minima; the lower one is
 * found, although a search from T = 1 would end in the other. */
TEST(brier_finds_the_lower_minimum) {
  enum { ROWS = 50 };
  double logits[ROWS][2];
  int32_t labels[ROWS];
  for (int i = 0; i < ROWS; i++) {
    logits[i][0] = 0.0;
    logits[i][1] = i < 30 ? 10.0 : 0.01;
    labels[i] = i < 30 ? i % 2 : 1;
  }
  const pcal_batch batch = help_batch(PCAL_LOGIT, &logits[0][0], labels, ROWS, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature:objective=brier");
  double lowest = INFINITY;
  for (int i = -900; i <= 900; i++)
    lowest = fmin(lowest, mean_loss(&batch, PC_TEMPERATURE_BRIER, pow(10.0, i / 225.0)));
  assert_true(mean_loss(&batch, PC_TEMPERATURE_BRIER, 1.01) <
              mean_loss(&batch, PC_TEMPERATURE_BRIER, 1.0));
  assert_true(calibrator->fit.after <= lowest);
  assert_true(temperature_of(calibrator) > 100);
  pcal_calibrator_free(calibrator);
}

/* [2] */
TEST(impossible_rows_are_left_out) {
  const double probs[][3] = {{0.7, 0.3, 0.0}, {0.7, 0.3, 0.0}, {0.7, 0.3, 0.0}, {0.7, 0.3, 0.0},
                             {0.7, 0.3, 0.0}, {0.7, 0.3, 0.0}, {0.7, 0.3, 0.0}};
  const int32_t labels[] = {0, 0, 0, 0, 1, 2, 2};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 7, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature");
  assert_near(temperature_of(calibrator), log(7.0 / 3.0) / log(4.0), 1e-10);
  assert_int_equal(calibrator->fit.rows, 7);
  assert_int_equal(calibrator->fit.warning_count, 2); /* also: all scores are the same */
  assert_string_equal(calibrator->fit.warnings[0],
                      "2 rows whose label has probability 0 were left out of the objective: no "
                      "T can improve them");
  double out[7][3];
  help_apply(calibrator, &batch, out);
  assert_near(out[0][0], 0.8, 1e-12);
  assert_near(out[0][1], 0.2, 1e-12);
  assert_same(out[0][2], 0.0);
  pcal_calibrator_free(calibrator);
  /* The Brier score counts them. */
  calibrator = help_fit(&batch, "temperature:objective=brier");
  assert_int_equal(calibrator->fit.warning_count, 1); /* all scores are the same */
  assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
  pcal_calibrator_free(calibrator);
}

TEST(nothing_but_impossible_rows) {
  const double probs[][2] = {{1.0, 0.0}, {0.0, 1.0}};
  const int32_t labels[] = {1, 0};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 2, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature");
  assert_same(temperature_of(calibrator), 1.0);
  assert_int_equal(calibrator->fit.status, PC_FIT_IDENTITY);
  assert_same(calibrator->fit.before, (double)INFINITY);
  assert_same(calibrator->fit.after, (double)INFINITY);
  assert_int_equal(calibrator->fit.warning_count, 1);
  pcal_calibrator_free(calibrator);
}

/* [3] */
TEST(separable_rows_stop_at_the_bound) {
  const double logits[][3] = {{3, 1, 0}, {0, 2, 2}, {-1, -2, 4}};
  const int32_t labels[] = {0, 1, 2};
  static const char *const methods[] = {"temperature", "temperature:objective=brier"};
  const pcal_batch batch = help_batch(PCAL_LOGIT, &logits[0][0], labels, 3, 3);
  for (size_t m = 0; m < 2; m++) {
    pcal_calibrator *calibrator = help_fit(&batch, methods[m]);
    assert_same(temperature_of(calibrator), 1e-4);
    assert_int_equal(calibrator->fit.status, PC_FIT_STOPPED);
    assert_near(calibrator->fit.after, m == 0 ? log(2.0) / 3 : 0.5 / 3, 1e-14);
    assert_int_equal(calibrator->fit.warning_count, 1);
    assert_string_equal(calibrator->fit.warnings[0],
                        "every row is classified correctly, so a lower T is always better; T "
                        "stopped at its bound 0.0001: fit on rows that the model was not "
                        "trained on");
    pcal_calibrator_free(calibrator);
  }
}

/* [4] */
TEST(constant_scores_stay) {
  const double logits[][3] = {{5, 5, 5}, {-1, -1, -1}};
  const int32_t labels[] = {0, 2};
  const pcal_batch batch = help_batch(PCAL_LOGIT, &logits[0][0], labels, 2, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature");
  assert_same(temperature_of(calibrator), 1.0);
  assert_int_equal(calibrator->fit.status, PC_FIT_IDENTITY);
  assert_near(calibrator->fit.before, log(3.0), 1e-15);
  assert_same(calibrator->fit.after, calibrator->fit.before);
  double out[2][3];
  help_apply(calibrator, &batch, out);
  assert_near(out[1][2], 1.0 / 3.0, 1e-15);
  pcal_calibrator_free(calibrator);
}

/* [4] The best T is exactly 1. */
TEST(calibrated_rows_stay) {
  const double probs[] = {0.75, 0.75, 0.75, 0.75};
  const int32_t labels[] = {1, 1, 0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 4, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature");
  assert_near(temperature_of(calibrator), 1.0, 1e-12);
  assert_true(calibrator->fit.after <= calibrator->fit.before);
  pcal_calibrator_free(calibrator);
}

/* [5] */
TEST(contradicting_scores_stop_at_the_bound) {
  const double logits[] = {2, 2, 2, -2};
  const int32_t labels[] = {0, 0, 1, 1};
  static const char *const methods[] = {"temperature", "temperature:objective=brier"};
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, 4, 1);
  for (size_t m = 0; m < 2; m++) {
    pcal_calibrator *calibrator = help_fit(&batch, methods[m]);
    assert_same(temperature_of(calibrator), 1e4);
    assert_int_equal(calibrator->fit.status, PC_FIT_STOPPED);
    assert_true(calibrator->fit.after < calibrator->fit.before);
    assert_int_equal(calibrator->fit.warning_count, 1);
    assert_string_equal(calibrator->fit.warnings[0],
                        "T stopped at its bound 10000: the scores carry hardly any information "
                        "about the labels");
    pcal_calibrator_free(calibrator);
  }
}

TEST(extreme_scores_give_numbers) {
  static const double sets[][6] = {{1e30, -1e30, -1e30, 1e30, 1e30, 0},
                                   {1.7e308, -1.7e308, -1.7e308, 1.7e308, 0, 1e308},
                                   {5e-324, 0, 0, 5e-324, 1e-300, 0},
                                   {700, -700, 745, -745, -709, 710}};
  static const int32_t labels[] = {0, 0, 1};
  static const char *const methods[] = {"temperature", "temperature:objective=brier"};
  for (size_t s = 0; s < UNIT_COUNT(sets); s++)
    for (size_t m = 0; m < 2; m++) {
      const pcal_batch batch = help_batch(PCAL_LOGIT, sets[s], labels, 3, 2);
      pcal_calibrator *calibrator = help_fit(&batch, methods[m]);
      const double t = temperature_of(calibrator);
      double out[6];
      assert_true(t >= 1e-4 && t <= 1e4);
      assert_false(isnan(calibrator->fit.gradient));
      assert_true(calibrator->fit.after <= calibrator->fit.before);
      help_apply(calibrator, &batch, out);
      for (int i = 0; i < 6; i++)
        assert_true(out[i] >= 0 && out[i] <= 1);
      pcal_calibrator_free(calibrator);
    }
}

TEST(saturated_probabilities) {
  const double probs[] = {1.0, 0.0, 1.0, 0.9, 0.9, 0.9, 1.000001, -0.000001};
  const int32_t labels[] = {1, 0, 1, 1, 0, 1, 1, 0};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 8, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature");
  assert_near(temperature_of(calibrator), log(9.0) / log(2.0), 1e-9);
  double out[8];
  help_apply(calibrator, &batch, out);
  assert_same(out[0], 1.0);
  assert_same(out[1], 0.0);
  assert_near(out[3], 2.0 / 3.0, 1e-10);
  pcal_calibrator_free(calibrator);
}

/* [6] Many equal rows leave the sample empty; the result is the same. */
TEST(few_distinct_rows) {
  enum { ROWS = 20000 };
  static double logits[ROWS];
  static int32_t labels[ROWS];
  static const char *const methods[] = {"temperature", "temperature:objective=brier"};
  for (int i = 0; i < ROWS; i++) {
    logits[i] = 2.0;
    labels[i] = i % 10 < 8;
  }
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, labels, ROWS, 1);
  for (size_t m = 0; m < 2; m++) {
    pcal_calibrator *calibrator = help_fit(&batch, methods[m]);
    assert_near(temperature_of(calibrator), 2.0 / log(4.0), 1e-10);
    assert_int_equal(calibrator->fit.status, PC_FIT_CONVERGED);
    pcal_calibrator_free(calibrator);
  }
}

TEST(reads_only_its_parameters) {
  static const struct {
    const char *parameters, *sentence;
  } cases[] = {
      {"{}", "cal.json, line 9: the parameters of temperature are \"T\" alone"},
      {"{\"T\": 1, \"b\": 2}",
       "cal.json, line 9: the parameters of temperature are \"T\" alone"},
      {"{\"t\": 1}", "cal.json, line 9: the parameters of temperature are \"T\" alone"},
      {"{\"T\": \"1\"}", "cal.json, line 9: T must be a number between 0.0001 and 10000"},
      {"{\"T\": 0}", "cal.json, line 9: T must be a number between 0.0001 and 10000"},
      {"{\"T\": -1}", "cal.json, line 9: T must be a number between 0.0001 and 10000"},
      {"{\"T\": 10001}", "cal.json, line 9: T must be a number between 0.0001 and 10000"},
      {"{\"T\": null}", "cal.json, line 9: T must be a number between 0.0001 and 10000"},
  };
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    char text[1024];
    pcal_calibrator *calibrator = NULL;
    pcal_error err;
    snprintf(text, sizeof text,
             "{\"format\": \"propercal-calibrator\", \"version\": 1,\n"
             "\"spec\": \"temperature\", \"method\": \"temperature\",\n"
             "\"classes\": 2,\n\"columns\": 2,\n\"input\": \"logit\",\n\"normalize\": "
             "false,\n\n\n\"parameters\": %s, \"fit\": {}}",
             cases[i].parameters);
    assert_int_equal(
        pcal_calibrator_load(text, strlen(text), "cal.json", NULL, &calibrator, &err),
        PCAL_DATA);
    assert_sentence(err, PCAL_DATA, cases[i].sentence);
    assert_null(calibrator);
  }
}

TEST(refuses_confidences) {
  const double confidence[] = {0.9, 0.8};
  const int32_t correct[] = {1, 0};
  const pcal_batch batch = help_batch(PCAL_CONFIDENCE, confidence, correct, 2, 1);
  help_refused(&batch, "temperature", PCAL_USAGE,
               "temperature needs the scores of all classes; give them as logits or probs "
               "instead of confidence");
}
