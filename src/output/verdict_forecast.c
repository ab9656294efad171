/* The verdict on predictions of a number.
 *
 * Normal predictions and samples, from u = F(y), the probability integral transform (of samples
 * by the law of ranks, metrics/target_ranks.c):
 *   mean, variance  of u; 1/2 and 1/12 in a calibrated model
 *   margins         2.24 sqrt(v / N), v the variance of one row's part: 1/12 and 1/180, less
 *                   what ranks leave open; each is exceeded once in forty when calibrated
 * Rules:
 * (1) both within their margins: nothing to repair is seen;
 * (2) variance above: too narrow, below: too wide; not too wide where the mean is off by more
 *     than twice as many margins, since that alone lowers the variance;
 * (3) mean above 1/2: too low, below: too high.
 *
 * Quantiles of levels t_1 < ... < t_L, from F_j, the share of targets up to quantile j, as near
 * to t_j as targets that equal it allow:
 *   shift    sum_j (F_j - t_j): above 0 when quantiles are too high
 *   width    sum_j (1/2 - t_j) (F_j - t_j): above 0 when they are too close together; only
 *            where there are levels on both sides of 1/2
 *   margins  2.33 deviations each; F_i and F_j of a calibrated model have the covariance
 *            (t_i - t_i t_j) / N for i <= j, the binomial law
 *   level    the largest |F_j - t_j| in units of sqrt(t_j (1 - t_j) / N), against the quantile
 *            of 0.005 / L, with 1/(2 N) for targets being whole
 * A calibrated model exceeds shift and width once in fifty each, some level once in a hundred.
 * Rules:
 * (4) width beyond its margin: too narrow or too wide; not too narrow where the shift has more
 *     than twice as many deviations, since it takes targets out of intervals of any width;
 * (5) shift beyond its margin: too high or too low;
 * (6) else some level beyond its margin: wrong at that level.
 *
 * What to try: normal predictions: variance-platt where the width is off, else
 * quantile-isotonic; quantiles and samples: quantile-isotonic, unless too many targets lie
 * beyond the outermost ones, which it cannot pass. */
#include <math.h>

#include "base/rng.h"
#include "output/verdict.h"

#define FORECAST_DEVIATIONS 2.24
#define QUANTILE_DEVIATIONS 2.33
#define FORECAST_NORMAL 1.96
#define FORECAST_FEW 1000

static void verdict_forecast_repair(pc_verdict *out, pc_repair repair, const char *method) {
  out->repair = repair;
  out->method = method;
}

/* kind: what is off, with `width` and `shift` -1, 0 or 1. */
static void verdict_forecast_decide(int width, int shift, pc_verdict *out) {
  out->kind = width > 0   ? PC_VERDICT_NARROW
              : width < 0 ? PC_VERDICT_WIDE
              : shift > 0 ? PC_VERDICT_HIGH
              : shift < 0 ? PC_VERDICT_LOW
                          : PC_VERDICT_CALIBRATED;
  out->shift = shift;
}

/* ---- u ---- */

static void verdict_forecast_normal(const pcal_results *results, pc_verdict *out,
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

static void verdict_forecast_samples(const pcal_results *results, pc_verdict *out,
                                     double variances[2]) {
  const pc_pit_summary *facts = &results->forecast;
  const double gap = facts->mean - 0.5;
  out->mean = facts->mean;
  out->variance = fmax(facts->square - gap * gap, 0.0);
  variances[0] = facts->mean_variance;
  variances[1] = facts->square_variance;
}

/* Do more targets lie beyond the outermost samples than 2 / (n + 1) and chance? */
static int verdict_forecast_beyond(const pcal_results *results) {
  const pc_target_ranks *places = &results->forecast.places;
  const double share = places->mass[0] + places->mass[places->count];
  const double right = 2.0 / ((double)places->count + 1.0);
  return share >
         right + FORECAST_NORMAL * sqrt(right * (1 - fmin(right, 1)) / results->effective);
}

static void verdict_forecast_advise_u(const pcal_results *results, pc_verdict *out) {
  if (out->form == PC_FORM_GAUSSIAN && out->kind >= PC_VERDICT_NARROW)
    verdict_forecast_repair(out, PC_REPAIR_VARIANCE, "variance-platt");
  else if (out->form == PC_FORM_SAMPLES && verdict_forecast_beyond(results))
    verdict_forecast_repair(out, PC_REPAIR_WIDER, "variance-platt");
  else
    verdict_forecast_repair(out, PC_REPAIR_QUANTILES, "quantile-isotonic");
}

static void verdict_forecast_u(const pcal_results *results, pc_verdict *out) {
  double variances[2];
  if (out->form == PC_FORM_GAUSSIAN)
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

/* Sum of weights times F - level in units of its deviation; 0 where it has none. */
static double verdict_forecast_contrast(const pcal_results *results, double centre,
                                        double slope) {
  const pc_layout *layout = &results->layout;
  double sum = 0.0, variance = 0.0;
  for (size_t i = 0; i < layout->columns; i++) {
    const double t = layout->levels[i], weight = centre - slope * t;
    sum += weight * (pc_target_ranks_upto(&results->forecast.places, i, t) - t);
    for (size_t j = 0; j < layout->columns; j++) {
      const double other = layout->levels[j];
      variance += weight * (centre - slope * other) * (fmin(t, other) - t * other);
    }
  }
  return variance > 0 ? sum / sqrt(variance / results->effective) : 0.0;
}

/* The level that is most off; answers whether chance alone would hardly do that. */
static int verdict_forecast_level(const pcal_results *results, pc_verdict *out) {
  const pc_layout *layout = &results->layout;
  const double limit = -pc_normal_quantile(0.005 / (double)layout->columns);
  double worst = -1.0;
  for (size_t j = 0; j < layout->columns; j++) {
    const double t = layout->levels[j], deviation = sqrt(t * (1 - t) / results->effective);
    const double share = pc_target_ranks_upto(&results->forecast.places, j, t);
    const double off = fmax(fabs(share - t) - 0.5 / results->effective, 0.0) / deviation;
    if (off <= worst)
      continue;
    worst = off;
    out->level = t;
    out->upto = share;
    out->level_margin = FORECAST_NORMAL * deviation;
  }
  return worst > limit;
}

static void verdict_forecast_inside(const pcal_results *results, pc_verdict *out) {
  const pc_target_ranks *places = &results->forecast.places;
  const size_t last = results->layout.columns - 1;
  const double low = results->layout.levels[0], high = results->layout.levels[last];
  out->outer[0] = low;
  out->outer[1] = high;
  out->inside = pc_target_ranks_upto(places, last, high) - pc_target_ranks_upto(places, 0, low);
  out->inside_margin =
      FORECAST_NORMAL * sqrt((high - low) * (1 - high + low) / results->effective);
}

/* Does the outermost quantile of either side leave out more targets than its level and chance?
 */
static int verdict_forecast_outside(const pcal_results *results) {
  const pc_target_ranks *places = &results->forecast.places;
  const size_t last = results->layout.columns - 1;
  const double low = results->layout.levels[0], high = results->layout.levels[last];
  return pc_target_ranks_upto(places, 0, low) - low >
             FORECAST_NORMAL * sqrt(low * (1 - low) / results->effective) ||
         high - pc_target_ranks_upto(places, last, high) >
             FORECAST_NORMAL * sqrt(high * (1 - high) / results->effective);
}

static void verdict_forecast_quantiles(const pcal_results *results, pc_verdict *out) {
  const double *levels = results->layout.levels;
  const int both = levels[0] < 0.5 && levels[results->layout.columns - 1] > 0.5;
  const double shift = verdict_forecast_contrast(results, 1.0, 0.0);
  const double width = both ? verdict_forecast_contrast(results, 0.5, 1.0) : 0.0;
  verdict_forecast_inside(results, out);
  const int off = verdict_forecast_level(results, out);
  const int scaled =
      fabs(width) > QUANTILE_DEVIATIONS && !(width > 0 && fabs(shift) > 2 * width);
  verdict_forecast_decide(scaled ? (width > 0 ? 1 : -1) : 0,
                          fabs(shift) > QUANTILE_DEVIATIONS ? (shift > 0 ? 1 : -1) : 0, out);
  if (out->kind == PC_VERDICT_CALIBRATED && off)
    out->kind = PC_VERDICT_UNEVEN;
  if (verdict_forecast_outside(results))
    verdict_forecast_repair(out, PC_REPAIR_WIDER, NULL);
  else
    verdict_forecast_repair(out, PC_REPAIR_QUANTILES, "quantile-isotonic");
}

void pc_verdict_judge_forecast(const pcal_results *results, pc_verdict *out) {
  if (out->form == PC_FORM_QUANTILES)
    verdict_forecast_quantiles(results, out);
  else
    verdict_forecast_u(results, out);
  if (out->kind == PC_VERDICT_CALIBRATED)
    verdict_forecast_repair(out, out->rows < FORECAST_FEW ? PC_REPAIR_GATHER : PC_REPAIR_NONE,
                            NULL);
}
