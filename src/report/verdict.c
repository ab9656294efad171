/* The verdict: what the numbers mean, in plain words.
 *
 * From the reliability table of the natural view (15 bins of equal width):
 *   gap     mean score less share of hits
 *   margin  1.96 sqrt(v / n), v the larger of a (1 - a), a: share of hits, and of the mean of
 *           p (1 - p) over scores p; what chance alone moves it by
 *   ECE     sum_b n_b/N |conf_b - acc_b|
 *   chance  what sample size alone would show: the part null of ece-expected, with the
 *           variance of each bin not below the mean of p (1 - p), which bins of few rows need;
 *           and its standard deviation (stats/sample_size.h)
 *   extreme sum_b n_b/N (conf_b - acc_b) sign(conf_b - 1/2), for class 1: above 0 when scores
 *           lie too close to 0 and 1, below 0 when too close to 1/2
 * Rules: (1) |gap| within the margin and the ECE at most 2.33 deviations above chance: nothing
 * to repair is seen (a calibrated model passes 19 times in 20: the first fails it in at most
 * one case of twenty, the second adds one in a hundred); (2) class 1, |extreme| above half of
 * the ECE and above 1.5 |gap|: over- or under-confident; (3) |gap| beyond the margin: too sure
 * or not sure enough; for class 1: too high or too low; (4) else errors of both signs that
 * cancel on average.  The place named is the bin that adds most to the ECE. */
#include <math.h>
#include <string.h>

#include "core/number.h"
#include "report/report.h"
#include "stats/sample_size.h"

#define VERDICT_DEVIATIONS 2.33

typedef struct verdict_facts {
  double n, score, hits; /* means */
  double spread;         /* mean of p (1 - p) */
  double gap, margin;    /* gap: score - hits */
  double ece;
  pc_chance_ece chance;
  double over, under; /* shares of the ECE by sign */
  double extreme;
  const pc_bin *worst;
  int binary;
} verdict_facts;

static void verdict_add_bin(verdict_facts *facts, const pc_bin *bin, double *worst) {
  const double share = bin->weight / facts->n;
  const double gap = pc_bin_confidence(bin) - pc_bin_frequency(bin);
  facts->score += bin->score / facts->n;
  facts->hits += bin->hits / facts->n;
  facts->spread += share * pc_bin_spread(bin);
  facts->ece += share * fabs(gap);
  facts->over += gap > 0 ? share * gap : 0.0;
  facts->under += gap < 0 ? -share * gap : 0.0;
  facts->extreme += share * (pc_bin_confidence(bin) >= 0.5 ? gap : -gap);
  if (share * fabs(gap) > *worst) {
    *worst = share * fabs(gap);
    facts->worst = bin;
  }
}

static verdict_facts verdict_collect(const pcal_results *results) {
  verdict_facts facts = {.n = results->weight, .binary = pc_layout_binary(&results->layout)};
  double worst = -1.0;
  for (size_t b = 0; b < results->bin_count; b++)
    if (results->bins[b].weight > 0)
      verdict_add_bin(&facts, &results->bins[b], &worst);
  facts.chance = pc_chance_ece_of(results->bins, results->bin_count, facts.n);
  facts.gap = facts.score - facts.hits;
  facts.margin = 1.96 * sqrt(fmax(facts.hits * (1 - facts.hits), facts.spread) / facts.n);
  return facts;
}

static void verdict_percent(double share, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(100 * share, 1, digits);
  pc_text_format(out, "%s %%", digits);
}

static void verdict_points(double share, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(100 * fabs(share), 1, digits);
  pc_text_format(out, "%s points", digits);
}

static void verdict_round(double value, int digits, pc_text *out) {
  char text[PC_NUMBER_MAX];
  pc_number_round(value, digits, text);
  pc_text_add(out, text);
}

static void verdict_average(const verdict_facts *facts, pc_text *out) {
  pc_text_add(out, facts->binary ? "Class 1 is predicted with " : "The model claims ");
  verdict_percent(facts->score, out);
  pc_text_add(out,
              facts->binary ? " on average and occurs in " : " on average and is right in ");
  verdict_percent(facts->hits, out);
  pc_text_add(out, " of the rows");
}

/* Scores of class 1 that are too extreme (1) or not extreme enough (-1) rather than too high or
 * too low. */
static int verdict_tilt(const verdict_facts *facts) {
  const double size = fabs(facts->extreme);
  if (!facts->binary || size <= 0.5 * facts->ece || size <= 1.5 * fabs(facts->gap))
    return 0;
  return facts->extreme > 0 ? 1 : -1;
}

static void verdict_head(const verdict_facts *facts, int fine, int real, pc_text *out) {
  const int tilt = verdict_tilt(facts);
  if (fine)
    pc_text_add(out, "Well calibrated, as far as these rows can tell. ");
  else if (tilt != 0)
    pc_text_add(out, tilt > 0 ? "Over-confident: probabilities lie too close to 0 and 1. "
                              : "Under-confident: probabilities lie too close to one half. ");
  else if (!real)
    pc_text_add(out, "Right on average, but wrong in places. ");
  else if (facts->binary)
    pc_text_add(out, facts->gap > 0 ? "Probabilities too high. " : "Probabilities too low. ");
  else
    pc_text_add(out, facts->gap > 0 ? "Over-confident. " : "Under-confident. ");
  verdict_average(facts, out);
  if (real) {
    pc_text_add(out, ": ");
    verdict_points(facts->gap, out);
    pc_text_add(out, facts->gap > 0 ? " too much" : " too little");
  }
  pc_text_add(out, " (chance alone: up to ");
  verdict_points(facts->margin, out);
  pc_text_add(out, ").\n");
}

static void verdict_where(const verdict_facts *facts, pc_text *out) {
  const pc_bin *bin = facts->worst;
  const double share = bin->weight / facts->n *
                       fabs(pc_bin_confidence(bin) - pc_bin_frequency(bin)) / facts->ece;
  pc_text_add(out, "Where: the largest part of the error, ");
  verdict_percent(share, out);
  pc_text_add(out, ", lies at scores from ");
  verdict_round(bin->low, 2, out);
  pc_text_add(out, " to ");
  verdict_round(bin->high, 2, out);
  pc_text_add(out, " (");
  verdict_percent(bin->weight / facts->n, out);
  pc_text_add(out, " of the rows): claimed ");
  verdict_percent(pc_bin_confidence(bin), out);
  pc_text_add(out, ", true ");
  verdict_percent(pc_bin_frequency(bin), out);
  pc_text_add(out, ".\n");
}

static void verdict_size(const verdict_facts *facts, pc_text *out) {
  pc_text_add(out, "How much of it is chance: the ECE is ");
  verdict_round(facts->ece, 3, out);
  pc_text_add(out, "; sample size alone would show about ");
  verdict_round(facts->chance.mean, 2, out);
  pc_text_add(out, " in a calibrated model");
  if (facts->ece > facts->chance.mean) {
    pc_text_add(out, ", ");
    verdict_percent(facts->chance.mean / facts->ece, out);
    pc_text_add(out, " of it");
  }
  pc_text_add(out, ".\n");
}

static int verdict_mixed(const verdict_facts *facts) {
  return fmin(facts->over, facts->under) > 0.25 * facts->ece;
}

static const char *verdict_repair(const verdict_facts *facts) {
  if (facts->spread == 0.0)
    return "every score is 0 or 1, so there is nothing to scale; get graded scores from the "
           "model.";
  if (verdict_tilt(facts) != 0)
    return "temperature scaling (propercal fit) on held-out rows.";
  if (facts->binary || verdict_mixed(facts))
    return "one temperature cannot repair this; histogram binning (propercal fit --method "
           "histogram) on some thousand held-out rows can.";
  return facts->gap > 0 ? "temperature scaling (propercal fit) on held-out rows; it lowers the "
                          "confidences and keeps every predicted class."
                        : "temperature scaling (propercal fit) on held-out rows; it raises the "
                          "confidences and keeps every predicted class.";
}

static void verdict_advice(const verdict_facts *facts, int fine, pc_text *out) {
  pc_text_add(out, "What to try: ");
  if (!fine)
    pc_text_add(out, verdict_repair(facts));
  else if (facts->n < 1000)
    pc_text_add(out, "leave it alone; with so few rows small errors cannot be seen, so gather "
                     "more before you rely on it.");
  else
    pc_text_add(out, "leave it alone.");
}

static void verdict_one_class(const pcal_results *results, pc_text *out) {
  if (results->only_label < 0)
    return;
  pc_text_add(out, "Careful: every label is ");
  if ((size_t)results->only_label < results->class_count)
    pc_text_format(out, "\"%s\"", results->class_names[results->only_label]);
  else
    pc_text_format(out, "class %d", (int)results->only_label);
  pc_text_add(out, "; calibration cannot be judged from one class, so check the labels.\n");
}

void pc_verdict(const pcal_results *results, pc_text *out) {
  if (results->layout.form != PC_FORM_CLASSES) {
    pc_verdict_forecast(results, out);
    return;
  }
  const verdict_facts facts = verdict_collect(results);
  const int real = fabs(facts.gap) > facts.margin;
  const double limit = facts.chance.mean + VERDICT_DEVIATIONS * facts.chance.deviation;
  const int fine = !real && facts.ece <= limit;
  verdict_one_class(results, out);
  verdict_head(&facts, fine, real, out);
  if (!fine && facts.worst != NULL)
    verdict_where(&facts, out);
  verdict_size(&facts, out);
  verdict_advice(&facts, fine, out);
}

pcal_status pc_verdict_keep(pcal_results *results, pcal_error *err) {
  pc_text text;
  pc_text_init(&text, &results->env);
  pc_verdict(results, &text);
  results->verdict = text.bytes;
  return pc_text_status(&text, err);
}
