/* The mean of the binned ECE.
 *
 * Formula:  with gap_b = conf_b - acc_b, v_b = (var conf_b + acc_b (1 - acc_b)) / n_b
 *   mean      = sum_b (n_b/N) E|normal(gap_b, v_b)|
 *             = sum_b (n_b/N) [sqrt(2 v_b/pi) exp(-gap_b^2 / (2 v_b))
 *                              + gap_b erf(gap_b/sqrt(2 v_b))]
 *   null mean = sum_b (n_b/N) sqrt(2 v_b/pi)
 *   chance    = sum_b E|S_b| / N, S_b = outcomes minus scores of bin b if outcomes are drawn
 *               from the scores: E|S_b| of the binomial distribution with variance
 *               V_b = sum p (1 - p) and mean L = min(sum p, sum (1 - p)), the expected number
 *               of the rarer outcome:  q = 1 - V_b/L, n = L/q, m = floor(L),
 *               E|S_b| = 2 (m + 1) C(n, m + 1) q^(m + 1) (1 - q)^(n - m)   (de Moivre)
 *               the variance of the sum is sum_b (V_b - E|S_b|^2) / N^2
 * Edge cases:
 * (1) empty bins add nothing;
 * (2) v_b = 0 gives |gap_b|;
 * (3) chance: equal scores make this exact; for q below 1e-6 the Poisson distribution is used,
 *     for V_b above 1000 the normal one, sqrt(2 V_b/pi).
 * Source: Gruber & Buettner 2022, Proposition 3.3 and appendix D.5; Diaconis & Zabell,
 * Statistical Science 1991 (mean deviation of the binomial distribution).
 * Accuracy: a few ulp of the gaps; chance about 1e-3 relative where scores of a bin differ.
 * Cost: O(bins). */
#include "stats/expected_ece.h"

#include <math.h>

#include "base/elementary.h"
#include "kernels/lane_math.h"

#define EXPECTED_NORMAL 1000.0 /* above this variance the normal distribution is used */
#define EXPECTED_POISSON 1e-6
#define EXPECTED_HALF_NORMAL_MEAN 0.79788456080286535588 /* sqrt(2/pi) */

double pc_folded_normal_mean(double mean, double deviation) {
  if (deviation <= 0)
    return fabs(mean);
  const double z = mean / deviation;
  return EXPECTED_HALF_NORMAL_MEAN * deviation * pc_exp(-z * z / 2) +
         mean * pc_erf(z / sqrt(2.0));
}

/* The variance of score - outcome in a bin, if both are independent. */
static double expected_ece_variance(const pc_bin *bin) {
  const double mean = pc_bin_confidence(bin), rate = pc_bin_frequency(bin);
  return fmax(bin->score_square / bin->weight - mean * mean, 0.0) + rate * (1 - rate);
}

pc_expected_ece pc_expected_ece_of(const pc_bin *bins, size_t count, double total) {
  pc_expected_ece out = {0.0, 0.0};
  for (size_t b = 0; b < count; b++) {
    const pc_bin *bin = &bins[b];
    if (bin->weight <= 0)
      continue;
    const double share = bin->weight / total;
    const double gap = pc_bin_confidence(bin) - pc_bin_frequency(bin);
    const double deviation = sqrt(expected_ece_variance(bin) / bin->weight);
    out.mean += share * pc_folded_normal_mean(gap, deviation);
    out.null_mean += share * pc_folded_normal_mean(0.0, deviation);
  }
  return out;
}

double pc_bernoulli_mean_deviation(double rarer, double variance) {
  if (!(rarer > 0.0) || !(variance > 0.0))
    return 0.0;
  if (variance > EXPECTED_NORMAL)
    return EXPECTED_HALF_NORMAL_MEAN * sqrt(variance);
  const double q = 1.0 - variance / rarer, m = floor(rarer);
  if (q < EXPECTED_POISSON)
    return 2.0 * pc_exp((m + 1.0) * pc_log(rarer) - rarer - pc_lane_log_gamma(m + 1.0));
  const double n = rarer / q;
  const double choices = pc_lane_log_gamma(n + 1.0) - pc_lane_log_gamma(m + 2.0) -
                         pc_lane_log_gamma(n - m + 1.0) + pc_log(n - m);
  return 2.0 * (m + 1.0) * pc_exp(choices + (m + 1.0) * pc_log(q) + (n - m) * pc_log1p(-q));
}

pc_chance_ece pc_chance_ece_of(const pc_bin *bins, size_t count, double total) {
  pc_chance_ece out = {0.0, 0.0};
  for (size_t b = 0; b < count; b++) {
    const pc_bin *bin = &bins[b];
    if (bin->weight <= 0)
      continue;
    const double variance = pc_bin_outcome_variance(bin) * bin->weight;
    const double mean =
        pc_bernoulli_mean_deviation(fmin(bin->score, bin->weight - bin->score), variance);
    out.mean += mean / total;
    out.deviation += fmax(variance - mean * mean, 0.0) / (total * total);
  }
  out.deviation = sqrt(out.deviation);
  return out;
}

double pc_bin_outcome_variance(const pc_bin *bin) {
  return fmax((bin->score - bin->score_square) / bin->weight, 0.0);
}
