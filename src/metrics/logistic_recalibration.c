/* Newton's method, each step halved until the likelihood does not decrease.
 * Accuracy: gradient below 1e-9 of the rows. */
#include "metrics/logistic_recalibration.h"

#include <math.h>

#include "kernels/lane_math.h"
#include "kernels/softmax.h"

#define RECALIBRATION_STEPS 100
#define RECALIBRATION_HALVINGS 40
#define RECALIBRATION_NOISE 1e-12 /* relative rounding error of a log-likelihood */

double pc_log_odds(double p) {
  const double rest = 1.0 - p, up = p < 0x1p-1000 ? 0x1p60 : 1.0; /* avoid subnormals */
  const double log_p = pc_lane_log(p * up) - (up > 1.0 ? 60 * 0x1.62e42fefa39efp-1 : 0.0);
  return log_p - (pc_lane_log(rest) + (-p - (rest - 1.0)) / rest);
}

static double recalibration_score(const pc_curve_table *table, size_t entry, double clip) {
  return fmin(fmax(table->score[entry], clip), 1.0 - clip);
}

static int recalibration_certain(double p) {
  return p <= 0.0 || p >= 1.0;
}

static void recalibration_sum(const pc_curve_table *table, double clip,
                              pc_logistic_recalibration *at) {
  *at = (pc_logistic_recalibration){.intercept = at->intercept, .slope = at->slope};
  for (size_t i = 0; i < table->count; i++) {
    const double p = recalibration_score(table, i, clip), weight = table->weight[i];
    if (recalibration_certain(p)) {
      at->certain += weight;
      continue;
    }
    const double x = pc_log_odds(p), t = at->intercept + at->slope * x;
    double pair[2];
    const double soft = pc_sigmoid_pair(t, pair), rate = pair[1]; /* log(1 + exp(-|t|)) */
    const double gap = table->hits[i] - weight * rate, spread = weight * rate * (1.0 - rate);
    at->likelihood -= table->hits[i] * (soft + fmax(-t, 0.0)) +
                      (weight - table->hits[i]) * (soft + fmax(t, 0.0));
    at->gradient[0] += gap;
    at->gradient[1] += gap * x;
    at->hessian[0] += spread;
    at->hessian[1] += spread * x;
    at->hessian[2] += spread * x * x;
  }
}

double pc_logistic_recalibration_likelihood(const pc_curve_table *table, double clip) {
  pc_logistic_recalibration at = {.slope = 1.0};
  recalibration_sum(table, clip, &at);
  return at.likelihood;
}

static double recalibration_determinant(const pc_logistic_recalibration *at) {
  return at->hessian[0] * at->hessian[2] - at->hessian[1] * at->hessian[1];
}

/* Newton's step.  Returns 0 if the Hessian is singular. */
static int recalibration_move(const pc_logistic_recalibration *at, pc_recalibration_model model,
                              double move[2]) {
  const double *g = at->gradient, *h = at->hessian;
  const double determinant = recalibration_determinant(at);
  if (model == PC_RECALIBRATION_INTERCEPT) {
    move[0] = g[0] / h[0];
    move[1] = 0.0;
    return h[0] > 0.0;
  }
  if (!(determinant > 1e-14 * h[0] * h[2]))
    return 0;
  move[0] = (h[2] * g[0] - h[1] * g[1]) / determinant;
  move[1] = (h[0] * g[1] - h[1] * g[0]) / determinant;
  return 1;
}

/* Returns 0 if no step increases the likelihood. */
static int recalibration_step(const pc_curve_table *table, double clip,
                              pc_recalibration_model model, pc_logistic_recalibration *at) {
  double move[2], share = 1.0;
  if (!recalibration_move(at, model, move))
    return 0;
  for (int i = 0; i < RECALIBRATION_HALVINGS; i++, share *= 0.5) {
    pc_logistic_recalibration next = {.intercept = at->intercept + share * move[0],
                                      .slope = at->slope + share * move[1]};
    recalibration_sum(table, clip, &next);
    if (next.likelihood >= at->likelihood + RECALIBRATION_NOISE * at->likelihood) {
      *at = next;
      return 1;
    }
  }
  return 0;
}

static int recalibration_flat(const pc_logistic_recalibration *at, pc_recalibration_model model,
                              double total) {
  return fabs(at->gradient[0]) <= 1e-9 * total &&
         (model == PC_RECALIBRATION_INTERCEPT || fabs(at->gradient[1]) <= 1e-9 * total);
}

/* Outcomes of the scores strictly between 0 and 1. */
typedef struct recalibration_outcomes {
  size_t scores;            /* distinct */
  size_t first[2], last[2]; /* entries with misses and with hits */
  int seen[2];
  int refuted; /* a score of exactly 0 or 1 did not come true */
} recalibration_outcomes;

static recalibration_outcomes recalibration_look(const pc_curve_table *table, double clip) {
  recalibration_outcomes found = {0};
  for (size_t i = 0; i < table->count; i++) {
    const double p = recalibration_score(table, i, clip);
    const int kinds[2] = {table->hits[i]<table->weight[i], table->hits[i]> 0};
    if (recalibration_certain(p)) {
      found.refuted |= kinds[p <= 0.0];
      continue;
    }
    found.scores++;
    for (int hit = 0; hit < 2; hit++)
      if (kinds[hit]) {
        found.first[hit] = found.seen[hit] ? found.first[hit] : i;
        found.last[hit] = i;
        found.seen[hit] = 1;
      }
  }
  return found;
}

static const char *recalibration_unfit(const recalibration_outcomes *found,
                                       pc_recalibration_model model) {
  const int both = model == PC_RECALIBRATION_BOTH;
  if (found->refuted)
    return "a score of exactly 0 or 1 did not come true, so no finite parameters fit; set "
           "clip=1e-9";
  if (found->scores == 0)
    return "every score is exactly 0 or 1 and has no finite logit; set clip=1e-9";
  if (!found->seen[0] || !found->seen[1])
    return both ? "all outcomes are the same, so no slope can be fitted"
                : "all outcomes are the same, so the intercept is infinite";
  if (both && found->scores < 2)
    return "all scores are the same, so no slope can be fitted";
  const int apart = found->last[0] <= found->first[1] || found->last[1] <= found->first[0];
  return both && apart ? "the scores separate the outcomes, so the fit diverges" : NULL;
}

const char *pc_logistic_recalibration_fit(const pc_curve_table *table, double clip,
                                          pc_recalibration_model model,
                                          pc_logistic_recalibration *out) {
  const recalibration_outcomes found = recalibration_look(table, clip);
  const char *unfit = recalibration_unfit(&found, model);
  if (unfit != NULL)
    return unfit;
  *out = (pc_logistic_recalibration){.slope = 1.0};
  recalibration_sum(table, clip, out);
  for (int i = 0; i < RECALIBRATION_STEPS && !recalibration_flat(out, model, table->total); i++)
    if (!recalibration_step(table, clip, model, out))
      break;
  return recalibration_flat(out, model, table->total) ? NULL : "the fit did not converge";
}

double pc_logistic_recalibration_se(const pc_logistic_recalibration *fit,
                                    pc_recalibration_model model) {
  return model == PC_RECALIBRATION_INTERCEPT
             ? 1.0 / sqrt(fit->hessian[0])
             : sqrt(fit->hessian[0] / recalibration_determinant(fit));
}
