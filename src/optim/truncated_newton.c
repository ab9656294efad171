/* Steps:
 *   1. H step = -gradient by preconditioned conjugate gradients from 0, until the residual, in
 *      the norm of the preconditioner, is min(1/4, sqrt of the gradient's size) of the first; a
 *      direction of zero or negative curvature also ends the iteration.
 *   2. A point is accepted if the decrease is at least 1e-4 of the predicted one, up to
 *      rounding; otherwise the step is shortened by quadratic interpolation, to 0.1 to 0.5 of
 *      its length.
 *   3. The search ends as optim_limits.h describes.  If the gradient is small enough right
 *      after a long step, or at the start, one more step is computed to see whether the minimum
 *      is at infinity.
 * Source: Nash 2000; Dembo & Steihaug 1983.
 * Cost:   one product for each iteration of conjugate gradients. */
#include "optim/truncated_newton.h"

#include <math.h>
#include <string.h>

#include "optim/dot.h"

#define TRUNCATED_NEWTON_ARMIJO 1e-4
#define TRUNCATED_NEWTON_ROUNDING 1e-15
#define TRUNCATED_NEWTON_SHORTEST 1e-12
#define TRUNCATED_NEWTON_PRODUCTS 300 /* most products of one step */
#define TRUNCATED_NEWTON_STALLED 3
#define TRUNCATED_NEWTON_LOOSE 0.25

typedef struct truncated_newton_state {
  const pc_truncated_newton_problem *problem;
  const pc_optim_limits *limits;
  pc_truncated_newton_result *out;
  double *at, *trial;          /* points */
  double *slope, *trial_slope; /* gradients at these points */
  double *step, *residual;
  double *preconditioned;      /* the residual times the preconditioner */
  double *direction, *product; /* of conjugate gradients; product: H times it */
  double predicted_change, smallest;
  int stalled;
  int long_step; /* the last step was long; 1 before the first */
} truncated_newton_state;

static double truncated_newton_size(const double *x, size_t count) {
  double size = 0.0;
  for (size_t i = 0; i < count; i++)
    size = fmax(size, fabs(x[i]));
  return size;
}

static int truncated_newton_spent(const truncated_newton_state *s) {
  return s->out->evaluations + s->out->products >= s->limits->evaluations;
}

/* Fills `preconditioned` with P residual; returns residual^T P residual. */
static double truncated_newton_precondition(const truncated_newton_state *s) {
  const size_t n = s->problem->count;
  memcpy(s->preconditioned, s->residual, n * sizeof *s->preconditioned);
  s->problem->precondition(s->problem->user, s->preconditioned);
  return pc_dot(s->residual, s->preconditioned, n);
}

static pcal_status truncated_newton_solve(const truncated_newton_state *s, double share,
                                          pcal_error *err) {
  const pc_truncated_newton_problem *problem = s->problem;
  const size_t n = problem->count;
  for (size_t i = 0; i < n; i++) {
    s->step[i] = 0.0;
    s->residual[i] = -s->slope[i];
  }
  double norm = truncated_newton_precondition(s);
  const double enough = share * share * norm;
  memcpy(s->direction, s->preconditioned, n * sizeof *s->direction);
  for (unsigned i = 0; i < TRUNCATED_NEWTON_PRODUCTS && norm > enough; i++) {
    PC_TRY(problem->multiply(problem->user, s->direction, s->product, err));
    s->out->products++;
    const double curvature = pc_dot(s->direction, s->product, n);
    if (!(curvature > 1e-300)) {
      if (i == 0)
        memcpy(s->step, s->direction, n * sizeof *s->direction);
      break;
    }
    const double length = norm / curvature;
    for (size_t k = 0; k < n; k++) {
      s->step[k] += length * s->direction[k];
      s->residual[k] -= length * s->product[k];
    }
    const double next = truncated_newton_precondition(s);
    for (size_t k = 0; k < n; k++)
      s->direction[k] = s->preconditioned[k] + next / norm * s->direction[k];
    norm = next;
  }
  return PCAL_OK;
}

static void truncated_newton_finish(const truncated_newton_state *s) {
  const int flat = s->out->gradient <= s->limits->gradient_enough;
  s->out->end = s->out->value <= s->limits->value_floor ? PC_OPTIM_AT_INFINITY
                : !flat                                 ? PC_OPTIM_STUCK
                : s->long_step                          ? PC_OPTIM_AT_INFINITY
                                                        : PC_OPTIM_CONVERGED;
}

static void truncated_newton_accept(truncated_newton_state *s, double value) {
  const size_t n = s->problem->count;
  memcpy(s->at, s->trial, n * sizeof *s->at);
  memcpy(s->slope, s->trial_slope, n * sizeof *s->slope);
  s->out->value = value;
  s->out->gradient = truncated_newton_size(s->slope, n);
  s->stalled = s->out->gradient > s->smallest / 2.0 ? s->stalled + 1 : 0;
  s->smallest = fmin(s->smallest, s->out->gradient);
}

/* Line search along the step; *moved is 0 if no length decreases the value. */
static pcal_status truncated_newton_walk(truncated_newton_state *s, int *moved,
                                         pcal_error *err) {
  const pc_truncated_newton_problem *problem = s->problem;
  const double slack = TRUNCATED_NEWTON_ROUNDING * fabs(s->out->value);
  *moved = 0;
  for (double length = 1.0; length >= TRUNCATED_NEWTON_SHORTEST;) {
    double value = 0.0;
    for (size_t i = 0; i < problem->count; i++)
      s->trial[i] = s->at[i] + length * s->step[i];
    PC_TRY(problem->evaluate(problem->user, s->trial, &value, s->trial_slope, err));
    s->out->evaluations++;
    const double predicted = length * s->predicted_change;
    if (value <= s->out->value + TRUNCATED_NEWTON_ARMIJO * predicted + slack) {
      truncated_newton_accept(s, value);
      *moved = 1;
      return PCAL_OK;
    }
    const double more = value - s->out->value - predicted;
    const double best = more > 0.0 && isfinite(more) ? -0.5 * predicted / more : 0.1;
    length *= fmin(fmax(best, 0.1), 0.5);
    if (truncated_newton_spent(s))
      return PCAL_OK;
  }
  return PCAL_OK;
}

/* Computes the step at the current point, and whether it is long. */
static pcal_status truncated_newton_step(truncated_newton_state *s, double share,
                                         pcal_error *err) {
  const pc_truncated_newton_problem *problem = s->problem;
  const size_t n = problem->count;
  PC_TRY(problem->set_point(problem->user, s->at, err));
  PC_TRY(truncated_newton_solve(s, share, err));
  s->predicted_change = pc_dot(s->slope, s->step, n);
  s->long_step =
      -s->predicted_change > PC_OPTIM_LONG_GAIN * s->out->gradient &&
      truncated_newton_size(s->step, n) > PC_OPTIM_LONG_MOVE * truncated_newton_size(s->at, n);
  return PCAL_OK;
}

static pcal_status truncated_newton_run(truncated_newton_state *s, pcal_error *err) {
  const pc_truncated_newton_problem *problem = s->problem;
  double value = 0.0;
  memcpy(s->trial, s->at, problem->count * sizeof *s->at);
  PC_TRY(problem->evaluate(problem->user, s->at, &value, s->trial_slope, err));
  s->out->evaluations++;
  truncated_newton_accept(s, value);
  for (int moved = 1; s->out->value > s->limits->value_floor;) {
    const int flat = s->out->gradient <= s->limits->gradient_target ||
                     (s->out->gradient <= s->limits->gradient_enough &&
                      s->stalled >= TRUNCATED_NEWTON_STALLED);
    if (s->out->gradient <= 0.0)
      s->long_step = 0;
    else if (moved && (!flat || s->long_step))
      PC_TRY(truncated_newton_step(s,
                                   flat ? TRUNCATED_NEWTON_LOOSE
                                        : fmin(TRUNCATED_NEWTON_LOOSE, sqrt(s->out->gradient)),
                                   err));
    if (flat || !moved || truncated_newton_spent(s))
      break;
    PC_TRY(truncated_newton_walk(s, &moved, err));
  }
  truncated_newton_finish(s);
  return PCAL_OK;
}

pcal_status pc_truncated_newton(const pcal_env *env, const pc_truncated_newton_problem *problem,
                                const pc_optim_limits *limits, double *at,
                                pc_truncated_newton_result *out, pcal_error *err) {
  const size_t n = problem->count;
  *out = (pc_truncated_newton_result){.value = INFINITY, .gradient = INFINITY};
  double *block = pc_alloc(env, n, 8 * sizeof *block);
  if (block == NULL)
    return pc_fail_memory(err, "preparing a search");
  truncated_newton_state state = {.problem = problem,
                                  .limits = limits,
                                  .out = out,
                                  .at = at,
                                  .trial = block,
                                  .slope = block + n,
                                  .trial_slope = block + 2 * n,
                                  .step = block + 3 * n,
                                  .residual = block + 4 * n,
                                  .preconditioned = block + 5 * n,
                                  .direction = block + 6 * n,
                                  .product = block + 7 * n,
                                  .smallest = INFINITY,
                                  .long_step = 1};
  const pcal_status status = truncated_newton_run(&state, err);
  pc_free(env, block);
  return status;
}
