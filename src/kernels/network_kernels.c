/* Formula:  see network_kernels.h and optim/dense_net.c.  Vectors hold one number of eight rows, so
 *           that no lane is idle whatever the sizes of the layers.
 * Order:    sums over inputs, outputs and classes run in their order; sums over rows in lanes.
 *           Several columns at a time only change which sums are computed together.
 * Edge cases: exp below -700 is taken in two steps, as in softmax.c.
 * Cost:     2 operations for each weight and row in a layer, 4 backward; one exp and one log
 *           for each output. */
#include "kernels/network_kernels.h"

#include "kernels/lane_math.h"
#include "kernels/variant.h"

#define NETWORK_LANES 8

/* Explicit vectors: compilers would write loops over eight lanes out. */
typedef double network_vector
    __attribute__((vector_size(NETWORK_LANES * sizeof(double)), aligned(8), may_alias));
typedef int64_t network_mask
    __attribute__((vector_size(NETWORK_LANES * sizeof(double)), aligned(8), may_alias));

#define NETWORK_AT(x) (*(const network_vector *)(const void *)(x))
#define NETWORK_TO(x) (*(network_vector *)(void *)(x))

/* x where the mask is set, else 0.  Macros, because passing wide vectors depends on the instruction
 * set. */
#define NETWORK_KEEP(mask, x) ((network_vector)((network_mask)(x) & (mask)))

/* ---- products of a matrix with all rows ---- */

/* to[j] = start[j] + sum_i from[i] w[i by_in + j by_out]. */
typedef struct network_product {
  const double *w, *start; /* start NULL: 0 */
  size_t by_in, by_out, in, out;
  const double *from;
  size_t stride;
  int rectified;
  const double *values; /* results are 0 where these are not above 0; or NULL */
  double *to;
} network_product;

static inline void network_store(const network_product *p, size_t at,
                                 const network_vector *made) {
  const network_vector zero = {0.0};
  if (p->rectified)
    NETWORK_TO(p->to + at) = NETWORK_KEEP(*made > zero, *made);
  else if (p->values != NULL)
    NETWORK_TO(p->to + at) = NETWORK_KEEP(NETWORK_AT(p->values + at) > zero, *made);
  else
    NETWORK_TO(p->to + at) = *made;
}

static inline double network_start(const network_product *p, size_t j) {
  return p->start == NULL ? 0.0 : p->start[j];
}

/* Outputs j to j + 3 of sixteen rows from row r on. */
static inline void network_four(const network_product *p, size_t j, size_t r) {
  const double *w = p->w + j * p->by_out, *x = p->from + r;
  const size_t next = p->by_out;
  const network_vector zero = {0.0};
  network_vector a0 = zero + network_start(p, j), a1 = a0;
  network_vector b0 = zero + network_start(p, j + 1), b1 = b0;
  network_vector c0 = zero + network_start(p, j + 2), c1 = c0;
  network_vector d0 = zero + network_start(p, j + 3), d1 = d0;
  for (size_t i = 0; i < p->in; i++, w += p->by_in, x += p->stride) {
    const network_vector x0 = NETWORK_AT(x), x1 = NETWORK_AT(x + NETWORK_LANES);
    a0 += w[0] * x0;
    a1 += w[0] * x1;
    b0 += w[next] * x0;
    b1 += w[next] * x1;
    c0 += w[2 * next] * x0;
    c1 += w[2 * next] * x1;
    d0 += w[3 * next] * x0;
    d1 += w[3 * next] * x1;
  }
  const network_vector made[] = {a0, a1, b0, b1, c0, c1, d0, d1};
  for (size_t n = 0; n < 8; n++)
    network_store(p, (j + n / 2) * p->stride + r + n % 2 * NETWORK_LANES, &made[n]);
}

/* Output j of eight rows. */
static inline void network_one(const network_product *p, size_t j, size_t r) {
  const double *w = p->w + j * p->by_out, *x = p->from + r;
  network_vector sum = (network_vector){0.0} + network_start(p, j);
  for (size_t i = 0; i < p->in; i++, w += p->by_in, x += p->stride)
    sum += w[0] * NETWORK_AT(x);
  network_store(p, j * p->stride + r, &sum);
}

/* One of the last outputs, if their number is not a multiple of four, for 32 rows at once. */
static inline void network_last(const network_product *p, size_t j, size_t r) {
  const double *w = p->w + j * p->by_out, *x = p->from + r;
  network_vector a0 = (network_vector){0.0} + network_start(p, j), a1 = a0, a2 = a0, a3 = a0;
  for (size_t i = 0; i < p->in; i++, w += p->by_in, x += p->stride) {
    a0 += w[0] * NETWORK_AT(x);
    a1 += w[0] * NETWORK_AT(x + NETWORK_LANES);
    a2 += w[0] * NETWORK_AT(x + 2 * NETWORK_LANES);
    a3 += w[0] * NETWORK_AT(x + 3 * NETWORK_LANES);
  }
  network_store(p, j * p->stride + r, &a0);
  network_store(p, j * p->stride + r + NETWORK_LANES, &a1);
  network_store(p, j * p->stride + r + 2 * NETWORK_LANES, &a2);
  network_store(p, j * p->stride + r + 3 * NETWORK_LANES, &a3);
}

static inline void network_multiply(const network_product *p) {
  size_t j = 0;
  for (; j + 4 <= p->out; j += 4) {
    size_t r = 0;
    for (; r + 2 * NETWORK_LANES <= p->stride; r += 2 * NETWORK_LANES)
      network_four(p, j, r);
    for (size_t n = 0; n < 4 && r < p->stride; n++)
      network_one(p, j + n, r);
  }
  for (; j < p->out; j++)
    for (size_t r = 0; r < p->stride;) {
      const int many = r + 4 * NETWORK_LANES <= p->stride;
      (many ? network_last : network_one)(p, j, r);
      r += many ? 4 * NETWORK_LANES : NETWORK_LANES;
    }
}

static void network_layer(const double *w, size_t in, size_t out, const double *from,
                          size_t stride, int rectified, double *to) {
  const network_product product = {.w = w,
                                   .start = w + in * out,
                                   .by_in = out,
                                   .by_out = 1,
                                   .in = in,
                                   .out = out,
                                   .from = from,
                                   .stride = stride,
                                   .rectified = rectified,
                                   .to = to};
  network_multiply(&product);
}

static void network_slope(const double *w, size_t in, size_t out, const double *slope,
                          size_t stride, const double *values, double *to) {
  const network_product product = {.w = w,
                                   .by_in = 1,
                                   .by_out = out,
                                   .in = out,
                                   .out = in,
                                   .from = slope,
                                   .stride = stride,
                                   .values = values,
                                   .to = to};
  network_multiply(&product);
}

/* ---- gradients ---- */

/* Two inputs and four outputs; `next` lanes further are those of the second input. */
static inline void network_eight_sums(const double *x, const double *s, size_t stride,
                                      size_t next, double *lanes) {
  const double *y = x + stride, *t = s + stride, *u = t + stride, *v = u + stride;
  double *second = lanes + next;
  network_vector xs = NETWORK_AT(lanes), xt = NETWORK_AT(lanes + NETWORK_LANES);
  network_vector xu = NETWORK_AT(lanes + 2 * NETWORK_LANES);
  network_vector xv = NETWORK_AT(lanes + 3 * NETWORK_LANES);
  network_vector ys = NETWORK_AT(second), yt = NETWORK_AT(second + NETWORK_LANES);
  network_vector yu = NETWORK_AT(second + 2 * NETWORK_LANES);
  network_vector yv = NETWORK_AT(second + 3 * NETWORK_LANES);
  for (size_t r = 0; r < stride; r += NETWORK_LANES) {
    const network_vector x0 = NETWORK_AT(x + r), y0 = NETWORK_AT(y + r);
    const network_vector s0 = NETWORK_AT(s + r), t0 = NETWORK_AT(t + r);
    const network_vector u0 = NETWORK_AT(u + r), v0 = NETWORK_AT(v + r);
    xs += x0 * s0;
    xt += x0 * t0;
    xu += x0 * u0;
    xv += x0 * v0;
    ys += y0 * s0;
    yt += y0 * t0;
    yu += y0 * u0;
    yv += y0 * v0;
  }
  const network_vector made[] = {xs, xt, xu, xv, ys, yt, yu, yv};
  for (size_t n = 0; n < 8; n++)
    NETWORK_TO(lanes + n / 4 * next + n % 4 * NETWORK_LANES) = made[n];
}

static inline void network_one_sum(const double *x, const double *s, size_t stride,
                                   double *lanes) {
  network_vector sum = NETWORK_AT(lanes);
  for (size_t r = 0; r < stride; r += NETWORK_LANES)
    sum += NETWORK_AT(x + r) * NETWORK_AT(s + r);
  NETWORK_TO(lanes) = sum;
}

static inline void network_column_sum(const double *s, size_t stride, double *lanes) {
  network_vector sum = NETWORK_AT(lanes);
  for (size_t r = 0; r < stride; r += NETWORK_LANES)
    sum += NETWORK_AT(s + r);
  NETWORK_TO(lanes) = sum;
}

static void network_gradient(const double *from, size_t in, size_t out, const double *slope,
                             size_t stride, double *lanes) {
  const size_t next = out * NETWORK_LANES, whole_in = in / 2 * 2, whole_out = out / 4 * 4;
  for (size_t i = 0; i < whole_in; i += 2)
    for (size_t j = 0; j < whole_out; j += 4)
      network_eight_sums(from + i * stride, slope + j * stride, stride, next,
                         lanes + i * next + j * NETWORK_LANES);
  for (size_t i = 0; i < in; i++)
    for (size_t j = i < whole_in ? whole_out : 0; j < out; j++)
      network_one_sum(from + i * stride, slope + j * stride, stride,
                      lanes + i * next + j * NETWORK_LANES);
  for (size_t j = 0; j < out; j++)
    network_column_sum(slope + j * stride, stride, lanes + in * next + j * NETWORK_LANES);
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

static void network_softmax(double *restrict scores, size_t classes, size_t stride,
                            const uint32_t *places, const double *restrict weights,
                            double *restrict losses) {
  double top[PC_NETWORK_ROWS], sums[PC_NETWORK_ROWS], scale[PC_NETWORK_ROWS];
  for (size_t r = 0; r < stride; r++) {
    losses[r] = scores[places[r] * stride + r];
    top[r] = scores[r];
    sums[r] = 0.0;
  }
  for (size_t c = 1; c < classes; c++)
    for (size_t r = 0; r < stride; r++)
      top[r] = scores[c * stride + r] > top[r] ? scores[c * stride + r] : top[r];
  for (size_t c = 0; c < classes; c++)
    for (size_t r = 0; r < stride; r++)
      scores[c * stride + r] -= top[r];
  network_exps(scores, classes * stride);
  for (size_t c = 0; c < classes; c++)
    for (size_t r = 0; r < stride; r++)
      sums[r] += scores[c * stride + r];
  for (size_t r = 0; r < stride; r++) {
    scale[r] = weights[r] / sums[r];
    losses[r] = (top[r] + pc_lane_log(sums[r])) - losses[r];
  }
  for (size_t c = 0; c < classes; c++)
    for (size_t r = 0; r < stride; r++)
      scores[c * stride + r] *= scale[r];
  for (size_t r = 0; r < stride; r++)
    scores[places[r] * stride + r] -= weights[r];
}

#define NETWORK_BLOCK 64 /* numbers whose exps are taken together */

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

static void network_stretch(const double *restrict gaps, const double *restrict factors,
                            size_t classes, size_t stride, double *restrict scores) {
  for (size_t r = 0; r < stride; r += NETWORK_LANES) {
    network_vector sum = {0.0};
    NETWORK_TO(scores + (classes - 1) * stride + r) = sum;
    for (size_t j = classes - 1; j-- > 0;) {
      sum += NETWORK_AT(gaps + j * stride + r) * NETWORK_AT(factors + j * stride + r);
      NETWORK_TO(scores + j * stride + r) = sum;
    }
  }
}

static void network_stretch_slope(const double *restrict slopes, const double *restrict gaps,
                                  const double *restrict rise, size_t classes, size_t stride,
                                  double *restrict out) {
  for (size_t r = 0; r < stride; r += NETWORK_LANES) {
    network_vector above = {0.0};
    for (size_t j = 0; j + 1 < classes; j++) {
      const size_t at = j * stride + r;
      above += NETWORK_AT(slopes + at);
      NETWORK_TO(out + at) = (above * NETWORK_AT(gaps + at)) * NETWORK_AT(rise + at);
    }
  }
}

const pc_network_kernels PC_VARIANT_TABLE(pc_network_kernels) = {
    .layer = network_layer,
    .gradient = network_gradient,
    .slope = network_slope,
    .softmax = network_softmax,
    .softplus = network_softplus,
    .stretch = network_stretch,
    .stretch_slope = network_stretch_slope,
};
