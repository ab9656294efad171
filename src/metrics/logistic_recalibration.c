/* Newton's method, each step halved until the likelihood does not decrease.
 *
 * Rows of other processes are summed in rounds: a point that lacks its sums is asked for.  Once
 * a step had to be halved, RECALIBRATION_TOGETHER sizes of a step are asked for at once, each
 * half of the one before: models that are far too sure need many halvings, and a round costs
 * more than sums at further points.  Accuracy: gradient below 1e-9 of the rows. */
#include "metrics/logistic_recalibration.h"

#include <math.h>

#define RECALIBRATION_STEPS 100
#define RECALIBRATION_HALVINGS 40
#define RECALIBRATION_TOGETHER PC_REFINE_POINTS_MAX
#define RECALIBRATION_NOISE 1e-12 /* relative rounding error of a log-likelihood */

/* The rows of a fit. */
typedef struct recalibration_rows {
  const pc_curve_table *table;
  double clip;
  int halved;  /* a step was halved */
  int lacking; /* a table of segments has no sums at lack[0] */
  pc_logit_point lack[RECALIBRATION_TOGETHER];
  size_t lack_count; /* points to ask for */
} recalibration_rows;

/* Sums over a table of scores; those of a table of segments were found by earlier passes. */
static pc_logit_sums recalibration_sums(recalibration_rows *rows, double intercept,
                                        double slope) {
  const pc_curve_table *table = rows->table;
  pc_logit_sums sums = pc_logit_sums_none((pc_logit_point){intercept, slope, rows->clip});
  if (table->form == PC_CURVE_SCORES) {
    for (size_t i = 0; i < table->count; i++)
      pc_logit_sums_add(&sums, table->score[i], table->weight[i] - table->hits[i],
                        table->hits[i]);
    return sums;
  }
  for (size_t i = 0; i < table->logit_count; i++)
    if (pc_logit_points_equal(&table->logits[i].at, &sums.at))
      return table->logits[i];
  rows->lacking = 1;
  rows->lack[0] = sums.at;
  rows->lack_count = 1;
  return sums;
}

static pc_logistic_recalibration recalibration_of(const pc_logit_sums *sums) {
  pc_logistic_recalibration out = {.intercept = sums->at.intercept,
                                   .slope = sums->at.slope,
                                   .likelihood = pc_logit_sums_value(sums->likelihood),
                                   .certain = pc_fixed_value(&sums->certain)};
  for (int i = 0; i < 2; i++)
    out.gradient[i] = pc_logit_sums_value(sums->gradient[i]);
  for (int i = 0; i < 3; i++)
    out.hessian[i] = pc_logit_sums_value(sums->hessian[i]);
  return out;
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

/* Adds smaller steps to the one that lacks its sums. */
static void recalibration_lack_more(recalibration_rows *rows,
                                    const pc_logistic_recalibration *at, const double move[2],
                                    double share) {
  while (rows->halved && rows->lack_count < RECALIBRATION_TOGETHER) {
    share *= 0.5;
    rows->lack[rows->lack_count++] = (pc_logit_point){at->intercept + share * move[0],
                                                      at->slope + share * move[1], rows->clip};
  }
}

/* Returns 0 if no step increases the likelihood, or sums are lacking. */
static int recalibration_step(recalibration_rows *rows, pc_recalibration_model model,
                              pc_logistic_recalibration *at) {
  double move[2], share = 1.0;
  if (!recalibration_move(at, model, move))
    return 0;
  for (int i = 0; i < RECALIBRATION_HALVINGS && !rows->lacking; i++, share *= 0.5) {
    const pc_logit_sums sums =
        recalibration_sums(rows, at->intercept + share * move[0], at->slope + share * move[1]);
    pc_logistic_recalibration next = recalibration_of(&sums);
    next.start = at->start;
    if (rows->lacking)
      recalibration_lack_more(rows, at, move, share);
    else if (next.likelihood >= at->likelihood + RECALIBRATION_NOISE * at->likelihood) {
      *at = next;
      return 1;
    }
    rows->halved = 1; /* or lacking, which ends the fit */
  }
  return 0;
}

static int recalibration_flat(const pc_logistic_recalibration *at, pc_recalibration_model model,
                              double total) {
  return fabs(at->gradient[0]) <= 1e-9 * total &&
         (model == PC_RECALIBRATION_INTERCEPT || fabs(at->gradient[1]) <= 1e-9 * total);
}

/* Why outcomes and scores strictly between 0 and 1 have no fit; NULL: they have one. */
static const char *recalibration_unfit(const pc_logit_sums *found,
                                       pc_recalibration_model model) {
  const int both = model == PC_RECALIBRATION_BOTH;
  const double *low = found->low, *high = found->high;
  const int misses = low[0] <= high[0], hits = low[1] <= high[1];
  if (found->refuted)
    return "a score of exactly 0 or 1 did not come true, so no finite parameters fit; set "
           "clip=1e-9";
  if (!misses && !hits)
    return "every score is exactly 0 or 1 and has no finite logit; set clip=1e-9";
  if (!misses || !hits)
    return both ? "all outcomes are the same, so no slope can be fitted"
                : "all outcomes are the same, so the intercept is infinite";
  if (both && fmin(low[0], low[1]) == fmax(high[0], high[1]))
    return "all scores are the same, so no slope can be fitted";
  const int apart = high[0] <= low[1] || high[1] <= low[0];
  return both && apart ? "the scores separate the outcomes, so the fit diverges" : NULL;
}

static const char *recalibration_fit(recalibration_rows *rows, pc_recalibration_model model,
                                     pc_logistic_recalibration *out) {
  const double total = rows->table->total;
  const pc_logit_sums first = recalibration_sums(rows, 0.0, 1.0);
  const char *unfit = rows->lacking ? NULL : recalibration_unfit(&first, model);
  *out = recalibration_of(&first);
  out->start = out->likelihood;
  if (unfit != NULL)
    return unfit;
  for (int i = 0;
       i < RECALIBRATION_STEPS && !rows->lacking && !recalibration_flat(out, model, total); i++)
    if (!recalibration_step(rows, model, out))
      break;
  return recalibration_flat(out, model, total) ? NULL : "the fit did not converge";
}

const char *pc_logistic_recalibration_fit(const pc_curve_table *table, double clip,
                                          pc_recalibration_model model,
                                          pc_logistic_recalibration *out) {
  recalibration_rows rows = {.table = table, .clip = clip};
  return recalibration_fit(&rows, model, out);
}

size_t pc_logistic_recalibration_next(const pc_curve_table *table, double clip,
                                      pc_recalibration_model model,
                                      pc_logit_point out[PC_REFINE_POINTS_MAX]) {
  recalibration_rows rows = {.table = table, .clip = clip};
  pc_logistic_recalibration fit;
  (void)recalibration_fit(&rows, model, &fit);
  for (size_t i = 0; i < rows.lack_count; i++)
    out[i] = rows.lack[i];
  return rows.lack_count;
}

double pc_logistic_recalibration_se(const pc_logistic_recalibration *fit,
                                    pc_recalibration_model model) {
  return model == PC_RECALIBRATION_INTERCEPT
             ? 1.0 / sqrt(fit->hessian[0])
             : sqrt(fit->hessian[0] / recalibration_determinant(fit));
}
