#include "optim/lbfgs.h"

#include "optim_help.h"

static const pc_optim_limits limits = {1e-9, 1e-8, 500, -INFINITY};

static pc_lbfgs begin(const double *start, size_t count) {
  static pcal_env env;
  pc_lbfgs lbfgs;
  env = pc_env_resolve(NULL);
  assert_int_equal(pc_lbfgs_new(&env, count, start, &limits, &lbfgs, NULL), PCAL_OK);
  return lbfgs;
}

static unsigned roll_down_the_bowl(pc_lbfgs *lbfgs) {
  double gradient[20];
  while (lbfgs->end == PC_OPTIM_RUNNING) {
    const double value = bowl(lbfgs->at, 20, gradient, NULL);
    pc_lbfgs_update(lbfgs, value, gradient);
  }
  assert_int_equal(lbfgs->end, PC_OPTIM_CONVERGED);
  for (size_t i = 0; i < 20; i++)
    assert_true(fabs(lbfgs->best[i] - (double)i) < 1e-7);
  return lbfgs->evaluations;
}

/* The inverse Hessian of the bowl. */
static void divide(void *user, double *vector) {
  (void)user;
  for (size_t i = 0; i < 20; i++)
    vector[i] /= pow(10.0, (double)(i % 4));
}

TEST(a_metric_saves_steps) {
  const double start[20] = {1};
  pc_lbfgs plain = begin(start, 20), helped = begin(start, 20);
  helped.precondition = divide;
  const unsigned alone = roll_down_the_bowl(&plain), with = roll_down_the_bowl(&helped);
  assert_true(with <= 4);
  assert_true(alone > with);
  pc_lbfgs_free(&plain);
  pc_lbfgs_free(&helped);
}

TEST(a_curved_valley_is_followed) {
  const double start[2] = {-1.2, 1.0};
  double gradient[2], last = INFINITY;
  pc_lbfgs lbfgs = begin(start, 2);
  while (lbfgs.end == PC_OPTIM_RUNNING) {
    pc_lbfgs_update(&lbfgs, valley(lbfgs.at, gradient, NULL), gradient);
    assert_true(lbfgs.value <= last);
    last = lbfgs.value;
  }
  assert_int_equal(lbfgs.end, PC_OPTIM_CONVERGED);
  assert_near(lbfgs.best[0], 1.0, 1e-7);
  assert_true(lbfgs.evaluations < 100);
  pc_lbfgs_restart(&lbfgs);
  assert_int_equal(lbfgs.end, PC_OPTIM_RUNNING);
  pc_lbfgs_update(&lbfgs, valley(lbfgs.at, gradient, NULL), gradient);
  assert_int_equal(lbfgs.end, PC_OPTIM_CONVERGED);
  pc_lbfgs_free(&lbfgs);
}

TEST(a_minimum_at_infinity_is_seen) {
  const double start[1] = {0.0};
  double gradient[1];
  pc_lbfgs lbfgs = begin(start, 1);
  while (lbfgs.end == PC_OPTIM_RUNNING)
    pc_lbfgs_update(&lbfgs, slide(lbfgs.at, gradient, NULL), gradient);
  assert_int_equal(lbfgs.end, PC_OPTIM_AT_INFINITY);
  pc_lbfgs_free(&lbfgs);
}

static pcal_status make(const pcal_env *env, void *user, pcal_error *err) {
  const double start[3] = {0};
  const pcal_env resolved = pc_env_resolve(env);
  pc_lbfgs lbfgs = {0};
  (void)user;
  const pcal_status status = pc_lbfgs_new(&resolved, 3, start, &limits, &lbfgs, err);
  pc_lbfgs_free(&lbfgs);
  return status;
}

TEST(memory_runs_out) {
  unit_fail_each_allocation(make, NULL);
}
