#include "../io/io_help.h"
#include "../measure/measure_help.h"
#include "file_inputs.h"

static char *inspect_of(const file_inputs *inputs, pcal_format format, size_t *problems) {
  sink_bytes text = {0};
  pcal_source *source = NULL;
  pcal_error err;
  if (file_inputs_open(inputs, NULL, &source, &err) != PCAL_OK ||
      pcal_inspect_source(source, NULL, format, sink_collect, &text, problems, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  pcal_source_free(source);
  return text.bytes;
}

static file_inputs inspect_table(const char *text) {
  file_inputs inputs = {0};
  inputs.data = help_text("table.csv", text);
  return inputs;
}

TEST(test_a_good_data_set) {
  const file_inputs inputs = inspect_table("probs.cat,probs.dog,labels,weights,groups\n"
                                           "0.5,0.5,cat,1,x\n0.25,0.75,cat,2,y\n");
  size_t problems = 9;
  char *text = inspect_of(&inputs, PCAL_TEXT, &problems);
  assert_string_equal(text, "2 rows, 2 columns of kind probability, stored as float64\n"
                            "groups: 2\n"
                            "total weight: 3\n"
                            "accuracy 33.3 %, mean confidence 66.7 %\n"
                            "labels:\n"
                            "  cat: 2 rows, predicted right in 50.0 %\n"
                            "  dog: 0 rows\n"
                            "  1 of 2 classes never occur, and calibration cannot be judged "
                            "from one class: check the labels\n"
                            "no problems: every row can be measured\n");
  assert_int_equal(problems, 0);
  free(text);
  char *json = inspect_of(&inputs, PCAL_JSON, &problems);
  assert_contains(json, "  \"columns\": 2,\n  \"groups\": 2,\n"
                        "  \"group_names\": [\n    \"x\",\n    \"y\"\n  ],\n"
                        "  \"weight\": 3,\n");
  free(json);
}

TEST(test_names_cannot_steer_the_terminal) {
  const file_inputs inputs =
      inspect_table("probs.c\033at,probs.dog,labels\n0.5,0.5,0\n0.25,0.75,1\n");
  size_t problems = 9;
  char *text = inspect_of(&inputs, PCAL_TEXT, &problems);
  assert_contains(text, "  c\\x1bat: 1 row");
  free(text);
}

/* Every bad row is counted, the first five are written out, and the good ones still count. */
TEST(test_bad_rows_are_counted) {
  const file_inputs inputs =
      inspect_table("probs.a,probs.b,labels\n0.5,0.5,0\n1,1,0\n0.5,0.5,7\n-1,2,0\n"
                    "0.5,0.5,\nnan,1,0\n2,2,0\n3,3,0\n0.25,0.75,1\n");
  size_t problems = 0;
  char *text = inspect_of(&inputs, PCAL_TEXT, &problems);
  assert_int_equal(problems, 7);
  assert_contains(text, "9 rows, 2 columns");
  assert_contains(text, "accuracy 100.0 %, mean confidence 62.5 %\n");
  assert_contains(text, "7 rows cannot be measured as they are:\n");
  assert_contains(text, "line 3: the probabilities sum to 2.000000");
  assert_contains(text, "line 4: label 7 is outside 0 to 1");
  assert_contains(text, "line 7, column \"probs.a\": the score is missing (NaN)");
  assert_contains(text, "  and 2 more\n");
  assert_lacks(text, "line 9");
  free(text);
  char *json = inspect_of(&inputs, PCAL_JSON, &problems);
  assert_contains(json, "  \"rows\": 9,\n");
  assert_contains(json, "  \"bad_rows\": 7,\n");
  assert_contains(json, "\"name\": \"a\",\n      \"rows\": 1,\n      \"right\": 1\n");
  free(json);
}

TEST(test_confidences) {
  const file_inputs inputs = inspect_table("confidence,correct\n0.5,1\n0.75,0\n0.25,1\n");
  size_t problems = 9;
  char *text = inspect_of(&inputs, PCAL_TEXT, &problems);
  assert_contains(text, "3 rows, 1 column of kind confidence");
  assert_contains(text, "accuracy 66.7 %, mean confidence 50.0 %\n");
  assert_contains(text, "  wrong: 1 row\n  correct: 2 rows\n");
  assert_int_equal(problems, 0);
  free(text);
}

/* Scores alone can be looked at. */
TEST(test_without_labels) {
  const file_inputs inputs = inspect_table("probs.a,probs.b\n0.5,0.5\n0.25,0.75\n");
  size_t problems = 9;
  char *text = inspect_of(&inputs, PCAL_TEXT, &problems);
  assert_contains(text, "2 rows, 2 columns of kind probability");
  assert_lacks(text, "accuracy");
  assert_int_equal(problems, 0);
  free(text);
}

TEST_GROUP(help_setup, help_teardown)
