#include "../unit.h"

#include "studies/findings.h"

static void findings_fill(pc_findings *findings, const pcal_env *env) {
  pc_findings_init(findings, env, "trial");
  pc_findings_say(findings, "One sentence of %d words.", 5);
  pc_findings_say(findings, "Another one that makes the line so long that it has to be broken "
                            "somewhere before its end.");
  for (int t = 0; t < 2; t++) {
    pc_study_table *table = pc_findings_table(findings, t == 0 ? "first" : "second");
    pc_study_table_column(table, "name");
    pc_study_table_column(table, "value");
    assert_int_equal(pc_study_table_row(table, NULL), PCAL_OK);
    pc_study_table_word(table, 0, "a");
    pc_study_table_number(table, 1, t + 0.5);
  }
}

static void findings_check(pcal_format format, const char *expected) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  findings_fill(&findings, &env);
  pc_text_init(&text, &env);
  pc_findings_write(&findings, format, &text);
  assert_string_equal(text.bytes, expected);
  pc_text_free(&text);
  pc_findings_free(&findings);
}

static void test_text(void **state) {
  (void)state;
  findings_check(PCAL_TEXT,
                 "One sentence of 5 words. Another one that makes the line so long that it has "
                 "to\nbe broken somewhere before its end.\n"
                 "\nfirst\nname   value\na     0.5000\n"
                 "\nsecond\nname  value\na     1.500\n");
}

static void test_csv(void **state) {
  (void)state;
  findings_check(PCAL_CSV, "table,name,value\nfirst,a,0.5\nsecond,a,1.5\n");
}

static void test_finding_columns(void **state) {
  (void)state;
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  findings_fill(&findings, &env);
  assert_int_equal(pc_study_table_find(&findings.tables[1], "value"), 1);
  assert_int_equal(pc_study_table_find(&findings.tables[1], "no"), 2);
  assert_true(pc_study_table_cell(&findings.tables[1], 0, 1)->number == 1.5);
  pc_findings_free(&findings);
}

/* Tables with other columns, a title with a comma, and none: still one table. */
static void test_csv_of_different_tables(void **state) {
  (void)state;
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_findings_init(&findings, &env, "trial");
  pc_study_table *first = pc_findings_table(&findings, "");
  pc_study_table_column(first, "metric");
  pc_study_table_column(first, "ece:bins=20,norm=l2");
  assert_int_equal(pc_study_table_row(first, NULL), PCAL_OK);
  pc_study_table_word(first, 0, "a \"b\"");
  pc_study_table_number(first, 1, -0.0);
  pc_study_table *second = pc_findings_table(&findings, "one, two");
  pc_study_table_column(second, "T");
  pc_study_table_column(second, "metric");
  assert_int_equal(pc_study_table_row(second, NULL), PCAL_OK);
  pc_study_table_number(second, 0, 2.5);
  pc_study_table_word(second, 1, "c");
  pc_text_init(&text, &env);
  pc_findings_write(&findings, PCAL_CSV, &text);
  assert_string_equal(text.bytes, "table,metric,\"ece:bins=20,norm=l2\",T\n"
                                  "trial,\"a \"\"b\"\"\",0,\n"
                                  "\"one, two\",c,,2.5\n");
  pc_text_free(&text);
  pc_findings_free(&findings);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text),
      cmocka_unit_test(test_csv),
      cmocka_unit_test(test_finding_columns),
      cmocka_unit_test(test_csv_of_different_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
