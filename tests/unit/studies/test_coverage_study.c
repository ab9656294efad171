#include "../unit.h"

#include "emulated.h"
#include "studies/study.h"

static pcal_status coverage_small(const pcal_env *env, pcal_error *err) {
  static const char *const specs[] = {"brier", "ece", "kuiper"};
  static pc_findings findings;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  config.simulation.rows = 30;
  config.simulation.classes = 3;
  config.sets = 3;
  config.replicas = 20;
  pc_findings_init(&findings, env, "coverage");
  const pcal_status status = pc_study_run("coverage", &config, &findings, err);
  if (status == PCAL_OK) {
    const pc_table *table = &findings.tables[0];
    assert_int_equal(findings.table_count, 1);
    assert_int_equal(table->row_count, 3);
    assert_int_equal(table->column_count, 15);
    assert_string_equal(table->cells[0].word, "brier");
    assert_true(table->cells[3].number > 0 && table->cells[6].number >= 0);
  }
  pc_findings_free(&findings);
  return status;
}

TEST(test_a_small_study) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  if (coverage_small(&env, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

/* The trial set has too few rows for this test, the sets themselves have enough. */
TEST(test_size_of_a_test_that_needs_rows) {
  static const char *const spec = "hosmer-lemeshow";
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.specs = &spec;
  config.spec_count = 1;
  config.simulation.rows = 1000;
  config.simulation.classes = 10;
  config.sets = config.null_sets = 2;
  pc_findings_init(&findings, &env, "coverage");
  assert_int_equal(pc_study_run("coverage", &config, &findings, NULL), PCAL_OK);
  assert_false(isnan(findings.tables[0].cells[13].number));
  pc_findings_free(&findings);
}

/* An oracle that knows the distribution of errors of a Brier score, which are nearly normal, has an
 * interval of 3.92 standard deviations; that of some sets must not be narrower on average. */
TEST(test_width_of_the_oracle) {
  skip_if_emulated();
  static const char *const spec = "brier";
  static pc_findings findings;
  double ratio = 0.0;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    pcal_env given = {.size = sizeof given, .seed = seed};
    const pcal_env env = pc_env_resolve(&given);
    pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
    config.specs = &spec;
    config.spec_count = 1;
    config.simulation.rows = 300;
    config.simulation.classes = 3;
    config.simulation.scale = 0.1;
    config.sets = 50;
    config.null_sets = 1;
    pc_findings_init(&findings, &env, "coverage");
    assert_int_equal(pc_study_run("coverage", &config, &findings, NULL), PCAL_OK);
    const pc_table_cell *cells = findings.tables[0].cells;
    ratio += cells[10].number / (3.92 * cells[5].number) / 20.0;
    pc_findings_free(&findings);
  }
  assert_true(ratio > 0.96 && ratio < 1.06);
}

/* About six of 1,000 rows are wrong, so that few bins have two of them: without an allowance for bins
 * that the data lack a quarter of these intervals lay below the truth. */
TEST(test_debiased_classes_with_few_wrong_rows) {
  skip_if_emulated();
  static const char *const spec = "cwce:debias=yes";
  static const double factor = 2.5;
  static pc_findings findings;
  pcal_env given = {.size = sizeof given, .seed = 31010};
  const pcal_env env = pc_env_resolve(&given);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.specs = &spec;
  config.spec_count = 1;
  config.factors = &factor;
  config.factor_count = 1;
  config.simulation.rows = 1000;
  config.simulation.classes = 10;
  config.sets = 40;
  config.null_sets = 1;
  config.replicas = 20;
  pc_findings_init(&findings, &env, "coverage:scale=0.00004");
  assert_int_equal(pc_study_run("coverage:scale=0.00004", &config, &findings, NULL), PCAL_OK);
  assert_true(findings.tables[0].cells[6].number > 0.9);
  pc_findings_free(&findings);
}
