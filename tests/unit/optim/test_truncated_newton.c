#include "optim/truncated_newton.h"

#include "optim_help.h"

enum { BOWL = 20 };

typedef struct known {
  size_t count;
  double at[BOWL];
  int helped;
  int fails; /* the evaluation that fails, from 1 */
} known;

static double look(const known *about, const double *at, double *gradient, double *hessian) {
  return about->count == BOWL ? bowl(at, BOWL, gradient, hessian)
         : about->count == 2  ? valley(at, gradient, hessian)
                              : slide(at, gradient, hessian);
}

static pcal_status evaluate(void *user, const double *at, double *value, double *gradient,
                            pcal_error *err) {
  known *about = user;
  if (about->fails > 0 && --about->fails == 0)
    return pc_fail(err, PCAL_IO, "gone");
  *value = look(about, at, gradient, NULL);
  return PCAL_OK;
}

static pcal_status set_point(void *user, const double *at, pcal_error *err) {
  known *about = user;
  (void)err;
  memcpy(about->at, at, about->count * sizeof *at);
  return PCAL_OK;
}

static pcal_status multiply(void *user, const double *v, double *out, pcal_error *err) {
  const known *about = user;
  const size_t n = about->count;
  double gradient[BOWL], hessian[BOWL * BOWL];
  (void)err;
  look(about, about->at, gradient, hessian);
  for (size_t i = 0; i < n; i++) {
    out[i] = 0.0;
    for (size_t j = 0; j < n; j++)
      out[i] += hessian[i * n + j] * v[j];
  }
  return PCAL_OK;
}

static void precondition(void *user, double *v) {
  const known *about = user;
  for (size_t i = 0; i < about->count && about->helped; i++)
    v[i] /= pow(10.0, (double)(i % 4));
}

static pc_truncated_newton_result search(known *about, double *at) {
  const pc_truncated_newton_problem problem = {about->count, about,    evaluate,
                                               set_point,    multiply, precondition};
  const pc_optim_limits limits = {1e-10, 1e-8, 1000, -INFINITY};
  const pcal_env env = pc_env_resolve(NULL);
  pc_truncated_newton_result result;
  assert_int_equal(pc_truncated_newton(&env, &problem, &limits, at, &result, NULL), PCAL_OK);
  return result;
}

TEST(minima_are_found) {
  known about = {.count = BOWL};
  double at[BOWL] = {3.0}, helped_at[BOWL] = {3.0}, place[2] = {-1.2, 1.0};
  const pc_truncated_newton_result plain = search(&about, at);
  about.helped = 1;
  const pc_truncated_newton_result helped = search(&about, helped_at);
  assert_int_equal(plain.end, PC_OPTIM_CONVERGED);
  assert_int_equal(helped.end, PC_OPTIM_CONVERGED);
  assert_true(helped.products < plain.products);
  for (size_t i = 0; i < BOWL; i++)
    assert_true(fabs(at[i] - (double)i) < 1e-7 && fabs(helped_at[i] - (double)i) < 1e-7);
  known second = {.count = 2};
  const pc_truncated_newton_result result = search(&second, place);
  assert_int_equal(result.end, PC_OPTIM_CONVERGED);
  assert_near(place[0], 1.0, 1e-7);
  assert_true(result.gradient <= 1e-8 && result.value < 1e-14);
}

TEST(a_minimum_at_infinity_is_seen) {
  known about = {.count = 1};
  double at[1] = {0.0};
  assert_int_equal(search(&about, at).end, PC_OPTIM_AT_INFINITY);
}

TEST(failures_are_passed_on) {
  known about = {.count = 2, .fails = 3};
  const pc_truncated_newton_problem problem = {2,         &about,   evaluate,
                                               set_point, multiply, precondition};
  const pc_optim_limits limits = {1e-10, 1e-8, 1000, -INFINITY};
  const pcal_env env = pc_env_resolve(NULL);
  double at[2] = {-1.2, 1.0};
  pc_truncated_newton_result result;
  pcal_error err;
  assert_int_equal(pc_truncated_newton(&env, &problem, &limits, at, &result, &err), PCAL_IO);
  assert_sentence(err, PCAL_IO, "gone");
}

static pcal_status run(const pcal_env *env, void *user, pcal_error *err) {
  known about = {.count = 2};
  const pc_truncated_newton_problem problem = {2,         &about,   evaluate,
                                               set_point, multiply, precondition};
  const pc_optim_limits limits = {1e-10, 1e-8, 1000, -INFINITY};
  const pcal_env resolved = pc_env_resolve(env);
  double at[2] = {-1.2, 1.0};
  pc_truncated_newton_result result;
  (void)user;
  return pc_truncated_newton(&resolved, &problem, &limits, at, &result, err);
}

TEST(memory_runs_out) {
  unit_fail_each_allocation(run, NULL);
}
