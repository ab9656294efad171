#include "curve/point_masses.h"

#include "../unit.h"
#include "base/rng.h"
#include "curve/bucket_curve.h"
#include "curve/smooth.h"

#define ROWS 3000

/* Rows apart by outcome. */
typedef struct sample {
  double score[2][ROWS], weight[2][ROWS];
  size_t count[2];
} sample;

static void add(sample *s, int hit, double score, double weight) {
  s->score[hit][s->count[hit]] = score;
  s->weight[hit][s->count[hit]++] = weight;
}

static pc_curve_table table_of(const sample *s, int weighted) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_outcome_column misses = {s->score[0], weighted ? s->weight[0] : NULL, s->count[0]};
  const pc_outcome_column hits = {s->score[1], weighted ? s->weight[1] : NULL, s->count[1]};
  pc_curve_table out;
  assert_int_equal(pc_curve_table_new(&env, &misses, &hits, &out, NULL), PCAL_OK);
  return out;
}

static pc_point_masses masses_of(const pc_curve_table *table, unsigned level) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_point_masses out;
  assert_int_equal(pc_point_masses_new(&env, table, level, &out, NULL), PCAL_OK);
  return out;
}

static pc_point_masses sample_masses(const sample *s, int weighted, unsigned level) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table table = table_of(s, weighted);
  pc_point_masses out = masses_of(&table, level);
  pc_curve_table_free(&env, &table);
  return out;
}

static void masses_free(pc_point_masses *masses) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_point_masses_free(&env, masses);
  assert_null(masses->at);
}

static void assert_same_masses(const pc_point_masses *a, const pc_point_masses *b) {
  assert_int_equal(a->count, b->count);
  assert_same(a->net, b->net);
  assert_same(a->size, b->size);
  for (size_t i = 0; i < a->count; i++) {
    assert_same(a->at[i], b->at[i]);
    assert_same(a->mass[i], b->mass[i]);
  }
}

TEST(each_score_has_its_residual) {
  sample s = {.count = {0, 0}};
  add(&s, 0, 0.25, 1);
  add(&s, 1, 0.75, 1);
  add(&s, 0, 0.75, 1);
  add(&s, 1, 0.5, 1); /* with the next one: nothing is left at 0.5 */
  add(&s, 0, 0.5, 1);
  pc_point_masses masses = sample_masses(&s, 0, PC_EACH_SCORE);
  assert_int_equal(masses.count, 2);
  assert_same(masses.at[0], 0.25);
  assert_same(masses.mass[0], 0.25 / 5);
  assert_same(masses.at[1], 0.75);
  assert_same(masses.mass[1], 0.5 / 5);
  assert_near(masses.net, 0.15, 1e-15);
  assert_near(masses.size, 0.15, 1e-15);
  masses_free(&masses);
}

/* Cells of a quarter: outcomes apart, at their mean scores, in ascending order. */
TEST(cells_join_outcomes_apart) {
  sample s = {.count = {0, 0}};
  add(&s, 0, 0.125, 1);
  add(&s, 0, 0.1875, 1);
  add(&s, 1, 0.0625, 1);
  add(&s, 0, 0.25, 1); /* the border belongs to the upper cell */
  add(&s, 1, 1.0, 1);  /* in the last cell, and without a residual */
  add(&s, 0, 1.0, 1);
  pc_point_masses masses = sample_masses(&s, 0, 2);
  static const double at[] = {0.0625, 0.15625, 0.25, 1.0};
  static const double mass[] = {-0.9375, 0.3125, 0.25, 1.0};
  assert_int_equal(masses.count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_same(masses.at[i], at[i]);
    assert_near(masses.mass[i], mass[i] / 6, 1e-15);
  }
  masses_free(&masses);
}

/* Scores a little off, as input may have them, keep their residuals but lie at an end. */
TEST(scores_beyond_an_end) {
  sample s = {.count = {0, 0}};
  add(&s, 0, -1e-6, 1);
  add(&s, 0, 1 + 1e-6, 1);
  for (int cells = 0; cells < 2; cells++) {
    pc_point_masses masses = sample_masses(&s, 0, cells ? 14 : PC_EACH_SCORE);
    assert_int_equal(masses.count, 2);
    assert_same(masses.at[0], 0.0);
    assert_near(masses.mass[0], -1e-6 / 2, 1e-9);
    assert_same(masses.at[1], 1.0);
    assert_near(masses.mass[1], (1 + 1e-6) / 2, 1e-15);
    masses_free(&masses);
  }
}

static void sample_draw(sample *s, uint64_t stream, double from, double width) {
  const pc_rng rng = {3, stream};
  s->count[0] = s->count[1] = 0;
  for (size_t i = 0; i < ROWS; i++) {
    const double u = from + width * pc_rng_uniform(&rng, i);
    add(s, pc_rng_uniform(&rng, ROWS + i) < u, u,
        (double)(pc_rng_bits(&rng, 9000 + i) % 4 + 1));
  }
}

TEST(whole_weights_are_repeats) {
  static sample s, repeated;
  sample_draw(&s, 1, 0.0, 1.0);
  repeated.count[0] = repeated.count[1] = 0;
  for (int hit = 0; hit < 2; hit++)
    for (size_t i = 0; i < s.count[hit] && repeated.count[hit] + 4 < ROWS; i++) {
      for (size_t copy = 0; copy < (size_t)s.weight[hit][i]; copy++)
        add(&repeated, hit, s.score[hit][i], 1);
      s.count[hit] =
          i + 1 < s.count[hit] && repeated.count[hit] + 4 >= ROWS ? i + 1 : s.count[hit];
    }
  static const unsigned levels[] = {2, 8, 14, 15, 18, PC_EACH_SCORE};
  for (size_t l = 0; l < UNIT_COUNT(levels); l++) {
    const unsigned level = levels[l];
    pc_point_masses a = sample_masses(&s, 1, level), b = sample_masses(&repeated, 0, level);
    assert_same_masses(&a, &b);
    masses_free(&a);
    masses_free(&b);
  }
}

/* How much joining in cells of a level moves the norm at a width. */
static double moved(const pc_point_masses *joined, const pc_point_masses *exact, double sigma) {
  return fabs(pc_smooth_norm(NULL, joined, sigma, PC_SMOOTH_FINE) -
              pc_smooth_norm(NULL, exact, sigma, PC_SMOOTH_FINE));
}

/* What cells change is within the bound from the width on that is said to suffice. */
TEST(joining_is_within_its_bound) {
  static sample s;
  static const double errors[] = {1e-2, 1e-3, 1e-4, 1e-5};
  for (uint64_t stream = 0; stream < 4; stream++) {
    sample_draw(&s, stream, stream % 2 == 0 ? 0.0 : 0.4, stream % 2 == 0 ? 1.0 : 0.02);
    pc_point_masses exact = sample_masses(&s, 0, PC_EACH_SCORE);
    assert_same(pc_point_masses_sigma(&exact, PC_EACH_SCORE, 1e-6), 0.0);
    for (unsigned level = 4; level <= 12; level += 2) {
      pc_point_masses joined = sample_masses(&s, 0, level);
      assert_near(joined.net, exact.net, 1e-12);
      for (size_t e = 0; e < UNIT_COUNT(errors); e++)
        for (double sigma = pc_point_masses_sigma(&joined, level, errors[e]); sigma <= 1;
             sigma *= 1.7)
          assert_true(moved(&joined, &exact, sigma) <= errors[e] + 2 * PC_SMOOTH_ERROR);
      masses_free(&joined);
    }
    masses_free(&exact);
  }
}

/* The same for cells with two masses of each outcome; few of them hold all rows, spread evenly or in two
 * places. */
TEST(narrow_cells_are_within_their_bound) {
  static sample s;
  static const double errors[] = {1e-2, 1e-3, 1e-4, 1e-5};
  for (uint64_t stream = 0; stream < 4; stream++) {
    sample_draw(&s, stream, 0.4, stream < 2 ? 0x1p-12 : 0x1p-9);
    for (int hit = 0; stream % 2 == 1 && hit < 2; hit++)
      for (size_t i = 0; i < s.count[hit]; i++)
        s.score[hit][i] = 0.4 + (i % 5 == 0 ? 0x1p-15 : 0.0) + (i % 3 == 0 ? 0x1p-13 : 0.0);
    pc_point_masses exact = sample_masses(&s, 0, PC_EACH_SCORE);
    for (unsigned level = 15; level <= 18; level++) {
      pc_point_masses joined = sample_masses(&s, 0, level);
      assert_near(joined.net, exact.net, 1e-12);
      for (size_t i = 1; i < joined.count; i++)
        assert_true(joined.at[i] >= joined.at[i - 1]);
      for (size_t e = 0; e < UNIT_COUNT(errors); e++)
        for (double sigma = pc_point_masses_sigma(&joined, level, errors[e]); sigma <= 0.1;
             sigma *= 2.9)
          assert_true(moved(&joined, &exact, sigma) <= errors[e] + 2 * PC_SMOOTH_ERROR);
      masses_free(&joined);
    }
    masses_free(&exact);
  }
}

/* Five hits in a narrow cell: two masses with the mean and the variance of their scores. */
TEST(narrow_cells_keep_mean_and_variance) {
  static sample s;
  const double w = 0x1p-15, low = 0.25;
  static const double places[] = {0.1, 0.15, 0.3, 0.6, 0.9};
  double mean = 0.0, variance = 0.0;
  s.count[0] = s.count[1] = 0;
  for (size_t i = 0; i < 5; i++) {
    add(&s, 1, low + w * places[i], 1);
    mean += places[i] / 5;
  }
  for (size_t i = 0; i < 5; i++)
    variance += (places[i] - mean) * (places[i] - mean) / 5;
  pc_point_masses masses = sample_masses(&s, 0, 15);
  double rows = 0.0, first = 0.0, second = 0.0;
  assert_int_equal(masses.count, 2);
  for (size_t i = 0; i < 2; i++) {
    const double at = (masses.at[i] - low) / w, share = masses.mass[i] / (masses.at[i] - 1);
    assert_true(at >= 0.0 && at <= 1.0);
    rows += share;
    first += share * at;
    second += share * at * at;
  }
  assert_near(rows, 1.0, 1e-12);
  assert_near(first, mean, 1e-9);
  assert_near(second - first * first, variance, 1e-6);
  masses_free(&masses);
}

/* Open segments without sums of squares are wanted for narrow cells. */
TEST(segments_without_squares_are_wanted) {
  const pc_segment segments[] = {{.low = 0.5, .high = 0.5 + 0x1p-30, .squared = 1},
                                 {.low = 0.6, .high = 0.6 + 0x1p-30},
                                 {.low = 0.7, .high = 0.7}};
  const pc_curve_table table = {
      .form = PC_CURVE_SEGMENTS, .count = 3, .segments = segments, .total = 9};
  assert_int_equal(pc_point_masses_wants(&table, 14, NULL), 0);
  assert_int_equal(pc_point_masses_wants(&table, 15, NULL), 1);
}

/* w^2 / 4 (sqrt(2/pi) / sigma + (size + w) 2 phi(1) / sigma^2) is the error at that width. */
TEST(sufficient_width) {
  const pc_point_masses masses = {.size = 0.3};
  const double w = 0x1p-14, sigma = pc_point_masses_sigma(&masses, 14, 6e-7);
  const double phi = exp(-0.5) / sqrt(2 * acos(-1.0));
  assert_near(w * w / 4 *
                  (sqrt(2 / acos(-1.0)) / sigma + (0.3 + w) * 2 * phi / (sigma * sigma)),
              6e-7, 1e-12);
}

/* Segments of a coarse table, inside cells or over their borders. */
TEST(segments_over_borders_are_wanted) {
  const pc_segment segments[] = {
      {.low = 0.0, .high = 0.2}, {.low = 0.25, .high = 0.25}, {.low = 0.6, .high = 0.62}};
  const pc_curve_table table = {
      .form = PC_CURVE_SEGMENTS, .count = 3, .segments = segments, .total = 9};
  uint8_t wanted[3] = {0, 0, 0};
  assert_int_equal(pc_point_masses_wants(&table, 1, NULL), 0);
  assert_int_equal(pc_point_masses_wants(&table, 2, NULL), 0);
  assert_int_equal(pc_point_masses_wants(&table, 3, NULL), 1); /* 0.125 */
  assert_int_equal(pc_point_masses_wants(&table, 3, wanted), 1);
  assert_int_equal(pc_point_masses_wants(&table, 3, wanted), 0); /* none more */
  assert_int_equal(wanted[0], 1);
  assert_int_equal(pc_point_masses_wants(&table, PC_EACH_SCORE, NULL), 2);
  assert_int_equal(pc_point_masses_wants(&table, PC_EACH_SCORE, wanted), 1);
  assert_int_equal(wanted[1], 0);
  assert_int_equal(wanted[2], 1);
  assert_int_equal(pc_point_cell(-1e-9, 14), 0);
  assert_int_equal(pc_point_cell(0.5, 14), 8192);
  assert_int_equal(pc_point_cell(nextafter(0.5, 0), 14), 8191);
  assert_int_equal(pc_point_cell(1.0, 14), 16384);
  assert_int_equal(pc_point_cell(3.9, 14), 16384);
}

static pcal_status make_masses(const pcal_env *env, void *user, pcal_error *err) {
  pc_point_masses masses;
  const pcal_status status = pc_point_masses_new(env, user, 14, &masses, err);
  if (status == PCAL_OK)
    pc_point_masses_free(env, &masses);
  return status;
}

TEST(memory_may_run_out) {
  static sample s;
  const pcal_env env = pc_env_resolve(NULL);
  sample_draw(&s, 1, 0.0, 1.0);
  pc_curve_table table = table_of(&s, 0);
  unit_fail_each_allocation(make_masses, &table);
  pc_curve_table_free(&env, &table);
}
