/* Search:
 *   1. From the start or from 0, whichever is better.  The objective is convex.
 *   2. Up to PC_LINEAR_NEWTON classes by Newton's method with all second derivatives; warm
 *      searches use old ones as long as they serve.  Beyond, by truncated Newton steps
 *      (linear_curvature.h).  Diagonal maps: see vector_search.c.
 *   3. A change that is the same for all classes does not show without a penalty; it is taken
 *      out of gradients and of the result, which makes that the smallest.
 * Accuracy: gradients of 1e-13 with all second derivatives, otherwise of 1e-9, in units in
 * which features are about 1.   Cost: about ten passes with second derivatives, or some dozens.
 */
#include "calibrators/linear/linear_search.h"

#include <math.h>
#include <string.h>

#include "calibrators/linear/linear_curvature.h"
#include "calibrators/linear/vector_search.h"
#include "kernels/lane_math.h"
#include "optim/newton.h"
#include "optim/truncated_newton.h"

static int linear_fit_is_newton(const pc_linear_pass *pass) {
  return pass->classes <= PC_LINEAR_NEWTON;
}

/* What a search keeps between runs. */
struct pc_linear_search_state {
  pc_newton newton;
  pc_linear_curvature curvature;
};

static pcal_status linear_fit_tools_new(pc_linear_search *search, pcal_error *err) {
  const pcal_env *env = search->pass.rows->task->env;
  const size_t n = search->pass.count;
  search->tools = pc_alloc(env, 1, sizeof *search->tools);
  if (search->tools == NULL)
    return pc_fail_memory(err, "preparing a search");
  struct pc_linear_search_state *tools = search->tools;
  return linear_fit_is_newton(&search->pass)
             ? pc_newton_new(env, n, search->at, NULL, &search->limits, &tools->newton, err)
             : pc_linear_curvature_new(&search->pass, &tools->curvature, err);
}

static pcal_status linear_fit_parameters_new(pc_linear_search *search, pcal_error *err) {
  search->at = pc_alloc(search->pass.rows->task->env, search->pass.count, sizeof *search->at);
  return search->at == NULL ? pc_fail_memory(err, "preparing a search") : PCAL_OK;
}

pcal_status pc_linear_search_new(const pc_fit_rows *rows, int full, int alone,
                                 pc_linear_search *out, pcal_error *err) {
  *out = (pc_linear_search){
      .pass = {.rows = rows, .classes = rows->classes, .count = 2 * rows->classes}};
  if (!full)
    return linear_fit_parameters_new(out, err);
  const int newton = linear_fit_is_newton(&out->pass);
  const unsigned want = PC_LINEAR_GRADIENT | (newton ? PC_LINEAR_HESSIAN : PC_LINEAR_VALUE);
  out->limits = newton ? (pc_optim_limits){1e-13, 1e-8, 300, 1e-8}
                       : (pc_optim_limits){1e-9, 1e-8, 3000, 1e-6};
  PC_TRY(pc_linear_pass_new(rows, want, alone, &out->pass, err));
  pcal_status status = linear_fit_parameters_new(out, err);
  if (status == PCAL_OK)
    status = linear_fit_tools_new(out, err);
  if (status != PCAL_OK)
    pc_linear_search_free(out);
  return status;
}

void pc_linear_search_free(pc_linear_search *search) {
  if (search->pass.rows == NULL)
    return;
  const pcal_env *env = search->pass.rows->task->env;
  if (search->tools != NULL) {
    pc_newton_free(&search->tools->newton);
    pc_linear_curvature_free(&search->tools->curvature);
  }
  pc_free(env, search->tools);
  pc_free(env, search->at);
  pc_linear_pass_free(&search->pass);
  *search = (pc_linear_search){0};
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
  if (linear_fit_is_newton(&search->pass))
    memcpy(search->tools->newton.hessian, other->tools->newton.hessian, n * n * sizeof(double));
}

/* ---- Objective ---- */

/* Takes the mean over classes out of the rows that no penalty holds. */
static void linear_fit_centre(const pc_linear_search *search, double *values) {
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

/* Weight of the square of parameter j, c. */
static double linear_fit_penalty(const pc_linear_search *search, size_t j, size_t c) {
  return j == search->pass.classes ? search->shift : j != c ? search->off : 0.0;
}

/* Mean log score and penalty at parameters; derivatives are left in the pass. */
static pcal_status linear_fit_look(pc_linear_search *search, const double *at, unsigned want,
                                   double *value, pcal_error *err) {
  pc_linear_pass *pass = &search->pass;
  const size_t k = pass->classes, n = pass->count;
  double penalty = 0.0;
  PC_TRY(pc_linear_pass_run(pass, at, want, err));
  search->evaluations++;
  linear_fit_centre(search, pass->gradient);
  for (size_t i = 0; i < n; i++) {
    const double weight = linear_fit_penalty(search, i / k, i % k);
    penalty += weight * at[i] * at[i];
    pass->gradient[i] += 2.0 * weight * at[i];
    if ((want & PC_LINEAR_HESSIAN) != 0)
      pass->hessian[i * n + i] += 2.0 * weight;
  }
  *value = pass->value + penalty;
  return PCAL_OK;
}

/* Begins at 0 when that is better than the start. */
static pcal_status linear_fit_choose_start(pc_linear_search *search, pcal_error *err) {
  const size_t n = search->pass.count;
  const double zero_score = pc_lane_log((double)search->pass.classes);
  double value = 0.0;
  linear_fit_centre(search, search->at);
  PC_TRY(linear_fit_look(search, search->at, PC_LINEAR_VALUE, &value, err));
  if (!(value <= zero_score))
    memset(search->at, 0, n * sizeof *search->at);
  return PCAL_OK;
}

static void linear_fit_note(pc_linear_search *search, const double *at, double value,
                            double gradient, pc_optim_end end) {
  if (at != search->at)
    memcpy(search->at, at, search->pass.count * sizeof *at);
  search->value = value;
  search->gradient = gradient;
  search->end = end;
}

/* ---- Newton ---- */

/* Second derivatives of the penalty: in an old Hessian it may have been another. */
static void linear_fit_update_penalty(pc_linear_search *search, pc_newton *newton) {
  const size_t k = search->pass.classes, n = search->pass.count;
  pc_linear_search known = {.pass = {.classes = k}};
  known.off = search->known_off;
  known.shift = search->known_shift;
  for (size_t i = 0; i < n; i++)
    newton->hessian[i * n + i] += 2.0 * (linear_fit_penalty(search, i / k, i % k) -
                                         linear_fit_penalty(&known, i / k, i % k));
  search->known_off = search->off;
  search->known_shift = search->shift;
}

static pcal_status linear_fit_newton(pc_linear_search *search, int warm, pcal_error *err) {
  pc_newton *newton = &search->tools->newton;
  double value = 0.0;
  newton->limits = search->limits;
  newton->frugal = warm;
  memcpy(newton->best, search->at, search->pass.count * sizeof *search->at);
  pc_newton_restart(newton);
  linear_fit_update_penalty(search, newton);
  while (newton->end == PC_OPTIM_RUNNING) {
    const unsigned want =
        PC_LINEAR_GRADIENT | (newton->wants_hessian ? PC_LINEAR_HESSIAN : PC_LINEAR_VALUE);
    PC_TRY(linear_fit_look(search, newton->at, want, &value, err));
    pc_newton_update(newton, value, search->pass.gradient,
                     newton->wants_hessian ? search->pass.hessian : NULL);
  }
  linear_fit_note(search, newton->best, newton->value, newton->gradient, newton->end);
  return PCAL_OK;
}

/* ---- Truncated Newton ---- */

static pcal_status linear_fit_evaluate(void *user, const double *at, double *value,
                                       double *gradient, pcal_error *err) {
  pc_linear_search *search = user;
  PC_TRY(linear_fit_look(search, at, PC_LINEAR_GRADIENT, value, err));
  memcpy(gradient, search->pass.gradient, search->pass.count * sizeof *gradient);
  return PCAL_OK;
}

static pcal_status linear_fit_settle(void *user, const double *at, pcal_error *err) {
  const pc_linear_search *search = user;
  return pc_linear_curvature_settle(&search->tools->curvature, at, err);
}

static pcal_status linear_fit_multiply(void *user, const double *v, double *out,
                                       pcal_error *err) {
  const pc_linear_search *search = user;
  PC_TRY(pc_linear_curvature_multiply(&search->tools->curvature, v, out, err));
  linear_fit_centre(search, out);
  return PCAL_OK;
}

static void linear_fit_precondition(void *user, double *v) {
  const pc_linear_search *search = user;
  pc_linear_curvature_precondition(&search->tools->curvature, v);
  linear_fit_centre(search, v);
}

static pcal_status linear_fit_truncated(pc_linear_search *search, int warm, pcal_error *err) {
  const pc_truncated_newton_problem problem = {search->pass.count,  search,
                                               linear_fit_evaluate, linear_fit_settle,
                                               linear_fit_multiply, linear_fit_precondition};
  pc_truncated_newton_result result;
  search->tools->curvature.settled = warm && search->tools->curvature.settled;
  search->tools->curvature.off = search->off;
  search->tools->curvature.shift = search->shift;
  PC_TRY(pc_truncated_newton(search->pass.rows->task->env, &problem, &search->limits,
                             search->at, &result, err));
  search->evaluations += result.products;
  linear_fit_note(search, search->at, result.value, result.gradient, result.end);
  return PCAL_OK;
}

/* ---- Diagonal maps ---- */

static pcal_status linear_fit_diagonal(pc_linear_search *search, pcal_error *err) {
  pc_truncated_newton_result result;
  PC_TRY(pc_vector_search(search->pass.rows, search->at, &result, err));
  search->evaluations = result.evaluations + result.products;
  linear_fit_note(search, search->at, result.value, result.gradient, result.end);
  return PCAL_OK;
}

pcal_status pc_linear_search_run(pc_linear_search *search, int warm, pcal_error *err) {
  const int again = warm && search->end != PC_OPTIM_RUNNING;
  if (!search->pass.full)
    return linear_fit_diagonal(search, err);
  search->evaluations = 0;
  if (!again)
    PC_TRY(linear_fit_choose_start(search, err));
  PC_TRY((linear_fit_is_newton(&search->pass) ? linear_fit_newton
                                              : linear_fit_truncated)(search, again, err));
  linear_fit_centre(search, search->at);
  return PCAL_OK;
}

pcal_status pc_linear_search_score(pc_linear_search *search, double *out, pcal_error *err) {
  PC_TRY(pc_linear_pass_run(&search->pass, search->at, PC_LINEAR_VALUE, err));
  *out = search->pass.value;
  return PCAL_OK;
}
