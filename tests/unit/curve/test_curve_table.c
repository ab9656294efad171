#include "curve/curve_table.h"

#include "../unit.h"
#include "base/rng.h"
#include "curve/curve_gap.h"

#define ROWS 400

/* Rows of a sample, apart by outcome. */
typedef struct sample {
  double score[2][ROWS], weight[2][ROWS];
  size_t count[2];
} sample;

static pc_outcome_column column(const sample *s, int hit, int weighted) {
  return (pc_outcome_column){s->score[hit], weighted ? s->weight[hit] : NULL, s->count[hit]};
}

static pc_curve_table table_of(const sample *s, int weighted) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_outcome_column misses = column(s, 0, weighted), hits = column(s, 1, weighted);
  pc_curve_table out;
  assert_int_equal(pc_curve_table_new(&env, &misses, &hits, &out, NULL), PCAL_OK);
  return out;
}

static void table_free(pc_curve_table *table) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_curve_table_free(&env, table);
  assert_null(table->score);
}

static void add(sample *s, int hit, double score, double weight) {
  s->score[hit][s->count[hit]] = score;
  s->weight[hit][s->count[hit]++] = weight;
}

static void assert_same_tables(const pc_curve_table *a, const pc_curve_table *b) {
  assert_int_equal(a->count, b->count);
  assert_same(a->total, b->total);
  for (size_t i = 0; i < a->count; i++) {
    assert_same(a->score[i], b->score[i]);
    assert_same(a->weight[i], b->weight[i]);
    assert_same(a->hits[i], b->hits[i]);
  }
}

TEST(joins_equal_scores) {
  sample s = {.count = {0, 0}};
  add(&s, 0, 0.5, 1);
  add(&s, 0, 0.25, 1);
  add(&s, 0, 0.5, 1);
  add(&s, 1, 0.75, 1);
  add(&s, 1, 0.5, 1);
  static const double expected[][3] = {{0.25, 1, 0}, {0.5, 3, 1}, {0.75, 1, 1}};
  pc_curve_table table = table_of(&s, 0);
  assert_int_equal(table.count, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_same(table.score[i], expected[i][0]);
    assert_same(table.weight[i], expected[i][1]);
    assert_same(table.hits[i], expected[i][2]);
  }
  assert_same(table.total, 5);
  assert_same(s.score[0][0], 0.5);
  assert_same(s.score[0][1], 0.25);
  table_free(&table);
}

TEST(zero_has_no_sign) {
  sample s = {.count = {0, 0}};
  add(&s, 0, -0.0, 2);
  add(&s, 0, 0.0, 0.5);
  add(&s, 1, -0.0, 4);
  add(&s, 1, 5e-324, 1);
  pc_curve_table table = table_of(&s, 1);
  assert_int_equal(table.count, 2);
  assert_same(table.score[0], 0.0);
  assert_same(table.weight[0], 6.5);
  assert_same(table.hits[0], 4);
  assert_same(table.score[1], 5e-324);
  assert_same(table.total, 7.5);
  table_free(&table);
}

TEST(takes_one_sided_and_empty_samples) {
  sample s = {.count = {0, 0}};
  pc_curve_table table = table_of(&s, 0);
  assert_int_equal(table.count, 0);
  assert_same(table.total, 0);
  const pc_gap none = pc_curve_gap(&table);
  assert_same(none.value, 0);
  assert_true(isnan(none.at));
  table_free(&table);
  table = table_of(&s, 1);
  assert_int_equal(table.count, 0);
  table_free(&table);
  add(&s, 1, 0.75, 1);
  table = table_of(&s, 0);
  assert_int_equal(table.count, 1);
  assert_same(table.hits[0], 1);
  const pc_gap gap = pc_curve_gap(&table);
  assert_same(gap.value, -0.25);
  assert_same(gap.at, 0.75);
  table_free(&table);
}

/* Scores from a grid of 1/64, about one row in five alone with its score. */
static void sample_fill(sample *s, uint64_t seed, int whole_weights) {
  const pc_rng rng = {seed, 5};
  s->count[0] = s->count[1] = 0;
  for (uint64_t i = 0; i < ROWS; i++) {
    const double score = (double)(pc_rng_bits(&rng, 3 * i) % 65) / 64;
    const int hit = pc_rng_uniform(&rng, 3 * i + 1) < score;
    const double weight = whole_weights ? (double)(pc_rng_bits(&rng, 3 * i + 2) % 6 + 1)
                                        : pc_rng_uniform(&rng, 3 * i + 2);
    add(s, hit, score, weight);
  }
}

static void shuffle(sample *s, uint64_t seed) {
  const pc_rng rng = {seed, 6};
  for (int hit = 0; hit <= 1; hit++) {
    for (size_t i = s->count[hit]; i > 1; i--) {
      const size_t j = (size_t)(pc_rng_bits(&rng, i) % i);
      const double score = s->score[hit][i - 1], weight = s->weight[hit][i - 1];
      s->score[hit][i - 1] = s->score[hit][j];
      s->weight[hit][i - 1] = s->weight[hit][j];
      s->score[hit][j] = score;
      s->weight[hit][j] = weight;
    }
  }
}

TEST(order_of_rows_is_invisible) {
  sample s;
  sample_fill(&s, 1, 0);
  pc_curve_table table = table_of(&s, 1);
  for (uint64_t seed = 0; seed < 20; seed++) {
    shuffle(&s, seed);
    pc_curve_table again = table_of(&s, 1);
    assert_same_tables(&again, &table);
    table_free(&again);
  }
  table_free(&table);
}

TEST(whole_weights_are_repeats) {
  static sample weighted, repeated;
  for (uint64_t seed = 0; seed < 10; seed++) {
    sample_fill(&weighted, seed, 1);
    weighted.count[0] = weighted.count[0] > 100 ? 100 : weighted.count[0];
    weighted.count[1] = weighted.count[1] > 60 ? 60 : weighted.count[1];
    repeated.count[0] = repeated.count[1] = 0;
    for (int hit = 0; hit <= 1; hit++) {
      for (size_t i = 0; i < weighted.count[hit]; i++) {
        weighted.weight[hit][i] = fmin(weighted.weight[hit][i], 4);
        for (double w = 0; w < weighted.weight[hit][i]; w++)
          add(&repeated, hit, weighted.score[hit][i], 1);
      }
    }
    pc_curve_table by_weight = table_of(&weighted, 1), by_row = table_of(&repeated, 0);
    pc_curve_table by_ones = table_of(&repeated, 1);
    assert_same_tables(&by_weight, &by_row);
    assert_same_tables(&by_ones, &by_row);
    assert_same(pc_curve_gap(&by_weight).value, pc_curve_gap(&by_row).value);
    assert_same(pc_curve_gap(&by_weight).at, pc_curve_gap(&by_row).at);
    table_free(&by_weight);
    table_free(&by_row);
    table_free(&by_ones);
  }
}

/* sum over {score <= at} of weight (score - outcome); exact on the grid of 1/64. */
static double gap_direct(const sample *s, double at) {
  double sum = 0;
  for (int hit = 0; hit <= 1; hit++) {
    for (size_t i = 0; i < s->count[hit]; i++) {
      if (s->score[hit][i] <= at)
        sum += s->weight[hit][i] * (s->score[hit][i] - hit);
    }
  }
  return sum;
}

static int has_score(const sample *s, double score) {
  for (int hit = 0; hit <= 1; hit++) {
    for (size_t i = 0; i < s->count[hit]; i++) {
      if (s->score[hit][i] == score)
        return 1;
    }
  }
  return 0;
}

TEST(gap_agrees_with_its_definition) {
  for (uint64_t seed = 0; seed < 30; seed++) {
    sample s;
    sample_fill(&s, seed, 1);
    pc_gap best = {0, NAN};
    for (int step = 0; step <= 64; step++) {
      const double at = step / 64.0, gap = gap_direct(&s, at);
      if (has_score(&s, at) && (isnan(best.at) || fabs(gap) > fabs(best.value)))
        best = (pc_gap){gap, at};
    }
    pc_curve_table table = table_of(&s, 1);
    const pc_gap gap = pc_curve_gap(&table);
    assert_same(gap.value, best.value);
    assert_same(gap.at, best.at);
    table_free(&table);
  }
}

/* All scores equal: only the whole sum counts, whatever comes first. */
TEST(gap_looks_at_distinct_scores_only) {
  sample s = {.count = {0, 0}};
  for (int i = 0; i < 100; i++)
    add(&s, i % 4 == 0, 0.25, 1);
  pc_curve_table table = table_of(&s, 0);
  const pc_gap gap = pc_curve_gap(&table);
  assert_same(gap.value, 0);
  assert_same(gap.at, 0.25);
  table_free(&table);
}

TEST(sorts_a_column_in_its_one_order) {
  static const double score[] = {0.5, -0.0, 0.5, 0.25, 0.0, 0.5}, weight[] = {3, 2, 1, 9, 1, 2};
  static const double sorted[] = {0.0, 0.0, 0.25, 0.5, 0.5, 0.5}, with[] = {1, 2, 9, 1, 2, 3};
  const pcal_env env = pc_env_resolve(NULL);
  pc_outcome_column from = {score, weight, 6};
  pc_sorted_column out;
  assert_int_equal(pc_sorted_column_new(&env, &from, &out, NULL), PCAL_OK);
  assert_int_equal(out.count, 6);
  assert_memory_equal(out.score, sorted, sizeof sorted);
  assert_memory_equal(out.weight, with, sizeof with);
  pc_sorted_column_free(&env, &out);
  from.weight = NULL;
  assert_int_equal(pc_sorted_column_new(&env, &from, &out, NULL), PCAL_OK);
  assert_memory_equal(out.score, sorted, sizeof sorted);
  assert_null(out.weight);
  pc_sorted_column_free(&env, &out);
  assert_null(out.score);
}

static pcal_status table_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const int weighted = user != NULL;
  sample s;
  sample_fill(&s, 3, 1);
  const pc_outcome_column misses = column(&s, 0, weighted), hits = column(&s, 1, weighted);
  pc_curve_table table;
  const pcal_status status = pc_curve_table_new(env, &misses, &hits, &table, err);
  assert_int_equal(table.score != NULL, status == PCAL_OK);
  if (status == PCAL_OK)
    pc_curve_table_free(env, &table);
  return status;
}

TEST(survives_every_failed_allocation) {
  int weighted;
  unit_fail_each_allocation(table_scenario, NULL);
  unit_fail_each_allocation(table_scenario, &weighted);
}
