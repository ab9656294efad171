/* The sums of the first pass, kept modulo 2^64, against sums in 128 bits taken row by row. */
#include "unit.h"

#include "base/rng.h"
#include "curve/bucket_tally.h"

#define TALLY_ROWS 5000

typedef double (*tally_score)(double u, uint64_t i);

static double tally_uniform(double u, uint64_t i) {
  (void)i;
  return u;
}

static double tally_narrow(double u, uint64_t i) {
  (void)i;
  return (double)(float)u;
}

static double tally_tiny(double u, uint64_t i) {
  return ldexp(u, -(int)(i % 1070));
}

static double tally_near_one(double u, uint64_t i) {
  return i % 2 == 0 ? 1 - 1e-7 * u : 1 + 1e-5 * u;
}

static double tally_outside(double u, uint64_t i) {
  return i % 2 == 0 ? -1e-5 * u : 1 + 2.9 * u;
}

/* Edges of buckets and their neighbours. */
static double tally_edges(double u, uint64_t i) {
  const double edge = floor(u * 16384) / 16384;
  return i % 3 == 0 ? edge : nextafter(edge, i % 3 == 1 ? 2.0 : -1.0);
}

static double tally_last(double u, uint64_t i) {
  (void)u;
  return i % 2 == 0 ? 1.0 : nextafter(1.0, 0.0);
}

static double tally_zero(double u, uint64_t i) {
  return i % 3 == 0 ? 0.0 : i % 3 == 1 ? -0.0 : ldexp(-u, -60);
}

static const tally_score tally_kinds[] = {tally_uniform,  tally_narrow,  tally_tiny,
                                          tally_near_one, tally_outside, tally_edges,
                                          tally_last,     tally_zero};

typedef struct tally_data {
  double score[TALLY_ROWS];
  uint8_t hit[TALLY_ROWS];
} tally_data;

static void tally_draw(tally_score kind, tally_data *data) {
  const pc_rng rng = {31, 1}, other = {31, 2};
  for (uint64_t i = 0; i < TALLY_ROWS; i++) {
    data->score[i] = kind(pc_rng_uniform(&rng, i), i);
    data->hit[i] = pc_rng_uniform(&other, i) < 0.3;
  }
}

/* Where a score belongs, by another way than the tally's. */
static size_t tally_stretch_of(double score) {
  if (score <= -0x1p-61)
    return 0;
  const double place = floor(score < 0 ? 0.0 : score * 16384);
  return place > 16384 ? PC_BUCKETS_AND_OUTSIDE - 1 : (size_t)place + 1;
}

/* The part of a score below 2^-53, in units of 2^-61. */
static int64_t tally_rest(double score) {
  return (int64_t)(score * 0x1p61) - (int64_t)(score * 0x1p53) * 256;
}

static void tally_expect(const tally_data *data, uint64_t copies, pc_segment *out) {
  for (size_t s = 0; s < PC_BUCKETS_AND_OUTSIDE; s++)
    out[s] = pc_segment_none;
  for (size_t i = 0; i < TALLY_ROWS; i++) {
    pc_segment *segment = &out[tally_stretch_of(data->score[i])];
    const pc_int128 units = (int64_t)(data->score[i] * 0x1p61) * (pc_int128)copies;
    const double square = data->score[i] * data->score[i];
    segment->rows += copies;
    segment->hits += data->hit[i] ? copies : 0;
    segment->score.units += units;
    segment->hit_score.units += data->hit[i] ? units : 0;
    segment->square += (int64_t)(square * 0x1p53) * (pc_int128)copies;
    segment->rest += tally_rest(data->score[i]) * (pc_int128)copies;
    segment->low = fmin(segment->low, data->score[i]);
    segment->high = fmax(segment->high, data->score[i]);
  }
}

/* Bounds need only hold. */
static void tally_compare(const pc_bucket_tally *tally, const pc_segment *expected) {
  for (size_t s = 0; s < PC_BUCKETS_AND_OUTSIDE; s++) {
    const pc_segment got = pc_bucket_tally_segment(tally, s);
    assert_int_equal(got.rows, expected[s].rows);
    assert_int_equal(got.hits, expected[s].hits);
    assert_true(got.score.units == expected[s].score.units);
    assert_true(got.hit_score.units == expected[s].hit_score.units);
    assert_true(got.square == expected[s].square);
    assert_true(got.rest == expected[s].rest);
    assert_true(got.low <= expected[s].low && got.high >= expected[s].high);
  }
}

static pc_bucket_tally tally_made(const pcal_env *env, const pc_refine_targets *targets) {
  pc_bucket_tally tally;
  assert_int_equal(pc_bucket_tally_new(env, targets, &tally, NULL), PCAL_OK);
  return tally;
}

static void tally_fill(pc_bucket_tally *tally, const tally_data *data, size_t begin,
                       size_t count) {
  assert_int_equal(
      pc_bucket_tally_add(tally, data->score + begin, data->hit + begin, count, NULL), PCAL_OK);
}

static pc_segment tally_expected[PC_BUCKETS_AND_OUTSIDE];

TEST(test_sums_are_exact) {
  const pcal_env env = pc_env_resolve(NULL);
  static tally_data data;
  for (size_t k = 0; k < UNIT_COUNT(tally_kinds); k++) {
    tally_draw(tally_kinds[k], &data);
    tally_expect(&data, 1, tally_expected);
    pc_bucket_tally tally = tally_made(&env, NULL);
    tally_fill(&tally, &data, 0, TALLY_ROWS);
    tally_compare(&tally, tally_expected);
    pc_bucket_tally_clear(&tally);
    tally_fill(&tally, &data, 0, TALLY_ROWS);
    tally_compare(&tally, tally_expected);
    pc_bucket_tally_free(&tally);
  }
}

/* More rows in one bucket than its counters hold. */
TEST(test_counters_do_not_overflow) {
  const pcal_env env = pc_env_resolve(NULL);
  static tally_data data;
  static const tally_score crowded[] = {tally_last, tally_near_one, tally_zero};
  const uint64_t copies = 3 * PC_BUCKET_SUMS_ROWS / TALLY_ROWS + 3;
  for (size_t k = 0; k < UNIT_COUNT(crowded); k++) {
    tally_draw(crowded[k], &data);
    tally_expect(&data, copies, tally_expected);
    pc_bucket_tally tally = tally_made(&env, NULL);
    for (uint64_t c = 0; c < copies; c++)
      tally_fill(&tally, &data, 0, TALLY_ROWS);
    tally_compare(&tally, tally_expected);
    pc_bucket_tally_free(&tally);
  }
}

/* Floats at the ends of buckets, as many as fit, come to another tally that has some. */
TEST(test_full_counters_merge) {
  enum { ROWS = PC_BUCKET_SUMS_ROWS, MORE = 9 };
  const pcal_env env = pc_env_resolve(NULL);
  static const float scores[] = {0x1.fffffep-1F, 0x1.fffffep-2F, 0x1.fffffep-14F};
  static float score[ROWS];
  static int32_t label[ROWS];
  for (size_t k = 0; k < UNIT_COUNT(scores); k++) {
    for (size_t i = 0; i < ROWS; i++) {
      score[i] = scores[k];
      label[i] = 1;
    }
    const pc_stored_rows rows = {
        .type = PCAL_F32, .scores = score, .labels = label, .count = ROWS};
    pc_stored_rows some = rows;
    pc_bucket_tally full = tally_made(&env, NULL), other = tally_made(&env, NULL);
    some.count = MORE;
    assert_int_equal(pc_bucket_tally_add_stored(&full, &rows, NULL), PCAL_OK);
    assert_int_equal(pc_bucket_tally_add_stored(&other, &some, NULL), PCAL_OK);
    assert_null(full.segments);
    assert_int_equal(pc_bucket_tally_prepare(&other, &full, NULL), PCAL_OK);
    pc_bucket_tally_merge(&other, &full);
    for (size_t s = 0; s < PC_BUCKETS_AND_OUTSIDE; s++)
      tally_expected[s] = pc_segment_none;
    pc_segment *expected = &tally_expected[1 + (size_t)(scores[k] * PC_BUCKETS)];
    pc_segment_add(expected, (double)scores[k], ROWS + MORE, ROWS + MORE);
    tally_compare(&other, tally_expected);
    pc_bucket_tally_free(&full);
    pc_bucket_tally_free(&other);
  }
}

/* Tallies whose counters fit two by two, but not all together. */
TEST(test_counters_of_many_tallies_merge) {
  enum { ROWS = 400000, TALLIES = 6 };
  const pcal_env env = pc_env_resolve(NULL);
  static double score[ROWS];
  const double last = 0x1.fffffffffffffp-1;
  pc_bucket_tally all = tally_made(&env, NULL);
  for (size_t i = 0; i < ROWS; i++)
    score[i] = last;
  for (size_t t = 0; t < TALLIES; t++) {
    pc_bucket_tally part = tally_made(&env, NULL);
    assert_int_equal(pc_bucket_tally_add_column(&part, score, ROWS, t % 2 == 0, NULL), PCAL_OK);
    assert_int_equal(pc_bucket_tally_prepare(&all, &part, NULL), PCAL_OK);
    pc_bucket_tally_merge(&all, &part);
    pc_bucket_tally_free(&part);
  }
  for (size_t s = 0; s < PC_BUCKETS_AND_OUTSIDE; s++)
    tally_expected[s] = pc_segment_none;
  pc_segment_add(&tally_expected[PC_BUCKETS], last, (uint64_t)ROWS * TALLIES,
                 (uint64_t)ROWS * TALLIES / 2);
  tally_compare(&all, tally_expected);
  pc_bucket_tally_free(&all);
}

TEST(test_parts_merge_to_the_whole) {
  const pcal_env env = pc_env_resolve(NULL);
  static tally_data data;
  for (size_t k = 0; k < UNIT_COUNT(tally_kinds); k++) {
    tally_draw(tally_kinds[k], &data);
    tally_expect(&data, 1, tally_expected);
    pc_bucket_tally parts[3] = {tally_made(&env, NULL), tally_made(&env, NULL),
                                tally_made(&env, NULL)};
    tally_fill(&parts[0], &data, 0, 100);
    tally_fill(&parts[1], &data, 100, 2500);
    tally_fill(&parts[2], &data, 2600, TALLY_ROWS - 2600);
    for (size_t p = 2; p > 0; p--) {
      assert_int_equal(pc_bucket_tally_prepare(&parts[p - 1], &parts[p], NULL), PCAL_OK);
      pc_bucket_tally_merge(&parts[p - 1], &parts[p]);
    }
    tally_compare(&parts[0], tally_expected);
    for (size_t p = 0; p < 3; p++)
      pc_bucket_tally_free(&parts[p]);
  }
}

/* ---- buckets that are cut ---- */

/* Inside a bucket, two in another one, on the border of two, at the end of one, outside. */
static const double tally_ends[] = {0.3, 0.70001, 0.70002, 0.5, 0.25 - 0x1p-55, -0.1, 1.5, 1.0};

static pc_bucket_tally tally_made_cut(const pcal_env *env) {
  pc_bucket_tally tally = tally_made(env, NULL);
  assert_int_equal(pc_bucket_tally_split(&tally, tally_ends, UNIT_COUNT(tally_ends), NULL),
                   PCAL_OK);
  assert_int_equal(tally.splits->count, 5);
  return tally;
}

static int tally_one_side(const pc_segment *segment, double end) {
  return end < 0 || end > 1.1 || segment->high <= end || segment->low > end;
}

/* All rows, in ascending order, and no segment on both sides of an end that can be cut. */
static size_t tally_read(const pc_bucket_tally *tally, uint64_t rows, pc_segment *out) {
  const size_t count = pc_bucket_tally_read_segments(tally, out);
  assert_true(count <= pc_bucket_tally_segments_max(tally));
  for (size_t s = 0; s < count; s++) {
    rows -= out[s].rows;
    assert_true(s == 0 || out[s].low > out[s - 1].high);
    for (size_t e = 0; e < UNIT_COUNT(tally_ends); e++)
      assert_true(tally_one_side(&out[s], tally_ends[e]));
  }
  assert_int_equal(rows, 0);
  return count;
}

static void tally_same_segments(const pc_segment *a, const pc_segment *b, size_t count) {
  for (size_t s = 0; s < count; s++) {
    assert_int_equal(a[s].rows, b[s].rows);
    assert_int_equal(a[s].hits, b[s].hits);
    assert_true(a[s].score.units == b[s].score.units);
    assert_true(a[s].hit_score.units == b[s].hit_score.units);
    assert_true(a[s].square == b[s].square);
    assert_true(a[s].rest == b[s].rest);
    assert_same(a[s].low, b[s].low);
    assert_same(a[s].high, b[s].high);
  }
}

/* Many lie next to the ends. */
static double tally_crowd(double u, uint64_t i) {
  static const double near[] = {0.3, 0.70001, 0.70002, 0.5, 0.25, 1.0, 0.0};
  return i % 8 == 7 ? u : near[i % 8] + (i % 8 == 6 ? 1 : -1) * 1e-4 * u;
}

static double tally_crowd_of_floats(double u, uint64_t i) {
  return (double)(float)tally_crowd(u, i);
}

/* Rows that are stored as `type` give the bits of rows that are added. */
static void check_cut_buckets(pcal_type type) {
  const pcal_env env = pc_env_resolve(NULL);
  static tally_data data;
  static float narrow[TALLY_ROWS];
  static int32_t labels[TALLY_ROWS];
  static pc_segment whole[PC_BUCKETS_AND_OUTSIDE + 16], other[PC_BUCKETS_AND_OUTSIDE + 16];
  tally_draw(type == PCAL_F32 ? tally_crowd_of_floats : tally_crowd, &data);
  for (size_t i = 0; i < TALLY_ROWS; i++) {
    narrow[i] = (float)data.score[i];
    labels[i] = data.hit[i];
  }
  pc_bucket_tally rows = tally_made_cut(&env), stored = tally_made_cut(&env),
                  half = tally_made_cut(&env);
  tally_fill(&rows, &data, 0, TALLY_ROWS);
  tally_fill(&half, &data, 0, 1234);
  tally_fill(&stored, &data, 0, 99);
  pc_bucket_tally_clear(&stored);
  const pc_stored_rows rest = {.type = type,
                               .scores = type == PCAL_F32 ? (const void *)(narrow + 1234)
                                                          : (const void *)(data.score + 1234),
                               .labels = labels + 1234,
                               .count = TALLY_ROWS - 1234};
  assert_int_equal(pc_bucket_tally_add_stored(&stored, &rest, NULL), PCAL_OK);
  assert_int_equal(pc_bucket_tally_prepare(&stored, &half, NULL), PCAL_OK);
  pc_bucket_tally_merge(&stored, &half);
  const size_t count = tally_read(&rows, TALLY_ROWS, whole);
  assert_int_equal(tally_read(&stored, TALLY_ROWS, other), count);
  tally_same_segments(whole, other, count);
  pc_bucket_tally_free(&rows);
  pc_bucket_tally_free(&stored);
  pc_bucket_tally_free(&half);
}

TEST(test_cut_buckets) {
  check_cut_buckets(PCAL_F32);
  check_cut_buckets(PCAL_F64);
}

/* ---- later passes ---- */

/* Scores in [0.2, 0.3] are kept, those in [0.5, 0.75] are added up in parts, and those in
 * [0.76, 0.77] are counted. */
static void tally_aim(pc_refine_targets *out, uint8_t *wanted, uint32_t *reach) {
  static pc_refine_target list[3] = {
      {.low = 0.2, .high = 0.3, .action = PC_REFINE_KEEP, .shift = 63},
      {.low = 0.5, .high = 0.75, .action = PC_REFINE_SPLIT, .shift = 49},
      {.high = 0.77, .action = PC_REFINE_COUNT, .shift = 29},
  };
  list[2].low = (double)0.76f;
  *out = (pc_refine_targets){.list = list, .count = 3, .wanted = wanted, .reach = reach};
  out->layout.count = PC_BUCKETS + 1;
  out->split = list[1].parts = (size_t)((pc_score_key(0.75) - pc_score_key(0.5)) >> 49) + 1;
  out->counted = list[2].parts =
      (size_t)((pc_score_key(0.77) - pc_score_key(list[2].low)) >> 29) + 1;
  memset(wanted, 0, PC_BUCKETS + 1);
  for (size_t b = 0; b <= PC_BUCKETS + 1; b++) {
    reach[b] = 0;
    for (uint32_t t = 0; t < 3; t++)
      reach[b] += pc_bucket_of(&out->layout, list[t].high) < b;
  }
  for (size_t t = 0; t < 3; t++)
    for (size_t b = pc_bucket_of(&out->layout, list[t].low);
         b <= pc_bucket_of(&out->layout, list[t].high); b++)
      wanted[b] = 1;
}

static void tally_same(const pc_bucket_tally *a, const pc_bucket_tally *b) {
  for (size_t s = 0; s < a->targets->split; s++) {
    assert_int_equal(a->segments[s].rows, b->segments[s].rows);
    assert_int_equal(a->segments[s].hits, b->segments[s].hits);
    assert_true(a->segments[s].score.units == b->segments[s].score.units);
    assert_true(a->segments[s].square == b->segments[s].square);
    assert_same(a->segments[s].low, b->segments[s].low);
    assert_same(a->segments[s].high, b->segments[s].high);
  }
  assert_memory_equal(a->counts, b->counts, 2 * a->targets->counted * sizeof *a->counts);
  for (int hit = 0; hit < 2; hit++) {
    assert_int_equal(a->kept[hit].count, b->kept[hit].count);
    assert_memory_equal(a->kept[hit].score, b->kept[hit].score,
                        a->kept[hit].count * sizeof(double));
  }
}

static uint64_t tally_counted(const pc_bucket_tally *tally) {
  uint64_t rows = 0;
  for (size_t i = 0; i < 2 * tally->targets->counted; i++)
    rows += tally->counts[i];
  return rows;
}

static pcal_status tally_feed(const void *user, size_t begin, size_t count, int32_t *out,
                              pcal_error *err) {
  (void)err;
  memcpy(out, (const int32_t *)user + begin, count * sizeof *out);
  return PCAL_OK;
}

/* In two parts, once with the labels there, once with labels that are fed. */
static void tally_scan(pc_bucket_tally *tally, pcal_type type, const void *scores,
                       const int32_t *labels) {
  pcal_batch batch = PCAL_BATCH_INIT;
  const pc_lazy_labels none = {NULL, NULL, NULL}, lazy_labels = {tally_feed, labels, NULL};
  batch.type = type;
  batch.scores = scores;
  batch.labels = labels;
  assert_int_equal(pc_bucket_tally_scan_stored(tally, &batch, &none, 0, 777, NULL), PCAL_OK);
  batch.labels = NULL;
  assert_int_equal(
      pc_bucket_tally_scan_stored(tally, &batch, &lazy_labels, 777, 2 * TALLY_ROWS - 777, NULL),
      PCAL_OK);
}

/* Columns where they lie, in both widths, with labels of rows that do not count among them. */
TEST(test_a_scan_finds_what_rows_give) {
  const pcal_env env = pc_env_resolve(NULL);
  static tally_data data;
  static uint8_t wanted[PC_BUCKETS + 1];
  static uint32_t reach[PC_BUCKETS + 2];
  static float narrow[2 * TALLY_ROWS];
  static double wide[2 * TALLY_ROWS];
  static int32_t labels[2 * TALLY_ROWS];
  pc_refine_targets targets;
  tally_aim(&targets, wanted, reach);
  tally_draw(tally_narrow, &data);
  for (size_t i = 0; i < TALLY_ROWS; i++) {
    narrow[2 * i] = narrow[2 * i + 1] = (float)data.score[i];
    wide[2 * i] = wide[2 * i + 1] = data.score[i];
    labels[2 * i] = data.hit[i];
    labels[2 * i + 1] = i % 2 == 0 ? PCAL_MISSING_LABEL : 2;
  }
  pc_bucket_tally rows = tally_made(&env, &targets), f32 = tally_made(&env, &targets),
                  f64 = tally_made(&env, &targets);
  tally_fill(&rows, &data, 0, TALLY_ROWS);
  tally_scan(&f32, PCAL_F32, narrow, labels);
  tally_scan(&f64, PCAL_F64, wide, labels);
  assert_true(rows.kept[0].count > 200 && rows.kept[1].count > 100);
  assert_true(rows.segments[0].rows > 100);
  assert_true(tally_counted(&rows) > 20);
  tally_same(&rows, &f32);
  tally_same(&rows, &f64);
  pc_bucket_tally_free(&rows);
  pc_bucket_tally_free(&f32);
  pc_bucket_tally_free(&f64);
}
