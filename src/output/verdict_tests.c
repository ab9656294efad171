/* Tests of calibration, and intervals over groups, beside a verdict that finds mean and ECE
 * calibrated.
 *
 * p-values of the results over all rows:
 *   tests (spiegelhalter, cox, ...)              their p-value
 *   metrics with a known value of a calibrated   2 P(Z > |value - known| / se)
 *   model on the plain scale (calibration slope
 *   and intercept)
 * Rules, with m such p-values and p the smallest of them:
 *   (1) p < 0.05 / m (Bonferroni): the test contradicts, and the verdict is "uneven";
 *   (2) else p < 0.05: the verdict stays, and says that chance alone shows such a p among m;
 *   (3) else nothing is said;
 *   (4) an interval of the largest error of groups that excludes 0 contradicts, whatever the
 *       tests show.
 * Edge cases:
 *   (1) undefined results and standard errors that are 0 or not finite do not count;
 *   (2) oe-ratio does not count: the mean gap of the verdict is the same question.
 * Cost: O(metrics). */
#include <math.h>

#include "metrics/metric.h"
#include "output/verdict.h"
#include "stats/distributions.h"

#define VERDICT_TESTS_LEVEL 0.05

/* The p-value of a record, or NaN if it is no test. */
static double verdict_tests_p_value(const pcal_results *results,
                                    const pc_result_record *record) {
  const pc_metric_result *outcome = &record->outcome;
  const pc_metric *metric = pc_metric_find_for(results->layout.form, record->metric);
  const double se =
      record->interval_result.has_interval ? record->interval_result.se : outcome->se;
  if (outcome->undefined)
    return (double)NAN;
  if (outcome->tested)
    return outcome->p_value;
  if (metric == NULL || !(metric->traits & PC_KNOWN_IF_CALIBRATED) ||
      outcome->scale != PC_SCALE_PLAIN || !(se > 0 && isfinite(se)))
    return (double)NAN;
  return 2 * pc_normal_tail(fabs(outcome->value - metric->if_calibrated) / se);
}

/* Rule (4): 1 if the verdict is now that of groups. */
static int verdict_tests_groups(const pcal_results *results, pcal_verdict *out) {
  for (size_t m = 0; results->group_count > 0 && m < results->metric_count; m++) {
    const pc_result_record *record = &results->records[m];
    const pc_metric *metric = pc_metric_find_for(results->layout.form, record->metric);
    const pc_interval_result *interval = &record->interval_result;
    if (metric == NULL || !(metric->traits & PC_LARGEST_OF_GROUPS) || !interval->has_interval ||
        !(interval->low > 0))
      continue;
    out->kind = PCAL_VERDICT_UNEVEN;
    out->test = record->label;
    out->test_p_value = (double)NAN;
    out->has_where = 0; /* no range of scores is to blame */
    return 1;
  }
  return 0;
}

void pc_verdict_test(const pcal_results *results, pcal_verdict *out) {
  if (out->kind != PCAL_VERDICT_CALIBRATED || verdict_tests_groups(results, out))
    return;
  for (size_t m = 0; m < results->metric_count; m++) {
    const double p = verdict_tests_p_value(results, &results->records[m]);
    if (isnan(p))
      continue;
    out->test_count++;
    if (p < VERDICT_TESTS_LEVEL && (out->test == NULL || p < out->test_p_value)) {
      out->test = results->records[m].label;
      out->test_p_value = p;
    }
  }
  if (out->test != NULL && out->test_p_value * (double)out->test_count < VERDICT_TESTS_LEVEL)
    out->kind = PCAL_VERDICT_UNEVEN;
}
