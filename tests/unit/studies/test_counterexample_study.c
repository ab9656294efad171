#include "study_help.h"

TEST(test_no_memory) {
  study_unit_fail_some("counterexample:classes=3", NULL, 53);
}

/* Proposition 3.2 in closed form. */
TEST(test_the_distribution) {
  static const char *const zeros[] = {"ece", "tce", "ks", "mmce", "cwce"};
  static const double classes[] = {3, 10, 17, 100};
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  assert_int_equal(study_unit_run("counterexample:alpha=0.6,classes=3/10/17/100", &env, &config,
                                  &findings, NULL),
                   PCAL_OK);
  const pc_table *table = &findings.tables[0];
  assert_int_equal(table->row_count, UNIT_COUNT(classes));
  for (size_t r = 0; r < table->row_count; r++) {
    const double k = study_unit_number(table, r, "classes");
    assert_true(k == classes[r]);
    for (size_t z = 0; z < UNIT_COUNT(zeros); z++)
      assert_true(fabs(study_unit_number(table, r, zeros[z])) < 1e-13);
    assert_true(fabs(study_unit_number(table, r, "canonical") - sqrt((k - 2) / (k - 1)) * 0.4) <
                1e-13);
    assert_true(fabs(study_unit_number(table, r, "accuracy") - 0.6) < 1e-13);
    assert_true(study_unit_number(table, r, "kce") > 1e-3);
  }
  pc_findings_free(&findings);
}

/* Propositions D.2 and E.2: the same accuracy, no top-label error, less sharpness. */
TEST(test_the_transforms) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  assert_int_equal(study_unit_run("counterexample:classes=3", &env, &config, &findings, NULL),
                   PCAL_OK);
  const pc_table *table = &findings.tables[1];
  assert_int_equal(table->row_count, 6);
  for (size_t r = 2; r < 6; r++) {
    assert_true(study_unit_number(table, r, "accuracy") ==
                study_unit_number(table, 0, "accuracy"));
    assert_true(study_unit_number(table, r, "ece") < 1e-12);
    assert_true(study_unit_number(table, r, "sharpness") <
                study_unit_number(table, 0, "sharpness"));
    assert_true(study_unit_number(table, r, "values") == 3);
  }
  assert_true(study_unit_number(table, 2, "canonical") > 0.1);
  assert_true(study_unit_number(table, 3, "canonical") < 1e-12);
  assert_true(study_unit_number(table, 3, "brier") < study_unit_number(table, 2, "brier"));
  pc_findings_free(&findings);
}
