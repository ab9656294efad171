/* Every variant of the pair kernels against the reference tile of pair_tile.h, and against each
 * other bit for bit. */
#include "unit.h"

#include "core/rng.h"
#include "kernels/pair_kernels.h"
#include "kernels/pair_tile.h"

#define PAIRS_ROWS 20
#define PAIRS_CLASSES 70

typedef struct pairs_data {
  double probs[PAIRS_ROWS * PAIRS_CLASSES], weights[PAIRS_ROWS];
  int32_t labels[PAIRS_ROWS];
} pairs_data;

static pc_pair_rows pairs_draw(size_t classes, pairs_data *data) {
  const pc_rng rng = {11, classes};
  for (size_t i = 0; i < PAIRS_ROWS; i++) {
    double sum = 0.0;
    for (size_t c = 0; c < classes; c++)
      sum += data->probs[i * classes + c] = pc_rng_uniform(&rng, i * PAIRS_CLASSES + c);
    for (size_t c = 0; c < classes; c++)
      data->probs[i * classes + c] /= sum;
    data->labels[i] = (int32_t)(i * 7 % classes);
    data->weights[i] = 1.0 + (double)(i % 3);
  }
  memcpy(data->probs + 3 * classes, data->probs + 9 * classes, classes * sizeof(double));
  return (pc_pair_rows){PAIRS_ROWS, classes, data->probs, data->labels, data->weights};
}

static double pairs_norm(const double *p, size_t classes) {
  double norm = 0.0;
  for (size_t c = 0; c < classes; c++)
    norm += p[c] * p[c];
  return norm;
}

static void test_kernels_agree_with_the_reference(void **state) {
  (void)state;
  static pairs_data data;
  double packed[PAIRS_CLASSES * PC_LANES];
  for (size_t k = 2; k <= PAIRS_CLASSES; k += 17) {
    const pc_pair_rows rows = pairs_draw(k, &data);
    pc_pair_pack pack = {.classes = k, .probs = packed};
    const size_t count = k % 2 == 0 ? PC_LANES : 5, j0 = 4;
    pc_pair_pack_fill(&pack, rows.probs + j0 * k, rows.labels + j0, rows.weights + j0, count);
    const double want = pc_skce_tile(&rows, 3, 4, j0, j0 + count) / rows.weights[3];
    double first = 0.0, first_dots = 0.0;
    for (size_t v = 0; pc_pair_kernels_at(v) != NULL; v++) {
      const pc_pair_kernels *kernels = pc_pair_kernels_at(v);
      double dots[PC_DOT_ROWS][PC_LANES];
      const double *p = rows.probs + 3 * k;
      const double direct = kernels->skce_direct(p, rows.labels[3], &pack);
      kernels->dots(rows.probs + 2 * k, k, &pack, dots);
      const double product =
          kernels->skce_dots(p, rows.labels[3], pairs_norm(p, k), dots[1], &pack);
      assert_near(direct, want, 1e-13);
      assert_near(product, want, 1e-6);
      first = v == 0 ? direct : first;
      first_dots = v == 0 ? product : first_dots;
      assert_same(direct, first);
      assert_same(product, first_dots);
    }
  }
}

static void test_dots_are_inner_products(void **state) {
  (void)state;
  static pairs_data data;
  double packed[PAIRS_CLASSES * PC_LANES], dots[PC_DOT_ROWS][PC_LANES];
  const size_t k = 33;
  const pc_pair_rows rows = pairs_draw(k, &data);
  pc_pair_pack pack = {.classes = k, .probs = packed};
  pc_pair_pack_fill(&pack, rows.probs, rows.labels, rows.weights, PC_LANES);
  for (size_t v = 0; pc_pair_kernels_at(v) != NULL; v++) {
    pc_pair_kernels_at(v)->dots(rows.probs + 5 * k, k, &pack, dots);
    for (size_t r = 0; r < PC_DOT_ROWS; r++)
      for (size_t l = 0; l < PC_LANES; l++) {
        double want = 0.0;
        for (size_t c = 0; c < k; c++)
          want += rows.probs[(5 + r) * k + c] * rows.probs[l * k + c];
        assert_same(dots[r][l], want);
      }
  }
}

static void test_empty_lanes_weigh_nothing(void **state) {
  (void)state;
  static pairs_data data;
  double packed[PAIRS_CLASSES * PC_LANES];
  const pc_pair_rows rows = pairs_draw(4, &data);
  pc_pair_pack pack = {.classes = 4, .probs = packed};
  pc_pair_pack_fill(&pack, rows.probs, rows.labels, rows.weights, 1);
  assert_same(pack.weight[0], rows.weights[0]);
  for (size_t l = 1; l < PC_LANES; l++)
    assert_same(pack.weight[l], 0.0);
  assert_near(pack.norm[0], pairs_norm(rows.probs, 4), 1e-16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kernels_agree_with_the_reference),
      cmocka_unit_test(test_dots_are_inner_products),
      cmocka_unit_test(test_empty_lanes_weigh_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
