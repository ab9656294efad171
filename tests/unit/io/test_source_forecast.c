/* Sources of predictions of a number: parts that are joined, levels, sentences. */
#include "io_help.h"

#include <math.h>

#include "file_inputs.h"
#include "io/source.h"

static void forecast_refused(const file_inputs *inputs, pcal_status status,
                             const char *sentence) {
  pcal_source *source = NULL;
  pcal_error err;
  assert_int_equal(file_inputs_open(inputs, NULL, &source, &err), status);
  if (strstr(err.message, sentence) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", err.message, sentence);
  assert_null(source);
}

/* Two float32 parts stay float32; one of doubles makes doubles of both. */
TEST(test_parts_are_joined) {
  const float means[] = {1.5F, 2.5F, 0.1F}, variances[] = {4, 9, 16};
  const double wide[] = {4, 9, 16}, targets[] = {1, 2, 3};
  file_inputs inputs = {0};
  inputs.mean = help_npy_file("m.npy", "=f4", "(3,)", means, sizeof means);
  inputs.target = help_npy_file("t.npy", "=f8", "(3,)", targets, sizeof targets);
  for (int doubles = 0; doubles < 2; doubles++) {
    pcal_source *source = NULL;
    pcal_shape shape = PCAL_SHAPE_INIT;
    pcal_batch batch = PCAL_BATCH_INIT;
    inputs.variance = doubles
                          ? help_npy_file("w.npy", "=f8", "(3,)", wide, sizeof wide)
                          : help_npy_file("v.npy", "=f4", "(3,)", variances, sizeof variances);
    assert_int_equal(file_inputs_open(&inputs, NULL, &source, NULL), PCAL_OK);
    pcal_source_get_shape(source, &shape);
    assert_int_equal(shape.columns, 2);
    assert_int_equal(shape.type, doubles ? PCAL_F64 : PCAL_F32);
    assert_true(shape.labelled && shape.kind == PCAL_MEAN_VARIANCE);
    assert_int_equal(pcal_source_next(source, 2, &batch, NULL), PCAL_OK);
    assert_int_equal(batch.rows, 2);
    assert_int_equal(pcal_source_next(source, 2, &batch, NULL), PCAL_OK);
    assert_int_equal(batch.rows, 1);
    assert_true(batch.targets[0] == 3);
    const char *row = batch.scores;
    const double mean = doubles ? *(const double *)(const void *)row
                                : (double)*(const float *)(const void *)row;
    row += batch.column_stride;
    const double variance = doubles ? *(const double *)(const void *)row
                                    : (double)*(const float *)(const void *)row;
    assert_true(mean == (double)0.1F && variance == 16);
    pcal_source_free(source);
  }
}

TEST(test_levels_from_names) {
  file_inputs inputs = {0};
  pcal_source *source = NULL;
  pcal_shape shape = PCAL_SHAPE_INIT;
  inputs.data = help_text("q.csv", "quantiles.0.1,target,quantiles.0.9\n1,2,3\n");
  assert_int_equal(file_inputs_open(&inputs, NULL, &source, NULL), PCAL_OK);
  pcal_source_get_shape(source, &shape);
  assert_int_equal(shape.columns, 2);
  assert_true(shape.levels[0] == 0.1 && shape.levels[1] == 0.9);
  assert_null(shape.class_names);
  pcal_source_free(source);
  inputs.data = help_text("r.csv", "quantiles.low,quantiles.0.9,target\n1,2,3\n");
  forecast_refused(&inputs, PCAL_DATA,
                   "r.csv has a column quantiles.low, which is not a level; rename it as "
                   "in quantiles.0.05, or give levels");
  inputs.levels = "0.1/0.5/0.9";
  forecast_refused(&inputs, PCAL_DATA,
                   "r.csv has 2 columns of quantiles, but there are 3 levels; give a level for "
                   "each");
}

TEST(test_what_does_not_fit) {
  const double three[] = {1, 2, 3}, two[] = {1, 2};
  file_inputs inputs = {0};
  inputs.data = help_text("d.csv", "mean,std,target\n1,2,3\n");
  inputs.labels = help_npy_file("y.npy", "=f8", "(3,)", three, sizeof three);
  forecast_refused(&inputs, PCAL_USAGE,
                   "d.csv contains predictions of a number, which need target; give that "
                   "in place of labels");
  inputs = (file_inputs){0};
  inputs.data = help_text("c.csv", "probs.a,probs.b,labels\n0.5,0.5,a\n");
  inputs.target = help_npy_file("t.npy", "=f8", "(3,)", three, sizeof three);
  forecast_refused(&inputs, PCAL_USAGE,
                   "c.csv contains scores of classes, which need labels; give that in "
                   "place of target");
  inputs = (file_inputs){0};
  inputs.mean = help_npy_file("m.npy", "=f8", "(3,)", three, sizeof three);
  inputs.std = help_npy_file("s.npy", "=f8", "(2,)", two, sizeof two);
  forecast_refused(&inputs, PCAL_DATA, "has 2; both must describe the same rows");
  inputs.std = help_npy_file("p.npy", "=f8", "(1, 3)", three, sizeof three);
  forecast_refused(&inputs, PCAL_DATA, "variances or standard deviations need one");
}

/* More rows than are joined at a time. */
TEST(test_long_parts) {
  enum { LONG_ROWS = (1 << 16) + 5 };
  double *numbers = malloc(LONG_ROWS * sizeof *numbers);
  char shape[32];
  file_inputs inputs = {0};
  pcal_source *source = NULL;
  size_t seen = 0;
  for (size_t i = 0; i < LONG_ROWS; i++)
    numbers[i] = (double)i + 1;
  snprintf(shape, sizeof shape, "(%d,)", (int)LONG_ROWS);
  inputs.mean = help_npy_file("long.npy", "=f8", shape, numbers, LONG_ROWS * sizeof *numbers);
  inputs.std = inputs.target = inputs.mean;
  assert_int_equal(file_inputs_open(&inputs, NULL, &source, NULL), PCAL_OK);
  for (int pass = 0; pass < 2; pass++, seen = 0) {
    pcal_batch batch = PCAL_BATCH_INIT;
    do {
      assert_int_equal(pcal_source_next(source, SIZE_MAX, &batch, NULL), PCAL_OK);
      const double *rows = batch.scores;
      for (size_t i = 0; i < batch.rows; i++, seen++)
        assert_true(rows[2 * i] == (double)(seen + 1) && rows[2 * i + 1] == rows[2 * i] &&
                    batch.targets[i] == rows[2 * i]);
    } while (batch.rows > 0);
    assert_int_equal(seen, LONG_ROWS);
    assert_int_equal(pcal_source_rewind(source, NULL), PCAL_OK);
  }
  pcal_source_free(source);
  free(numbers);
}

TEST_GROUP(help_setup, help_teardown)
