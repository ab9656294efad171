/* Scores divided by ranges: every score once, in the range of its bucket, for any number of threads. */
#include "../unit.h"

#include "base/sum.h"
#include "curve/score_partition.h"

#define PARTITION_ROWS 200000

static void partition_draw(double *score, size_t count, uint64_t seed) {
  static const double odd[] = {0.0, -0.0, 1.0, -1e-9, 1.0 + 1e-9, 0x1p-40, 0.5};
  for (size_t i = 0; i < count; i++) {
    const uint64_t bits = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) + seed;
    const double unit = (double)((bits ^ bits >> 31) >> 11) * 0x1p-53;
    score[i] = i % 1000 < UNIT_COUNT(odd) ? odd[i % 1000] : 1.0 - unit * unit * unit;
  }
}

/* The first pass over both columns. */
static pc_bucket_curve partition_curve(const pcal_env *env,
                                       const pc_outcome_column *const columns[2]) {
  pc_bucket_tally tally;
  pc_bucket_curve curve;
  assert_int_equal(pc_bucket_tally_new(env, NULL, &tally, NULL), PCAL_OK);
  for (int hit = 0; hit < 2; hit++)
    assert_int_equal(
        pc_bucket_tally_add_column(&tally, columns[hit]->score, columns[hit]->count, hit, NULL),
        PCAL_OK);
  assert_int_equal(pc_bucket_curve_new(env, &tally, &curve, NULL), PCAL_OK);
  pc_bucket_tally_free(&tally);
  return curve;
}

static void partition_same_scores(const double *want, const double *got, size_t count) {
  pc_sum sums[2];
  pc_sum_clear(&sums[0]);
  pc_sum_clear(&sums[1]);
  for (size_t i = 0; i < count; i++) { /* exact sums of scores and of their squares */
    pc_sum_add(&sums[0], want[i]);
    pc_sum_add_product(&sums[0], want[i], want[i]);
    pc_sum_add(&sums[1], got[i]);
    pc_sum_add_product(&sums[1], got[i], got[i]);
  }
  assert_true(pc_sum_equal(&sums[0], &sums[1]));
}

static void partition_try(unsigned threads, size_t misses, size_t hits) {
  static double score[2][PARTITION_ROWS];
  pcal_env env = pc_env_resolve(NULL);
  env.threads = threads;
  partition_draw(score[0], misses, 1);
  partition_draw(score[1], hits, 2);
  const pc_outcome_column column[2] = {{score[0], NULL, misses}, {score[1], NULL, hits}};
  const pc_outcome_column *const columns[2] = {&column[0], &column[1]};
  pc_bucket_curve curve = partition_curve(&env, columns);
  pc_score_partition parts;
  assert_int_equal(pc_score_partition_new(&env, columns, &curve, &parts, NULL), PCAL_OK);
  size_t last = 0; /* no bucket is in two ranges */
  for (size_t range = 0; range < PC_SCORE_RANGES; range++) {
    size_t low = SIZE_MAX, high = 0;
    for (int hit = 0; hit < 2; hit++)
      for (size_t i = parts.begin[hit][range]; i < parts.begin[hit][range + 1]; i++) {
        const size_t bucket = pc_bucket_of(&curve.layout, parts.score[i] + 0.0);
        low = bucket < low ? bucket : low;
        high = bucket > high ? bucket : high;
      }
    if (low == SIZE_MAX)
      continue;
    assert_true(range == 0 || last == 0 || low > last);
    last = high;
  }
  for (int hit = 0; hit < 2; hit++) {
    const size_t begin = parts.begin[hit][0];
    assert_int_equal(parts.begin[hit][PC_SCORE_RANGES] - begin, column[hit].count);
    partition_same_scores(column[hit].score, parts.score + begin, column[hit].count);
  }
  pc_score_partition_free(&env, &parts);
  pc_bucket_curve_free(&curve);
}

TEST(test_every_score_once) {
  partition_try(1, PARTITION_ROWS, PARTITION_ROWS);
  partition_try(5, PARTITION_ROWS, 70000);
}

TEST(test_one_outcome) {
  partition_try(2, 0, PARTITION_ROWS);
  partition_try(2, 3, 0);
}
