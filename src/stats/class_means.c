/* Tests the mean score of each of K classes against its frequency.
 *
 * Formula:  class k with n rows; bin b has n_b rows and mean score m_b
 *   gap       (sum of scores - sum of hits) / n
 *   V         sum_b n_b m_b (1 - m_b): the variance of the hits of a calibrated model.  It is
 *             at most that of the single scores, sum p (1 - p), plus n_b / 900 for 15 bins, so
 *             the test errs towards "not off"
 *   skewness  sum_b n_b m_b (1 - m_b) (1 - 2 m_b) / V^(3/2)
 *   z         (hits - scores, less 1/2 towards 0) / sqrt(V), as a normal deviate with the same
 *             tail (pc_skewed_deviate), since a rare class has few hits
 * A class is off if |z| exceeds the normal quantile of 0.01 / (2 K) (Bonferroni): the scores of
 * a row sum to 1, so the classes are dependent, and the probability that any class of a
 * calibrated model is called off is at most 0.01.
 * Edge cases:
 *   (1) V = 0, all scores 0 or 1: z is 0 without a gap, else infinite;
 *   (2) a class without a row of positive weight is not off;
 *   (3) weights: n_b are weights, so importance weights must sum to the effective sample size.
 * Cost: O(bins). */
#include "stats/class_means.h"

#include "base/normal.h"
#include "stats/distributions.h"

#define CLASS_MEANS_NORMAL 1.96

/* The sums of a class over its bins. */
typedef struct class_means_sums {
  double weight, score, hits, variance, third;
} class_means_sums;

static class_means_sums class_means_sums_of(const pc_bin *bins, size_t count) {
  class_means_sums sums = {0.0, 0.0, 0.0, 0.0, 0.0};
  for (size_t b = 0; b < count; b++) {
    if (!(bins[b].weight > 0))
      continue;
    const double mean = fmin(fmax(pc_bin_confidence(&bins[b]), 0.0), 1.0);
    const double variance = bins[b].weight * mean * (1.0 - mean);
    sums.weight += bins[b].weight;
    sums.score += bins[b].score;
    sums.hits += bins[b].hits;
    sums.variance += variance;
    sums.third += variance * (1.0 - 2.0 * mean);
  }
  return sums;
}

static double class_means_deviate(const class_means_sums *sums) {
  const double gap = sums->hits - sums->score, side = gap < 0 ? -1.0 : 1.0;
  const double size = fmax(fabs(gap) - 0.5, 0.0), deviation = sqrt(sums->variance);
  if (!(deviation > 0))
    return size > 0 ? side * INFINITY : 0.0;
  if (!(size > 0))
    return 0.0;
  return pc_skewed_deviate(side * size / deviation, sums->third / (sums->variance * deviation));
}

void pc_class_means_add(const pc_bin *bins, size_t count, size_t classes, pc_class_means *out) {
  const class_means_sums sums = class_means_sums_of(bins, count);
  const size_t at = out->classes++;
  if (!(sums.weight > 0))
    return;
  const double z = fabs(class_means_deviate(&sums));
  out->off += z > -pc_normal_quantile(0.5 * PC_CLASS_MEANS_LEVEL / (double)classes);
  if (z <= out->deviate)
    return;
  out->worst = at;
  out->deviate = z;
  out->claimed = sums.score / sums.weight;
  out->observed = sums.hits / sums.weight;
  out->margin = (CLASS_MEANS_NORMAL * sqrt(sums.variance) + 0.5) / sums.weight;
}
