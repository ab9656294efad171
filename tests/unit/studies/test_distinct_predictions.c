#include "../unit.h"

#include "studies/distinct_predictions.h"

/* Two cells: of 3 rows with labels 0 0 1, and of 1 row with label 1. */
static const double cells_keys[] = {0.75, 0.25, 0.5, 0.5, 0.75, 0.25, 0.75, 0.25};
static const int32_t cells_labels[] = {0, 1, 1, 0};

static pc_distinct_predictions cells_two(const pcal_env *env) {
  const pc_row_outcomes outcomes = {.rows = 4, .width = 2, .labels = cells_labels};
  pc_distinct_predictions cells;
  assert_int_equal(pc_distinct_predictions_new(cells_keys, 2, &outcomes, env, &cells, NULL),
                   PCAL_OK);
  return cells;
}

TEST(test_rates) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_distinct_predictions cells = cells_two(&env);
  assert_int_equal(cells.count, 2);
  assert_int_equal(cells.of_row[1], 0);
  assert_int_equal(cells.of_row[3], 1);
  assert_int_equal(cells.sizes[1], 3);
  assert_true(cells.weights[1] == 0.75 && cells.weights[0] == 0.25);
  assert_true(fabs(cells.rates[2] - 2.0 / 3) < 1e-15 && cells.rates[1] == 1);
  assert_true(fabs(cells.shares[0] - 0.5) < 1e-15);
  pc_distinct_predictions_free(&cells);
}

/* CE_2^2 = 3/4 2 (1/12)^2 + 1/4 2 (1/2)^2; the score is base - sharpness + CE_2^2. */
TEST(test_brier_falls_apart) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_distinct_predictions cells = cells_two(&env);
  const double error = pc_distinct_predictions_error(&cells, cells_keys, 2);
  assert_true(fabs(error * error - (1.5 / 144 + 0.125)) < 1e-15);
  assert_true(fabs(pc_distinct_predictions_error(&cells, cells_keys, 1) - (0.75 / 6 + 0.25)) <
              1e-15);
  const double base = pc_distinct_predictions_base_entropy(&cells, PC_ENTROPY_BRIER);
  const double entropy = pc_distinct_predictions_entropy(&cells, PC_ENTROPY_BRIER);
  assert_true(fabs(base - 0.5) < 1e-15 && fabs(entropy - 0.75 * 4 / 9) < 1e-15);
  const double brier = (2 * 2 * 0.0625 + 0.5 + 2 * 0.5625) / 4;
  assert_true(fabs(entropy + error * error - brier) < 1e-15);
  assert_true(fabs(pc_distinct_predictions_entropy(&cells, PC_ENTROPY_LOG) -
                   0.75 * (log(3) - 2.0 / 3 * log(2))) < 1e-15);
  /* Pairs of the first cell differ with 2/3; the other row says nothing. */
  assert_true(fabs(pc_distinct_predictions_unbiased_base_entropy(&cells) - 2.0 / 3) < 1e-15);
  assert_true(fabs(pc_distinct_predictions_unbiased_entropy(&cells) - (0.75 + 0.25) * 2 / 3) <
              1e-15);
  pc_distinct_predictions_free(&cells);
}

TEST(test_expected_outcomes_and_weights) {
  const pcal_env env = pc_env_resolve(NULL);
  const double keys[] = {0, -0.0, 1}, expected[] = {0.2, 0.5, 1}, weights[] = {2, 1, 1};
  const pc_row_outcomes outcomes = {
      .rows = 3, .width = 1, .expected = expected, .weights = weights};
  pc_distinct_predictions cells;
  assert_int_equal(pc_distinct_predictions_new(keys, 1, &outcomes, &env, &cells, NULL),
                   PCAL_OK);
  assert_int_equal(cells.count, 2);
  assert_true(fabs(cells.rates[0] - 0.3) < 1e-15 && cells.weights[0] == 0.75);
  assert_true(fabs(pc_distinct_predictions_error(&cells, keys, 1) - 0.225) < 1e-15);
  pc_distinct_predictions_free(&cells);
}

static pcal_status cells_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const pc_row_outcomes outcomes = {.rows = 4, .width = 2, .labels = cells_labels};
  pc_distinct_predictions cells;
  (void)user;
  const pcal_status status =
      pc_distinct_predictions_new(cells_keys, 2, &outcomes, env, &cells, err);
  pc_distinct_predictions_free(&cells);
  return status;
}

TEST(test_no_memory) {
  unit_fail_each_allocation(cells_scenario, NULL);
}
