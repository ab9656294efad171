/* Numbers in brackets are the edge cases of accuracy_transform.c. */
#include "calibrator_help.h"

TEST(by_hand) {
  const double probs[][3] = {
      {0.5, 0.25, 0.25}, {0.25, 0.5, 0.25}, {0.25, 0.25, 0.5}, {0.4, 0.4, 0.2}};
  const int32_t labels[] = {0, 1, 0, 1}; /* [1] the last row predicts class 0 */
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 4, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "accuracy-transform");
  double out[4][3];
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++)
      assert_same(out[i][k], k == (i == 3 ? 0 : i) ? 0.5 : 0.25);
  assert_int_equal(calibrator->fit.warning_count, 1); /* class 2 is no label */
  assert_true((pc_calibrator_traits(calibrator) & PC_KEEPS_ACCURACY) != 0);
  pcal_calibrator_free(calibrator);
}

/* [2] Worse than chance: the predicted class ends below the others, with a warning. */
TEST(below_chance) {
  const double probs[][2] = {{0.75, 0.25}, {0.75, 0.25}, {0.75, 0.25}, {0.25, 0.75}};
  const int32_t labels[] = {1, 1, 1, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 4, 2);
  pcal_calibrator *calibrator = help_fit(&batch, "accuracy-transform");
  double out[4][2];
  help_apply(calibrator, &batch, out);
  assert_same(out[0][0], 0.25);
  assert_same(out[0][1], 0.75);
  assert_string_equal(calibrator->fit.warnings[0],
                      "the accuracy 0.25 is below one in 2, so the predicted class gets a "
                      "lower probability than the others");
  assert_int_equal(pc_calibrator_traits(calibrator) & (PC_KEEPS_ACCURACY | PC_KEEPS_ORDER), 0);
  pcal_calibrator_free(calibrator);
}

/* [3] and one column, where 1/2 predicts class 0; weights count. */
TEST(single_scores) {
  const double scores[] = {0.9, 0.5, 0.4, 0.6}, weights[] = {1, 2, 1, 4};
  const int32_t labels[] = {1, 1, 0, 1};
  double out[4];
  pcal_batch batch = help_batch(PCAL_PROBABILITY, scores, labels, 4, 1);
  batch.weights = weights;
  pcal_calibrator *calibrator = help_fit(&batch, "accuracy-transform");
  help_apply(calibrator, &batch, out);
  assert_same(out[0], 0.75);
  assert_same(out[1], 0.25);
  assert_same(out[2], 0.25);
  pcal_calibrator_free(calibrator);
  batch.kind = PCAL_CONFIDENCE;
  calibrator = help_fit(&batch, "accuracy-transform");
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 4; i++)
    assert_same(out[i], 0.875);
  pcal_calibrator_free(calibrator);
}

TEST(files) {
  help_parameters("accuracy-transform", 2, "{\"accuracy\": 0.5}", NULL);
  help_parameters("accuracy-transform", 2, "{}",
                  "cal.json, line 3: the parameter \"accuracy\" is missing; fit again");
  help_parameters("accuracy-transform", 2, "{\"accuracy\": 1.5}",
                  "cal.json, line 3: the accuracy must be a number from 0 to 1");
  help_parameters("accuracy-transform", 2, "{\"accuracy\": [1]}",
                  "cal.json, line 3: the accuracy must be a number from 0 to 1");
}
