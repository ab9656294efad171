/* Decompositions of proper scores.
 *
 * Formula by bins, Brier score, with c, q the mean score and outcome of a bin, y the mean
 * outcome of all:
 *   calibration = sum_b n_b/N (c - q)^2          sharpness = sum_b n_b/N (q - y)^2
 *   entropy = y (1 - y)
 *   within_variance = 1/N sum_b sum_i (p_i - c)^2
 *   within_covariance = 2/N sum_b sum_i (p_i - c) (a_i - q)
 *   debiased: each square of a bin less q (1 - q) / (n_b - 1); sharpness and entropy then
 *   gain y (1 - y) / (N - 1)
 * Formula by bins, log score, with KL and H the divergence and entropy of two outcomes:
 *   calibration = sum_b n_b/N KL(q, c)          sharpness = sum_b n_b/N KL(q, y)
 *   entropy = H(y)
 *   within_variance = 1/N sum_b sum_i [L(q, p_i) - L(q, c)],
 *   L(q, p) = -q log p - (1 - q) log(1 - p)
 *   within_covariance = 1/N sum_b sum_i (a_i - q) log(p_i / (1 - p_i))
 * Formula by isotonic regression r of the outcomes (CORP), S the mean score:
 *   calibration = S(p) - S(r),  sharpness = S(y) - S(r),  entropy = S(y)
 * Edge cases: (1) bins with n_b < 2 give nothing to the debiased parts, and fewer than two rows
 * nothing to their gain; (2) 0 log 0 is 0: fitted values of 0 and 1 cost nothing; (3) a score
 * of 0 that came true, or of 1 that did not, makes the log score infinite; (4) any other score
 * of 0 or 1 beside outcomes of both kinds in its bin makes the within-parts infinite; (5) parts
 * that are differences and cannot be negative are not, whatever the rounding.
 * Source: Murphy 1973; within-bin parts: Stephenson, Coelho & Jolliffe 2008; debiased: Broecker
 * 2012; CORP: Dimitriadis, Gneiting & Jordan 2021.
 * Accuracy: sums of rows exact to 2^-61, parts to a few ulp of 1.   Cost: O(bins), O(n). */
#include "stats/decompose.h"

#include <math.h>

#include "stats/isotonic.h"

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
  if (n < 2)
    return;
  const double noise = q * (1 - q) / (n - 1);
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

/* weight * log(share); 0 log 0 is 0. */
static double decompose_log(double weight, double share) {
  if (!(weight > 0))
    return 0.0;
  return share > 0 ? weight * log(share) : -INFINITY;
}

/* weight * sum, where 0 times minus infinity is 0. */
static double decompose_times(double weight, double sum) {
  return weight > 0 ? weight * sum : 0.0;
}

/* The summed score of rows that are all given their own rate of hits. */
static double decompose_entropy(pc_binary_score score, double hits, double weight) {
  const double misses = weight - hits;
  if (score == PC_BINARY_BRIER)
    return hits * misses / weight;
  return -decompose_log(hits, hits / weight) - decompose_log(misses, misses / weight);
}

static void decompose_log_bin(const pc_bin *bin, const pc_bin_logs *logs, double total,
                              double rate, pc_decomposition *sum) {
  const double n = bin->weight, hits = bin->hits, misses = n - hits;
  const double c = pc_bin_confidence(bin), q = pc_bin_frequency(bin);
  const double entropy = decompose_entropy(PC_BINARY_LOG, hits, n);
  const double given = -(logs->sum[PC_LOG_HIT] + logs->sum[PC_LOG_REST_MISS]);
  const double at_mean = -decompose_log(hits, c) - decompose_log(misses, 1 - c);
  const double at_rate = -decompose_log(hits, rate) - decompose_log(misses, 1 - rate);
  const double inside =
      -decompose_times(q, logs->sum[PC_LOG_HIT] + logs->sum[PC_LOG_MISS]) -
      decompose_times(1 - q, logs->sum[PC_LOG_REST_HIT] + logs->sum[PC_LOG_REST_MISS]);
  sum->score += given / total;
  sum->calibration += fmax(at_mean - entropy, 0.0) / total;
  sum->sharpness += fmax(at_rate - entropy, 0.0) / total;
  sum->within_variance += isinf(inside) ? INFINITY : fmax(inside - at_mean, 0.0) / total;
  sum->within_covariance += isinf(inside) ? INFINITY : (inside - given) / total;
}

void pc_decompose_log(const pc_bin *bins, const pc_bin_logs *logs, size_t count, double total,
                      pc_decomposition *sum) {
  double hits = 0.0;
  for (size_t b = 0; b < count; b++)
    hits += bins[b].hits;
  for (size_t b = 0; b < count; b++)
    if (bins[b].weight > 0)
      decompose_log_bin(&bins[b], &logs[b], total, hits / total, sum);
  sum->entropy += decompose_entropy(PC_BINARY_LOG, hits, total) / total;
}

/* The summed score of the rows of one entry. */
static double decompose_entry(pc_binary_score score, const pc_curve_table *table, size_t i) {
  const double p = table->score[i], hits = table->hits[i], misses = table->weight[i] - hits;
  if (score == PC_BINARY_BRIER)
    return hits * ((1 - p) * (1 - p)) + misses * (p * p);
  if ((p <= 0 && hits > 0) || (p >= 1 && misses > 0))
    return INFINITY;
  return -decompose_log(hits, p) - (misses > 0 ? misses * log1p(-p) : 0.0);
}

static double decompose_score(pc_binary_score score, const pc_curve_table *table) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t i = 0; i < table->count; i++) {
    const double entry = decompose_entry(score, table, i);
    if (isinf(entry))
      return INFINITY;
    pc_sum_add(&sum, entry);
  }
  return pc_sum_value(&sum);
}

static double decompose_fitted(pc_binary_score score, const pc_isotonic *fit) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t b = 0; b < fit->count; b++)
    pc_sum_add(&sum, decompose_entropy(score, fit->blocks[b].hits, fit->blocks[b].weight));
  return pc_sum_value(&sum);
}

static double decompose_hits(const pc_isotonic *fit) {
  pc_sum sum;
  pc_sum_clear(&sum);
  for (size_t b = 0; b < fit->count; b++)
    pc_sum_add(&sum, fit->blocks[b].hits);
  return pc_sum_value(&sum);
}

pcal_status pc_decompose_corp(const pcal_env *env, const pc_curve_table *table,
                              pc_binary_score score, pc_decomposition *sum, pcal_error *err) {
  const double total = table->total;
  pc_isotonic fit;
  PC_TRY(pc_isotonic_fit(env, table, &fit, err));
  const double given = decompose_score(score, table), fitted = decompose_fitted(score, &fit);
  const double entropy = decompose_entropy(score, decompose_hits(&fit), total);
  sum->score += given / total;
  sum->calibration += fmax(given - fitted, 0.0) / total;
  sum->sharpness += fmax(entropy - fitted, 0.0) / total;
  sum->entropy += entropy / total;
  pc_isotonic_free(env, &fit);
  return PCAL_OK;
}
