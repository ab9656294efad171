/* Formula:  step = -H gradient by the two-loop recursion over the last pairs (s, y), with
 *           H0 = (s^T y / y^T P y) P, (s, y) the newest pair, P the preconditioner.
 * Line search: a length is too long if the decrease is less than 1e-4 of the predicted one, up
 *           to rounding; too short if the slope is still steeper than 0.9 of the first.
 *           Between a too short and a too long length the middle is tried, otherwise the length
 *           is doubled, up to a million.  The first step has the size that the preconditioner
 *           gives; without one its size is at most 1.
 * Edge cases:
 *  1. a value that is not finite: the length is too long.
 *  2. pairs without curvature are not kept.
 *  3. a step that does not descend drops all pairs.
 * Source:   Liu & Nocedal 1989; Lewis & Overton 2013 (bracket).
 * Cost:     4 PC_LBFGS_PAIRS count operations for each step. */
#include "optim/lbfgs.h"

#include <math.h>
#include <string.h>

#include "optim/dot.h"

#define LBFGS_ARMIJO 1e-4
#define LBFGS_CURVATURE 0.9
#define LBFGS_ROUNDING 1e-15
#define LBFGS_SHORTEST 1e-14
#define LBFGS_LONGEST 1e6
#define LBFGS_STALLED 20

pcal_status pc_lbfgs_new(const pcal_env *env, size_t count, const double *start,
                         const pc_optim_limits *limits, pc_lbfgs *out, pcal_error *err) {
  const size_t vectors = 4 + 2 * PC_LBFGS_PAIRS;
  *out = (pc_lbfgs){.env = env,
                    .count = count,
                    .limits = *limits,
                    .value = INFINITY,
                    .gradient = INFINITY,
                    .smallest = INFINITY};
  out->at = pc_alloc(env, count, vectors * sizeof(double));
  if (out->at == NULL)
    return pc_fail_memory(err, "preparing a search");
  out->best = out->at + count;
  out->slope = out->best + count;
  out->step = out->slope + count;
  out->point_differences = out->step + count;
  out->gradient_differences = out->point_differences + PC_LBFGS_PAIRS * count;
  memcpy(out->at, start, count * sizeof *start);
  memcpy(out->best, start, count * sizeof *start);
  return PCAL_OK;
}

void pc_lbfgs_free(pc_lbfgs *lbfgs) {
  if (lbfgs->env != NULL)
    pc_free(lbfgs->env, lbfgs->at);
  *lbfgs = (pc_lbfgs){0};
}

static void lbfgs_add(double *to, double factor, const double *from, size_t count) {
  for (size_t i = 0; i < count; i++)
    to[i] += factor * from[i];
}

static double lbfgs_size(const double *x, size_t count) {
  double size = 0.0;
  for (size_t i = 0; i < count; i++)
    size = fmax(size, fabs(x[i]));
  return size;
}

/* The index of the pair of age `age`; 0 is the newest. */
static size_t lbfgs_pair(const pc_lbfgs *lbfgs, size_t age) {
  return (lbfgs->newest + PC_LBFGS_PAIRS - age) % PC_LBFGS_PAIRS;
}

static void lbfgs_precondition(const pc_lbfgs *lbfgs, double *vector) {
  if (lbfgs->precondition != NULL)
    lbfgs->precondition(lbfgs->user, vector);
}

/* The factor of H0; uses `at` as scratch. */
static double lbfgs_scale(pc_lbfgs *lbfgs) {
  const size_t n = lbfgs->count;
  const double *gradient_difference = lbfgs->gradient_differences + lbfgs->newest * n;
  memcpy(lbfgs->at, gradient_difference, n * sizeof *gradient_difference);
  lbfgs_precondition(lbfgs, lbfgs->at);
  const double square = pc_dot(gradient_difference, lbfgs->at, n);
  return square > 0.0 ? lbfgs->inner[lbfgs->newest] / square : 1.0;
}

static void lbfgs_recursion(pc_lbfgs *lbfgs) {
  const size_t n = lbfgs->count;
  double share[PC_LBFGS_PAIRS];
  for (size_t i = 0; i < n; i++)
    lbfgs->step[i] = -lbfgs->slope[i];
  for (size_t age = 0; age < lbfgs->pairs; age++) {
    const size_t p = lbfgs_pair(lbfgs, age);
    share[p] = pc_dot(lbfgs->point_differences + p * n, lbfgs->step, n) / lbfgs->inner[p];
    lbfgs_add(lbfgs->step, -share[p], lbfgs->gradient_differences + p * n, n);
  }
  lbfgs_precondition(lbfgs, lbfgs->step);
  if (lbfgs->pairs > 0) {
    const double scale = lbfgs_scale(lbfgs);
    for (size_t i = 0; i < n; i++)
      lbfgs->step[i] *= scale;
  }
  for (size_t age = lbfgs->pairs; age-- > 0;) {
    const size_t p = lbfgs_pair(lbfgs, age);
    const double other =
        pc_dot(lbfgs->gradient_differences + p * n, lbfgs->step, n) / lbfgs->inner[p];
    lbfgs_add(lbfgs->step, share[p] - other, lbfgs->point_differences + p * n, n);
  }
}

static void lbfgs_go(pc_lbfgs *lbfgs, double length) {
  lbfgs->length = length;
  for (size_t i = 0; i < lbfgs->count; i++)
    lbfgs->at[i] = lbfgs->best[i] + length * lbfgs->step[i];
}

/* Computes a descent step from the best point. */
static void lbfgs_direct(pc_lbfgs *lbfgs) {
  const size_t n = lbfgs->count;
  lbfgs_recursion(lbfgs);
  lbfgs->predicted_change = pc_dot(lbfgs->slope, lbfgs->step, n);
  if (!(lbfgs->predicted_change < 0.0)) {
    lbfgs->pairs = 0;
    lbfgs_recursion(lbfgs);
    lbfgs->predicted_change = pc_dot(lbfgs->slope, lbfgs->step, n);
  }
  const double size = lbfgs_size(lbfgs->step, n);
  lbfgs->low = 0.0;
  lbfgs->high = INFINITY;
  const int blind = lbfgs->precondition == NULL && lbfgs->pairs == 0;
  lbfgs_go(lbfgs, blind && size > 1.0 ? 1.0 / size : 1.0);
}

static void lbfgs_finish(pc_lbfgs *lbfgs) {
  const double move = lbfgs_size(lbfgs->step, lbfgs->count);
  const double far = lbfgs_size(lbfgs->best, lbfgs->count);
  const int endless = -lbfgs->predicted_change > PC_OPTIM_LONG_GAIN * lbfgs->gradient &&
                      move > PC_OPTIM_LONG_MOVE * far;
  const int flat = lbfgs->gradient <= lbfgs->limits.gradient_enough;
  lbfgs->end = lbfgs->value <= lbfgs->limits.value_floor ? PC_OPTIM_AT_INFINITY
               : !flat                                   ? PC_OPTIM_STUCK
               : endless                                 ? PC_OPTIM_AT_INFINITY
                                                         : PC_OPTIM_CONVERGED;
}

/* The next length between too short and too long. */
static void lbfgs_bracket(pc_lbfgs *lbfgs) {
  const double next =
      isfinite(lbfgs->high) ? 0.5 * (lbfgs->low + lbfgs->high) : 2.0 * lbfgs->length;
  if (lbfgs->high - lbfgs->low < LBFGS_SHORTEST ||
      lbfgs->evaluations >= lbfgs->limits.evaluations)
    lbfgs_finish(lbfgs);
  else
    lbfgs_go(lbfgs, next);
}

static void lbfgs_keep_pair(pc_lbfgs *lbfgs, const double *gradient) {
  const size_t n = lbfgs->count, p = (lbfgs->newest + 1) % PC_LBFGS_PAIRS;
  double *point_difference = lbfgs->point_differences + p * n,
         *gradient_difference = lbfgs->gradient_differences + p * n;
  for (size_t i = 0; i < n; i++) {
    point_difference[i] = lbfgs->at[i] - lbfgs->best[i];
    gradient_difference[i] = gradient[i] - lbfgs->slope[i];
  }
  lbfgs->inner[p] = pc_dot(point_difference, gradient_difference, n);
  if (!(lbfgs->inner[p] > 1e-14 * fabs(lbfgs->length * lbfgs->predicted_change)))
    return;
  lbfgs->newest = p;
  lbfgs->pairs += lbfgs->pairs < PC_LBFGS_PAIRS;
}

static void lbfgs_accept(pc_lbfgs *lbfgs, double value, const double *gradient) {
  const size_t n = lbfgs->count;
  if (lbfgs->known)
    lbfgs_keep_pair(lbfgs, gradient);
  lbfgs->steps += lbfgs->known != 0;
  lbfgs->known = 1;
  memcpy(lbfgs->best, lbfgs->at, n * sizeof *lbfgs->at);
  memcpy(lbfgs->slope, gradient, n * sizeof *gradient);
  lbfgs->value = value;
  lbfgs->gradient = lbfgs_size(gradient, n);
  lbfgs->stalled = lbfgs->gradient > lbfgs->smallest / 2.0 ? lbfgs->stalled + 1 : 0;
  if (lbfgs->stalled == 0)
    lbfgs->smallest = lbfgs->gradient;
}

void pc_lbfgs_update(pc_lbfgs *lbfgs, double value, const double *gradient) {
  const double slack = LBFGS_ROUNDING * fabs(lbfgs->value);
  lbfgs->evaluations++;
  if (lbfgs->known) {
    const double wanted =
        lbfgs->value + LBFGS_ARMIJO * lbfgs->length * lbfgs->predicted_change + slack;
    const double rise = pc_dot(gradient, lbfgs->step, lbfgs->count);
    const int too_long = !(value <= wanted);
    const int too_short =
        rise < LBFGS_CURVATURE * lbfgs->predicted_change && lbfgs->length < LBFGS_LONGEST;
    if (too_long || too_short) {
      *(too_long ? &lbfgs->high : &lbfgs->low) = lbfgs->length;
      lbfgs_bracket(lbfgs);
      return;
    }
  }
  lbfgs_accept(lbfgs, value, gradient);
  lbfgs_direct(lbfgs);
  if (lbfgs->gradient <= lbfgs->limits.gradient_target ||
      (lbfgs->gradient <= lbfgs->limits.gradient_enough && lbfgs->stalled >= LBFGS_STALLED) ||
      value <= lbfgs->limits.value_floor || lbfgs->evaluations >= lbfgs->limits.evaluations)
    lbfgs_finish(lbfgs);
}

void pc_lbfgs_restart(pc_lbfgs *lbfgs) {
  memcpy(lbfgs->at, lbfgs->best, lbfgs->count * sizeof *lbfgs->at);
  lbfgs->end = PC_OPTIM_RUNNING;
  lbfgs->known = lbfgs->stalled = 0;
  lbfgs->pairs = 0;
  lbfgs->gradient = lbfgs->smallest = INFINITY;
}
