/* Search:
 *   1. Where rows are many, the minimum on a sample of them (vector_sample.h) is the start;
 *      where they are many but not for so many classes, that of one slope for all classes.
 *   2. From there, or from the map that leaves scores alone where there is no sample, or from 0
 *      where that is better.  The objective is convex.
 *   3. Truncated Newton steps (optim/truncated_newton.h).  An evaluation keeps the probabilities of
 *      all rows, so that products with the Hessian need no exponentials; the metric
 *      of conjugate gradients is that of vector_preconditioner.h.
 *   4. Where that makes no headway, as with hardly more rows than parameters or labels that are
 *      separated, by L-BFGS in the same metric, which is found again after a few and after more
 *      steps.
 *   5. A change of b that is the same for all classes does not show; it is taken out.
 * Accuracy: a gradient of 1e-10, where rounding allows it, in units in which features are about
 * 1.   Cost: about six evaluations and some dozens of products, see vector_pass.c; eight
 * bytes of memory for each score of rows that are kept. */
#include "calibrators/linear/vector_search.h"

#include <math.h>
#include <string.h>

#include "calibrators/linear/vector_pass.h"
#include "calibrators/linear/vector_preconditioner.h"
#include "calibrators/linear/vector_sample.h"
#include "kernels/lane_math.h"
#include "optim/dot.h"
#include "optim/lbfgs.h"

#define DIAGONAL_FIT_SAMPLE 1024 /* rows that tell one slope; the least for all of them */
#define DIAGONAL_FIT_CLASS 100   /* for each class, in order to tell all */
#define DIAGONAL_FIT_MANY 4.0    /* times as many rows are worth a sample */
#define DIAGONAL_FIT_QUICK 0.05  /* where gradients fall like that, the metric stays */

static const pc_optim_limits diagonal_fit_limits = {1e-10, 1e-10, 120, 1e-8};
static const pc_optim_limits diagonal_fit_patient = {1e-10, 1e-8, 3000, 1e-6};
static const unsigned diagonal_fit_renewals[] = {4, 16, 64}; /* steps before a new metric */
static const pc_optim_limits diagonal_fit_rough = {2e-3, 2e-3, 60, 1e-2};

typedef struct diagonal_fit {
  pc_vector_pass pass;
  pc_vector_preconditioner metric;
  double *space;     /* parameters */
  double *place;     /* of the last evaluation */
  int known;         /* there was one */
  int spread;        /* it was asked for the spread */
  double gradient;   /* size of the last where a step began */
  int quick;         /* it had fallen a lot */
  const double *way; /* of a search for one slope: w and b are a multiple of it */
} diagonal_fit;

static pcal_status diagonal_fit_new(const pc_fit_rows *rows, const pc_vector_sample *sample,
                                    diagonal_fit *out, pcal_error *err) {
  const pcal_env *env = rows->task->env;
  *out = (diagonal_fit){.gradient = INFINITY};
  PC_TRY(pc_vector_pass_new(rows, sample == NULL ? NULL : &sample->block,
                            sample == NULL ? rows->weight : sample->weight, &out->pass, err));
  PC_TRY(pc_vector_preconditioner_new(env, rows->classes, &out->metric, err));
  out->place = pc_alloc(env, out->pass.count, 2 * sizeof *out->place);
  if (out->place == NULL)
    return pc_fail_memory(err, "preparing a search");
  out->space = out->place + out->pass.count;
  return PCAL_OK;
}

static void diagonal_fit_free(const pcal_env *env, diagonal_fit *fit) {
  pc_vector_pass_free(&fit->pass);
  pc_vector_preconditioner_free(env, &fit->metric);
  pc_free(env, fit->place);
}

/* Takes the mean out of b. */
static void diagonal_fit_centre(size_t classes, double *values) {
  double mean = 0.0;
  for (size_t k = 0; k < classes; k++)
    mean += values[classes + k] / (double)classes;
  for (size_t k = 0; k < classes; k++)
    values[classes + k] -= mean;
}

static pcal_status diagonal_fit_look(diagonal_fit *fit, const double *at, pcal_error *err) {
  const size_t bytes = fit->pass.count * sizeof *at;
  if (fit->known && memcmp(fit->place, at, bytes) == 0)
    return PCAL_OK;
  fit->known = 0;
  memcpy(fit->place, at, bytes);
  fit->spread = !fit->quick && fit->way == NULL;
  PC_TRY(pc_vector_pass_evaluate(&fit->pass, at, fit->spread, err));
  diagonal_fit_centre(fit->pass.classes, fit->pass.gradient);
  fit->known = 1;
  return PCAL_OK;
}

static pcal_status diagonal_fit_evaluate(void *user, const double *at, double *value,
                                         double *gradient, pcal_error *err) {
  diagonal_fit *fit = user;
  PC_TRY(diagonal_fit_look(fit, at, err));
  *value = fit->pass.value;
  memcpy(gradient, fit->pass.gradient, fit->pass.count * sizeof *gradient);
  return PCAL_OK;
}

static pcal_status diagonal_fit_settle(void *user, const double *at, pcal_error *err) {
  diagonal_fit *fit = user;
  PC_TRY(diagonal_fit_look(fit, at, err));
  const double before = fit->gradient;
  fit->gradient = 0.0;
  for (size_t i = 0; i < fit->pass.count; i++)
    fit->gradient = fmax(fit->gradient, fabs(fit->pass.gradient[i]));
  fit->quick = fit->gradient <= DIAGONAL_FIT_QUICK * before && before < INFINITY;
  if (fit->spread)
    pc_vector_preconditioner_set(&fit->metric, fit->pass.spread);
  return PCAL_OK;
}

static pcal_status diagonal_fit_multiply(void *user, const double *v, double *out,
                                         pcal_error *err) {
  diagonal_fit *fit = user;
  PC_TRY(pc_vector_pass_multiply(&fit->pass, v, out, err));
  diagonal_fit_centre(fit->pass.classes, out);
  return PCAL_OK;
}

static void diagonal_fit_precondition(void *user, double *v) {
  const diagonal_fit *fit = user;
  pc_vector_preconditioner_apply(&fit->metric, v);
  diagonal_fit_centre(fit->pass.classes, v);
}

static pcal_status diagonal_fit_run(diagonal_fit *fit, const pc_optim_limits *limits,
                                    double *at, pc_truncated_newton_result *out,
                                    pcal_error *err) {
  const pc_truncated_newton_problem problem = {
      fit->pass.count,       fit,
      diagonal_fit_evaluate, diagonal_fit_settle,
      diagonal_fit_multiply, diagonal_fit_precondition};
  return pc_truncated_newton(fit->pass.rows->task->env, &problem, limits, at, out, err);
}

/* ---- L-BFGS ---- */

static void diagonal_fit_metric(void *user, double *v) {
  const diagonal_fit *fit = user;
  pc_vector_preconditioner_apply(&fit->metric, v);
}

/* Finds the metric at the best place. */
static pcal_status diagonal_fit_renew(diagonal_fit *fit, pc_lbfgs *lbfgs, pcal_error *err) {
  fit->quick = fit->known = 0;
  PC_TRY(diagonal_fit_settle(fit, lbfgs->best, err));
  fit->quick = 1;
  pc_lbfgs_restart(lbfgs);
  return PCAL_OK;
}

static pcal_status diagonal_fit_walk(diagonal_fit *fit, pc_lbfgs *lbfgs, pcal_error *err) {
  const size_t last = sizeof diagonal_fit_renewals / sizeof *diagonal_fit_renewals;
  size_t renewals = 0;
  PC_TRY(diagonal_fit_renew(fit, lbfgs, err));
  while (lbfgs->end == PC_OPTIM_RUNNING) {
    PC_TRY(diagonal_fit_look(fit, lbfgs->at, err));
    pc_lbfgs_update(lbfgs, fit->pass.value, fit->pass.gradient);
    if (renewals == last || lbfgs->steps < diagonal_fit_renewals[renewals] ||
        lbfgs->end != PC_OPTIM_RUNNING)
      continue;
    renewals++;
    PC_TRY(diagonal_fit_renew(fit, lbfgs, err));
  }
  return PCAL_OK;
}

/* Takes what a search has found, if that is better. */
static void diagonal_fit_take(const pc_lbfgs *lbfgs, double *at,
                              pc_truncated_newton_result *out) {
  out->evaluations += lbfgs->evaluations;
  if (!(lbfgs->value <= out->value))
    return;
  memcpy(at, lbfgs->best, lbfgs->count * sizeof *at);
  out->value = lbfgs->value;
  out->gradient = lbfgs->gradient;
  out->end = lbfgs->end;
}

/* From another place, where conjugate gradients made no headway to `at`. */
static pcal_status diagonal_fit_patiently(diagonal_fit *fit, const double *from, double *at,
                                          pc_truncated_newton_result *out, pcal_error *err) {
  pc_lbfgs lbfgs;
  PC_TRY(pc_lbfgs_new(fit->pass.rows->task->env, fit->pass.count, from, &diagonal_fit_patient,
                      &lbfgs, err));
  lbfgs.metric = diagonal_fit_metric;
  lbfgs.user = fit;
  const pcal_status status = diagonal_fit_walk(fit, &lbfgs, err);
  if (status == PCAL_OK)
    diagonal_fit_take(&lbfgs, at, out);
  pc_lbfgs_free(&lbfgs);
  return status;
}

/* ---- One slope for all classes ---- */

static pcal_status diagonal_fit_go(diagonal_fit *fit, double slope, pcal_error *err) {
  for (size_t i = 0; i < fit->pass.count; i++)
    fit->space[i] = slope * fit->way[i];
  return diagonal_fit_look(fit, fit->space, err);
}

static pcal_status diagonal_fit_slope_evaluate(void *user, const double *slope, double *value,
                                               double *gradient, pcal_error *err) {
  diagonal_fit *fit = user;
  PC_TRY(diagonal_fit_go(fit, *slope, err));
  *value = fit->pass.value;
  *gradient = pc_dot(fit->pass.gradient, fit->way, fit->pass.count);
  return PCAL_OK;
}

static pcal_status diagonal_fit_slope_settle(void *user, const double *slope, pcal_error *err) {
  return diagonal_fit_go(user, *slope, err);
}

static pcal_status diagonal_fit_slope_multiply(void *user, const double *v, double *out,
                                               pcal_error *err) {
  diagonal_fit *fit = user;
  PC_TRY(pc_vector_pass_multiply(&fit->pass, fit->way, fit->space, err));
  *out = *v * pc_dot(fit->space, fit->way, fit->pass.count);
  return PCAL_OK;
}

static void diagonal_fit_slope_precondition(void *user, double *v) {
  (void)user;
  (void)v;
}

/* Makes `at` the best multiple of itself. */
static pcal_status diagonal_fit_slope(diagonal_fit *fit, double *at, pcal_error *err) {
  const pc_truncated_newton_problem problem = {1,
                                               fit,
                                               diagonal_fit_slope_evaluate,
                                               diagonal_fit_slope_settle,
                                               diagonal_fit_slope_multiply,
                                               diagonal_fit_slope_precondition};
  pc_truncated_newton_result result;
  double slope = 1.0;
  fit->way = at;
  PC_TRY(pc_truncated_newton(fit->pass.rows->task->env, &problem, &diagonal_fit_rough, &slope,
                             &result, err));
  for (size_t i = 0; i < fit->pass.count; i++)
    at[i] *= slope;
  return PCAL_OK;
}

/* ---- All ---- */

/* The minimum on a sample, where there is one. */
static pcal_status diagonal_fit_sample(const pc_fit_rows *rows, double *at, pcal_error *err) {
  const double most = pc_vector_sample_population(rows) / DIAGONAL_FIT_MANY;
  const size_t classes = DIAGONAL_FIT_CLASS * rows->classes;
  const size_t all = classes < DIAGONAL_FIT_SAMPLE ? DIAGONAL_FIT_SAMPLE : classes;
  const int whole = (double)all <= most;
  pc_vector_sample sample = {.rows = NULL};
  diagonal_fit fit = {.known = 0};
  pc_truncated_newton_result result;
  if (most < DIAGONAL_FIT_SAMPLE)
    return PCAL_OK;
  PC_TRY(pc_vector_sample_draw(rows, whole ? all : DIAGONAL_FIT_SAMPLE, &sample, err));
  pcal_status status = PCAL_OK;
  if (sample.block.count > 0) {
    status = diagonal_fit_new(rows, &sample, &fit, err);
    if (status == PCAL_OK)
      status = whole ? diagonal_fit_run(&fit, &diagonal_fit_rough, at, &result, err)
                     : diagonal_fit_slope(&fit, at, err);
  }
  diagonal_fit_free(rows->task->env, &fit);
  pc_vector_sample_free(&sample);
  return status;
}

/* Goes to the first place, or to 0, where that is better. */
static pcal_status diagonal_fit_choose(diagonal_fit *fit, double *first, double *at,
                                       pcal_error *err) {
  const size_t n = fit->pass.count;
  const double zero = pc_lane_log((double)fit->pass.classes);
  PC_TRY(diagonal_fit_look(fit, at, err));
  if (fit->pass.value <= zero)
    return PCAL_OK;
  PC_TRY(diagonal_fit_look(fit, first, err));
  if (!(fit->pass.value <= zero))
    memset(first, 0, n * sizeof *first);
  memcpy(at, first, n * sizeof *at);
  return PCAL_OK;
}

/* first: where searches without a sample begin. */
static pcal_status diagonal_fit_all(diagonal_fit *fit, double *first, double *at,
                                    pc_truncated_newton_result *out, pcal_error *err) {
  PC_TRY(diagonal_fit_choose(fit, first, at, err));
  PC_TRY(diagonal_fit_run(fit, &diagonal_fit_limits, at, out, err));
  return out->end == PC_OPTIM_STUCK ? diagonal_fit_patiently(fit, first, at, out, err)
                                    : PCAL_OK;
}

pcal_status pc_vector_search(const pc_fit_rows *rows, double *at,
                             pc_truncated_newton_result *out, pcal_error *err) {
  const pcal_env *env = rows->task->env;
  const size_t n = 2 * rows->classes;
  diagonal_fit fit = {.known = 0};
  double *first = pc_alloc(env, n, sizeof *first);
  if (first == NULL)
    return pc_fail_memory(err, "preparing a search");
  diagonal_fit_centre(rows->classes, at);
  memcpy(first, at, n * sizeof *first);
  pcal_status status = diagonal_fit_sample(rows, at, err);
  if (status == PCAL_OK)
    status = diagonal_fit_new(rows, NULL, &fit, err);
  if (status == PCAL_OK)
    status = diagonal_fit_all(&fit, first, at, out, err);
  if (status == PCAL_OK)
    diagonal_fit_centre(rows->classes, at);
  diagonal_fit_free(env, &fit);
  pc_free(env, first);
  return status;
}
