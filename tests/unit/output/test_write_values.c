#include "output/write_results.h"

#include "../unit.h"

static const char *parts_of(pc_text *text) {
  return text->bytes == NULL ? "" : text->bytes;
}

static void count_check(double count, const char *expected) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_text_init(&text, &env);
  pc_write_count(count, &text);
  assert_string_equal(parts_of(&text), expected);
  pc_text_free(&text);
}

TEST(test_counts_have_their_thousands_set_apart) {
  count_check(0, "0");
  count_check(7, "7");
  count_check(999, "999");
  count_check(1000, "1,000");
  count_check(12345, "12,345");
  count_check(1234567, "1,234,567");
  count_check(999999999999999, "999,999,999,999,999");
  count_check(1e15, "1000000000000000");
  count_check(0.5, "0.5");
  count_check(1234.5, "1234.5");
}

static void value_check(double value, int undefined, const char *expected) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_result_record record;
  pc_text text;
  memset(&record, 0, sizeof record);
  record.outcome.value = value;
  record.outcome.undefined = undefined;
  pc_text_init(&text, &env);
  pc_write_value(&record, &text);
  assert_string_equal(parts_of(&text), expected);
  pc_text_free(&text);
}

TEST(test_values_have_five_digits) {
  value_check(0.123456789, 0, "0.12346");
  value_check(0.9356, 0, "0.93560");
  value_check(-0.00001234567, 0, "-1.2346e-05");
  value_check((double)INFINITY, 0, "inf");
  value_check(0.5, 1, "-");
}

static void summary_check(const pcal_results *results, const char *expected) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_text_init(&text, &env);
  pc_write_data_summary(results, &text);
  assert_string_equal(parts_of(&text), expected);
  pc_text_free(&text);
}

TEST(test_summaries) {
  pcal_results results;
  memset(&results, 0, sizeof results);
  results.layout = (pc_layout){PCAL_LOGIT, 10, 10};
  results.rows = 10000;
  summary_check(&results, "10,000 rows, 10 classes, logits");
  results.weighted = 1;
  results.weight = 2500.5;
  results.weights_are = PCAL_WEIGHTS_IMPORTANCE;
  results.effective = 1234.56;
  results.normalized = 1234;
  results.skipped = 1;
  summary_check(&results, "10,000 rows (weight 2500.5, importance weights, effective sample "
                          "size 1235), 10 classes, logits, 1,234 rescaled to "
                          "sum to 1, 1 skipped as missing");
  results = (pcal_results){.rows = 1, .layout = {PCAL_PROBABILITY, 1, 2}};
  summary_check(&results, "1 row, binary probabilities of class 1");
  results.layout = (pc_layout){PCAL_CONFIDENCE, 1, 1};
  summary_check(&results, "1 row, confidences");
  results.layout = (pc_layout){PCAL_LOG_PROBABILITY, 2, 2};
  summary_check(&results, "1 row, 2 classes, log-probabilities");
}
