/* Decompositions of proper scores by bins.
 *
 * Formula, Brier score, with c and q the mean score and mean outcome of a bin, y the mean
 * outcome of all rows:
 *   calibration       = sum_b n_b / N (c - q)^2
 *   sharpness         = sum_b n_b / N (q - y)^2
 *   entropy           = y (1 - y)
 *   within_variance   = 1/N sum_b sum_i (p_i - c)^2
 *   within_covariance = 2/N sum_b sum_i (p_i - c) (a_i - q)
 *   debiased          : q (1 - q) / (n_b - 1) is subtracted from the square of each bin;
 *                       y (1 - y) / (N - 1) is then added to sharpness and entropy
 * Formula, log score, with KL and H the divergence and entropy of a binary outcome and
 * L(q, p) = -q log p - (1 - q) log(1 - p):
 *   calibration       = sum_b n_b / N KL(q, c)
 *   sharpness         = sum_b n_b / N KL(q, y)
 *   entropy           = H(y)
 *   within_variance   = 1/N sum_b sum_i [L(q, p_i) - L(q, c)]
 *   within_covariance = 1/N sum_b sum_i (a_i - q) log(p_i / (1 - p_i))
 * Edge cases:
 *   (1) a bin with n_b < 2 adds nothing to the debiased calibration, as in ece: its whole
 *       (c - q)^2 is attributed to chance, and the debiased parts still add up; with fewer than
 *       two rows sharpness and entropy are not corrected;
 *   (2) 0 log 0 is 0;
 *   (3) a score of 0 that is a hit, or of 1 that is a miss, makes the log score infinite;
 *   (4) any other score of 0 or 1 in a bin with both outcomes adds the same infinite term,
 *       -q log 0 or -(1 - q) log 0, to both within-parts: it is left out of both, and
 *       within_variance may then be negative;
 *   (5) parts that are differences and cannot be negative are clamped to 0;
 *   (6) log score: the mean score of a bin, and 1 minus it, are at least the geometric mean:
 *       sums of scores are rounded to 2^-53 and may lose scores near 0.
 * Source: Murphy 1973; within-bin parts: Stephenson, Coelho & Jolliffe 2008; debiased: Broecker
 * 2012.
 * Accuracy: sums of rows exact to 2^-61, parts to a few ulp of 1.   Cost: O(bins). */
#include "stats/decompose.h"

#include <math.h>

#include "base/elementary.h"

static void decompose_brier_bin(const pc_bin *bin, double total, double rate,
                                pc_decomposition *sum) {
  const double n = bin->weight, share = n / total;
  const double c = pc_bin_confidence(bin), q = pc_bin_frequency(bin);
  const double calibration = (c - q) * (c - q), sharpness = (q - rate) * (q - rate);
  sum->calibration += share * calibration;
  sum->sharpness += share * sharpness;
  sum->within_variance += fmax(bin->score_square - bin->score * c, 0.0) / total;
  sum->within_covariance += 2 * (bin->score_hit - bin->score * q) / total;
  sum->score += (bin->score_square - 2 * bin->score_hit + bin->hits) / total;
  const double noise = n < 2 ? calibration : q * (1 - q) / (n - 1);
  sum->calibration_debiased += share * (calibration - noise);
  sum->sharpness_debiased += share * (sharpness - noise);
}

void pc_decompose_brier(const pc_bin *bins, size_t count, double total, pc_decomposition *sum) {
  double hits = 0.0;
  for (size_t b = 0; b < count; b++)
    hits += bins[b].hits;
  const double rate = hits / total, entropy = rate * (1 - rate);
  const double gain = total < 2 ? 0.0 : entropy / (total - 1);
  for (size_t b = 0; b < count; b++)
    if (bins[b].weight > 0)
      decompose_brier_bin(&bins[b], total, rate, sum);
  sum->entropy += entropy;
  sum->sharpness_debiased += gain;
  sum->entropy_debiased += entropy + gain;
}

double pc_weighted_log(double weight, double share) {
  if (!(weight > 0))
    return 0.0;
  return share > 0 ? weight * pc_log(share) : -INFINITY;
}

/* weight * sum; 0 times minus infinity is 0. */
static double decompose_times(double weight, double sum) {
  return weight > 0 ? weight * sum : 0.0;
}

double pc_binary_entropy(pc_binary_score score, double hits, double weight) {
  const double misses = weight - hits;
  if (score == PC_BINARY_BRIER)
    return hits * misses / weight;
  return -pc_weighted_log(hits, hits / weight) - pc_weighted_log(misses, misses / weight);
}

/* Edge case 6: raises a mean that rounding may have made 0 to the geometric mean of all numbers
 * or, if some of them are 0, to the share that the numbers of one outcome guarantee. */
static double decompose_mean(double mean, double weight, const pc_bin_logs *logs, unsigned own,
                             unsigned other, double own_weight) {
  if (!(own_weight > 0) || isinf(logs->sum[own]))
    return mean;
  const double part = own_weight / weight * pc_exp(logs->sum[own] / own_weight);
  const double all = (logs->infinite >> other & 1) != 0
                         ? 0.0
                         : pc_exp((logs->sum[own] + logs->sum[other]) / weight);
  return fmax(mean, fmax(part, all));
}

/* Sum of L(q, p_i) over a bin, without its infinite terms; *left_out: true if there were
 * any. */
static double decompose_inside(const pc_bin_logs *logs, double q, int *left_out) {
  const int zeros = q > 0 && (logs->infinite >> PC_LOG_MISS & 1) != 0;
  const int ones = q < 1 && (logs->infinite >> PC_LOG_REST_HIT & 1) != 0;
  *left_out = zeros || ones;
  return -decompose_times(q, logs->sum[PC_LOG_HIT] + logs->sum[PC_LOG_MISS]) -
         decompose_times(1 - q, logs->sum[PC_LOG_REST_HIT] + logs->sum[PC_LOG_REST_MISS]);
}

static void decompose_log_bin(const pc_bin *bin, const pc_bin_logs *logs, double total,
                              double rate, pc_decomposition *sum) {
  const double n = bin->weight, hits = bin->hits, misses = n - hits;
  const double q = pc_bin_frequency(bin), mean = pc_bin_confidence(bin);
  const double c = decompose_mean(mean, n, logs, PC_LOG_HIT, PC_LOG_MISS, hits);
  const double rest =
      decompose_mean(1 - mean, n, logs, PC_LOG_REST_MISS, PC_LOG_REST_HIT, misses);
  const double entropy = pc_binary_entropy(PC_BINARY_LOG, hits, n);
  const double given = -(logs->sum[PC_LOG_HIT] + logs->sum[PC_LOG_REST_MISS]);
  const double at_mean = -pc_weighted_log(hits, c) - pc_weighted_log(misses, rest);
  const double at_rate = -pc_weighted_log(hits, rate) - pc_weighted_log(misses, 1 - rate);
  int left_out;
  const double inside = decompose_inside(logs, q, &left_out), within = inside - at_mean;
  sum->score += given / total;
  sum->calibration += fmax(at_mean - entropy, 0.0) / total;
  sum->sharpness += fmax(at_rate - entropy, 0.0) / total;
  sum->within_variance += (left_out ? within : fmax(within, 0.0)) / total;
  sum->within_covariance += (inside - given) / total;
}

void pc_decompose_log(const pc_bin *bins, const pc_bin_logs *logs, size_t count, double total,
                      pc_decomposition *sum) {
  double hits = 0.0;
  for (size_t b = 0; b < count; b++)
    hits += bins[b].hits;
  for (size_t b = 0; b < count; b++)
    if (bins[b].weight > 0)
      decompose_log_bin(&bins[b], &logs[b], total, hits / total, sum);
  sum->entropy += pc_binary_entropy(PC_BINARY_LOG, hits, total) / total;
}
