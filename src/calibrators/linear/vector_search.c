/* Search:
 *   1. With many rows, the minimum on a sample of them (vector_sample.h) is the start; with
 *      enough rows for a sample but too few for this many classes, the sample gives one slope
 *      for all classes.
 *   2. Without a sample, the start is the map that leaves scores unchanged, or 0 where that is
 *      better. The objective is convex.
 *   3. Truncated Newton steps (optim/truncated_newton.h).  An evaluation keeps the
 *      probabilities of all rows, so that products with the Hessian need no exponentials; the
 *      preconditioner of conjugate gradients is that of vector_preconditioner.h.
 *   4. If these make no progress, as with hardly more rows than parameters or with separated
 *      labels, L-BFGS with the same preconditioner, which is computed again after a few and
 *      after more steps.
 *   5. A change of b that is the same for all classes has no effect; it is removed.
 * Accuracy: a gradient of 1e-10, unless rounding prevents it, in units in which features are
 *           about 1.
 * Cost:     about six evaluations and a few dozen products, see vector_pass.c; eight bytes of
 *           memory for each score of kept rows. */
#include "calibrators/linear/vector_search.h"

#include <math.h>
#include <string.h>

#include "calibrators/linear/vector_pass.h"
#include "calibrators/linear/vector_preconditioner.h"
#include "calibrators/linear/vector_sample.h"
#include "kernels/lane_math.h"
#include "optim/dot.h"
#include "optim/lbfgs.h"

#define VECTOR_SEARCH_SAMPLE 1024 /* rows of a sample for one slope; the least for all slopes */
#define VECTOR_SEARCH_CLASS 100   /* rows for each class of a sample for all slopes */
#define VECTOR_SEARCH_MANY 4.0    /* a sample is drawn from at least this many times its rows */
#define VECTOR_SEARCH_QUICK 0.05  /* if gradients fall by this, the preconditioner is kept */

static const pc_optim_limits vector_search_limits = {1e-10, 1e-10, 120, 1e-8};
static const pc_optim_limits vector_search_patient = {1e-10, 1e-8, 3000, 1e-6};
static const unsigned vector_search_renewals[] = {
    4, 16, 64}; /* steps after which the preconditioner is renewed */
static const pc_optim_limits vector_search_rough = {2e-3, 2e-3, 60, 1e-2};

typedef struct vector_search {
  pc_vector_pass pass;
  pc_vector_preconditioner preconditioner;
  double *space;           /* parameters: temporary */
  double *place;           /* parameters of the last evaluation */
  int evaluated;           /* there was one */
  int has_class_variances; /* the last evaluation computed class variances */
  double gradient;         /* largest derivative where the last step began */
  int quick;               /* it fell by VECTOR_SEARCH_QUICK */
  const double
      *direction; /* search for one slope: the parameters are a multiple of it; or NULL */
} vector_search;

static pcal_status vector_search_new(const pc_fit_rows *rows, const pc_vector_sample *sample,
                                     vector_search *out, pcal_error *err) {
  const pcal_env *env = rows->task->env;
  *out = (vector_search){.gradient = INFINITY};
  PC_TRY(pc_vector_pass_new(rows, sample == NULL ? NULL : &sample->block,
                            sample == NULL ? rows->weight : sample->weight, &out->pass, err));
  PC_TRY(pc_vector_preconditioner_new(env, rows->classes, &out->preconditioner, err));
  out->place = pc_alloc(env, out->pass.count, 2 * sizeof *out->place);
  if (out->place == NULL)
    return pc_fail_memory(err, "preparing a search");
  out->space = out->place + out->pass.count;
  return PCAL_OK;
}

/* Subtracts the mean of b. */
static void vector_search_centre(size_t classes, double *values) {
  double mean = 0.0;
  for (size_t k = 0; k < classes; k++)
    mean += values[classes + k] / (double)classes;
  for (size_t k = 0; k < classes; k++)
    values[classes + k] -= mean;
}

static pcal_status vector_search_evaluate_pass(vector_search *fit, const double *at,
                                               pcal_error *err) {
  const size_t bytes = fit->pass.count * sizeof *at;
  if (fit->evaluated && memcmp(fit->place, at, bytes) == 0)
    return PCAL_OK;
  fit->evaluated = 0;
  memcpy(fit->place, at, bytes);
  fit->has_class_variances = !fit->quick && fit->direction == NULL;
  PC_TRY(pc_vector_pass_evaluate(&fit->pass, at, fit->has_class_variances, err));
  vector_search_centre(fit->pass.classes, fit->pass.gradient);
  fit->evaluated = 1;
  return PCAL_OK;
}

static pcal_status vector_search_evaluate(void *user, const double *at, double *value,
                                          double *gradient, pcal_error *err) {
  vector_search *fit = user;
  PC_TRY(vector_search_evaluate_pass(fit, at, err));
  *value = fit->pass.value;
  memcpy(gradient, fit->pass.gradient, fit->pass.count * sizeof *gradient);
  return PCAL_OK;
}

static pcal_status vector_search_set_point(void *user, const double *at, pcal_error *err) {
  vector_search *fit = user;
  PC_TRY(vector_search_evaluate_pass(fit, at, err));
  const double before = fit->gradient;
  fit->gradient = 0.0;
  for (size_t i = 0; i < fit->pass.count; i++)
    fit->gradient = fmax(fit->gradient, fabs(fit->pass.gradient[i]));
  fit->quick = fit->gradient <= VECTOR_SEARCH_QUICK * before && before < INFINITY;
  if (fit->has_class_variances)
    pc_vector_preconditioner_set(&fit->preconditioner, fit->pass.class_variances);
  return PCAL_OK;
}

static pcal_status vector_search_multiply(void *user, const double *v, double *out,
                                          pcal_error *err) {
  vector_search *fit = user;
  PC_TRY(pc_vector_pass_multiply(&fit->pass, v, out, err));
  vector_search_centre(fit->pass.classes, out);
  return PCAL_OK;
}

static void vector_search_precondition(void *user, double *v) {
  const vector_search *fit = user;
  pc_vector_preconditioner_apply(&fit->preconditioner, v);
  vector_search_centre(fit->pass.classes, v);
}

static pcal_status vector_search_run(vector_search *fit, const pc_optim_limits *limits,
                                     double *at, pc_truncated_newton_result *out,
                                     pcal_error *err) {
  const pc_truncated_newton_problem problem = {
      fit->pass.count,        fit,
      vector_search_evaluate, vector_search_set_point,
      vector_search_multiply, vector_search_precondition};
  return pc_truncated_newton(fit->pass.rows->task->env, &problem, limits, at, out, err);
}

/* ---- L-BFGS ---- */

static void vector_search_lbfgs_precondition(void *user, double *v) {
  const vector_search *fit = user;
  pc_vector_preconditioner_apply(&fit->preconditioner, v);
}

/* Computes the preconditioner at the best point. */
static pcal_status vector_search_renew(vector_search *fit, pc_lbfgs *lbfgs, pcal_error *err) {
  fit->quick = fit->evaluated = 0;
  PC_TRY(vector_search_set_point(fit, lbfgs->best, err));
  fit->quick = 1;
  pc_lbfgs_restart(lbfgs);
  return PCAL_OK;
}

/* L-BFGS, with a new preconditioner now and then. */
static pcal_status vector_search_walk(vector_search *fit, pc_lbfgs *lbfgs, pcal_error *err) {
  const size_t last = sizeof vector_search_renewals / sizeof *vector_search_renewals;
  size_t renewals = 0;
  PC_TRY(vector_search_renew(fit, lbfgs, err));
  while (lbfgs->end == PC_OPTIM_RUNNING) {
    PC_TRY(vector_search_evaluate_pass(fit, lbfgs->at, err));
    pc_lbfgs_update(lbfgs, fit->pass.value, fit->pass.gradient);
    if (renewals == last || lbfgs->steps < vector_search_renewals[renewals] ||
        lbfgs->end != PC_OPTIM_RUNNING)
      continue;
    renewals++;
    PC_TRY(vector_search_renew(fit, lbfgs, err));
  }
  return PCAL_OK;
}

/* Takes the result of L-BFGS if it is better. */
static void vector_search_take(const pc_lbfgs *lbfgs, double *at,
                               pc_truncated_newton_result *out) {
  out->evaluations += lbfgs->evaluations;
  if (!(lbfgs->value <= out->value))
    return;
  memcpy(at, lbfgs->best, lbfgs->count * sizeof *at);
  out->value = lbfgs->value;
  out->gradient = lbfgs->gradient;
  out->end = lbfgs->end;
}

/* Searches from `from` by L-BFGS, after truncated Newton steps made no progress. */
static pcal_status vector_search_patiently(vector_search *fit, const double *from, double *at,
                                           pc_truncated_newton_result *out, pcal_error *err) {
  pc_lbfgs lbfgs;
  PC_TRY(pc_lbfgs_new(fit->pass.rows->task->env, fit->pass.count, from, &vector_search_patient,
                      &lbfgs, err));
  lbfgs.precondition = vector_search_lbfgs_precondition;
  lbfgs.user = fit;
  PC_TRY(vector_search_walk(fit, &lbfgs, err));
  vector_search_take(&lbfgs, at, out);
  return PCAL_OK;
}

/* ---- One slope for all classes ---- */

static pcal_status vector_search_go(vector_search *fit, double slope, pcal_error *err) {
  for (size_t i = 0; i < fit->pass.count; i++)
    fit->space[i] = slope * fit->direction[i];
  return vector_search_evaluate_pass(fit, fit->space, err);
}

static pcal_status vector_search_slope_evaluate(void *user, const double *slope, double *value,
                                                double *gradient, pcal_error *err) {
  vector_search *fit = user;
  PC_TRY(vector_search_go(fit, *slope, err));
  *value = fit->pass.value;
  *gradient = pc_dot(fit->pass.gradient, fit->direction, fit->pass.count);
  return PCAL_OK;
}

static pcal_status vector_search_slope_set_point(void *user, const double *slope,
                                                 pcal_error *err) {
  return vector_search_go(user, *slope, err);
}

static pcal_status vector_search_slope_multiply(void *user, const double *v, double *out,
                                                pcal_error *err) {
  vector_search *fit = user;
  PC_TRY(pc_vector_pass_multiply(&fit->pass, fit->direction, fit->space, err));
  *out = *v * pc_dot(fit->space, fit->direction, fit->pass.count);
  return PCAL_OK;
}

static void vector_search_slope_precondition(void *user, double *v) {
  (void)user;
  (void)v;
}

/* Scales `at` by the best factor. */
static pcal_status vector_search_slope(vector_search *fit, double *at, pcal_error *err) {
  const pc_truncated_newton_problem problem = {1,
                                               fit,
                                               vector_search_slope_evaluate,
                                               vector_search_slope_set_point,
                                               vector_search_slope_multiply,
                                               vector_search_slope_precondition};
  pc_truncated_newton_result result;
  double slope = 1.0;
  fit->direction = at;
  PC_TRY(pc_truncated_newton(fit->pass.rows->task->env, &problem, &vector_search_rough, &slope,
                             &result, err));
  for (size_t i = 0; i < fit->pass.count; i++)
    at[i] *= slope;
  return PCAL_OK;
}

/* ---- The whole search ---- */

/* Moves `at` to the minimum on a sample, if there are enough rows for one. */
static pcal_status vector_search_sample(const pc_fit_rows *rows, double *at, pcal_error *err) {
  const double most = pc_vector_sample_population(rows) / VECTOR_SEARCH_MANY;
  const size_t classes = VECTOR_SEARCH_CLASS * rows->classes;
  const size_t all = classes < VECTOR_SEARCH_SAMPLE ? VECTOR_SEARCH_SAMPLE : classes;
  const int all_slopes = (double)all <= most;
  pc_vector_sample sample;
  vector_search fit;
  pc_truncated_newton_result result;
  if (most < VECTOR_SEARCH_SAMPLE)
    return PCAL_OK;
  PC_TRY(pc_vector_sample_draw(rows, all_slopes ? all : VECTOR_SEARCH_SAMPLE, &sample, err));
  if (sample.block.count == 0)
    return PCAL_OK;
  PC_TRY(vector_search_new(rows, &sample, &fit, err));
  PC_TRY(all_slopes ? vector_search_run(&fit, &vector_search_rough, at, &result, err)
                    : vector_search_slope(&fit, at, err));
  pc_vector_pass_free(&fit.pass);
  pc_vector_sample_free(&sample);
  return PCAL_OK;
}

/* Replaces `at` by `first`, or by 0, where that is better. */
static pcal_status vector_search_choose(vector_search *fit, double *first, double *at,
                                        pcal_error *err) {
  const size_t n = fit->pass.count;
  const double zero = pc_lane_log((double)fit->pass.classes);
  PC_TRY(vector_search_evaluate_pass(fit, at, err));
  if (fit->pass.value <= zero)
    return PCAL_OK;
  PC_TRY(vector_search_evaluate_pass(fit, first, err));
  if (!(fit->pass.value <= zero))
    memset(first, 0, n * sizeof *first);
  memcpy(at, first, n * sizeof *at);
  return PCAL_OK;
}

/* first: the start without a sample. */
static pcal_status vector_search_all(vector_search *fit, double *first, double *at,
                                     pc_truncated_newton_result *out, pcal_error *err) {
  PC_TRY(vector_search_choose(fit, first, at, err));
  PC_TRY(vector_search_run(fit, &vector_search_limits, at, out, err));
  return out->end == PC_OPTIM_STUCK ? vector_search_patiently(fit, first, at, out, err)
                                    : PCAL_OK;
}

pcal_status pc_vector_search(const pc_fit_rows *rows, double *at,
                             pc_truncated_newton_result *out, pcal_error *err) {
  const size_t n = 2 * rows->classes;
  vector_search fit;
  double *first = pc_alloc(rows->task->env, n, sizeof *first);
  if (first == NULL)
    return pc_fail_memory(err, "preparing a search");
  vector_search_centre(rows->classes, at);
  memcpy(first, at, n * sizeof *first);
  PC_TRY(vector_search_sample(rows, at, err));
  PC_TRY(vector_search_new(rows, NULL, &fit, err));
  PC_TRY(vector_search_all(&fit, first, at, out, err));
  vector_search_centre(rows->classes, at);
  return PCAL_OK;
}
