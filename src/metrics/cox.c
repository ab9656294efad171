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

#include "metrics/calibration_test.h"
#include "metrics/logistic_recalibration.h"
#include "stats/distributions.h"

#define COX_EXPECTED 20 /* least expected hits, and least expected misses, of a class */

enum { COX_VIEW, COX_CLIP };

static const pcal_option cox_options[] = {
    PC_CALIBRATION_TEST_VIEW_OPTION,
    {"clip", PCAL_OPTION_REAL, "0", 0, 0.1, NULL,
     "clip scores to [clip, 1 - clip]; 0: no clipping"},
};

/* True if too few outcomes of one kind are expected for accurate tail probabilities. */
static int cox_few(const pc_curve_table *table) {
  pc_fixed sum = {0};
  for (size_t i = 0; i < table->count; i++)
    sum.units += pc_curve_table_score_sum(table, i).units;
  const double expected = pc_fixed_value(&sum);
  return fmin(expected, table->total - expected) < COX_EXPECTED;
}

static pcal_status cox_test(const pc_options *options, const pc_curve_table *table,
                            const pcal_env *env, pc_calibration_test *out, pcal_error *err) {
  (void)env;
  (void)err;
  const double clip = options->value[COX_CLIP].number;
  pc_logistic_recalibration fit;
  const char *unfit = pc_logistic_recalibration_fit(table, clip, PC_RECALIBRATION_BOTH, &fit);
  if (table->count == 0)
    out->cannot = "no rows";
  else if (clip <= 0 && fit.certain > 0)
    out->cannot = "a score of exactly 0 or 1 has no finite logit; use cox:clip=1e-9";
  else if (out->among > 1 && cox_few(table))
    out->cannot = "no class has 20 expected outcomes of either kind, which the chi-square "
                  "distribution needs; use ks-test";
  else
    out->cannot = unfit;
  if (out->cannot != NULL)
    return PCAL_OK;
  out->statistic = fmax(2.0 * (fit.likelihood - fit.start), 0.0);
  out->p_value = pc_chi_square_tail(out->statistic, 2);
  out->parts[out->part_count++] = (pcal_part){"slope", fit.slope};
  out->parts[out->part_count++] = (pcal_part){"intercept", fit.intercept};
  return PCAL_OK;
}

static pcal_status cox_configure(pc_options *options, const pc_layout *layout,
                                 pc_metric_config *config, pcal_error *err) {
  return pc_calibration_test_configure(options, COX_VIEW, layout, config, err);
}

static size_t cox_next_points(const pc_options *options, const pc_curve_table *table,
                              pc_logit_point *out) {
  return pc_logistic_recalibration_next(table, options->value[COX_CLIP].number,
                                        PC_RECALIBRATION_BOTH, out);
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
    .next_points = cox_next_points,
};
