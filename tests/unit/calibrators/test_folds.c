/* Folds are balanced and random; a fold source has the rows outside a fold. */
#include "calibrator_help.h"
#include "calibrators/folds.h"
#include "io/source.h"

TEST(folds_balanced) {
  for (size_t count = 1; count <= PC_FOLDS_MAX; count += 33) {
    const pc_folds folds = {7, count, 0};
    for (uint64_t block = 0; block < 20; block++) {
      unsigned seen[PC_FOLDS_MAX] = {0};
      for (uint64_t i = 0; i < count; i++)
        seen[pc_fold_of(&folds, block * count + i)]++;
      for (size_t f = 0; f < count; f++)
        assert_int_equal(seen[f], 1);
    }
  }
}

/* Each of the 6 orders of 3 folds is as frequent as the others: chi-square with 5 degrees of
 * freedom exceeds 20.5 with probability 0.001. */
TEST(folds_random) {
  const pc_folds folds = {11, 3, 0};
  const double blocks = 6000;
  double seen[9] = {0}, chi = 0;
  size_t orders = 0;
  for (uint64_t b = 0; b < (uint64_t)blocks; b++)
    seen[pc_fold_of(&folds, 3 * b) * 3 + pc_fold_of(&folds, 3 * b + 1)]++;
  for (size_t i = 0; i < 9; i++) {
    orders += seen[i] > 0;
    if (i % 4 != 0)
      chi += pow(seen[i] - blocks / 6, 2) / (blocks / 6);
  }
  assert_int_equal(orders, 6);
  assert_true(chi < 20.5);
}

TEST(folds_seeds) {
  const pc_folds one = {1, 5, 0}, other = {2, 5, 0};
  size_t differ = 0;
  for (uint64_t i = 0; i < 100; i++)
    differ += pc_fold_of(&one, i) != pc_fold_of(&other, i);
  assert_true(differ > 50);
}

#define FOLDS_ROWS 23

TEST(folds_source) {
  float scores[2 * FOLDS_ROWS];
  int32_t labels[FOLDS_ROWS];
  double weights[FOLDS_ROWS];
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *base = NULL;
  const pc_folds folds = {3, 4, 0};
  const pcal_env env = pc_env_resolve(NULL);
  size_t total = 0;
  for (size_t i = 0; i < FOLDS_ROWS; i++) {
    scores[i] = (float)i;
    scores[FOLDS_ROWS + i] = -(float)i;
    labels[i] = (int32_t)(i % 2);
    weights[i] = (double)i + 0.5;
  }
  batch.kind = PCAL_LOGIT;
  batch.rows = FOLDS_ROWS;
  batch.columns = 2;
  batch.scores = scores;
  batch.row_stride = sizeof(float);
  batch.column_stride = (ptrdiff_t)(FOLDS_ROWS * sizeof(float));
  batch.labels = labels;
  batch.weights = weights;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &base, NULL), PCAL_OK);
  for (size_t fold = 0; fold < folds.count; fold++) {
    pc_fold_source training;
    pcal_batch got = PCAL_BATCH_INIT;
    assert_int_equal(pc_source_rewind(base, NULL), PCAL_OK);
    assert_int_equal(pc_fold_source_open(base, &folds, fold, &env, &training, NULL), PCAL_OK);
    assert_int_equal(pc_source_next(training.source, 1000, &got, NULL), PCAL_OK);
    for (size_t i = 0; i < got.rows; i++) {
      const double *row = (const double *)got.scores + 2 * i;
      const size_t from = (size_t)row[0];
      assert_true(pc_fold_of(&folds, from) != fold);
      assert_same(row[1], -row[0]);
      assert_int_equal(got.labels[i], labels[from]);
      assert_same(got.weights[i], weights[from]);
    }
    total += got.rows;
    pc_fold_source_close(&training);
  }
  assert_int_equal(total, 3 * FOLDS_ROWS);
  pcal_source_free(base);
}

/* Rows of a group are in one fold, and five groups in a row are in five folds. */
TEST(test_groups_stay_together) {
  const pc_folds folds = {3, 5, 1};
  const uint32_t groups[] = {4, 0, 1, 0, 2, 4, 3, 3};
  pcal_batch batch = PCAL_BATCH_INIT;
  pc_fold_block block = {.known = 0};
  size_t fold[8], seen = 0;
  batch.rows = 8;
  batch.first_row = 1000;
  batch.groups = groups;
  for (size_t i = 0; i < 8; i++) {
    fold[i] = pc_fold_of_row(&folds, &block, &batch, i);
    seen |= (size_t)1 << fold[i];
    assert_int_equal(fold[i], pc_fold_of(&folds, groups[i]));
  }
  assert_true(fold[0] == fold[5] && fold[1] == fold[3] && fold[6] == fold[7]);
  assert_int_equal(seen, 31);
}
