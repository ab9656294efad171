/* Every variant of the convolution has the bits of a plain loop. */
#include "unit.h"

#include "base/rng.h"
#include "kernels/convolve.h"
#include "kernels/dispatch.h"

#define CONVOLVE_MOST 100
#define CONVOLVE_TAPS 41

static void convolve_try(const pc_convolve_kernels *kernels, size_t count, size_t taps) {
  const pc_rng rng = {5, count};
  double in[CONVOLVE_MOST + CONVOLVE_TAPS], weight[CONVOLVE_TAPS], out[CONVOLVE_MOST + 1];
  for (size_t i = 0; i < count + taps; i++)
    in[i] = i % 3 == 0 ? 0.0 : pc_rng_normal(&rng, i);
  for (size_t k = 0; k < taps; k++)
    weight[k] = pc_rng_uniform(&rng, 1000 + k);
  out[count] = 77.0;
  kernels->convolve(in, weight, taps, count, out);
  for (size_t i = 0; i < count; i++) {
    double expected = 0.0;
    for (size_t k = 0; k < taps; k++)
      expected += in[i + k] * weight[k];
    assert_same(out[i], expected);
  }
  assert_same(out[count], 77.0);
}

TEST(test_all_variants) {
  static const size_t counts[] = {0, 1, 31, 32, 33, 64, 100};
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
      convolve_try(pc_kernels_at(v)->convolve, counts[c], 1);
      convolve_try(pc_kernels_at(v)->convolve, counts[c], CONVOLVE_TAPS);
    }
}
