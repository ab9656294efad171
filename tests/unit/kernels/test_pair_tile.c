#include "kernels/pair_tile.h"

#include "../unit.h"
#include "core/rng.h"
#include "kernels/softmax.h"

#define ROWS 37
#define CLASSES 5

typedef struct sample {
  double probs[ROWS * CLASSES], weights[ROWS];
  int32_t labels[ROWS];
  pc_pair_rows rows;
} sample;

static void sample_fill(sample *out, int weighted) {
  const pc_rng rng = {21, 1};
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t c = 0; c < CLASSES; c++)
      out->probs[i * CLASSES + c] = 2 * pc_rng_normal(&rng, i * CLASSES + c);
    pc_softmax_row(out->probs + i * CLASSES, CLASSES, out->probs + i * CLASSES);
    out->labels[i] = (int32_t)(pc_rng_bits(&rng, 1000 + i) % CLASSES);
    out->weights[i] = weighted ? (double)(1 + i % 4) : 1.0;
  }
  memcpy(out->probs + 3 * CLASSES, out->probs + 11 * CLASSES, CLASSES * sizeof(double));
  out->rows = (pc_pair_rows){ROWS, CLASSES, out->probs, out->labels, out->weights};
}

/* The pair's h with one-hot vectors written out. */
static long double pair_direct(const sample *s, size_t i, size_t j) {
  long double square = 0, inner = 0;
  for (size_t c = 0; c < CLASSES; c++) {
    const long double p = s->probs[i * CLASSES + c], q = s->probs[j * CLASSES + c];
    const long double left = ((size_t)s->labels[i] == c) - p;
    const long double right = ((size_t)s->labels[j] == c) - q;
    square += (p - q) * (p - q);
    inner += left * right;
  }
  return expl(-sqrtl(square)) * inner;
}

static double tile_direct(const sample *s, size_t i0, size_t i1, size_t j0, size_t j1) {
  long double sum = 0;
  for (size_t i = i0; i < i1; i++) {
    for (size_t j = j0; j < j1; j++) {
      if (i < j)
        sum += s->weights[i] * s->weights[j] * pair_direct(s, i, j);
    }
  }
  return (double)sum;
}

static void agrees_with_one_hot_vectors(void **state) {
  (void)state;
  static const size_t tiles[][4] = {{0, ROWS, 0, ROWS}, {0, 1, 1, 2},    {3, 4, 11, 12},
                                    {0, 16, 16, ROWS},  {16, 32, 0, 16}, {5, 20, 10, 30},
                                    {7, 7, 0, ROWS},    {0, ROWS, 9, 9}};
  for (int weighted = 0; weighted <= 1; weighted++) {
    sample s;
    sample_fill(&s, weighted);
    for (size_t t = 0; t < UNIT_COUNT(tiles); t++) {
      const size_t *at = tiles[t];
      const double expected = tile_direct(&s, at[0], at[1], at[2], at[3]);
      assert_near(pc_skce_tile(&s.rows, at[0], at[1], at[2], at[3]), expected, 1e-13);
    }
  }
}

static void pairs_below_the_diagonal_are_left_out(void **state) {
  (void)state;
  sample s;
  sample_fill(&s, 0);
  assert_same(pc_skce_tile(&s.rows, 20, 30, 0, 20), 0.0);
  assert_same(pc_skce_tile(&s.rows, 8, 9, 8, 9), 0.0);
}

static void tiles_sum_to_the_whole(void **state) {
  (void)state;
  static const size_t widths[] = {1, 2, 5, 16, 36, 64};
  sample s;
  sample_fill(&s, 1);
  const double whole = pc_skce_tile(&s.rows, 0, ROWS, 0, ROWS);
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    const size_t width = widths[w];
    double sum = 0;
    for (size_t i = 0; i < ROWS; i += width) {
      for (size_t j = 0; j < ROWS; j += width)
        sum += pc_skce_tile(&s.rows, i, i + width < ROWS ? i + width : ROWS, j,
                            j + width < ROWS ? j + width : ROWS);
    }
    assert_near(sum, whole, 1e-12);
  }
}

static void closed_forms(void **state) {
  (void)state;
  static const double probs[] = {1, 0, 0, 1}, weights[] = {3, 5};
  static const int32_t swapped[] = {1, 0}, right[] = {0, 1}, one_wrong[] = {1, 1};
  pc_pair_rows rows = {2, 2, probs, swapped, weights};
  assert_near(pc_skce_tile(&rows, 0, 2, 0, 2), 15 * -2 * exp(-sqrt(2)), 1e-15);
  assert_same(pc_skce_self(&rows, 0), 2.0);
  rows.labels = right;
  assert_same(pc_skce_tile(&rows, 0, 2, 0, 2), 0.0);
  assert_same(pc_skce_self(&rows, 1), 0.0);
  rows.labels = one_wrong;
  assert_same(pc_skce_tile(&rows, 0, 2, 0, 2), 0.0);
}

/* Equal rows are at distance 0: the pair of a row and its copy is |e - p|^2. */
static void copies_are_pairs_with_themselves(void **state) {
  (void)state;
  static const double probs[] = {0.5, 0.25, 0.25, 0.5, 0.25, 0.25}, weights[] = {1, 1};
  static const int32_t labels[] = {1, 1};
  const pc_pair_rows rows = {2, 3, probs, labels, weights};
  assert_same(pc_skce_self(&rows, 0), 0.25 + 0.5625 + 0.0625);
  assert_same(pc_skce_tile(&rows, 0, 2, 0, 2), 0.875);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_one_hot_vectors),
      cmocka_unit_test(pairs_below_the_diagonal_are_left_out),
      cmocka_unit_test(tiles_sum_to_the_whole),
      cmocka_unit_test(closed_forms),
      cmocka_unit_test(copies_are_pairs_with_themselves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
