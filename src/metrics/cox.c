/* cox: logistic recalibration as a test.
 *
 * Formula:  logit P(y = 1) = a + b logit p, fitted by maximum likelihood; the statistic is
 *           2 (l(a, b) - l(0, 1)), chi-square with 2 degrees of freedom when a = 0 and b = 1.
 * Edge cases:
 * (1) a score of exactly 0 or 1 has no logit: no test, unless clip= moves it inside;
 * (2) outcomes that are all the same or separated by the score have no finite fit: no test;
 * (3) with one distinct score a and b are not identifiable: no test;
 * (4) view=classwise as in spiegelhalter; the chi-square distribution is not accurate in the
 *     far tail if fewer than 20 hits or 20 misses are expected: such a class is not tested.
 * Parts: slope b (below 1: too confident) and intercept a.
 * Source: Cox, Two further applications of a model for binary regression, Biometrika 1958.
 * Accuracy: gradient below 1e-9 of the rows.   Cost: one sort, a few passes over scores. */
#include <math.h>

#include "kernels/lane_math.h"
#include "kernels/softmax.h"
#include "metrics/calibration_test.h"
#include "stats/distributions.h"

#define COX_STEPS 100
#define COX_EXPECTED 20 /* least expected hits, and least expected misses, of a class */
#define COX_HALVINGS 40
#define COX_NOISE 1e-12 /* relative rounding error of a log-likelihood */

enum { COX_VIEW, COX_CLIP };

static const pcal_option cox_options[] = {
    PC_CALIBRATION_TEST_VIEW_OPTION,
    {"clip", PCAL_OPTION_REAL, "0", 0, 0.1, NULL,
     "clip scores to [clip, 1 - clip]; 0: no clipping"},
};

/* Parameters, with the log-likelihood and its derivatives there. */
typedef struct cox_point {
  double intercept, slope, likelihood;
  double gradient[2], hessian[3]; /* hessian of -likelihood: aa, ab, bb */
} cox_point;

/* log(p / (1 - p)) */
static double cox_odds(double p) {
  const double rest = 1.0 - p, up = p < 0x1p-1000 ? 0x1p60 : 1.0; /* avoid subnormals */
  const double log_p = pc_lane_log(p * up) - (up > 1.0 ? 60 * 0x1.62e42fefa39efp-1 : 0.0);
  return log_p - (pc_lane_log(rest) + (-p - (rest - 1.0)) / rest);
}

static void cox_sum(const pc_curve_table *table, double clip, cox_point *at) {
  *at = (cox_point){.intercept = at->intercept, .slope = at->slope};
  for (size_t i = 0; i < table->count; i++) {
    const double p = fmin(fmax(table->score[i], clip), 1.0 - clip);
    const double x = cox_odds(p), t = at->intercept + at->slope * x, weight = table->weight[i];
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

/* A Newton step, halved until the likelihood does not decrease.  Returns 0 if there is none. */
static int cox_step(const pc_curve_table *table, double clip, cox_point *at) {
  const double *g = at->gradient, *h = at->hessian;
  const double determinant = h[0] * h[2] - h[1] * h[1];
  if (!(determinant > 1e-14 * h[0] * h[2]))
    return 0;
  const double move[2] = {(h[2] * g[0] - h[1] * g[1]) / determinant,
                          (h[0] * g[1] - h[1] * g[0]) / determinant};
  double share = 1.0;
  for (int i = 0; i < COX_HALVINGS; i++, share *= 0.5) {
    cox_point next = {.intercept = at->intercept + share * move[0],
                      .slope = at->slope + share * move[1]};
    cox_sum(table, clip, &next);
    if (next.likelihood >= at->likelihood + COX_NOISE * at->likelihood) {
      *at = next;
      return 1;
    }
  }
  return 0;
}

static int cox_flat(const cox_point *at, double total) {
  return fabs(at->gradient[0]) <= 1e-9 * total && fabs(at->gradient[1]) <= 1e-9 * total;
}

/* True if the scores separate the two kinds of outcomes. */
static int cox_separated(const pc_curve_table *table) {
  size_t first[2] = {SIZE_MAX, SIZE_MAX}, last[2] = {0, 0};
  for (size_t i = 0; i < table->count; i++)
    for (int hit = 0; hit < 2; hit++)
      if (hit ? table->hits[i] > 0 : table->hits[i] < table->weight[i]) {
        first[hit] = first[hit] == SIZE_MAX ? i : first[hit];
        last[hit] = i;
      }
  return last[0] <= first[1] || last[1] <= first[0];
}

static const char *cox_unfit(const pc_curve_table *table, double clip) {
  double hits = 0.0;
  for (size_t i = 0; i < table->count; i++)
    hits += table->hits[i];
  if (clip <= 0 && (table->score[0] <= 0 || table->score[table->count - 1] >= 1))
    return "a score of exactly 0 or 1 has no finite logit; use cox:clip=1e-9";
  if (hits <= 0 || hits >= table->total)
    return "all outcomes are the same, so no slope can be fitted";
  if (table->count < 2)
    return "all scores are the same, so no slope can be fitted";
  return cox_separated(table) ? "the scores separate the outcomes, so the fit diverges" : NULL;
}

/* True if too few outcomes of one kind are expected for accurate tail probabilities. */
static int cox_few(const pc_curve_table *table) {
  double expected = 0.0;
  for (size_t i = 0; i < table->count; i++)
    expected += table->weight[i] * pc_calibration_test_score(table->score[i]);
  return fmin(expected, table->total - expected) < COX_EXPECTED;
}

static pcal_status cox_test(const pc_options *options, const pc_curve_table *table,
                            const pcal_env *env, pc_calibration_test *out, pcal_error *err) {
  (void)env;
  (void)err;
  const double clip = options->value[COX_CLIP].number;
  out->cannot = table->count == 0 ? "no rows" : cox_unfit(table, clip);
  if (out->cannot == NULL && out->among > 1 && cox_few(table))
    out->cannot = "no class has 20 expected outcomes of either kind, which the chi-square "
                  "distribution needs; use ks-test";
  if (out->cannot != NULL)
    return PCAL_OK;
  cox_point at = {.intercept = 0.0, .slope = 1.0};
  cox_sum(table, clip, &at);
  const double before = at.likelihood;
  for (int i = 0; i < COX_STEPS && !cox_flat(&at, table->total); i++)
    if (!cox_step(table, clip, &at))
      break;
  if (!cox_flat(&at, table->total)) {
    out->cannot = "the fit did not converge";
    return PCAL_OK;
  }
  out->statistic = fmax(2.0 * (at.likelihood - before), 0.0);
  out->p_value = pc_chi_square_tail(out->statistic, 2);
  out->parts[out->part_count++] = (pcal_part){"slope", at.slope};
  out->parts[out->part_count++] = (pcal_part){"intercept", at.intercept};
  return PCAL_OK;
}

static pcal_status cox_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  return pc_calibration_test_configure(options, COX_VIEW, layout, config, err);
}

static pcal_status cox_evaluate(const pc_options *options, const pc_evidence *evidence,
                                const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  return pc_calibration_test_evaluate(options, evidence, env, cox_test, out, err);
}

const pc_metric pc_metric_cox = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "cox",
            .title = "Cox recalibration test",
            .formula = "2 (l(a, b) - l(0, 1)),  logit P(y = 1) = a + b logit p",
            .about = "Fits the best slope and intercept on the logit scale and tests whether "
                     "they are 1 and 0. A slope below 1 means that the scores are too extreme, "
                     "an intercept above 0 that they are too low.",
            .citation = "Cox, Biometrika 1958",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_CURVE,
            .better = PCAL_BETTER_LOWER,
            .is_test = 1,
            .options = cox_options,
            .option_count = sizeof cox_options / sizeof *cox_options,
        },
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS,
    .configure = cox_configure,
    .evaluate = cox_evaluate,
};
