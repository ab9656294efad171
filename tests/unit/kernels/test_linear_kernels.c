#include "kernels/dispatch.h"
#include "kernels/linear_kernels.h"

#include "../unit.h"
#include "base/rng.h"

enum { CLASSES = 21, INPUTS = 23, STRIDE = 32 };

typedef struct numbers {
  double w[INPUTS * STRIDE], b[STRIDE], x[PC_LINEAR_ROWS * INPUTS];
  double u[PC_LINEAR_ROWS * STRIDE], p[STRIDE], r[STRIDE];
  double weights[PC_LINEAR_ROWS];
} numbers;

static void draw(numbers *out) {
  const pc_rng rng = {11, 3};
  memset(out, 0, sizeof *out);
  for (size_t j = 0; j < INPUTS; j++)
    for (size_t k = 0; k < CLASSES; k++)
      out->w[j * STRIDE + k] = pc_rng_normal(&rng, j * STRIDE + k);
  for (size_t k = 0; k < CLASSES; k++)
    out->b[k] = pc_rng_normal(&rng, 10000 + k);
  for (size_t i = 0; i < PC_LINEAR_ROWS * INPUTS; i++)
    out->x[i] = 2.0 * pc_rng_uniform(&rng, 20000 + i) - 1.0;
  for (size_t r = 0; r < PC_LINEAR_ROWS; r++)
    out->weights[r] = 0.5 + (double)r;
}

/* Residuals of a single row; returns the loss. */
static double residual_of(const pc_linear_kernels *kernels, double *u, size_t count,
                          size_t stride, size_t label, double *p, double *r) {
  double loss;
  kernels->residuals(u, count, stride, 1, &label, p, r, &loss);
  return loss;
}

TEST(maps_and_softmax) {
  static numbers n;
  const pc_linear_kernels *kernels = pc_kernels_best()->linear;
  draw(&n);
  kernels->map(n.w, n.b, n.x, INPUTS, STRIDE, n.u);
  for (size_t r = 0; r < PC_LINEAR_ROWS; r++) {
    double *u = n.u + r * STRIDE, sum = 0.0, top = -INFINITY, even[CLASSES];
    for (size_t k = 0; k < CLASSES; k++) {
      double expected = n.b[k];
      for (size_t j = 0; j < INPUTS; j++)
        expected += n.x[r * INPUTS + j] * n.w[j * STRIDE + k];
      assert_near(u[k], expected, 1e-13);
      top = fmax(top, u[k]);
    }
    for (size_t k = 0; k < CLASSES; k++)
      sum += exp(u[k] - top);
    const double gap = u[5] - top;
    kernels->softmax(u, CLASSES, even);
    const double loss = residual_of(kernels, u, CLASSES, STRIDE, 5, n.p, n.r);
    assert_near(loss, log(sum) - gap, 1e-13);
    double total = 0.0;
    for (size_t k = 0; k < STRIDE; k++) {
      const double p = k < CLASSES ? even[k] : 0.0;
      assert_true(fabs(n.p[k] - p) <= 1e-15);
      assert_true(fabs(n.r[k] - (p - (k == 5))) <= 1e-15);
      total += n.p[k];
    }
    assert_near(total, 1.0, 1e-14);
  }
}

/* Several rows at once give the bits of single ones. */
static void check_block(const pc_linear_kernels *kernels, size_t classes, size_t stride) {
  static numbers n;
  static double u[PC_LINEAR_BLOCK * STRIDE], p[PC_LINEAR_BLOCK * STRIDE],
      r[PC_LINEAR_BLOCK * STRIDE];
  size_t labels[PC_LINEAR_BLOCK];
  double loss[PC_LINEAR_BLOCK];
  draw(&n);
  for (size_t i = 0; i < PC_LINEAR_BLOCK * stride; i++)
    u[i] = 30.0 * n.w[i % (INPUTS * STRIDE)] * n.x[i % (PC_LINEAR_ROWS * INPUTS)];
  for (size_t k = 0; k < classes; k++)
    u[k] = u[stride + k] = k < 2 ? 3.0 : -1e6; /* two largest; terms of 0 */
  for (size_t i = 0; i < PC_LINEAR_BLOCK; i++)
    labels[i] = (3 + 7 * i) % classes;
  kernels->residuals(u, classes, stride, PC_LINEAR_BLOCK, labels, p, r, loss);
  for (size_t i = 0; i < PC_LINEAR_BLOCK; i++) {
    assert_same(residual_of(kernels, u + i * stride, classes, stride, labels[i], n.p, n.r),
                loss[i]);
    assert_memory_equal(n.p, p + i * stride, stride * sizeof *p);
    assert_memory_equal(n.r, r + i * stride, stride * sizeof *r);
  }
}

TEST(residuals_of_a_block) {
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    check_block(pc_kernels_at(v)->linear, CLASSES, STRIDE);
    for (size_t classes = 2; classes <= PC_LINEAR_LANES; classes += 2)
      check_block(pc_kernels_at(v)->linear, classes, PC_LINEAR_LANES);
  }
}

/* Losses and residuals next to 0 keep their digits; nothing is NaN far out. */
TEST(extreme_scores) {
  const pc_linear_kernels *kernels = pc_kernels_best()->linear;
  double u[PC_LINEAR_LANES] = {50.0, 0.0, 0.0}, p[PC_LINEAR_LANES], r[PC_LINEAR_LANES];
  const double small = exp(-50.0);
  assert_near(residual_of(kernels, u, 3, PC_LINEAR_LANES, 0, p, r), 2.0 * small, 1e-13);
  assert_near(r[0], -2.0 * small, 1e-13);
  assert_near(r[1], small, 1e-13);
  double far[PC_LINEAR_LANES] = {1e250, -1e250, 3.0};
  const double loss = residual_of(kernels, far, 3, PC_LINEAR_LANES, 1, p, r);
  assert_near(loss, 2e250, 1e-15);
  assert_same(p[0], 1.0);
  assert_same(p[1], 0.0);
  assert_same(r[1], -1.0);
  double same[PC_LINEAR_LANES] = {7.0, 7.0};
  assert_near(residual_of(kernels, same, 2, PC_LINEAR_LANES, 1, p, r), log(2.0), 1e-15);
  assert_same(r[1], -0.5);
}

/* Sums on the lattice are near the plain ones, and exact for what lies on it. */
TEST(lattice_sums) {
  static numbers n;
  static double sums[INPUTS * STRIDE], weighted[INPUTS * STRIDE], single[STRIDE];
  const pc_linear_kernels *kernels = pc_kernels_best()->linear;
  draw(&n);
  memset(sums, 0, sizeof sums);
  memset(weighted, 0, sizeof weighted);
  memset(single, 0, sizeof single);
  for (size_t r = 0; r < PC_LINEAR_ROWS; r++)
    for (size_t k = 0; k < STRIDE; k++)
      n.u[r * STRIDE + k] = k < CLASSES ? n.x[(r * 7 + k) % (PC_LINEAR_ROWS * INPUTS)] : 0.0;
  kernels->outer(sums, n.x, INPUTS, n.u, INPUTS, STRIDE, NULL);
  kernels->outer(weighted, n.x, INPUTS, n.u, INPUTS, STRIDE, n.weights);
  for (size_t i = 0; i < INPUTS; i++)
    for (size_t k = 0; k < STRIDE; k++) {
      double plain = 0.0, heavy = 0.0;
      for (size_t r = 0; r < PC_LINEAR_ROWS; r++) {
        plain += n.x[r * INPUTS + i] * n.u[r * STRIDE + k];
        heavy += n.weights[r] * n.x[r * INPUTS + i] * n.u[r * STRIDE + k];
      }
      assert_true(fabs(sums[i * STRIDE + k] - plain) <= 4 * PC_LATTICE);
      assert_true(fabs(weighted[i * STRIDE + k] - heavy) <= 16 * PC_LATTICE);
    }
  const double a[2] = {0.5, -0.25}, v[2] = {0.25, 1.0};
  kernels->add(single, a, v, 2, 3.0);
  kernels->accumulate(single, 0.5, v, 2, 2.0);
  assert_same(single[0], 0.375 + 0.25);
  assert_same(single[1], -0.75 + 1.0);
  const double dot = kernels->dot(n.x, n.x + INPUTS, INPUTS);
  double expected = 0.0;
  for (size_t j = 0; j < INPUTS; j++)
    expected += n.x[j] * n.x[INPUTS + j];
  assert_true(fabs(dot - expected) < 1e-14);
}

/* The upper triangle is that of `outer`, with the same bits. */
TEST(upper_triangle) {
  enum { COUNT = PC_LINEAR_ROWS };
  static numbers n;
  static double x[COUNT * STRIDE + PC_LINEAR_LANES], a[COUNT * STRIDE], scaled[COUNT * STRIDE];
  static double all[INPUTS * STRIDE], upper[INPUTS * STRIDE];
  const double factors[COUNT] = {0.25, -0.125, 0.3, 0.01};
  const double *rows[COUNT];
  draw(&n);
  for (size_t r = 0; r < COUNT; r++) {
    rows[r] = x + r * STRIDE;
    memcpy(x + r * STRIDE, n.x + r * INPUTS, INPUTS * sizeof *x);
    for (size_t j = 0; j < INPUTS; j++)
      a[r * STRIDE + j] = factors[r] * x[r * STRIDE + j];
  }
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (int weighted = 0; weighted < 2; weighted++) {
      const pc_linear_kernels *kernels = pc_kernels_at(v)->linear;
      const double *weights = weighted ? n.weights : NULL;
      memset(all, 0, sizeof all);
      memset(upper, 0, sizeof upper);
      kernels->outer(all, a, STRIDE, x, INPUTS, STRIDE, weights);
      kernels->upper(upper, rows, INPUTS, STRIDE, factors, 3, weights, scaled);
      kernels->upper(upper, rows + 3, INPUTS, STRIDE, factors + 3, 1,
                     weighted ? weights + 3 : NULL, scaled);
      for (size_t i = 0; i < INPUTS; i++)
        for (size_t j = i; j < INPUTS; j++)
          assert_same(upper[i * STRIDE + (j - i)], all[i * STRIDE + j]);
    }
}

TEST(logistic) {
  const pc_linear_kernels *kernels = pc_kernels_best()->linear;
  const double margin[5] = {-800.0, -2.0, 0.0, 3.0, 900.0},
               target[5] = {0.0, 0.25, 1.0, 1.0, 1.0};
  double residual[5], spread[5], loss[5];
  kernels->logistic(margin, target, 5, residual, spread, loss);
  for (size_t k = 1; k < 4; k++) {
    const double p = 1.0 / (1.0 + exp(-margin[k]));
    assert_near(residual[k], p - target[k], 1e-14);
    assert_near(spread[k], p * (1.0 - p), 1e-14);
    assert_near(loss[k], -target[k] * log(p) - (1.0 - target[k]) * log(1.0 - p), 1e-14);
  }
  assert_same(loss[0], 0.0);
  assert_same(residual[4], 0.0);
  assert_same(loss[4], 0.0);
}

/* Every variant gives the bits of the reference. */
TEST(variants_agree) {
  static numbers n, other;
  static double sums[2][INPUTS * STRIDE];
  draw(&n);
  pc_kernels_at(0)->linear->map(n.w, n.b, n.x, INPUTS, STRIDE, n.u);
  pc_kernels_at(0)->linear->outer(sums[0], n.x, INPUTS, n.u, INPUTS, STRIDE, n.weights);
  const double loss = residual_of(pc_kernels_at(0)->linear, n.u, CLASSES, STRIDE, 3, n.p, n.r);
  for (size_t i = 1; pc_kernels_at(i) != NULL; i++) {
    const pc_linear_kernels *kernels = pc_kernels_at(i)->linear;
    draw(&other);
    memset(sums[1], 0, sizeof sums[1]);
    kernels->map(other.w, other.b, other.x, INPUTS, STRIDE, other.u);
    kernels->outer(sums[1], other.x, INPUTS, other.u, INPUTS, STRIDE, other.weights);
    assert_same(residual_of(kernels, other.u, CLASSES, STRIDE, 3, other.p, other.r), loss);
    assert_memory_equal(other.p, n.p, sizeof n.p);
    assert_memory_equal(other.r, n.r, sizeof n.r);
    assert_memory_equal(sums[1], sums[0], sizeof sums[0]);
    assert_same(kernels->dot(n.x, n.w, 40), pc_kernels_at(0)->linear->dot(n.x, n.w, 40));
  }
}
