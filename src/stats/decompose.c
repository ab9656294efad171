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
 * Edge cases: (1) of a bin with n_b < 2 all of (c - q)^2 counts as chance: it gives nothing to
 * the debiased calibration, as in ece, and the debiased parts add up; fewer than two rows have
 * no gain; (2) 0 log 0 is
 * 0: fitted values of 0 and 1 cost nothing; (3) a score of 0 that came true, or of 1 that did
 * not, makes the log score infinite; (4) any other score of 0 or 1 beside outcomes of both
 * kinds in its bin adds the same infinite term, -q log 0 or
 * -(1 - q) log 0, to both within-parts: it is left out of both, and within_variance may then be
 * negative; (5) parts that are differences and cannot be negative are not, whatever the
 * rounding; (6) the mean score of a bin, log score, is at least the geometric mean, and so is
 * what it lacks to 1: sums of scores are rounded to 2^-53 and may lose scores near 0.
 * Source: Murphy 1973; within-bin parts: Stephenson, Coelho & Jolliffe 2008; debiased: Broecker
 * 2012; CORP: Dimitriadis, Gneiting & Jordan 2021.
 * Accuracy: sums of rows exact to 2^-61, parts to a few ulp of 1.   Cost: O(bins), O(n). */
#include "stats/decompose.h"

#include <math.h>

#include "base/elementary.h"
#include "curve/isotonic.h"

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

/* weight * log(share); 0 log 0 is 0. */
static double decompose_log(double weight, double share) {
  if (!(weight > 0))
    return 0.0;
  return share > 0 ? weight * pc_log(share) : -INFINITY;
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

/* A mean of positive numbers that rounding may have made 0: not below the geometric mean of all
 * numbers, nor, where some are 0, below what those of one kind give. */
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

/* The summed scores of the rows of a bin under its rate of hits, the infinite terms left out;
 * *left_out says whether there were any. */
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
  const double entropy = decompose_entropy(PC_BINARY_LOG, hits, n);
  const double given = -(logs->sum[PC_LOG_HIT] + logs->sum[PC_LOG_REST_MISS]);
  const double at_mean = -decompose_log(hits, c) - decompose_log(misses, rest);
  const double at_rate = -decompose_log(hits, rate) - decompose_log(misses, 1 - rate);
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
  sum->entropy += decompose_entropy(PC_BINARY_LOG, hits, total) / total;
}

/* The summed score of the rows of one entry. */
static double decompose_entry(pc_binary_score score, const pc_curve_table *table, size_t i) {
  const double p = table->score[i], hits = table->hits[i], misses = table->weight[i] - hits;
  if (score == PC_BINARY_BRIER)
    return hits * ((1 - p) * (1 - p)) + misses * (p * p);
  if ((p <= 0 && hits > 0) || (p >= 1 && misses > 0))
    return INFINITY;
  return -decompose_log(hits, p) - (misses > 0 ? misses * pc_log1p(-p) : 0.0);
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
