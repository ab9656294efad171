#include "kernels/pair_tile.h"

#include "pair_help.h"

#define ROWS 37
#define CLASSES 5

static double tile_direct(const pair_sample *s, int tv, int gaussian, size_t i0, size_t i1,
                          size_t j0, size_t j1) {
  long double sum = 0;
  for (size_t i = i0; i < i1; i++)
    for (size_t j = j0; j < j1; j++)
      if (i < j)
        sum += s->weights[i] * s->weights[j] * pair_h(s, i, j, tv, gaussian, 0.7);
  return (double)sum;
}

static pair_sample tile_sample(int weighted) {
  pair_sample s = pair_sample_make(ROWS, CLASSES, 2.0, ROWS, weighted);
  memcpy(s.probs + 3 * CLASSES, s.probs + 11 * CLASSES, CLASSES * sizeof(double));
  pair_sample_lay(&s);
  return s;
}

TEST(agrees_with_one_hot_vectors) {
  static const size_t tiles[][4] = {{0, ROWS, 0, ROWS}, {0, 1, 1, 2},    {3, 4, 11, 12},
                                    {0, 16, 16, ROWS},  {16, 32, 0, 16}, {5, 20, 10, 30},
                                    {7, 7, 0, ROWS},    {0, ROWS, 9, 9}};
  for (int kind = 0; kind < 8; kind++) {
    pair_sample s = tile_sample(kind & 1);
    const int tv = kind >> 1 & 1, gaussian = kind >> 2;
    const pc_pair_form form = pc_pair_form_make(tv, gaussian, 0.7, &s.rows);
    for (size_t t = 0; t < UNIT_COUNT(tiles); t++) {
      const size_t *at = tiles[t];
      const double expected = tile_direct(&s, tv, gaussian, at[0], at[1], at[2], at[3]);
      assert_near(pc_skce_tile(&form, &s.rows, at[0], at[1], at[2], at[3]), expected, 1e-13);
    }
    pair_sample_free(&s);
  }
}

TEST(pairs_below_the_diagonal_are_left_out) {
  pair_sample s = tile_sample(0);
  const pc_pair_form form = pc_pair_form_make(0, 0, 1.0, &s.rows);
  assert_same(pc_skce_tile(&form, &s.rows, 20, 30, 0, 20), 0.0);
  assert_same(pc_skce_tile(&form, &s.rows, 8, 9, 8, 9), 0.0);
  pair_sample_free(&s);
}

/* Sums over strips of `packs` packs, the last one possibly shorter, add up to the sum over all
 * pairs. */
TEST(strips_sum_to_the_whole) {
  static const size_t counts[] = {1, 2, 15, 16, 17, 100, 333};
  for (size_t n = 0; n < UNIT_COUNT(counts); n++)
    for (size_t packs = 1; packs <= 32; packs *= 4) {
      pair_sample s = pair_sample_make(counts[n], 4, 3.0, 4, 1);
      const pc_pair_form form = pc_pair_form_make(0, 0, 0.7, &s.rows);
      const size_t all = pc_pair_pack_count(&s.rows);
      pc_sum sum;
      pc_sum_clear(&sum);
      for (size_t first = 0; first < all; first += packs)
        pc_skce_strip(&form, &s.rows, first, first + packs < all ? first + packs : all, &sum);
      assert_near(pc_sum_value(&sum), tile_direct(&s, 0, 0, 0, counts[n], 0, counts[n]), 1e-12);
      pair_sample_free(&s);
    }
}

static pair_sample tile_two(const int32_t *labels) {
  static const double probs[] = {1, 0, 0, 1};
  pair_sample s = pair_sample_make(2, 2, 1.0, 2, 0);
  memcpy(s.probs, probs, sizeof probs);
  memcpy(s.labels, labels, 2 * sizeof *labels);
  s.weights[0] = 3;
  s.weights[1] = 5;
  pair_sample_lay(&s);
  return s;
}

TEST(closed_forms) {
  pair_sample s = tile_two((const int32_t[]){1, 0});
  pc_pair_form form = pc_pair_form_make(0, 0, 1.0, &s.rows);
  assert_near(pc_skce_tile(&form, &s.rows, 0, 2, 0, 2), 15 * -2 * exp(-sqrt(2)), 1e-15);
  form = pc_pair_form_make(0, 1, 1.0, &s.rows);
  assert_near(pc_skce_tile(&form, &s.rows, 0, 2, 0, 2), 15 * -2 * exp(-1), 1e-15);
  form = pc_pair_form_make(1, 0, 0.5, &s.rows);
  assert_near(pc_skce_tile(&form, &s.rows, 0, 2, 0, 2), 15 * -2 * exp(-2), 1e-15);
  assert_same(pc_skce_self(&s.rows, 0), 2.0);
  pair_sample_free(&s);
  s = tile_two((const int32_t[]){0, 1});
  assert_same(pc_skce_tile(&form, &s.rows, 0, 2, 0, 2), 0.0);
  assert_same(pc_skce_self(&s.rows, 1), 0.0);
  pair_sample_free(&s);
  s = tile_two((const int32_t[]){1, 1});
  assert_same(pc_skce_tile(&form, &s.rows, 0, 2, 0, 2), 0.0);
  pair_sample_free(&s);
}

/* Equal rows are at distance 0: the kernel is 1 for a row and its copy, so their term is |e_y -
 * p|^2. */
TEST(copies_are_pairs_with_themselves) {
  static const double probs[] = {0.5, 0.25, 0.25, 0.5, 0.25, 0.25};
  pair_sample s = pair_sample_make(2, 3, 1.0, 1, 0);
  memcpy(s.probs, probs, sizeof probs);
  s.labels[0] = s.labels[1] = 1;
  pair_sample_lay(&s);
  const pc_pair_form form = pc_pair_form_make(0, 0, 1.0, &s.rows);
  assert_same(pc_skce_self(&s.rows, 0), 0.25 + 0.5625 + 0.0625);
  assert_same(pc_skce_tile(&form, &s.rows, 0, 2, 0, 2), 0.875);
  pair_sample_free(&s);
}
