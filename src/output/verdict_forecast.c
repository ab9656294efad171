/* The verdict on predictions of a number.
 *
 * Means with variances, and samples, are judged by u = F(y), the probability integral transform
 * (of samples: from ranks, metrics/target_ranks.c):
 *   mean, variance  of u; 1/2 and 1/12 in a calibrated model
 *   margins         2.24 sqrt(v / N), v the variance of one row's term: 1/12 and 1/180, smaller
 *                   for ranks; a calibrated model exceeds each once in 40
 * Rules:
 *   (1) both within their margins: calibrated;
 *   (2) variance above: too narrow, below: too wide.  Not too wide where the mean is off by more
 *       than twice as many margins, since that alone lowers the variance;
 *   (3) mean above 1/2: too low, below: too high.
 *
 * Quantiles at levels t_1 < ... < t_L are judged by F_j, the share of targets up to quantile j
 * (targets at a point mass count in part, metrics/target_ranks.c):
 *   shift    sum_j (F_j - t_j): above 0 when quantiles are too high
 *   width    sum_j (1/2 - t_j) (F_j - t_j): above 0 when quantiles are too close together; only
 *            where levels lie on both sides of 1/2
 *   margins  2.33 deviations each; in a calibrated model F_i and F_j have the binomial covariance
 *            (t_i - t_i t_j) / N for i <= j
 *   level    the largest |F_j - t_j| in units of sqrt(t_j (1 - t_j) / N), compared with the normal
 *            quantile of 0.005 / L, with a continuity correction of 1/(2 N)
 * A calibrated model exceeds shift and width once in 50 each, some level once in 100.
 * Rules:
 *   (4) width beyond its margin: too narrow or too wide.  Not too narrow where the shift is
 *       beyond its margin and has more than twice as many deviations, or targets lie beyond one
 *       end only and another quantile is clearly off in the same direction, since it moves
 *       targets out of intervals of any width;
 *   (5) shift beyond its margin: too high or too low;
 *   (6) else some level beyond its margin: uneven.
 *
 * Advice for means with variances: variance-platt where the width is off, else
 * quantile-isotonic.  Advice for samples: quantile-isotonic, unless too many targets lie beyond
 * the outermost ones, which it cannot extend.  Advice for quantiles: the same, but
 * quantile-isotonic where too many targets lie beyond one end only and another quantile is
 * clearly off in the same direction: these are shifted, and it moves all others. */
#include <math.h>

#include "base/normal.h"
#include "output/verdict.h"

#define FORECAST_DEVIATIONS 2.24
#define QUANTILE_DEVIATIONS 2.33
#define FORECAST_NORMAL 1.96
/* Deviations of another quantile: more than those of a map that was fitted to other rows. */
#define FORECAST_MOVED 2.8
#define FORECAST_MOVED_SHARE 0.15 /* of the deviations at the end */
#define FORECAST_FEW 1000

static void verdict_forecast_set_advice(pcal_verdict *out, pcal_advice advice,
                                        const char *method) {
  out->advice = advice;
  out->method = method;
}

/* width: 1 too narrow, -1 too wide; shift: 1 too high, -1 too low; 0: within the margin. */
static void verdict_forecast_decide(int width, int shift, pcal_verdict *out) {
  out->kind = width > 0   ? PCAL_VERDICT_TOO_NARROW
              : width < 0 ? PCAL_VERDICT_TOO_WIDE
              : shift > 0 ? PCAL_VERDICT_TOO_HIGH
              : shift < 0 ? PCAL_VERDICT_TOO_LOW
                          : PCAL_VERDICT_CALIBRATED;
  out->shift = shift;
}

/* ---- u ---- */

static void verdict_forecast_normal(const pcal_results *results, pcal_verdict *out,
                                    double variances[2]) {
  double square = 0.0;
  for (size_t b = 0; b < results->bin_count; b++) {
    out->mean += results->bins[b].score / out->rows;
    square += results->bins[b].score_square / out->rows;
  }
  out->variance = fmax(square - out->mean * out->mean, 0.0);
  variances[0] = 1.0 / 12;
  variances[1] = 1.0 / 180;
}

static void verdict_forecast_samples(const pcal_results *results, pcal_verdict *out,
                                     double variances[2]) {
  const pc_pit_summary *facts = &results->forecast;
  const double gap = facts->mean - 0.5;
  out->mean = facts->mean;
  out->variance = fmax(facts->square - gap * gap, 0.0);
  variances[0] = facts->mean_variance;
  variances[1] = facts->square_variance;
}

/* True if more targets lie beyond the outermost samples than 2 / (n + 1) and chance allow. */
static int verdict_forecast_beyond(const pcal_results *results) {
  const pc_target_ranks *places = &results->forecast.places;
  const double share = places->mass[0] + places->mass[places->count];
  const double right = 2.0 / ((double)places->count + 1.0);
  return share >
         right + FORECAST_NORMAL * sqrt(right * (1 - fmin(right, 1)) / results->effective);
}

static void verdict_forecast_advise_u(const pcal_results *results, pcal_verdict *out) {
  if (results->layout.form == PC_FORM_GAUSSIAN && out->kind >= PCAL_VERDICT_TOO_NARROW)
    verdict_forecast_set_advice(out, PCAL_ADVICE_VARIANCE, "variance-platt");
  else if (results->layout.form == PC_FORM_SAMPLES && verdict_forecast_beyond(results))
    verdict_forecast_set_advice(out, PCAL_ADVICE_WIDER_PREDICTIONS, "variance-platt");
  else
    verdict_forecast_set_advice(out, PCAL_ADVICE_QUANTILES, "quantile-isotonic");
}

static void verdict_forecast_u(const pcal_results *results, pcal_verdict *out) {
  double variances[2];
  if (results->layout.form == PC_FORM_GAUSSIAN)
    verdict_forecast_normal(results, out, variances);
  else
    verdict_forecast_samples(results, out, variances);
  out->mean_margin = FORECAST_DEVIATIONS * sqrt(variances[0] / out->rows);
  out->variance_margin = FORECAST_DEVIATIONS * sqrt(variances[1] / out->rows);
  const double gap = out->mean - 0.5, excess = out->variance - 1.0 / 12;
  const double shift = fabs(gap) / out->mean_margin,
               width = fabs(excess) / out->variance_margin;
  const int scaled = width > 1 && !(excess < 0 && shift > 2 * width);
  verdict_forecast_decide(scaled ? (excess > 0 ? 1 : -1) : 0,
                          shift > 1 ? (gap < 0 ? 1 : -1) : 0, out);
  verdict_forecast_advise_u(results, out);
}

/* ---- quantiles ---- */

/* sum_j (centre - slope t_j) (F_j - t_j) in units of its deviation; 0 where that is 0. */
static double verdict_forecast_contrast(const pcal_results *results, double centre,
                                        double slope) {
  const pc_layout *layout = &results->layout;
  double sum = 0.0, variance = 0.0;
  for (size_t i = 0; i < layout->columns; i++) {
    const double t = layout->levels[i], weight = centre - slope * t;
    sum += weight * (results->forecast.places.upto[i] - t);
    for (size_t j = 0; j < layout->columns; j++) {
      const double other = layout->levels[j];
      variance += weight * (centre - slope * other) * (fmin(t, other) - t * other);
    }
  }
  return variance > 0 ? sum / sqrt(variance / results->effective) : 0.0;
}

/* Finds the level that is most off; returns true if that exceeds chance (rule 6). */
static int verdict_forecast_level(const pcal_results *results, pcal_verdict *out) {
  const pc_layout *layout = &results->layout;
  const double limit = -pc_normal_quantile(0.005 / (double)layout->columns);
  double worst = -1.0;
  for (size_t j = 0; j < layout->columns; j++) {
    const double t = layout->levels[j], deviation = sqrt(t * (1 - t) / results->effective);
    const double share = results->forecast.places.upto[j];
    const double off = fmax(fabs(share - t) - 0.5 / results->effective, 0.0) / deviation;
    if (off <= worst)
      continue;
    worst = off;
    out->level = t;
    out->level_share = share;
    out->level_margin = FORECAST_NORMAL * deviation;
  }
  return worst > limit;
}

static void verdict_forecast_inside(const pcal_results *results, pcal_verdict *out) {
  const pc_target_ranks *places = &results->forecast.places;
  const size_t last = results->layout.columns - 1;
  const double low = results->layout.levels[0], high = results->layout.levels[last];
  out->lowest_level = low;
  out->highest_level = high;
  out->inside = places->upto[last] - places->upto[0];
  out->inside_margin =
      FORECAST_NORMAL * sqrt((high - low) * (1 - high + low) / results->effective);
}

/* F_j - t_j in units of its deviation. */
static double verdict_forecast_off(const pcal_results *results, size_t column) {
  const double t = results->layout.levels[column];
  return (results->forecast.places.upto[column] - t) / sqrt(t * (1 - t) / results->effective);
}

/* Targets beyond the outermost quantiles, more than levels and chance allow: 1 below the lowest,
 * -1 above the highest, 2 both, 0 neither. */
static int verdict_forecast_outside(const pcal_results *results) {
  const int below = verdict_forecast_off(results, 0) > FORECAST_NORMAL;
  const int above =
      verdict_forecast_off(results, results->layout.columns - 1) < -FORECAST_NORMAL;
  return below && above ? 2 : below - above;
}

/* True if targets lie beyond one end, and another quantile is off in the same direction
 * (FORECAST_MOVED). */
static int verdict_forecast_moved(const pcal_results *results) {
  const size_t last = results->layout.columns - 1;
  const int side = verdict_forecast_outside(results);
  const size_t end = side > 0 ? 0 : last;
  if (side == 0 || side == 2)
    return 0;
  const double *upto = results->forecast.places.upto;
  const double least =
      fmax(FORECAST_MOVED, FORECAST_MOVED_SHARE * side * verdict_forecast_off(results, end));
  for (size_t j = 0; j <= last; j++) /* a quantile with the share of the end is equal to it */
    if (upto[j] != upto[end] && side * verdict_forecast_off(results, j) > least)
      return 1;
  return 0;
}

static void verdict_forecast_quantiles(const pcal_results *results, pcal_verdict *out) {
  const double *levels = results->layout.levels;
  const int both = levels[0] < 0.5 && levels[results->layout.columns - 1] > 0.5;
  const double shift = verdict_forecast_contrast(results, 1.0, 0.0);
  const double width = both ? verdict_forecast_contrast(results, 0.5, 1.0) : 0.0;
  verdict_forecast_inside(results, out);
  const int off = verdict_forecast_level(results, out);
  const int moved = fabs(shift) > 2 * width || verdict_forecast_moved(results);
  const int shifted = fabs(shift) > QUANTILE_DEVIATIONS;
  const int scaled = fabs(width) > QUANTILE_DEVIATIONS && !(width > 0 && shifted && moved);
  verdict_forecast_decide(scaled ? (width > 0 ? 1 : -1) : 0, shifted ? (shift > 0 ? 1 : -1) : 0,
                          out);
  if (out->kind == PCAL_VERDICT_CALIBRATED && off)
    out->kind = PCAL_VERDICT_UNEVEN;
  if (verdict_forecast_outside(results) != 0 && !verdict_forecast_moved(results))
    verdict_forecast_set_advice(out, PCAL_ADVICE_WIDER_PREDICTIONS, NULL);
  else
    verdict_forecast_set_advice(out, PCAL_ADVICE_QUANTILES, "quantile-isotonic");
}

void pc_verdict_judge_forecast(const pcal_results *results, pcal_verdict *out) {
  if (results->layout.form == PC_FORM_QUANTILES)
    verdict_forecast_quantiles(results, out);
  else
    verdict_forecast_u(results, out);
  if (out->kind == PCAL_VERDICT_CALIBRATED)
    verdict_forecast_set_advice(
        out, out->rows < FORECAST_FEW ? PCAL_ADVICE_MORE_ROWS : PCAL_ADVICE_NONE, NULL);
}
