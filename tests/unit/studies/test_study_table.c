#include "../measure/measure_help.h"

#include <math.h>

#include "studies/study_table.h"

static void table_fill(pc_study_table *table, const pcal_env *env) {
  pc_study_table_init(table, env, "trial");
  snprintf(table->summary, sizeof table->summary, "two rows");
  pc_study_table_column(table, "name");
  pc_study_table_column(table, "value");
  assert_int_equal(pc_study_table_row(table, NULL), PCAL_OK);
  pc_study_table_word(table, 0, "a,b");
  pc_study_table_number(table, 1, 0.125);
  assert_int_equal(pc_study_table_row(table, NULL), PCAL_OK);
  pc_study_table_word(table, 0, "long name");
}

static void table_check(pcal_format format, const char *expected) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_study_table table;
  pc_text text;
  table_fill(&table, &env);
  pc_text_init(&text, &env);
  pc_study_table_write(&table, format, &text);
  assert_string_equal(text.bytes, expected);
  pc_text_free(&text);
  pc_study_table_free(&table);
}

static void test_formats(void **state) {
  (void)state;
  table_check(PCAL_TEXT, "two rows\n\n"
                         "name        value\n"
                         "a,b        0.1250\n"
                         "long name       -\n");
  table_check(PCAL_CSV, "name,value\n\"a,b\",0.125\nlong name,\n");
  table_check(PCAL_MARKDOWN,
              "two rows\n\n| name | value |\n| --- | ---: |\n| `a,b` | 0.1250 |\n"
              "| `long name` | - |\n");
}

static void test_json(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pc_study_table table;
  pc_text text;
  table_fill(&table, &env);
  pc_text_init(&text, &env);
  pc_study_table_write(&table, PCAL_JSON, &text);
  assert_contains(text.bytes, "\"study\": \"trial\"");
  assert_contains(text.bytes, "\"value\": 0.125");
  assert_contains(text.bytes, "\"value\": null");
  pc_text_free(&text);
  pc_study_table_free(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_json),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
