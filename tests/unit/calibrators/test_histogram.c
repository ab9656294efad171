/* Numbers in brackets are the edge cases of histogram.c. */
#include "calibrators/binning/histogram.h"

#include "calibrator_help.h"

static const pc_bin_maps *histogram_of(const pcal_calibrator *calibrator) {
  return calibrator->parameters;
}

/* [1] (lo, hi] with edges i/M, 0 in the first bin, and a little beyond the ends. */
TEST(finds_bins) {
  double edges[] = {0.25, 0.5, 0.75}, values[4];
  const pc_bin_map table = {4, values, edges};
  static const struct {
    double score;
    size_t bin;
  } cases[] = {{0, 0},   {-1e-6, 0},   {0.25, 0},  {0.25000000000000006, 1},
               {0.5, 1}, {0.51, 2},    {0.75, 2},  {0.7500000000000001, 3},
               {1.0, 3}, {1.00001, 3}, {5e-324, 0}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++)
    assert_int_equal(pc_bin_map_find(&table, cases[i].score), cases[i].bin);
  const pc_bin_map one = {1, values, edges};
  assert_int_equal(pc_bin_map_find(&one, 0.0), 0);
  assert_int_equal(pc_bin_map_find(&one, 1.0), 0);
}

/* [2] [4] One column: bins (0, .5] and (.5, 1]; then four bins, one of them empty. */
TEST(one_column_by_hand) {
  const double probs[] = {0.1, 0.2, 0.5, 0.6, 0.9, 1.0};
  const int32_t labels[] = {0, 1, 0, 1, 1, 0};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 6, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=2");
  double out[6];
  assert_int_equal(histogram_of(calibrator)->count, 1);
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 6; i++)
    assert_same(out[i], i < 3 ? 1.0 / 3.0 : 2.0 / 3.0);
  assert_int_equal(calibrator->fit.warning_count, 0);
  assert_int_equal(calibrator->fit.status, PC_FIT_CLOSED_FORM);
  pcal_calibrator_free(calibrator);
  calibrator = help_fit(&batch, "histogram:bins=10");
  const double expected[] = {0, 1, 0.25, 0.35, 0, 1, 0.65, 0.75, 1, 0};
  for (int b = 0; b < 10; b++)
    assert_near(histogram_of(calibrator)->maps[0].values[b], expected[b], 1e-15);
  assert_string_equal(calibrator->fit.warnings[0],
                      "4 of 10 bins have no rows and get their midpoint");
  pcal_calibrator_free(calibrator);
}

/* Three classes, two bins, by hand; rows are rescaled. */
TEST(classes_by_hand) {
  const double probs[][3] = {
      {0.6, 0.3, 0.1}, {0.7, 0.2, 0.1}, {0.2, 0.7, 0.1}, {0.1, 0.3, 0.6}, {0.1, 0.8, 0.1}};
  const int32_t labels[] = {0, 1, 1, 2, 1};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 5, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=2");
  const pc_bin_maps *histogram = histogram_of(calibrator);
  const double expected[3][2] = {{0, 0.5}, {1.0 / 3.0, 1}, {0, 1}};
  assert_int_equal(histogram->count, 3);
  for (int k = 0; k < 3; k++)
    for (int b = 0; b < 2; b++)
      assert_same(histogram->maps[k].values[b], expected[k][b]);
  double out[5][3];
  help_apply(calibrator, &batch, out);
  assert_near(out[0][0], 0.6, 1e-15); /* .5 : 1/3 : 0 */
  assert_near(out[0][1], 0.4, 1e-15);
  assert_same(out[0][2], 0.0);
  assert_same(out[2][1], 1.0); /* 0 : 1 : 0 */
  assert_near(out[3][2], 0.75, 1e-15);
  pcal_calibrator_free(calibrator);
}

/* [5] Pooled: 15 pairs in two bins, 1 + 1 hits of 10 and 3 of 5. */
TEST(pooled_by_hand) {
  const double probs[][3] = {
      {0.6, 0.3, 0.1}, {0.7, 0.2, 0.1}, {0.2, 0.7, 0.1}, {0.1, 0.3, 0.6}, {0.1, 0.8, 0.1}};
  const int32_t labels[] = {0, 1, 1, 2, 0};
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 5, 3);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=2,classwise=no");
  const pc_bin_maps *histogram = histogram_of(calibrator);
  assert_int_equal(histogram->count, 1);
  assert_same(histogram->maps[0].values[0], 0.2);
  assert_same(histogram->maps[0].values[1], 0.6);
  double out[5][3];
  help_apply(calibrator, &batch, out);
  assert_near(out[0][0], 0.6, 1e-15);
  assert_near(out[0][1], 0.2, 1e-15);
  pcal_calibrator_free(calibrator);
}

/* [3] Class 0 never came true above 1/2, class 1 never below, class 2 never below. */
TEST(rows_of_zeros_become_uniform) {
  const double probs[][3] = {{0.8, 0.1, 0.1}, {0.1, 0.8, 0.1}, {0.1, 0.1, 0.8}};
  const int32_t labels[] = {0, 1, 2}, wrong[] = {2, 1, 2};
  const pcal_batch right = help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 3, 3);
  const pcal_batch batch = help_batch(PCAL_PROBABILITY, &probs[0][0], wrong, 3, 3);
  double out[3][3];
  pcal_calibrator *calibrator = help_fit(&right, "histogram:bins=2");
  help_apply(calibrator, &right, out);
  assert_same(out[0][0], 1.0);
  assert_same(out[0][1], 0.0);
  pcal_calibrator_free(calibrator);
  calibrator = help_fit(&batch, "histogram:bins=2");
  help_apply(calibrator, &batch, out);
  assert_same(out[0][0], 0.0); /* 0 : 0 : 1/2 */
  assert_same(out[0][2], 1.0);
  const double row[] = {0.9, 0.1, 0.0};
  const pcal_batch other = help_batch(PCAL_PROBABILITY, row, NULL, 1, 3);
  ((pc_bin_maps *)calibrator->parameters)->maps[2].values[0] = 0.0;
  help_apply(calibrator, &other, out);
  for (int k = 0; k < 3; k++)
    assert_same(out[0][k], 1.0 / 3.0);
  pcal_calibrator_free(calibrator);
}

TEST(confidences) {
  const double confidence[] = {0.9, 0.8, 0.95, 0.3};
  const int32_t correct[] = {1, 0, 1, 0};
  const pcal_batch batch = help_batch(PCAL_CONFIDENCE, confidence, correct, 4, 1);
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=2");
  double out[4];
  help_apply(calibrator, &batch, out);
  assert_same(out[0], 2.0 / 3.0);
  assert_same(out[3], 0.0);
  pcal_calibrator_free(calibrator);
}

TEST(weights_count) {
  const double probs[] = {0.1, 0.2, 0.9}, weights[] = {3.0, 1.0, 0.5};
  const int32_t labels[] = {0, 1, 1};
  pcal_batch batch = help_batch(PCAL_PROBABILITY, probs, labels, 3, 1);
  batch.weights = weights;
  pcal_calibrator *calibrator = help_fit(&batch, "histogram:bins=2");
  assert_same(histogram_of(calibrator)->maps[0].values[0], 0.25);
  assert_same(histogram_of(calibrator)->maps[0].values[1], 1.0);
  assert_near(calibrator->fit.weight, 4.5 * 4.5 / 10.25, 1e-15);
  assert_int_equal(calibrator->fit.weighted, 1);
  pcal_calibrator_free(calibrator);
}
