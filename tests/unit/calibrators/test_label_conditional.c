/* Numbers in brackets are the edge cases of label_conditional.c. */
#include "calibrator_help.h"

TEST(by_hand) {
  const double probs[][3] = {{0.5, 0.25, 0.25}, {0.6, 0.3, 0.1}, {0.4, 0.3, 0.3},
                             {0.9, 0.1, 0.0},   {0.2, 0.7, 0.1}, {0.4, 0.4, 0.2}};
  const int32_t labels[] = {0, 0, 1, 2, 1, 0};
  const double weights[] = {1, 2, 1, 1, 3, 3};
  pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 6, 3);
  batch.weights = weights;
  pcal_calibrator *calibrator = help_fit(&batch, "label-conditional");
  const double fresh[][3] = {{0.5, 0.4, 0.1}, {0.1, 0.8, 0.1}, {0.1, 0.1, 0.8}};
  const double expected[][3] = {{0.75, 0.125, 0.125},                  /* 6, 1, 1 of 8 */
                                {0.0, 1.0, 0.0},                       /* [3] */
                                {6.0 / 11.0, 4.0 / 11.0, 1.0 / 11.0}}; /* [2] never predicted */
  const pcal_batch other = help_batch(PCAL_PROBABILITY, &fresh[0][0], NULL, 3, 3);
  double out[3][3];
  help_apply(calibrator, &other, out);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      assert_same(out[i][k], expected[i][k]);
  assert_string_equal(calibrator->fit.warnings[0],
                      "1 of 3 classes were never predicted; rows predicted as one of them get "
                      "the frequencies of all labels");
  assert_int_equal(pc_calibrator_traits(calibrator) & PC_KEEPS_ACCURACY, 0);
  pcal_calibrator_free(calibrator);
}

/* [1] One column: 1/2 counts as class 1. */
TEST(one_column) {
  const double scores[] = {0.5, 0.9, 0.1, 0.2, 0.3, 0.4};
  const int32_t labels[] = {0, 1, 0, 1, 0, 0};
  double out[6];
  pcal_batch batch = help_batch(PCAL_PROBABILITY, scores, labels, 6, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "label-conditional");
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 6; i++)
    assert_same(out[i], i < 2 ? 0.5 : 0.25);
  assert_int_equal(pc_calibrator_traits(calibrator),
                   PC_SUMS_TO_ONE | PC_KEEPS_ACCURACY | PC_KEEPS_ORDER);
  pcal_calibrator_free(calibrator);
  const int32_t turned[] = {0, 0, 1, 1, 1, 1};
  batch.labels = turned;
  calibrator = help_fit(&batch, "label-conditional");
  assert_int_equal(pc_calibrator_traits(calibrator), PC_SUMS_TO_ONE);
  pcal_calibrator_free(calibrator);
  const double logits[] = {0.0, -0.0, -1e-9};
  const int32_t ones[] = {1, 1, 0};
  const pcal_batch signs = help_batch(PCAL_LOGIT, logits, ones, 3, 1);
  calibrator = help_fit(&signs, "label-conditional");
  help_apply(calibrator, &signs, out);
  assert_same(out[0], 1.0);
  assert_same(out[1], 1.0);
  assert_same(out[2], 0.0);
  pcal_calibrator_free(calibrator);
}

TEST(keeps_the_top_class_where_the_table_says_so) {
  const double probs[][2] = {{0.75, 0.25}, {0.75, 0.25}, {0.25, 0.75}};
  const int32_t labels[] = {0, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 3, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "label-conditional");
  assert_int_equal(pc_calibrator_traits(calibrator), PC_SUMS_TO_ONE | PC_KEEPS_ACCURACY);
  pcal_calibrator_free(calibrator);
}

TEST(files) {
  const char *method = "label-conditional";
  help_parameters(method, 2,
                  "{\"labels\": [[0], [], [0, 1]], \"values\": [[1], [], [0.5, 0.5]]}", NULL);
  help_parameters(method, 2, "{\"labels\": [[0], [0, 1]], \"values\": [[1], [0.5, 0.5]]}",
                  "cal.json, line 3: \"labels\" must hold 3 lists of numbers");
  help_parameters(method, 2,
                  "{\"labels\": [[0], [], [0, 2]], \"values\": [[1], [], [0.5, 0.5]]}",
                  "cal.json, line 3: labels must be ascending numbers of classes");
  help_parameters(method, 2, "{\"labels\": [[0], [], [0.5]], \"values\": [[1], [], [1]]}",
                  "cal.json, line 3: labels must be ascending numbers of classes");
  help_parameters(method, 2,
                  "{\"labels\": [[0], [], [1, 0]], \"values\": [[1], [], [0.5, 0.5]]}",
                  "cal.json, line 3: labels must be ascending numbers of classes");
  help_parameters(method, 2,
                  "{\"labels\": [[0], [], [0, 1]], \"values\": [[1], [], [0.5, 0.4]]}",
                  "cal.json, line 3: the values of a class must sum to 1");
  help_parameters(method, 2,
                  "{\"labels\": [[0], [], [0, 1]], \"values\": [[1], [], [1.5, -0.5]]}",
                  "cal.json, line 3: a value must be a number from 0 to 1");
  help_parameters(method, 2, "{\"labels\": [[0], [], [0, 1]], \"values\": [[1], [], [1]]}",
                  "cal.json, line 3: there must be a value for each label");
  help_parameters(method, 2, "{\"labels\": [[0], [1], []], \"values\": [[1], [1], []]}",
                  "cal.json, line 3: the last list, of all labels, is empty");
}

TEST(needs_classes) {
  const double confidence[] = {0.5};
  const int32_t correct[] = {1};
  const pcal_batch batch = help_batch(PCAL_CONFIDENCE, confidence, correct, 1, 1);
  help_refused(&batch, "label-conditional", PCAL_USAGE,
               "label-conditional needs the scores of all classes; give them as logits or "
               "probs instead of confidence");
}
