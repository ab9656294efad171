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
