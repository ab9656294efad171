/* Kernels of networks: values by plain loops, and the same bits for every instruction set. */
#include "../unit.h"
#include "base/rng.h"
#include "kernels/dispatch.h"
#include "kernels/network_kernels.h"
#include "kernels/softmax.h"

/* Odd and even sizes; strides with and without whole pairs and fours of vectors. */
enum { IN = 13, OUT = 11, MOST = 56, LANES = 8 };

typedef struct network_numbers {
  double w[(IN + 1) * OUT], from[IN * MOST], slope[OUT * MOST];
  double to[OUT * MOST], lanes[(IN + 1) * OUT * LANES], back[IN * MOST], plain[IN * MOST];
  double scores[OUT * MOST], losses[MOST], weights[MOST];
  double plus[OUT * MOST], rise[OUT * MOST];
  double gaps[OUT * MOST], stretched[OUT * MOST], by_u[OUT * MOST];
  uint32_t places[MOST];
} network_numbers;

static void network_draw(network_numbers *n) {
  const pc_rng rng = {3, 8};
  memset(n, 0, sizeof *n);
  for (size_t i = 0; i < (IN + 1) * OUT; i++)
    n->w[i] = pc_rng_normal(&rng, i);
  for (size_t i = 0; i < IN * MOST; i++)
    n->from[i] = pc_rng_normal(&rng, 1000 + i);
  for (size_t i = 0; i < OUT * MOST; i++) {
    n->slope[i] = pc_rng_normal(&rng, 4000 + i);
    n->gaps[i] = fabs(pc_rng_normal(&rng, 6000 + i));
    n->scores[i] = n->plus[i] = 40.0 * pc_rng_normal(&rng, 8000 + i);
  }
  for (size_t r = 0; r < MOST; r++) {
    n->places[r] = (uint32_t)(r * 7 % OUT);
    n->weights[r] = pc_rng_uniform(&rng, 10000 + r);
  }
  n->scores[4] = -900.0;
  n->plus[7] = 0.0;
  n->lanes[3] = 5.0; /* gradients are added */
}

static void network_compute(const pc_network_kernels *kernels, size_t stride,
                            network_numbers *n) {
  network_draw(n);
  kernels->layer(n->w, IN, OUT, n->from, stride, 1, n->to);
  kernels->gradient(n->from, IN, OUT, n->slope, stride, n->lanes);
  kernels->slope(n->w, IN, OUT, n->slope, stride, n->from, n->back);
  kernels->slope(n->w, IN, OUT, n->slope, stride, NULL, n->plain);
  kernels->softmax(n->scores, OUT, stride, n->places, n->weights, n->losses);
  kernels->softplus(n->plus, stride * OUT, n->rise);
  kernels->stretch(n->gaps, n->slope, OUT, stride, n->stretched);
  kernels->stretch_slope(n->slope, n->gaps, n->rise, OUT, stride, n->by_u);
}

static const size_t network_strides[] = {8, 16, 24, 32, 40, 56};

static void network_layers_of(size_t stride) {
  static network_numbers n;
  network_compute(pc_kernels_best()->network, stride, &n);
  for (size_t r = 0; r < stride; r++) {
    for (size_t j = 0; j < OUT; j++) {
      double sum = n.w[IN * OUT + j];
      for (size_t i = 0; i < IN; i++)
        sum += n.from[i * stride + r] * n.w[i * OUT + j];
      assert_same(n.to[j * stride + r], sum > 0.0 ? sum : 0.0);
    }
    for (size_t i = 0; i < IN; i++) {
      double sum = 0.0;
      for (size_t j = 0; j < OUT; j++)
        sum += n.slope[j * stride + r] * n.w[i * OUT + j];
      assert_same(n.plain[i * stride + r], sum);
      assert_same(n.back[i * stride + r], n.from[i * stride + r] > 0.0 ? sum : 0.0);
    }
  }
  for (size_t i = 0; i <= IN; i++)
    for (size_t j = 0; j < OUT; j++) {
      const double *lanes = n.lanes + (i * OUT + j) * LANES;
      for (size_t l = 0; l < LANES; l++) {
        double sum = i == 0 && j == 0 && l == 3 ? 5.0 : 0.0;
        for (size_t r = l; r < stride; r += LANES)
          sum += (i < IN ? n.from[i * stride + r] : 1.0) * n.slope[j * stride + r];
        assert_same(lanes[l], sum);
      }
    }
}

TEST(network_layers) {
  for (size_t s = 0; s < UNIT_COUNT(network_strides); s++)
    network_layers_of(network_strides[s]);
}

static void network_outputs_of(size_t stride) {
  static network_numbers n, raw;
  network_compute(pc_kernels_best()->network, stride, &n);
  network_draw(&raw);
  for (size_t r = 0; r < stride; r++) {
    double row[OUT], probs[OUT], sum = 0.0, above = 0.0;
    for (size_t j = 0; j < OUT; j++)
      row[j] = raw.scores[j * stride + r];
    const double norm = pc_softmax_row(row, OUT, probs);
    assert_same(n.losses[r], norm - row[n.places[r]]);
    for (size_t j = 0; j < OUT; j++) {
      const double expected = n.weights[r] * (probs[j] - (j == n.places[r]));
      assert_true(fabs(n.scores[j * stride + r] - expected) <= 4e-16 * n.weights[r]);
    }
    for (size_t j = OUT; j-- > 0;) {
      sum += j + 1 < OUT ? n.gaps[j * stride + r] * n.slope[j * stride + r] : 0.0;
      assert_same(n.stretched[j * stride + r], sum);
    }
    for (size_t j = 0; j + 1 < OUT; j++) {
      above += n.slope[j * stride + r];
      assert_same(n.by_u[j * stride + r],
                  above * n.gaps[j * stride + r] * n.rise[j * stride + r]);
    }
  }
  for (size_t i = 0; i < stride * OUT; i++) {
    double pair[2];
    const double rest = pc_sigmoid_pair(raw.plus[i], pair);
    assert_same(n.plus[i], fmax(raw.plus[i], 0.0) + rest);
    assert_same(n.rise[i], pair[1]);
  }
}

TEST(network_outputs) {
  for (size_t s = 0; s < UNIT_COUNT(network_strides); s++)
    network_outputs_of(network_strides[s]);
}

TEST(network_variants) {
  static network_numbers first, other;
  for (size_t s = 0; s < UNIT_COUNT(network_strides); s++) {
    network_compute(pc_kernels_at(0)->network, network_strides[s], &first);
    for (size_t i = 1; pc_kernels_at(i) != NULL; i++) {
      network_compute(pc_kernels_at(i)->network, network_strides[s], &other);
      assert_memory_equal(&first, &other, sizeof first);
    }
  }
}

TEST(network_strides_and_folds) {
  const double lanes[LANES] = {1, 2, 4, 8, 16, 32, 64, 128};
  assert_same(pc_network_fold(lanes), 255.0);
  assert_int_equal(pc_network_stride(1), 8);
  assert_int_equal(pc_network_stride(8), 8);
  assert_int_equal(pc_network_stride(9), 16);
  assert_int_equal(PC_NETWORK_LANES, LANES);
}
