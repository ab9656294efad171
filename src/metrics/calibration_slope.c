/* calibration-intercept, calibration-slope: logistic recalibration, with Wald intervals.
 *
 * Formula:  calibration-intercept (in the large): a of logit P(y = 1) = a + logit p
 *           calibration-slope: b of logit P(y = 1) = a + b logit p
 *           by maximum likelihood; standard errors from the inverse of the Hessian
 * Edge cases:
 * (1) a score of exactly 0 or 1 that came true adds nothing, for any a and any b > 0; the part
 *     `certain` is the share of such rows.  One that did not come true leaves no finite fit: no
 *     value, unless clip= moves it inside;
 * (2) outcomes that are all the same, and for the slope scores that separate the outcomes or are
 *     all the same: no value;
 * (3) importance weights count as their effective number of rows.
 * Parts: certain; of the slope also intercept, the a beside b.
 * Source: Cox, Biometrika 1958; Van Calster et al., Calibration: the Achilles heel of predictive
 * analytics, BMC Medicine 2019.
 * Accuracy: gradient below 1e-9 of the rows.   Cost: one sort, a few passes over scores. */
#include <math.h>
#include <stdio.h>

#include "metrics/event_view.h"
#include "metrics/logistic_recalibration.h"

enum { SLOPE_VIEW, SLOPE_CLIP };

static const pcal_option slope_options[] = {
    PC_EVENT_VIEW_OPTION,
    {"clip", PCAL_OPTION_REAL, "0", 0, 0.1, NULL,
     "clip scores to [clip, 1 - clip]; 0: no clipping"},
};

static pcal_status slope_configure(pc_options *options, const pc_layout *layout,
                                   pc_metric_config *config, pcal_error *err) {
  PC_TRY(pc_event_view_choose(options, SLOPE_VIEW, layout, config, err));
  config->need.machine = PC_CURVE;
  config->has_se = 1;
  return PCAL_OK;
}

static void slope_measure(const pc_options *options, const pc_evidence *evidence,
                          pc_recalibration_model model, pc_metric_result *out) {
  const pc_curve_table *table = &evidence->curve.parts[0];
  pc_logistic_recalibration fit;
  const char *cannot =
      pc_logistic_recalibration_fit(table, options->value[SLOPE_CLIP].number, model, &fit);
  if (cannot != NULL) {
    out->undefined = 1;
    snprintf(out->why, sizeof out->why, "%s", cannot);
    return;
  }
  out->value = model == PC_RECALIBRATION_BOTH ? fit.slope : fit.intercept;
  out->se = pc_logistic_recalibration_se(&fit, model);
  if (model == PC_RECALIBRATION_BOTH)
    pc_metric_result_part(out, "intercept", fit.intercept);
  pc_metric_result_part(out, "certain", fit.certain / table->total);
}

static pcal_status intercept_evaluate(const pc_options *options, const pc_evidence *evidence,
                                      const pcal_env *env, pc_metric_result *out,
                                      pcal_error *err) {
  (void)env;
  (void)err;
  slope_measure(options, evidence, PC_RECALIBRATION_INTERCEPT, out);
  return PCAL_OK;
}

static pcal_status slope_evaluate(const pc_options *options, const pc_evidence *evidence,
                                  const pcal_env *env, pc_metric_result *out, pcal_error *err) {
  (void)env;
  (void)err;
  slope_measure(options, evidence, PC_RECALIBRATION_BOTH, out);
  return PCAL_OK;
}

static size_t intercept_next_points(const pc_options *options, const pc_curve_table *table,
                                    pc_logit_point *out) {
  return pc_logistic_recalibration_next(table, options->value[SLOPE_CLIP].number,
                                        PC_RECALIBRATION_INTERCEPT, out);
}

static size_t slope_next_points(const pc_options *options, const pc_curve_table *table,
                                pc_logit_point *out) {
  return pc_logistic_recalibration_next(table, options->value[SLOPE_CLIP].number,
                                        PC_RECALIBRATION_BOTH, out);
}

#define SLOPE_TRAITS \
  (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_KNOWN_IF_CALIBRATED)

const pc_metric pc_metric_calibration_intercept = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "calibration-intercept",
            .title = "calibration in the large",
            .formula = "a of logit P(y = 1) = a + logit p, by maximum likelihood",
            .about = "0 for a calibrated model. Above 0 the probabilities are too low on "
                     "average, below 0 too high. A score of exactly 0 or 1 that came true adds "
                     "nothing; the part certain is the share of such rows.",
            .citation = "Cox, Biometrika 1958; Van Calster et al., BMC Medicine 2019",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_CURVE,
            .options = slope_options,
            .option_count = sizeof slope_options / sizeof *slope_options,
        },
    .range = PC_RANGE_ANY,
    .traits = SLOPE_TRAITS,
    .configure = slope_configure,
    .evaluate = intercept_evaluate,
    .next_points = intercept_next_points,
};

const pc_metric pc_metric_calibration_slope = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "calibration-slope",
            .title = "calibration slope",
            .formula = "b of logit P(y = 1) = a + b logit p, by maximum likelihood",
            .about =
                "1 for a calibrated model. Below 1 the probabilities are too extreme, as "
                "those of an overfitted model; above 1 they are too timid. The part "
                "intercept is a; calibration-intercept is a for b = 1. A score of exactly "
                "0 or 1 that came true adds nothing; the part certain is the share of such "
                "rows.",
            .citation = "Cox, Biometrika 1958; Van Calster et al., BMC Medicine 2019",
            .notion = PCAL_NOTION_TOP_LABEL,
            .machine = PCAL_MACHINE_CURVE,
            .options = slope_options,
            .option_count = sizeof slope_options / sizeof *slope_options,
        },
    .range = PC_RANGE_ANY,
    .traits = SLOPE_TRAITS,
    .if_calibrated = 1,
    .configure = slope_configure,
    .evaluate = slope_evaluate,
    .next_points = slope_next_points,
};
