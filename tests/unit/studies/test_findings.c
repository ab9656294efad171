#include "../unit.h"

#include "studies/findings.h"

static void findings_fill(pc_findings *findings, const pcal_env *env) {
  pc_findings_init(findings, env, "trial");
  pc_findings_add_sentence(findings, "One sentence of %d words.", 5);
  pc_findings_add_sentence(findings,
                           "Another one that makes the line so long that it has to be broken "
                           "somewhere before its end.");
  for (int t = 0; t < 2; t++) {
    pc_table *table = pc_findings_add_table(findings, t == 0 ? "first" : "second");
    pc_table_add_column(table, "name");
    pc_table_add_column(table, "value");
    assert_int_equal(pc_table_add_row(table, NULL), PCAL_OK);
    pc_table_set_word(table, 0, "a");
    pc_table_set_number(table, 1, t + 0.5);
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

TEST(test_text) {
  findings_check(PCAL_TEXT,
                 "One sentence of 5 words. Another one that makes the line so long that it has "
                 "to\nbe broken somewhere before its end.\n"
                 "\nfirst\nname   value\na     0.5000\n"
                 "\nsecond\nname  value\na     1.500\n");
}

TEST(test_csv) {
  findings_check(PCAL_CSV, "table,name,value\nfirst,a,0.5\nsecond,a,1.5\n");
}

TEST(test_finding_columns) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  findings_fill(&findings, &env);
  assert_int_equal(pc_table_find_column(&findings.tables[1], "value"), 1);
  assert_int_equal(pc_table_find_column(&findings.tables[1], "no"), 2);
  assert_true(pc_table_at(&findings.tables[1], 0, 1)->number == 1.5);
  pc_findings_free(&findings);
}

/* Tables with other columns, a title with a comma, and none: still one table. */
TEST(test_csv_of_different_tables) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pc_text text;
  pc_findings_init(&findings, &env, "trial");
  pc_table *first = pc_findings_add_table(&findings, "");
  pc_table_add_column(first, "metric");
  pc_table_add_column(first, "ece:bins=20,norm=l2");
  assert_int_equal(pc_table_add_row(first, NULL), PCAL_OK);
  pc_table_set_word(first, 0, "a \"b\"");
  pc_table_set_number(first, 1, -0.0);
  pc_table *second = pc_findings_add_table(&findings, "one, two");
  pc_table_add_column(second, "T");
  pc_table_add_column(second, "metric");
  assert_int_equal(pc_table_add_row(second, NULL), PCAL_OK);
  pc_table_set_number(second, 0, 2.5);
  pc_table_set_word(second, 1, "c");
  pc_text_init(&text, &env);
  pc_findings_write(&findings, PCAL_CSV, &text);
  assert_string_equal(text.bytes, "table,metric,\"ece:bins=20,norm=l2\",T\n"
                                  "trial,\"a \"\"b\"\"\",0,\n"
                                  "\"one, two\",c,,2.5\n");
  pc_text_free(&text);
  pc_findings_free(&findings);
}
