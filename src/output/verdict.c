/* The verdict on classes: what the numbers mean.
 *
 * From the reliability table of the natural view (15 bins of equal width), with labels of a
 * calibrated model drawn from the scores (the null):
 *   gap      mean score less share of hits
 *   margin   (1.96 sqrt(V) + 1/2) / N, V = sum p (1 - p): what chance alone moves it by, with a
 *            half for outcomes being whole
 *   ECE      sum_b n_b/N |conf_b - acc_b|
 *   chance   the mean of the ECE under the null: that of the replicas where --null has drawn
 *            them for this ECE, else in closed form from the bins (stats/expected_ece.h); its
 *            standard deviation is in closed form, so --null does not change the verdict
 *   extreme  sum_b n_b/N (conf_b - acc_b) sign(conf_b - 1/2), for class 1: above 0 when scores
 *            lie too close to 0 and 1, below 0 when too close to 1/2
 * Rules:
 * (1) |gap| within the margin and the ECE at most 2.33 deviations above chance (in closed
 *     form): nothing to repair is seen (a calibrated model passes 19 times in 20: the first
 *     fails it in at most one case of twenty, the second adds one in a hundred);
 * (2) class 1, |extreme| above half of the ECE and above 1.5 |gap|: over- or under-confident;
 * (3) |gap| beyond the margin: too sure or not sure enough; for class 1: too high or too low;
 * (4) else errors of both signs that cancel on average.
 * The place named is the bin that adds most to the ECE. */
#include "output/verdict.h"

#include <math.h>
#include <string.h>

#include "stats/expected_ece.h"

#define VERDICT_DEVIATIONS 2.33
#define VERDICT_NORMAL 1.96

/* Sums over bins. */
typedef struct verdict_sums {
  double spread; /* mean of p (1 - p) */
  double extreme;
  double largest; /* part of the ECE in one bin */
} verdict_sums;

static void verdict_add_bin(const pc_bin *bin, verdict_sums *sums, pc_verdict *out) {
  const double share = bin->weight / out->rows;
  const double gap = pc_bin_confidence(bin) - pc_bin_frequency(bin);
  out->claimed += bin->score / out->rows;
  out->observed += bin->hits / out->rows;
  out->error += share * fabs(gap);
  sums->spread += share * pc_bin_outcome_variance(bin);
  sums->extreme += share * (pc_bin_confidence(bin) >= 0.5 ? gap : -gap);
  if (!(share * fabs(gap) > sums->largest))
    return;
  sums->largest = share * fabs(gap);
  out->worst.known = 1;
  out->worst.low = bin->low;
  out->worst.high = bin->high;
  out->worst.rows = share;
  out->worst.claimed = pc_bin_confidence(bin);
  out->worst.observed = pc_bin_frequency(bin);
}

/* The record of the ECE that the verdict speaks of, with a null; NULL where there is none. */
static const pc_result_record *verdict_null(const pcal_results *results) {
  const char *view =
      pc_layout_is_binary(&results->layout) ? "ece:view=positive" : "ece:view=top";
  const pc_result_record *record = pc_results_record(results, "ece");
  if (record == NULL || !record->interval_result.has_null)
    record = pc_results_record(results, view);
  return record != NULL && record->interval_result.has_null ? record : NULL;
}

/* Scores of class 1 that are too extreme (1) or not extreme enough (-1) rather than too high or
 * too low. */
static int verdict_tilt(const pc_verdict *verdict, const verdict_sums *sums) {
  const double size = fabs(sums->extreme);
  if (!verdict->binary || size <= 0.5 * verdict->error ||
      size <= 1.5 * fabs(verdict->claimed - verdict->observed))
    return 0;
  return sums->extreme > 0 ? 1 : -1;
}

static pc_verdict_kind verdict_kind(const pc_verdict *verdict, const verdict_sums *sums,
                                    double limit) {
  const int tilt = verdict_tilt(verdict, sums);
  const int more = verdict->claimed > verdict->observed;
  if (!verdict->off_average && verdict->error <= limit)
    return PC_VERDICT_CALIBRATED;
  if (tilt != 0)
    return tilt > 0 ? PC_VERDICT_OVER : PC_VERDICT_UNDER;
  if (!verdict->off_average)
    return PC_VERDICT_UNEVEN;
  if (verdict->binary)
    return more ? PC_VERDICT_HIGH : PC_VERDICT_LOW;
  return more ? PC_VERDICT_OVER : PC_VERDICT_UNDER;
}

/* A method that has been applied is not advised again. */
static void verdict_tried(const char *tried, pc_verdict *out) {
  const size_t length = strcspn(tried, ":");
  if (length == 0 || out->method == NULL || strlen(out->method) != length ||
      strncmp(tried, out->method, length) != 0)
    return;
  out->repair = PC_REPAIR_OTHER;
  out->method = out->other = NULL;
}

static void verdict_classes(const pcal_results *results, pc_verdict *out) {
  verdict_sums sums = {0.0, 0.0, 0.0};
  for (size_t b = 0; b < results->bin_count; b++)
    if (results->bins[b].weight > 0)
      verdict_add_bin(&results->bins[b], &sums, out);
  out->worst.share = out->worst.known ? sums.largest / out->error : 0.0;
  const pc_chance_ece chance = pc_chance_ece_of(results->bins, results->bin_count, out->rows);
  const pc_result_record *null = verdict_null(results);
  out->drawn = null != NULL;
  out->chance = null != NULL ? null->interval_result.null_mean : chance.mean;
  out->margin = (VERDICT_NORMAL * sqrt(sums.spread * out->rows) + 0.5) / out->rows;
  out->off_average = fabs(out->claimed - out->observed) > out->margin;
  out->kind = verdict_kind(out, &sums, chance.mean + VERDICT_DEVIATIONS * chance.deviation);
  pc_verdict_advise(results, out);
}

void pc_verdict_judge(const pcal_results *results, pc_verdict *out) {
  *out = (pc_verdict){.form = results->layout.form,
                      .binary = pc_layout_is_binary(&results->layout),
                      .rows = results->effective};
  if (results->layout.form == PC_FORM_CLASSES)
    verdict_classes(results, out);
  else
    pc_verdict_judge_forecast(results, out);
  verdict_tried(results->tried, out);
}
