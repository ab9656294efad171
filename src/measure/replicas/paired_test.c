/* Formula:  T: the metric; for debiased errors and kernel errors their unbiased square.
 *   D = T(a) - T(b), S = T(a) + T(b);  D*, S* the same after exchanging the two models in a
 *   random half of the rows; r exchanges;  D' the same of replicas that draw the rows of both
 *   models together.
 *   Null: both models have the same distribution, so every exchanged data set is as likely as
 *     the observed one:
 *     p(D) = (1 + number of |D*| >= |D|) / (1 + r)                          (exact)
 *   Opposed: two models with equal errors in opposite directions (over- against
 *     under-confident) have different distributions, and exchanging them cancels the errors and
 *     their variance.  They are recognised by two signs:
 *     (a) the distributions of their scores differ: their distance (exchange.c) is above
 *         PAIRED_DIFFER, which models with the same distribution are in 0.1 % of sets, and
 *     (b) S - beta |D| exceeds PAIRED_RANK of S* - beta |D*|, beta the slope of S* on |D*|,
 *         so that a large |D| alone does not count as this sign.  Where bias is more than a
 *         standard error of T(a) or T(b), or is not known (errors over pairs of rows), S says
 *         little about errors, and (a) is enough.
 *     Then also p(D) >= 2 (1 - Phi((|D| - b) / s)), b that bias, or 0, s = PAIRED_WIDE sd(D').
 *     Near 0 sd(D') is less than sd(D): by up to 15 % in simulations.
 *   Direction: an error is the size of a gap.  If one model is only slightly more confident
 *     than the other, their gaps contain nearly the same noise, and chance decides whose error
 *     is larger.  So under (a) p(D) is at least twice the share of replicas in which D' does
 *     not have the sign of D.
 *   Bias: chance makes errors larger, possibly by different amounts in the two models.
 *     Replicas have as much noise as half the rows would, so they show b = B(n/2) - B(n), B the
 *     bias of D.  B falls no slower than n^-1/2, so B(n) <= b / (sqrt 2 - 1); twice that is
 *     used, since replicas show only half of the noise of a bin of two rows.  Both D and
 *     D - 2 b / (sqrt 2 - 1) must be significant, with the same sign.  Models with the same
 *     distribution have the same bias: b counts only if the distance of the distributions of
 *     scores is above PAIRED_MAY_DIFFER.
 *   Interval: from the smaller to the larger of these two, extended on either side by the
 *     distance at which p = 1 - level; it includes 0 unless p is below 1 - level.
 * Edge cases:
 *   (1) equal values (1e-9) count as at least as large;
 *   (2) exchanges without a value are left out; if these are a tenth or more, or there are no
 *       exchanges, p is computed from |D| / (se(a) + se(b)) for errors and from |D| / deviation
 *       for others;
 *   (3) fewer than 1 / (1 - level) exchanges: p cannot be below 1 - level, and the interval
 *       includes 0;
 *   (4) all D* are 0: p = 1 for D = 0.
 * Source: Good, Permutation Tests, 2000, section 3.2 (matched pairs); Chung & Romano 2013 on
 *   why equal distributions are not the same as equal parameters.  Constants were chosen by
 *   simulation: docs/paired-differences.md. */
#include "measure/replicas/paired_test.h"

#include <math.h>
#include <stdlib.h>

#include "base/normal.h"
#include "stats/distributions.h"
#include "stats/interval.h"

#define PAIRED_RANK 0.65
#define PAIRED_WIDE 1.25
#define PAIRED_DIFFER 3.481     /* of two normal statistics, beyond it in 0.1 % by chance */
#define PAIRED_MAY_DIFFER 2.241 /* the same, 5 % */
#define PAIRED_LACKING 0.1      /* share of exchanges that may have no value */
#define PAIRED_EQUAL 1e-9
#define PAIRED_BIAS 4.82842712474619 /* 2 / (sqrt 2 - 1) */

const char *pc_paired_method_name(pcal_difference_method method) {
  return method == PCAL_DIFFERENCE_EXCHANGE        ? "exchange"
         : method == PCAL_DIFFERENCE_EXCHANGE_WIDE ? "exchange-wide"
         : method == PCAL_DIFFERENCE_DELONG        ? "delong"
                                                   : "replicas";
}

static int paired_order(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Moves the exchanges in which both models have a value to the front; returns how many.  0 if
 * too many, or the first, have none. */
static size_t paired_gather(const pc_paired_sample *sample) {
  size_t kept = 0;
  if (sample->exchanges < 2 || isnan(sample->exchanged[0][0] - sample->exchanged[1][0]))
    return 0;
  for (size_t i = 0; i < sample->exchanges; i++) {
    const double a = sample->exchanged[0][i], b = sample->exchanged[1][i];
    if (isnan(a - b))
      continue;
    sample->exchanged[0][kept] = a;
    sample->exchanged[1][kept++] = b;
  }
  return (double)kept >= (1.0 - PAIRED_LACKING) * (double)sample->exchanges ? kept : 0;
}

/* Turns values into |D*| and S*. */
static void paired_sums(const pc_paired_sample *sample, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const double a = sample->exchanged[0][i], b = sample->exchanged[1][i];
    sample->exchanged[0][i] = fabs(a - b);
    sample->exchanged[1][i] = a + b;
  }
}

/* The slope of S* on |D*|. */
static double paired_slope(const double *distance, const double *sum, size_t count) {
  double x = 0.0, y = 0.0, square = 0.0, product = 0.0;
  for (size_t i = 1; i < count; i++) {
    x += distance[i] / (double)(count - 1);
    y += sum[i] / (double)(count - 1);
  }
  for (size_t i = 1; i < count; i++) {
    square += (distance[i] - x) * (distance[i] - x);
    product += (distance[i] - x) * (sum[i] - y);
  }
  return square > 0.0 ? product / square : 0.0;
}

/* True if the summed errors of the two models exceed those after exchanging (sign b). */
static int paired_exceeds(const double *distance, const double *sum, size_t count) {
  const double slope = paired_slope(distance, sum, count);
  const double here = sum[0] - slope * distance[0];
  const double margin = PAIRED_EQUAL * (fabs(sum[0]) + fabs(distance[0]));
  double below = 0.0;
  for (size_t i = 1; i < count; i++) {
    const double there = sum[i] - slope * distance[i];
    below += there < here - margin ? 1.0 : there <= here + margin ? 0.5 : 0.0;
  }
  return below > PAIRED_RANK * (double)(count - 1);
}

/* The null distribution and the limits with which a difference is compared. */
typedef struct paired_scale {
  const double *distance; /* |D*|, ascending */
  size_t count;
  double margin; /* distances that differ by less count as equal */
  double s;      /* lower bound on the standard error; 0: none */
  double slack;  /* subtracted from a distance before it is compared with s */
  double least;  /* lower bound on the p-value */
  double reach;  /* distance at which p is 1 - level */
} paired_scale;

static double paired_p_value(const paired_scale *scale, double difference) {
  const double size = fabs(difference);
  double p = scale->least;
  size_t below = 0;
  while (below < scale->count && scale->distance[below] < size - scale->margin)
    below++;
  if (scale->count > 0)
    p = fmax(p, (1.0 + (double)(scale->count - below)) / (1.0 + (double)scale->count));
  if (scale->s > 0.0)
    p = fmax(p, 2.0 * pc_normal_tail(fmax(size - scale->slack, 0.0) / scale->s));
  else if (scale->count == 0)
    p = size > 0.0 ? p : 1.0;
  return p;
}

/* The smallest distance beyond which p is below `chance`; infinite if there is none. */
static double paired_reach(const paired_scale *scale, double chance) {
  const double z = -pc_normal_quantile(0.5 * chance);
  double reach = scale->s * z + scale->slack;
  if (scale->count > 0) {
    const double least = ceil(chance * (1.0 + (double)scale->count) - 1e-9) - 1.0;
    if (least < 1.0)
      return (double)INFINITY;
    reach = fmax(reach, scale->distance[scale->count - (size_t)least]);
  }
  return reach;
}

/* 1 - level, without the rounding error of the subtraction. */
static double paired_chance(double level) {
  return round((1.0 - level) * 1e12) / 1e12;
}

/* Judges D, with and without its bias; the interval covers both. */
static void paired_conclude(const pc_paired_sample *sample, const paired_scale *scale, double d,
                            pc_paired_finding *out) {
  const int biased = scale->count == 0 || sample->score_distance > PAIRED_MAY_DIFFER;
  const double c = biased ? d - PAIRED_BIAS * sample->bias : d,
               chance = paired_chance(sample->level);
  const int same = (d > 0.0 && c > 0.0) || (d < 0.0 && c < 0.0);
  out->p_value = same ? fmax(paired_p_value(scale, d), paired_p_value(scale, c)) : 1.0;
  out->low = fmin(d, c) - scale->reach;
  out->high = fmax(d, c) + scale->reach;
  if (!isfinite(scale->reach)) { /* edge case 3 */
    const double far = scale->count > 0 ? scale->distance[scale->count - 1] : 0.0;
    out->low = fmin(fmin(d, c) - far, 0.0);
    out->high = fmax(fmax(d, c) + far, 0.0);
  }
  if (out->p_value >= chance) { /* rounding at the ends */
    out->low = fmin(out->low, 0.0);
    out->high = fmax(out->high, 0.0);
  } else if (out->low <= 0.0 && out->high >= 0.0) {
    out->p_value = chance;
  }
}

static double paired_deviation(const double *distance, size_t count) {
  double square = 0.0;
  for (size_t i = 0; i < count; i++)
    square += distance[i] * distance[i] / (double)count;
  return sqrt(square);
}

int pc_paired_judge(const pc_paired_sample *sample, pc_paired_finding *out) {
  const size_t kept = paired_gather(sample);
  const int differ = sample->score_distance > PAIRED_DIFFER;
  const double widest = PAIRED_WIDE * sample->deviation;
  double d = sample->value[0] - sample->value[1];
  paired_scale scale = {.count = 0};
  if (kept > 1) {
    d = sample->exchanged[0][0] -
        sample->exchanged[1][0]; /* rounded like the exchanged values */
    const double size = fabs(sample->exchanged[0][0]) + fabs(sample->exchanged[1][0]);
    paired_sums(sample, kept);
    const int wide = sample->zero_if_calibrated && differ && isfinite(widest) &&
                     (sample->bias_unknown || sample->dominant_bias > 0.0 ||
                      paired_exceeds(sample->exchanged[0], sample->exchanged[1], kept));
    double *distance = sample->exchanged[0] + 1;
    qsort(distance, kept - 1, sizeof *distance, paired_order);
    scale =
        (paired_scale){.distance = distance,
                       .count = kept - 1,
                       .margin = PAIRED_EQUAL * size,
                       .s = wide ? widest : 0.0,
                       .slack = wide ? sample->dominant_bias : 0.0,
                       .least = sample->zero_if_calibrated && differ ? sample->sign_p : 0.0};
    out->method = wide ? PCAL_DIFFERENCE_EXCHANGE_WIDE : PCAL_DIFFERENCE_EXCHANGE;
    out->se = fmax(paired_deviation(distance, kept - 1), scale.s);
  } else {
    const double s =
        sample->zero_if_calibrated ? sample->se[0] + sample->se[1] : sample->deviation;
    if (!isfinite(s))
      return 0;
    scale.s = s;
    out->method = PCAL_DIFFERENCE_REPLICAS;
    out->se = s;
  }
  scale.reach = paired_reach(&scale, paired_chance(sample->level));
  paired_conclude(sample, &scale, d, out);
  return 1;
}

double pc_paired_root(double a, double b, int power, double difference) {
  if (power != 2)
    return difference;
  const double sum = fmax(fmax(a, 0.0) + fmax(b, 0.0), fabs(difference));
  return sqrt(0.5 * (sum + difference)) - sqrt(0.5 * (sum - difference));
}
