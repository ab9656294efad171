#include "../unit.h"

#include "propercal.h"

#include <unistd.h>

static void expect_usage(pcal_status status, const pcal_error *err, const char *sentence) {
  assert_int_equal(status, PCAL_USAGE);
  assert_int_equal(err->status, PCAL_USAGE);
  assert_string_equal(err->message, sentence);
}

TEST(refuses_null) {
  pcal_error err;
  pcal_source *source = NULL;
  pcal_output *output = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  const pcal_inputs inputs = PCAL_INPUTS_INIT;
  expect_usage(pcal_source_open(NULL, NULL, &source, &err), &err,
               "pcal_source_open needs inputs and an out pointer; NULL was given");
  expect_usage(pcal_source_open(&inputs, NULL, NULL, &err), &err,
               "pcal_source_open needs inputs and an out pointer; NULL was given");
  const char *const names[] = {"probs", NULL}, *roles[2];
  expect_usage(pcal_find_columns("t", NULL, 1, NULL, roles, &err), &err,
               "pcal_find_columns needs a table's name, names and roles; NULL was given");
  expect_usage(pcal_find_columns("t", names, 2, NULL, roles, &err), &err,
               "pcal_find_columns: name 1 is NULL");
  expect_usage(pcal_source_next(NULL, 1, &batch, &err), &err,
               "pcal_source_next needs a source and a batch; NULL was given");
  expect_usage(pcal_source_rewind(NULL, &err), &err,
               "pcal_source_rewind needs a source; NULL was given");
  expect_usage(pcal_output_open(NULL, NULL, &output, &err), &err,
               "pcal_output_open needs a path and an out pointer; NULL was given");
  expect_usage(pcal_output_commit(NULL, &err), &err,
               "pcal_output_commit needs an output; NULL was given");
  expect_usage(pcal_npy_header_write(PCAL_F32, 1, 1, NULL, NULL, &err), &err,
               "pcal_npy_header_write needs a sink; NULL was given");
  assert_int_equal(pcal_output_write(NULL, "x", 1), 1);
  assert_null(pcal_output_temporary_path(NULL));
  pcal_source_free(NULL);
  pcal_output_discard(NULL);
  pcal_source_get_shape(NULL, NULL);
}

/* Out through the output calls, in through the source calls. */
TEST(writes_and_reads_back) {
  char directory[] = "/tmp/propercal-test-XXXXXX", path[64];
  const float scores[] = {0.25f, 0.5f, 0.75f};
  pcal_error err;
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof path, "%s/p.npy", directory);
  pcal_output *output = NULL;
  assert_int_equal(pcal_output_open(path, NULL, &output, &err), PCAL_OK);
  assert_int_equal(pcal_npy_header_write(PCAL_U8, 3, 0, pcal_output_write, output, &err),
                   PCAL_USAGE);
  assert_string_equal(err.message,
                      "element type 8 cannot be written; use PCAL_F32, PCAL_F64 or PCAL_I32");
  assert_int_equal(pcal_npy_header_write(PCAL_F32, 3, 0, pcal_output_write, output, &err),
                   PCAL_OK);
  float written[UNIT_COUNT(scores)];
  memcpy(written, scores, sizeof scores);
  unit_native_order(written, sizeof *written, UNIT_COUNT(written));
  assert_int_equal(pcal_output_write(output, (const char *)written, sizeof written), 0);
  assert_int_equal(pcal_output_commit(output, &err), PCAL_OK);
  pcal_input probs = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  probs.file = path;
  inputs.probs = &probs;
  pcal_source *source = NULL;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, &err), PCAL_OK);
  assert_int_equal(err.status, PCAL_OK);
  pcal_batch batch = PCAL_BATCH_INIT;
  expect_usage(pcal_source_next(source, 0, &batch, &err), &err,
               "pcal_source_next needs max_rows above 0 and a batch that starts from "
               "PCAL_BATCH_INIT");
  assert_int_equal(pcal_source_next(source, 10, &batch, &err), PCAL_OK);
  assert_int_equal(batch.rows, 3);
  assert_memory_equal(batch.scores, scores, sizeof scores);
  pcal_shape shape = {.size = sizeof shape};
  pcal_source_get_shape(source, &shape);
  assert_int_equal(shape.row_count, 3);
  assert_int_equal(pcal_source_rewind(source, &err), PCAL_OK);
  pcal_source_free(source);
  unlink(path);
  rmdir(directory);
}

static void expect_roles(const char *const *names, const char *const *expected, size_t count) {
  const char *roles[8] = {"before"};
  pcal_error err;
  assert_int_equal(pcal_find_columns("t", names, count, NULL, roles, &err), PCAL_OK);
  for (size_t i = 0; i < count; i++)
    if (expected[i] == NULL)
      assert_null(roles[i]);
    else
      assert_string_equal(roles[i], expected[i]);
}

TEST(finds_columns_by_name) {
  expect_roles((const char *const[]){"id", "log_probs.a", "log_probs.b", "y_true", "weights"},
               (const char *const[]){NULL, "log_probs", "log_probs", "labels", "weights"}, 5);
  expect_roles((const char *const[]){"conf", "correct", "groups", "time"},
               (const char *const[]){"confidence", "correct", "groups", "time"}, 4);
  expect_roles((const char *const[]){"observed", "sd", "mean"},
               (const char *const[]){"target", "std", "mean"}, 3);
  expect_roles((const char *const[]){"mean", "variance"},
               (const char *const[]){"mean", "variance"}, 2);
  const char *const names[] = {"a"}, *roles[1];
  pcal_error err;
  assert_int_equal(pcal_find_columns("t", names, 1, NULL, roles, &err), PCAL_DATA);
}
