/* The findings of the paper on a small run; threads, figures' table, sentences, memory. */
#include "../unit.h"

#include "studies/study.h"

static pc_findings regression_findings;

static pcal_status regression_try(const char *spec, uint64_t repeats, const pcal_env *env,
                                  pcal_error *err) {
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.repeats = repeats;
  pc_findings_init(&regression_findings, env, "variance-regression");
  return pc_study_run(spec, &config, &regression_findings, err);
}

static double regression_number(size_t table, size_t row, const char *column) {
  const pc_table *here = &regression_findings.tables[table];
  return pc_table_at(here, row, pc_table_find_column(here, column))->number;
}

/* Variances overfit: after the map they are again the size of the squared errors. */
TEST(test_findings) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  if (regression_try("variance-regression:hidden=60/30,rate=0.005,iterations=400,train=40", 4,
                     &env, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_int_equal(regression_findings.table_count, 4);
  for (size_t s = 0; s < 9; s++) { /* the range holds the mean, which the tables have too */
    const double mean = regression_number(3, s, "mean");
    assert_true(regression_number(3, s, "least") <= mean);
    assert_true(regression_number(3, s, "greatest") >= mean);
  }
  assert_near(regression_number(3, 8, "mean"), regression_number(1, 0, "400"), 1e-15);

  double off_before = 0, off_after = 0;
  static const char *const late[] = {"250", "300", "350", "400"};
  for (size_t c = 0; c < UNIT_COUNT(late); c++) {
    const double mse = regression_number(0, 0, late[c]);
    off_after += fabs(regression_number(0, 1, late[c]) / mse - 1) / UNIT_COUNT(late);
    off_before += fabs(regression_number(0, 2, late[c]) / mse - 1) / UNIT_COUNT(late);
  }
  assert_true(off_after < 0.25 && off_before > 0.25);
  assert_true(regression_number(1, 0, "400") < 1.2 && regression_number(1, 0, "400") > 0.8);
  assert_true(regression_number(1, 2, "400") > 3);
  const size_t last = regression_findings.tables[2].row_count - 1;
  assert_true(regression_number(2, last, "iteration") >= 400);
  assert_near(regression_number(2, last, "ratio"), regression_number(1, 2, "400"), 1e-15);
  assert_near(regression_number(2, last, "mse"), regression_number(0, 0, "400"), 1e-15);
  assert_true(regression_number(2, last, "dss") > regression_number(2, last, "dss after") + 1);
  pc_findings_free(&regression_findings);
}

/* Neither threads nor further runs show in a run. */
TEST(test_bits) {
  static const char *const spec =
      "variance-regression:hidden=5,iterations=20,train=10,noise=variance,output=abs";
  double values[3][4];
  for (unsigned t = 0; t < 3; t++) {
    pcal_env env = pc_env_resolve(NULL);
    env.threads = 1 + t % 2;
    assert_int_equal(regression_try(spec, t < 2 ? 2 : 1, &env, NULL), PCAL_OK);
    values[t][0] = regression_number(2, 19, "skce after");
    values[t][1] = regression_number(2, 19, "dss sd");
    values[t][2] = regression_number(2, 0, "dss");
    values[t][3] = regression_number(1, 3, "20");
    pc_findings_free(&regression_findings);
  }
  assert_memory_equal(values[0], values[1], sizeof values[0]);
  assert_true(isnan(values[2][1]) && values[2][2] != values[0][2]);
}

TEST(test_refused) {
  static const struct {
    const char *spec, *sentence;
  } cases[] = {
      {"variance-regression:data=features",
       "study variance-regression:data=features needs features and target, such as "
       "features residential.csv:0..106 target residential.csv:V-9"},
      {"variance-regression:hidden=1/2/3/4/5/6/7", "hidden takes at most 6 layers, not 7"},
      {"variance-regression:hidden=2.5", "hidden takes whole numbers, such as 200/50"},
  };
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    pcal_error err;
    assert_int_equal(regression_try(cases[i].spec, 1, &env, &err), PCAL_USAGE);
    assert_sentence(err, PCAL_USAGE, cases[i].sentence);
    pc_findings_free(&regression_findings);
  }
}

static pcal_status regression_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pcal_env one = *env;
  (void)user;
  one.threads = 1;
  const pcal_status status =
      regression_try("variance-regression:hidden=3,iterations=8,train=4", 2, &one, err);
  pc_findings_free(&regression_findings);
  return status;
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(regression_scenario, NULL);
}
