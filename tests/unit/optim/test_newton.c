#include "optim/newton.h"

#include "optim_help.h"

static const pc_optim_limits limits = {1e-12, 1e-8, 200, -INFINITY};

static pc_newton begin(const double *start, size_t count, const double *lower) {
  static pcal_env env;
  pc_newton newton;
  env = pc_env_resolve(NULL);
  assert_int_equal(pc_newton_new(&env, count, start, lower, &limits, &newton, NULL), PCAL_OK);
  return newton;
}

TEST(a_bowl_takes_one_step) {
  enum { N = 6 };
  const double start[N] = {5, -3, 100, 7, 7, -1e3};
  double gradient[N], hessian[N * N];
  pc_newton newton = begin(start, N, NULL);
  while (newton.end == PC_OPTIM_RUNNING) {
    const double value = bowl(newton.at, N, gradient, hessian);
    pc_newton_update(&newton, value, gradient, hessian);
  }
  assert_int_equal(newton.end, PC_OPTIM_CONVERGED);
  assert_true(newton.evaluations <= 4);
  assert_true(newton.gradient <= 1e-8);
  for (size_t i = 0; i < N; i++)
    assert_true(fabs(newton.best[i] - (double)i) < 1e-8);
  pc_newton_free(&newton);
}

/* Curvatures of 1e12 and 1: a heavy penalty on one number does not slow the other. */
TEST(scales_do_not_matter) {
  const double start[2] = {1.0, 9.0};
  pc_newton newton = begin(start, 2, NULL);
  while (newton.end == PC_OPTIM_RUNNING) {
    const double x = newton.at[0], y = newton.at[1] - 2.0;
    const double gradient[2] = {1e12 * x, y}, hessian[4] = {1e12, 0.0, 0.0, 1.0};
    pc_newton_update(&newton, 0.5 * (1e12 * x * x + y * y), gradient, hessian);
  }
  assert_int_equal(newton.end, PC_OPTIM_CONVERGED);
  assert_true(newton.evaluations <= 4);
  assert_near(newton.best[1], 2.0, 1e-9);
  pc_newton_free(&newton);
}

TEST(a_curved_valley_is_followed) {
  const double start[2] = {-1.2, 1.0};
  double gradient[2], hessian[4];
  pc_newton newton = begin(start, 2, NULL);
  double last = INFINITY;
  while (newton.end == PC_OPTIM_RUNNING) {
    pc_newton_update(&newton, valley(newton.at, gradient, hessian), gradient, hessian);
    assert_true(newton.value <= last);
    last = newton.value;
  }
  assert_int_equal(newton.end, PC_OPTIM_CONVERGED);
  assert_near(newton.best[0], 1.0, 1e-9);
  assert_near(newton.best[1], 1.0, 1e-9);
  assert_true(newton.evaluations < 60);
  pc_newton_free(&newton);
}

/* A frugal search finds the same point with fewer Hessians. */
TEST(old_hessians_serve) {
  const double start[2] = {0.8, 0.7};
  double gradient[2], hessian[4];
  pc_newton newton = begin(start, 2, NULL);
  unsigned asked = 0;
  newton.frugal = 1;
  while (newton.end == PC_OPTIM_RUNNING) {
    const int wanted = newton.wants_hessian;
    asked += wanted != 0;
    const double value = valley(newton.at, gradient, wanted ? hessian : NULL);
    pc_newton_update(&newton, value, gradient, wanted ? hessian : NULL);
  }
  assert_int_equal(newton.end, PC_OPTIM_CONVERGED);
  assert_near(newton.best[0], 1.0, 1e-8);
  assert_true(asked < newton.evaluations);
  newton.limits.gradient_target = 1e-6;
  pc_newton_restart(&newton);
  assert_int_equal(newton.wants_hessian, 0);
  pc_newton_update(&newton, valley(newton.at, gradient, NULL), gradient, NULL);
  assert_int_equal(newton.end, PC_OPTIM_CONVERGED);
  assert_int_equal(newton.evaluations, 1);
  pc_newton_free(&newton);
}

/* The minimum over x >= 2, y >= -5 of a bowl around (0, 1): x stays at its bound. */
TEST(bounds_hold) {
  const double start[2] = {9.0, 9.0}, lower[2] = {2.0, -5.0};
  double gradient[2], hessian[4];
  pc_newton newton = begin(start, 2, lower);
  while (newton.end == PC_OPTIM_RUNNING) {
    assert_true(newton.at[0] >= 2.0 && newton.at[1] >= -5.0);
    pc_newton_update(&newton, bowl(newton.at, 2, gradient, hessian), gradient, hessian);
  }
  assert_int_equal(newton.end, PC_OPTIM_CONVERGED);
  assert_same(newton.best[0], 2.0);
  assert_near(newton.best[1], 1.0, 1e-12);
  assert_same(newton.gradient <= 1e-8 ? 1.0 : 0.0, 1.0);
  pc_newton_free(&newton);
}

TEST(a_minimum_at_infinity_is_seen) {
  const double start[1] = {0.0};
  double gradient[1], hessian[1];
  pc_newton newton = begin(start, 1, NULL);
  while (newton.end == PC_OPTIM_RUNNING)
    pc_newton_update(&newton, slide(newton.at, gradient, hessian), gradient, hessian);
  assert_int_equal(newton.end, PC_OPTIM_AT_INFINITY);
  assert_true(newton.best[0] > 20.0 && newton.best[0] < 40.0);
  pc_newton_free(&newton);
  newton = begin(start, 1, NULL);
  newton.limits.value_floor = 0.01;
  while (newton.end == PC_OPTIM_RUNNING)
    pc_newton_update(&newton, slide(newton.at, gradient, hessian), gradient, hessian);
  assert_int_equal(newton.end, PC_OPTIM_AT_INFINITY);
  assert_true(newton.value <= 0.01 && newton.evaluations < 10);
  pc_newton_free(&newton);
}

/* Values that are not finite shorten the step; a Hessian of zeros goes down the gradient. */
TEST(walls_and_planes) {
  const double start[1] = {1.0};
  double gradient[1], hessian[1] = {0.0};
  pc_newton newton = begin(start, 1, NULL);
  for (int i = 0; i < 40 && newton.end == PC_OPTIM_RUNNING; i++) {
    gradient[0] = 1.0;
    pc_newton_update(&newton, newton.at[0] < -3.0 ? NAN : newton.at[0], gradient, hessian);
  }
  assert_true(newton.best[0] < 1.0 && newton.best[0] >= -3.0);
  assert_false(isnan(newton.value));
  pc_newton_free(&newton);
}

TEST(it_ends_at_the_limit) {
  const double start[2] = {-1.2, 1.0};
  double gradient[2], hessian[4];
  pc_newton newton = begin(start, 2, NULL);
  newton.limits.evaluations = 5;
  while (newton.end == PC_OPTIM_RUNNING)
    pc_newton_update(&newton, valley(newton.at, gradient, hessian), gradient, hessian);
  assert_int_equal(newton.end, PC_OPTIM_STUCK);
  assert_int_equal(newton.evaluations, 5);
  pc_newton_free(&newton);
}

static pcal_status make(const pcal_env *env, void *user, pcal_error *err) {
  const double start[3] = {0};
  const pcal_env resolved = pc_env_resolve(env);
  pc_newton newton = {0};
  (void)user;
  const pcal_status status = pc_newton_new(&resolved, 3, start, NULL, &limits, &newton, err);
  pc_newton_free(&newton);
  return status;
}

TEST(memory_runs_out) {
  unit_fail_each_allocation(make, NULL);
}
