#include "calibrator_help.h"
#include "kernels/softmax.h"

TEST(keeps_probabilities_as_stored) {
  const double probs[][2] = {{0.25, 0.75}, {0.5, 0.500001}, {1.0, 0.0}};
  const int32_t labels[] = {0, 1, 0};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 3, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  double out[3][2];
  help_apply(calibrator, &batch, out);
  assert_memory_equal(out, probs, sizeof probs);
  assert_int_equal(calibrator->fit.status, PC_FIT_IDENTITY);
  assert_int_equal(calibrator->fit.rows, 3);
  assert_int_equal(calibrator->fit.searched, 0);
  pcal_calibrator_free(calibrator);
}

TEST(gives_the_softmax_of_logits) {
  const double logits[][3] = {{1.0, 2.0, -3.0}, {800.0, -800.0, 799.0}};
  const int32_t labels[] = {0, 1};
  const pcal_batch batch = help_batch(PCAL_LOGIT, &logits[0][0], labels, 2, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  double out[2][3], expected[3];
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 2; i++) {
    pc_softmax_row(logits[i], 3, expected);
    for (int j = 0; j < 3; j++)
      assert_near(out[i][j], expected[j], 4e-16);
  }
  pcal_calibrator_free(calibrator);
  const double one[] = {0.0, 2.0};
  const pcal_batch single = help_batch(PCAL_LOGIT, one, labels, 2, 1);
  calibrator = help_fit(&single, "identity");
  help_apply(calibrator, &single, out);
  assert_same(out[0][0], 0.5);
  assert_near(out[0][1], 1 / (1 + exp(-2.0)), 2e-16);
  pcal_calibrator_free(calibrator);
}

TEST(takes_confidences) {
  const double confidence[] = {0.9, 0.4};
  const int32_t correct[] = {1, 0};
  const pcal_batch batch = help_batch(PCAL_CONFIDENCE, confidence, correct, 2, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  double out[2];
  help_apply(calibrator, &batch, out);
  assert_memory_equal(out, confidence, sizeof out);
  pcal_calibrator_free(calibrator);
}

TEST(has_no_parameters) {
  const char text[] = "{\"format\": \"propercal-calibrator\", \"version\": 1,\n"
                      "\"spec\": \"identity\", \"method\": \"identity\", \"classes\": 2,\n"
                      "\"columns\": 2, \"input\": \"logit\", \"normalize\": false,\n"
                      "\"parameters\": {\"T\": 1}, \"fit\": {}}";
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  assert_int_equal(
      pcal_calibrator_load(text, sizeof text - 1, "c.json", NULL, &calibrator, &err),
      PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "c.json, line 4: identity has no parameters; remove \"T\"");
}

TEST(still_reads_the_rows) {
  const double probs[] = {0.5, 7.0};
  const int32_t labels[] = {0, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 2, 1);
  help_refused(
      &batch, "identity", PCAL_DATA,
      "scores, row 1, column 0: the probability 7 is above 1; for percentages from 0 to "
      "100 give percent = 1, for scores before the softmax logits");
}
