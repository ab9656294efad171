/* A pass delivers every row exactly once, with any number of threads, and reports the first bad
 * row. */
#include "unit.h"

#include "base/executor.h"
#include "data/pass.h"

#define PASS_ROWS 20000

typedef struct pass_seen {
  atomic_uint times[PASS_ROWS];
  atomic_size_t labels;
} pass_seen;

static pcal_status pass_count(void *user, size_t worker, const pc_rows *rows, pcal_error *err) {
  pass_seen *seen = user;
  (void)worker;
  (void)err;
  for (size_t i = 0; i < rows->count; i++) {
    atomic_fetch_add(&seen->times[rows->ids[i] - 100], 1);
    atomic_fetch_add(&seen->labels, (size_t)rows->labels[i]);
  }
  return PCAL_OK;
}

static double pass_scores[PASS_ROWS][3];
static int32_t pass_labels[PASS_ROWS];

static pcal_batch pass_batch(void) {
  pcal_batch batch = PCAL_BATCH_INIT;
  for (size_t i = 0; i < PASS_ROWS; i++) {
    pass_labels[i] = (int32_t)(i % 3);
    for (size_t j = 0; j < 3; j++)
      pass_scores[i][j] = (double)((i + j) % 7);
  }
  batch.kind = PCAL_LOGIT;
  batch.type = PCAL_F64;
  batch.rows = PASS_ROWS;
  batch.columns = 3;
  batch.scores = pass_scores;
  batch.row_stride = sizeof pass_scores[0];
  batch.column_stride = sizeof(double);
  batch.labels = pass_labels;
  batch.first_row = 100;
  return batch;
}

static pcal_status pass_run(unsigned threads, const pc_row_policy *policy,
                            const pcal_batch *batch, pass_seen *seen, pc_row_counts *counts,
                            pcal_error *err) {
  pcal_env env = pc_env_resolve(NULL);
  env.threads = threads;
  const pc_layout layout = {PCAL_LOGIT, 3, 3};
  pc_pass pass;
  assert_int_equal(pc_pass_init(&pass, &env, &layout, policy, pass_count, seen, err), PCAL_OK);
  const pcal_status status = pc_pass_batch(&pass, batch, counts, err);
  pc_pass_free(&pass);
  return status;
}

TEST(test_every_row_once) {
  static pass_seen seen;
  const pcal_batch batch = pass_batch();
  for (unsigned threads = 1; threads <= 4; threads += 3) {
    const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
    pc_row_counts counts;
    memset(&seen, 0, sizeof seen);
    assert_int_equal(pass_run(threads, &policy, &batch, &seen, &counts, NULL), PCAL_OK);
    for (size_t i = 0; i < PASS_ROWS; i++)
      assert_int_equal(atomic_load(&seen.times[i]), 1);
    assert_int_equal(atomic_load(&seen.labels), PASS_ROWS - 1);
    assert_int_equal(counts.skipped, 0);
    assert_true(counts.fractional_row == PCAL_NO_ROW);
  }
}

TEST(test_the_first_bad_row_is_reported) {
  static pass_seen seen;
  const pcal_batch batch = pass_batch();
  pass_scores[19000][1] = NAN;
  pass_scores[12345][2] = NAN;
  pass_labels[15000] = 3;
  for (unsigned threads = 1; threads <= 7; threads += 3) {
    const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
    pc_row_counts counts;
    pcal_error err;
    assert_int_equal(pass_run(threads, &policy, &batch, &seen, &counts, &err), PCAL_DATA);
    assert_int_equal(err.row, 12445);
  }
}

TEST(test_missing_rows_are_counted) {
  static pass_seen seen;
  const pcal_batch batch = pass_batch();
  pass_scores[5][0] = NAN;
  pass_labels[7000] = PCAL_MISSING_LABEL;
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN, .skip_missing = 1};
  pc_row_counts counts;
  memset(&seen, 0, sizeof seen);
  assert_int_equal(pass_run(3, &policy, &batch, &seen, &counts, NULL), PCAL_OK);
  assert_int_equal(counts.skipped, 2);
  assert_int_equal(atomic_load(&seen.times[5]), 0);
  assert_int_equal(atomic_load(&seen.times[7000]), 0);
  assert_int_equal(atomic_load(&seen.times[6]), 1);
}

TEST(test_scores_only) {
  static pass_seen seen;
  const pcal_batch batch = pass_batch();
  const pc_row_policy policy = {.scores = PC_SCORES_ONLY, .probs = PC_PROBS_LEAN};
  pc_row_counts counts;
  pcal_error err;
  memset(&seen, 0, sizeof seen);
  assert_int_equal(pass_run(2, &policy, &batch, &seen, &counts, &err), PCAL_OK);
  pass_scores[77][1] = INFINITY;
  assert_int_equal(pass_run(2, &policy, &batch, &seen, &counts, &err), PCAL_DATA);
  assert_int_equal(err.row, 177);
}

/* ---- lazy labels ---- */

static int32_t pass_later[PASS_ROWS];
static atomic_size_t pass_fed;

static pcal_status pass_feed(const void *user, size_t begin, size_t count, int32_t *out,
                             pcal_error *err) {
  const int32_t *from = user;
  if (begin <= 15500 && begin + count > 15500 && from[15500] < 0)
    return pc_fail_row(err, PCAL_DATA, 15600, "a bad label");
  memcpy(out, from + begin, count * sizeof *from);
  atomic_fetch_add(&pass_fed, count);
  return PCAL_OK;
}

static pcal_status pass_run_fed(unsigned threads, const pcal_batch *batch, pass_seen *seen,
                                pcal_error *err) {
  pcal_env env = pc_env_resolve(NULL);
  const pc_layout layout = {PCAL_LOGIT, 3, 3};
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
  pc_row_counts counts;
  pc_pass pass;
  env.threads = threads;
  assert_int_equal(pc_pass_init(&pass, &env, &layout, &policy, pass_count, seen, err), PCAL_OK);
  pass.lazy_labels = (pc_lazy_labels){pass_feed, pass_later, pass_labels};
  memset(pass_labels, 0x7F, sizeof pass_labels);
  atomic_store(&pass_fed, 0);
  const pcal_status status = pc_pass_batch(&pass, batch, &counts, err);
  pc_pass_free(&pass);
  return status;
}

TEST(test_labels_are_fed_once) {
  static pass_seen seen;
  const pcal_batch batch = pass_batch();
  memcpy(pass_later, pass_labels, sizeof pass_later);
  for (unsigned threads = 1; threads <= 4; threads += 3) {
    memset(&seen, 0, sizeof seen);
    assert_int_equal(pass_run_fed(threads, &batch, &seen, NULL), PCAL_OK);
    assert_int_equal(atomic_load(&pass_fed), PASS_ROWS);
    assert_int_equal(atomic_load(&seen.labels), PASS_ROWS - 1);
  }
}

/* Messages are the same as for labels that are there from the start: here the hint that they
 * are 1-based, which needs all labels. */
TEST(test_fed_labels_give_the_same_sentences) {
  static pass_seen seen;
  const pcal_batch batch = pass_batch();
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
  pc_row_counts counts;
  pcal_error there, fed;
  for (int one_based = 0; one_based <= 1; one_based++) {
    for (size_t i = 0; i < PASS_ROWS; i++)
      pass_labels[i] = (int32_t)(i % 3) + one_based;
    pass_labels[PASS_ROWS - 1] = 3;
    memcpy(pass_later, pass_labels, sizeof pass_later);
    assert_int_equal(pass_run(1, &policy, &batch, &seen, &counts, &there), PCAL_DATA);
    for (unsigned threads = 1; threads <= 4; threads += 3) {
      assert_int_equal(pass_run_fed(threads, &batch, &seen, &fed), PCAL_DATA);
      assert_string_equal(fed.message, there.message);
      assert_int_equal(fed.row, there.row);
    }
  }
  pass_later[15500] = -1;
  assert_int_equal(pass_run_fed(4, &batch, &seen, &fed), PCAL_DATA);
  assert_string_equal(fed.message, "a bad label");
}

/* A label that is bad once: the rows must not be added a second time as good ones. */
static atomic_size_t pass_failures;

static pcal_status pass_feed_once(const void *user, size_t begin, size_t count, int32_t *out,
                                  pcal_error *err) {
  if (begin <= 15500 && begin + count > 15500 && atomic_fetch_add(&pass_failures, 1) == 0)
    return pc_fail_row(err, PCAL_DATA, 15600, "bad once");
  memcpy(out, (const int32_t *)user + begin, count * sizeof *out);
  return PCAL_OK;
}

TEST(test_a_failed_batch_stays_failed) {
  static pass_seen seen;
  const pcal_batch batch = pass_batch();
  const pc_layout layout = {PCAL_LOGIT, 3, 3};
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
  pcal_env env = pc_env_resolve(NULL);
  memcpy(pass_later, pass_labels, sizeof pass_later);
  for (env.threads = 1; env.threads <= 4; env.threads += 3) {
    pc_row_counts counts;
    pcal_error err;
    pc_pass pass;
    memset(&seen, 0, sizeof seen);
    atomic_store(&pass_failures, 0);
    assert_int_equal(pc_pass_init(&pass, &env, &layout, &policy, pass_count, &seen, &err),
                     PCAL_OK);
    pass.lazy_labels = (pc_lazy_labels){pass_feed_once, pass_later, pass_labels};
    assert_int_equal(pc_pass_batch(&pass, &batch, &counts, &err), PCAL_DATA);
    assert_sentence(err, PCAL_DATA, "bad once");
    assert_int_equal(err.row, 15600);
    for (size_t i = 0; i < PASS_ROWS; i++)
      assert_true(atomic_load(&seen.times[i]) <= 1);
    pc_pass_free(&pass);
  }
}
