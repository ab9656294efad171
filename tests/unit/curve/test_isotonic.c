#include "curve/isotonic.h"

#include "../unit.h"
#include "base/rng.h"

#define ENTRIES 40

/* A table written out by hand; total is not looked at. */
typedef struct hand_table {
  double score[ENTRIES], weight[ENTRIES], hits[ENTRIES];
  pc_curve_table table;
} hand_table;

static void hand_make(hand_table *hand, size_t count) {
  hand->table = (pc_curve_table){
      .count = count, .score = hand->score, .weight = hand->weight, .hits = hand->hits};
}

static pc_isotonic fit_of(const pc_curve_table *table) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_isotonic fit;
  assert_int_equal(pc_isotonic_fit(&env, table, &fit, NULL), PCAL_OK);
  return fit;
}

static void fit_free(pc_isotonic *fit) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_isotonic_free(&env, fit);
  assert_null(fit->blocks);
  assert_int_equal(fit->count, 0);
}

/* The fitted value at entry i by the formula: max over j <= i of min over k >= i. */
static double brute_value(const pc_curve_table *table, size_t i) {
  double best = -1;
  for (size_t j = 0; j <= i; j++) {
    double least = 2, weight = 0, hits = 0;
    for (size_t k = j; k < table->count; k++) {
      weight += table->weight[k];
      hits += table->hits[k];
      if (k >= i)
        least = fmin(least, hits / weight);
    }
    best = fmax(best, least);
  }
  return best;
}

/* Blocks in order, from end to end, with all that is in them. */
static void check_blocks(const pc_isotonic *fit, const pc_curve_table *table) {
  size_t at = 0;
  for (size_t b = 0; b < fit->count; b++) {
    const pc_isotonic_block *block = &fit->blocks[b];
    double weight = 0, hits = 0;
    assert_same(block->low, table->score[at]);
    for (; at < table->count && table->score[at] <= block->high; at++) {
      assert_same(pc_isotonic_value(block), brute_value(table, at));
      weight += table->weight[at];
      hits += table->hits[at];
    }
    assert_same(block->high, table->score[at - 1]);
    assert_same(block->weight, weight);
    assert_same(block->hits, hits);
    assert_true(b == 0 || pc_isotonic_value(block) > pc_isotonic_value(block - 1));
  }
  assert_int_equal(at, table->count);
}

static void random_table(hand_table *hand, uint64_t seed, size_t count) {
  const pc_rng rng = {seed, 1};
  for (size_t i = 0; i < count; i++) {
    hand->score[i] = ((double)i + 0.5) / (double)count;
    hand->weight[i] = 1 + (double)(pc_rng_bits(&rng, 2 * i) % 4);
    hand->hits[i] = 0;
    for (size_t w = 0; w < (size_t)hand->weight[i]; w++)
      hand->hits[i] += pc_rng_uniform(&rng, 1000 + 8 * i + w) < hand->score[i];
  }
  hand_make(hand, count);
}

TEST(agrees_with_the_formula) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    hand_table hand;
    random_table(&hand, seed, 1 + (size_t)seed % ENTRIES);
    pc_isotonic fit = fit_of(&hand.table);
    check_blocks(&fit, &hand.table);
    fit_free(&fit);
  }
}

TEST(pools_what_falls) {
  hand_table hand = {.score = {0.1, 0.2, 0.3, 0.4},
                     .weight = {2, 1, 1, 1},
                     .hits = {1, 1, 0, 1}}; /* 1/2, 1, 0, 1 */
  hand_make(&hand, 4);
  pc_isotonic fit = fit_of(&hand.table);
  assert_int_equal(fit.count, 2);
  assert_same(fit.blocks[0].low, 0.1);
  assert_same(fit.blocks[0].high, 0.3);
  assert_same(pc_isotonic_value(&fit.blocks[0]), 0.5);
  assert_same(pc_isotonic_value(&fit.blocks[1]), 1.0);
  fit_free(&fit);
}

TEST(joins_equal_values) {
  hand_table hand = {
      .score = {0.1, 0.2, 0.3, 0.4}, .weight = {3, 6, 1, 5}, .hits = {1, 2, 1, 5}};
  hand_make(&hand, 4);
  pc_isotonic fit = fit_of(&hand.table);
  assert_int_equal(fit.count, 2);
  assert_same(fit.blocks[0].weight, 9.0);
  assert_same(fit.blocks[1].low, 0.3);
  assert_same(fit.blocks[1].high, 0.4);
  fit_free(&fit);
}

/* Products beyond 2^53 are rounded, but equal where the values are. */
TEST(joins_equal_values_of_many_rows) {
  hand_table hand = {.score = {0.1, 0.2},
                     .weight = {3 * 123456789.0, 3 * 987654321.0},
                     .hits = {123456789.0, 987654321.0}};
  hand_make(&hand, 2);
  pc_isotonic fit = fit_of(&hand.table);
  assert_int_equal(fit.count, 1);
  fit_free(&fit);
}

TEST(nothing_gives_nothing) {
  hand_table hand;
  hand_make(&hand, 0);
  pc_isotonic fit = fit_of(&hand.table);
  assert_int_equal(fit.count, 0);
  fit_free(&fit);
}

/* Each row written out as often as its weight says gives the same blocks. */
TEST(weights_are_frequencies) {
  const pcal_env env = pc_env_resolve(NULL);
  const double score[2][3] = {{0.2, 0.5, 0.7}, {0.2, 0.3, 0.6}};
  const double weight[2][3] = {{3, 1, 2}, {2, 4, 1}};
  double copies[2][16];
  size_t counts[2] = {0, 0};
  pc_curve_table weighted, repeated;
  for (int hit = 0; hit < 2; hit++)
    for (size_t i = 0; i < 3; i++)
      for (size_t w = 0; w < (size_t)weight[hit][i]; w++)
        copies[hit][counts[hit]++] = score[hit][i];
  const pc_outcome_column columns[4] = {{score[0], weight[0], 3},
                                        {score[1], weight[1], 3},
                                        {copies[0], NULL, counts[0]},
                                        {copies[1], NULL, counts[1]}};
  assert_int_equal(pc_curve_table_new(&env, &columns[0], &columns[1], &weighted, NULL),
                   PCAL_OK);
  assert_int_equal(pc_curve_table_new(&env, &columns[2], &columns[3], &repeated, NULL),
                   PCAL_OK);
  pc_isotonic a = fit_of(&weighted), b = fit_of(&repeated);
  check_blocks(&a, &weighted);
  assert_int_equal(a.count, b.count);
  assert_memory_equal(a.blocks, b.blocks, a.count * sizeof *a.blocks);
  fit_free(&a);
  fit_free(&b);
  pc_curve_table_free(&env, &weighted);
  pc_curve_table_free(&env, &repeated);
}

/* Sorted columns give the blocks of the table that they make: with ties within and between
 * outcomes, with one outcome missing, with weights and without. */
TEST(columns_agree_with_the_table) {
  const pcal_env env = pc_env_resolve(NULL);
  for (uint64_t seed = 0; seed < 400; seed++) {
    const pc_rng rng = {seed, 2};
    double score[2][ENTRIES], weight[2][ENTRIES];
    size_t counts[2] = {0, 0};
    const size_t levels = 1 + seed % 37;
    for (size_t i = 0; i < ENTRIES; i++) {
      const double at = (double)(pc_rng_bits(&rng, 3 * i) % levels) / 40;
      const int hit = seed % 5 == 0   ? seed % 2 == 0
                      : seed % 5 == 1 ? i % 2 == 0
                                      : pc_rng_uniform(&rng, 3 * i + 1) < at;
      weight[hit][counts[hit]] = 1 + (double)(pc_rng_bits(&rng, 3 * i + 2) % 3);
      score[hit][counts[hit]++] = at;
    }
    const int weighted = seed % 2 == 1;
    const pc_outcome_column misses = {score[0], weighted ? weight[0] : NULL, counts[0]};
    const pc_outcome_column hits = {score[1], weighted ? weight[1] : NULL, counts[1]};
    pc_sorted_column sorted[2];
    pc_curve_table table;
    pc_isotonic fit;
    assert_int_equal(pc_curve_table_new(&env, &misses, &hits, &table, NULL), PCAL_OK);
    assert_int_equal(pc_sorted_column_new(&env, &misses, &sorted[0], NULL), PCAL_OK);
    assert_int_equal(pc_sorted_column_new(&env, &hits, &sorted[1], NULL), PCAL_OK);
    assert_int_equal(pc_isotonic_fit_columns(&env, &sorted[0], &sorted[1], &fit, NULL),
                     PCAL_OK);
    check_blocks(&fit, &table);
    fit_free(&fit);
    pc_sorted_column_free(&env, &sorted[0]);
    pc_sorted_column_free(&env, &sorted[1]);
    pc_curve_table_free(&env, &table);
  }
}

#define LONG 200000

/* Outcomes that fall over long stretches would take a quadratic method hours. */
TEST(long_tables_take_linear_time) {
  double *cells = malloc(3 * LONG * sizeof *cells);
  pc_curve_table table = {
      .count = LONG, .score = cells, .weight = cells + LONG, .hits = cells + 2 * LONG};
  for (size_t i = 0; i < LONG; i++) {
    table.score[i] = (double)i / LONG;
    table.weight[i] = LONG;
    table.hits[i] = (double)(i < LONG / 2 ? i : LONG - i);
  }
  pc_isotonic fit = fit_of(&table);
  /* rises with slope 1 up to where the mean of the rest is reached, then is constant */
  const pc_isotonic_block *last = &fit.blocks[fit.count - 1];
  const double value = pc_isotonic_value(last);
  assert_same(last->high, table.score[LONG - 1]);
  assert_true(value >= pc_isotonic_value(last - 1) && value <= last->low + 1.0 / LONG);
  fit_free(&fit);
  free(cells);
}

static pcal_status columns_scenario(const pcal_env *env, void *user, pcal_error *err) {
  double score[2][3] = {{0.1, 0.4, 0.7}, {0.2, 0.5, 0.8}};
  const pc_sorted_column misses = {score[0], NULL, 3}, hits = {score[1], NULL, 3};
  pc_isotonic fit;
  (void)user;
  PC_TRY(pc_isotonic_fit_columns(env, &misses, &hits, &fit, err));
  pc_isotonic_free(env, &fit);
  return PCAL_OK;
}

static pcal_status fit_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_isotonic fit;
  PC_TRY(pc_isotonic_fit(env, user, &fit, err));
  pc_isotonic_free(env, &fit);
  return PCAL_OK;
}

TEST(memory_may_run_out) {
  hand_table hand;
  for (size_t i = 0; i < ENTRIES; i++) {
    hand.score[i] = (double)i / ENTRIES;
    hand.weight[i] = ENTRIES;
    hand.hits[i] = (double)i;
  }
  hand_make(&hand, ENTRIES);
  unit_fail_each_allocation(fit_scenario, &hand.table);
  unit_fail_each_allocation(columns_scenario, NULL);
}
