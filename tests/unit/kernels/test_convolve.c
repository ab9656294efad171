/* Every variant has the bits of a plain loop; integrals against closed forms. */
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

/* every: one input in so many is not 0; those beyond the end of the list are not read. */
static void convolve_try_filled(const pc_convolve_kernels *kernels, size_t count, size_t taps,
                                size_t every) {
  const pc_rng rng = {5, count};
  double in[CONVOLVE_MOST + CONVOLVE_TAPS], out[CONVOLVE_MOST + 1], expected[CONVOLVE_MOST];
  double weight[CONVOLVE_TAPS], mirrored[CONVOLVE_TAPS + 2 * PC_CONVOLVE_PAD] = {0.0};
  int32_t filled[CONVOLVE_MOST + CONVOLVE_TAPS];
  size_t found = 0;
  for (size_t i = 0; i + 1 < count + taps; i++) {
    in[i] = every > 0 && i % every == every - 1 ? pc_rng_normal(&rng, i) : 0.0;
    if (in[i] != 0.0)
      filled[found++] = (int32_t)i;
  }
  for (size_t k = 0; k < taps; k++)
    weight[k] = mirrored[PC_CONVOLVE_PAD + taps - 1 - k] = pc_rng_uniform(&rng, 1000 + k);
  out[count] = 77.0;
  kernels->convolve(in, weight, taps, count, expected);
  kernels->convolve_filled(in, filled, found, mirrored, taps, count, out);
  for (size_t i = 0; i < count; i++)
    assert_same(out[i], expected[i]);
  assert_same(out[count], 77.0);
}

TEST(test_all_variants) {
  static const size_t counts[] = {0, 1, 31, 32, 33, 64, 100};
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++)
    for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
      convolve_try(pc_kernels_at(v)->convolve, counts[c], 1);
      convolve_try(pc_kernels_at(v)->convolve, counts[c], CONVOLVE_TAPS);
      for (size_t every = 0; every < 60; every += every < 4 ? 1 : 11) {
        convolve_try_filled(pc_kernels_at(v)->convolve, counts[c], 1, every);
        convolve_try_filled(pc_kernels_at(v)->convolve, counts[c], CONVOLVE_TAPS, every);
      }
    }
}

TEST(test_blend) {
  double parts[3][CONVOLVE_MOST], out[CONVOLVE_MOST];
  const double *const from[] = {parts[0], parts[1], parts[2]}, factor[] = {0.3, -1.7, 2.0};
  const pc_rng rng = {5, 6};
  for (size_t i = 0; i < 3 * CONVOLVE_MOST; i++)
    parts[i / CONVOLVE_MOST][i % CONVOLVE_MOST] = pc_rng_normal(&rng, i);
  for (size_t v = 0; pc_kernels_at(v) != NULL; v++) {
    pc_kernels_at(v)->convolve->blend(from, factor, CONVOLVE_MOST, out);
    for (size_t i = 0; i < CONVOLVE_MOST; i++)
      assert_same(out[i], 0.3 * parts[0][i] + -1.7 * parts[1][i] + 2.0 * parts[2][i]);
  }
}

/* |cos(pi m x)| has the integral 2 / pi for whole m. */
TEST(test_absolute_integral) {
  enum { NODES = 64 };
  for (int m = 1; m <= 5; m++) {
    double values[NODES + 1];
    for (size_t i = 0; i <= NODES; i++)
      values[i] = cos(3.14159265358979324 * m * (double)i / NODES);
    const double first = pc_kernels_at(0)->convolve->absolute_integral(values, NODES);
    assert_near(first / NODES, 2.0 / 3.14159265358979324, 4e-6 * pow(m, 4));
    for (size_t v = 1; pc_kernels_at(v) != NULL; v++)
      assert_same(pc_kernels_at(v)->convolve->absolute_integral(values, NODES), first);
    for (size_t i = 0; i <= NODES; i++)
      values[i] = 0.0;
    assert_same(pc_kernels_at(0)->convolve->absolute_integral(values, NODES), 0.0);
  }
}
