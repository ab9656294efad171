/* The verdict on predictions of a number, from the bins of u = F(y), the probability integral
 * transform (data/forecast.h).
 *
 *   mean, variance  of u; 1/2 and 1/12 in a calibrated model; the variance for samples
 *                   (1 - 1/(n+1)^2)/12 and for quantiles (1 - a^3 - b^3)/12, a and b the
 *                   probabilities below and above all levels, whose u are in one place
 *   margins         2.24 sqrt(1/12 / N) and 2.24 sqrt(1/180 / N): what chance alone moves
 *                   them by; each is exceeded once in forty by a calibrated model
 * Rules: (1) both within their margins: nothing to repair is seen; (2) variance above: too
 * narrow, below: too wide; (3) mean above 1/2: too low, below: too high. */
#include <math.h>

#include "core/number.h"
#include "report/report.h"

#define VERDICT_FORECAST_DEVIATIONS 2.24

typedef struct verdict_forecast_facts {
  double n, mean, variance, expected, mean_margin, variance_margin;
} verdict_forecast_facts;

static double verdict_forecast_expected(const pc_layout *layout) {
  const double n = (double)layout->columns;
  if (layout->form == PC_FORM_SAMPLES)
    return (1 - 1 / ((n + 1) * (n + 1))) / 12;
  if (layout->form != PC_FORM_QUANTILES)
    return 1.0 / 12;
  const double a = layout->levels[0], b = 1 - layout->levels[layout->columns - 1];
  return (1 - a * a * a - b * b * b) / 12;
}

static verdict_forecast_facts verdict_forecast_collect(const pcal_results *results) {
  verdict_forecast_facts facts = {.n = results->weight};
  double square = 0.0;
  for (size_t b = 0; b < results->bin_count; b++) {
    facts.mean += results->bins[b].score / facts.n;
    square += results->bins[b].score_square / facts.n;
  }
  facts.variance = fmax(square - facts.mean * facts.mean, 0.0);
  facts.expected = verdict_forecast_expected(&results->layout);
  facts.mean_margin = VERDICT_FORECAST_DEVIATIONS * sqrt(1.0 / 12 / facts.n);
  facts.variance_margin = VERDICT_FORECAST_DEVIATIONS * sqrt(1.0 / 180 / facts.n);
  return facts;
}

static void verdict_forecast_number(double value, pc_text *out) {
  char digits[PC_NUMBER_MAX];
  pc_number_fixed(value, 3, digits);
  pc_text_add(out, digits);
}

static void verdict_forecast_head(const verdict_forecast_facts *facts, int shifted, int scaled,
                                  pc_text *out) {
  const char *width = facts->variance > facts->expected
                          ? "Over-confident: predicted distributions are too narrow"
                          : "Under-confident: predicted distributions are too wide";
  if (!shifted && !scaled)
    pc_text_add(out, "Well calibrated, as far as these rows can tell");
  else if (scaled)
    pc_text_add(out, width);
  if (shifted)
    pc_text_format(out, "%s %s", scaled ? ", and" : "Predictions are",
                   facts->mean > 0.5 ? "too low" : "too high");
  pc_text_add(out, ". The predicted probability of a value up to the target has a mean of ");
  verdict_forecast_number(facts->mean, out);
  pc_text_add(out, " and a variance of ");
  verdict_forecast_number(facts->variance, out);
  pc_text_add(out, "; calibrated: 0.500 (chance alone: up to ");
  verdict_forecast_number(facts->mean_margin, out);
  pc_text_add(out, " off) and ");
  verdict_forecast_number(facts->expected, out);
  pc_text_add(out, " (");
  verdict_forecast_number(facts->variance_margin, out);
  pc_text_add(out, ").\n");
}

static const char *verdict_forecast_repair(const pc_layout *layout, int scaled) {
  if (layout->form == PC_FORM_GAUSSIAN && scaled)
    return "variance-platt (propercal fit --method variance-platt) on held-out rows; it "
           "changes "
           "the variances and keeps the means.";
  return "quantile-isotonic (propercal fit --method quantile-isotonic) on held-out rows; it "
         "moves quantiles to where targets really fall.";
}

void pc_verdict_forecast(const pcal_results *results, pc_text *out) {
  const verdict_forecast_facts facts = verdict_forecast_collect(results);
  const int shifted = fabs(facts.mean - 0.5) > facts.mean_margin;
  const int scaled = fabs(facts.variance - facts.expected) > facts.variance_margin;
  verdict_forecast_head(&facts, shifted, scaled, out);
  pc_text_add(out, "What to try: ");
  if (shifted || scaled)
    pc_text_add(out, verdict_forecast_repair(&results->layout, scaled));
  else if (facts.n < 1000)
    pc_text_add(out, "leave it alone; with so few rows small errors cannot be seen, so gather "
                     "more before you rely on it.");
  else
    pc_text_add(out, "leave it alone.");
}
