#include "kernels/dispatch.h"
#include "kernels/vector_scaling_kernels.h"

#include "../unit.h"
#include "base/rng.h"

enum { K = 7, TILE = K * PC_LANES, SUMS = K * PC_VECTOR_SCALING_ALL * PC_VECTOR_SCALING_FOLD };
static const double most = 4.0;

typedef struct numbers {
  double wide[TILE], w[K], b[K], weights[PC_LANES], terms[TILE], p[TILE], loss[PC_LANES];
  double sums[SUMS];
  float narrow[TILE];
  int32_t labels[PC_LANES];
} numbers;

/* Features after clamping. */
static double cut(double x) {
  return fmax(fmin(x, most), -most);
}

static void draw(numbers *out, double size) {
  const pc_rng rng = {12, 4};
  memset(out, 0, sizeof *out);
  for (size_t i = 0; i < TILE; i++) {
    out->narrow[i] = (float)(size * pc_rng_normal(&rng, i));
    out->wide[i] = (double)out->narrow[i];
  }
  out->narrow[5] = 50.0f; /* beyond the clamp */
  out->wide[5] = 50.0;
  for (size_t k = 0; k < K; k++) {
    out->w[k] = pc_rng_normal(&rng, 1000 + k);
    out->b[k] = pc_rng_normal(&rng, 2000 + k);
  }
  for (size_t l = 0; l < PC_LANES; l++) {
    out->weights[l] = l == 3 ? 0.0 : 0.25 * (double)(l + 1);
    out->labels[l] = (int32_t)(l * 5 % K);
  }
}

static pc_vector_scaling_tile tile_of(const numbers *n, int narrow, int weighted) {
  return (pc_vector_scaling_tile){.classes = K,
                                  .features_f32 = narrow ? n->narrow : NULL,
                                  .features_f64 = narrow ? NULL : n->wide,
                                  .labels = n->labels,
                                  .weights = weighted ? n->weights : NULL,
                                  .most = most,
                                  .w = n->w,
                                  .b = n->b};
}

static double folded(const double *sums, size_t cell) {
  double sum = 0.0;
  for (size_t l = 0; l < PC_VECTOR_SCALING_FOLD; l++)
    sum += sums[cell * PC_VECTOR_SCALING_FOLD + l];
  return sum;
}

/* Softmax of a lane by the C library; the loss of its label. */
static double softmax(const numbers *n, size_t l, double p[K]) {
  double sum = 0.0;
  for (size_t k = 0; k < K; k++)
    sum += p[k] = exp(n->w[k] * n->wide[k * PC_LANES + l] + n->b[k]);
  for (size_t k = 0; k < K; k++)
    p[k] /= sum;
  return -log(p[n->labels[l]]);
}

/* Sums of class k as kernels leave them. */
static void expect(const numbers *n, size_t k, int weighted,
                   double out[PC_VECTOR_SCALING_ALL]) {
  memset(out, 0, PC_VECTOR_SCALING_ALL * sizeof *out);
  for (size_t l = 0; l < PC_LANES; l++) {
    double p[K];
    softmax(n, l, p);
    const double x = cut(n->wide[k * PC_LANES + l]), weight = weighted ? n->weights[l] : 1.0;
    const double r = p[k] - (n->labels[l] == (int32_t)k), c = p[k] * (1.0 - p[k]);
    const double terms[PC_VECTOR_SCALING_ALL] = {r * x, r, c, c * x, c * x * x};
    for (size_t i = 0; i < PC_VECTOR_SCALING_ALL; i++)
      out[i] += weight * terms[i];
  }
}

TEST(losses_and_sums) {
  static numbers n;
  for (int way = 0; way < 8; way++) {
    const int narrow = way & 1, weighted = way >> 1 & 1, preconditioner = way >> 2;
    const size_t count = preconditioner ? PC_VECTOR_SCALING_ALL : PC_VECTOR_SCALING_SLOPES;
    draw(&n, 1.0);
    const pc_vector_scaling_tile tile = tile_of(&n, narrow, weighted);
    pc_kernels_best()->vector_scaling->evaluate(&tile, preconditioner, n.terms, n.loss, n.p,
                                                n.sums);
    for (size_t l = 0; l < PC_LANES; l++) {
      double p[K];
      assert_near(n.loss[l], softmax(&n, l, p), 1e-12);
      for (size_t k = 0; k < K; k++)
        assert_near(n.p[k * PC_LANES + l], p[k], 1e-12);
    }
    for (size_t k = 0; k < K; k++) {
      double expected[PC_VECTOR_SCALING_ALL];
      expect(&n, k, weighted, expected);
      for (size_t i = 0; i < count; i++)
        assert_true(fabs(folded(n.sums, k * count + i) - expected[i]) < 1e-9);
    }
  }
}

/* q = p (u - sum p u), with clamped features. */
TEST(products) {
  static numbers n;
  for (int way = 0; way < 4; way++) {
    const int narrow = way & 1, weighted = way >> 1;
    double v[2 * K];
    draw(&n, 1.0);
    pc_vector_scaling_tile tile = tile_of(&n, narrow, weighted);
    pc_kernels_best()->vector_scaling->evaluate(&tile, 0, n.terms, n.loss, n.p, n.sums);
    memset(n.sums, 0, sizeof n.sums);
    for (size_t i = 0; i < 2 * K; i++)
      v[i] = (i % 3 == 0 ? -0.25 : 0.125) / (i < K ? most : 1.0);
    tile.w = v;
    tile.b = v + K;
    pc_kernels_best()->vector_scaling->multiply(&tile, n.p, n.terms, n.sums);
    for (size_t k = 0; k < K; k++) {
      double by_w = 0.0, by_b = 0.0;
      for (size_t l = 0; l < PC_LANES; l++) {
        double p[K], mean = 0.0;
        softmax(&n, l, p);
        for (size_t j = 0; j < K; j++)
          mean += p[j] * (v[j] * cut(n.wide[j * PC_LANES + l]) + v[K + j]);
        const double x = cut(n.wide[k * PC_LANES + l]);
        const double q = p[k] * (v[k] * x + v[K + k] - mean);
        by_w += (weighted ? n.weights[l] : 1.0) * q * x;
        by_b += (weighted ? n.weights[l] : 1.0) * q;
      }
      assert_true(fabs(folded(n.sums, 2 * k) - by_w) < 1e-9);
      assert_true(fabs(folded(n.sums, 2 * k + 1) - by_b) < 1e-9);
    }
  }
}

/* Losses and residuals next to 0 keep their digits; nothing is NaN far out. */
TEST(extreme_scores) {
  static numbers n;
  const double small = exp(-50.0);
  memset(&n, 0, sizeof n);
  for (size_t k = 0; k < K; k++)
    n.w[k] = 1.0;
  for (size_t l = 0; l < PC_LANES; l++)
    n.wide[l] = l == 1 ? 1e308 : l == 2 ? -1e308 : 50.0;
  n.wide[PC_LANES + 1] = -1e308;
  n.labels[1] = 1;
  n.w[0] = 1.5;
  n.b[0] = -25.0;
  const pc_vector_scaling_tile tile = tile_of(&n, 0, 0);
  pc_kernels_best()->vector_scaling->evaluate(&tile, 1, n.terms, n.loss, n.p, n.sums);
  assert_near(n.loss[0], 6.0 * small, 1e-12);
  assert_near(n.p[PC_LANES], small, 1e-12);
  assert_same(n.loss[1], 1e300); /* clamped from 2e300 */
  assert_same(n.p[1], 1.0);
  assert_same(n.loss[2], 1e300);
  for (size_t i = 0; i < SUMS; i++)
    assert_true(isfinite(n.sums[i]));
}

/* Every variant gives the bits of the reference. */
TEST(variants_agree) {
  static numbers first, other;
  for (size_t i = 0; pc_kernels_at(i) != NULL; i++) {
    numbers *n = i == 0 ? &first : &other;
    draw(n, 3.0);
    for (int way = 0; way < 4; way++) {
      pc_vector_scaling_tile tile = tile_of(n, way & 1, way >> 1);
      pc_kernels_at(i)->vector_scaling->evaluate(&tile, 1, n->terms, n->loss, n->p, n->sums);
      pc_kernels_at(i)->vector_scaling->multiply(&tile, n->p, n->terms, n->sums);
    }
    assert_memory_equal(n, &first, sizeof first);
  }
}
