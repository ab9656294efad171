#include "io/source_batch.h"

#include "../unit.h"
#include "io/source.h"

static const float scores[][2] = {{1, 2}, {3, 4}, {5, 6}};
static const int32_t labels[] = {0, 1, 1};
static const double weights[] = {1, 2, 3};
static const uint32_t groups[] = {0, 0, 4};

static pcal_batch three_rows(void) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_LOGIT;
  batch.rows = 3;
  batch.columns = 2;
  batch.scores = scores;
  batch.row_stride = sizeof scores[0];
  batch.column_stride = sizeof scores[0][0];
  batch.labels = labels;
  batch.first_row = 10;
  return batch;
}

static pcal_source *borrow(const pcal_batch *batch, const char *const *names) {
  pcal_source *source = NULL;
  pcal_error err;
  if (pc_source_borrow(batch, names, NULL, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return source;
}

TEST(gives_windows_and_rewinds) {
  pcal_batch batch = three_rows();
  batch.weights = weights;
  batch.groups = groups;
  pcal_source *source = borrow(&batch, NULL);
  for (int pass = 0; pass < 2; pass++) {
    pcal_batch window = PCAL_BATCH_INIT;
    assert_int_equal(pc_source_next(source, 2, &window, NULL), PCAL_OK);
    assert_int_equal(window.rows, 2);
    assert_ptr_equal(window.scores, scores);
    assert_int_equal(window.first_row, 10);
    assert_int_equal(window.kind, PCAL_LOGIT);
    assert_int_equal(window.size, sizeof window);
    assert_int_equal(pc_source_next(source, 2, &window, NULL), PCAL_OK);
    assert_int_equal(window.rows, 1);
    assert_ptr_equal(window.scores, scores[2]);
    assert_ptr_equal(window.labels, labels + 2);
    assert_ptr_equal(window.weights, weights + 2);
    assert_ptr_equal(window.groups, groups + 2);
    assert_int_equal(window.first_row, 12);
    for (int end = 0; end < 2; end++) {
      assert_int_equal(pc_source_next(source, 2, &window, NULL), PCAL_OK);
      assert_int_equal(window.rows, 0);
    }
    assert_int_equal(pc_source_rewind(source, NULL), PCAL_OK);
  }
  pc_source_free(source);
}

TEST(copies_names) {
  char cat[] = "cat", dog[] = "dog", file[] = "z.npy";
  const char *names[] = {cat, dog};
  pcal_batch batch = three_rows(), window = PCAL_BATCH_INIT;
  pcal_shape shape;
  batch.scores_name = file;
  pcal_source *source = borrow(&batch, names);
  cat[0] = dog[0] = file[0] = 'x';
  pc_source_shape(source, &shape);
  assert_string_equal(shape.class_names[0], "cat");
  assert_string_equal(shape.class_names[1], "dog");
  assert_int_equal(pc_source_next(source, 9, &window, NULL), PCAL_OK);
  assert_string_equal(window.scores_name, "z.npy");
  assert_null(window.labels_name);
  pc_source_free(source);
}

TEST(reports_its_shape) {
  const char *names[] = {"a"};
  pcal_batch batch = three_rows();
  pcal_shape shape;
  pcal_source *source = borrow(&batch, NULL);
  pc_source_shape(source, &shape);
  assert_int_equal(shape.size, sizeof shape);
  assert_int_equal(shape.kind, PCAL_LOGIT);
  assert_int_equal(shape.type, PCAL_F32);
  assert_int_equal(shape.row_count, 3);
  assert_int_equal(shape.columns, 2);
  assert_true(shape.labelled && !shape.weighted && !shape.grouped);
  assert_null(shape.class_names);
  pc_source_free(source);
  batch.columns = 1;
  batch.labels = NULL;
  batch.weights = weights;
  batch.groups = groups;
  source = borrow(&batch, names);
  pc_source_shape(source, &shape);
  assert_true(!shape.labelled && shape.weighted && shape.grouped);
  assert_null(shape.class_names);
  pc_source_free(source);
}

static void refuse(pcal_batch batch, pcal_status status, const char *sentence) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_source *source = NULL;
  pcal_error err;
  assert_int_equal(pc_source_borrow(&batch, NULL, &env, &source, &err), status);
  assert_sentence(err, status, sentence);
  assert_null(source);
  assert_int_equal(atomic_load(&memory.live), 0);
}

TEST(refuses_what_is_no_batch) {
  pcal_batch batch = three_rows();
  batch.kind = (pcal_kind)10;
  refuse(batch, PCAL_USAGE, "the kind of scores 10 is unknown");
  batch = three_rows();
  batch.columns = 0;
  refuse(batch, PCAL_DATA, "the scores have 0 columns; between 1 and 1000000 are possible");
  batch = three_rows();
  batch.type = (pcal_type)7;
  refuse(batch, PCAL_USAGE, "scores must be float32 or float64");
  batch = three_rows();
  batch.scores = NULL;
  refuse(batch, PCAL_USAGE, "a batch of 3 rows needs scores");
}

static pcal_status borrow_scenario(const pcal_env *env, void *user, pcal_error *err) {
  static const char *const names[] = {"a", "b"};
  (void)user;
  pcal_batch batch = three_rows();
  pcal_source *source = NULL;
  batch.scores_name = "s";
  batch.labels_name = "l";
  const pcal_status status = pc_source_borrow(&batch, names, env, &source, err);
  pc_source_free(source);
  return status;
}

TEST(survives_every_failed_allocation) {
  unit_fail_each_allocation(borrow_scenario, NULL);
}

TEST(fills_strides_of_a_borrowed_batch) {
  pcal_batch batch = three_rows(), window = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  batch.row_stride = batch.column_stride = 0;
  assert_int_equal(pc_source_borrow(&batch, NULL, NULL, &source, NULL), PCAL_OK);
  assert_int_equal(pcal_source_next(source, 2, &window, NULL), PCAL_OK);
  assert_int_equal(window.row_stride, sizeof scores[0]);
  assert_int_equal(window.column_stride, sizeof scores[0][0]);
  assert_int_equal(pcal_source_next(source, 2, &window, NULL), PCAL_OK);
  assert_ptr_equal(window.scores, scores[2]);
  pcal_source_free(source);
}
