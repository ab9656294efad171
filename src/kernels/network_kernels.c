/* Formula:  see network_kernels.h, optim/dense_net.c and softmax.c, whose bits these loops keep.
 * Edge cases: those of softmax.c.
 * Cost:     2 operations for each weight and row in a layer, 4 backward; one exp and one log for each
 *           output. */
#include "kernels/network_kernels.h"

#include <math.h>
#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/variant.h"

#define NETWORK_LANES 8
#define NETWORK_ROWS 4     /* rows at a time, so that their sums overlap */
#define NETWORK_WIDEST 512 /* most inputs of a layer whose weights are copied */

/* Columns first .. first + NETWORK_LANES - 1 of a matrix, filled up with zeros. */
static void network_columns(const double *w, size_t rows, size_t columns, size_t first,
                            double *out) {
  for (size_t i = 0; i < rows; i++)
    for (size_t l = 0; l < NETWORK_LANES; l++)
      out[i * NETWORK_LANES + l] = first + l < columns ? w[i * columns + first + l] : 0.0;
}

/* Explicit vectors: compilers would write loops over eight lanes out. */
typedef double network_vector
    __attribute__((vector_size(NETWORK_LANES * sizeof(double)), aligned(8), may_alias));

static inline const network_vector *network_at(const double *columns, size_t i) {
  return (const network_vector *)(const void *)(columns + i * NETWORK_LANES);
}

/* NETWORK_LANES outputs of NETWORK_ROWS rows. */
static inline void network_outputs(const double *columns, size_t in, const double *x,
                                   double made[NETWORK_ROWS][NETWORK_LANES]) {
  const double *x1 = x + in, *x2 = x1 + in, *x3 = x2 + in;
  network_vector sum0 = *network_at(columns, in), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (size_t i = 0; i < in; i++) {
    const network_vector w = *network_at(columns, i);
    sum0 += x[i] * w;
    sum1 += x1[i] * w;
    sum2 += x2[i] * w;
    sum3 += x3[i] * w;
  }
  memcpy(made[0], &sum0, sizeof sum0);
  memcpy(made[1], &sum1, sizeof sum1);
  memcpy(made[2], &sum2, sizeof sum2);
  memcpy(made[3], &sum3, sizeof sum3);
}

/* The same for the rows that are left; they are filled up with the first. */
static void network_last_outputs(const double *columns, size_t in, const double *x, size_t rows,
                                 double made[NETWORK_ROWS][NETWORK_LANES]) {
  double copy[NETWORK_ROWS * NETWORK_WIDEST];
  for (size_t r = 0; r < NETWORK_ROWS; r++)
    memcpy(copy + r * in, x + (r < rows ? r : 0) * in, in * sizeof *x);
  network_outputs(columns, in, copy, made);
}

static void network_narrow(const double *w, size_t in, size_t out, const double *from,
                           size_t rows, int rectified, double *to) {
  double columns[(NETWORK_WIDEST + 1) * NETWORK_LANES], made[NETWORK_ROWS][NETWORK_LANES];
  const double least = rectified ? 0.0 : -INFINITY;
  for (size_t first = 0; first < out; first += NETWORK_LANES) {
    const size_t left = out - first, width = left < NETWORK_LANES ? left : NETWORK_LANES;
    network_columns(w, in + 1, out, first, columns);
    for (size_t r = 0; r < rows; r += NETWORK_ROWS) {
      const size_t here = rows - r < NETWORK_ROWS ? rows - r : NETWORK_ROWS;
      if (here == NETWORK_ROWS)
        network_outputs(columns, in, from + r * in, made);
      else
        network_last_outputs(columns, in, from + r * in, here, made);
      for (size_t n = 0; n < here; n++)
        for (size_t l = 0; l < width; l++)
          to[(r + n) * out + first + l] = made[n][l] > least ? made[n][l] : least;
    }
  }
}

static void network_layer(const double *w, size_t in, size_t out, const double *from,
                          size_t rows, int rectified, double *to) {
  if (in <= NETWORK_WIDEST) {
    network_narrow(w, in, out, from, rows, rectified, to);
    return;
  }
  for (size_t r = 0; r < rows; r++, from += in, to += out) {
    memcpy(to, w + in * out, out * sizeof *to);
    for (size_t i = 0; i < in; i++)
      for (size_t j = 0; j < out; j++)
        to[j] += from[i] * w[i * out + j];
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

/* Inner products of one vector with NETWORK_LANES columns at once, in the order of pc_dot. */
static inline void network_dots(const double *columns, size_t count, const double *x,
                                double out[NETWORK_LANES]) {
  network_vector part[8] = {{0.0}};
  size_t j = 0;
  for (; j + 8 <= count; j += 8)
    for (size_t p = 0; p < 8; p++)
      part[p] += x[j + p] * *network_at(columns, j + p);
  for (size_t p = 0; j < count; j++, p++)
    part[p] += x[j] * *network_at(columns, j);
  const network_vector all =
      ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
  memcpy(out, &all, sizeof all);
}

static double network_dot(const double *restrict a, const double *restrict b, size_t count) {
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

/* Slopes by NETWORK_LANES inputs of all rows. */
static void network_slope_columns(const double *w, size_t in, size_t out, size_t first,
                                  const double *slope, size_t rows, const double *values,
                                  double *to) {
  double columns[NETWORK_WIDEST * NETWORK_LANES], made[NETWORK_LANES];
  const size_t left = in - first, width = left < NETWORK_LANES ? left : NETWORK_LANES;
  for (size_t j = 0; j < out; j++)
    for (size_t l = 0; l < NETWORK_LANES; l++)
      columns[j * NETWORK_LANES + l] = l < width ? w[(first + l) * out + j] : 0.0;
  for (size_t r = 0; r < rows; r++) {
    network_dots(columns, out, slope + r * out, made);
    for (size_t l = 0; l < width; l++) {
      const size_t at = r * in + first + l;
      to[at] = values != NULL && values[at] <= 0.0 ? 0.0 : made[l];
    }
  }
}

static void network_slope(const double *w, size_t in, size_t out, const double *slope,
                          size_t rows, const double *values, double *to) {
  for (size_t first = 0; first < in && out <= NETWORK_WIDEST; first += NETWORK_LANES)
    network_slope_columns(w, in, out, first, slope, rows, values, to);
  for (size_t r = 0; r < rows && out > NETWORK_WIDEST; r++)
    for (size_t i = 0; i < in; i++)
      to[r * in + i] = values != NULL && values[r * in + i] <= 0.0
                           ? 0.0
                           : network_dot(slope + r * out, w + i * out, out);
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
