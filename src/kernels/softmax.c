/* Softmax of a row.
 *
 * Formula:  p_j = exp(z_j - m) / sum_i exp(z_i - m),  m = max z.
 * Edge cases:
 *  1. the largest term is exactly 1, so the sum is never 0 or infinite.
 *  2. z_j - m below about -745 gives p_j = 0.
 *  3. a difference that overflows is -inf, whose exponential is 0.
 * Accuracy: 2 ulp a term, and the rounding of one sum of non-negative terms.
 * Cost: one exp for each score. */
#include "kernels/softmax.h"

#include <math.h>

#include "kernels/lane_math.h"

/* exp(x) for x <= 0; libm's last digits depend on the processor. */
static double softmax_exp(double x) {
  const double half = pc_lane_exp(0.5 * x);
  return x < -700.0 ? half * half : pc_lane_exp(x);
}

double pc_softmax_row(const double *scores, size_t count, double *out) {
  double top = scores[0];
  for (size_t j = 1; j < count; j++)
    top = scores[j] > top ? scores[j] : top;
  double sum = 0.0;
  for (size_t j = 0; j < count; j++) {
    out[j] = softmax_exp(scores[j] - top);
    sum += out[j];
  }
  for (size_t j = 0; j < count; j++)
    out[j] /= sum;
  return top + pc_lane_log(sum);
}

double pc_sigmoid_pair(double logit, double out[2]) {
  const double small = softmax_exp(-fabs(logit));
  const double lesser = small / (1.0 + small), greater = 1.0 / (1.0 + small);
  out[0] = logit > 0 ? lesser : greater;
  out[1] = logit > 0 ? greater : lesser;
  return pc_lane_log1p(small);
}
