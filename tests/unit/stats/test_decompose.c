#include "stats/decompose.h"

#include "../unit.h"
#include "base/rng.h"
#include "curve/corp_decomposition.h"
#include "curve/isotonic.h"

#define ROWS 200
#define BINS 5

/* Rows with their bins, and the same as sums. */
typedef struct rows {
  double p[ROWS], weight[ROWS];
  int hit[ROWS];
  double total;
  pc_bin bins[BINS];
  pc_bin_logs logs[BINS];
} rows;

static size_t bin_of(double p) {
  const size_t bin = (size_t)(p * BINS);
  return bin < BINS ? bin : BINS - 1;
}

static void rows_sum(rows *r) {
  r->total = 0;
  memset(r->bins, 0, sizeof r->bins);
  memset(r->logs, 0, sizeof r->logs);
  for (size_t i = 0; i < ROWS; i++) {
    const double p = r->p[i], w = r->weight[i];
    pc_bin *bin = &r->bins[bin_of(p)];
    pc_bin_logs *logs = &r->logs[bin_of(p)];
    bin->weight += w;
    bin->hits += w * r->hit[i];
    bin->score += w * p;
    bin->score_square += w * p * p;
    bin->score_hit += w * p * r->hit[i];
    logs->sum[r->hit[i] ? PC_LOG_HIT : PC_LOG_MISS] += w * log(p);
    logs->sum[r->hit[i] ? PC_LOG_REST_HIT : PC_LOG_REST_MISS] += w * log1p(-p);
    r->total += w;
  }
}

static void rows_random(rows *r, uint64_t seed) {
  const pc_rng rng = {seed, 1};
  for (size_t i = 0; i < ROWS; i++) {
    r->p[i] = 0.005 + 0.99 * pc_rng_uniform(&rng, i);
    r->hit[i] = pc_rng_uniform(&rng, 1000 + i) < 0.2 + 0.5 * r->p[i];
    r->weight[i] = 1 + (double)(pc_rng_bits(&rng, 2000 + i) % 3);
  }
  rows_sum(r);
}

/* The mean score of outcomes of rate q for the prediction p. */
static double mean_score(pc_binary_score score, double p, double q) {
  if (score == PC_BINARY_BRIER)
    return q * (1 - p) * (1 - p) + (1 - q) * p * p;
  return (q > 0 ? -q * log(p) : 0) - (q < 1 ? (1 - q) * log(1 - p) : 0);
}

static double sum_of(const pc_decomposition *d) {
  return d->calibration - d->sharpness + d->entropy + d->within_variance - d->within_covariance;
}

static double mean_outcome(const rows *r) {
  double hits = 0;
  for (size_t b = 0; b < BINS; b++)
    hits += r->bins[b].hits;
  return hits / r->total;
}

/* The parts row by row, as divergences of the score: what any proper score has. */
static pc_decomposition direct(const rows *r, pc_binary_score score) {
  pc_decomposition d = {0};
  const double y = mean_outcome(r);
  d.entropy = mean_score(score, y, y);
  for (size_t i = 0; i < ROWS; i++) {
    const pc_bin *bin = &r->bins[bin_of(r->p[i])];
    const double w = r->weight[i] / r->total, p = r->p[i], a = r->hit[i];
    const double c = bin->score / bin->weight, q = bin->hits / bin->weight;
    d.score += w * mean_score(score, p, a);
    d.calibration += w * (mean_score(score, c, q) - mean_score(score, q, q));
    d.sharpness += w * (mean_score(score, y, q) - mean_score(score, q, q));
    d.within_variance += w * (mean_score(score, p, q) - mean_score(score, c, q));
    d.within_covariance +=
        score == PC_BINARY_BRIER ? 2 * w * (p - c) * (a - q) : w * (a - q) * log(p / (1 - p));
  }
  return d;
}

static void check_same(const pc_decomposition *a, const pc_decomposition *b) {
  assert_near(a->score, b->score, 1e-13);
  assert_near(a->calibration, b->calibration, 1e-11);
  assert_near(a->sharpness, b->sharpness, 1e-11);
  assert_near(a->entropy, b->entropy, 1e-13);
  assert_near(a->within_variance, b->within_variance, 1e-11);
  assert_near(a->within_covariance, b->within_covariance, 1e-10);
}

TEST(bins_add_up) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    rows r;
    rows_random(&r, seed);
    pc_decomposition brier = {0}, logs = {0};
    pc_decompose_brier(r.bins, BINS, r.total, &brier);
    pc_decompose_log(r.bins, r.logs, BINS, r.total, &logs);
    const pc_decomposition brier_rows = direct(&r, PC_BINARY_BRIER);
    const pc_decomposition log_rows = direct(&r, PC_BINARY_LOG);
    check_same(&brier, &brier_rows);
    check_same(&logs, &log_rows);
    assert_near(sum_of(&brier), brier.score, 1e-14);
    assert_near(sum_of(&logs), logs.score, 1e-14);
    assert_near(brier.calibration_debiased - brier.sharpness_debiased + brier.entropy_debiased +
                    brier.within_variance - brier.within_covariance,
                brier.score, 1e-14);
  }
}

/* Bins of 2, 3 and 4 rows whose true rates are known: over all outcomes the debiased part is
 * right on average, and the plain one too large. */
TEST(debiased_calibration_has_no_bias) {
  static const double n[3] = {2, 3, 4}, rate[3] = {0.3, 0.5, 0.8}, p[3] = {0.25, 0.75, 0.5};
  static const double ways[5][5] = {{0}, {0}, {1, 2, 1}, {1, 3, 3, 1}, {1, 4, 6, 4, 1}};
  double truth = 0, plain = 0, debiased = 0;
  for (size_t b = 0; b < 3; b++)
    truth += n[b] / 9 * (p[b] - rate[b]) * (p[b] - rate[b]);
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 4; j++)
      for (size_t k = 0; k < 5; k++) {
        const double hits[3] = {(double)i, (double)j, (double)k};
        double chance = ways[2][i] * ways[3][j] * ways[4][k];
        pc_bin bins[3];
        for (size_t b = 0; b < 3; b++) {
          chance *= pow(rate[b], hits[b]) * pow(1 - rate[b], n[b] - hits[b]);
          bins[b] = (pc_bin){.weight = n[b],
                             .hits = hits[b],
                             .score = n[b] * p[b],
                             .score_square = n[b] * p[b] * p[b],
                             .score_hit = hits[b] * p[b]};
        }
        pc_decomposition d = {0};
        pc_decompose_brier(bins, 3, 9, &d);
        plain += chance * d.calibration;
        debiased += chance * d.calibration_debiased;
      }
  assert_near(debiased, truth, 1e-13);
  assert_true(plain > 1.5 * truth);
}

TEST(debiased_by_hand) {
  /* 4 rows at 0.9 with 2 hits, one at 0.1 that came true (all of it chance), none in the third
   * bin
   */
  const pc_bin bins[3] = {
      {.weight = 4, .hits = 2, .score = 3.6, .score_square = 3.24, .score_hit = 1.8},
      {.weight = 1, .hits = 1, .score = 0.1, .score_square = 0.01, .score_hit = 0.1},
      {.weight = 0}};
  pc_decomposition d = {0};
  pc_decompose_brier(bins, 3, 5, &d);
  assert_near(d.calibration, 0.8 * 0.16 + 0.2 * 0.81, 1e-14);
  assert_near(d.sharpness, 0.8 * 0.01 + 0.2 * 0.16, 1e-14);
  assert_near(d.entropy, 0.24, 1e-15);
  assert_near(d.calibration_debiased, 0.8 * (0.16 - 0.25 / 3), 1e-14);
  assert_near(d.sharpness_debiased, 0.8 * (0.01 - 0.25 / 3) + 0.2 * (0.16 - 0.81) + 0.24 / 4,
              1e-13);
  assert_near(d.entropy_debiased, 0.24 + 0.24 / 4, 1e-15);
  assert_near(d.score, (2 * 0.01 + 2 * 0.81 + 0.81) / 5, 1e-14);
  assert_near(d.calibration_debiased - d.sharpness_debiased + d.entropy_debiased +
                  d.within_variance - d.within_covariance,
              d.score, 1e-14);
}

TEST(one_row) {
  const pc_bin bin = {
      .weight = 1, .hits = 1, .score = 0.5, .score_square = 0.25, .score_hit = 0.5};
  const pc_bin_logs logs = {{log(0.5), 0, log(0.5), 0}};
  pc_decomposition brier = {0}, in_logs = {0};
  pc_decompose_brier(&bin, 1, 1, &brier);
  pc_decompose_log(&bin, &logs, 1, 1, &in_logs);
  assert_same(brier.score, 0.25);
  assert_same(brier.calibration, 0.25);
  assert_same(brier.entropy, 0.0);
  assert_same(brier.calibration_debiased, 0.0);
  assert_same(brier.sharpness_debiased, -0.25);
  assert_near(in_logs.score, log(2.0), 1e-15);
  assert_near(in_logs.calibration, log(2.0), 1e-15);
  assert_same(in_logs.sharpness, 0.0);
  assert_same(in_logs.within_variance, 0.0);
}

/* Rows at 0 that did not come true: the infinite term that the parts within bins share is left
 * out of both, and they add up. */
TEST(log_of_zero) {
  const pc_bin bins[2] = {{.weight = 3, .hits = 0, .score = 0},
                          {.weight = 1, .hits = 1, .score = 1}};
  const pc_bin_logs alone[2] = {{{0}, 1u << PC_LOG_MISS}, {{0}, 1u << PC_LOG_REST_HIT}};
  pc_decomposition d = {0};
  pc_decompose_log(bins, alone, 2, 4, &d);
  assert_same(d.score, 0.0);
  assert_same(d.calibration, 0.0);
  assert_same(d.within_variance, 0.0);
  assert_same(d.within_covariance, 0.0);
  assert_near(d.sharpness, d.entropy, 1e-15);
  const pc_bin mixed = {.weight = 4, .hits = 1, .score = 0.05};
  const pc_bin_logs beside = {{log(0.05), 0, log1p(-0.05), 0}, 1u << PC_LOG_MISS};
  d = (pc_decomposition){0};
  pc_decompose_log(&mixed, &beside, 1, 4, &d);
  assert_near(d.score, -log(0.05) / 4, 1e-15);
  assert_near(d.within_covariance, 0.75 * log(0.05 / 0.95) / 4, 1e-15);
  assert_near(sum_of(&d), d.score, 1e-15);
  const pc_bin_logs impossible = {{-INFINITY, 0, 0, 0}, 1u << PC_LOG_HIT};
  d = (pc_decomposition){0};
  pc_decompose_log(&mixed, &impossible, 1, 4, &d);
  assert_true(isinf(d.score) && d.score > 0);
}

/* Scores too near 0 or 1 for the rounded sums of a bin: each row alone is its bin's mean. */
TEST(log_of_tiny_scores) {
  const pc_bin low = {.weight = 1, .hits = 1, .score = 0};
  const pc_bin_logs at_low = {{log(1e-30), 0, -1e-30, 0}, 0};
  pc_decomposition d = {0};
  pc_decompose_log(&low, &at_low, 1, 1, &d);
  assert_near(d.calibration, -log(1e-30), 1e-13);
  assert_near(d.within_variance, 0.0, 1e-13);
  assert_near(sum_of(&d), -log(1e-30), 1e-14);
  const pc_bin high = {.weight = 100, .hits = 99, .score = 100};
  const pc_bin_logs at_high = {{0, 0, 0, log(0x1p-53)}, 1u << PC_LOG_REST_HIT};
  d = (pc_decomposition){0};
  pc_decompose_log(&high, &at_high, 1, 100, &d);
  assert_true(isfinite(d.calibration) && isfinite(d.within_variance));
  assert_near(d.calibration, -0.01 * (log(0x1p-53 / 100) - log(0.01)) + 0.99 * log(0.99),
              1e-13);
  assert_near(sum_of(&d), d.score, 1e-14);
}

/* ---- CORP ---- */

static pc_curve_table table_of(const rows *r, const pcal_env *env) {
  double score[2][ROWS], weight[2][ROWS];
  size_t count[2] = {0, 0};
  pc_curve_table table;
  for (size_t i = 0; i < ROWS; i++) {
    const int hit = r->hit[i];
    score[hit][count[hit]] = r->p[i];
    weight[hit][count[hit]++] = r->weight[i];
  }
  const pc_outcome_column misses = {score[0], weight[0], count[0]};
  const pc_outcome_column hits = {score[1], weight[1], count[1]};
  assert_int_equal(pc_curve_table_new(env, &misses, &hits, &table, NULL), PCAL_OK);
  return table;
}

/* The recalibrated probability of a row. */
static double fitted(const pc_isotonic *fit, double p) {
  size_t b = 0;
  while (fit->blocks[b].high < p)
    b++;
  return pc_isotonic_value(&fit->blocks[b]);
}

TEST(corp_adds_up) {
  const pcal_env env = pc_env_resolve(NULL);
  for (uint64_t seed = 0; seed < 40; seed++) {
    rows r;
    rows_random(&r, seed);
    for (size_t i = 0; i < ROWS; i += 2)
      r.p[i] = 0.1 + floor(r.p[i] * 8) / 10; /* ties */
    rows_sum(&r);
    pc_curve_table table = table_of(&r, &env);
    pc_isotonic fit;
    assert_int_equal(pc_isotonic_fit(&env, &table, &fit, NULL), PCAL_OK);
    const double y = mean_outcome(&r);
    for (int s = PC_BINARY_BRIER; s <= PC_BINARY_LOG; s++) {
      const pc_binary_score score = (pc_binary_score)s;
      pc_decomposition d = {0};
      double given = 0, best = 0, constant = 0;
      for (size_t i = 0; i < ROWS; i++) {
        const double w = r.weight[i] / r.total;
        given += w * mean_score(score, r.p[i], r.hit[i]);
        best += w * mean_score(score, fitted(&fit, r.p[i]), r.hit[i]);
        constant += w * mean_score(score, y, r.hit[i]);
      }
      assert_int_equal(pc_decompose_corp(&env, &table, score, &d, NULL), PCAL_OK);
      assert_near(d.score, given, 1e-13);
      assert_near(d.calibration, given - best, 1e-11);
      assert_near(d.sharpness, constant - best, 1e-11);
      assert_near(d.entropy, constant, 1e-13);
      assert_near(sum_of(&d), d.score, 1e-14);
      assert_true(d.calibration > 0 && d.sharpness > 0);
    }
    pc_isotonic_free(&env, &fit);
    pc_curve_table_free(&env, &table);
  }
}

/* Predictions that are right, apart and in order have nothing to repair. */
TEST(corp_of_the_perfect) {
  const pcal_env env = pc_env_resolve(NULL);
  double score[2] = {0, 1}, weight[2] = {3, 5}, hits[2] = {0, 5};
  const pc_curve_table table = {
      .count = 2, .score = score, .weight = weight, .hits = hits, .total = 8};
  for (int s = PC_BINARY_BRIER; s <= PC_BINARY_LOG; s++) {
    pc_decomposition d = {0};
    assert_int_equal(pc_decompose_corp(&env, &table, (pc_binary_score)s, &d, NULL), PCAL_OK);
    assert_same(d.score, 0.0);
    assert_same(d.calibration, 0.0);
    assert_same(d.sharpness, d.entropy);
  }
  hits[0] = 1; /* a score of 0 came true */
  pc_decomposition d = {0};
  assert_int_equal(pc_decompose_corp(&env, &table, PC_BINARY_LOG, &d, NULL), PCAL_OK);
  assert_true(isinf(d.score));
  d = (pc_decomposition){0};
  assert_int_equal(pc_decompose_corp(&env, &table, PC_BINARY_BRIER, &d, NULL), PCAL_OK);
  assert_near(d.score, 1.0 / 8, 1e-15);
}

/* Constant predictions have no sharpness, whatever the rate. */
TEST(corp_of_a_constant) {
  const pcal_env env = pc_env_resolve(NULL);
  double score = 0.3, weight = 7, hits = 3;
  const pc_curve_table table = {
      .count = 1, .score = &score, .weight = &weight, .hits = &hits, .total = 7};
  for (int s = PC_BINARY_BRIER; s <= PC_BINARY_LOG; s++) {
    pc_decomposition d = {0};
    assert_int_equal(pc_decompose_corp(&env, &table, (pc_binary_score)s, &d, NULL), PCAL_OK);
    assert_same(d.sharpness, 0.0);
    assert_near(d.calibration,
                mean_score((pc_binary_score)s, 0.3, 3.0 / 7) -
                    mean_score((pc_binary_score)s, 3.0 / 7, 3.0 / 7),
                1e-13);
  }
}

static pcal_status corp_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_decomposition d = {0};
  return pc_decompose_corp(env, user, PC_BINARY_LOG, &d, err);
}

TEST(memory_may_run_out) {
  const pcal_env env = pc_env_resolve(NULL);
  rows r;
  rows_random(&r, 3);
  pc_curve_table table = table_of(&r, &env);
  unit_fail_each_allocation(corp_scenario, &table);
  pc_curve_table_free(&env, &table);
}
