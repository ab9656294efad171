#include "optim/active_set.h"

#include "../unit.h"
#include "base/rng.h"
#include "optim/eigen.h"

#define UNKNOWNS 8
#define CONSTRAINTS 60

/* Half-spaces a' x >= b. */
typedef struct spaces {
  size_t n, count;
  double a[CONSTRAINTS][UNKNOWNS], b[CONSTRAINTS];
} spaces;

static double dot(const double *x, const double *y, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

static double spaces_worst(void *user, const double *x, double *a, double *b) {
  const spaces *all = user;
  double most = 0;
  for (size_t c = 0; c < all->count; c++) {
    const double lack = all->b[c] - dot(all->a[c], x, all->n);
    if (lack > most) {
      most = lack;
      memcpy(a, all->a[c], all->n * sizeof *a);
      *b = all->b[c];
    }
  }
  return most;
}

/* In the plane by hand: the point of a quadrant nearest to (-1, 2), and to (-1, -2). */
TEST(by_hand) {
  const pcal_env env = pc_env_resolve(NULL);
  const double unit[] = {1, 0, 0, 1}, goals[][2] = {{-1, 2}, {-1, -2}, {3, 4}};
  const double expected[][2] = {{0, 2}, {0, 0}, {3, 4}};
  spaces quadrant = {2, 2, {{1, 0}, {0, 1}}, {0, 0}};
  for (int i = 0; i < 3; i++) {
    const pc_quadratic_program problem = {2, unit, goals[i], spaces_worst, &quadrant, 1e-14};
    pc_quadratic_program_result outcome;
    double x[2];
    assert_int_equal(pc_quadratic_program_solve(&env, &problem, x, &outcome, NULL), PCAL_OK);
    assert_true(outcome.solved);
    assert_int_equal(outcome.active, i == 0 ? 1 : i == 1 ? 2 : 0);
    assert_true(fabs(x[0] - expected[i][0]) < 1e-14 && fabs(x[1] - expected[i][1]) < 1e-14);
  }
}

/* Not the solution again, but
 * the conditions of Karush, Kuhn and Tucker: x is feasible and the gradient H x - f is a sum of
 * active normals with factors that are not negative, found by projected descent. */
static double stationarity(const spaces *all, const double *gradient, const double *x) {
  double u[CONSTRAINTS] = {0}, left[UNKNOWNS];
  for (int round = 0; round < 20000; round++)
    for (size_t c = 0; c < all->count; c++) {
      if (fabs(dot(all->a[c], x, all->n) - all->b[c]) > 1e-8)
        continue;
      for (size_t i = 0; i < all->n; i++) {
        left[i] = gradient[i];
        for (size_t d = 0; d < all->count; d++)
          left[i] -= u[d] * all->a[d][i];
      }
      u[c] = fmax(u[c] + dot(left, all->a[c], all->n) / dot(all->a[c], all->a[c], all->n), 0);
    }
  for (size_t i = 0; i < all->n; i++) {
    left[i] = gradient[i];
    for (size_t d = 0; d < all->count; d++)
      left[i] -= u[d] * all->a[d][i];
  }
  return sqrt(dot(left, left, all->n));
}

TEST(meets_the_conditions) {
  const pcal_env env = pc_env_resolve(NULL);
  for (uint64_t seed = 0; seed < 25; seed++) {
    const pc_rng rng = {seed, 3};
    const size_t n = 1 + (size_t)seed % UNKNOWNS;
    double root[UNKNOWNS * UNKNOWNS], h[UNKNOWNS * UNKNOWNS] = {0}, copy[UNKNOWNS * UNKNOWNS];
    double vectors[UNKNOWNS * UNKNOWNS], lambda[UNKNOWNS], inverse[UNKNOWNS * UNKNOWNS] = {0};
    double f[UNKNOWNS], x[UNKNOWNS], gradient[UNKNOWNS];
    spaces all = {.n = n, .count = 4 + (size_t)seed};
    for (size_t i = 0; i < n * n; i++)
      root[i] = pc_rng_normal(&rng, i);
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++)
        for (size_t e = 0; e < n; e++)
          h[i * n + j] += root[i * n + e] * root[j * n + e] + (i == j ? 0.1 : 0);
    memcpy(copy, h, sizeof h);
    pc_symmetric_eigen(copy, n, lambda, vectors);
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++)
        for (size_t e = 0; e < n; e++)
          inverse[i * n + j] += vectors[i * n + e] * vectors[j * n + e] / lambda[e];
    for (size_t i = 0; i < n; i++)
      f[i] = 5 * pc_rng_normal(&rng, 100 + i);
    for (size_t c = 0; c < all.count; c++) { /* 0 is feasible */
      for (size_t i = 0; i < n; i++)
        all.a[c][i] = pc_rng_normal(&rng, 1000 + c * n + i);
      all.b[c] = -pc_rng_uniform(&rng, 5000 + c);
    }
    const pc_quadratic_program problem = {n, inverse, f, spaces_worst, &all, 1e-11};
    pc_quadratic_program_result outcome;
    assert_int_equal(pc_quadratic_program_solve(&env, &problem, x, &outcome, NULL), PCAL_OK);
    assert_true(outcome.solved && outcome.violation <= 1e-11);
    for (size_t i = 0; i < n; i++)
      gradient[i] = dot(h + i * n, x, n) - f[i];
    assert_true(stationarity(&all, gradient, x) <= 1e-5 * (1 + sqrt(dot(f, f, n))));
  }
}

/* Constraints given many times over, and nearly parallel ones. */
TEST(repeated_constraints) {
  const pcal_env env = pc_env_resolve(NULL);
  const double unit[] = {1, 0, 0, 1}, f[] = {-3, -5};
  spaces all = {.n = 2, .count = CONSTRAINTS};
  for (size_t c = 0; c < CONSTRAINTS; c++) {
    all.a[c][0] = 1;
    all.a[c][1] = 1 + (double)(c / 2) * 1e-7;
    all.b[c] = 0;
  }
  const pc_quadratic_program problem = {2, unit, f, spaces_worst, &all, 1e-12};
  pc_quadratic_program_result outcome;
  double x[2];
  assert_int_equal(pc_quadratic_program_solve(&env, &problem, x, &outcome, NULL), PCAL_OK);
  assert_true(outcome.solved);
  assert_true(fabs(x[0] - 1) < 1e-5 && fabs(x[1] + 1) < 1e-5);
}

static pcal_status scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_quadratic_program_result outcome;
  double x[2];
  return pc_quadratic_program_solve(env, user, x, &outcome, err);
}

TEST(memory_may_run_out) {
  const double unit[] = {1, 0, 0, 1}, f[] = {1, 1};
  spaces quadrant = {2, 2, {{1, 0}, {0, 1}}, {0, 0}};
  pc_quadratic_program problem = {2, unit, f, spaces_worst, &quadrant, 1e-14};
  unit_fail_each_allocation(scenario, &problem);
}
