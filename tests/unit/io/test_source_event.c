/* Sources whose predictions of a number become the probability of an event. */
#include "io_help.h"

#include <math.h>

#include "file_inputs.h"
#include "io/source.h"

static void event_refused(const file_inputs *inputs, pcal_status status, const char *sentence) {
  pcal_source *source = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err = PCAL_ERROR_INIT;
  pcal_status found = file_inputs_open(inputs, NULL, &source, &err);
  if (found == PCAL_OK)
    found = pcal_source_next(source, 100, &batch, &err);
  assert_int_equal(found, status);
  if (strstr(err.message, sentence) == NULL)
    fail_msg("\"%s\" does not say \"%s\"", err.message, sentence);
  pcal_source_free(source);
}

/* Rows, shape and windows; edge case 1: missing numbers. */
TEST(test_rows_of_an_event) {
  const double probs[] = {0.5, 0.84134474606854293, NAN, 0.5};
  const int32_t labels[] = {0, 1, 1, PCAL_MISSING_LABEL};
  file_inputs inputs = {.event = "> 2"};
  pcal_source *source = NULL;
  pcal_shape shape = PCAL_SHAPE_INIT;
  inputs.data = help_text("e.csv", "mean,std,target\n2,1,2\n3,1,2.5\n,1,3\n2,1,\n");
  assert_int_equal(file_inputs_open(&inputs, NULL, &source, NULL), PCAL_OK);
  pcal_source_get_shape(source, &shape);
  assert_true(shape.kind == PCAL_PROBABILITY && shape.columns == 1 && shape.labelled);
  assert_true(shape.type == PCAL_F64 && shape.levels == NULL);
  for (size_t again = 0; again < 2; again++) {
    for (size_t i = 0; i < 4; i++) {
      pcal_batch batch = PCAL_BATCH_INIT;
      assert_int_equal(pcal_source_next(source, 1, &batch, NULL), PCAL_OK);
      assert_int_equal(batch.rows, 1);
      assert_true(batch.kind == PCAL_PROBABILITY && batch.targets == NULL);
      const double prob = *(const double *)batch.scores;
      assert_true(isnan(probs[i]) ? isnan(prob) : fabs(prob - probs[i]) < 1e-15);
      assert_int_equal(batch.labels[0], labels[i]);
    }
    assert_int_equal(pcal_source_rewind(source, NULL), PCAL_OK);
  }
  pcal_source_free(source);
}

/* Edge case 3, and float32 samples in two files. */
TEST(test_samples_without_targets) {
  const float samples[] = {1, 2, 3, 4, 5, 6};
  file_inputs inputs = {.event = ">= 3"};
  pcal_source *source = NULL;
  pcal_shape shape = PCAL_SHAPE_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  inputs.samples = help_npy_file("s.npy", "=f4", "(2, 3)", samples, sizeof samples);
  assert_int_equal(file_inputs_open(&inputs, NULL, &source, NULL), PCAL_OK);
  pcal_source_get_shape(source, &shape);
  assert_false(shape.labelled);
  assert_int_equal(pcal_source_next(source, 9, &batch, NULL), PCAL_OK);
  assert_int_equal(batch.rows, 2);
  assert_null(batch.labels);
  assert_true(((const double *)batch.scores)[0] == 1.0 / 3 &&
              ((const double *)batch.scores)[1] == 1);
  pcal_source_free(source);
}

/* Edge case 2. */
TEST(test_invalid_predictions_are_refused) {
  file_inputs inputs = {.event = "> 2"};
  inputs.data = help_text("v.csv", "mean,variance,target\n1,1,1\n1,0,1\n");
  event_refused(&inputs, PCAL_DATA, "v.csv, line 3: the variance 0 is not above 0");
  inputs.data = help_text("q.csv", "quantiles.0.1,quantiles.0.9,target\n2,1,1\n");
  event_refused(&inputs, PCAL_DATA,
                "the quantile 1 comes after 2, but quantiles ascend with their levels; sort "
                "each row");
  inputs.data = help_text("t.csv", "mean,variance,target\n1,1,1e200\n");
  event_refused(&inputs, PCAL_DATA, "the target 1e+200 is beyond 1e100");
  inputs.data = help_text("p.csv", "probs,labels\n0.5,1\n");
  event_refused(&inputs, PCAL_USAGE, "event needs predictions of a number");
  inputs.data = help_text("m.csv", "mean,variance,target\n1,1,1\n");
  inputs.event = "2";
  event_refused(&inputs, PCAL_USAGE, "event \"2\" is no event");
}

TEST_GROUP(help_setup, help_teardown)
