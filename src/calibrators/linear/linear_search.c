/* Search:
 *   1. From the start or from 0, whichever is better.  The objective is convex.
 *   2. Up to PC_LINEAR_NEWTON classes: Newton's method with all second derivatives, which are
 *      computed again only when old ones do not suffice; warm searches begin with old ones.
 *      Searches without a warm start compute them at every point if they are rough (small terms
 *      are left out), because a gradient of 1e-6 is reached far from the minimum with old ones,
 *      and if there is no penalty, because the minimum may be at infinity.  With more classes:
 *      truncated Newton steps (linear_curvature.h).  Diagonal maps: see vector_search.c.
 *   3. Without a penalty, a common change of all classes has no effect; it is removed from
 *      gradients and from the result, which thereby has the least norm.
 * Accuracy: gradients of 1e-13 with all second derivatives, otherwise of 1e-9, in units in
 *           which features are about 1.
 * Cost:     a few passes with second derivatives and about ten without, or a few dozen. */
#include "calibrators/linear/linear_search.h"

#include <math.h>
#include <string.h>

#include "calibrators/linear/linear_curvature.h"
#include "calibrators/linear/vector_search.h"
#include "kernels/lane_math.h"
#include "optim/newton.h"
#include "optim/truncated_newton.h"

/* Second derivatives of rough searches leave out products of probabilities up to this. */
#define LINEAR_SEARCH_TERM 1e-4

/* Those of truncated steps leave out classes with probabilities up to this, and in rough
 * searches up to a tenth of the mean, within bounds. */
#define LINEAR_SEARCH_CLASS 1e-4
#define LINEAR_SEARCH_ROUGH_CLASS 1e-3

static int linear_search_is_newton(const pc_linear_pass *pass) {
  return pass->classes <= PC_LINEAR_NEWTON;
}

/* State of a search between runs. */
struct pc_linear_search_state {
  pc_newton newton;
  pc_linear_curvature curvature;
};

static pcal_status linear_search_state_new(pc_linear_search *search, pcal_error *err) {
  const pcal_env *env = search->pass.rows->task->env;
  const size_t n = search->pass.count;
  search->state = pc_alloc(env, 1, sizeof *search->state);
  if (search->state == NULL)
    return pc_fail_memory(err, "preparing a search");
  struct pc_linear_search_state *state = search->state;
  return linear_search_is_newton(&search->pass)
             ? pc_newton_new(env, n, search->at, NULL, &search->limits, &state->newton, err)
             : pc_linear_curvature_new(&search->pass, &state->curvature, err);
}

static pcal_status linear_search_parameters_new(pc_linear_search *search, pcal_error *err) {
  search->at = pc_alloc(search->pass.rows->task->env, search->pass.count, sizeof *search->at);
  return search->at == NULL ? pc_fail_memory(err, "preparing a search") : PCAL_OK;
}

pcal_status pc_linear_search_new(const pc_fit_rows *rows, int full, int serial,
                                 pc_linear_search *out, pcal_error *err) {
  *out = (pc_linear_search){
      .pass = {.rows = rows, .classes = rows->classes, .count = 2 * rows->classes}};
  if (!full)
    return linear_search_parameters_new(out, err);
  const int newton = linear_search_is_newton(&out->pass);
  const unsigned want = PC_LINEAR_GRADIENT | (newton ? PC_LINEAR_HESSIAN : PC_LINEAR_VALUE);
  out->limits = newton ? (pc_optim_limits){1e-13, 1e-8, 300, 1e-8}
                       : (pc_optim_limits){1e-9, 1e-8, 3000, 1e-6};
  PC_TRY(pc_linear_pass_new(rows, want, serial, &out->pass, err));
  PC_TRY(linear_search_parameters_new(out, err));
  return linear_search_state_new(out, err);
}

void pc_linear_search_identity(pc_linear_search *search) {
  const size_t k = search->pass.classes;
  const double unit = ldexp(1.0, search->pass.rows->exponent);
  memset(search->at, 0, search->pass.count * sizeof *search->at);
  for (size_t c = 0; c < k; c++)
    search->at[search->pass.full ? c * k + c : c] = unit;
}

void pc_linear_search_follow(pc_linear_search *search, const pc_linear_search *other) {
  const size_t n = search->pass.count;
  memcpy(search->at, other->at, n * sizeof *search->at);
  search->end = other->end;
  search->known_off = other->known_off;
  search->known_shift = other->known_shift;
  if (linear_search_is_newton(&search->pass))
    memcpy(search->state->newton.hessian, other->state->newton.hessian, n * n * sizeof(double));
}

/* ---- Objective ---- */

/* Subtracts the mean over classes from the parameters without a penalty. */
static void linear_search_centre(const pc_linear_search *search, double *values) {
  const size_t k = search->pass.classes;
  for (size_t j = 0; j <= k; j++) {
    double mean = 0.0;
    if (j < k ? search->off > 0.0 : search->shift > 0.0)
      continue;
    for (size_t c = 0; c < k; c++)
      mean += values[j * k + c] / (double)k;
    for (size_t c = 0; c < k; c++)
      values[j * k + c] -= mean;
  }
}

/* Penalty of the square of parameter j, c. */
static double linear_search_penalty(const pc_linear_search *search, size_t j, size_t c) {
  return j == search->pass.classes ? search->shift : j != c ? search->off : 0.0;
}

/* Objective at parameters; its derivatives are left in the pass. */
static pcal_status linear_search_objective(pc_linear_search *search, const double *at,
                                           unsigned want, double *value, pcal_error *err) {
  pc_linear_pass *pass = &search->pass;
  const size_t k = pass->classes, n = pass->count;
  double penalty = 0.0;
  PC_TRY(pc_linear_pass_run(pass, at, want, err));
  search->evaluations++;
  linear_search_centre(search, pass->gradient);
  for (size_t i = 0; i < n; i++) {
    const double weight = linear_search_penalty(search, i / k, i % k);
    penalty += weight * at[i] * at[i];
    pass->gradient[i] += 2.0 * weight * at[i];
    if ((want & PC_LINEAR_HESSIAN) != 0)
      pass->hessian[i * n + i] += 2.0 * weight;
  }
  *value = pass->value + penalty;
  return PCAL_OK;
}

/* Starts at 0 if that is better than the start. */
static pcal_status linear_search_choose_start(pc_linear_search *search, pcal_error *err) {
  const size_t n = search->pass.count;
  const double zero_score = pc_lane_log((double)search->pass.classes);
  double value = 0.0;
  linear_search_centre(search, search->at);
  PC_TRY(linear_search_objective(search, search->at, PC_LINEAR_VALUE, &value, err));
  if (!(value <= zero_score))
    memset(search->at, 0, n * sizeof *search->at);
  return PCAL_OK;
}

static void linear_search_record(pc_linear_search *search, const double *at, double value,
                                 double gradient, pc_optim_end end) {
  if (at != search->at)
    memcpy(search->at, at, search->pass.count * sizeof *at);
  search->value = value;
  search->gradient = gradient;
  search->end = end;
}

/* ---- Newton ---- */

/* Replaces the penalty in an old Hessian by the current one. */
static void linear_search_update_penalty(pc_linear_search *search, pc_newton *newton) {
  const size_t k = search->pass.classes, n = search->pass.count;
  pc_linear_search known = {.pass = {.classes = k}};
  known.off = search->known_off;
  known.shift = search->known_shift;
  for (size_t i = 0; i < n; i++)
    newton->hessian[i * n + i] += 2.0 * (linear_search_penalty(search, i / k, i % k) -
                                         linear_search_penalty(&known, i / k, i % k));
  search->known_off = search->off;
  search->known_shift = search->shift;
}

static pcal_status linear_search_newton(pc_linear_search *search, int warm, pcal_error *err) {
  pc_newton *newton = &search->state->newton;
  double value = 0.0;
  newton->limits = search->limits;
  newton->frugal = warm || (!search->rough && search->off > 0.0 && search->shift > 0.0);
  search->pass.least = search->rough ? LINEAR_SEARCH_TERM : 0.0;
  memcpy(newton->best, search->at, search->pass.count * sizeof *search->at);
  pc_newton_restart(newton);
  newton->wants_hessian = !warm;
  linear_search_update_penalty(search, newton);
  while (newton->end == PC_OPTIM_RUNNING) {
    const unsigned want =
        PC_LINEAR_GRADIENT | (newton->wants_hessian ? PC_LINEAR_HESSIAN : PC_LINEAR_VALUE);
    PC_TRY(linear_search_objective(search, newton->at, want, &value, err));
    pc_newton_update(newton, value, search->pass.gradient,
                     newton->wants_hessian ? search->pass.hessian : NULL);
  }
  linear_search_record(search, newton->best, newton->value, newton->gradient, newton->end);
  return PCAL_OK;
}

/* ---- Truncated Newton ---- */

static pcal_status linear_search_evaluate(void *user, const double *at, double *value,
                                          double *gradient, pcal_error *err) {
  pc_linear_search *search = user;
  PC_TRY(linear_search_objective(search, at, PC_LINEAR_GRADIENT, value, err));
  memcpy(gradient, search->pass.gradient, search->pass.count * sizeof *gradient);
  return PCAL_OK;
}

static pcal_status linear_search_set_point(void *user, const double *at, pcal_error *err) {
  const pc_linear_search *search = user;
  return pc_linear_curvature_set_point(&search->state->curvature, at, err);
}

static pcal_status linear_search_multiply(void *user, const double *v, double *out,
                                          pcal_error *err) {
  const pc_linear_search *search = user;
  PC_TRY(pc_linear_curvature_multiply(&search->state->curvature, v, out, err));
  linear_search_centre(search, out);
  return PCAL_OK;
}

static void linear_search_precondition(void *user, double *v) {
  const pc_linear_search *search = user;
  pc_linear_curvature_precondition(&search->state->curvature, v);
  linear_search_centre(search, v);
}

static double linear_search_least(const pc_linear_search *search) {
  const double tenth = 0.1 / (double)search->pass.classes;
  return search->rough ? fmin(fmax(tenth, LINEAR_SEARCH_CLASS), LINEAR_SEARCH_ROUGH_CLASS)
                       : LINEAR_SEARCH_CLASS;
}

static pcal_status linear_search_truncated(pc_linear_search *search, int warm,
                                           pcal_error *err) {
  const pc_truncated_newton_problem problem = {
      search->pass.count,     search,
      linear_search_evaluate, linear_search_set_point,
      linear_search_multiply, linear_search_precondition};
  pc_truncated_newton_result result;
  search->state->curvature.settled = warm && search->state->curvature.settled;
  search->state->curvature.least = linear_search_least(search);
  search->state->curvature.off = search->off;
  search->state->curvature.shift = search->shift;
  PC_TRY(pc_truncated_newton(search->pass.rows->task->env, &problem, &search->limits,
                             search->at, &result, err));
  search->evaluations += result.products;
  linear_search_record(search, search->at, result.value, result.gradient, result.end);
  return PCAL_OK;
}

/* ---- Diagonal maps ---- */

static pcal_status linear_search_diagonal(pc_linear_search *search, pcal_error *err) {
  pc_truncated_newton_result result;
  PC_TRY(pc_vector_search(search->pass.rows, search->at, &result, err));
  search->evaluations = result.evaluations + result.products;
  linear_search_record(search, search->at, result.value, result.gradient, result.end);
  return PCAL_OK;
}

pcal_status pc_linear_search_run(pc_linear_search *search, int warm, pcal_error *err) {
  const int again = warm && search->end != PC_OPTIM_RUNNING;
  if (!search->pass.full)
    return linear_search_diagonal(search, err);
  search->evaluations = 0;
  if (!again)
    PC_TRY(linear_search_choose_start(search, err));
  PC_TRY((linear_search_is_newton(&search->pass)
              ? linear_search_newton
              : linear_search_truncated)(search, again, err));
  linear_search_centre(search, search->at);
  return PCAL_OK;
}

pcal_status pc_linear_search_score(pc_linear_search *search, double *out, pcal_error *err) {
  PC_TRY(pc_linear_pass_run(&search->pass, search->at, PC_LINEAR_VALUE, err));
  *out = search->pass.value;
  return PCAL_OK;
}
