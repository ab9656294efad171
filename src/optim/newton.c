/* Steps:
 *   1. step = -(H + d D)^-1 gradient over the free coordinates, where D is the diagonal of H
 *      and d starts at 1e-11 and grows until the matrix is positive definite, so that scales do
 *      not matter.  A coordinate at its bound is free if the function decreases away from it.
 *      A step is at most 100 times as long as the distance of the point from 0.
 *   2. A point is accepted if the decrease is at least 1e-4 of the predicted one, up to
 *      rounding; otherwise quadratic interpolation shortens the step to between 0.1 and 0.5 of
 *      its length.
 *   3. The search ends as optim_limits.h describes.  The Hessian at the end shows whether the
 *      next step would still be long: then the minimum is at infinity.
 *   4. Frugal: a new Hessian is requested only if the gradient did not fall to a quarter or the
 *      step was shortened; otherwise the old one gets a BFGS update.
 * Edge cases:
 *  1. a Hessian of zeros: the step follows the gradient.
 *  2. a value that is not finite: the step is shortened.
 * Source: Nocedal & Wright, Numerical Optimization, 2006.
 * Cost:   count^3 / 6 for each Hessian. */
#include "optim/newton.h"

#include <math.h>
#include <string.h>

#include "optim/cholesky.h"

#define NEWTON_DAMPING 1e-11
#define NEWTON_FAINT 1e-20 /* curvatures below this fraction of the largest count as 0 */
#define NEWTON_ARMIJO 1e-4
#define NEWTON_ROUNDING 1e-15
#define NEWTON_SHORTEST 1e-12
#define NEWTON_LONGEST 100.0
#define NEWTON_STALLED 2

pcal_status pc_newton_new(const pcal_env *env, size_t count, const double *start,
                          const double *lower, const pc_optim_limits *limits, pc_newton *out,
                          pcal_error *err) {
  *out = (pc_newton){.env = env,
                     .count = count,
                     .limits = *limits,
                     .lower = lower,
                     .wants_hessian = 1,
                     .value = INFINITY,
                     .gradient = INFINITY,
                     .smallest = INFINITY};
  out->at = pc_alloc(env, 5 * count + 2 * count * count, sizeof(double));
  out->free = pc_alloc(env, count, sizeof *out->free);
  if (out->at == NULL || out->free == NULL) {
    pc_newton_free(out);
    return pc_fail_memory(err, "preparing a search");
  }
  out->best = out->at + count;
  out->slope = out->best + count;
  out->step = out->slope + count;
  out->scale = out->step + count;
  out->hessian = out->scale + count;
  out->factor = out->hessian + count * count;
  memcpy(out->at, start, count * sizeof *start);
  memcpy(out->best, start, count * sizeof *start);
  return PCAL_OK;
}

void pc_newton_free(pc_newton *newton) {
  if (newton->env == NULL)
    return;
  pc_free(newton->env, newton->at);
  pc_free(newton->env, newton->free);
  *newton = (pc_newton){0};
}

static int newton_held(const pc_newton *newton, size_t i) {
  return newton->lower != NULL && newton->best[i] <= newton->lower[i] &&
         newton->slope[i] >= 0.0;
}

static void newton_find_free(pc_newton *newton) {
  newton->free_count = 0;
  newton->gradient = 0.0;
  for (size_t i = 0; i < newton->count; i++) {
    if (newton_held(newton, i))
      continue;
    newton->free[newton->free_count++] = i;
    newton->gradient = fmax(newton->gradient, fabs(newton->slope[i]));
  }
}

/* Factors that scale the diagonal over the free coordinates to 1; 0 if no entry is positive. */
static int newton_scale(pc_newton *newton) {
  const size_t n = newton->count, m = newton->free_count;
  double largest = 0.0;
  for (size_t a = 0; a < m; a++)
    largest = fmax(largest, newton->hessian[newton->free[a] * (n + 1)]);
  for (size_t a = 0; a < m; a++) {
    const double own = newton->hessian[newton->free[a] * (n + 1)];
    newton->scale[a] = 1.0 / sqrt(own > NEWTON_FAINT * largest ? own : largest);
  }
  return largest > 0.0;
}

/* Upper triangle over the free coordinates, scaled. */
static void newton_gather(pc_newton *newton, double damping) {
  const size_t n = newton->count, m = newton->free_count;
  for (size_t a = 0; a < m; a++) {
    const double *row = newton->hessian + newton->free[a] * n;
    for (size_t b = a; b < m; b++)
      newton->factor[a * m + b] = row[newton->free[b]] * newton->scale[a] * newton->scale[b];
    newton->factor[a * m + a] += damping;
  }
}

static double newton_size(const double *x, size_t count) {
  double size = 0.0;
  for (size_t i = 0; i < count; i++)
    size = fmax(size, fabs(x[i]));
  return size;
}

/* (H + d D)^-1 slope, written to the front of `step`. */
static void newton_solve(pc_newton *newton) {
  const size_t m = newton->free_count;
  const int curved = newton_scale(newton);
  double damping = NEWTON_DAMPING;
  for (int tries = 0; curved && tries < 9; tries++, damping *= 100.0) {
    newton_gather(newton, damping);
    if (!pc_cholesky_factor(newton->factor, m, damping / 2.0))
      continue;
    for (size_t a = 0; a < m; a++)
      newton->step[a] = newton->scale[a] * newton->slope[newton->free[a]];
    pc_cholesky_solve(newton->factor, m, newton->step);
    for (size_t a = 0; a < m; a++)
      newton->step[a] *= newton->scale[a];
    return;
  }
  for (size_t a = 0; a < m; a++)
    newton->step[a] = newton->slope[newton->free[a]];
  const double scale = newton->gradient > 0.0
                           ? (1.0 + newton_size(newton->best, newton->count)) / newton->gradient
                           : 0.0;
  for (size_t a = 0; a < m; a++)
    newton->step[a] *= scale;
}

/* The step over all coordinates, limited in length, and its predicted change. */
static void newton_direct(pc_newton *newton) {
  const size_t n = newton->count, m = newton->free_count;
  newton_solve(newton);
  const double longest = NEWTON_LONGEST * (1.0 + newton_size(newton->best, n));
  const double size = newton_size(newton->step, m);
  const double scale = size > longest ? longest / size : 1.0;
  for (size_t i = n, a = m; i-- > 0;) {
    const int is_free = a > 0 && newton->free[a - 1] == i;
    newton->step[i] = is_free ? -scale * newton->step[--a] : 0.0;
  }
  newton->predicted_change = 0.0;
  for (size_t i = 0; i < n; i++)
    newton->predicted_change += newton->slope[i] * newton->step[i];
}

static void newton_go(pc_newton *newton, double length) {
  newton->length = length;
  for (size_t i = 0; i < newton->count; i++) {
    const double to = newton->best[i] + length * newton->step[i];
    newton->at[i] = newton->lower == NULL ? to : fmax(to, newton->lower[i]);
  }
}

/* The predicted change from best to `at`, whose coordinates may have been clamped to bounds. */
static double newton_predicted_change(const pc_newton *newton) {
  double sum = 0.0;
  for (size_t i = 0; i < newton->count; i++)
    sum += newton->slope[i] * (newton->at[i] - newton->best[i]);
  return sum;
}

static int newton_acceptable(const pc_newton *newton, double value) {
  if (newton->known == 0)
    return 1;
  const double slack = NEWTON_ROUNDING * fabs(newton->value);
  return value <=
         newton->value + NEWTON_ARMIJO * fmin(newton_predicted_change(newton), 0.0) + slack;
}

static void newton_finish(pc_newton *newton, int flat) {
  const double move = newton_size(newton->step, newton->count);
  const double far = newton_size(newton->best, newton->count);
  const int endless = -newton->predicted_change > PC_OPTIM_LONG_GAIN * newton->gradient &&
                      move > PC_OPTIM_LONG_MOVE * far;
  newton->end = newton->value <= newton->limits.value_floor ? PC_OPTIM_AT_INFINITY
                : !flat                                     ? PC_OPTIM_STUCK
                : endless                                   ? PC_OPTIM_AT_INFINITY
                                                            : PC_OPTIM_CONVERGED;
}

static void newton_shorten(pc_newton *newton, double value) {
  const double predicted = newton_predicted_change(newton),
               more = value - newton->value - predicted;
  const double best = more > 0.0 && isfinite(more) ? -0.5 * predicted / more : 0.1;
  const double length = newton->length * fmin(fmax(best, 0.1), 0.5);
  if (length < NEWTON_SHORTEST || newton->evaluations >= newton->limits.evaluations)
    newton_finish(newton, newton->gradient <= newton->limits.gradient_enough);
  else
    newton_go(newton, length);
}

/* True if the gradient at the new best point ends the search. */
static int newton_flat(pc_newton *newton) {
  newton->stalled = newton->gradient > newton->smallest / 2.0 ? newton->stalled + 1 : 0;
  newton->smallest = fmin(newton->smallest, newton->gradient);
  return newton->gradient <= newton->limits.gradient_target ||
         (newton->gradient <= newton->limits.gradient_enough &&
          newton->stalled >= NEWTON_STALLED);
}

static void newton_accept(pc_newton *newton, double value, const double *gradient) {
  memcpy(newton->best, newton->at, newton->count * sizeof *newton->at);
  memcpy(newton->slope, gradient, newton->count * sizeof *gradient);
  newton->value = value;
  newton->known = 1;
  newton_find_free(newton);
}

/* H += y y^T / y^T s - H s s^T H / s^T H s for the step s to `at` and the change y of the
 * gradient.  `step` holds H s. */
static void newton_learn(pc_newton *newton, const double *gradient) {
  const size_t n = newton->count;
  double bent = 0.0, straight = 0.0;
  for (size_t i = 0; i < n; i++) {
    newton->step[i] = 0.0;
    for (size_t j = 0; j < n; j++)
      newton->step[i] +=
          newton->hessian[i < j ? i * n + j : j * n + i] * (newton->at[j] - newton->best[j]);
    straight += newton->step[i] * (newton->at[i] - newton->best[i]);
    bent += (gradient[i] - newton->slope[i]) * (newton->at[i] - newton->best[i]);
  }
  if (!(bent > 1e-3 * straight))
    return;
  for (size_t i = 0; i < n; i++)
    for (size_t j = i; j < n; j++)
      newton->hessian[i * n + j] +=
          (gradient[i] - newton->slope[i]) * (gradient[j] - newton->slope[j]) / bent -
          newton->step[i] * newton->step[j] / straight;
}

void pc_newton_update(pc_newton *newton, double value, const double *gradient,
                      const double *hessian) {
  const size_t cells = newton->count * newton->count;
  const double before = newton->gradient;
  newton->evaluations++;
  if (!newton_acceptable(newton, value)) {
    newton_shorten(newton, value);
    return;
  }
  if (newton->known && newton->length > 0.0 && hessian == NULL)
    newton_learn(newton, gradient);
  newton_accept(newton, value, gradient);
  const int stale =
      hessian == NULL && (newton->gradient > before / 4.0 || newton->length < 1.0);
  if (hessian != NULL)
    memcpy(newton->hessian, hessian, cells * sizeof *hessian);
  newton_direct(newton);
  if (newton_flat(newton) || value <= newton->limits.value_floor ||
      newton->evaluations >= newton->limits.evaluations)
    newton_finish(newton, newton->gradient <= newton->limits.gradient_enough);
  else
    newton_go(newton, stale ? 0.0 : 1.0);
  newton->wants_hessian = !newton->frugal || stale;
}

void pc_newton_restart(pc_newton *newton) {
  memcpy(newton->at, newton->best, newton->count * sizeof *newton->at);
  newton->end = PC_OPTIM_RUNNING;
  newton->known = newton->stalled = 0;
  newton->wants_hessian = !newton->frugal;
  newton->gradient = newton->smallest = INFINITY;
  newton->evaluations = 0;
  newton->length = 1.0;
}
