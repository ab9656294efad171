#include "stats/tally.h"

#include "../unit.h"
#include "core/rng.h"

enum { SUMS = 3, ROWS = 5000 };

static void add_rows(pc_tally *tally, int backwards, double weight) {
  const pc_rng rng = {7, 1};
  const pc_linear_kernels *kernels = pc_linear_kernels_best();
  double held = 0.0;
  for (size_t i = 0; i < ROWS; i++) {
    const size_t row = backwards ? ROWS - 1 - i : i;
    double terms[SUMS];
    for (size_t k = 0; k < SUMS; k++)
      terms[k] = 2.0 * pc_rng_uniform(&rng, row * SUMS + k) - 1.0;
    if (held + weight > PC_LATTICE_FULL) {
      pc_tally_empty(tally, 1.0);
      held = 0.0;
    }
    kernels->add(tally->lanes, terms, NULL, SUMS, weight);
    held += weight;
  }
  pc_tally_empty(tally, 1.0);
}

static void order_and_whole_weights_do_not_show(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  const pc_rng rng = {7, 1};
  pc_tally there, back, three, merged;
  assert_int_equal(pc_tally_new(&env, SUMS, &there, NULL), PCAL_OK);
  assert_int_equal(pc_tally_new(&env, SUMS, &back, NULL), PCAL_OK);
  assert_int_equal(pc_tally_new(&env, SUMS, &three, NULL), PCAL_OK);
  assert_int_equal(pc_tally_new(&env, SUMS, &merged, NULL), PCAL_OK);
  add_rows(&there, 0, 1.0);
  add_rows(&back, 1, 1.0);
  add_rows(&three, 0, 3.0);
  for (int i = 0; i < 3; i++)
    pc_tally_merge(&merged, &there);
  for (size_t k = 0; k < SUMS; k++) {
    double plain = 0.0;
    for (size_t i = 0; i < ROWS; i++)
      plain += 2.0 * pc_rng_uniform(&rng, i * SUMS + k) - 1.0;
    assert_true(there.totals[k].units == back.totals[k].units);
    assert_true(three.totals[k].units == merged.totals[k].units);
    assert_true(fabs(pc_tally_value(&there, k) - plain) < 1e-9);
  }
  pc_tally_clear(&there);
  assert_same(pc_tally_value(&there, 0), 0.0);
  pc_tally_free(&env, &there);
  pc_tally_free(&env, &back);
  pc_tally_free(&env, &three);
  pc_tally_free(&env, &merged);
}

/* A heavy row is emptied as often as it weighs. */
static void heavy_rows(void **state) {
  (void)state;
  const pcal_env env = pc_env_resolve(NULL);
  const double terms[1] = {0.375};
  pc_tally tally;
  assert_int_equal(pc_tally_new(&env, 1, &tally, NULL), PCAL_OK);
  pc_linear_kernels_best()->add(tally.lanes, terms, NULL, 1, 1.0);
  pc_tally_empty(&tally, 1e6);
  assert_same(pc_tally_value(&tally, 0), 375000.0);
  pc_tally_free(&env, &tally);
}

static pcal_status make(const pcal_env *env, void *user, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_tally tally = {0};
  (void)user;
  const pcal_status status = pc_tally_new(&resolved, 5, &tally, err);
  pc_tally_free(&resolved, &tally);
  return status;
}

static void memory_runs_out(void **state) {
  (void)state;
  unit_fail_each_allocation(make, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_and_whole_weights_do_not_show),
      cmocka_unit_test(heavy_rows),
      cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
