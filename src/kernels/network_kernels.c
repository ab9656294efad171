/* Formula:  see network_kernels.h, optim/dense_net.c and softmax.c, whose bits these loops keep.
 * Edge cases: those of softmax.c.
 * Cost:     2 operations for each weight and row in a layer, 4 backward; one exp and one log for each
 *           output. */
#include "kernels/network_kernels.h"

#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/variant.h"

/* Four inputs at a time, so that sums are loaded a quarter as often. */
static void network_row(const double *restrict w, size_t in, size_t out,
                        const double *restrict x, double *restrict to) {
  size_t i = 0;
  for (; i + 4 <= in; i += 4, w += 4 * out) {
    const double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
    const double *w1 = w + out, *w2 = w1 + out, *w3 = w2 + out;
    for (size_t j = 0; j < out; j++)
      to[j] = (((to[j] + x0 * w[j]) + x1 * w1[j]) + x2 * w2[j]) + x3 * w3[j];
  }
  for (; i < in; i++, w += out)
    for (size_t j = 0; j < out; j++)
      to[j] += x[i] * w[j];
}

static void network_layer(const double *w, size_t in, size_t out, const double *from,
                          size_t rows, int rectified, double *to) {
  for (size_t r = 0; r < rows; r++, from += in, to += out) {
    memcpy(to, w + in * out, out * sizeof *to);
    network_row(w, in, out, from, to);
    for (size_t j = 0; rectified && j < out; j++)
      to[j] = to[j] > 0.0 ? to[j] : 0.0;
  }
}

/* Four rows at a time, as above. */
static void network_gradient(const double *restrict from, size_t in, size_t out,
                             const double *restrict slope, size_t rows,
                             double *restrict gradient) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4, from += 4 * in, slope += 4 * out) {
    const double *s1 = slope + out, *s2 = s1 + out, *s3 = s2 + out;
    for (size_t i = 0; i <= in; i++) {
      double *row = gradient + i * out;
      const int weight = i < in;
      const double x0 = weight ? from[i] : 1.0, x1 = weight ? from[in + i] : 1.0;
      const double x2 = weight ? from[2 * in + i] : 1.0, x3 = weight ? from[3 * in + i] : 1.0;
      for (size_t j = 0; j < out; j++)
        row[j] = (((row[j] + x0 * slope[j]) + x1 * s1[j]) + x2 * s2[j]) + x3 * s3[j];
    }
  }
  for (; r < rows; r++, from += in, slope += out)
    for (size_t i = 0; i <= in; i++) {
      const double x = i < in ? from[i] : 1.0;
      for (size_t j = 0; j < out; j++)
        gradient[i * out + j] += x * slope[j];
    }
}

/* In the order of pc_dot. */
static inline double network_dot(const double *restrict a, const double *restrict b,
                                 size_t count) {
  double lanes[8] = {0.0};
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t l = 0; l < 8; l++)
      lanes[l] += a[i + l] * b[i + l];
  for (size_t l = 0; i < count; i++, l++)
    lanes[l] += a[i] * b[i];
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static void network_slope(const double *w, size_t in, size_t out, const double *slope,
                          size_t rows, const double *values, double *to) {
  for (size_t r = 0; r < rows; r++, slope += out)
    for (size_t i = 0; i < in; i++)
      to[r * in + i] = values != NULL && values[r * in + i] <= 0.0
                           ? 0.0
                           : network_dot(slope, w + i * out, out);
}

/* exp(x) for x <= 0, as in softmax.c. */
static inline double network_exp(double x) {
  const double half = pc_lane_exp(0.5 * x), whole = pc_lane_exp(x);
  return x < -700.0 ? half * half : whole;
}

static void network_softmax(double *scores, size_t classes, size_t rows, double *norms) {
  for (size_t r = 0; r < rows; r++) {
    double *row = scores + r * classes, top = row[0];
    for (size_t j = 1; j < classes; j++)
      top = row[j] > top ? row[j] : top;
    for (size_t j = 0; j < classes; j++)
      row[j] -= top;
    norms[r] = top;
  }
  for (size_t i = 0; i < rows * classes; i++)
    scores[i] = network_exp(scores[i]);
  for (size_t r = 0; r < rows; r++) {
    double *row = scores + r * classes, sum = 0.0;
    for (size_t j = 0; j < classes; j++)
      sum += row[j];
    for (size_t j = 0; j < classes; j++)
      row[j] /= sum;
    norms[r] += pc_lane_log(sum);
  }
}

static void network_softplus(double *restrict u, size_t count, double *restrict rise) {
  for (size_t i = 0; i < count; i++) {
    const double x = u[i], small = network_exp(x > 0.0 ? -x : x), sum = 1.0 + small;
    rise[i] = x > 0.0 ? 1.0 / sum : small / sum;
    u[i] = (x > 0.0 ? x : 0.0) + pc_lane_log1p(small);
  }
}

const pc_network_kernels PC_VARIANT_TABLE(pc_network_kernels) = {
    .layer = network_layer,
    .gradient = network_gradient,
    .slope = network_slope,
    .softmax = network_softmax,
    .softplus = network_softplus,
};
