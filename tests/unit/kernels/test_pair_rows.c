#include "pair_help.h"

TEST(rows_lie_side_by_side) {
  pair_sample sample = pair_sample_make(37, 5, 1.0, 37, 1);
  const pc_pair_rows *rows = &sample.rows;
  assert_int_equal(rows->count, 37);
  assert_int_equal(rows->classes, 5);
  assert_int_equal(pc_pair_pack_count(rows), 3);
  assert_int_equal((uintptr_t)rows->probs % 64, 0);
  for (size_t i = 0; i < 37; i++) {
    double square = 0.0;
    for (size_t c = 0; c < 5; c++) {
      const double p = sample.probs[i * 5 + c];
      assert_same(*pc_pair_prob(rows, i, c), p);
      assert_same(rows->probs[(i / PC_LANES * 5 + c) * PC_LANES + i % PC_LANES], p);
      square += p * p;
    }
    assert_same(rows->halves[i], square / 2);
    assert_same(rows->weights[i], sample.weights[i]);
    assert_int_equal(rows->labels[i], sample.labels[i]);
  }
  pair_sample_free(&sample);
}

TEST(the_last_pack_is_filled_with_rows_that_do_not_occur) {
  pair_sample sample = pair_sample_make(33, 3, 1.0, 33, 1);
  const pc_pair_rows *rows = &sample.rows;
  for (size_t i = 33; i < 48; i++) {
    assert_same(rows->weights[i], 0.0);
    assert_int_equal(rows->labels[i], sample.labels[32]);
    assert_same(rows->halves[i], rows->halves[32]);
    for (size_t c = 0; c < 3; c++)
      assert_same(*pc_pair_prob(rows, i, c), sample.probs[32 * 3 + c]);
  }
  pair_sample_free(&sample);
}

/* Also for rows outside the simplex, as far as they are used as stored. */
TEST(no_pair_is_beyond_the_reach) {
  for (int outside = 0; outside <= 1; outside++) {
    pair_sample sample = pair_sample_make(60, 4, 4.0, 60, 0);
    for (size_t i = 0; outside && i < 60; i++)
      sample.probs[i * 4 + i % 4] += i % 8 < 4 ? -1e-5 : 1e-5;
    memcpy(sample.probs, (const double[]){1, 0, 0, 0, 0, 1, 0, 0}, 8 * sizeof(double));
    sample.probs[2] -= outside ? 1e-5 : 0;
    pair_sample_lay(&sample);
    for (size_t i = 0; i < 60; i++)
      for (size_t j = 0; j < i; j++) {
        assert_true(pair_distance(&sample, i, j, 0) <= sample.rows.reach * (1 + 1e-15));
        assert_true(pair_distance(&sample, i, j, 1) <= sample.rows.reach_tv * (1 + 1e-15));
      }
    assert_near(sample.rows.reach, outside ? 2.0 : sqrt(2), 1e-4);
    assert_near(sample.rows.reach_tv, 1.0, 1e-4);
    pair_sample_free(&sample);
  }
}

TEST(no_rows) {
  pair_sample sample = {.classes = 7};
  pair_sample_lay(&sample);
  assert_int_equal(sample.rows.count, 0);
  assert_int_equal(pc_pair_pack_count(&sample.rows), 0);
  pair_sample_free(&sample);
}

TEST(too_many_rows) {
  assert_int_equal(pc_pair_rows_bytes(SIZE_MAX / 8, 2), 0);
  assert_int_equal(pc_pair_rows_bytes(2, SIZE_MAX / 8), 0);
  assert_true(pc_pair_rows_bytes(17, 3) >= 32 * (5 * sizeof(double) + sizeof(int32_t)));
}
