/* Formula, logits z with m = max z, S = sum exp(z_j - m):
 *   log p_k = (z_k - m) - log S,   log(1 - p_k) = log(S - exp(z_k - m)) - log S;
 *   from l = log p:  log(1 - p) = log(-expm1(l));  log-odds = log p - log(1 - p).
 * Edge cases:
 *   1. Logits are clipped to [-1e150, 1e150], so that no product overflows.
 *   2. log p is at least log 2^-149, the smallest positive float32; so p = 0 is allowed.
 *   3. For log-odds and beta, p is clipped to [2^-52, 1 - 2^-52], as published.
 *   4. A stored p a little above 1 has 1 - p = 0.
 * Accuracy: a few ulp; no cancellation when p is close to 1. */
#include "calibrators/features.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "kernels/dispatch.h"
#include "kernels/lane_math.h"

#define FEATURES_SCORE_MAX 1e150

size_t pc_feature_count(pc_feature feature, const pc_layout *layout) {
  switch (feature) {
  case PC_FEATURE_LOG_ODDS:
    return layout->columns;
  case PC_FEATURE_BETA:
    return 2 * layout->columns;
  case PC_FEATURE_SCORES:
  case PC_FEATURE_LOG_PROBS:
    break;
  }
  return layout->classes;
}

static double features_clamp(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

static double features_clip(double log_p) {
  return features_clamp(log_p, PC_FEATURE_LOG_CLIP, 0.0);
}

/* log(1 - p) from log p. */
static double features_log_rest(double log_p) {
  const double rest = -pc_expm1(log_p);
  return rest > 0.0 ? features_clip(pc_log(rest)) : PC_FEATURE_LOG_CLIP;
}

/* Log-probabilities from logits. */
static void features_log_softmax(const double *z, size_t count, double *logs) {
  pc_softmax_facts facts;
  pc_kernels_best()->row->softmax_f64(z, count, NULL, &facts);
  const double norm = pc_lane_log1p(facts.rest);
  for (size_t j = 0; j < count; j++)
    logs[j] = (z[j] - facts.max) - norm;
}

/* log p and log(1 - p) from logits. */
static void features_log_both(const double *z, size_t count, double *logs, double *rests) {
  pc_softmax_facts facts;
  pc_kernels_best()->row->softmax_f64(z, count, rests, &facts);
  const double norm = pc_lane_log1p(facts.rest);
  for (size_t j = 0; j < count; j++) {
    const double others = j == facts.top ? facts.rest : 1.0 + (facts.rest - rests[j]);
    logs[j] = (z[j] - facts.max) - norm;
    rests[j] = others > 0.0 ? pc_lane_log(others) - norm : -INFINITY;
  }
}

static void features_scores(const pc_layout *layout, const double *scores, double *out) {
  const double low = layout->kind == PCAL_LOGIT ? -FEATURES_SCORE_MAX : PC_FEATURE_LOG_LEAST;
  for (size_t j = 0; j < layout->classes; j++)
    out[j] = features_clamp(scores[j], low, FEATURES_SCORE_MAX);
}

static void features_log_probs(const pc_layout *layout, const double *scores, double *out) {
  if (layout->kind == PCAL_LOGIT)
    features_log_softmax(scores, layout->classes, out);
  else
    memcpy(out, scores, layout->classes * sizeof *out);
  for (size_t j = 0; j < layout->classes; j++)
    out[j] = features_clamp(out[j], PC_FEATURE_LOG_LEAST, FEATURES_SCORE_MAX);
}

/* One column of scores arrives as two classes, of which the second is the given one. */
static void features_odds(const pc_layout *layout, const double *scores, double *out) {
  const size_t columns = layout->columns;
  for (size_t j = 0; j < columns; j++) {
    if (layout->kind == PCAL_LOGIT)
      out[j] = features_clamp(scores[layout->classes - columns + j], -FEATURES_SCORE_MAX,
                              FEATURES_SCORE_MAX);
    else if (columns == 1)
      out[j] = features_clip(scores[1]) - features_clip(scores[0]);
    else
      out[j] = features_clip(scores[j]) - features_log_rest(scores[j]);
  }
}

static void features_beta_pair(const pc_layout *layout, const double *scores, double *out) {
  double logs[2] = {scores[0], scores[1]};
  if (layout->kind == PCAL_LOGIT)
    features_log_softmax(scores, 2, logs);
  out[0] = features_clip(logs[1]);
  out[1] = -features_clip(logs[0]);
}

static void features_beta(const pc_layout *layout, const double *scores, double *out) {
  const size_t k = layout->columns;
  if (k == 1) {
    features_beta_pair(layout, scores, out);
    return;
  }
  if (layout->kind == PCAL_LOGIT)
    features_log_both(scores, k, out, out + k);
  for (size_t j = 0; j < k; j++) {
    const int logits = layout->kind == PCAL_LOGIT;
    out[k + j] = -(logits ? features_clip(out[k + j]) : features_log_rest(scores[j]));
    out[j] = features_clip(logits ? out[j] : scores[j]);
  }
}

void pc_feature_row(pc_feature feature, const pc_layout *layout, const double *scores,
                    double *out) {
  switch (feature) {
  case PC_FEATURE_SCORES:
    features_scores(layout, scores, out);
    return;
  case PC_FEATURE_LOG_PROBS:
    features_log_probs(layout, scores, out);
    return;
  case PC_FEATURE_LOG_ODDS:
    features_odds(layout, scores, out);
    return;
  case PC_FEATURE_BETA:
    features_beta(layout, scores, out);
    return;
  }
}
