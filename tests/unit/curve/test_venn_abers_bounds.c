#include "curve/venn_abers_bounds.h"

#include "../unit.h"
#include "base/rng.h"
#include "curve/isotonic.h"

#define ENTRIES 30

typedef struct hand_table {
  double score[ENTRIES + 1], weight[ENTRIES + 1], hits[ENTRIES + 1];
  pc_curve_table table;
} hand_table;

static void hand_make(hand_table *hand, size_t count) {
  hand->table = (pc_curve_table){
      .count = count, .score = hand->score, .weight = hand->weight, .hits = hand->hits};
}

/* The values at all entries. */
static void spread(const pc_venn_abers_step *steps, size_t count, size_t entries, double *out) {
  assert_true(count > 0);
  assert_int_equal(steps[0].entry, 0);
  for (size_t k = 0; k < count; k++) {
    const size_t end = k + 1 < count ? steps[k + 1].entry : entries;
    assert_true(steps[k].entry < end);
    assert_true(k == 0 || steps[k].value > steps[k - 1].value);
    for (size_t i = steps[k].entry; i < end; i++)
      out[i] = steps[k].value;
  }
}

static void bounds(const hand_table *hand, double *lower, double *upper) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_venn_abers_bounds venn;
  assert_int_equal(pc_venn_abers_bounds_new(&env, &hand->table, &venn, NULL), PCAL_OK);
  spread(venn.lower, venn.lower_count, hand->table.count, lower);
  spread(venn.upper, venn.upper_count, hand->table.count, upper);
  pc_venn_abers_bounds_free(&env, &venn);
}

/* The value of a real isotonic regression at a row that is added to the table. */
static double refit(const hand_table *from, double score, int hit) {
  const pcal_env env = pc_env_resolve(NULL);
  hand_table with;
  size_t count = 0;
  int placed = 0;
  for (size_t i = 0; i <= from->table.count; i++) {
    if (!placed && (i == from->table.count || from->score[i] >= score)) {
      const int joins = i < from->table.count && from->score[i] == score;
      with.score[count] = score;
      with.weight[count] = 1 + (joins ? from->weight[i] : 0);
      with.hits[count++] = hit + (joins ? from->hits[i] : 0);
      placed = 1;
      if (joins)
        continue;
    }
    if (i < from->table.count) {
      with.score[count] = from->score[i];
      with.weight[count] = from->weight[i];
      with.hits[count++] = from->hits[i];
    }
  }
  hand_make(&with, count);
  pc_isotonic fit;
  double value = NAN;
  assert_int_equal(pc_isotonic_fit(&env, &with.table, &fit, NULL), PCAL_OK);
  for (size_t b = 0; b < fit.count; b++)
    if (fit.blocks[b].low <= score && score <= fit.blocks[b].high)
      value = pc_isotonic_value(&fit.blocks[b]);
  pc_isotonic_free(&env, &fit);
  return value;
}

static void check(const hand_table *hand) {
  const size_t n = hand->table.count;
  double lower[ENTRIES], upper[ENTRIES];
  bounds(hand, lower, upper);
  for (size_t i = 0; i < n; i++) {
    const double at = hand->score[i];
    const double before = i == 0 ? at - 0.1 : (at + hand->score[i - 1]) / 2;
    const double behind = i + 1 == n ? at + 0.1 : (at + hand->score[i + 1]) / 2;
    assert_same(upper[i], refit(hand, at, 1));
    assert_same(upper[i], refit(hand, before, 1));
    assert_same(lower[i], refit(hand, at, 0));
    assert_same(lower[i], refit(hand, behind, 0));
  }
  assert_same(refit(hand, hand->score[n - 1] + 0.1, 1), 1.0);
  assert_same(refit(hand, hand->score[0] - 0.1, 0), 0.0);
}

/* Whole weights: the very doubles of two regressions for each place. */
TEST(agrees_with_two_regressions) {
  for (uint64_t seed = 0; seed < 500; seed++) {
    const pc_rng rng = {seed, 3};
    const size_t count = 1 + (size_t)seed % ENTRIES;
    hand_table hand;
    for (size_t i = 0; i < count; i++) {
      hand.score[i] = ((double)i + 0.5) / (double)count;
      hand.weight[i] = 1 + (double)(pc_rng_bits(&rng, 2 * i) % (seed % 3 == 0 ? 1 : 5));
      hand.hits[i] = 0;
      for (size_t w = 0; w < (size_t)hand.weight[i]; w++)
        hand.hits[i] += seed % 7 == 0 ? seed % 2 == 0
                                      : pc_rng_uniform(&rng, 1000 + 8 * i + w) <
                                            (seed % 4 == 1 ? 1 - hand.score[i] : hand.score[i]);
    }
    hand_make(&hand, count);
    check(&hand);
  }
}

/* One row: with a hit added p1 is 1 or 1/2, with a miss p0 is 0 or 1/2. */
TEST(one_row) {
  hand_table hand = {.score = {0.5}, .weight = {1}, .hits = {1}};
  double lower, upper;
  hand_make(&hand, 1);
  bounds(&hand, &lower, &upper);
  assert_same(lower, 0.5);
  assert_same(upper, 1.0);
  hand.hits[0] = 0;
  bounds(&hand, &lower, &upper);
  assert_same(lower, 0.0);
  assert_same(upper, 0.5);
}

TEST(odd_weights_do_not_fall) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    const pc_rng rng = {seed, 4};
    hand_table hand;
    double lower[ENTRIES], upper[ENTRIES];
    for (size_t i = 0; i < ENTRIES; i++) {
      hand.score[i] = (double)i / ENTRIES;
      hand.weight[i] = 0.1 + pc_rng_uniform(&rng, 2 * i);
      hand.hits[i] = hand.weight[i] * (pc_rng_uniform(&rng, 2 * i + 1) < 0.5);
    }
    hand_make(&hand, ENTRIES);
    bounds(&hand, lower, upper);
    for (size_t i = 0; i < ENTRIES; i++) {
      assert_near(upper[i], refit(&hand, hand.score[i], 1), 1e-13);
      assert_true(fabs(lower[i] - refit(&hand, hand.score[i], 0)) <= 1e-13);
      assert_true(i == 0 || (lower[i] >= lower[i - 1] && upper[i] >= upper[i - 1]));
    }
  }
}

static pcal_status scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_venn_abers_bounds venn;
  PC_TRY(pc_venn_abers_bounds_new(env, user, &venn, err));
  pc_venn_abers_bounds_free(env, &venn);
  return PCAL_OK;
}

TEST(memory_may_run_out) {
  hand_table hand = {.score = {0.5}, .weight = {1}, .hits = {1}};
  hand_make(&hand, 1);
  unit_fail_each_allocation(scenario, &hand.table);
}
