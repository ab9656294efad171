#include "../unit.h"

#include "studies/study.h"

static pcal_status coverage_small(const pcal_env *env, pcal_error *err) {
  static const char *const specs[] = {"brier", "ece", "kuiper"};
  const pc_study *study;
  pc_study_table table;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.specs = specs;
  config.spec_count = UNIT_COUNT(specs);
  config.simulation.rows = 30;
  config.simulation.classes = 3;
  config.sets = 3;
  config.replicas = 20;
  assert_int_equal(pc_study_find("coverage", &study, NULL), PCAL_OK);
  pc_study_table_init(&table, env, "coverage");
  const pcal_status status = study->run(&config, env, &table, err);
  if (status == PCAL_OK) {
    assert_int_equal(table.row_count, 3);
    assert_int_equal(table.column_count, 12);
    assert_string_equal(table.cells[0].word, "brier");
    assert_true(table.cells[3].number > 0 && table.cells[6].number >= 0);
  }
  pc_study_table_free(&table);
  return status;
}

static void test_a_small_study(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  if (coverage_small(&env, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_small_study),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
