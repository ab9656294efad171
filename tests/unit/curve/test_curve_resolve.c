/* Condensed tables give the bits of full ones, for friendly and for hostile scores. */
#include "table_help.h"

#include "curve/curve_gap.h"
#include "curve/curve_resolve.h"
#include "curve/point_masses.h"
#include "emulated.h"

#define CONDENSE_BINS 40

typedef struct resolve_question {
  int what; /* 0: gap, 1: equal-mass bins, 2: adaptive bins */
  size_t bins;
  double threshold;
} resolve_question;

static size_t resolve_ask(const void *user, const pc_curve_table *table, uint8_t *wanted) {
  const resolve_question *q = user;
  if (q->what == 0)
    return pc_curve_gap_wants(table, wanted);
  if (q->what == 1)
    return pc_bins_by_mass_wants(table, q->bins, wanted);
  return pc_bins_adaptive_wants(table, q->threshold, q->bins, wanted);
}

static size_t resolve_answer(const resolve_question *q, const pc_curve_table *table,
                             pc_bin *out) {
  size_t count = q->bins;
  if (q->what == 1)
    count = pc_bins_by_mass(table, q->bins, out);
  else
    pc_bins_adaptive(table, q->threshold, q->bins, out);
  return count;
}

static void resolve_same(const resolve_question *q, const pc_curve_table *full,
                         const pc_curve_table *condensed) {
  if (q->what == 0) {
    const pc_gap want = pc_curve_gap(full), got = pc_curve_gap(condensed);
    assert_true(want.value == got.value && (want.at == got.at || full->count == 0));
    return;
  }
  pc_bin want[CONDENSE_BINS], got[CONDENSE_BINS];
  const size_t count = resolve_answer(q, full, want);
  assert_int_equal(resolve_answer(q, condensed, got), count);
  for (size_t b = 0; b < count; b++) {
    assert_same(got[b].low, want[b].low);
    assert_same(got[b].high, want[b].high);
    assert_same(got[b].weight, want[b].weight);
    assert_same(got[b].hits, want[b].hits);
    assert_same(got[b].score, want[b].score);
  }
}

static void resolve_try(const table_rows *rows, const resolve_question *q, unsigned threads) {
  pcal_env env = pc_env_resolve(NULL);
  env.threads = threads;
  const pc_outcome_column misses = table_column(rows, 0, 0), hits = table_column(rows, 1, 0);
  pc_curve_table full = table_make(rows, 0), condensed;
  assert_int_equal(pc_curve_resolve(&env, &misses, &hits,
                                    &(pc_curve_question){resolve_ask, NULL, q, 0}, &condensed,
                                    NULL),
                   PCAL_OK);
  assert_same(condensed.total, full.total);
  resolve_same(q, &full, &condensed);
  pc_curve_table_free(&env, &condensed);
  table_free(&full);
}

TEST(test_same_bits) {
  static table_rows rows;
  static const resolve_question questions[] = {{0, 0, 0},  {1, 1, 0},     {1, 15, 0},
                                               {1, 40, 0}, {2, 2, 0},     {2, 15, 0},
                                               {2, 40, 0}, {2, 15, 0.01}, {2, 15, 0.5}};
  const size_t counts[] = {1, 600, fewer_if_emulated(TABLE_ROWS, 2000)};
  for (size_t k = 0; k < UNIT_COUNT(table_kinds); k++)
    for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
      table_draw(table_kinds[k], counts[c], k, &rows);
      for (size_t q = 0; q < UNIT_COUNT(questions); q++)
        resolve_try(&rows, &questions[q], 1);
    }
}

/* Far fewer entries than scores are resolved. */
TEST(test_most_scores_stay_together) {
  static table_rows rows;
  const pcal_env env = pc_env_resolve(NULL);
  const resolve_question q = {2, 15, 0};
  pc_curve_table condensed;
  table_draw(table_uniform, TABLE_ROWS, 1, &rows);
  const pc_outcome_column misses = table_column(&rows, 0, 0), hits = table_column(&rows, 1, 0);
  assert_int_equal(pc_curve_resolve(&env, &misses, &hits,
                                    &(pc_curve_question){resolve_ask, NULL, &q, 0}, &condensed,
                                    NULL),
                   PCAL_OK);
  assert_non_null(condensed.segments);
  assert_true(condensed.count < TABLE_ROWS / 4);
  pc_curve_table_free(&env, &condensed);
}

TEST(test_weights_are_sorted) {
  static table_rows rows;
  const pcal_env env = pc_env_resolve(NULL);
  const resolve_question q = {1, 15, 0};
  pc_curve_table found, full;
  table_draw(table_uniform, TABLE_ROWS, 1, &rows);
  const pc_outcome_column misses = table_column(&rows, 0, 1), hits = table_column(&rows, 1, 1);
  assert_int_equal(pc_curve_resolve(&env, &misses, &hits,
                                    &(pc_curve_question){resolve_ask, NULL, &q, 0}, &found,
                                    NULL),
                   PCAL_OK);
  full = table_make(&rows, 1);
  assert_int_equal(found.count, full.count);
  assert_null(found.segments);
  pc_curve_table_free(&env, &found);
  table_free(&full);
}

/* More rows than fit one piece, so that threads have something to divide. */
#define CONDENSE_MANY fewer_if_emulated(800000, 140000)

/* Without their padding. */
static void resolve_same_segment(const pc_segment *a, const pc_segment *b) {
  assert_true(a->rows == b->rows && a->hits == b->hits && a->squared == b->squared);
  assert_true(a->score.units == b->score.units && a->hit_score.units == b->hit_score.units);
  assert_true(a->square == b->square && a->hit_square == b->hit_square && a->rest == b->rest);
  assert_true(a->low == b->low && a->high == b->high);
}

TEST(test_threads_do_not_show) {
  double *score = malloc(CONDENSE_MANY * sizeof *score);
  const pc_rng rng = {9, 9};
  for (size_t i = 0; i < CONDENSE_MANY; i++)
    score[i] = pow(pc_rng_uniform(&rng, i), 6);
  const pc_outcome_column misses = {score, NULL, CONDENSE_MANY - 100000};
  const pc_outcome_column hits = {score + CONDENSE_MANY - 100000, NULL, 100000};
  const resolve_question q = {2, 15, 0.01};
  pc_curve_table table[2];
  for (unsigned t = 0; t < 2; t++) {
    pcal_env env = pc_env_resolve(NULL);
    env.threads = 1 + 3 * t;
    assert_int_equal(pcal_pool_new(env.threads, NULL, &env.pool, NULL), PCAL_OK);
    assert_int_equal(pc_curve_resolve(&env, &misses, &hits,
                                      &(pc_curve_question){resolve_ask, NULL, &q, 0}, &table[t],
                                      NULL),
                     PCAL_OK);
    pcal_pool_free(env.pool);
  }
  assert_int_equal(table[0].count, table[1].count);
  for (size_t i = 0; i < table[0].count; i++)
    resolve_same_segment(&table[0].segments[i], &table[1].segments[i]);
  resolve_same(&q, &table[0], &table[1]);
  table_free(&table[0]);
  table_free(&table[1]);
  free(score);
}

static pcal_status resolve_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const table_rows *rows = user;
  const resolve_question q = {2, 15, 0};
  const pc_outcome_column misses = table_column(rows, 0, 0), hits = table_column(rows, 1, 0);
  pcal_env alone = *env;
  pc_curve_table table;
  alone.threads = 1;
  PC_TRY(pc_curve_resolve(&alone, &misses, &hits,
                          &(pc_curve_question){resolve_ask, NULL, &q, 0}, &table, err));
  pc_curve_table_free(env, &table);
  return PCAL_OK;
}

TEST(test_out_of_memory) {
  static table_rows rows;
  table_draw(table_confident, 5000, 1, &rows);
  unit_fail_each_allocation(resolve_scenario, &rows);
}

/* Scores joined in cells; the cells of the first pass have level 14. */
#define CONDENSE_JOINED ((size_t)70000)

static pcal_status resolve_cells(const void *user, const pc_curve_table *table, unsigned *level,
                                 pcal_error *err) {
  const unsigned *wanted = user;
  (void)err;
  *level = pc_point_masses_wants(table, *wanted, NULL) > 0 ? *wanted : 0;
  return PCAL_OK;
}

static size_t resolve_edges(const void *user, const pc_curve_table *table, uint8_t *wanted) {
  (void)user;
  return pc_bins_by_mass_wants(table, 15, wanted);
}

static void resolve_check_masses(const pc_curve_table *found, const pc_curve_table *full,
                                 unsigned level) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_point_masses got, want;
  assert_int_equal(pc_point_masses_new(&env, found, level, &got, NULL), PCAL_OK);
  assert_int_equal(pc_point_masses_new(&env, full, level, &want, NULL), PCAL_OK);
  assert_int_equal(got.count, want.count);
  assert_memory_equal(got.at, want.at, want.count * sizeof(double));
  assert_memory_equal(got.mass, want.mass, want.count * sizeof(double));
  pc_point_masses_free(&env, &got);
  pc_point_masses_free(&env, &want);
}

static double resolve_scores[CONDENSE_JOINED];

/* Scores near 1, a tenth or three quarters of them in the last bucket. */
static void resolve_draw(double power) {
  const pc_rng rng = {9, 10};
  for (size_t i = 0; i < CONDENSE_JOINED; i++)
    resolve_scores[i] = 1 - pow(pc_rng_uniform(&rng, i), power);
}

static pcal_status resolve_level(const pcal_env *env, const unsigned *level,
                                 pc_curve_table *out, pcal_error *err) {
  const pc_outcome_column misses = {resolve_scores, NULL, 20000};
  const pc_outcome_column hits = {resolve_scores + 20000, NULL, CONDENSE_JOINED - 20000};
  const pc_curve_question asked = {resolve_edges, resolve_cells, level, 0};
  return level == NULL ? pc_curve_table_new(env, &misses, &hits, out, err)
                       : pc_curve_resolve(env, &misses, &hits, &asked, out, err);
}

static void resolve_check_level(const pcal_env *env, unsigned level,
                                const pc_curve_table *full) {
  pc_bin got[15], want[15];
  pc_curve_table found;
  assert_int_equal(resolve_level(env, &level, &found, NULL), PCAL_OK);
  assert_non_null(found.segments);
  resolve_check_masses(&found, full, level);
  const size_t bins = pc_bins_by_mass(full, 15, want);
  assert_int_equal(pc_bins_by_mass(&found, 15, got), bins);
  for (size_t b = 0; b < bins; b++)
    assert_true(got[b].high == want[b].high && got[b].weight == want[b].weight &&
                got[b].score == want[b].score && got[b].hits == want[b].hits);
  pc_curve_table_free(env, &found);
}

TEST(test_cells_have_the_bits_of_sorted_scores) {
  static const unsigned levels[] = {9, 14, 17, PC_EACH_SCORE};
  static const double powers[] = {4, 32};
  pcal_env env = pc_env_resolve(NULL);
  for (size_t p = emulated() ? 1 : 0; p < UNIT_COUNT(powers); p++) {
    pc_curve_table full;
    resolve_draw(powers[p]);
    assert_int_equal(resolve_level(&env, NULL, &full, NULL), PCAL_OK);
    for (env.threads = 1; env.threads <= 4; env.threads += emulated() ? 3 : 1)
      for (size_t l = 0; l < UNIT_COUNT(levels); l++)
        resolve_check_level(&env, levels[l], &full);
    pc_curve_table_free(&env, &full);
  }
}

/* Without memory to divide the scores by ranges, or for tallies of a crowded one, the result is the same. */
TEST(test_out_of_memory_in_crowds) {
  const unsigned level = PC_EACH_SCORE;
  pcal_env whole = pc_env_resolve(NULL);
  pc_curve_table full;
  resolve_draw(32);
  assert_int_equal(resolve_level(&whole, NULL, &full, NULL), PCAL_OK);
  for (size_t n = 1, done = 0; !done; n += 1 + n / (emulated() ? 1 : 8)) {
    unit_memory memory = {0};
    pcal_env env = unit_env(&memory);
    pc_curve_table table;
    env.threads = 4; /* so little work is done by one of them */
    atomic_store(&memory.fail_at, n);
    const pcal_status status = resolve_level(&env, &level, &table, NULL);
    assert_true(status == PCAL_OK || status == PCAL_MEMORY);
    if (status == PCAL_OK) {
      resolve_check_masses(&table, &full, level);
      pc_curve_table_free(&env, &table);
    }
    assert_int_equal(atomic_load(&memory.live), 0);
    done = atomic_load(&memory.calls) < n;
  }
  pc_curve_table_free(&whole, &full);
}

/* Enough rows that four threads share the work: of crowded ranges with few and with many sub-buckets. */
#define CONDENSE_CROWD ((size_t)1 << 20)

TEST(test_crowds_of_several_threads) {
  static const unsigned levels[] = {16, 21, PC_EACH_SCORE};
  static double score[CONDENSE_CROWD];
  const pc_rng rng = {9, 11};
  pcal_env env = pc_env_resolve(NULL);
  const size_t rows = fewer_if_emulated(CONDENSE_CROWD, (size_t)1 << 16);
  const pc_outcome_column misses = {score, NULL, rows / 4};
  const pc_outcome_column hits = {score + misses.count, NULL, rows - misses.count};
  pc_curve_table full, found;
  for (size_t i = 0; i < rows; i++)
    score[i] = 1 - pow(pc_rng_uniform(&rng, i), 16);
  assert_int_equal(pc_curve_table_new(&env, &misses, &hits, &full, NULL), PCAL_OK);
  env.threads = 4;
  assert_int_equal(pcal_pool_new(4, NULL, &env.pool, NULL), PCAL_OK);
  for (size_t l = 0; l < UNIT_COUNT(levels); l++) {
    const pc_curve_question asked = {resolve_edges, resolve_cells, &levels[l], 0};
    assert_int_equal(pc_curve_resolve(&env, &misses, &hits, &asked, &found, NULL), PCAL_OK);
    resolve_check_masses(&found, &full, levels[l]);
    pc_curve_table_free(&env, &found);
  }
  pcal_pool_free(env.pool);
  pc_curve_table_free(&env, &full);
}
