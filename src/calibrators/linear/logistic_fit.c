/* Fits all regressions in parallel: one pass over the rows evaluates every class, and each has
 * its own Newton search (optim/newton.h).
 *
 * Formula, margin m = sum_i s_i x_i + b, p = 1 / (1 + exp(-m)), target t:
 *   loss = log(1 + exp(m)) - t m;  gradient = mean (p - t) x;  Hessian = mean p (1 - p) x x^T.
 * Targets: 1 and 0; smooth: (N+ + 1) / (N+ + 2) and 1 / (N- + 2), Platt 1999.
 * Start:   slopes 0 and the log-odds of the class.  A search that does not beat slopes 1, shift
 *          0 takes these.
 * Losses are added exactly, the other sums on a lattice (stats/lattice_sums.h). */
#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "calibrators/fit_pass.h"
#include "calibrators/fit_rows.h"
#include "calibrators/linear/logistic.h"
#include "kernels/dispatch.h"
#include "kernels/lane_math.h"
#include "optim/newton.h"
#include "stats/lattice_sums.h"

#define LOGISTIC_FIT_TERMS 3      /* most parameters of a regression */
#define LOGISTIC_FIT_SUMS (3 + 6) /* gradient and Hessian */

typedef struct logistic_fit_worker {
  pc_sum *loss;         /* of each column */
  pc_lattice_sums sums; /* gradient, then Hessian: of each column */
  double room;          /* weight that the lanes can still take */
  double *block;        /* holds the following arrays, of a row: */
  double *margin, *target, *residual, *spread, *losses, *shrunk, *product;
} logistic_fit_worker;

typedef struct logistic_fit_state {
  const pc_fit_task *task;
  const pc_logistic_settings *settings;
  pc_fit_rows rows;
  const pc_linear_kernels *kernels;
  size_t columns, terms;
  double *high, *low; /* targets of hits and misses */
  double *parameters; /* under evaluation: [term][column], shift last */
  double *lower;      /* lower bounds of one regression */
  logistic_fit_worker *workers;
  pc_newton *searches;
  double *values, *derivatives; /* of the last pass: [column], [sum][column] */
  unsigned passes;
} logistic_fit_state;

/* ---- Sums over rows ---- */

/* sums[k] += a[k] x_i[k] x_j[k]; the last term's x is 1. */
static void logistic_fit_add_product(const logistic_fit_state *s, logistic_fit_worker *w,
                                     double *lanes, const double *a, size_t i, size_t j,
                                     double weight) {
  const size_t k = s->columns;
  const double *left = i + 1 < s->terms ? w->shrunk + i * k : NULL;
  const double *right = j + 1 < s->terms ? w->shrunk + j * k : NULL;
  for (size_t c = 0; left != NULL && c < k; c++)
    w->product[c] = a[c] * left[c];
  s->kernels->add(lanes, left == NULL ? a : w->product, right, k, weight);
}

/* Computes loss and derivatives of a row for every regression. */
static void logistic_fit_evaluate(const logistic_fit_state *s, logistic_fit_worker *w,
                                  const double *x, int32_t label) {
  const size_t k = s->columns;
  const double shrink = s->rows.shrink;
  for (size_t c = 0; c < k; c++) {
    w->margin[c] = s->parameters[(s->terms - 1) * k + c];
    w->target[c] = s->low[c];
  }
  for (size_t i = 0; i + 1 < s->terms; i++)
    for (size_t c = 0; c < k; c++) {
      const double size = x[i * k + c] * shrink;
      w->margin[c] += s->parameters[i * k + c] * x[i * k + c];
      w->shrunk[i * k + c] = size > 1.0 ? 1.0 : size < -1.0 ? -1.0 : size;
    }
  const size_t hit = k == 1 ? 0 : (size_t)label;
  if (k > 1 || label == 1)
    w->target[hit] = s->high[hit];
  s->kernels->logistic(w->margin, w->target, k, w->residual, w->spread, w->losses);
}

static void logistic_fit_add_row(const logistic_fit_state *s, logistic_fit_worker *w,
                                 double weight, double lattice) {
  const size_t k = s->columns;
  double *lanes = w->sums.lanes;
  for (size_t c = 0; c < k; c++) {
    if (weight == 1.0)
      pc_sum_add(&w->loss[c], w->losses[c]);
    else
      pc_sum_add_product(&w->loss[c], weight, w->losses[c]);
  }
  for (size_t i = 0; i < s->terms; i++, lanes += k)
    logistic_fit_add_product(s, w, lanes, w->residual, s->terms - 1, i, lattice);
  for (size_t i = 0; i < s->terms; i++)
    for (size_t j = i; j < s->terms; j++, lanes += k)
      logistic_fit_add_product(s, w, lanes, w->spread, i, j, lattice);
}

static pcal_status logistic_fit_add(void *user, size_t worker, const pc_fit_block *block,
                                    pcal_error *err) {
  const logistic_fit_state *s = user;
  logistic_fit_worker *w = &s->workers[worker];
  (void)err;
  for (size_t i = 0; i < block->count; i++) {
    const double weight = block->weights == NULL ? 1.0 : block->weights[i];
    const int heavy = weight > PC_LATTICE_HEAVY;
    logistic_fit_evaluate(s, w, block->x + i * s->rows.width, block->labels[i]);
    if (heavy || weight > w->room) {
      pc_lattice_sums_empty(&w->sums, 1.0);
      w->room = PC_LATTICE_FULL;
    }
    logistic_fit_add_row(s, w, weight, heavy ? 1.0 : weight);
    if (heavy)
      pc_lattice_sums_empty(&w->sums, weight);
    else
      w->room -= weight;
  }
  return PCAL_OK;
}

static pcal_status logistic_fit_list(void *user, size_t worker, pc_fit_fields *fields,
                                     pcal_error *err) {
  const logistic_fit_state *s = user;
  logistic_fit_worker *w = &s->workers[worker];
  pc_lattice_sums_empty(&w->sums, 1.0);
  PC_TRY(pc_fit_field_sums(fields, w->loss, s->columns, err));
  return pc_fit_field_fixed(fields, w->sums.totals, w->sums.count, err);
}

static void logistic_fit_collect(logistic_fit_state *s) {
  const size_t k = s->columns, sums = s->workers[0].sums.count;
  logistic_fit_worker *first = &s->workers[0];
  pc_lattice_sums_empty(&first->sums, 1.0);
  for (size_t w = 1; w < s->rows.worker_count; w++) {
    logistic_fit_worker *other = &s->workers[w];
    pc_lattice_sums_empty(&other->sums, 1.0);
    pc_lattice_sums_merge(&first->sums, &other->sums);
    for (size_t c = 0; c < k; c++)
      pc_sum_merge(&first->loss[c], &other->loss[c]);
  }
  for (size_t c = 0; c < k; c++)
    s->values[c] = pc_sum_value(&first->loss[c]) / s->rows.weight;
  for (size_t i = 0; i < sums; i++)
    s->derivatives[i] = pc_lattice_sums_value(&first->sums, i) / s->rows.weight;
}

static pcal_status logistic_fit_pass(logistic_fit_state *s, pcal_error *err) {
  for (size_t w = 0; w < s->rows.worker_count; w++) {
    memset(s->workers[w].loss, 0, s->columns * sizeof *s->workers[w].loss);
    pc_lattice_sums_clear(&s->workers[w].sums);
    s->workers[w].room = PC_LATTICE_FULL;
  }
  PC_TRY(pc_fit_rows_run(&s->rows, logistic_fit_add, logistic_fit_list, s, err));
  logistic_fit_collect(s);
  s->passes++;
  return PCAL_OK;
}

/* ---- Searches ---- */

/* Derivatives of one regression, with the scaling of features undone. */
static void logistic_fit_derivatives(const logistic_fit_state *s, size_t column,
                                     double gradient[LOGISTIC_FIT_TERMS],
                                     double hessian[LOGISTIC_FIT_TERMS * LOGISTIC_FIT_TERMS]) {
  const size_t k = s->columns, n = s->terms;
  const double *at = s->derivatives + column;
  double factor[LOGISTIC_FIT_TERMS];
  for (size_t i = 0; i < n; i++, at += k) {
    factor[i] = i + 1 < n ? s->rows.shrink : 1.0;
    gradient[i] = *at / factor[i];
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = i; j < n; j++, at += k)
      hessian[i * n + j] = *at / (factor[i] * factor[j]);
}

/* Passes the results of a pass to the searches. */
static void logistic_fit_update(logistic_fit_state *s) {
  double gradient[LOGISTIC_FIT_TERMS], hessian[LOGISTIC_FIT_TERMS * LOGISTIC_FIT_TERMS];
  for (size_t c = 0; c < s->columns; c++) {
    if (s->searches[c].end != PC_OPTIM_RUNNING)
      continue;
    logistic_fit_derivatives(s, c, gradient, hessian);
    pc_newton_update(&s->searches[c], s->values[c], gradient, hessian);
  }
}

/* Sets the parameters that the searches ask for; returns 0 if all have ended. */
static int logistic_fit_next(logistic_fit_state *s) {
  int running = 0;
  for (size_t c = 0; c < s->columns; c++) {
    const pc_newton *search = &s->searches[c];
    const int on = search->end == PC_OPTIM_RUNNING;
    for (size_t i = 0; i < s->terms; i++)
      s->parameters[i * s->columns + c] = on ? search->at[i] : search->best[i];
    running |= on;
  }
  return running;
}

static double logistic_fit_total(const logistic_fit_state *s) {
  double sum = 0.0;
  for (size_t c = 0; c < s->columns; c++)
    sum += s->values[c];
  return sum;
}

/* The log-odds of the class, smoothed as the targets. */
static double logistic_fit_odds(const logistic_fit_state *s, size_t column) {
  const double hits = s->rows.class_weight[s->columns == 1 ? 1 : column];
  return pc_lane_log((hits + 1.0) / (s->rows.weight - hits + 1.0));
}

static pcal_status logistic_fit_begin(logistic_fit_state *s, pcal_error *err) {
  static const pc_optim_limits limits = {1e-12, 1e-8, 200, 1e-9};
  const pcal_env *env = s->task->env;
  for (size_t i = 0; i < s->terms; i++)
    s->lower[i] = i + 1 < s->terms ? 0.0 : -INFINITY;
  for (size_t c = 0; c < s->columns; c++) {
    double start[LOGISTIC_FIT_TERMS] = {0.0};
    start[s->terms - 1] = logistic_fit_odds(s, c);
    PC_TRY(pc_newton_new(env, s->terms, start, s->settings->bounded ? s->lower : NULL, &limits,
                         &s->searches[c], err));
  }
  return PCAL_OK;
}

static void logistic_fit_set_targets(logistic_fit_state *s) {
  for (size_t c = 0; c < s->columns; c++) {
    const double hits = s->rows.class_weight[s->columns == 1 ? 1 : c];
    s->high[c] = s->settings->smooth ? (hits + 1.0) / (hits + 2.0) : 1.0;
    s->low[c] = s->settings->smooth ? 1.0 / (s->rows.weight - hits + 2.0) : 0.0;
  }
}

/* The objective with slopes 1 and shift 0, for each regression and in total. */
static pcal_status logistic_fit_before(logistic_fit_state *s, double *unchanged,
                                       pcal_error *err) {
  const double unit = ldexp(1.0, s->rows.exponent);
  for (size_t i = 0; i < s->terms; i++)
    for (size_t c = 0; c < s->columns; c++)
      s->parameters[i * s->columns + c] = i + 1 < s->terms ? unit : 0.0;
  PC_TRY(logistic_fit_pass(s, err));
  memcpy(unchanged, s->values, s->columns * sizeof *unchanged);
  s->task->calibrator->fit.before = logistic_fit_total(s);
  return PCAL_OK;
}

/* ---- Outcome ---- */

static void logistic_fit_warn(const logistic_fit_state *s, size_t endless, size_t stuck) {
  pc_fit_info *fit = &s->task->calibrator->fit;
  size_t absent = 0;
  if (s->settings->feature == PC_FEATURE_LOG_ODDS &&
      s->task->calibrator->layout.kind != PCAL_LOGIT) {
    pc_fit_warn(fit, "probabilities were given: a and b act on their log-odds");
    fit->warned |= PC_WARNED_PROBABILITIES;
  }
  for (size_t c = 0; c < s->rows.classes; c++)
    absent += s->rows.class_weight[c] <= 0.0;
  if (absent > 0) {
    pc_fit_warn(fit, "%zu class%s never occur%s among the labels, so %s probabilities go to 0",
                absent, absent == 1 ? "" : "es", absent == 1 ? "s" : "",
                absent == 1 ? "its" : "their");
    fit->warned |= PC_WARNED_ABSENT_CLASS;
  }
  if (endless > 0)
    pc_fit_warn(fit,
                "%zu of %zu regressions have no finite best parameters; they stopped where the "
                "gradient vanishes",
                endless, s->columns);
  if (stuck > 0)
    pc_fit_warn(fit, "%zu of %zu regressions ended before the gradient vanished", stuck,
                s->columns);
}

static void logistic_fit_take(const logistic_fit_state *s, const double *unchanged,
                              pc_logistic *model) {
  const double unit = ldexp(1.0, -s->rows.exponent);
  pc_fit_info *fit = &s->task->calibrator->fit;
  size_t endless = 0, stuck = 0;
  fit->after = fit->gradient = 0.0;
  for (size_t c = 0; c < s->columns; c++) {
    const pc_newton *search = &s->searches[c];
    const int better = search->value < unchanged[c];
    for (size_t i = 0; i < model->slopes; i++)
      model->slope[i][c] = better ? search->best[i] * unit : 1.0;
    model->shift[c] = better ? search->best[model->slopes] : 0.0;
    fit->after += better ? search->value : unchanged[c];
    fit->gradient = fmax(fit->gradient, search->gradient);
    endless += search->end == PC_OPTIM_AT_INFINITY;
    stuck += search->end == PC_OPTIM_STUCK;
  }
  fit->searched = 1;
  fit->iterations = s->passes + 1;
  fit->status = endless + stuck > 0 ? PC_FIT_STOPPED : PC_FIT_CONVERGED;
  logistic_fit_warn(s, endless, stuck);
}

/* ---- The whole fit ---- */

static pcal_status logistic_fit_worker_new(const logistic_fit_state *s, logistic_fit_worker *w,
                                           pcal_error *err) {
  const pcal_env *env = s->task->env;
  const size_t k = s->columns;
  w->loss = pc_alloc(env, k, sizeof *w->loss);
  w->block = pc_alloc(env, k, 8 * sizeof *w->block);
  if (w->loss == NULL || w->block == NULL)
    return pc_fail_memory(err, "preparing workers");
  w->margin = w->block;
  w->target = w->block + k;
  w->residual = w->block + 2 * k;
  w->spread = w->block + 3 * k;
  w->losses = w->block + 4 * k;
  w->product = w->block + 5 * k;
  w->shrunk = w->block + 6 * k;
  return pc_lattice_sums_new(env, k * (s->terms + s->terms * (s->terms + 1) / 2), &w->sums,
                             err);
}

static pcal_status logistic_fit_prepare(logistic_fit_state *s, pcal_error *err) {
  const pcal_env *env = s->task->env;
  const size_t k = s->columns;
  s->high = pc_alloc(env, k, (3 + LOGISTIC_FIT_TERMS) * sizeof(double));
  s->lower = pc_alloc(env, LOGISTIC_FIT_TERMS, sizeof(double));
  s->derivatives = pc_alloc(env, k, LOGISTIC_FIT_SUMS * sizeof(double));
  s->searches = pc_alloc(env, k, sizeof *s->searches);
  s->workers = pc_alloc(env, s->rows.worker_count, sizeof *s->workers);
  if (s->high == NULL || s->lower == NULL || s->derivatives == NULL || s->searches == NULL ||
      s->workers == NULL)
    return pc_fail_memory(err, "preparing a search");
  s->low = s->high + k;
  s->values = s->high + 2 * k;
  s->parameters = s->high + 3 * k;
  for (size_t w = 0; w < s->rows.worker_count; w++)
    PC_TRY(logistic_fit_worker_new(s, &s->workers[w], err));
  return PCAL_OK;
}

static pcal_status logistic_fit_run(logistic_fit_state *s, pc_logistic *model,
                                    pcal_error *err) {
  PC_TRY(logistic_fit_prepare(s, err));
  logistic_fit_set_targets(s);
  PC_TRY(logistic_fit_begin(s, err));
  double *unchanged = pc_alloc(s->task->env, s->columns, sizeof *unchanged);
  if (unchanged == NULL)
    return pc_fail_memory(err, "preparing a search");
  PC_TRY(logistic_fit_before(s, unchanged, err));
  while (logistic_fit_next(s)) {
    PC_TRY(logistic_fit_pass(s, err));
    logistic_fit_update(s);
  }
  logistic_fit_take(s, unchanged, model);
  return PCAL_OK;
}

pcal_status pc_logistic_fit(const pc_fit_task *task, const pc_logistic_settings *settings,
                            pcal_error *err) {
  pc_logistic *model = NULL;
  logistic_fit_state state = {.task = task,
                              .settings = settings,
                              .kernels = pc_kernels_best()->linear,
                              .columns = task->calibrator->layout.columns,
                              .terms = settings->slopes + 1};
  PC_TRY(pc_logistic_new(task->calibrator, settings, &model, err));
  PC_TRY(pc_fit_rows_open(task, settings->feature, PC_FIT_PLAIN, &state.rows, err));
  PC_TRY(pc_fit_check_rows(task, state.terms * state.columns, "temperature", err));
  return logistic_fit_run(&state, model, err);
}
