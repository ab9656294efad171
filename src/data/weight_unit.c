/* Formula:  w_i / u with u = sum w^2 / sum w: these sum to Kish's effective sample size
 *           (sum w)^2 / sum w^2; u = w where all weights are w.
 * Edge cases:
 *   1. Weights of 0, and those that are not valid, count for nothing, and are not scaled, so that
 *      messages show them as given.
 *   2. Sums are taken of w 2^400, so that squares of tiny weights do not vanish.  Weights below
 *      1e-270 may make u inexact.
 *   3. w and w 2^k give the same bits.
 * Source:   Kish (1965), Survey Sampling. */
#include "data/weight_unit.h"

#include <math.h>

#define WEIGHT_UNIT_EXPONENT 400
#define WEIGHT_UNIT_MAX 1e12

int pc_weight_counts(double weight) {
  return weight > 0.0 && weight <= WEIGHT_UNIT_MAX;
}

void pc_weight_sums_clear(pc_weight_sums *sums) {
  pc_sum_clear(&sums->sum);
  pc_sum_clear(&sums->square);
  sums->least = sums->most = 0.0;
}

static void weight_unit_see(pc_weight_sums *sums, double weight) {
  sums->least = sums->most == 0.0 || weight < sums->least ? weight : sums->least;
  sums->most = weight > sums->most ? weight : sums->most;
}

void pc_weight_sums_add(pc_weight_sums *sums, double weight) {
  const double scaled = ldexp(weight, WEIGHT_UNIT_EXPONENT);
  if (!pc_weight_counts(weight))
    return;
  pc_sum_add(&sums->sum, scaled);
  pc_sum_add_product(&sums->square, scaled, scaled);
  weight_unit_see(sums, weight);
}

void pc_weight_sums_add_rows(pc_weight_sums *sums, size_t rows) {
  if (rows == 0)
    return;
  pc_sum_add_units(&sums->sum, (int64_t)rows, WEIGHT_UNIT_EXPONENT);
  pc_sum_add_units(&sums->square, (int64_t)rows, 2 * WEIGHT_UNIT_EXPONENT);
  weight_unit_see(sums, 1.0);
}

double pc_weight_unit(const pc_weight_sums *sums) {
  if (sums->least == sums->most)
    return sums->most == 0.0 ? 1.0 : sums->most;
  const double unit =
      ldexp(pc_sum_value(&sums->square) / pc_sum_value(&sums->sum), -WEIGHT_UNIT_EXPONENT);
  return unit > 0.0 && isfinite(unit) ? unit : sums->most;
}

void pc_weights_scale(const double *weights, size_t count, double unit, double *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = pc_weight_counts(weights[i]) ? weights[i] / unit : weights[i];
}
