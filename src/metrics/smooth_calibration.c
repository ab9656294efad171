/* A logistic regression of the outcome on a restricted cubic spline of the logit of the score.
 *
 * Formula:  logit P(y = 1) = b_0 + b_1 x + sum_j b_{j+1} s_j(x),  x = logit p,  knots t_1 .. t_k,
 *           s_j(x) = ((x - t_j)+^3 - (x - t_{k-1})+^3 (t_k - t_j) / (t_k - t_{k-1})
 *                     + (x - t_k)+^3 (t_{k-1} - t_j) / (t_k - t_{k-1})) / (t_k - t_1)^2
 *           by maximum likelihood; knots at quantiles of x.
 *           Band: logit rate -+ z sqrt(v' H^-1 v), H the Hessian, v the terms at x.
 * Why splines and not loess: the fit is a few sums over sorted scores, so it is the same for any
 * order of rows and takes a second for 10^6 of them; rates stay between 0 and 1; the band has a
 * closed form; and the spline is straight beyond its outer knots, where there are few rows.
 * Austin & Steyerberg found both to agree.
 * Edge cases:
 * (1) scores closer than 1e-6 to 0 or 1, and exactly 0 or 1, count as 1e-6 or 1 - 1e-6 here: one
 *     extreme score has little leverage;
 * (2) equal knots are joined; with fewer than three left the curve is a straight line on the
 *     logit scale, with one distinct score a constant;
 * (3) all outcomes the same: the curve is 0 or 1, without a band;
 * (4) if the scores separate the outcomes the fit grows without bound and stops when the rates
 *     are 0 and 1 up to 1e-9; there is no band then;
 * (5) more than 16384 distinct scores are joined in cells 1/256 wide on the logit scale (at
 *     their mean score), which changes rates by less than 1e-6.
 * Source: Harrell, Regression Modeling Strategies, 2015, chapter 2; Austin & Steyerberg,
 * Graphical assessment of internal and external calibration, Statistics in Medicine 2014. */
#include "metrics/smooth_calibration.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/elementary.h"
#include "kernels/softmax.h"
#include "metrics/logistic_recalibration.h"
#include "optim/cholesky.h"

#define SMOOTH_CLIP 1e-6
#define SMOOTH_STEPS 100
#define SMOOTH_HALVINGS 40
#define SMOOTH_NOISE 1e-12 /* relative rounding error of a log-likelihood */
#define SMOOTH_POINTS 16384
#define SMOOTH_CELLS 256.0 /* for each unit of the logit */
#define SMOOTH_TERMS PC_SMOOTH_KNOTS_MAX

/* ---- points ---- */

static double smooth_logit(double score) {
  return pc_log_odds(fmin(fmax(score, SMOOTH_CLIP), 1.0 - SMOOTH_CLIP));
}

/* The upper end of the cell of a score, as a score. */
static double smooth_cell_end(double score) {
  return pc_smooth_calibration_rate((floor(smooth_logit(score) * SMOOTH_CELLS) + 1.0) /
                                    SMOOTH_CELLS);
}

static void smooth_join(const pc_curve_table *table, pc_smooth_calibration *out) {
  const int joins = table->count > SMOOTH_POINTS;
  double end = 0.0, sum = 0.0;
  for (size_t i = 0; i < table->count; i++) {
    const double score = table->score[i], weight = table->weight[i];
    if (!(weight > 0.0))
      continue;
    if (!joins || out->count == 0 || score >= end) {
      out->points[out->count++] = (pc_smooth_point){0};
      end = joins ? smooth_cell_end(score) : 0.0;
      sum = 0.0;
    }
    pc_smooth_point *point = &out->points[out->count - 1];
    sum += weight * score;
    point->weight += weight;
    point->hits += table->hits[i];
    point->score = joins ? sum / point->weight : score;
  }
  for (size_t i = 0; i < out->count; i++)
    out->points[i].logit = smooth_logit(out->points[i].score);
}

/* ---- knots ---- */

/* The p-quantile of the logits, interpolated between rows, as if each row of weight w were w
 * rows. */
static double smooth_quantile(const pc_smooth_calibration *fit, double total, double p) {
  const double place = fmax(p * (total - 1.0), 0.0), below = floor(place);
  double seen = 0.0;
  size_t i = 0;
  while (i + 1 < fit->count && seen + fit->points[i].weight <= below)
    seen += fit->points[i++].weight;
  const double low = fit->points[i].logit;
  const int inside = seen + fit->points[i].weight > below + 1.0 || i + 1 == fit->count;
  return low + (place - below) * (inside ? 0.0 : fit->points[i + 1].logit - low);
}

/* Harrell's quantiles for 3 to 7 knots. */
static const double smooth_quantiles[][PC_SMOOTH_KNOTS_MAX] = {
    {0.1, 0.5, 0.9},
    {0.05, 0.35, 0.65, 0.95},
    {0.05, 0.275, 0.5, 0.725, 0.95},
    {0.05, 0.23, 0.41, 0.59, 0.77, 0.95},
    {0.025, 0.1833, 0.3417, 0.5, 0.6583, 0.8167, 0.975}};

static void smooth_place_knots(pc_smooth_calibration *fit, double total, size_t knots) {
  for (size_t k = 0; k < knots; k++) {
    const double at = smooth_quantile(fit, total, smooth_quantiles[knots - 3][k]);
    if (fit->knot_count == 0 || at > fit->knots[fit->knot_count - 1])
      fit->knots[fit->knot_count++] = at;
  }
  if (fit->knot_count < 3)
    fit->knot_count = 0;
  fit->terms = fit->count < 2 ? 1 : fit->knot_count < 3 ? 2 : fit->knot_count;
}

static double smooth_cube(double x) {
  return x > 0.0 ? x * x * x : 0.0;
}

double pc_smooth_calibration_rate(double sum) {
  double pair[2];
  pc_sigmoid_pair(sum, pair);
  return pair[1];
}

void pc_smooth_calibration_terms(const pc_smooth_calibration *fit, double x, double *out) {
  const double *t = fit->knots;
  const size_t k = fit->knot_count;
  out[0] = 1.0;
  if (fit->terms > 1)
    out[1] = x;
  for (size_t j = 0; j + 2 < fit->terms; j++) {
    const double last = t[k - 1] - t[k - 2], width = t[k - 1] - t[0];
    out[j + 2] =
        (smooth_cube(x - t[j]) - smooth_cube(x - t[k - 2]) * ((t[k - 1] - t[j]) / last) +
         smooth_cube(x - t[k - 1]) * ((t[k - 2] - t[j]) / last)) /
        (width * width);
  }
}

/* ---- fit ---- */

/* Coefficients, with the log-likelihood and its derivatives there. */
typedef struct smooth_state {
  double coefficient[SMOOTH_TERMS], likelihood;
  double gradient[SMOOTH_TERMS], hessian[SMOOTH_TERMS * SMOOTH_TERMS]; /* upper triangle */
} smooth_state;

static void smooth_sum(pc_smooth_calibration *fit, smooth_state *at) {
  const size_t n = fit->terms;
  at->likelihood = 0.0;
  memset(at->gradient, 0, sizeof at->gradient);
  memset(at->hessian, 0, sizeof at->hessian);
  for (size_t i = 0; i < fit->count; i++) {
    pc_smooth_point *point = &fit->points[i];
    double v[SMOOTH_TERMS], t = 0.0, pair[2];
    pc_smooth_calibration_terms(fit, point->logit, v);
    for (size_t j = 0; j < n; j++)
      t += at->coefficient[j] * v[j];
    const double soft = pc_sigmoid_pair(t, pair); /* log(1 + exp(-|t|)) */
    const double gap = point->hits - point->weight * pair[1];
    const double spread = point->weight * pair[0] * pair[1];
    point->rate = pair[1];
    at->likelihood -= point->hits * (soft + fmax(-t, 0.0)) +
                      (point->weight - point->hits) * (soft + fmax(t, 0.0));
    for (size_t j = 0; j < n; j++) {
      at->gradient[j] += gap * v[j];
      for (size_t l = j; l < n; l++)
        at->hessian[j * n + l] += spread * v[j] * v[l];
    }
  }
}

/* Factors the Hessian, with ridge times its diagonal added.  Returns 0 if it is singular. */
static int smooth_factor(const smooth_state *at, size_t n, double ridge, double *factor) {
  memcpy(factor, at->hessian, n * n * sizeof *factor);
  double least = 0.0;
  for (size_t j = 0; j < n; j++) {
    factor[j * n + j] *= 1.0 + ridge;
    least = fmax(least, factor[j * n + j]);
  }
  return least > 0.0 && pc_cholesky_factor(factor, n, 1e-13 * least);
}

/* One Newton step, halved until the likelihood does not decrease.  Returns 0 if there is none. */
static int smooth_step(pc_smooth_calibration *fit, smooth_state *at) {
  double factor[SMOOTH_TERMS * SMOOTH_TERMS], move[SMOOTH_TERMS], share = 1.0;
  if (!smooth_factor(at, fit->terms, 0.0, factor) &&
      !smooth_factor(at, fit->terms, 1e-6, factor))
    return 0;
  memcpy(move, at->gradient, sizeof move);
  pc_cholesky_solve(factor, fit->terms, move);
  for (int i = 0; i < SMOOTH_HALVINGS; i++, share *= 0.5) {
    smooth_state next = *at;
    for (size_t j = 0; j < fit->terms; j++)
      next.coefficient[j] += share * move[j];
    smooth_sum(fit, &next);
    if (next.likelihood >= at->likelihood + SMOOTH_NOISE * at->likelihood) {
      *at = next;
      return 1;
    }
  }
  return 0;
}

static int smooth_flat(const smooth_state *at, size_t terms, double total) {
  for (size_t j = 0; j < terms; j++)
    if (!(fabs(at->gradient[j]) <= 1e-9 * total))
      return 0;
  return 1;
}

static void smooth_constant(pc_smooth_calibration *fit, double rate) {
  fit->terms = 1;
  fit->knot_count = 0;
  fit->coefficient[0] = rate > 0.0 ? INFINITY : -INFINITY;
  for (size_t i = 0; i < fit->count; i++)
    fit->points[i].rate = rate;
}

static void smooth_solve(pc_smooth_calibration *fit, double total, double hits) {
  smooth_state at = {.likelihood = 0.0};
  at.coefficient[0] = pc_log(hits / (total - hits));
  smooth_sum(fit, &at);
  for (int i = 0; i < SMOOTH_STEPS && !smooth_flat(&at, fit->terms, total); i++)
    if (!smooth_step(fit, &at))
      break;
  smooth_sum(fit, &at); /* the rates of the last accepted step */
  memcpy(fit->coefficient, at.coefficient, sizeof fit->coefficient);
  fit->has_band = smooth_factor(&at, fit->terms, 0.0, fit->factor);
}

pcal_status pc_smooth_calibration_fit(const pcal_env *env, const pc_curve_table *table,
                                      size_t knots, pc_smooth_calibration *out,
                                      pcal_error *err) {
  double total = 0.0, hits = 0.0;
  memset(out, 0, sizeof *out);
  const pcal_env held = pc_env_for_use(env, PC_MEMORY_CURVES);
  out->points = pc_alloc_raw(&held, table->count, sizeof *out->points);
  if (out->points == NULL)
    return pc_fail_memory(err, "fitting a smooth calibration curve");
  smooth_join(table, out);
  for (size_t i = 0; i < out->count; i++) {
    total += out->points[i].weight;
    hits += out->points[i].hits;
  }
  if (!(hits > 0.0) || !(hits < total)) {
    smooth_constant(out, hits > 0.0);
    return PCAL_OK;
  }
  smooth_place_knots(out, total, knots);
  smooth_solve(out, total, hits);
  return PCAL_OK;
}

void pc_smooth_calibration_free(const pcal_env *env, pc_smooth_calibration *fit) {
  pc_free(env, fit->points);
  *fit = (pc_smooth_calibration){0};
}

pc_smooth_value pc_smooth_calibration_at(const pc_smooth_calibration *fit, double score,
                                         double z) {
  double v[SMOOTH_TERMS], x[SMOOTH_TERMS], t = 0.0, variance = 0.0;
  pc_smooth_calibration_terms(fit, smooth_logit(score), v);
  for (size_t j = 0; j < fit->terms; j++)
    t += fit->coefficient[j] * v[j];
  if (!isfinite(t))
    return (pc_smooth_value){t > 0.0, (double)NAN, (double)NAN};
  memcpy(x, v, sizeof x);
  if (fit->has_band)
    pc_cholesky_solve(fit->factor, fit->terms, x);
  for (size_t j = 0; j < fit->terms; j++)
    variance += v[j] * x[j];
  const double reach = fit->has_band ? z * sqrt(fmax(variance, 0.0)) : (double)NAN;
  return (pc_smooth_value){pc_smooth_calibration_rate(t),
                           fit->has_band ? pc_smooth_calibration_rate(t - reach) : reach,
                           fit->has_band ? pc_smooth_calibration_rate(t + reach) : reach};
}
