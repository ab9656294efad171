/* Laws of every row of the metric registry: intervals contain their estimate, stay in the range of
 * their metric, and have a width. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emulated.h"
#include "law_measure.h"

#define INTERVAL_WINDOW 40     /* rows; unbiased estimates of so few are often negative */
#define INTERVAL_STEP 150      /* rows from window to window */
#define INTERVAL_ROUNDING 1e-6 /* a smaller standard error may be one of rounding alone */

static void interval_law_fail(const law_case *about, const pcal_result *result, size_t first,
                              const char *what) {
  fail_msg("%s on %s from row %zu: the interval [%.17g, %.17g] of %.17g (se %.3g) %s",
           result->spec, about->set->name, first, result->low, result->high, result->value,
           result->se, what);
}

static void interval_law(const law_case *about, const pcal_result *result,
                         const pc_range *range, size_t first) {
  const double value = result->value;
  if (!result->defined || !result->has_interval)
    return;
  if (!(result->low <= value && value <= result->high))
    interval_law_fail(about, result, first, "does not contain it");
  if (result->low < fmin(range->low, value) || result->high > fmax(range->high, value))
    interval_law_fail(about, result, first, "leaves the range of the metric");
  if (result->high < range->low || result->low > range->high)
    interval_law_fail(about, result, first, "is outside of the range of the metric");
  if (!(result->high > result->low) && result->se > INTERVAL_ROUNDING)
    interval_law_fail(about, result, first, "has no width");
}

/* Rows whose intervals were seen, and those that had a negative value. */
static uint8_t interval_law_seen[256], interval_law_negative[256];

static size_t interval_law_number(const pc_metric *metric) {
  size_t m = 0;
  while (pc_metric_at(m) != metric)
    m++;
  assert_true(m < sizeof interval_law_seen);
  return m;
}

static const pc_metric *interval_law_metric(const law_case *about, const char *name) {
  size_t s = 0;
  while (s < about->specs->count && strcmp(about->specs->metric[s]->row.name, name) != 0)
    s++;
  assert_true(s < about->specs->count);
  return about->specs->metric[s];
}

static void interval_law_note(const pc_metric *metric, const pcal_result *result) {
  const size_t m = interval_law_number(metric);
  interval_law_seen[m] |= result->defined && result->has_interval;
  interval_law_negative[m] |= result->defined && result->value < 0.0;
}

/* A row without a range may have any value: then the laws should see a negative one. */
static void interval_law_declared(void) {
  for (size_t m = 0; m < pc_metric_count(); m++) {
    const pc_metric *metric = pc_metric_at(m);
    const int declared = metric->range.low < metric->range.high;
    if (!declared && metric->row.bound == PCAL_BOUND_NONE && interval_law_seen[m] &&
        !interval_law_negative[m])
      fail_msg("%s is never negative, but its row declares no range; add .range to it",
               metric->row.name);
  }
}

static void interval_law_rows(const law_case *about, size_t first, size_t count) {
  pcal_measure *measure = law_new(about);
  law_feed(measure, about, first, count);
  pcal_results *results = law_finish(measure);
  for (size_t i = 0; i < pcal_results_count(results); i++) {
    pcal_result result = {.size = sizeof result};
    pcal_results_get(results, i, &result);
    const pc_metric_config config = law_spec_config(about->set, result.spec);
    interval_law(about, &result, &config.range, first);
    interval_law_note(interval_law_metric(about, result.metric), &result);
  }
  pcal_results_free(results);
  pcal_measure_free(measure);
}

static void interval_law_all(const law_case *about) {
  interval_law_rows(about, 0, about->set->rows);
}

TEST(test_intervals_contain_their_estimate_and_stay_in_range) {
  law_for_all_sure(0, interval_law_all);
  interval_law_declared();
}

/* Few rows, and no wrong ones. */
static void interval_law_windows(law_set *set) {
  law_specs specs;
  law_specs_make(set, 0, 0, &specs);
  law_case about = law_case_make(set, &specs);
  about.sure = 1;
  for (size_t first = 0; first + INTERVAL_WINDOW <= set->rows; first += INTERVAL_STEP)
    interval_law_rows(&about, first, INTERVAL_WINDOW);
  law_specs_free(&specs);
}

/* Makes every label the predicted class. */
static void interval_law_right(law_set *set) {
  double *scores = law_scores_as_doubles(set);
  const double half = set->kind == PCAL_LOGIT ? 0.0 : 0.5;
  for (size_t i = 0; i < set->rows; i++) {
    const double *row = scores + i * set->columns;
    size_t top = 0;
    for (size_t k = 1; k < set->columns; k++)
      top = row[k] > row[top] ? k : top;
    set->labels[i] = set->kind == PCAL_CONFIDENCE ? 1
                     : set->columns == 1          ? row[0] > half
                                                  : (int32_t)top;
  }
  free(scores);
}

TEST(test_intervals_of_few_rows_stay_in_range) {
  for (size_t s = 0; s < law_set_count(); s += emulated() ? 2 : 1) {
    law_set *set = law_set_make(s);
    interval_law_windows(set);
    if (s < law_class_set_count()) {
      interval_law_right(set);
      interval_law_windows(set);
    }
    law_set_free(set);
  }
}
