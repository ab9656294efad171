/* Bins of equal mass as points, against sums by hand. */
#include "curve/mass_points.h"

#include "../unit.h"
#include "curve/curve_bins.h"

static pc_curve_table scores_of(const double *score, const double *hits, size_t count,
                                pc_curve_table *table) {
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(pc_curve_table_room(&env, count, table, NULL), PCAL_OK);
  table->count = count;
  table->total = (double)count;
  for (size_t i = 0; i < count; i++) {
    table->score[i] = score[i];
    table->weight[i] = 1.0;
    table->hits[i] = hits[i];
  }
  return *table;
}

/* Two bins of five rows; the lowest and the highest score stay single. */
TEST(ends_stay_single) {
  static const double score[] = {0.0625, 0.125, 0.25,   0.375, 0.5,
                                 0.625,  0.75,  0.8125, 0.875, 1.0};
  static const double hits[] = {0, 0, 1, 0, 0, 1, 1, 0, 1, 1};
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table table, out;
  scores_of(score, hits, 10, &table);
  assert_int_equal(pc_mass_points(&env, &table, 2, &out, NULL), PCAL_OK);
  assert_int_equal(out.count, 4);
  assert_true(out.total == 10.0);
  static const double means[] = {0.0625, 1.25 / 4, 3.0625 / 4, 1.0};
  static const double weights[] = {1, 4, 4, 1}, joined[] = {0, 1, 3, 1};
  assert_memory_equal(out.score, means, sizeof means);
  assert_memory_equal(out.weight, weights, sizeof weights);
  assert_memory_equal(out.hits, joined, sizeof joined);
  pc_curve_table_free(&env, &table);
  pc_curve_table_free(&env, &out);
}

/* [2] Scores far below the units of exact sums keep their order, and stay apart. */
TEST(tiny_scores) {
  static double score[100], hits[100];
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table table, out;
  for (size_t i = 0; i < 100; i++)
    score[i] = 1e-30 * (double)(i + 1);
  scores_of(score, hits, 100, &table);
  assert_int_equal(pc_mass_points(&env, &table, 10, &out, NULL), PCAL_OK);
  assert_int_equal(out.count, 12);
  for (size_t i = 1; i < out.count; i++)
    assert_true(out.score[i] > out.score[i - 1]);
  assert_true(out.score[5] >= score[40] && out.score[5] <= score[49]);
  pc_curve_table_free(&env, &table);
  pc_curve_table_free(&env, &out);
}

/* One score, and two. */
TEST(few_scores) {
  static const double score[] = {0.25, 0.5}, hits[] = {0, 1};
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t count = 1; count <= 2; count++) {
    pc_curve_table table, out;
    scores_of(score, hits, count, &table);
    assert_int_equal(pc_mass_points(&env, &table, 8, &out, NULL), PCAL_OK);
    assert_int_equal(out.count, count);
    assert_memory_equal(out.score, score, count * sizeof *score);
    pc_curve_table_free(&env, &table);
    pc_curve_table_free(&env, &out);
  }
}

/* Segments that hold several scores are wanted at both ends, and where a bin ends. */
TEST(wants_the_ends) {
  pc_segment segments[5];
  uint8_t wanted[5] = {0};
  for (size_t s = 0; s < 5; s++) {
    segments[s] = pc_segment_none;
    pc_segment_add(&segments[s], 0.125 * (double)s, 2, 1);
    pc_segment_add(&segments[s], 0.125 * (double)s + 0.0625, 2, 1);
  }
  const pc_curve_table table = {
      .form = PC_CURVE_SEGMENTS, .count = 5, .total = 20, .segments = segments};
  assert_int_equal(pc_mass_points_wants(&table, 2, wanted), 3);
  static const uint8_t expected[5] = {1, 0, 1, 0, 1};
  assert_memory_equal(wanted, expected, 5);
}
