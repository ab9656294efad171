/* Formula:  n0 rows of the pilot, se the standard error there, which falls as 1 / sqrt(n);
 *           z the normal quantile of (1 + level) / 2
 *             width w:  n = n0 (2 z se / w)^2
 *             power:    n = n0 ((z + z_power) se_d / d)^2, d the difference to detect, se_d its
 *                       standard error in the pilot
 * Edge cases:
 *   (1) a metric without a standard error, or a difference of 0, has no answer;
 *   (2) the answer is rounded up and at least 2;
 *   (3) metrics that are biased at few rows (ece, mce, ks near 0) keep a bias that no interval
 *       width shows: the numbers account for the standard error only.
 * Source:   the usual sample-size formulas; Cohen, Statistical Power Analysis, 1988. */
#include "simulate/sample_plan.h"

#include <math.h>

#include "base/elementary.h"
#include "base/normal.h"

pcal_status pc_sample_plan_check(const pcal_results *results, const pcal_plan_config *config,
                                 pcal_error *err) {
  if (!(config->width > 0) && !(config->power > 0))
    return pc_fail(err, PCAL_USAGE,
                   "a plan needs a goal: the width of an interval ({width}) or the power to "
                   "detect a difference ({power})");
  if (config->power != 0 && !(config->power > 0 && config->power < 1))
    return pc_fail(err, PCAL_USAGE, "power is a probability between 0 and 1; 0.8 is usual");
  if (config->width != 0 && !(config->width > 0 && isfinite(config->width)))
    return pc_fail(err, PCAL_USAGE, "the width of an interval is a positive number");
  if (config->power > 0 && results->replicas == NULL)
    return pc_fail(err, PCAL_USAGE,
                   "power is about the difference between two models; give the other one with "
                   "{against_logits} or {against_probs}");
  return results->level > 0 ? PCAL_OK
                            : pc_fail(err, PCAL_USAGE, "a plan needs results with intervals");
}

static double sample_plan_ceiling(double rows) {
  return isfinite(rows) ? fmax(ceil(rows), 2.0) : (double)NAN;
}

pc_sample_plan pc_sample_plan_for(const pcal_results *results, const pcal_plan_config *config,
                                  const pc_result_record *record) {
  const pc_interval_result *interval_result = &record->interval_result;
  const double none = (double)NAN, z = pc_normal_quantile(0.5 + 0.5 * results->level);
  const int power = config->power > 0;
  const double goal =
      power ? config->difference > 0 ? config->difference : fabs(interval_result->difference)
            : config->width;
  const double reach = power ? z + pc_normal_quantile(config->power) : 2.0 * z;
  pc_sample_plan plan = {.known = power ? interval_result->has_difference_interval
                                        : interval_result->has_interval,
                         .value = none,
                         .se = none,
                         .width = none,
                         .rows_needed = none};
  if (!plan.known)
    return plan;
  plan.value = power ? interval_result->difference : record->outcome.value;
  plan.se = power ? interval_result->difference_se : interval_result->se;
  plan.width = power ? interval_result->difference_high - interval_result->difference_low
                     : interval_result->high - interval_result->low;
  if (goal > 0)
    plan.rows_needed =
        sample_plan_ceiling(results->effective * pc_pow(reach * plan.se / goal, 2.0));
  return plan;
}
