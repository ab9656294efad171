/* Valid narrow rows are converted in blocks, others one by one, with equal results. */
#include <math.h>

#include "base/rng.h"
#include "data_help.h"

enum { ROWS = 53, K = 6 };

typedef struct logits_case {
  float scores[ROWS * K];
  int32_t labels[ROWS];
  double weights[ROWS];
  uint32_t groups[ROWS];
} logits_case;

static void logits_draw(logits_case *out) {
  const pc_rng rng = {32, 1};
  for (size_t i = 0; i < ROWS * K; i++)
    out->scores[i] = (float)(3 * pc_rng_normal(&rng, i));
  for (size_t i = 0; i < ROWS; i++) {
    out->labels[i] = (int32_t)(i % K);
    out->weights[i] = 1.0;
    out->groups[i] = (uint32_t)(i % 3);
  }
}

static pcal_batch logits_batch(const logits_case *data) {
  pcal_batch batch = data_batch_f32(PCAL_LOGIT, ROWS, K, data->scores, data->labels);
  batch.groups = data->groups;
  batch.first_row = 1000;
  return batch;
}

/* Row i of `rows` is row `id` of `whole`. */
static void assert_same_row(const pc_rows *rows, size_t i, const pc_rows *whole, size_t id) {
  assert_int_equal(rows->ids[i], 1000 + id);
  assert_int_equal(rows->labels[i], whole->labels[id]);
  assert_int_equal(rows->groups[i], id % 3);
  assert_int_equal(rows->top_label[i], whole->top_label[id]);
  assert_true(rows->top[i] == whole->top[id] && rows->true_gap[i] == whole->true_gap[id]);
  assert_true(rows->others_square[i] == whole->others_square[id]);
  assert_true(rows->log_true[i] == whole->log_true[id]);
  if (rows->probs != NULL)
    assert_memory_equal(rows->probs + i * K, whole->probs + id * K, K * sizeof(double));
}

TEST(weights_of_one_change_nothing) {
  static const pc_row_policy policies[] = {{.need_log = 1},
                                           {.need_log = 1, .probs = PC_PROBS_LEAN}};
  logits_case data;
  logits_draw(&data);
  pcal_batch batch = logits_batch(&data);
  for (size_t p = 0; p < UNIT_COUNT(policies); p++) {
    batch.weights = NULL;
    data_result whole = data_derive_well(&batch, policies[p]);
    batch.weights = data.weights;
    data_result weighted = data_derive_well(&batch, policies[p]);
    assert_int_equal(weighted.rows.count, ROWS);
    for (size_t i = 0; i < ROWS; i++)
      assert_same_row(&weighted.rows, i, &whole.rows, i);
    data_free(&weighted);
    data_free(&whole);
  }
}

TEST(missing_rows_leave_the_others) {
  const pc_row_policy policy = {.need_log = 1, .skip_missing = 1};
  logits_case data;
  logits_draw(&data);
  const pcal_batch batch = logits_batch(&data);
  data_result whole = data_derive_well(&batch, policy);
  data.scores[20 * K + 3] = NAN;
  data.labels[40] = PCAL_MISSING_LABEL;
  data.scores[52 * K] = NAN;
  data_result some = data_derive_well(&batch, policy);
  assert_int_equal(some.rows.count, ROWS - 3);
  assert_int_equal(some.counts.skipped, 3);
  for (size_t i = 0, id = 0; id < ROWS; id++)
    if (id != 20 && id != 40 && id != 52)
      assert_same_row(&some.rows, i++, &whole.rows, id);
  data_free(&some);
  data_free(&whole);
}

/* The first bad row of a block is reported, whatever is wrong with those behind it. */
TEST(the_first_bad_row_is_reported) {
  for (size_t first = 0; first < ROWS; first++) {
    logits_case data;
    logits_draw(&data);
    const pcal_batch batch = logits_batch(&data);
    data.scores[first * K + 1] = INFINITY;
    for (size_t later = first + 1; later < ROWS; later++)
      data.labels[later] = K;
    data_result bad = data_derive(&batch, (pc_row_policy){0});
    assert_int_equal(bad.status, PCAL_DATA);
    assert_true(bad.err.row == 1000 + first);
    assert_non_null(strstr(bad.err.message, "infinite"));
    data_free(&bad);
    data.labels[first] = -7;
    bad = data_derive(&batch, (pc_row_policy){0});
    assert_true(bad.err.row == 1000 + first);
    assert_non_null(strstr(bad.err.message, "-7"));
    data_free(&bad);
  }
}

/* Edge case 3: a class of -inf has probability 0, and the others those of a row without it. */
TEST(ruled_out_classes_have_probability_0) {
  enum { WIDE = 70 };
  static const size_t widths[] = {3, K, WIDE};
  const int32_t labels[] = {0, 1, 2};
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    const size_t k = widths[w];
    double scores[3 * WIDE];
    for (size_t j = 0; j < 3 * k; j++)
      scores[j] = j % k == 0 ? 2.0 : j % k == 1 ? 2.0 + 0x1.193ea7aad030bp0 : -INFINITY;
    const pcal_batch batch = data_batch(PCAL_LOGIT, 3, k, scores, labels);
    data_result made = data_derive_well(&batch, (pc_row_policy){.need_log = 1});
    for (size_t i = 0; i < 3; i++) {
      assert_int_equal(made.rows.top_label[i], 1);
      assert_true(fabs(made.rows.probs[i * k] - 0.25) < 1e-15); /* 1 : e^1.0986... = 1 : 3 */
      assert_true(fabs(made.rows.probs[i * k + 1] - 0.75) < 1e-15);
      for (size_t j = 2; j < k; j++)
        assert_true(made.rows.probs[i * k + j] == 0.0);
    }
    assert_true(fabs(made.rows.true_gap[0] - 0.75) < 1e-15 && made.rows.true_gap[2] == 1.0);
    assert_true(isinf(made.rows.log_true[2]) && made.rows.log_true[2] < 0);
    data_free(&made);
  }
}

TEST(rows_beside_ruled_out_classes_are_the_same) {
  const pc_row_policy policy = {.need_log = 1};
  logits_case data;
  logits_draw(&data);
  const pcal_batch batch = logits_batch(&data);
  data_result whole = data_derive_well(&batch, policy);
  data.scores[20 * K + 3] = -INFINITY;
  data_result some = data_derive_well(&batch, policy);
  for (size_t i = 0; i < ROWS; i++)
    if (i != 20)
      assert_same_row(&some.rows, i, &whole.rows, i);
  assert_true(some.rows.probs[20 * K + 3] == 0.0);
  data_free(&some);
  data_free(&whole);
}

TEST(unlabelled_rows_count_as_class_0) {
  logits_case data;
  logits_draw(&data);
  pcal_batch batch = logits_batch(&data);
  memset(data.labels, 0, sizeof data.labels);
  data_result whole = data_derive_well(&batch, (pc_row_policy){.need_log = 1});
  batch.labels = NULL;
  data_result bare = data_derive_well(&batch, (pc_row_policy){.need_log = 1, .unlabelled = 1});
  for (size_t i = 0; i < ROWS; i++)
    assert_same_row(&bare.rows, i, &whole.rows, i);
  data_free(&bare);
  data_free(&whole);
}
