/* Formula:  see network_kernels.h, optim/dense_net.c and softmax.c, whose bits these loops keep.
 * Edge cases: those of softmax.c.
 * Cost:     2 operations for each weight and row in a layer, 4 backward; one exp and one log for each
 *           output. */
#include "kernels/network_kernels.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/lane_math.h"
#include "kernels/variant.h"

#define NETWORK_LANES 8
#define NETWORK_ROWS 4     /* rows at a time, so that their sums overlap */
#define NETWORK_WIDEST 512 /* most inputs of a layer whose weights are copied */

#define NETWORK_GROUP_LIMIT 4096 /* most numbers of a gradient that is copied */

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
typedef int64_t network_mask
    __attribute__((vector_size(NETWORK_LANES * sizeof(double)), aligned(8), may_alias));

static inline const network_vector *network_at(const double *columns, size_t i) {
  return (const network_vector *)(const void *)(columns + i * NETWORK_LANES);
}

/* x where the mask is set, else other.  Macros and pointers, because passing wide vectors depends
 * on the instruction set. */
#define NETWORK_CHOOSE(mask, x, other) \
  ((network_vector)(((network_mask)(x) & (mask)) | ((network_mask)(other) & ~(mask))))

/* The first of a group of NETWORK_LANES columns: the last group begins earlier, so that it is
 * full, if there are as many columns; some columns are then computed twice. */
static inline size_t network_first(size_t group, size_t columns) {
  return group + NETWORK_LANES <= columns || columns < NETWORK_LANES ? group
                                                                     : columns - NETWORK_LANES;
}

/* Stores the first `width` lanes. */
static inline void network_store(const network_vector *made, size_t width, double *to) {
  if (width >= NETWORK_LANES)
    *(network_vector *)(void *)to = *made;
  else
    memcpy(to, made, width * sizeof *to);
}

/* NETWORK_LANES outputs of NETWORK_ROWS rows, at least `least`. */
static inline void network_outputs(const double *columns, size_t in, const double *x,
                                   double least, network_vector made[NETWORK_ROWS]) {
  const double *x1 = x + in, *x2 = x1 + in, *x3 = x2 + in;
  const network_vector low = least - (network_vector){0.0};
  network_vector sum0 = *network_at(columns, in), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  for (size_t i = 0; i < in; i++) {
    const network_vector w = *network_at(columns, i);
    sum0 += x[i] * w;
    sum1 += x1[i] * w;
    sum2 += x2[i] * w;
    sum3 += x3[i] * w;
  }
  made[0] = NETWORK_CHOOSE(sum0 > low, sum0, low);
  made[1] = NETWORK_CHOOSE(sum1 > low, sum1, low);
  made[2] = NETWORK_CHOOSE(sum2 > low, sum2, low);
  made[3] = NETWORK_CHOOSE(sum3 > low, sum3, low);
}

/* The same for the rows that are left; they are filled up with the first. */
static void network_last_outputs(const double *columns, size_t in, const double *x, size_t rows,
                                 double least, network_vector made[NETWORK_ROWS]) {
  double copy[NETWORK_ROWS * NETWORK_WIDEST];
  for (size_t r = 0; r < NETWORK_ROWS; r++)
    memcpy(copy + r * in, x + (r < rows ? r : 0) * in, in * sizeof *x);
  network_outputs(columns, in, copy, least, made);
}

static void network_narrow(const double *w, size_t in, size_t out, const double *from,
                           size_t rows, int rectified, double *to) {
  double columns[(NETWORK_WIDEST + 1) * NETWORK_LANES];
  network_vector made[NETWORK_ROWS];
  const double least = rectified ? 0.0 : -INFINITY;
  for (size_t group = 0; group < out; group += NETWORK_LANES) {
    const size_t first = network_first(group, out), width = out - first;
    network_columns(w, in + 1, out, first, columns);
    size_t r = 0;
    for (; r + NETWORK_ROWS <= rows; r += NETWORK_ROWS) {
      network_outputs(columns, in, from + r * in, least, made);
      for (size_t n = 0; n < NETWORK_ROWS; n++)
        network_store(&made[n], width, to + (r + n) * out + first);
    }
    if (r < rows)
      network_last_outputs(columns, in, from + r * in, rows - r, least, made);
    for (size_t n = 0; r + n < rows; n++)
      network_store(&made[n], width, to + (r + n) * out + first);
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

/* ---- gradients: sums of outer products over rows, in the order of rows ---- */

/* Factors of NETWORK_ROWS rows, filled up with any numbers to a multiple of NETWORK_LANES; the
 * inputs of a layer are followed by a 1, the factor of the offsets. */
typedef struct network_factors {
  double inputs[NETWORK_ROWS][NETWORK_WIDEST + NETWORK_LANES];
  double slopes[NETWORK_ROWS][NETWORK_WIDEST + NETWORK_LANES];
} network_factors;

static inline size_t network_round_up(size_t count) {
  return (count + NETWORK_LANES - 1) / NETWORK_LANES * NETWORK_LANES;
}

/* Copies `count` numbers; what follows them up to `end` may be copied, too. */
static inline void network_copy(const double *from, size_t count, const double *end,
                                double *to) {
  if (network_round_up(count) > (size_t)(end - from)) {
    memcpy(to, from, count * sizeof *to);
    return;
  }
  for (size_t i = 0; i < count; i += NETWORK_LANES)
    *(network_vector *)(void *)(to + i) = *network_at(from + i, 0);
}

/* sums[i][j] += a[r][i] b[r][j], row after row; j in lanes. */
static inline void network_outer(double a[NETWORK_ROWS][NETWORK_WIDEST + NETWORK_LANES],
                                 size_t a_count,
                                 double b[NETWORK_ROWS][NETWORK_WIDEST + NETWORK_LANES],
                                 size_t b_count, double *sums) {
  const size_t step = network_round_up(b_count);
  for (size_t j = 0; j < b_count; j += NETWORK_LANES) {
    const network_vector b0 = *network_at(b[0] + j, 0), b1 = *network_at(b[1] + j, 0);
    const network_vector b2 = *network_at(b[2] + j, 0), b3 = *network_at(b[3] + j, 0);
    for (size_t i = 0; i < a_count; i++) {
      network_vector *sum = (network_vector *)(void *)(sums + i * step + j);
      *sum = (((*sum + a[0][i] * b0) + a[1][i] * b1) + a[2][i] * b2) + a[3][i] * b3;
    }
  }
}

/* The gradient, in a layout whose rows are whole vectors: by inputs, or by outputs if that takes
 * fewer vectors. */
static void network_small_gradient(const double *from, size_t in, size_t out,
                                   const double *slope, size_t rows, double *gradient) {
  double sums[NETWORK_GROUP_LIMIT];
  network_factors factors;
  const double *inputs_end = from + rows * in, *slopes_end = slope + rows * out;
  const size_t bound = in + 1;
  const int turned = out * network_round_up(bound) < bound * network_round_up(out);
  const size_t by_input = turned ? 1 : network_round_up(out);
  const size_t by_output = turned ? network_round_up(bound) : 1;
  memset(sums, 0, (turned ? out * by_output : bound * by_input) * sizeof *sums);
  memset(&factors, 0, sizeof factors);
  for (size_t i = 0; i < bound; i++)
    for (size_t j = 0; j < out; j++)
      sums[i * by_input + j * by_output] = gradient[i * out + j];
  for (size_t r = 0; r < rows; r += NETWORK_ROWS, from += NETWORK_ROWS * in) {
    for (size_t n = 0; n < NETWORK_ROWS; n++, slope += out) {
      network_copy(from + n * in, in, inputs_end, factors.inputs[n]);
      network_copy(slope, out, slopes_end, factors.slopes[n]);
      factors.inputs[n][in] = 1.0;
    }
    if (turned)
      network_outer(factors.slopes, out, factors.inputs, bound, sums);
    else
      network_outer(factors.inputs, bound, factors.slopes, out, sums);
  }
  for (size_t i = 0; i < bound; i++)
    for (size_t j = 0; j < out; j++)
      gradient[i * out + j] = sums[i * by_input + j * by_output];
}

/* Four rows at a time, as above. */
static void network_wide_gradient(const double *restrict from, size_t in, size_t out,
                                  const double *restrict slope, size_t rows,
                                  double *restrict gradient) {
  for (size_t r = 0; r < rows; r += 4, from += 4 * in, slope += 4 * out) {
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
}

static void network_gradient(const double *restrict from, size_t in, size_t out,
                             const double *restrict slope, size_t rows,
                             double *restrict gradient) {
  const size_t whole = rows / NETWORK_ROWS * NETWORK_ROWS;
  const int small = in < NETWORK_WIDEST && out <= NETWORK_WIDEST &&
                    network_round_up(in + 1) * network_round_up(out) <= NETWORK_GROUP_LIMIT;
  (small ? network_small_gradient : network_wide_gradient)(from, in, out, slope, whole,
                                                           gradient);
  from += whole * in;
  slope += whole * out;
  for (size_t r = whole; r < rows; r++, from += in, slope += out)
    for (size_t i = 0; i <= in; i++) {
      const double x = i < in ? from[i] : 1.0;
      for (size_t j = 0; j < out; j++)
        gradient[i * out + j] += x * slope[j];
    }
}

/* ---- slopes ---- */

/* Inner products of one vector with NETWORK_LANES columns at once, in the order of pc_dot.  The
 * sums have names, so that they stay in registers. */
static inline void network_dots(const double *columns, size_t count, const double *x,
                                network_vector *out) {
  network_vector p0 = {0.0}, p1 = p0, p2 = p0, p3 = p0, p4 = p0, p5 = p0, p6 = p0, p7 = p0;
  size_t j = 0;
#define NETWORK_ADD(p, n) p += x[j + (n)] * *network_at(columns, j + (n))
  for (; j + 8 <= count; j += 8) {
    NETWORK_ADD(p0, 0), NETWORK_ADD(p1, 1), NETWORK_ADD(p2, 2), NETWORK_ADD(p3, 3);
    NETWORK_ADD(p4, 4), NETWORK_ADD(p5, 5), NETWORK_ADD(p6, 6), NETWORK_ADD(p7, 7);
  }
  switch (count - j) {
  case 7:
    NETWORK_ADD(p6, 6); /* fall through */
  case 6:
    NETWORK_ADD(p5, 5); /* fall through */
  case 5:
    NETWORK_ADD(p4, 4); /* fall through */
  case 4:
    NETWORK_ADD(p3, 3); /* fall through */
  case 3:
    NETWORK_ADD(p2, 2); /* fall through */
  case 2:
    NETWORK_ADD(p1, 1); /* fall through */
  case 1:
    NETWORK_ADD(p0, 0);
    break;
  default:
    break;
  }
#undef NETWORK_ADD
  *out = ((p0 + p4) + (p2 + p6)) + ((p1 + p5) + (p3 + p7));
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
  double columns[NETWORK_WIDEST * NETWORK_LANES];
  const size_t left = in - first, width = left < NETWORK_LANES ? left : NETWORK_LANES;
  const network_vector zero = {0.0};
  for (size_t j = 0; j < out; j++)
    for (size_t l = 0; l < NETWORK_LANES; l++)
      columns[j * NETWORK_LANES + l] = l < width ? w[(first + l) * out + j] : 0.0;
  for (size_t r = 0; r < rows; r++) {
    network_vector made;
    const size_t at = r * in + first;
    network_dots(columns, out, slope + r * out, &made);
    if (values != NULL && width == NETWORK_LANES) {
      const network_vector value = *network_at(values + at, 0);
      made = NETWORK_CHOOSE(value <= zero, zero, made);
    } else if (values != NULL) {
      for (size_t l = 0; l < width; l++)
        made[l] = values[at + l] <= 0.0 ? 0.0 : made[l];
    }
    network_store(&made, width, to + at);
  }
}

static void network_slope(const double *w, size_t in, size_t out, const double *slope,
                          size_t rows, const double *values, double *to) {
  for (size_t group = 0; group < in && out <= NETWORK_WIDEST; group += NETWORK_LANES)
    network_slope_columns(w, in, out, network_first(group, in), slope, rows, values, to);
  for (size_t r = 0; r < rows && out > NETWORK_WIDEST; r++)
    for (size_t i = 0; i < in; i++)
      to[r * in + i] = values != NULL && values[r * in + i] <= 0.0
                           ? 0.0
                           : network_dot(slope + r * out, w + i * out, out);
}

/* ---- functions of outputs ---- */

/* True if a number is so low that its exp is taken in two steps. */
static int network_has_low(const double *x, size_t count) {
  int64_t low = 0;
  for (size_t i = 0; i < count; i++)
    low |= x[i] < -700.0;
  return low != 0;
}

/* exp(x) for x <= 0, as in softmax.c. */
static inline double network_exp(double x) {
  const double half = pc_lane_exp(0.5 * x), whole = pc_lane_exp(x);
  return x < -700.0 ? half * half : whole;
}

static void network_exps(double *x, size_t count) {
  if (network_has_low(x, count))
    for (size_t i = 0; i < count; i++)
      x[i] = network_exp(x[i]);
  else
    for (size_t i = 0; i < count; i++)
      x[i] = pc_lane_exp(x[i]);
}

#define NETWORK_BLOCK 64 /* rows whose logarithms are taken together */

static void network_softmax_block(double *scores, size_t classes, size_t rows, double *norms) {
  double sums[NETWORK_BLOCK];
  for (size_t r = 0; r < rows; r++) {
    double *row = scores + r * classes, top = row[0];
    for (size_t j = 1; j < classes; j++)
      top = row[j] > top ? row[j] : top;
    for (size_t j = 0; j < classes; j++)
      row[j] -= top;
    norms[r] = top;
  }
  network_exps(scores, rows * classes);
  for (size_t r = 0; r < rows; r++) {
    double *row = scores + r * classes, sum = 0.0;
    for (size_t j = 0; j < classes; j++)
      sum += row[j];
    for (size_t j = 0; j < classes; j++)
      row[j] /= sum;
    sums[r] = sum;
  }
  for (size_t r = 0; r < rows; r++)
    norms[r] += pc_lane_log(sums[r]);
}

static void network_softmax(double *scores, size_t classes, size_t rows, double *norms) {
  for (size_t r = 0; r < rows; r += NETWORK_BLOCK) {
    const size_t left = rows - r, here = left < NETWORK_BLOCK ? left : NETWORK_BLOCK;
    network_softmax_block(scores + r * classes, classes, here, norms + r);
  }
}

static void network_softplus(double *restrict u, size_t count, double *restrict rise) {
  double small[NETWORK_BLOCK];
  for (size_t begin = 0; begin < count; begin += NETWORK_BLOCK) {
    const size_t left = count - begin, here = left < NETWORK_BLOCK ? left : NETWORK_BLOCK;
    double *x = u + begin, *to = rise + begin;
    for (size_t i = 0; i < here; i++)
      small[i] = x[i] > 0.0 ? -x[i] : x[i];
    network_exps(small, here);
    for (size_t i = 0; i < here; i++) {
      const double sum = 1.0 + small[i], over = x[i] > 0.0 ? 1.0 : small[i];
      to[i] = over / sum;
      x[i] = (x[i] > 0.0 ? x[i] : 0.0) + pc_lane_log1p(small[i]);
    }
  }
}

const pc_network_kernels PC_VARIANT_TABLE(pc_network_kernels) = {
    .layer = network_layer,
    .gradient = network_gradient,
    .slope = network_slope,
    .softmax = network_softmax,
    .softplus = network_softplus,
};
