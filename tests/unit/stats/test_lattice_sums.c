#include "stats/lattice_sums.h"

#include "../unit.h"
#include "base/rng.h"
#include "kernels/dispatch.h"

enum { SUMS = 3, ROWS = 5000 };

static void add_rows(pc_lattice_sums *tally, int backwards, double weight) {
  const pc_rng rng = {7, 1};
  const pc_linear_kernels *kernels = pc_kernels_best()->linear;
  double held = 0.0;
  for (size_t i = 0; i < ROWS; i++) {
    const size_t row = backwards ? ROWS - 1 - i : i;
    double terms[SUMS];
    for (size_t k = 0; k < SUMS; k++)
      terms[k] = 2.0 * pc_rng_uniform(&rng, row * SUMS + k) - 1.0;
    if (held + weight > PC_LATTICE_FULL) {
      pc_lattice_sums_empty(tally, 1.0);
      held = 0.0;
    }
    kernels->add(tally->lanes, terms, NULL, SUMS, weight);
    held += weight;
  }
  pc_lattice_sums_empty(tally, 1.0);
}

TEST(order_and_whole_weights_do_not_show) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_rng rng = {7, 1};
  pc_lattice_sums there, back, three, merged;
  assert_int_equal(pc_lattice_sums_new(&env, SUMS, &there, NULL), PCAL_OK);
  assert_int_equal(pc_lattice_sums_new(&env, SUMS, &back, NULL), PCAL_OK);
  assert_int_equal(pc_lattice_sums_new(&env, SUMS, &three, NULL), PCAL_OK);
  assert_int_equal(pc_lattice_sums_new(&env, SUMS, &merged, NULL), PCAL_OK);
  add_rows(&there, 0, 1.0);
  add_rows(&back, 1, 1.0);
  add_rows(&three, 0, 3.0);
  for (int i = 0; i < 3; i++)
    pc_lattice_sums_merge(&merged, &there);
  for (size_t k = 0; k < SUMS; k++) {
    double plain = 0.0;
    for (size_t i = 0; i < ROWS; i++)
      plain += 2.0 * pc_rng_uniform(&rng, i * SUMS + k) - 1.0;
    assert_true(there.totals[k].units == back.totals[k].units);
    assert_true(three.totals[k].units == merged.totals[k].units);
    assert_true(fabs(pc_lattice_sums_value(&there, k) - plain) < 1e-9);
  }
  pc_lattice_sums_clear(&there);
  assert_same(pc_lattice_sums_value(&there, 0), 0.0);
  pc_lattice_sums_free(&env, &there);
  pc_lattice_sums_free(&env, &back);
  pc_lattice_sums_free(&env, &three);
  pc_lattice_sums_free(&env, &merged);
}

/* A heavy row is emptied as often as it weighs. */
TEST(heavy_rows) {
  const pcal_env env = pc_env_resolve(NULL);
  const double terms[1] = {0.375};
  pc_lattice_sums tally;
  assert_int_equal(pc_lattice_sums_new(&env, 1, &tally, NULL), PCAL_OK);
  pc_kernels_best()->linear->add(tally.lanes, terms, NULL, 1, 1.0);
  pc_lattice_sums_empty(&tally, 1e6);
  assert_same(pc_lattice_sums_value(&tally, 0), 375000.0);
  pc_lattice_sums_free(&env, &tally);
}

static pcal_status make(const pcal_env *env, void *user, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_lattice_sums tally = {0};
  (void)user;
  const pcal_status status = pc_lattice_sums_new(&resolved, 5, &tally, err);
  pc_lattice_sums_free(&resolved, &tally);
  return status;
}

TEST(memory_runs_out) {
  unit_fail_each_allocation(make, NULL);
}
