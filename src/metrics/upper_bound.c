/* upper-bound: an upper bound of the calibration error, obtained from a proper score.
 *
 * Formula:  U_S = (1/N) sum_i S(p_i, y_i) - inf g_S,  g_S(p) = the mean of S(p, Y) for Y ~ p
 *           brier: inf g = 0;  log: inf g = 0;  spherical: inf g = -1
 * Edge cases:
 * (1) score=brier and score=log are the scores themselves, score=spherical is the score plus
 *     one;
 * (2) a true class of probability exactly 0 makes the log bound infinite, and the result names
 *     the first such row.
 * Source: Gruber & Buettner 2022, section 4 (v3): calibration error <= U_S, since score =
 * entropy of the outcomes + calibration - sharpness, and entropy - sharpness >= inf g.
 * Accuracy: that of the score.
 * Cost: that of the score. */
#include <math.h>
#include <stdio.h>

#include "metrics/metric.h"
#include "metrics/score_needs.h"

enum { UPPER_SCORE };
enum { UPPER_BRIER, UPPER_LOG, UPPER_SPHERICAL };

static const pcal_option upper_bound_options[] = {
    {"score", PCAL_OPTION_CHOICE, "brier", 0, 0, "brier|log|spherical",
     "the proper score whose calibration error is bounded"},
};

static pcal_status upper_bound_configure(pc_options *options, const pc_layout *layout,
                                         pc_metric_config *config, pcal_error *err) {
  (void)layout;
  (void)err;
  const int score = options->value[UPPER_SCORE].choice;
  if (score == UPPER_BRIER)
    pc_need_brier(&config->need);
  else if (score == UPPER_LOG)
    pc_need_log(&config->need, 0.0);
  else
    pc_need_spherical(&config->need);
  return PCAL_OK;
}

static double upper_bound_limit(const pc_options *options) {
  static const double limits[] = {2.0, 0.0, 1.0}; /* brier, log, spherical */
  return limits[options->value[UPPER_SCORE].choice];
}

static pcal_status upper_bound_evaluate(const pc_options *options, const pc_evidence *evidence,
                                        const pcal_env *env, pc_metric_result *out,
                                        pcal_error *err) {
  (void)options;
  (void)env;
  (void)err;
  out->value = evidence->sum.value[0] / evidence->total;
  if (evidence->sum.infinite[0] > 0) {
    out->value = INFINITY;
    snprintf(out->why, sizeof out->why,
             "row %llu gives its true class probability 0, so the log score gives no "
             "bound; use score=brier",
             (unsigned long long)evidence->sum.infinite_row[0]);
  }
  return PCAL_OK;
}

const pc_metric pc_metric_upper_bound = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "upper-bound",
            .title = "upper bound of the calibration error of a proper score",
            .formula = "(1/N) sum_i S(p_i, y_i) - inf g_S",
            .about = "A proper score is calibration error - sharpness + entropy; its "
                     "excess over the smallest possible entropy is an upper bound of the "
                     "calibration error. For brier (the squared canonical error) and log "
                     "that is the score itself, for spherical 1 + the score. Unlike binned "
                     "errors its expectation does not depend on the number of rows.",
            .citation = "Gruber & Buettner, Better uncertainty calibration via proper scores "
                        "for classification and beyond, NeurIPS 2022",
            .notion = PCAL_NOTION_PROPER,
            .bound = PCAL_BOUND_UPPER,
            .machine = PCAL_MACHINE_SUM,
            .better = PCAL_BETTER_LOWER,
            .options = upper_bound_options,
            .option_count = sizeof upper_bound_options / sizeof *upper_bound_options,
        },
    .range = PC_RANGE_FROM_ZERO,
    .traits = PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_NEEDS_CLASSES | PC_LOSS |
              PC_SQUARED,
    .loss_limit = upper_bound_limit,
    .configure = upper_bound_configure,
    .evaluate = upper_bound_evaluate,
};
