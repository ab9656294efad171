/* What is read off a replica by ranges is what its table says.  Scores are multiples of 1/64,
 * so that all sums are exact. */
#include "../unit.h"

#include "base/rng.h"
#include "curve/curve_bins.h"
#include "curve/curve_cursor.h"
#include "curve/curve_gap.h"
#include "curve/point_masses.h"

#define PREFIX_SCORES 300
#define PREFIX_STRIDE 3
#define PREFIX_BINS 16

typedef struct prefix_case {
  size_t scores, begin[PREFIX_SCORES + 1];
  double score[PREFIX_SCORES], hit[PREFIX_SCORES], sums[4][PREFIX_SCORES + 1];
  uint32_t row[PREFIX_SCORES], cells[PC_PREFIX_CELLS + 1];
  float weight[PREFIX_SCORES * PREFIX_STRIDE];
  pc_curve_prefix prefix;
  pc_curve_table short_way, table;
} prefix_case;

static double prefix_weight(const prefix_case *at, size_t i) {
  return (double)at->weight[at->row[i] * PREFIX_STRIDE];
}

/* Ascending scores with ties, on `levels` places; weights 0 to 3. */
static void prefix_rows(prefix_case *at, size_t scores, unsigned levels, uint64_t seed) {
  const pc_rng rng = {seed, 1};
  at->scores = scores;
  for (size_t i = 0; i < scores; i++) {
    at->score[i] = floor((double)i / (double)scores * levels) / 64.0;
    at->hit[i] = pc_rng_uniform(&rng, 3 * i) < at->score[i] * 0.8 + 0.1 ? 1.0 : 0.0;
    at->row[i] = (uint32_t)(scores - 1 - i);
    at->weight[at->row[i] * PREFIX_STRIDE] = (float)floor(4 * pc_rng_uniform(&rng, 3 * i + 1));
  }
}

/* Ranges of at least `length` scores, without splitting ties, inside cells. */
static void prefix_ranges(prefix_case *at, size_t length) {
  double sums[4] = {0.0};
  size_t count = 0;
  int64_t next = 0;
  for (size_t i = 0; i < at->scores; i++) {
    const int fresh = i == 0 || at->score[i] != at->score[i - 1];
    if (fresh && (i == 0 || length < 8 || i - at->begin[count - 1] >= length)) {
      for (size_t k = 0; k < 4; k++)
        at->sums[k][count] = sums[k];
      while (next <= pc_point_cell(at->score[i], PC_PREFIX_LEVEL))
        at->cells[next++] = (uint32_t)count;
      at->begin[count++] = i;
    }
    const double w = prefix_weight(at, i);
    const double add[4] = {w, w * at->hit[i], w * at->score[i], w * at->hit[i] * at->score[i]};
    for (size_t k = 0; k < 4; k++)
      sums[k] += add[k];
  }
  for (size_t k = 0; k < 4; k++)
    at->sums[k][count] = sums[k];
  while (next <= PC_PREFIX_CELLS)
    at->cells[next++] = (uint32_t)count;
  at->begin[count] = at->scores;
  at->prefix = (pc_curve_prefix){
      .count = count,
      .begin = at->begin,
      .score = at->score,
      .hit = at->hit,
      .row = at->row,
      .weight = at->weight,
      .stride = PREFIX_STRIDE,
      .sums = {at->sums[0], at->sums[1], at->sums[2], at->sums[3]},
      .cells = at->cells,
  };
  at->short_way = (pc_curve_table){
      .form = PC_CURVE_REPLICA, .count = count, .total = sums[0], .prefix = &at->prefix};
}

static void prefix_table(prefix_case *at) {
  double score[2][PREFIX_SCORES], weight[2][PREFIX_SCORES];
  size_t count[2] = {0, 0};
  for (size_t i = 0; i < at->scores; i++) {
    const int hit = at->hit[i] > 0;
    if (prefix_weight(at, i) == 0)
      continue;
    score[hit][count[hit]] = at->score[i];
    weight[hit][count[hit]++] = prefix_weight(at, i);
  }
  const pc_outcome_column misses = {score[0], weight[0], count[0]};
  const pc_outcome_column hits = {score[1], weight[1], count[1]};
  const pcal_env env = pc_env_resolve(NULL);
  assert_int_equal(pc_curve_table_new(&env, &misses, &hits, &at->table, NULL), PCAL_OK);
}

static void prefix_same_bins(const pc_bin *a, const pc_bin *b, size_t count) {
  for (size_t i = 0; i < count; i++) {
    assert_same(a[i].weight, b[i].weight);
    assert_same(a[i].hits, b[i].hits);
    assert_same(a[i].score, b[i].score);
    assert_same(a[i].low, b[i].low);
    assert_same(a[i].high, b[i].high);
  }
}

static void prefix_check_bins(const prefix_case *at) {
  static const double thresholds[] = {0.0, 0.01, 0.25, 0.3, 0.999, 1.0};
  pc_bin a[PREFIX_BINS], b[PREFIX_BINS];
  for (size_t bins = 1; bins <= PREFIX_BINS; bins++) {
    size_t some = 0, others = 0;
    some = pc_bins_by_mass(&at->short_way, bins, a);
    others = pc_bins_by_mass(&at->table, bins, b);
    assert_int_equal(some, others);
    prefix_same_bins(a, b, some);
    for (size_t t = 0; t < UNIT_COUNT(thresholds); t++) {
      pc_bins_adaptive(&at->short_way, thresholds[t], bins, a);
      pc_bins_adaptive(&at->table, thresholds[t], bins, b);
      prefix_same_bins(a, b, bins);
    }
  }
}

static void prefix_check_gap(prefix_case *at) {
  const pc_gap other = pc_curve_gap(&at->table);
  for (int known = 0; known <= 1; known++) {
    at->prefix.sums.hit_scores = known ? at->sums[3] : NULL;
    const pc_gap gap = pc_curve_gap(&at->short_way);
    assert_same(gap.value, other.value);
    if (at->table.count == 0)
      assert_true(isnan(gap.at));
    else
      assert_same(gap.at, other.at);
  }
}

static void prefix_check_masses(const prefix_case *at) {
  const pcal_env env = pc_env_resolve(NULL);
  for (unsigned level = 0; level <= PC_PREFIX_LEVEL; level += 4) {
    pc_point_masses a, b;
    assert_int_equal(pc_point_masses_new(&env, &at->short_way, level, &a, NULL), PCAL_OK);
    assert_int_equal(pc_point_masses_new(&env, &at->table, level, &b, NULL), PCAL_OK);
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
      assert_near(a.at[i], b.at[i], 1e-15);
      assert_near(a.mass[i], b.mass[i], 1e-15);
    }
    assert_true(fabs(a.net - b.net) <= 1e-15 * b.size);
    assert_near(a.size, b.size, 1e-14);
    pc_point_masses_free(&env, &a);
    pc_point_masses_free(&env, &b);
  }
}

TEST(test_as_the_table_says) {
  static const size_t counts[] = {1, 2, 5, 40, PREFIX_SCORES};
  static const unsigned places[] = {1, 7, 64, 65};
  static const size_t lengths[] = {1, 10, 1000};
  static prefix_case at;
  const pcal_env env = pc_env_resolve(NULL);
  for (size_t c = 0; c < UNIT_COUNT(counts); c++)
    for (size_t p = 0; p < UNIT_COUNT(places); p++)
      for (size_t l = 0; l < UNIT_COUNT(lengths); l++)
        for (uint64_t seed = 0; seed < 5; seed++) {
          prefix_rows(&at, counts[c], places[p], seed);
          prefix_ranges(&at, lengths[l]);
          prefix_table(&at);
          prefix_check_bins(&at);
          prefix_check_gap(&at);
          if (lengths[l] == 1) /* then ranges are distinct scores, inside every cell */
            prefix_check_masses(&at);
          pc_curve_table_free(&env, &at.table);
        }
}

TEST(test_places) {
  static prefix_case at;
  prefix_rows(&at, 4, 4, 0); /* 0, 1/64, 2/64, 3/64 */
  for (size_t i = 0; i < 4; i++)
    at.weight[at.row[i] * PREFIX_STRIDE] = (float)(i == 1 ? 0 : i + 1); /* 1, 0, 3, 4 */
  prefix_ranges(&at, 1000);
  assert_same(pc_curve_prefix_total(&at.prefix), 8.0);
  assert_int_equal(pc_curve_prefix_seek(&at.prefix, 0.0).entry, 0);
  assert_true(pc_curve_prefix_seek(&at.prefix, 1.0).entry == 2);
  assert_true(pc_curve_prefix_seek(&at.prefix, 3.5).entry == 2);
  assert_true(pc_curve_prefix_seek(&at.prefix, 4.0).entry == 3);
  assert_true(pc_curve_prefix_seek(&at.prefix, 99.0).entry == 3);
  const pc_curve_cursor above = pc_curve_prefix_above(&at.prefix, 1.0 / 64);
  assert_int_equal(above.entry, 2);
  assert_same(above.rows, 1.0);
  assert_int_equal(pc_curve_prefix_above(&at.prefix, 0.5).entry, 4);
}
