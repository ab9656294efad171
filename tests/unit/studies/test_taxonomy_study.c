#include "study_help.h"

TEST(test_no_memory) {
  study_unit_fail_some("taxonomy:canonical=no", NULL, 3);
}

/* Every inequality that must hold holds, for several orders; for rows with four scores and three
 * classes the rows' own errors equal those of bins that separate the scores. */
TEST(test_every_inequality) {
  static const char *const specs[] = {"taxonomy", "taxonomy:p=1", "taxonomy:p=1.5,bins=3"};
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
    config.replicas = 20;
    assert_int_equal(study_unit_run(specs[s], &env, &config, &findings, NULL), PCAL_OK);
    const pc_table *pairs = &findings.tables[1];
    for (size_t r = 0; r < pairs->row_count; r++) {
      const char *must = pc_table_at(pairs, r, 5)->word;
      if (strcmp(must, "on any rows") == 0)
        assert_string_equal(pc_table_at(pairs, r, 4)->word, "yes");
    }
    assert_true(pairs->row_count >= 14);
    pc_findings_free(&findings);
  }
}

TEST(test_own_errors) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.replicas = 20;
  assert_int_equal(study_unit_run("taxonomy:bins=100", &env, &config, &findings, NULL),
                   PCAL_OK);
  const pc_table *errors = &findings.tables[0];
  assert_int_equal(errors->row_count, 9);
  for (size_t r = 2; r < 8; r++)
    assert_true(fabs(study_unit_number(errors, r, "rows_own") -
                     study_unit_number(errors, r, "estimate")) < 1e-12);
  assert_true(study_unit_number(errors, 8, "rows_own") >
              study_unit_number(errors, 8, "estimate"));
  assert_true(study_unit_number(errors, 8, "rows_own") <
              study_unit_number(errors, 1, "rows_own"));
  assert_same(study_unit_number(errors, 8, "above"), study_unit_number(errors, 1, "estimate"));
  assert_true(study_unit_number(errors, 1, "below") >=
              study_unit_number(errors, 8, "estimate"));
  assert_true(study_unit_number(errors, 1, "rows_own") <
              study_unit_number(errors, 0, "rows_own"));
  pc_findings_free(&findings);
}
