/* The verdict on classes.
 *
 * From the reliability table (15 bins of equal width) of the scores of class 1, where there are
 * two classes, in one column or two; else of the top label.  It is compared with labels of a
 * calibrated model drawn from the scores (the null):
 *   gap      mean score minus share of hits
 *   margin   (1.96 sqrt(V) + 1/2) / N, V = sum p (1 - p): the gap that chance alone causes; the
 *            1/2 accounts for whole outcomes
 *   ECE      sum_b n_b/N |conf_b - acc_b|
 *   chance   mean of the ECE under the null, in closed form from the bins
 *            (stats/expected_ece.h); tables and figures show the same number (measure/finish.c).
 *            For importance weights that differ it needs replicas: those of --null, or of a
 *            figure of the same report, else it is unknown.  The limit of rule (1) is always in
 *            closed form, so --null does not change the verdict
 *   extreme  sum_b n_b/N (conf_b - acc_b) sign(conf_b - 1/2), for class 1: above 0 when scores
 *            lie too close to 0 and 1, below 0 when too close to 1/2
 * Rules:
 *   (1) |gap| within the margin and the ECE at most 2.33 deviations above chance: calibrated.  A
 *       calibrated model passes 19 times out of 20: the gap fails at most once in 20, the ECE
 *       once in 100;
 *   (2) class 1, |extreme| above half of the ECE and above 1.5 |gap|: over- or under-confident;
 *   (3) |gap| beyond the margin: over- or under-confident; for class 1: too high or too low;
 *   (4) else uneven: errors of both signs cancel on average;
 *   (5) more than two classes, of which some are predicted too often or too rarely
 *       (stats/class_means.h): calibrated by (1) becomes uneven; other kinds stay.  A
 *       calibrated model fails at most once in 100;
 *   (6) calibrated by (1) and (5), but a test among the results contradicts: uneven
 *       (verdict_tests.c).  A calibrated model then passes at least 18 times out of 20.
 * The bin reported is the one that adds most to the ECE. */
#include "output/verdict.h"

#include <math.h>
#include <string.h>

#include "stats/expected_ece.h"

#define VERDICT_DEVIATIONS 2.33
#define VERDICT_NORMAL 1.96

/* Sums over bins. */
typedef struct verdict_sums {
  double variance; /* mean of p (1 - p) */
  double extreme;
  double largest; /* largest contribution of one bin to the ECE */
} verdict_sums;

static void verdict_add_bin(const pc_bin *bin, verdict_sums *sums, pcal_verdict *out) {
  const double share = bin->weight / out->rows;
  const double gap = pc_bin_confidence(bin) - pc_bin_frequency(bin);
  out->claimed += bin->score / out->rows;
  out->observed += bin->hits / out->rows;
  out->error += share * fabs(gap);
  sums->variance += share * pc_bin_outcome_variance(bin);
  sums->extreme += share * (pc_bin_confidence(bin) >= 0.5 ? gap : -gap);
  if (!(share * fabs(gap) > sums->largest))
    return;
  sums->largest = share * fabs(gap);
  out->has_where = 1;
  out->where.low = bin->low;
  out->where.high = bin->high;
  out->where.rows = share;
  out->where.claimed = pc_bin_confidence(bin);
  out->where.observed = pc_bin_frequency(bin);
}

const pc_bin *pc_verdict_bins(const pcal_results *results) {
  return results->class_1_bins != NULL ? results->class_1_bins : results->bins;
}

static int verdict_has_null(const pcal_results *results) {
  for (size_t m = 0; m < results->metric_count; m++)
    if (results->records[m].interval_result.has_null)
      return 1;
  return 0;
}

double pc_verdict_drawn_chance(const pcal_results *results) {
  if (!verdict_has_null(results))
    return results->drawn_chance;
  const int of_class_1 = pc_layout_is_binary(&results->layout) || results->class_1_bins != NULL;
  const pc_result_record *record =
      pc_results_record(results, of_class_1 ? "ece:view=positive" : "ece:view=top");
  if (record == NULL && results->class_1_bins == NULL) /* view=auto */
    record = pc_results_record(results, "ece");
  if (record == NULL || !record->interval_result.has_null)
    return results->drawn_chance;
  return record->interval_result.null_mean;
}

/* True for importance weights that differ: closed forms of chance do not hold. */
static int verdict_weights_differ(const pcal_results *results) {
  return results->weights_are == PCAL_WEIGHTS_IMPORTANCE &&
         results->effective < (1.0 - 1e-9) * (double)results->rows;
}

/* Rule (2): 1 where scores of class 1 are too extreme, -1 where not extreme enough, else 0. */
static int verdict_tilt(const pcal_verdict *verdict, const verdict_sums *sums) {
  const double size = fabs(sums->extreme);
  if (!verdict->binary || size <= 0.5 * verdict->error ||
      size <= 1.5 * fabs(verdict->claimed - verdict->observed))
    return 0;
  return sums->extreme > 0 ? 1 : -1;
}

static pcal_verdict_kind verdict_kind(const pcal_verdict *verdict, const verdict_sums *sums,
                                      double limit) {
  const int tilt = verdict_tilt(verdict, sums);
  const int more = verdict->claimed > verdict->observed;
  if (!verdict->off_average && verdict->error <= limit)
    return PCAL_VERDICT_CALIBRATED;
  if (tilt != 0)
    return tilt > 0 ? PCAL_VERDICT_OVER_CONFIDENT : PCAL_VERDICT_UNDER_CONFIDENT;
  if (!verdict->off_average)
    return PCAL_VERDICT_UNEVEN;
  if (verdict->binary)
    return more ? PCAL_VERDICT_TOO_HIGH : PCAL_VERDICT_TOO_LOW;
  return more ? PCAL_VERDICT_OVER_CONFIDENT : PCAL_VERDICT_UNDER_CONFIDENT;
}

/* Replaces advice to fit the method that has already been applied. */
static void verdict_tried(const char *tried, pcal_verdict *out) {
  char name[PC_SPEC_MAX];
  if (tried[0] == '\0' || pc_spec_name(tried, name, sizeof name, NULL) != PCAL_OK ||
      out->method == NULL || strcmp(name, out->method) != 0)
    return;
  out->advice = PCAL_ADVICE_OTHER_METHOD;
  out->method = out->alternative = NULL;
}

/* Rule (5). */
static void verdict_class_means(const pc_class_means *means, pcal_verdict *out) {
  out->classes_off = means->off;
  if (means->off == 0)
    return;
  out->worst_class = means->worst;
  out->class_claimed = means->claimed;
  out->class_observed = means->observed;
  out->class_margin = means->margin;
  if (out->kind != PCAL_VERDICT_CALIBRATED)
    return;
  out->kind = PCAL_VERDICT_UNEVEN;
  out->has_where = 0; /* classes are to blame, not a range of scores */
}

static void verdict_classes(const pcal_results *results, pcal_verdict *out) {
  const pc_bin *bins = pc_verdict_bins(results);
  verdict_sums sums = {0.0, 0.0, 0.0};
  for (size_t b = 0; b < results->bin_count; b++)
    if (bins[b].weight > 0)
      verdict_add_bin(&bins[b], &sums, out);
  out->where.share = out->has_where ? sums.largest / out->error : 0.0;
  const pc_chance_ece chance = pc_chance_ece_of(bins, results->bin_count, out->rows);
  const double drawn = verdict_weights_differ(results) ? pc_verdict_drawn_chance(results) : 0.0;
  out->chance_is_drawn = drawn > 0.0;
  out->chance = drawn > 0.0                       ? drawn
                : verdict_weights_differ(results) ? (double)NAN
                                                  : chance.mean;
  out->margin = (VERDICT_NORMAL * sqrt(sums.variance * out->rows) + 0.5) / out->rows;
  out->off_average = fabs(out->claimed - out->observed) > out->margin;
  out->kind = verdict_kind(out, &sums, chance.mean + VERDICT_DEVIATIONS * chance.deviation);
  verdict_class_means(&results->class_means, out);
  pc_verdict_test(results, out);
  pc_verdict_advise(results, out);
}

void pc_verdict_judge(const pcal_results *results, pcal_verdict *out) {
  *out = (pcal_verdict){.size = sizeof *out,
                        .scores = results->layout.kind,
                        .binary = pc_layout_is_binary(&results->layout) ||
                                  results->class_1_bins != NULL,
                        .rows = results->effective};
  if (results->layout.form == PC_FORM_CLASSES)
    verdict_classes(results, out);
  else
    pc_verdict_judge_forecast(results, out);
  verdict_tried(results->tried, out);
}

const char *pcal_verdict_kind_name(pcal_verdict_kind kind) {
#define VERDICT_NAME(kind, name) name,
  static const char *const names[] = {PCAL_VERDICT_KIND_LIST(VERDICT_NAME)};
#undef VERDICT_NAME
  return (unsigned)kind < PCAL_VERDICT_END ? names[kind] : NULL;
}

const char *pcal_advice_name(pcal_advice advice) {
#define ADVICE_NAME(advice, name) name,
  static const char *const names[] = {PCAL_ADVICE_LIST(ADVICE_NAME)};
#undef ADVICE_NAME
  return (unsigned)advice < PCAL_ADVICE_END ? names[advice] : NULL;
}
