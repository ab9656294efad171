/* Equal-mass bins of gap points from the cache against a walk over the curve. */
#include "unit.h"

#include "base/rng.h"
#include "curve/curve_bins.h"
#include "curve/mass_bin_cache.h"

#define CACHE_ROWS 300
#define CACHE_RANGE 7 /* rows of a range */
#define CACHE_BINS 64

/* A curve with ties, weights of the data and of a replica, and gaps of three kinds. */
typedef struct cache_case {
  size_t begin[CACHE_ROWS + 1];
  double score[CACHE_ROWS], hit[CACHE_ROWS];
  uint32_t row[CACHE_ROWS];
  float weight[CACHE_ROWS], drawn[CACHE_ROWS];
  double rows[CACHE_ROWS + 1], scores[CACHE_ROWS + 1], gap[PC_GAP_PARTS][CACHE_ROWS + 1];
  pc_prefix_gaps gaps;
  pc_curve_prefix prefix;
  pc_curve_table table;
} cache_case;

/* Sums before range r. */
static void cache_sum(cache_case *at, size_t r, size_t end) {
  for (size_t i = 0; i < end; i++) {
    const double w = (double)at->weight[i], v = (double)at->drawn[i], s = at->score[i];
    at->rows[r] += w;
    at->scores[r] += w * s;
    at->gap[PC_GAP_DATA][r] += w * (s - at->hit[i]);
    at->gap[PC_GAP_REPLICA][r] += v * (s - at->hit[i]);
    at->gap[PC_GAP_SHIFT][r] += w * pc_gap_tilt(s);
  }
}

static void cache_make(cache_case *at, uint64_t seed) {
  const pc_rng rng = {seed, 1};
  size_t count = 0;
  memset(at, 0, sizeof *at);
  for (size_t i = 0; i < CACHE_ROWS; i++) {
    at->score[i] = (double)(i / 3 * 3 + 1) / CACHE_ROWS;
    at->hit[i] = pc_rng_uniform(&rng, i) < at->score[i] ? 1.0 : 0.0;
    at->row[i] = (uint32_t)i;
    at->weight[i] = 1.0f + (float)(i % 2);
    at->drawn[i] = (float)(int)(3.0 * pc_rng_uniform(&rng, CACHE_ROWS + i));
  }
  for (size_t i = 0; i < CACHE_ROWS; i++)
    if (i == 0 || (i >= at->begin[count - 1] + CACHE_RANGE && i % 3 == 0)) {
      cache_sum(at, count, i);
      at->begin[count++] = i;
    }
  cache_sum(at, count, CACHE_ROWS);
  at->begin[count] = CACHE_ROWS;
  at->gaps.weight = at->weight;
  for (size_t p = 0; p < PC_GAP_PARTS; p++)
    at->gaps.gap[p] = at->gap[p];
  at->prefix = (pc_curve_prefix){.count = count,
                                 .begin = at->begin,
                                 .score = at->score,
                                 .hit = at->hit,
                                 .row = at->row,
                                 .weight = at->drawn,
                                 .stride = 1,
                                 .sums = {.rows = at->rows, .scores = at->scores},
                                 .gaps = &at->gaps};
  at->table = (pc_curve_table){.form = PC_CURVE_REPLICA,
                               .count = count,
                               .total = at->rows[count],
                               .prefix = &at->prefix};
}

static void cache_check(cache_case *at, pc_mass_bin_cache *cache, size_t bins) {
  static const double factors[][PC_GAP_PARTS] = {
      {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {-0.3, 1.3, 0.0}, {-1.0, 1.0, 0.2}};
  pc_bin got[CACHE_BINS], want[CACHE_BINS];
  for (size_t f = 0; f < UNIT_COUNT(factors); f++) {
    memcpy(at->gaps.factor, factors[f], sizeof at->gaps.factor);
    at->gaps.bins = NULL;
    const size_t count = pc_bins_by_mass(&at->table, bins, want);
    at->gaps.bins = cache;
    assert_int_equal(pc_bins_by_mass(&at->table, bins, got), count);
    for (size_t b = 0; b < count; b++) {
      assert_same(got[b].weight, want[b].weight);
      assert_same(got[b].score, want[b].score);
      assert_same(got[b].low, want[b].low);
      assert_same(got[b].high, want[b].high);
      assert_true(fabs(got[b].hits - want[b].hits) <= 1e-11);
    }
  }
}

TEST(test_bins_of_gap_points) {
  static cache_case at;
  const pcal_env env = pc_env_resolve(NULL);
  pc_mass_bin_cache *cache = NULL;
  assert_int_equal(pc_mass_bin_cache_new(&env, &cache, NULL), PCAL_OK);
  for (uint64_t seed = 1; seed <= 3; seed++) { /* hits and draws change, the data's gaps too */
    pc_mass_bin_cache_free(&env, cache);
    assert_int_equal(pc_mass_bin_cache_new(&env, &cache, NULL), PCAL_OK);
    cache_make(&at, seed);
    for (size_t bins = 1; bins <= CACHE_BINS; bins += 7)
      cache_check(&at, cache, bins);
    for (size_t i = 0; i < CACHE_ROWS; i++) /* a new replica of the same data */
      at.drawn[i] = (float)(i % 3);
    memset(at.gap[PC_GAP_REPLICA], 0, sizeof at.gap[PC_GAP_REPLICA]);
    for (size_t r = 0; r <= at.prefix.count; r++)
      for (size_t i = 0; i < at.begin[r]; i++)
        at.gap[PC_GAP_REPLICA][r] += (double)at.drawn[i] * (at.score[i] - at.hit[i]);
    pc_mass_bin_cache_renew(cache);
    for (size_t bins = 1; bins <= CACHE_BINS; bins += 7)
      cache_check(&at, cache, bins);
  }
  pc_mass_bin_cache_free(&env, cache);
}

/* More numbers of bins than are cached: the caller walks. */
TEST(test_full_cache) {
  static cache_case at;
  static pc_bin bins[PC_MASS_BIN_CACHE_BINS + 1];
  const pcal_env env = pc_env_resolve(NULL);
  pc_mass_bin_cache *cache = NULL;
  assert_int_equal(pc_mass_bin_cache_new(&env, &cache, NULL), PCAL_OK);
  cache_make(&at, 1);
  assert_int_equal(pc_mass_bin_cache_bins(cache, &at.table, 0, bins), 0);
  assert_int_equal(pc_mass_bin_cache_bins(cache, &at.table, PC_MASS_BIN_CACHE_BINS + 1, bins),
                   0);
  for (size_t number = 2; number < 18; number++)
    assert_true(pc_mass_bin_cache_bins(cache, &at.table, number, bins) > 0);
  assert_int_equal(pc_mass_bin_cache_bins(cache, &at.table, 18, bins), 0);
  cache_check(&at, cache, 18);
  cache_check(&at, cache, 17);
  pc_mass_bin_cache_free(&env, cache);
}
