#include "study_help.h"

static const char *const spline_tables_method = "temperature";

static pcal_status spline_tables_run_small(const char *spec, const pcal_env *env,
                                           pc_findings *findings, pcal_error *err) {
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.methods = &spline_tables_method;
  config.method_count = 1;
  return study_unit_run(spec, env, &config, findings, err);
}

/* Five tables of one case; the model as it is has the values of its own metrics. */
TEST(test_tables) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(spline_tables_run_small("spline-tables:variants=yes", &env, &findings, NULL),
                   PCAL_OK);
  assert_int_equal(findings.table_count, 5);
  for (size_t t = 0; t < 5; t++) {
    const pc_table *table = &findings.tables[t];
    assert_int_equal(table->row_count, 1);
    assert_int_equal(table->column_count, 8);
    for (size_t c = 1; c < 8; c++) {
      const double value = pc_table_at(table, 0, c)->number;
      assert_true(value >= 0 && value <= 100);
    }
  }
  /* Labels are the predicted class where study_unit_source makes them so. */
  size_t hits = 0;
  for (size_t i = 0; i < STUDY_UNIT_ROWS; i++)
    hits += i * i % 7 < 4;
  assert_true(fabs(study_unit_number(&findings.tables[3], 0, "uncalibrated") -
                   100.0 * (double)hits / STUDY_UNIT_ROWS) < 1e-9);
  assert_true(study_unit_number(&findings.tables[3], 0, "temperature") ==
              study_unit_number(&findings.tables[3], 0, "uncalibrated"));
  /* Fitted to the rows that it is judged on, a spline with a knot for each score leaves little.
   */
  assert_true(study_unit_number(&findings.tables[0], 0, "spline") <
              study_unit_number(&findings.tables[0], 0, "uncalibrated"));
  pc_findings_free(&findings);
}

TEST(test_needs_a_second_set) {
  static double probs[STUDY_UNIT_ROWS * STUDY_UNIT_CLASSES];
  static int32_t labels[STUDY_UNIT_ROWS];
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_model model = PCAL_MODEL_INIT;
  pcal_error err;
  model.source = study_unit_source(&env, probs, labels);
  config.models = &model;
  config.model_count = 1;
  pc_findings_init(&findings, &env, "");
  assert_int_equal(pc_study_run("spline-tables", &config, &findings, &err), PCAL_USAGE);
  assert_non_null(strstr(err.message, "second set"));
  pc_findings_free(&findings);
  pc_source_free(model.source);
}

TEST(test_no_memory) {
  study_unit_fail_some("spline-tables", spline_tables_method, 61);
}
