#include "../unit.h"

#include "simulate/simulate.h"
#include "stats/expected_ece.h"
#include "studies/ece_mean.h"
#include "studies/size_sweep.h"

#define ECE_BIAS_ROWS 40

static pcal_status ece_bias_small(const pcal_env *env, pc_findings *findings, pcal_error *err) {
  static const uint64_t rows[] = {ECE_BIAS_ROWS};
  static const double factors[] = {1, 3};
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  config.simulation.classes = 2;
  config.row_counts = rows;
  config.row_count_count = 1;
  config.factors = factors;
  config.factor_count = 2;
  config.repeats = 2;
  pc_findings_init(findings, env, "ece-bias");
  return pc_study_run("ece-bias:pool=1,bins=1", &config, findings, err);
}

/* One bin and all rows: the ECE is the gap between mean confidence and accuracy, the truth that
 * between mean confidence and mean true probability, and mu the mean of a folded normal. */
TEST(test_one_bin) {
  static pc_findings findings;
  const pcal_env env = pc_env_resolve(NULL);
  float logits[2 * ECE_BIAS_ROWS];
  int32_t labels[ECE_BIAS_ROWS];
  double truth[2 * ECE_BIAS_ROWS];
  pcal_simulation sim = PCAL_SIMULATION_INIT;
  sim.rows = ECE_BIAS_ROWS;
  sim.classes = 2;
  assert_int_equal(pc_simulate(&sim, &env, logits, labels, truth, NULL), PCAL_OK);
  assert_int_equal(ece_bias_small(&env, &findings, NULL), PCAL_OK);
  const pc_table *table = &findings.tables[0];
  assert_int_equal(table->row_count, 2);
  for (size_t m = 0; m < 2; m++) {
    const double factor = m == 0 ? 1 : 3;
    double confidence = 0, square = 0, hits = 0, right = 0;
    for (size_t i = 0; i < ECE_BIAS_ROWS; i++) {
      const double gap = fabs((double)logits[2 * i] - (double)logits[2 * i + 1]);
      const int top = logits[2 * i + 1] > logits[2 * i];
      const double p = 1 / (1 + exp(-factor * gap));
      confidence += p / ECE_BIAS_ROWS;
      square += p * p / ECE_BIAS_ROWS;
      hits += (labels[i] == top) / (double)ECE_BIAS_ROWS;
      right += truth[2 * i + (size_t)top] / ECE_BIAS_ROWS;
    }
    const double variance = square - confidence * confidence + right * (1 - right);
    assert_near(pc_table_at(table, m, 3)->number, fabs(confidence - hits), 1e-12);
    assert_true(pc_table_at(table, m, 4)->number == 0);
    assert_near(pc_table_at(table, m, 5)->number,
                pc_folded_normal_mean(confidence - right, sqrt(variance / ECE_BIAS_ROWS)),
                1e-12);
    assert_true(fabs(pc_table_at(table, m, 6)->number - fabs(confidence - right)) < 1e-14);
    assert_near(pc_table_at(table, m, 7)->number,
                pc_ece_mean_gap(ECE_BIAS_ROWS, confidence, right) / ECE_BIAS_ROWS, 1e-12);
  }
  assert_true(pc_table_at(table, 0, 6)->number == 0);
  pc_findings_free(&findings);
}

static pcal_status ece_bias_all(const pcal_env *env, void *user, pcal_error *err) {
  static pc_findings findings;
  (void)user;
  const pcal_status status = ece_bias_small(env, &findings, err);
  pc_findings_free(&findings);
  return status;
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(ece_bias_all, NULL);
}
