/* A coarse curve, refined until a metric wants nothing more, gives the bits of the full one:
 * for friendly and for hostile scores, whether scores are kept or segments divided again. */
#include "unit.h"

#include "base/rng.h"
#include "curve/bucket_curve.h"
#include "curve/curve_bins.h"
#include "curve/curve_gap.h"
#include "curve/point_masses.h"
#include "emulated.h"

#define COARSE_ROWS 20000

typedef double (*buckets_score)(double u, uint64_t i);

static double buckets_uniform(double u, uint64_t i) {
  (void)i;
  return u;
}

static double buckets_equal(double u, uint64_t i) {
  (void)u;
  (void)i;
  return 0.5;
}

static double buckets_near_one(double u, uint64_t i) {
  (void)i;
  return 1 - 1e-9 * u;
}

static double buckets_tiny(double u, uint64_t i) {
  (void)i;
  return ldexp(u, -(int)(1070 * u));
}

static double buckets_ties(double u, uint64_t i) {
  (void)i;
  return floor(u * 7) / 7;
}

static double buckets_signs(double u, uint64_t i) {
  return i % 3 == 0 ? -0.0 : i % 3 == 1 ? 0.0 : -1e-6 * u;
}

static double buckets_float32(double u, uint64_t i) {
  (void)i;
  return (double)(float)(0.4 + 0.01 * u);
}

static double buckets_neighbours(double u, uint64_t i) {
  return nextafter(0.25, u < 0.5 ? 0.0 : 1.0) + (i % 2 == 0 ? 0.0 : 0x1p-53);
}

static const buckets_score buckets_kinds[] = {
    buckets_uniform, buckets_equal, buckets_near_one,   buckets_tiny,
    buckets_ties,    buckets_signs, buckets_neighbours, buckets_float32};

typedef struct buckets_data {
  double score[COARSE_ROWS];
  uint8_t hit[COARSE_ROWS];
} buckets_data;

static void buckets_draw(buckets_score kind, buckets_data *data) {
  const pc_rng rng = {5, 1}, other = {5, 2};
  for (uint64_t i = 0; i < COARSE_ROWS; i++) {
    data->score[i] = kind(pc_rng_uniform(&rng, i), i);
    data->hit[i] = pc_rng_uniform(&other, i) < 0.2 + 0.7 * data->score[i];
  }
}

static void buckets_full(const pcal_env *env, const buckets_data *data, pc_curve_table *out) {
  double *column[2] = {malloc(sizeof data->score), malloc(sizeof data->score)};
  size_t count[2] = {0, 0};
  for (size_t i = 0; i < COARSE_ROWS; i++)
    column[data->hit[i]][count[data->hit[i]]++] = data->score[i];
  const pc_outcome_column misses = {column[0], NULL, count[0]};
  const pc_outcome_column hits = {column[1], NULL, count[1]};
  assert_int_equal(pc_curve_table_new(env, &misses, &hits, out, NULL), PCAL_OK);
  free(column[0]);
  free(column[1]);
}

/* One pass in two halves, merged the wrong way round. */
static pcal_status buckets_pass(const pcal_env *env, const buckets_data *data,
                                const pc_refine_targets *targets, pc_bucket_tally *out,
                                pcal_error *err) {
  const size_t half = COARSE_ROWS / 3;
  pc_bucket_tally first = {0};
  pcal_status status = pc_bucket_tally_new(env, targets, out, err);
  if (status == PCAL_OK)
    status = pc_bucket_tally_new(env, targets, &first, err);
  if (status == PCAL_OK)
    status = pc_bucket_tally_add(&first, data->score, data->hit, half, err);
  if (status == PCAL_OK)
    status =
        pc_bucket_tally_add(out, data->score + half, data->hit + half, COARSE_ROWS - half, err);
  if (status == PCAL_OK)
    status = pc_bucket_tally_prepare(out, &first, err);
  if (status == PCAL_OK)
    pc_bucket_tally_merge(out, &first);
  pc_bucket_tally_free(&first);
  return status;
}

typedef struct buckets_question {
  const buckets_data *data;
  uint64_t keep;
  size_t bins;    /* 0: the gap */
  unsigned level; /* not 0: cells */
  int all_float32;
  int passes;
  pc_bucket_curve coarse;
  pc_curve_table table; /* of coarse */
} buckets_question;

static pcal_status buckets_once(const pcal_env *env, buckets_question *q, int *more,
                                pcal_error *err) {
  pc_bucket_curve *coarse = &q->coarse;
  uint8_t *wanted = pc_alloc(env, coarse->count, 1);
  pcal_status status = wanted == NULL ? pc_fail_memory(err, "testing") : PCAL_OK;
  size_t wants = 0;
  q->table = pc_bucket_curve_table(coarse);
  if (status == PCAL_OK)
    wants = q->level > 0  ? pc_point_masses_wants(&q->table, q->level, NULL)
            : q->bins > 0 ? pc_bins_by_mass_wants(&q->table, q->bins, wanted)
                          : pc_curve_gap_wants(&q->table, wanted);
  *more = wants > 0;
  pc_refine_targets targets = {0};
  pc_bucket_tally tally = {0};
  const pc_refine_request wish = {
      .wanted = wanted, .keep_limit = q->keep, .all_float32 = q->all_float32, .workers = 2};
  if (status == PCAL_OK && *more)
    status = q->level > 0
                 ? pc_bucket_curve_cell_targets(coarse, q->level, SIZE_MAX, &targets, err)
                 : pc_bucket_curve_targets(coarse, &wish, &targets, err);
  if (status == PCAL_OK && *more)
    status = buckets_pass(env, q->data, &targets, &tally, err);
  if (status == PCAL_OK && *more)
    status = pc_bucket_curve_refine(coarse, &tally, err);
  pc_bucket_tally_free(&tally);
  pc_refine_targets_free(&targets);
  pc_free(env, wanted);
  return status;
}

/* Leaves the curve and its table in q when it went well. */
static pcal_status buckets_ask(const pcal_env *env, buckets_question *q, pcal_error *err) {
  pc_bucket_tally tally = {0};
  pcal_status status = buckets_pass(env, q->data, NULL, &tally, err);
  if (status == PCAL_OK)
    status = pc_bucket_curve_new(env, &tally, &q->coarse, err);
  pc_bucket_tally_free(&tally);
  q->passes = 0;
  for (int more = 1; status == PCAL_OK && more; q->passes++)
    status = buckets_once(env, q, &more, err);
  if (status != PCAL_OK)
    pc_bucket_curve_free(&q->coarse);
  return status;
}

TEST(test_gap_has_the_same_bits) {
  const pcal_env env = pc_env_resolve(NULL);
  static buckets_data data;
  for (size_t k = 0; k < UNIT_COUNT(buckets_kinds); k++)
    for (uint64_t keep = 0; keep <= 100000; keep += 100000) {
      buckets_draw(buckets_kinds[k], &data);
      pc_curve_table full;
      buckets_full(&env, &data, &full);
      buckets_question q = {
          .data = &data, .keep = keep, .all_float32 = buckets_kinds[k] == buckets_float32};
      assert_int_equal(buckets_ask(&env, &q, NULL), PCAL_OK);
      const pc_gap want = pc_curve_gap(&full), got = pc_curve_gap(&q.table);
      assert_true(want.value == got.value && want.at == got.at);
      assert_true(q.passes <= 8);
      pc_curve_table_free(&env, &full);
      pc_bucket_curve_free(&q.coarse);
    }
}

static void buckets_compare_bins(const pc_curve_table *a, const pc_curve_table *b,
                                 size_t bins) {
  pc_bin want[64], got[64];
  const size_t want_count = pc_bins_by_mass(a, bins, want);
  const size_t got_count = pc_bins_by_mass(b, bins, got);
  assert_int_equal(want_count, got_count);
  for (size_t i = 0; i < want_count; i++) {
    assert_true(want[i].low == got[i].low && want[i].high == got[i].high);
    assert_true(want[i].weight == got[i].weight && want[i].hits == got[i].hits);
    assert_true(want[i].score == got[i].score);
    assert_true(isnan(got[i].score_square) && isnan(got[i].score_hit));
  }
}

TEST(test_mass_bins_have_the_same_bits) {
  const pcal_env env = pc_env_resolve(NULL);
  static const size_t counts[] = {1, 2, 15, 64};
  static buckets_data data;
  for (size_t k = 0; k < UNIT_COUNT(buckets_kinds); k++)
    for (size_t c = emulated() ? 2 : 0; c < UNIT_COUNT(counts); c += emulated() ? 2 : 1)
      for (uint64_t keep = 0; keep <= 100000; keep += 100000) {
        buckets_draw(buckets_kinds[k], &data);
        pc_curve_table full;
        buckets_full(&env, &data, &full);
        buckets_question q = {.data = &data,
                              .keep = keep,
                              .bins = counts[c],
                              .all_float32 = buckets_kinds[k] == buckets_float32};
        assert_int_equal(buckets_ask(&env, &q, NULL), PCAL_OK);
        buckets_compare_bins(&full, &q.table, counts[c]);
        assert_true(q.passes <= 8);
        pc_curve_table_free(&env, &full);
        pc_bucket_curve_free(&q.coarse);
      }
}

/* Two passes at the most, whatever the cells and the scores. */
TEST(test_cells_have_the_same_bits) {
  const pcal_env env = pc_env_resolve(NULL);
  static buckets_data data;
  for (size_t k = 0; k < UNIT_COUNT(buckets_kinds); k++)
    for (unsigned level = 13; level <= 19; level += emulated() ? 6 : 2) {
      buckets_draw(buckets_kinds[k], &data);
      pc_curve_table full;
      pc_point_masses want, got;
      buckets_full(&env, &data, &full);
      buckets_question q = {.data = &data, .level = level};
      assert_int_equal(buckets_ask(&env, &q, NULL), PCAL_OK);
      assert_true(q.passes <= 2);
      assert_int_equal(pc_point_masses_new(&env, &full, level, &want, NULL), PCAL_OK);
      assert_int_equal(pc_point_masses_new(&env, &q.table, level, &got, NULL), PCAL_OK);
      assert_int_equal(got.count, want.count);
      if (want.count > 0) {
        assert_memory_equal(got.at, want.at, want.count * sizeof *want.at);
        assert_memory_equal(got.mass, want.mass, want.count * sizeof *want.mass);
      }
      pc_point_masses_free(&env, &want);
      pc_point_masses_free(&env, &got);
      pc_curve_table_free(&env, &full);
      pc_bucket_curve_free(&q.coarse);
    }
}

/* Bins whose edges no score decides need the first pass only; few scores are found in the
 * second. */
TEST(test_no_more_passes_than_needed) {
  const pcal_env env = pc_env_resolve(NULL);
  static buckets_data data;
  buckets_draw(buckets_uniform, &data);
  buckets_question q = {.data = &data, .bins = 1};
  assert_int_equal(buckets_ask(&env, &q, NULL), PCAL_OK);
  assert_int_equal(q.passes, 1);
  pc_bucket_curve_free(&q.coarse);
  buckets_draw(buckets_ties, &data);
  q = (buckets_question){.data = &data};
  assert_int_equal(buckets_ask(&env, &q, NULL), PCAL_OK);
  assert_int_equal(q.passes, 2);
  assert_int_equal(q.table.count, 7);
  pc_bucket_curve_free(&q.coarse);
}

/* Scores of float32 need not be kept to be known after the second pass. */
TEST(test_float32_scores_are_counted) {
  const pcal_env env = pc_env_resolve(NULL);
  static buckets_data data;
  for (size_t bins = 0; bins <= 15; bins += 15)
    for (int float32 = 0; float32 <= 1; float32++) {
      buckets_draw(buckets_float32, &data);
      buckets_question q = {.data = &data, .bins = bins, .all_float32 = float32};
      assert_int_equal(buckets_ask(&env, &q, NULL), PCAL_OK);
      assert_true(float32 ? q.passes == 2 : q.passes >= 2);
      for (size_t i = 0; i < q.table.count; i++)
        assert_true(pc_curve_table_open(&q.table, i) ||
                    (double)(float)q.coarse.segments[i].low == q.coarse.segments[i].low);
      pc_bucket_curve_free(&q.coarse);
    }
}

/* Every 16-bit float from 2^-6 to 1, one to three times: a segment is closed exactly if all its rows have one
 * score, which is then its own, and from 2^-4 on all are. */
TEST(test_float16_are_single_scores) {
  const pcal_env env = pc_env_resolve(NULL);
  static double score[3 * 6 * 1024 + 3];
  static uint8_t hit[UNIT_COUNT(score)];
  size_t rows = 0, closed = 0, at = 0;
  for (int bits = 9 << 10; bits <= 15 << 10; bits++)
    for (int copy = 0; copy < 1 + bits % 3; copy++)
      score[rows++] = ldexp(1024 + bits % 1024, (bits >> 10) - 25);
  pc_bucket_tally tally;
  pc_bucket_curve curve;
  assert_int_equal(pc_bucket_tally_new(&env, NULL, &tally, NULL), PCAL_OK);
  assert_int_equal(pc_bucket_tally_add(&tally, score, hit, rows, NULL), PCAL_OK);
  assert_int_equal(pc_bucket_curve_new(&env, &tally, &curve, NULL), PCAL_OK);
  pc_bucket_curve_close_float16(&curve);
  for (size_t i = 0; i < curve.count; i++) {
    const pc_segment *segment = &curve.segments[i];
    const size_t first = at;
    at += segment->rows;
    closed += segment->low == segment->high;
    assert_true(segment->low != segment->high || score[first] == score[at - 1]);
    assert_true(segment->low != segment->high || score[first] == segment->low);
    assert_true(score[first] < 0x1p-4 || segment->low == segment->high);
  }
  assert_int_equal(at, rows);
  assert_int_equal(closed, 4 * 1024 + 1);
  pc_bucket_curve_free(&curve);
  pc_bucket_tally_free(&tally);
}

/* One pass separates scores at given ends, whether their segments are otherwise wanted or not,
 * and loses nothing. */
static void buckets_cut_at(const pcal_env *env, const buckets_data *data,
                           pc_refine_request wish) {
  pc_bucket_tally first = {0}, second = {0};
  pc_bucket_curve coarse = {0};
  pc_refine_targets targets = {0};
  assert_int_equal(buckets_pass(env, data, NULL, &first, NULL), PCAL_OK);
  assert_int_equal(pc_bucket_curve_new(env, &first, &coarse, NULL), PCAL_OK);
  uint8_t *marks = calloc(coarse.count, 1);
  memset(marks, wish.wanted != NULL, coarse.count);
  wish.wanted = marks;
  assert_int_equal(pc_bucket_curve_targets(&coarse, &wish, &targets, NULL), PCAL_OK);
  assert_int_equal(buckets_pass(env, data, &targets, &second, NULL), PCAL_OK);
  assert_int_equal(pc_bucket_curve_refine(&coarse, &second, NULL), PCAL_OK);
  assert_int_equal(pc_bucket_curve_count_cut(&coarse, wish.ends, wish.end_count), 0);
  for (size_t e = 0; e < wish.end_count; e++) {
    uint64_t below = 0, found = 0;
    pc_fixed score = {0}, found_score = {0};
    pc_int128 square = 0, found_square = 0;
    for (size_t i = 0; i < COARSE_ROWS; i++)
      if (data->score[i] <= wish.ends[e]) {
        below++;
        pc_fixed_add(&score, data->score[i]);
        square += (int64_t)(data->score[i] * data->score[i] * 0x1p53);
      }
    for (size_t i = 0; i < coarse.count && coarse.segments[i].high <= wish.ends[e]; i++) {
      found += coarse.segments[i].rows;
      found_score.units += coarse.segments[i].score.units;
      found_square += coarse.segments[i].square;
    }
    assert_int_equal(below, found);
    assert_true(score.units == found_score.units && square == found_square);
  }
  free(marks);
  pc_bucket_tally_free(&first);
  pc_bucket_tally_free(&second);
  pc_refine_targets_free(&targets);
  pc_bucket_curve_free(&coarse);
}

TEST(test_segments_are_cut_at_ends) {
  const pcal_env env = pc_env_resolve(NULL);
  static buckets_data data;
  const double ends[] = {
      -0x1p-1074,          0.0, 0x1p-80, 0.1, 0.25, 1.0 / 3, 0.4050001, 0.5, 0.50001, 1 - 5e-10,
      nextafter(1.0, 0.0), 1.0, 1.00002};
  for (size_t k = 0; k < UNIT_COUNT(buckets_kinds); k++)
    for (uint64_t keep = 0; keep <= 100000; keep += 100000)
      for (int wanted = 0; wanted <= 1; wanted++) {
        buckets_draw(buckets_kinds[k], &data);
        const pc_refine_request wish = {.wanted = wanted ? data.hit : NULL,
                                        .ends = ends,
                                        .end_count = UNIT_COUNT(ends),
                                        .keep_limit = keep,
                                        .all_float32 = buckets_kinds[k] == buckets_float32};
        buckets_cut_at(&env, &data, wish);
      }
}

/* Data that change between two passes are noticed. */
TEST(test_other_rows_are_refused) {
  const pcal_env env = pc_env_resolve(NULL);
  static buckets_data data;
  for (uint64_t keep = 0; keep <= 100000; keep += 100000)
    for (int float32 = 0; float32 <= 1; float32++) {
      pc_bucket_tally first = {0}, second = {0};
      pc_bucket_curve coarse = {0};
      pc_refine_targets targets = {0};
      pcal_error err;
      buckets_draw(buckets_float32, &data);
      assert_int_equal(buckets_pass(&env, &data, NULL, &first, NULL), PCAL_OK);
      assert_int_equal(pc_bucket_curve_new(&env, &first, &coarse, NULL), PCAL_OK);
      uint8_t *marks = calloc(coarse.count, 1);
      marks[coarse.count / 2] = 1;
      const pc_refine_request wish = {
          .wanted = marks, .keep_limit = keep, .all_float32 = float32};
      assert_int_equal(pc_bucket_curve_targets(&coarse, &wish, &targets, NULL), PCAL_OK);
      const size_t before = coarse.count;
      const double moved = coarse.segments[before / 2].low;
      for (size_t i = 0; i < COARSE_ROWS; i++)
        data.score[i] = data.score[i] >= moved ? 0.9 : data.score[i];
      assert_int_equal(buckets_pass(&env, &data, &targets, &second, NULL), PCAL_OK);
      assert_int_equal(pc_bucket_curve_refine(&coarse, &second, &err), PCAL_IO);
      assert_string_equal(err.message, "the data changed while they were being read; try again "
                                       "when nothing writes to them");
      assert_int_equal(coarse.count, before);
      free(marks);
      pc_bucket_tally_free(&first);
      pc_bucket_tally_free(&second);
      pc_refine_targets_free(&targets);
      pc_bucket_curve_free(&coarse);
    }
}

static pcal_status buckets_scenario(const pcal_env *env, void *user, pcal_error *err) {
  buckets_question *q = user;
  PC_TRY(buckets_ask(env, q, err));
  pc_bucket_curve_free(&q->coarse);
  return PCAL_OK;
}

TEST(test_every_allocation_may_fail) {
  static buckets_data data;
  buckets_draw(buckets_uniform, &data);
  for (uint64_t keep = 0; keep <= 100000; keep += 100000) {
    buckets_question q = {.data = &data, .keep = keep, .bins = 15};
    unit_fail_each_allocation(buckets_scenario, &q);
  }
  buckets_question cells = {.data = &data, .level = 16};
  unit_fail_each_allocation(buckets_scenario, &cells);
}
