/* Kernels of networks: values by plain loops, and the same bits for every instruction set. */
#include "../unit.h"
#include "base/rng.h"
#include "kernels/dispatch.h"
#include "kernels/network_kernels.h"
#include "kernels/softmax.h"

enum { IN = 13, OUT = 11, ROWS = 9 };

typedef struct network_numbers {
  double w[(IN + 1) * OUT], from[ROWS * IN], slope[ROWS * OUT];
  double to[ROWS * OUT], gradient[(IN + 1) * OUT], back[ROWS * IN];
  double probs[ROWS * OUT], norms[ROWS], plus[ROWS * OUT], rise[ROWS * OUT];
} network_numbers;

static void network_compute(const pc_network_kernels *kernels, network_numbers *n) {
  const pc_rng rng = {3, 8};
  memset(n, 0, sizeof *n);
  for (size_t i = 0; i < (IN + 1) * OUT; i++)
    n->w[i] = pc_rng_normal(&rng, i);
  for (size_t i = 0; i < ROWS * IN; i++)
    n->from[i] = pc_rng_normal(&rng, 1000 + i);
  for (size_t i = 0; i < ROWS * OUT; i++) {
    n->slope[i] = pc_rng_normal(&rng, 2000 + i);
    n->probs[i] = n->plus[i] = 40.0 * pc_rng_normal(&rng, 3000 + i);
  }
  n->probs[4] = -900.0;
  n->plus[7] = 0.0;
  kernels->layer(n->w, IN, OUT, n->from, ROWS, 1, n->to);
  kernels->gradient(n->from, IN, OUT, n->slope, ROWS, n->gradient);
  kernels->slope(n->w, IN, OUT, n->slope, ROWS, n->from, n->back);
  kernels->softmax(n->probs, OUT, ROWS, n->norms);
  kernels->softplus(n->plus, ROWS * OUT, n->rise);
}

TEST(network_layers) {
  static network_numbers n;
  network_compute(pc_kernels_best()->network, &n);
  for (size_t r = 0; r < ROWS; r++)
    for (size_t j = 0; j < OUT; j++) {
      double sum = n.w[IN * OUT + j];
      for (size_t i = 0; i < IN; i++)
        sum += n.from[r * IN + i] * n.w[i * OUT + j];
      assert_same(n.to[r * OUT + j], sum > 0.0 ? sum : 0.0);
    }
  for (size_t i = 0; i <= IN; i++)
    for (size_t j = 0; j < OUT; j++) {
      double sum = 0.0;
      for (size_t r = 0; r < ROWS; r++)
        sum += (i < IN ? n.from[r * IN + i] : 1.0) * n.slope[r * OUT + j];
      assert_same(n.gradient[i * OUT + j], sum);
    }
  for (size_t r = 0; r < ROWS; r++)
    for (size_t i = 0; i < IN; i++) {
      double sum = 0.0;
      for (size_t j = 0; j < OUT && n.from[r * IN + i] > 0.0; j++)
        sum += n.slope[r * OUT + j] * n.w[i * OUT + j];
      assert_true(fabs(n.back[r * IN + i] - sum) < 1e-13);
    }
}

TEST(network_outputs) {
  static network_numbers n, raw;
  network_compute(pc_kernels_best()->network, &n);
  const pc_rng rng = {3, 8};
  for (size_t i = 0; i < ROWS * OUT; i++)
    raw.probs[i] = raw.plus[i] = 40.0 * pc_rng_normal(&rng, 3000 + i);
  raw.probs[4] = -900.0;
  raw.plus[7] = 0.0;
  for (size_t r = 0; r < ROWS; r++) {
    double probs[OUT];
    assert_same(n.norms[r], pc_softmax_row(raw.probs + r * OUT, OUT, probs));
    for (size_t j = 0; j < OUT; j++)
      assert_same(n.probs[r * OUT + j], probs[j]);
  }
  for (size_t i = 0; i < ROWS * OUT; i++) {
    double pair[2];
    const double rest = pc_sigmoid_pair(raw.plus[i], pair);
    assert_same(n.plus[i], fmax(raw.plus[i], 0.0) + rest);
    assert_same(n.rise[i], pair[1]);
  }
}

TEST(network_variants) {
  static network_numbers first, other;
  network_compute(pc_kernels_at(0)->network, &first);
  for (size_t i = 1; pc_kernels_at(i) != NULL; i++) {
    network_compute(pc_kernels_at(i)->network, &other);
    assert_memory_equal(&first, &other, sizeof first);
  }
}

/* ---- Layers wider than those whose weights are copied ---- */

enum { WIDE_IN = 521, WIDE_OUT = 518, WIDE_ROWS = 5 };

typedef struct wide_numbers {
  double w[(WIDE_IN + 1) * WIDE_OUT], from[WIDE_ROWS * WIDE_IN], slope[WIDE_ROWS * WIDE_OUT];
  double to[WIDE_ROWS * WIDE_OUT], gradient[(WIDE_IN + 1) * WIDE_OUT],
      back[WIDE_ROWS * WIDE_IN];
} wide_numbers;

static void wide_compute(const pc_network_kernels *kernels, wide_numbers *n) {
  const pc_rng rng = {3, 9};
  memset(n, 0, sizeof *n);
  for (size_t i = 0; i < (WIDE_IN + 1) * WIDE_OUT; i++)
    n->w[i] = pc_rng_normal(&rng, i);
  for (size_t i = 0; i < WIDE_ROWS * WIDE_IN; i++)
    n->from[i] = pc_rng_normal(&rng, 1000000 + i);
  for (size_t i = 0; i < WIDE_ROWS * WIDE_OUT; i++)
    n->slope[i] = pc_rng_normal(&rng, 2000000 + i);
  kernels->layer(n->w, WIDE_IN, WIDE_OUT, n->from, WIDE_ROWS, 1, n->to);
  kernels->gradient(n->from, WIDE_IN, WIDE_OUT, n->slope, WIDE_ROWS, n->gradient);
  kernels->slope(n->w, WIDE_IN, WIDE_OUT, n->slope, WIDE_ROWS, n->from, n->back);
}

static double wide_output(const wide_numbers *n, size_t r, size_t j) {
  double sum = n->w[WIDE_IN * WIDE_OUT + j];
  for (size_t i = 0; i < WIDE_IN; i++)
    sum += n->from[r * WIDE_IN + i] * n->w[i * WIDE_OUT + j];
  return sum > 0.0 ? sum : 0.0;
}

static double wide_gradient(const wide_numbers *n, size_t i, size_t j) {
  double sum = 0.0;
  for (size_t r = 0; r < WIDE_ROWS; r++)
    sum += (i < WIDE_IN ? n->from[r * WIDE_IN + i] : 1.0) * n->slope[r * WIDE_OUT + j];
  return sum;
}

static double wide_back(const wide_numbers *n, size_t r, size_t i) {
  double sum = 0.0;
  for (size_t j = 0; j < WIDE_OUT && n->from[r * WIDE_IN + i] > 0.0; j++)
    sum += n->slope[r * WIDE_OUT + j] * n->w[i * WIDE_OUT + j];
  return sum;
}

TEST(wide_layers) {
  static wide_numbers n;
  wide_compute(pc_kernels_best()->network, &n);
  for (size_t r = 0; r < WIDE_ROWS; r++)
    for (size_t j = 0; j < WIDE_OUT; j++)
      assert_true(fabs(n.to[r * WIDE_OUT + j] - wide_output(&n, r, j)) < 1e-11);
  for (size_t i = 0; i <= WIDE_IN; i++)
    for (size_t j = 0; j < WIDE_OUT; j++)
      assert_true(fabs(n.gradient[i * WIDE_OUT + j] - wide_gradient(&n, i, j)) < 1e-13);
  for (size_t r = 0; r < WIDE_ROWS; r++)
    for (size_t i = 0; i < WIDE_IN; i++)
      assert_true(fabs(n.back[r * WIDE_IN + i] - wide_back(&n, r, i)) < 1e-11);
}

TEST(wide_variants) {
  static wide_numbers first, other;
  wide_compute(pc_kernels_at(0)->network, &first);
  for (size_t i = 1; pc_kernels_at(i) != NULL; i++) {
    wide_compute(pc_kernels_at(i)->network, &other);
    assert_memory_equal(&first, &other, sizeof first);
  }
}
