#include "../measure/measure_help.h"

static const given_data tables_data = {
    .kind = PCAL_PROBABILITY,
    .rows = 4,
    .columns = 2,
    .scores = (const double[]){0.5, 0.5, 0.25, 0.75, 1, 0, 0.25, 0.75},
    .labels = (const int32_t[]){0, 1, 1, 0},
    .weights = (const double[]){1, 2, 1, 0},
    .groups = (const uint32_t[]){0, 0, 1, 1},
    .class_names = (const char *const[]){"cat", "dog"},
    .class_count = 2,
    .group_names = (const char *const[]){"a,\"b\"", "c|d"},
    .group_count = 2,
};

static char *tables_written(const given_data *data, const char *specs, pcal_format format) {
  pcal_results *results = given_results(data, specs);
  char *text = given_written(results, format);
  pcal_results_free(results);
  return text;
}

TEST(test_text) {
  char *text = tables_written(&tables_data, "accuracy log ks:rank=2 skce", PCAL_TEXT);
  const char *expected =
      "3 rows (weight 4, frequency weights), 2 classes, probabilities\n"
      "classes: cat, dog\n"
      "\n"
      "proper scores: upper bounds of the calibration errors below\n"
      "  accuracy      0.75000\n"
      "  log               inf  upper bound\n"
      "calibration of class 1: is its probability right?\n"
      "  skce        -0.062156\n"
      "top-label calibration: is the predicted class right as often as claimed?\n"
      "  ks:rank=2     0.25000  lower bound\n"
      "log: row 2 gives its true class probability 0, so the score is infinite; "
      "log:clip=1e-15 keeps it finite\n"
      "\n"
      "by group          a,\"b\"           c|d\n"
      "weight                3             1\n"
      "accuracy         1.0000        0.0000\n"
      "log             0.42284           inf\n"
      "ks:rank=2       0.33333        1.0000\n"
      "skce          -0.075365             -\n"
      "\n";
  if (strncmp(text, expected, strlen(expected)) != 0)
    assert_string_equal(text, expected);
  free(text);
}

/* Parts with PC_PARTS_IN_TEXT are listed below the value. */
TEST(test_text_with_parts) {
  char *text = tables_written(&tables_data, "ks decomposition:by=corp", PCAL_TEXT);
  assert_contains(text,
                  "proper scores: upper bounds of the calibration errors below\n"
                  "  decomposition:by=corp     0.34375  upper bound, predicted class alone\n"
                  "    calibration             0.15625\n"
                  "    sharpness                0.0000\n"
                  "    entropy                 0.18750\n"
                  "top-label calibration: is the predicted class right as often as claimed?\n"
                  "  ks                        0.25000  lower bound\n"
                  "\n");
  free(text);
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 2,
                           .columns = 1,
                           .scores = (const double[]){0.5, 0.5},
                           .labels = (const int32_t[]){1, 0}};
  text = tables_written(&data, "decomposition", PCAL_TEXT);
  assert_contains(text,
                  "  decomposition              0.25000  upper bound, predicted class alone\n"
                  "    calibration               0.0000\n");
  assert_contains(text, "    calibration_debiased    -0.25000\n");
  free(text);
}

/* The verdict is folded at 80 columns, and nothing is lost. */
TEST(test_text_is_folded) {
  pcal_results *results = given_results(&tables_data, "accuracy");
  char *text = given_written(results, PCAL_TEXT);
  const char *verdict = pcal_results_verdict_text(results);
  const char *at = strstr(text, "\n\n");
  for (const char *next = at; next != NULL; next = strstr(at + 2, "\n\n"))
    at = next;
  at += 2;
  for (const char *line = at; *line != '\0'; line += strcspn(line, "\n") + 1)
    assert_true(strcspn(line, "\n") <= 80);
  for (; *verdict != '\0'; verdict++, at++)
    assert_true(*at == *verdict || (*at == '\n' && *verdict == ' '));
  assert_string_equal(at, "\n");
  free(text);
  pcal_results_free(results);
}

/* Names may be longer than the column, and there may be more groups than fit a line. */
TEST(test_text_with_many_groups) {
  static const uint32_t groups[] = {0, 1, 2, 3, 4, 5, 6, 7};
  static const char *const names[] = {"one group with a very long name", "b"};
  const given_data data = {.kind = PCAL_CONFIDENCE,
                           .rows = 8,
                           .columns = 1,
                           .scores = (const double[]){0, 0, 0, 0, 0, 0, 0, 0},
                           .labels = (const int32_t[]){0, 0, 0, 0, 0, 0, 0, 1},
                           .groups = groups,
                           .group_names = names,
                           .group_count = 2};
  char *text = tables_written(&data, "accuracy", PCAL_TEXT);
  assert_contains(text, "accuracy by group, and the weight of each\n"
                        "  worst first: 2 0.00, 3 0.00, 4 0.00, 5 0.00, 6 0.00\n"
                        "  2                                         1      0.0000\n");
  assert_contains(text, "  7                                         1      1.0000\n"
                        "  b                                         1      0.0000\n"
                        "  one group with a very long name           1      0.0000\n");
  free(text);
}

/* Names from files cannot steer the terminal. */
TEST(test_text_has_no_control_characters) {
  given_data data = tables_data;
  data.class_names = (const char *const[]){"c\033[31mat", "d\nog\302\233"};
  data.group_names = (const char *const[]){"\033]0;x\a", "d\177\303\251"};
  data.labels = (const int32_t[]){0, 0, 0, 0};
  char *text = tables_written(&data, "accuracy", PCAL_TEXT);
  assert_contains(text, "classes: c\\x1b[31mat, d\\nog\\u009b\n");
  assert_contains(text, "every label is \"c\\x1b[31mat\"");
  assert_contains(text, "by group  \\x1b]0;x\\x07        d\\x7f\303\251\n");
  free(text);
  text = tables_written(&data, "accuracy", PCAL_JSON);
  assert_contains(text, "\"c\\u001b[31mat\"");
  free(text);
}

TEST(test_csv) {
  char *text = tables_written(&tables_data, "accuracy log ks:rank=2 skce", PCAL_CSV);
  assert_contains(
      text, "metric,spec,group,part,value,notion,bound,why,weight\n"
            "accuracy,accuracy,,,0.75,proper,,,4\n"
            "log,log:clip=0,,,inf,proper,upper,\"row 2 gives its true class probability 0, so "
            "the score is infinite; log:clip=1e-15 keeps it finite\",4\n"
            "ks,\"ks:rank=2,by=pooled\",,,0.25,top-label,lower,,4\n"
            "ks,\"ks:rank=2,by=pooled\",,at,0,top-label,lower,,4\n"
            "ks,\"ks:rank=2,by=pooled\",,signed,-0.25,top-label,lower,,4\n");
  assert_contains(text, "\naccuracy,accuracy,\"a,\"\"b\"\"\",,1,proper,,,3\n");
  assert_contains(text, "\naccuracy,accuracy,c|d,,0,proper,,,1\n");
  assert_contains(text, "c|d,,,canonical,,at least two rows are needed,1\n");
  free(text);
}

TEST(test_markdown) {
  char *text = tables_written(&tables_data, "accuracy log oe-ratio ks:rank=2", PCAL_MARKDOWN);
  const char *expected =
      "3 rows (weight 4, frequency weights), 2 classes, probabilities\n"
      "\n"
      "| metric | value | estimates | bound | a,\"b\" | c\\|d |\n"
      "| --- | ---: | --- | --- | ---: | ---: |\n"
      "| weight | 4 |  |  | 3 | 1 |\n"
      "| `accuracy` | 0.75000 | proper |  | 1.0000 | 0.0000 |\n"
      "| `log` | inf | proper | upper bound | 0.42284 | inf |\n"
      "| `oe-ratio` | 1.5000 | class 1 |  | 1.0000 | - |\n"
      "| `ks:rank=2` | 0.25000 | top-label | lower bound | 0.33333 | 1.0000 |\n"
      "\n"
      "`log`: row 2 gives its true class probability 0, so the score is infinite; "
      "log:clip=1e-15 keeps it finite\n"
      "\n";
  if (strncmp(text, expected, strlen(expected)) != 0)
    assert_string_equal(text, expected);
  free(text);
}
