#include "study_help.h"

/* Rows of a table by the name of the map. */
static size_t sharpness_loss_find(const pc_table *table, const char *name) {
  size_t row = 0;
  while (row < table->row_count && strcmp(pc_table_at(table, row, 0)->word, name) != 0)
    row++;
  assert_true(row < table->row_count);
  return row;
}

static void sharpness_loss_holds(const pc_table *table) {
  const size_t holds = pc_table_find_column(table, "holds");
  for (size_t r = 0; r < table->row_count; r++)
    assert_string_equal(pc_table_at(table, r, holds)->word, "yes");
}

/* Of true probabilities: injective maps keep everything, the predicted class keeps what
 * label-conditional keeps, and a constant keeps nothing. */
TEST(test_simulated) {
  static const char *const specs[] = {"sharpness-loss", "sharpness-loss:score=log,bins=4"};
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t s = 0; s < UNIT_COUNT(specs); s++) {
    pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
    config.simulation.rows = 300;
    config.simulation.classes = 3;
    pc_findings_init(&findings, &env, "");
    assert_int_equal(pc_study_run(specs[s], &config, &findings, NULL), PCAL_OK);
    const pc_table *table = &findings.tables[0];
    const size_t class = sharpness_loss_find(table, "the top class");
    sharpness_loss_holds(table);
    assert_true(
        fabs(study_unit_number(table, sharpness_loss_find(table, "temperature"), "sharpness") -
             study_unit_number(table, 0, "sharpness")) < 1e-14);
    assert_true(fabs(study_unit_number(table, sharpness_loss_find(table, "label-conditional"),
                                       "sharpness") -
                     study_unit_number(table, class, "sharpness")) < 1e-14);
    assert_true(study_unit_number(table, class, "sharpness") <
                study_unit_number(table, 0, "sharpness"));
    assert_true(fabs(study_unit_number(table, sharpness_loss_find(table, "nothing"),
                                       "sharpness")) < 1e-12);
    pc_findings_free(&findings);
  }
}

/* Labels: the score is base - sharpness + calibration, so that with the map of the empirical
 * P(Y | predicted class) the lower bound is the sharpness itself. */
TEST(test_labels) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  assert_int_equal(study_unit_run("sharpness-loss", &env, &config, &findings, NULL), PCAL_OK);
  const pc_table *table = &findings.tables[0];
  const size_t map = sharpness_loss_find(table, "label-conditional");
  sharpness_loss_holds(table);
  assert_true(fabs(study_unit_number(table, map, "at_least") -
                   study_unit_number(table, map, "sharpness")) < 1e-12);
  assert_true(study_unit_number(table, map, "unbiased") <
              study_unit_number(table, map, "sharpness"));
  assert_true(study_unit_number(table, map, "values") == 3);
  assert_true(study_unit_number(table, 0, "values") == 12);
  pc_findings_free(&findings);
}

TEST(test_no_memory) {
  study_unit_fail_some("sharpness-loss", NULL, 41);
}
