/* The mean of the binned ECE.
 *
 * Formula:  with gap_b = conf_b - acc_b, v_b = (var conf_b + acc_b (1 - acc_b)) / n_b
 *   mean      = sum_b (n_b/N) E|normal(gap_b, v_b)|
 *             = sum_b (n_b/N) [sqrt(2 v_b/pi) exp(-gap_b^2 / (2 v_b)) + gap_b erf(gap_b/sqrt(2
 * v_b))] null mean = sum_b (n_b/N) sqrt(2 v_b/pi) chance: as null mean, with v_b not below
 * mean(p (1 - p)) / n_b; the variance of the sum is sum_b (n_b/N)^2 v_b (1 - 2/pi) Edge cases:
 * (1) empty bins add nothing; (2) v_b = 0 gives |gap_b|. Source: Gruber & Buettner 2022,
 * Proposition 3.3 and appendix D.5. Accuracy: a few ulp of the gaps.   Cost: O(bins). */
#include "stats/sample_size.h"

#include <math.h>

#define SAMPLE_HALF_NORMAL_MEAN 0.79788456080286535588 /* sqrt(2/pi) */

double pc_folded_normal_mean(double mean, double deviation) {
  if (deviation <= 0)
    return fabs(mean);
  const double z = mean / deviation;
  return SAMPLE_HALF_NORMAL_MEAN * deviation * exp(-z * z / 2) + mean * erf(z / sqrt(2.0));
}

/* The variance of score - outcome in a bin, as if both varied independently. */
static double sample_size_variance(const pc_bin *bin) {
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
    const double deviation = sqrt(sample_size_variance(bin) / bin->weight);
    out.mean += share * pc_folded_normal_mean(gap, deviation);
    out.null_mean += share * pc_folded_normal_mean(0.0, deviation);
  }
  return out;
}

pc_chance_ece pc_chance_ece_of(const pc_bin *bins, size_t count, double total) {
  pc_chance_ece out = {0.0, 0.0};
  const double rest = 1 - SAMPLE_HALF_NORMAL_MEAN * SAMPLE_HALF_NORMAL_MEAN;
  for (size_t b = 0; b < count; b++) {
    const pc_bin *bin = &bins[b];
    if (bin->weight <= 0)
      continue;
    const double share = bin->weight / total;
    const double variance = fmax(sample_size_variance(bin), pc_bin_spread(bin)) / bin->weight;
    out.mean += share * pc_folded_normal_mean(0.0, sqrt(variance));
    out.deviation += share * share * variance * rest;
  }
  out.deviation = sqrt(out.deviation);
  return out;
}

double pc_bin_spread(const pc_bin *bin) {
  return fmax((bin->score - bin->score_square) / bin->weight, 0.0);
}
