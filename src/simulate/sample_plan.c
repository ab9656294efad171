/* Formula, n0 rows of the pilot, se the standard error there, which falls as 1 / sqrt(n):
 *   width w:   n = n0 (2 z se / w)^2,  z the normal quantile of (1 + level) / 2
 *   power:     n = n0 ((z + z_power) se_d / d)^2,  d the difference to be seen, se_d its
 * standard error in the pilot Edge cases: (1) a metric without a standard error, or a
 * difference of 0, has no answer; (2) the answer is at least 2 and rounded up; (3) metrics that
 * are biased at few rows (ece, mce, ks near 0) keep a bias that no width shows: the numbers are
 * about their spread only. Source: the usual sample-size formulas; Cohen, Statistical Power
 * Analysis, 1988. */
#include "simulate/sample_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "base/number.h"
#include "base/rng.h"

enum {
  SAMPLE_PLAN_METRIC,
  SAMPLE_PLAN_VALUE,
  SAMPLE_PLAN_ROWS,
  SAMPLE_PLAN_SE,
  SAMPLE_PLAN_WIDTH,
  SAMPLE_PLAN_NEEDED
};

static double sample_plan_ceiling(double rows) {
  return isfinite(rows) ? fmax(ceil(rows), 2.0) : (double)NAN;
}

static pcal_status sample_plan_check(const pcal_results *results,
                                     const pcal_plan_config *config, pcal_error *err) {
  if (!(config->width > 0) && !(config->power > 0))
    return pc_fail(
        err, PCAL_USAGE,
        "a plan needs a goal: the width of an interval ({width}) or the power to see "
        "a difference ({power})");
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

static void sample_plan_columns(const pcal_results *results, const pcal_plan_config *config,
                                pc_table *table) {
  char level[PC_NUMBER_MAX], goal[PC_NUMBER_MAX];
  const int power = config->power > 0;
  const char *const columns[] = {
      "metric", power ? "difference" : "value", "pilot_rows", "se", "width", "rows_needed"};
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    pc_table_add_column(table, columns[c]);
  if (power)
    snprintf(
        table->summary, sizeof table->summary,
        "rows at which the difference to the other model is seen with probability %s, by %s "
        "intervals",
        pc_show(config->power, goal), pc_show(results->level, level));
  else
    snprintf(table->summary, sizeof table->summary, "rows at which the %s interval is %s wide",
             pc_show(results->level, level), pc_show(config->width, goal));
}

static pcal_status sample_plan_row(const pcal_results *results, const pcal_plan_config *config,
                                   const pc_result_record *record, pc_table *table,
                                   pcal_error *err) {
  const pc_interval_result *interval_result = &record->interval_result;
  const double z = pc_normal_quantile(0.5 + 0.5 * results->level), rows = results->effective;
  const int power = config->power > 0;
  const int known =
      power ? interval_result->has_difference_interval : interval_result->has_interval;
  const double se = power ? interval_result->difference_se : interval_result->se;
  const double goal =
      power ? config->difference > 0 ? config->difference : fabs(interval_result->difference)
            : config->width;
  const double reach = power ? z + pc_normal_quantile(config->power) : 2.0 * z;
  PC_TRY(pc_table_add_row(table, err));
  pc_table_set_word(table, SAMPLE_PLAN_METRIC, record->label);
  pc_table_set_number(table, SAMPLE_PLAN_ROWS, rows);
  if (!known)
    return PCAL_OK;
  pc_table_set_number(table, SAMPLE_PLAN_VALUE,
                      power ? interval_result->difference : record->outcome.value);
  pc_table_set_number(table, SAMPLE_PLAN_SE, se);
  pc_table_set_number(table, SAMPLE_PLAN_WIDTH,
                      power ? interval_result->difference_high - interval_result->difference_low
                            : interval_result->high - interval_result->low);
  if (goal > 0)
    pc_table_set_number(table, SAMPLE_PLAN_NEEDED,
                        sample_plan_ceiling(rows * pc_pow(reach * se / goal, 2.0)));
  return PCAL_OK;
}

pcal_status pc_sample_plan(const pcal_results *results, const pcal_plan_config *config,
                           pc_table *table, pcal_error *err) {
  PC_TRY(sample_plan_check(results, config, err));
  sample_plan_columns(results, config, table);
  size_t lacking = 0;
  for (size_t m = 0; m < results->metric_count; m++) {
    const pc_interval_result *interval_result = &results->records[m].interval_result;
    PC_TRY(sample_plan_row(results, config, &results->records[m], table, err));
    lacking += !(config->power > 0 ? interval_result->has_difference_interval
                                   : interval_result->has_interval);
  }
  const size_t length = strlen(table->summary);
  if (lacking > 0)
    snprintf(table->summary + length, sizeof table->summary - length,
             "; a test has no interval, nor has a value that is undefined, and so no answer");
  return PCAL_OK;
}
