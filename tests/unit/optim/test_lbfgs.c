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
  while (lbfgs->end == PC_OPTIM_GOES_ON) {
    const double value = bowl(lbfgs->at, 20, gradient, NULL);
    pc_lbfgs_tell(lbfgs, value, gradient);
  }
  assert_int_equal(lbfgs->end, PC_OPTIM_FLAT);
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

static void a_metric_saves_steps(void **state) {
  (void)state;
  const double start[20] = {1};
  pc_lbfgs plain = begin(start, 20), helped = begin(start, 20);
  helped.metric = divide;
  const unsigned alone = roll_down_the_bowl(&plain), with = roll_down_the_bowl(&helped);
  assert_true(with <= 4);
  assert_true(alone > with);
  pc_lbfgs_free(&plain);
  pc_lbfgs_free(&helped);
}

static void a_curved_valley_is_followed(void **state) {
  (void)state;
  const double start[2] = {-1.2, 1.0};
  double gradient[2], last = INFINITY;
  pc_lbfgs lbfgs = begin(start, 2);
  while (lbfgs.end == PC_OPTIM_GOES_ON) {
    pc_lbfgs_tell(&lbfgs, valley(lbfgs.at, gradient, NULL), gradient);
    assert_true(lbfgs.value <= last);
    last = lbfgs.value;
  }
  assert_int_equal(lbfgs.end, PC_OPTIM_FLAT);
  assert_near(lbfgs.best[0], 1.0, 1e-7);
  assert_true(lbfgs.evaluations < 100);
  pc_lbfgs_again(&lbfgs);
  assert_int_equal(lbfgs.end, PC_OPTIM_GOES_ON);
  pc_lbfgs_tell(&lbfgs, valley(lbfgs.at, gradient, NULL), gradient);
  assert_int_equal(lbfgs.end, PC_OPTIM_FLAT);
  pc_lbfgs_free(&lbfgs);
}

static void a_minimum_at_infinity_is_seen(void **state) {
  (void)state;
  const double start[1] = {0.0};
  double gradient[1];
  pc_lbfgs lbfgs = begin(start, 1);
  while (lbfgs.end == PC_OPTIM_GOES_ON)
    pc_lbfgs_tell(&lbfgs, slide(lbfgs.at, gradient, NULL), gradient);
  assert_int_equal(lbfgs.end, PC_OPTIM_ENDLESS);
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

static void memory_runs_out(void **state) {
  (void)state;
  unit_fail_each_allocation(make, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_metric_saves_steps),
      cmocka_unit_test(a_curved_valley_is_followed),
      cmocka_unit_test(a_minimum_at_infinity_is_seen),
      cmocka_unit_test(memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
