#include "curve/cumulative_points.h"

#include "../unit.h"
#include "base/rng.h"

#define ROWS 5000

static pc_curve_table table_of(const double *misses, size_t miss_count, const double *hits,
                               size_t hit_count) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_outcome_column wrong = {misses, NULL, miss_count}, right = {hits, NULL, hit_count};
  pc_curve_table out;
  assert_int_equal(pc_curve_table_new(&env, &wrong, &right, &out, NULL), PCAL_OK);
  return out;
}

static void assert_point(const pc_cumulative_point *point, double score, double fraction,
                         double scores, double outcomes) {
  assert_same(point->score, score);
  assert_near(point->fraction, fraction, 1e-15);
  assert_near(point->scores, scores, 1e-15);
  assert_near(point->outcomes, outcomes, 1e-15);
}

TEST(short_tables_are_told_whole) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table table =
      table_of((const double[]){0.25, 0.5}, 2, (const double[]){0.5, 0.75, 0.75}, 3);
  pc_cumulative_point points[3];
  assert_int_equal(pc_cumulative_points_max(&table, 1), 3);
  assert_int_equal(pc_cumulative_points(&table, 10.0, 1, points), 3);
  assert_point(&points[0], 0.25, 0.1, 0.025, 0.0);
  assert_point(&points[1], 0.5, 0.3, 0.125, 0.1);
  assert_point(&points[2], 0.75, 0.5, 0.275, 0.3);
  pc_curve_table_free(&env, &table);
}

static pc_curve_table large_table(void) {
  static double score[2][ROWS];
  size_t count[2] = {0, 0};
  const pc_rng rng = {4, 4};
  for (size_t i = 0; i < ROWS; i++) {
    const double u = pc_rng_uniform(&rng, i);
    const int hit = pc_rng_uniform(&rng, ROWS + i) < (u < 0.5 ? 0.8 * u : 1.2 * u - 0.2);
    score[hit][count[hit]++] = u;
  }
  return table_of(score[0], count[0], score[1], count[1]);
}

/* What is left is part of the whole, in order, and has its extremes and its end. */
TEST(long_tables_keep_their_extremes) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table table = large_table();
  static pc_cumulative_point whole[ROWS], thin[ROWS];
  const size_t all = pc_cumulative_points(&table, table.total, ROWS, whole);
  assert_int_equal(all, table.count);
  for (size_t stretches = 1; stretches < 400; stretches = 3 * stretches + 1) {
    const size_t count = pc_cumulative_points(&table, table.total, stretches, thin);
    assert_true(count <= pc_cumulative_points_max(&table, stretches) && count <= 3 * stretches);
    assert_true(count > stretches || stretches == 1);
    double high = -INFINITY, low = INFINITY, thin_high = -INFINITY, thin_low = INFINITY;
    size_t at = 0;
    for (size_t i = 0; i < all; i++) {
      high = fmax(high, whole[i].scores - whole[i].outcomes);
      low = fmin(low, whole[i].scores - whole[i].outcomes);
    }
    for (size_t i = 0; i < count; i++) {
      while (at < all && memcmp(&whole[at], &thin[i], sizeof thin[i]) != 0)
        at++;
      assert_true(at < all);
      thin_high = fmax(thin_high, thin[i].scores - thin[i].outcomes);
      thin_low = fmin(thin_low, thin[i].scores - thin[i].outcomes);
    }
    assert_same(thin_high, high);
    assert_same(thin_low, low);
    assert_int_equal(at, all - 1);
    assert_near(thin[count - 1].fraction, 1.0, 1e-15);
  }
  pc_curve_table_free(&env, &table);
}
