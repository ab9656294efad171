/* Advice on classes: which calibrator to try, by the shape of the error and the number of rows.
 *
 * Each bin of the reliability table is a group of outcomes at the bin's mean score.  Four models
 * of these outcomes compete by the Bayesian information criterion -2 log L + k log N, with x the
 * logit of the bin's mean score:
 *   slope  logit P = b x        k = 1   too extreme or too flat everywhere
 *   shift  logit P = a + x      k = 1   too high or too low everywhere
 *   line   logit P = a + b x    k = 2
 *   shape  a frequency each     k = number of bins with rows
 * The criterion demands more rows before it prefers a richer model.
 * Rules:
 *   (1) calibrated: leave the predictions alone; with fewer than 1000 rows gather more;
 *   (2) every score is 0 or 1: nothing can be fitted;
 *   (3) one column: slope -> temperature or platt; shift, line -> platt or beta; shape ->
 *       isotonic or spline from 1000 rows on, else beta or platt;
 *       the same of two columns;
 *   (4) several columns: shape -> spline or ets from 1000 rows on; else temperature or ets, which
 *       keep every predicted class;
 *   (5) several columns, the mean of some class is off, and by more deviations than the mean
 *       confidence: vector or dirichlet-odir, which have an intercept for each class; with
 *       fewer than 20 rows for each class dirichlet-odir, which shrinks them;
 *   (6) confidences alone: spline or isotonic, which need no scores of other classes.
 * Edge cases:
 *   (1) a mean score of 0 or 1 is moved inside by 1e-9;
 *   (2) fits to separated outcomes end at |a| = 20, b = 0 or b = 20;
 *   (3) where shift and slope fit equally well, as with one distinct score, scores that are too
 *       high or too low are shifted.
 * Source: Schwarz, Annals of Statistics 1978; Cox, Biometrika 1958.
 * Cost: O(bins). */
#include <math.h>

#include "base/elementary.h"
#include "measure/measure_plan.h"
#include "output/verdict.h"
#include "stats/expected_ece.h"

#define ADVICE_STEPS 50
#define ADVICE_STILL 1e-12 /* a step that is too short to matter */
#define ADVICE_END 20.0
#define ADVICE_NORMAL 1.96
#define ADVICE_ROWS 1000
#define ADVICE_CLASS_ROWS 20.0 /* for each class */

static double advice_logit(const pc_bin *bin) {
  const double p = fmin(fmax(pc_bin_confidence(bin), 1e-9), 1 - 1e-9);
  return pc_log(p) - pc_log1p(-p);
}

/* -log p, kept finite at p = 0. */
static double advice_cost(double p) {
  return -pc_log(fmax(p, 1e-300));
}

/* The bins with rows, and the logits of their mean scores. */
typedef struct advice_groups {
  size_t count;
  const pc_bin *bin[PC_RELIABILITY_BINS];
  double logit[PC_RELIABILITY_BINS];
} advice_groups;

static advice_groups advice_groups_of(const pcal_results *results) {
  advice_groups groups = {.count = 0};
  const pc_bin *bins = pc_verdict_bins(results);
  for (size_t b = 0; b < results->bin_count && groups.count < PC_RELIABILITY_BINS; b++)
    if (bins[b].weight > 0) {
      groups.bin[groups.count] = &bins[b];
      groups.logit[groups.count++] = advice_logit(&bins[b]);
    }
  return groups;
}

static double advice_loss(const advice_groups *groups, double shift, double slope) {
  double loss = 0.0;
  for (size_t b = 0; b < groups->count; b++) {
    const pc_bin *bin = groups->bin[b];
    const double t = shift + slope * groups->logit[b], p = 1.0 / (1.0 + pc_exp(-t));
    loss += bin->hits * advice_cost(p) + (bin->weight - bin->hits) * advice_cost(1.0 - p);
  }
  return 2.0 * loss;
}

/* One Newton step on the free coordinates; at: shift and slope. */
static void advice_step(const advice_groups *groups, int free_shift, int free_slope,
                        double at[2]) {
  double g[2] = {0.0, 0.0}, h[3] = {1e-9, 0.0, 1e-9};
  for (size_t b = 0; b < groups->count; b++) {
    const pc_bin *bin = groups->bin[b];
    const double x = groups->logit[b], p = 1.0 / (1.0 + pc_exp(-at[0] - at[1] * x));
    const double gap = bin->hits - bin->weight * p, variance = bin->weight * p * (1.0 - p);
    g[0] += free_shift ? gap : 0.0;
    g[1] += free_slope ? gap * x : 0.0;
    h[0] += variance;
    h[1] += free_shift && free_slope ? variance * x : 0.0;
    h[2] += variance * x * x;
  }
  const double determinant = fmax(h[0] * h[2] - h[1] * h[1], 1e-12 * h[0] * h[2]);
  const double move[2] = {(h[2] * g[0] - h[1] * g[1]) / determinant,
                          (h[0] * g[1] - h[1] * g[0]) / determinant};
  for (int i = 0; i < 2; i++)
    at[i] = fmin(fmax(at[i] + fmin(fmax(move[i], -1.0), 1.0), i == 0 ? -ADVICE_END : 0.0),
                 ADVICE_END);
}

static double advice_fit(const pcal_results *results, const advice_groups *groups,
                         int free_shift, int free_slope) {
  double at[2] = {0.0, 1.0}, move = INFINITY;
  for (int i = 0; i < ADVICE_STEPS && move > ADVICE_STILL; i++) {
    const double last[2] = {at[0], at[1]};
    advice_step(groups, free_shift, free_slope, at);
    move = fmax(fabs(at[0] - last[0]), fabs(at[1] - last[1]));
  }
  return advice_loss(groups, at[0], at[1]) +
         (free_shift + free_slope) * pc_log(results->effective);
}

static double advice_shape(const pcal_results *results) {
  double loss = 0.0;
  for (size_t b = 0; b < results->bin_count; b++) {
    const pc_bin *bin = &pc_verdict_bins(results)[b];
    if (!(bin->weight > 0))
      continue;
    const double p = pc_bin_frequency(bin);
    loss += 2.0 * (bin->hits > 0 ? bin->hits * advice_cost(p) : 0.0);
    loss +=
        2.0 * (bin->hits < bin->weight ? (bin->weight - bin->hits) * advice_cost(1 - p) : 0);
    loss += pc_log(results->effective);
  }
  return loss;
}

static pcal_advice advice_model(const pcal_results *results, pcal_verdict_kind kind) {
  const advice_groups groups = advice_groups_of(results);
  const double slope = advice_fit(results, &groups, 0, 1);
  const double shift = advice_fit(results, &groups, 1, 0);
  const double line = advice_fit(results, &groups, 1, 1), shape = advice_shape(results);
  if (shape < fmin(fmin(slope, shift), line))
    return PCAL_ADVICE_SHAPE;
  if (line < fmin(slope, shift))
    return PCAL_ADVICE_SLOPE_AND_SHIFT;
  const double tie = 1e-9 * slope;
  const int one_sided = kind == PCAL_VERDICT_TOO_HIGH || kind == PCAL_VERDICT_TOO_LOW;
  return shift < slope + (one_sided ? tie : -tie) ? PCAL_ADVICE_SHIFT : PCAL_ADVICE_SLOPE;
}

static int advice_has_graded_scores(const pcal_results *results) {
  const pc_bin *bins = pc_verdict_bins(results);
  for (size_t b = 0; b < results->bin_count; b++)
    if (bins[b].weight > 0 && pc_bin_outcome_variance(&bins[b]) > 0)
      return 1;
  return 0;
}

static void advice_set_methods(pcal_verdict *out, const char *method, const char *alternative) {
  out->method = method;
  out->alternative = alternative;
}

static void advice_class_1(const pcal_results *results, pcal_verdict *out) {
  if (out->advice == PCAL_ADVICE_SLOPE)
    advice_set_methods(out, "temperature", "platt");
  else if (out->advice != PCAL_ADVICE_SHAPE)
    advice_set_methods(out, "platt", "beta");
  else if (results->effective >= ADVICE_ROWS)
    advice_set_methods(out, "isotonic", "spline");
  else
    advice_set_methods(out, "beta", "platt");
}

/* Rule (5): the worst class is farther beyond chance than the mean confidence. */
static int advice_prefers_classes(const pcal_results *results, const pcal_verdict *out) {
  const double top = ADVICE_NORMAL * fabs(out->claimed - out->observed) / out->margin;
  return out->classes_off > 0 && (!out->off_average || results->class_means.deviate > top);
}

static void advice_columns(const pcal_results *results, pcal_verdict *out) {
  const double classes = (double)results->layout.classes;
  const int many = results->effective >= ADVICE_CLASS_ROWS * classes;
  if (out->advice == PCAL_ADVICE_CLASSES && many)
    advice_set_methods(out, "vector", "dirichlet-odir");
  else if (out->advice == PCAL_ADVICE_CLASSES)
    advice_set_methods(out, "dirichlet-odir", "temperature");
  else if (out->advice == PCAL_ADVICE_SHAPE && results->effective >= ADVICE_ROWS)
    advice_set_methods(out, "spline", "ets");
  else
    advice_set_methods(out, "temperature", out->classes_off > 0 && many ? "vector" : "ets");
}

void pc_verdict_advise(const pcal_results *results, pcal_verdict *out) {
  if (out->kind == PCAL_VERDICT_CALIBRATED) {
    out->advice = results->effective < ADVICE_ROWS ? PCAL_ADVICE_MORE_ROWS : PCAL_ADVICE_NONE;
    return;
  }
  if (out->test != NULL && isnan(out->test_p_value)) { /* groups */
    out->advice = PCAL_ADVICE_SHAPE;
    advice_set_methods(out, "group-boosting", NULL);
    return;
  }
  out->advice = advice_has_graded_scores(results) ? advice_model(results, out->kind)
                                                  : PCAL_ADVICE_GRADED_SCORES;
  if (out->advice == PCAL_ADVICE_GRADED_SCORES)
    return;
  if (advice_prefers_classes(results, out))
    out->advice = PCAL_ADVICE_CLASSES;
  if (results->layout.kind == PCAL_CONFIDENCE)
    advice_set_methods(out, "spline", "isotonic");
  else if (out->binary)
    advice_class_1(results, out);
  else
    advice_columns(results, out);
}
