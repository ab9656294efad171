/* Rows kept in memory: all arrays, and too many rows. */
#include "../calibrators/calibrator_help.h"
#include "compare/memory_source.h"
#include "io/source.h"

enum { ROWS = 5, CLASSES = 2 };

static const float scores[ROWS * CLASSES] = {0.5f, 0.5f, 0.25f, 0.75f,  1,
                                             0,    0,    1,     0.125f, 0.875f};
static const int32_t labels[ROWS] = {0, 1, 0, 1, 1};
static const double weights[ROWS] = {1, 2, 3, 4, 5};
static const uint32_t groups[ROWS] = {0, 1, 0, 1, 2};
static const uint64_t ids[ROWS] = {9, 8, 7, 6, 5};

static pcal_batch kept_batch(void) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_PROBABILITY;
  batch.type = PCAL_F32;
  batch.rows = ROWS;
  batch.columns = CLASSES;
  batch.scores = scores;
  batch.labels = labels;
  batch.weights = weights;
  batch.groups = groups;
  batch.ids = ids;
  return batch;
}

TEST(every_array_is_kept) {
  static const char *const names[CLASSES] = {"no", "yes"};
  const pcal_env env = pc_env_resolve(NULL);
  const pcal_batch batch = kept_batch();
  pcal_source *source = NULL, *again = NULL;
  pc_memory_source rows;
  pcal_batch got = PCAL_BATCH_INIT;
  pcal_shape shape = PCAL_SHAPE_INIT;
  assert_int_equal(pc_source_borrow(&batch, names, &env, &source, NULL), PCAL_OK);
  assert_int_equal(pc_memory_source_read(source, &env, &rows, NULL), PCAL_OK);
  assert_int_equal(rows.batch.rows, ROWS);
  assert_int_equal(pc_memory_source_open(&rows, &env, &again, NULL), PCAL_OK);
  assert_int_equal(pc_source_next(again, 100, &got, NULL), PCAL_OK);
  assert_int_equal(got.rows, ROWS);
  assert_int_equal(got.type, PCAL_F64);
  for (size_t i = 0; i < ROWS; i++) {
    double row[CLASSES];
    pc_batch_row(&got, i, row);
    assert_same(row[0], (double)scores[2 * i]);
    assert_same(row[1], (double)scores[2 * i + 1]);
  }
  assert_memory_equal(got.labels, labels, sizeof labels);
  assert_memory_equal(got.weights, weights, sizeof weights);
  assert_memory_equal(got.groups, groups, sizeof groups);
  assert_memory_equal(got.ids, ids, sizeof ids);
  pcal_source_get_shape(again, &shape);
  assert_string_equal(shape.class_names[1], "yes");
  pcal_source_free(again);
  pc_memory_source_close(&rows);
  pcal_source_free(source);
}

TEST(too_many_rows_are_not_kept) {
  pcal_env env = pc_env_resolve(NULL);
  const pcal_batch batch = kept_batch();
  pcal_source *source = NULL;
  pc_memory_source rows;
  env.memory_limit = 8 * ROWS * 7 * sizeof(double) - 8;
  assert_int_equal(pc_source_borrow(&batch, NULL, &env, &source, NULL), PCAL_OK);
  assert_int_equal(pc_memory_source_read(source, &env, &rows, NULL), PCAL_OK);
  assert_int_equal(rows.batch.rows, 0);
  pc_memory_source_close(&rows);
  pcal_source_free(source);
}
