#include "../unit.h"

#include <string.h>

#include "emulated.h"
#include "studies/study.h"

#define PAIRED_METRICS 3

static pcal_status paired_small(const char *spec, const pcal_env *env, size_t metrics,
                                uint64_t sets, double rejected[PAIRED_METRICS],
                                pcal_error *err) {
  static const char *const specs[] = {"ks", "ece:norm=l2,debias=yes", "mce"};
  static pc_findings findings;
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.specs = specs;
  config.spec_count = metrics;
  config.simulation.rows = 150;
  config.simulation.classes = 2;
  config.simulation.factor = strstr(spec, "recalibrated") == NULL ? 1.5 : 1.0;
  config.sets = sets;
  config.replicas = 99;
  pc_findings_init(&findings, env, "paired-size");
  const pcal_status status = pc_study_run(spec, &config, &findings, err);
  if (status == PCAL_OK) {
    const pc_table *table = &findings.tables[0];
    assert_int_equal(table->row_count, metrics);
    assert_int_equal(table->column_count, 8);
    for (size_t m = 0; m < metrics; m++) {
      const pc_table_cell *row = &table->cells[m * table->column_count];
      assert_string_equal(row[0].word, specs[m]);
      rejected[m] = row[5].number;
      assert_true(row[7].number == 0.0); /* p-value and interval agree */
    }
  }
  pc_findings_free(&findings);
  return status;
}

/* Under the null about 4 % of 200 data sets are rejected: with 99 exchanges p is a multiple of
 * 1/100, and p < 0.05 means p <= 0.04. */
TEST(test_size) {
  skip_if_emulated();
  const pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  double rejected[PAIRED_METRICS];
  if (paired_small("paired-size", &env, PAIRED_METRICS, 200, rejected, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  for (size_t m = 0; m < PAIRED_METRICS; m++)
    assert_true(rejected[m] < 0.09);
}

TEST(test_equal_errors_of_different_models) {
  skip_if_emulated();
  const pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  double rejected[PAIRED_METRICS];
  if (paired_small("paired-size:law=opposed", &env, 1, 60, rejected, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_true(rejected[0] < 0.17);
}

/* A model that is far too sure and one that is nearly right: the difference is found. */
TEST(test_power) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  double rejected[PAIRED_METRICS];
  if (paired_small("paired-size:other=8", &env, 1, fewer_if_emulated(40, 10), rejected, &err) !=
      PCAL_OK)
    fail_msg("%s", err.message);
  assert_true(rejected[0] > 0.5);
}

/* No method improves a calibrated model: gains are found in 2.5 % of the sets by chance. */
TEST(test_recalibrated) {
  skip_if_emulated();
  const pcal_env env = pc_env_resolve(NULL);
  pcal_error err;
  double rejected[PAIRED_METRICS];
  if (paired_small("paired-size:law=recalibrated,noise=0", &env, PAIRED_METRICS, 40, rejected,
                   &err) != PCAL_OK)
    fail_msg("%s", err.message);
  for (size_t m = 0; m < PAIRED_METRICS; m++)
    assert_true(rejected[m] < 0.16);
}

/* Runs law=opposed and copies the first row of the table. */
static void paired_opposed(const char *metric, double factor, pc_table_cell row[8]) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  static const uint64_t row_counts[] = {50};
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pcal_error err;
  config.specs = &metric;
  config.spec_count = 1;
  config.simulation.classes = 4;
  config.factors = &factor;
  config.factor_count = 1;
  config.row_counts = row_counts;
  config.row_count_count = 1;
  config.sets = 2;
  config.replicas = 20;
  pc_findings_init(&findings, &env, "paired-size");
  if (pc_study_run("paired-size:law=opposed,noise=0", &config, &findings, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_int_equal(findings.tables[0].row_count, 1);
  memcpy(row, findings.tables[0].cells, 8 * sizeof *row);
  pc_findings_free(&findings);
}

/* Two factors with the same accuracy: all have it, so the nearest tried is 1.25 or 0.8. */
TEST(test_partners) {
  pc_table_cell row[8];
  paired_opposed("accuracy", 2.0, row);
  assert_int_equal((int)row[1].number, 50);
  assert_true(row[2].number == 2.0);
  assert_true(row[3].number > 0.8 && row[3].number < 1.0);
  paired_opposed("accuracy", 0.5, row);
  assert_true(row[3].number > 1.0 && row[3].number < 1.25);
  paired_opposed("brier", 1.5, row); /* without noise both factors lose the same */
  assert_true(row[3].number > 0.5 && row[3].number < 1.0);
}

/* (4) Flat predictions of classes are calibrated: no flat model has the error of a very sure one. */
TEST(test_no_partner) {
  pc_table_cell row[8];
  paired_opposed("cwce", 50.0, row);
  assert_true(row[2].number == 50.0);
  assert_true(isnan(row[3].number) && isnan(row[5].number));
}
