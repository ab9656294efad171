#include "../io/io_help.h"
#include "../measure/measure_help.h"

static char *inspect_of(const char *path, pcal_format format, size_t *problems) {
  sink_bytes text = {0};
  pcal_error err;
  if (pcal_inspect_file(path, 0, NULL, format, sink_collect, &text, problems, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return text.bytes;
}

static void inspect_hint(const char *csv, const char *hint) {
  size_t problems = 9;
  char *text = inspect_of(help_text("hint.csv", csv), PCAL_TEXT, &problems);
  assert_contains(text, hint);
  free(text);
}

TEST(test_1_whole_numbers_are_labels) {
  inspect_hint("x\n0\n1\n2\n", "could be labels");
  inspect_hint("x\n3\n7\n", "could be labels");
}

TEST(test_2_rows_that_sum_to_1_are_probabilities) {
  inspect_hint("a,b\n0.5,0.5\n0.25,0.75\n", "could be probs");
  inspect_hint("a,b\n0.5,0.505\n0.25,0.75\n", "could be probs with normalize");
}

TEST(test_3_one_column_between_0_and_1) {
  inspect_hint("p\n0.5\n0.25\n", "could be binary probs");
  inspect_hint("p\n0.5\n0.25\n", ", or confidence");
}

TEST(test_4_log_probabilities) {
  inspect_hint("a,b\n-0.6931471805599453,-0.6931471805599453\n0,-inf\n", "could be log_probs");
}

TEST(test_5_other_numbers_are_logits) {
  inspect_hint("mean,std,target\n1,2,3\n", "could be data, with mean, std and target");
  inspect_hint("mean,variance\n1,2\n", "could be data, with mean, variance and target");
  inspect_hint("quantiles.0.1,quantiles.0.9\n1,2\n", "could be data, with quantiles");
  inspect_hint("samples.0,samples.1\n1,2\n", "could be data, with samples");
  inspect_hint("mean,median\n1,2.5\n", "could be logits");
  inspect_hint("a,b\n-3,2.5\n0,1\n", "could be logits");
}

TEST(test_columns_are_described) {
  size_t problems = 0;
  const char *path = help_text("columns.csv", "score,word\n-1,x\n,y\n4,\n");
  char *text = inspect_of(path, PCAL_TEXT, &problems);
  assert_contains(text, "columns.csv: csv, 3 rows x 2 columns, text, 22 bytes\n");
  assert_contains(text, "  score: -1 to 4, mean 1.5000, 1 missing, first in row 1\n");
  assert_contains(text, "  word: 2 words, 1 missing, first in row 2\n");
  assert_int_equal(problems, 2);
  free(text);
  char *json = inspect_of(path, PCAL_JSON, &problems);
  assert_contains(json, "\"name\": \"score\",\n      \"min\": -1,\n      \"max\": 4,\n"
                        "      \"mean\": 1.5,\n      \"missing\": 1,\n");
  assert_contains(json, "\"words\": 2,\n      \"role\": \"labels\"\n");
  free(json);
}

TEST(test_npy) {
  static const double numbers[] = {1, (double)NAN, (double)INFINITY, -4};
  size_t problems = 0;
  const char *type = pc_little_endian() ? "<f8" : ">f8";
  const char *path = help_npy_file("numbers.npy", type, "(2, 2)", numbers, sizeof numbers);
  char *text = inspect_of(path, PCAL_TEXT, &problems);
  assert_contains(text, "numbers.npy: npy, 2 rows x 2 columns, float64, 160 bytes\n");
  assert_contains(text, "column 1: -4");
  assert_true(problems > 0);
  free(text);
}

TEST(test_selected_columns) {
  char selected[300];
  size_t problems = 9;
  snprintf(selected, sizeof selected, "%s:b..c", help_text("three.csv", "a,b,c\nx,0.5,0.5\n"));
  char *text = inspect_of(selected, PCAL_TEXT, &problems);
  assert_contains(text, "1 row x 2 columns");
  assert_lacks(text, "  a:");
  assert_int_equal(problems, 0);
  free(text);
}

TEST_GROUP(help_setup, help_teardown)
