#include "io/data_columns.h"
#include "io_help.h"

TEST(finds_the_columns_of_a_data_file) {
  const pcal_env env = help_plain_env();
  pc_data_columns found;
  const char *names[] = {"id",      "logits.cat", "labels", "logits.dog",
                         "weights", "groups",     "probe"};
  assert_int_equal(
      pc_data_columns_find(&(pc_column_set){"d.csv", names, 7}, &env, &found, NULL), PCAL_OK);
  assert_int_equal(found.kind, PCAL_LOGIT);
  assert_int_equal(found.score_count, 2);
  assert_int_equal(found.scores[0], 1);
  assert_int_equal(found.scores[1], 3);
  assert_string_equal(found.class_names[0], "cat");
  assert_string_equal(found.class_names[1], "dog");
  assert_int_equal(found.labels, 2);
  assert_int_equal(found.weights, 4);
  assert_int_equal(found.groups, 5);
  pc_data_columns_free(&env, &found);
  const char *confidence[] = {"correct", "confidence", "labels"};
  assert_int_equal(
      pc_data_columns_find(&(pc_column_set){"d.csv", confidence, 3}, &env, &found, NULL),
      PCAL_OK);
  assert_int_equal(found.kind, PCAL_CONFIDENCE);
  assert_int_equal(found.labels, 0);
  assert_int_equal(found.scores[0], 1);
  assert_null(found.class_names);
  assert_true(found.weights == PC_NO_DATA_COLUMN && found.groups == PC_NO_DATA_COLUMN);
  pc_data_columns_free(&env, &found);
  const char *binary[] = {"probs"};
  assert_int_equal(
      pc_data_columns_find(&(pc_column_set){"d.csv", binary, 1}, &env, &found, NULL), PCAL_OK);
  assert_int_equal(found.kind, PCAL_PROBABILITY);
  assert_true(found.labels == PC_NO_DATA_COLUMN);
  pc_data_columns_free(&env, &found);
}

/* Common names count only where the known ones are missing. */
TEST(understands_common_names) {
  const pcal_env env = help_plain_env();
  pc_data_columns found;
  const char *names[] = {"y_true", "y_prob", "sample_weight", "group"};
  assert_int_equal(
      pc_data_columns_find(&(pc_column_set){"d.csv", names, 4}, &env, &found, NULL), PCAL_OK);
  assert_int_equal(found.kind, PCAL_PROBABILITY);
  assert_int_equal(found.score_count, 1);
  assert_int_equal(found.scores[0], 1);
  assert_true(found.labels == 0 && found.weights == 2);
  assert_true(found.groups == PC_NO_DATA_COLUMN); /* often a feature */
  pc_data_columns_free(&env, &found);
  const char *features[] = {"probs", "labels", "weight", "sample_weight"};
  assert_int_equal(
      pc_data_columns_find(&(pc_column_set){"d.csv", features, 4}, &env, &found, NULL),
      PCAL_OK);
  assert_true(found.weights == 3);
  pc_data_columns_free(&env, &found);
  const char *spread[] = {"mean", "std", "var", "target"};
  assert_int_equal(
      pc_data_columns_find(&(pc_column_set){"d.csv", spread, 4}, &env, &found, NULL), PCAL_OK);
  assert_true(found.spread == 1);
  pc_data_columns_free(&env, &found);
  const char *both[] = {"label", "prob", "probs", "labels"};
  assert_int_equal(pc_data_columns_find(&(pc_column_set){"d.csv", both, 4}, &env, &found, NULL),
                   PCAL_OK);
  assert_true(found.score_count == 1 && found.scores[0] == 2 && found.labels == 3);
  pc_data_columns_free(&env, &found);
  const char *arrays[] = {"prob", "label"};
  assert_int_equal(
      pc_data_members_find(&(pc_column_set){"d.npz", arrays, 2}, &env, &found, NULL), PCAL_OK);
  assert_true(found.scores[0] == 0 && found.labels == 1);
  pc_data_columns_free(&env, &found);
}

static void expect_refused(const char *const *names, size_t count, const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  pc_data_columns found;
  pcal_error err;
  assert_int_equal(
      pc_data_columns_find(&(pc_column_set){"d.csv", names, count}, &env, &found, &err),
      PCAL_DATA);
  assert_string_equal(err.message, sentence);
  assert_int_equal(counter.live, 0);
}

TEST(refuses_unclear_data_files) {
  expect_refused(NULL, 2,
                 "d.csv has no column names; data needs npz, jsonl, or csv or tsv with a "
                 "header such as labels,probs.cat,probs.dog");
  expect_refused(
      (const char *const[]){"labels", "score"}, 2,
      "d.csv has no columns for scores among labels, score; give probs and labels "
      "as FILE:COLUMN in place of data, or call them probs, "
      "logits or confidence, or with the name of the class probs.CLASS, logits.CLASS or "
      "log-probs.CLASS; "
      "predictions of a number mean and std or variance, quantiles.LEVEL or "
      "samples.NUMBER");
  expect_refused((const char *const[]){"probs.a", "logits.a"}, 2,
                 "d.csv has two kinds of scores, probs and logits.a; choose one with "
                 "logits FILE:COLUMNS in place of data");
  expect_refused((const char *const[]){"probs", "probs.a"}, 2,
                 "d.csv has two kinds of scores, probs and probs.a; choose one with probs "
                 "FILE:COLUMNS in place of data");
  expect_refused((const char *const[]){"probs", "probs"}, 2,
                 "d.csv has two kinds of scores, probs and probs; choose one with probs "
                 "FILE:COLUMNS in place of data");
  expect_refused((const char *const[]){"probs", "labels", "labels"}, 3,
                 "d.csv has two columns called labels; rename one");
}

static void expect_members(const char *const *names, size_t count, pcal_kind kind,
                           size_t scores, size_t labels) {
  const pcal_env env = help_plain_env();
  pc_data_columns found;
  pcal_error err;
  if (pc_data_members_find(&(pc_column_set){"d.npz", names, count}, &env, &found, &err) !=
      PCAL_OK)
    fail_msg("%s", err.message);
  assert_int_equal(found.kind, kind);
  assert_int_equal(found.score_count, 1);
  assert_int_equal(found.scores[0], scores);
  assert_null(found.class_names);
  assert_true(found.labels == labels);
  pc_data_columns_free(&env, &found);
}

TEST(finds_the_arrays_of_a_container) {
  expect_members((const char *const[]){"labels", "x", "logits"}, 3, PCAL_LOGIT, 2, 0);
  expect_members((const char *const[]){"log_probs"}, 1, PCAL_LOG_PROBABILITY, 0,
                 PC_NO_DATA_COLUMN);
  expect_members((const char *const[]){"log-probs"}, 1, PCAL_LOG_PROBABILITY, 0,
                 PC_NO_DATA_COLUMN);
  expect_members((const char *const[]){"confidence", "labels", "correct"}, 3, PCAL_CONFIDENCE,
                 0, 2);
  expect_members((const char *const[]){"probs", "probs.cat", "log_probs_old"}, 3,
                 PCAL_PROBABILITY, 0, PC_NO_DATA_COLUMN);
}

TEST(refuses_unclear_containers) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  const char *const twice[] = {"log_probs", "logits"}, *const none[] = {"probs.cat", "labels"};
  pc_data_columns found;
  pcal_error err;
  assert_int_equal(
      pc_data_members_find(&(pc_column_set){"d.npz", twice, 2}, &env, &found, &err), PCAL_DATA);
  assert_string_equal(err.message,
                      "d.npz has two arrays of scores, log_probs and logits; choose one "
                      "with logits FILE:NAME in place of data");
  assert_int_equal(pc_data_members_find(&(pc_column_set){"d.npz", none, 2}, &env, &found, &err),
                   PCAL_DATA);
  assert_string_equal(err.message,
                      "d.npz has no scores among probs.cat, labels; give probs and labels as "
                      "FILE:COLUMN in place of data, or name them probs, logits, log_probs or "
                      "confidence, or mean and std or variance, "
                      "quantiles or samples");
  assert_int_equal(counter.live, 0);
}
