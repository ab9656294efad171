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

/* Names and words that would end a cell; -0; a column that is there twice. */
static void test_cells_that_need_quotes(void **state) {
  (void)state;
  static const struct {
    pcal_format format;
    const char *expected;
  } cases[] = {
      {PCAL_CSV, "model,\"ece:bins=20,norm=l2\",gain,gain (2)\n"
                 "\"a|\"\"b\"\",\nc\",0,1,\n"},
      {PCAL_MARKDOWN, "\n\n| model | ece:bins=20,norm=l2 | gain | gain (2) |\n"
                      "| --- | ---: | ---: | ---: |\n"
                      "| `a\\|\"b\", c` | 0 | 1 | - |\n"},
  };
  const pcal_env env = pc_env_resolve(NULL);
  pc_study_table table;
  pc_study_table_init(&table, &env, "trial");
  pc_study_table_column(&table, "model");
  pc_study_table_column(&table, "ece:bins=20,norm=l2");
  pc_study_table_column(&table, "gain");
  pc_study_table_column(&table, "gain");
  assert_int_equal(pc_study_table_row(&table, NULL), PCAL_OK);
  pc_study_table_word(&table, 0, "a|\"b\",\nc");
  pc_study_table_number(&table, 1, -0.0);
  pc_study_table_number(&table, 2, 1);
  pc_study_table_number(&table, 4, 7); /* no such column */
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pc_text text;
    pc_text_init(&text, &env);
    pc_study_table_write(&table, cases[i].format, &text);
    assert_string_equal(text.bytes, cases[i].expected);
    pc_text_free(&text);
  }
  pc_study_table_free(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_json),
      cmocka_unit_test(test_cells_that_need_quotes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
