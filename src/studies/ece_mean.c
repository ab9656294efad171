/* Formula:  ECE(n) = (1/n) sum_b |S_b|,  S_b = sum over the rows of bin b of (conf - hit)
 *           mean = (1/n) sum_b sum_k P(n_b = k) E|k conf_b - H|
 *           n_b ~ binomial(n, p_b), the rows of bin b;  H ~ binomial(k, acc_b), its hits
 *           mu(n) of Proposition 3.3 differs in three ways:
 *           - it replaces n_b by n p_b.  The mean distance of k rows grows like sqrt(k), which is
 *             concave, so mu is larger, most in bins with less than one row on average: there
 *             |S_b| has mean n p_b E|conf - hit|, and mu has sqrt(n p_b);
 *           - it takes H as normal, which errs in either direction for few trials;
 *           - it adds var conf_b to acc_b (1 - acc_b), although a calibrated model has
 *             var (conf - hit) = acc_b (1 - acc_b) - var conf_b.
 * Edge cases:
 *   (1) confidence and accuracy are taken as constant within a bin: bins are narrow;
 *   (2) where H has a variance above 64 it is taken as normal, with an error of at most 1e-3;
 *   (3) empty bins add nothing; a probability of 0 or 1 leaves one term.
 * Source:   Gruber & Buettner 2022, appendix D.5, equations 31 and 32 before step (i).
 * Cost:     O(bins sqrt(n)) distances of at most a few hundred terms. */
#include "studies/ece_mean.h"

#include <math.h>

#include "stats/expected_ece.h"

#define ECE_MEAN_NORMAL 64.0      /* variance of H above which it is taken as normal */
#define ECE_MEAN_NEGLIGIBLE 1e-17 /* of the largest weight */

/* A function of a count. */
typedef struct ece_mean_term {
  double (*value)(const struct ece_mean_term *term, double count);
  double confidence, accuracy, trials;
} ece_mean_term;

/* Adds weights, and weighted values of the term, from the mode on in one direction. */
static void ece_mean_walk(const ece_mean_term *term, double trials, double p, double mode,
                          double step, double *weights, double *sum) {
  double weight = 1.0;
  for (double h = mode; weight > ECE_MEAN_NEGLIGIBLE && h >= 0 && h <= trials; h += step) {
    if (h != mode || step > 0) {
      *weights += weight;
      *sum += weight * term->value(term, h);
    }
    weight *= step > 0 ? (trials - h) * p / ((h + 1) * (1 - p))
                       : h * (1 - p) / ((trials - h + 1) * p);
  }
}

/* Mean of a term over a binomial count. */
static double ece_mean_over(const ece_mean_term *term, double trials, double p) {
  if (p <= 0 || p >= 1)
    return term->value(term, p <= 0 ? 0 : trials);
  const double mode = fmin(floor((trials + 1) * p), trials);
  double weights = 0.0, sum = 0.0;
  ece_mean_walk(term, trials, p, mode, 1, &weights, &sum);
  ece_mean_walk(term, trials, p, mode, -1, &weights, &sum);
  return sum / weights;
}

static double ece_mean_distance(const ece_mean_term *term, double hits) {
  return fabs(term->trials * term->confidence - hits);
}

double pc_ece_mean_gap(double k, double c, double a) {
  const double variance = k * a * (1 - a);
  const ece_mean_term term = {ece_mean_distance, c, a, k};
  return variance > ECE_MEAN_NORMAL ? pc_folded_normal_mean(k * (c - a), sqrt(variance))
                                    : ece_mean_over(&term, k, a);
}

static double ece_mean_rows(const ece_mean_term *term, double rows) {
  return pc_ece_mean_gap(rows, term->confidence, term->accuracy);
}

double pc_ece_mean(const pc_bin *bins, size_t count, double total, size_t rows) {
  double sum = 0.0;
  for (size_t b = 0; b < count; b++) {
    if (bins[b].weight <= 0)
      continue;
    const ece_mean_term term = {ece_mean_rows, pc_bin_confidence(&bins[b]),
                                fmin(pc_bin_frequency(&bins[b]), 1.0), (double)rows};
    sum += ece_mean_over(&term, (double)rows, bins[b].weight / total);
  }
  return sum / (double)rows;
}
