#include "data/row_keys.h"

#include "../unit.h"

#define CONTENT_ROWS 3
#define CONTENT_COLUMNS 5

static pcal_batch content_batch(pcal_type type, const void *scores, const int32_t *labels) {
  pcal_batch batch = PCAL_BATCH_INIT;
  const size_t size = type == PCAL_F32 ? sizeof(float) : sizeof(double);
  batch.kind = PCAL_LOGIT;
  batch.type = type;
  batch.rows = CONTENT_ROWS;
  batch.columns = CONTENT_COLUMNS;
  batch.scores = scores;
  batch.row_stride = (ptrdiff_t)(CONTENT_COLUMNS * size);
  batch.column_stride = (ptrdiff_t)size;
  batch.labels = labels;
  batch.first_row = 70;
  return batch;
}

static void content_keys(const pcal_batch *batch, uint64_t keys[CONTENT_ROWS]) {
  static const uint64_t ids[] = {70, 71, 72};
  const pc_rows rows = {
      .count = CONTENT_ROWS, .classes = CONTENT_COLUMNS, .ids = ids, .labels = batch->labels};
  pc_row_keys(batch, &rows, keys);
}

static const double content_scores[CONTENT_ROWS * CONTENT_COLUMNS] = {
    0.5, -1, 0, 2, 0.25, 0.5, -1, -0.0, 2, 0.25, 0.5, -1, 0, 0.25, 2};

TEST(test_equal_rows_have_equal_keys) {
  float narrow[CONTENT_ROWS * CONTENT_COLUMNS];
  const int32_t labels[] = {1, 1, 1};
  uint64_t wide_keys[CONTENT_ROWS], narrow_keys[CONTENT_ROWS];
  for (size_t i = 0; i < CONTENT_ROWS * CONTENT_COLUMNS; i++)
    narrow[i] = (float)content_scores[i];
  const pcal_batch wide = content_batch(PCAL_F64, content_scores, labels);
  const pcal_batch half = content_batch(PCAL_F32, narrow, labels);
  content_keys(&wide, wide_keys);
  content_keys(&half, narrow_keys);
  assert_memory_equal(wide_keys, narrow_keys, sizeof wide_keys);
  assert_true(wide_keys[0] == wide_keys[1]); /* -0 is 0 */
  assert_true(wide_keys[0] != wide_keys[2]); /* another order of columns */
}

TEST(test_labels_and_targets_count) {
  const int32_t labels[] = {1, 2, 1};
  const double targets[] = {0.5, 0.75, 0.5};
  uint64_t keys[CONTENT_ROWS];
  pcal_batch batch = content_batch(PCAL_F64, content_scores, labels);
  content_keys(&batch, keys);
  assert_true(keys[0] != keys[1]);
  batch.kind = PCAL_SAMPLES;
  batch.targets = targets;
  content_keys(&batch, keys);
  assert_true(keys[0] != keys[1]);
}

TEST(test_ids_take_the_place_of_content) {
  const int32_t labels[] = {1, 1, 1};
  const uint64_t ids[] = {9, 8, 7};
  uint64_t keys[CONTENT_ROWS];
  pcal_batch batch = content_batch(PCAL_F64, content_scores, labels);
  batch.ids = ids;
  content_keys(&batch, keys);
  assert_memory_equal(keys, ids, sizeof ids);
}
