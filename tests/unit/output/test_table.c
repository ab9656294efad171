#include "../measure/measure_help.h"

#include <math.h>

#include "output/table.h"

static void table_fill(pc_table *table, const pcal_env *env) {
  pc_table_init(table, env, "trial");
  snprintf(table->summary, sizeof table->summary, "two rows");
  pc_table_add_column(table, "name");
  pc_table_add_column(table, "value");
  assert_int_equal(pc_table_add_row(table, NULL), PCAL_OK);
  pc_table_set_word(table, 0, "a,b");
  pc_table_set_number(table, 1, 0.125);
  assert_int_equal(pc_table_add_row(table, NULL), PCAL_OK);
  pc_table_set_word(table, 0, "long name");
}

static void table_check(pcal_format format, const char *expected) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_table table;
  pc_text text;
  table_fill(&table, &env);
  pc_text_init(&text, &env);
  pc_table_write(&table, format, &text);
  assert_string_equal(text.bytes, expected);
  pc_text_free(&text);
  pc_table_free(&table);
}

TEST(test_formats) {
  table_check(PCAL_TEXT, "two rows\n\n"
                         "name        value\n"
                         "a,b        0.1250\n"
                         "long name       -\n");
  table_check(PCAL_CSV, "name,value\n\"a,b\",0.125\nlong name,\n");
  table_check(PCAL_MARKDOWN,
              "two rows\n\n| name | value |\n| --- | ---: |\n| `a,b` | 0.1250 |\n"
              "| `long name` | - |\n");
}

/* Columns of numbers have equal decimals; the best of a column and of a row is bold. */
TEST(test_latex) {
  const pcal_env env = pc_env_resolve(NULL);
  static const struct {
    const char *name;
    double ece, accuracy, log;
  } rows[] = {
      {"a_b", 0.125, 0.5, 1.0}, {"c%", 0.0625, 0.75, (double)INFINITY}, {"d", NAN, 0.5, -2.5}};
  pc_table table;
  pc_text text;
  pc_table_init(&table, &env, "trial");
  snprintf(table.summary, sizeof table.summary, "50 %% of it");
  pc_table_add_column(&table, "name");
  pc_table_add_column(&table, "ece");
  pc_table_add_column(&table, "accuracy");
  pc_table_add_column(&table, "log");
  pc_table_set_metric(&table, 1, pcal_registry_find(PCAL_METRICS, "ece"));
  pc_table_set_metric(&table, 2, pcal_registry_find(PCAL_METRICS, "accuracy"));
  pc_table_set_metric(&table, 3, pcal_registry_find(PCAL_METRICS, "log"));
  for (size_t r = 0; r < UNIT_COUNT(rows); r++) {
    assert_int_equal(pc_table_add_row(&table, NULL), PCAL_OK);
    pc_table_set_word(&table, 0, rows[r].name);
    pc_table_set_number(&table, 1, rows[r].ece);
    pc_table_set_number(&table, 2, rows[r].accuracy);
    pc_table_set_number(&table, 3, rows[r].log);
  }
  pc_text_init(&text, &env);
  pc_table_write(&table, PCAL_LATEX, &text);
  assert_string_equal(text.bytes,
                      "% propercal " PCAL_VERSION "; needs \\usepackage{booktabs}\n"
                      "% 50 % of it\n"
                      "\\begin{tabular}{lrrr}\n\\toprule\n"
                      "name & ece (\\%) & accuracy (\\%) & log (nats) \\\\\n\\midrule\n"
                      "a\\_b & 12.50 & 50 & 1.000 \\\\\n"
                      "c\\% & \\textbf{6.25} & \\textbf{75} & $\\infty$ \\\\\n"
                      "d & -- & 50 & \\textbf{$-$2.500} \\\\\n"
                      "\\bottomrule\n\\end{tabular}\n");
  text.length = 0;
  memset(table.better, 0, sizeof table.better);
  memset(table.units, 0, sizeof table.units);
  table.row_better = PCAL_BETTER_HIGHER;
  pc_table_write_body(&table, PCAL_LATEX, &text);
  assert_contains(text.bytes, "a\\_b & 0.1250 & 0.5000 & \\textbf{1.0000} \\\\\n"
                              "c\\% & 0.0625 & \\textbf{0.7500} & $\\infty$ \\\\\n"
                              "d & -- & \\textbf{0.5000} & $-$2.5000 \\\\\n");
  pc_text_free(&text);
  pc_table_free(&table);
}

TEST(test_json) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_table table;
  pc_text text;
  table_fill(&table, &env);
  pc_text_init(&text, &env);
  pc_table_write(&table, PCAL_JSON, &text);
  assert_contains(text.bytes, "\"study\": \"trial\"");
  assert_contains(text.bytes, "\"value\": 0.125");
  assert_contains(text.bytes, "\"value\": null");
  pc_text_free(&text);
  pc_table_free(&table);
}

/* Names and words that would end a cell; -0; a column that is there twice. */
TEST(test_cells_that_need_quotes) {
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
  pc_table table;
  pc_table_init(&table, &env, "trial");
  pc_table_add_column(&table, "model");
  pc_table_add_column(&table, "ece:bins=20,norm=l2");
  pc_table_add_column(&table, "gain");
  pc_table_add_column(&table, "gain");
  assert_int_equal(pc_table_add_row(&table, NULL), PCAL_OK);
  pc_table_set_word(&table, 0, "a|\"b\",\nc");
  pc_table_set_number(&table, 1, -0.0);
  pc_table_set_number(&table, 2, 1);
  pc_table_set_number(&table, 4, 7); /* no such column */
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pc_text text;
    pc_text_init(&text, &env);
    pc_table_write(&table, cases[i].format, &text);
    assert_string_equal(text.bytes, cases[i].expected);
    pc_text_free(&text);
  }
  pc_table_free(&table);
}
