#include "io/selector.h"
#include "io_help.h"

static void expect_split(const char *text, int exists, const char *path, const char *columns) {
  const pcal_env env = help_plain_env();
  pc_selector selector;
  assert_int_equal(pc_selector_split(text, exists, &env, &selector, NULL), PCAL_OK);
  assert_string_equal(selector.path, path);
  if (columns == NULL)
    assert_null(selector.columns);
  else
    assert_string_equal(selector.columns, columns);
  pc_selector_free(&env, &selector);
}

TEST(splits_at_the_last_colon) {
  expect_split("logits.npy", 0, "logits.npy", NULL);
  expect_split("data.csv:label", 0, "data.csv", "label");
  expect_split("a:b.csv:cat..dog", 0, "a:b.csv", "cat..dog");
  expect_split("a:b.csv", 1, "a:b.csv", NULL);
  expect_split("/x:y/data.csv", 0, "/x:y/data.csv", NULL);
  expect_split("/x:y/data.csv:3", 0, "/x:y/data.csv", "3");
  expect_split("x:y/data.csv:a:3", 0, "x:y/data.csv:a", "3");
  expect_split("-", 0, "-", NULL);
  expect_split("-:3", 0, "-", "3");
}

TEST(refuses_half_a_name) {
  const pcal_env env = help_plain_env();
  pc_selector selector;
  pcal_error err;
  assert_int_equal(pc_selector_split("", 0, &env, &selector, &err), PCAL_USAGE);
  assert_string_equal(err.message, "\"\" does not name a file; write FILE or FILE:COLUMNS");
  assert_int_equal(pc_selector_split(":3", 0, &env, &selector, &err), PCAL_USAGE);
  assert_string_equal(err.message, "\":3\" does not name a file; write FILE or "
                                   "FILE:COLUMNS");
  assert_int_equal(pc_selector_split("a.csv:", 0, &env, &selector, &err), PCAL_USAGE);
  assert_string_equal(err.message,
                      "\"a.csv:\" has nothing after the colon; name the columns or remove the "
                      "colon");
}

static const char *const selector_names[] = {"id", "cat", "dog",  "a,b", "x..y",
                                             "2",  "",    "twin", "twin"};
static const pc_column_set selector_named_set = {"f.csv", selector_names, 9};
static const pc_column_set selector_plain_set = {"f.npy", NULL, 4};

/* expected: digits of the columns. */
static void expect_columns(const pc_column_set *set, const char *columns,
                           const char *expected) {
  const pcal_env env = help_plain_env();
  pcal_error err;
  size_t *chosen = NULL, count = 0;
  pc_error_clear(&err);
  if (pc_selector_columns(columns, set, &env, &chosen, &count, &err) != PCAL_OK)
    fail_msg("%s: %s", columns, err.message);
  assert_int_equal(count, strlen(expected));
  for (size_t i = 0; i < count; i++)
    assert_int_equal(chosen[i], expected[i] - '0');
  pc_free(&env, chosen);
}

static void expect_refused(const pc_column_set *set, const char *columns,
                           const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  pcal_error err;
  size_t *chosen = NULL, count = 0;
  assert_int_equal(pc_selector_columns(columns, set, &env, &chosen, &count, &err), PCAL_USAGE);
  assert_string_equal(err.message, sentence);
  assert_int_equal(counter.live, 0);
}

TEST(chooses_by_name_number_and_range) {
  expect_columns(&selector_named_set, NULL, "012345678");
  expect_columns(&selector_named_set, "cat", "1");
  expect_columns(&selector_named_set, "dog,id", "20");
  expect_columns(&selector_named_set, "cat..2,0", "123450");
}

TEST(chooses_awkward_names) {
  expect_columns(&selector_named_set, "a,b", "3");
  expect_columns(&selector_named_set, "x..y", "4");
  expect_columns(&selector_named_set, "id,x..y", "04");
  expect_columns(&selector_named_set, "2", "5");
  expect_columns(&selector_named_set, "7", "7");
  expect_columns(&selector_named_set, "id..dog,8", "0128");
  expect_columns(&selector_named_set, "1..3", "123");
  expect_columns(&selector_named_set, "dog..dog", "2");
  expect_columns(&selector_named_set, "id,,cat", "061");
  expect_columns(&selector_plain_set, "3,0", "30");
  expect_columns(&selector_plain_set, "1..3", "123");
  expect_columns(&selector_plain_set, NULL, "0123");
}

TEST(refuses_what_is_not_there) {
  expect_refused(&selector_named_set, "cta",
                 "f.csv has no column \"cta\"; did you mean "
                 "\"cat\"?");
  expect_refused(
      &selector_named_set, "hippopotamus",
      "f.csv has no column \"hippopotamus\"; it has 9, from \"id\" to \"twin\"; give "
      "a name or a number counted from 0");
  expect_refused(&selector_named_set, "9", "f.csv has no column 9; its columns are 0 to 8");
  expect_refused(&selector_named_set, "twin",
                 "f.csv has 2 columns called \"twin\"; choose one "
                 "by number, counted from 0");
  expect_refused(&selector_named_set, "dog..cat",
                 "f.csv: the range \"dog..cat\" runs "
                 "backwards; write the earlier column first");
  expect_refused(&selector_named_set, "1..2",
                 "f.csv: in the range \"1..2\", \"2\" is the name of column 5 but \"1\" is no "
                 "name, only a number; give names or numbers for both ends");
  expect_refused(&selector_named_set, "cat..3",
                 "f.csv: in the range \"cat..3\", \"cat\" is the name of column 1 but \"3\" is "
                 "no name, only a number; give names or numbers for both ends");
  expect_refused(&selector_named_set, "cat,1",
                 "f.csv, column 1: it is chosen twice; name it once");
  expect_refused(&selector_named_set, "id..dog,cat",
                 "f.csv, column 1: it is chosen twice; name it once");
  expect_refused(
      &selector_plain_set, "cat",
      "f.npy has no column \"cat\": its columns have no names; choose them by number, "
      "0 to 3");
  expect_refused(&selector_plain_set, "1,,2",
                 "f.npy: a column is missing in the selector; "
                 "write names or numbers between the commas");
  expect_refused(&selector_plain_set, "1..",
                 "f.npy: a column is missing in the selector; write "
                 "names or numbers between the commas");
  expect_refused(&selector_plain_set, "-1",
                 "f.npy has no column \"-1\": its columns have no "
                 "names; choose them by number, 0 to 3");
  expect_refused(&selector_plain_set, "99999999999999999999",
                 "f.npy has no column \"99999999999999999999\": its columns have no names; "
                 "choose them by number, 0 to 3");
}

static pcal_status selector_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_selector selector;
  size_t *chosen = NULL, count = 0;
  (void)user;
  PC_TRY(pc_selector_split("f.csv:cat..dog", 0, env, &selector, err));
  const pcal_status status =
      pc_selector_columns(selector.columns, &selector_named_set, env, &chosen, &count, err);
  pc_selector_free(env, &selector);
  pc_free(env, chosen);
  return status;
}

TEST(survives_every_failed_allocation) {
  help_fail_each_allocation(selector_scenario, NULL);
}
