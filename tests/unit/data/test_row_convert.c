#include <float.h>

#include "base/rng.h"
#include "data_help.h"

#define ALL \
  { .need_log = 1, .scores = PC_SCORES_FILLED }

static const pc_row_policy everything = ALL;

/* A row of logits in long double, from the definitions. */
typedef struct direct_row {
  double probs[128], top, true_gap, others_square, log_true;
  int32_t top_label;
} direct_row;

static direct_row direct_softmax(const double *z, size_t k, int32_t label) {
  const size_t y = (size_t)label;
  size_t top = 0;
  direct_row out;
  long double rest = 0, gap = 0, square = 0;
  for (size_t j = 1; j < k; j++)
    top = z[j] > z[top] ? j : top;
  for (size_t j = 0; j < k; j++)
    rest += j == top ? 0 : expl((long double)z[j] - z[top]);
  for (size_t j = 0; j < k; j++) {
    const long double p = expl((long double)z[j] - z[top]) / (1 + rest);
    out.probs[j] = (double)p;
    gap += j == y ? 0 : p;
    square += j == y ? 0 : p * p;
  }
  out.top = out.probs[top];
  out.top_label = (int32_t)top;
  out.true_gap = (double)gap;
  out.others_square = (double)square;
  out.log_true = (double)((long double)z[y] - z[top] - log1pl(rest));
  return out;
}

static void assert_like_direct(const pc_rows *rows, size_t i, const direct_row *expected) {
  const size_t k = rows->classes;
  for (size_t j = 0; j < k; j++)
    assert_near(rows->probs[i * k + j], expected->probs[j], 4e-15);
  assert_near(rows->top[i], expected->top, 4e-15);
  assert_int_equal(rows->top_label[i], expected->top_label);
  assert_near(rows->true_gap[i], expected->true_gap, 1e-14);
  assert_near(rows->others_square[i], expected->others_square, 1e-13);
  assert_near(rows->log_true[i], expected->log_true, 1e-14);
}

/* Narrow rows share vector lanes, wide ones do not; 40 rows leave lanes over. */
TEST(logits_agree_with_the_definitions) {
  static const size_t widths[] = {2, 3, 10, 16, 31, 32, 33, 34, 64, 100, 128};
  enum { ROWS = 40 };
  static double scores[ROWS * 128];
  static float narrow[ROWS * 128];
  int32_t labels[ROWS];
  const pc_rng rng = {31, 1};
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    const size_t k = widths[w];
    for (size_t i = 0; i < ROWS * k; i++) {
      narrow[i] = (float)(pc_rng_normal(&rng, i) * (i / k % 4 == 0 ? 30 : 3));
      scores[i] = (double)narrow[i];
    }
    for (size_t i = 0; i < ROWS; i++)
      labels[i] = (int32_t)(pc_rng_bits(&rng, 100000 + i) % k);
    const pcal_batch batch = data_batch(PCAL_LOGIT, ROWS, k, scores, labels);
    data_result result = data_derive_well(&batch, everything);
    assert_int_equal(result.rows.count, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
      const direct_row expected = direct_softmax(scores + i * k, k, labels[i]);
      assert_like_direct(&result.rows, i, &expected);
    }
    assert_memory_equal(result.rows.scores, scores, ROWS * k * sizeof(double));
    const pcal_batch floats = data_batch_f32(PCAL_LOGIT, ROWS, k, narrow, labels);
    data_result single = data_derive_well(&floats, everything);
    assert_memory_equal(single.rows.probs, result.rows.probs, ROWS * k * sizeof(double));
    assert_memory_equal(single.rows.scores, result.rows.scores, ROWS * k * sizeof(double));
    assert_memory_equal(single.rows.true_gap, result.rows.true_gap, ROWS * sizeof(double));
    assert_memory_equal(single.rows.log_true, result.rows.log_true, ROWS * sizeof(double));
    data_free(&single);
    data_free(&result);
  }
}

/* The bits of a row do not depend on the start of its chunk or on other rows. */
TEST(rows_do_not_depend_on_their_neighbours) {
  enum { ROWS = 37, K = 5 };
  double scores[ROWS * K];
  int32_t labels[ROWS];
  const pc_rng rng = {31, 2};
  for (size_t i = 0; i < ROWS * K; i++)
    scores[i] = 5 * pc_rng_normal(&rng, i);
  for (size_t i = 0; i < ROWS; i++)
    labels[i] = (int32_t)(i % K);
  pcal_batch batch = data_batch(PCAL_LOGIT, ROWS, K, scores, labels);
  batch.first_row = 500;
  data_result whole = data_derive_well(&batch, everything);
  for (size_t begin = 0; begin < ROWS; begin++) {
    for (size_t count = 1; begin + count <= ROWS; count += 3) {
      data_result part = data_derive_some(&batch, everything, begin, count);
      assert_int_equal(part.status, PCAL_OK);
      assert_int_equal(part.rows.count, count);
      assert_int_equal(part.rows.ids[0], 500 + begin);
      assert_memory_equal(part.rows.probs, whole.rows.probs + begin * K,
                          count * K * sizeof(double));
      assert_memory_equal(part.rows.log_true, whole.rows.log_true + begin,
                          count * sizeof(double));
      data_free(&part);
    }
  }
  data_free(&whole);
}

/* The first class has probability 1; the others have 0 or nearly 0. */
TEST(far_logits) {
  static const struct {
    double z[2];
    int32_t label;
    double gap, log_true;
  } cases[] = {{{0, -40}, 0, 4.248354255291589e-18, -4.248354255291589e-18},
               {{0, -40}, 1, 1, -40},
               {{0, -100}, 0, 3.720075976020836e-44, -3.720075976020836e-44},
               {{0, -700}, 0, 9.85967654375977e-305, -9.85967654375977e-305},
               {{0, -700}, 1, 1, -700},
               {{0, -800}, 1, 1, -800},
               {{1e30, -1e30}, 0, 0, 0},
               {{1e30, -1e30}, 1, 1, -2e30},
               {{DBL_MAX, 0}, 0, 0, 0},
               {{DBL_MAX, 0}, 1, 1, -DBL_MAX}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    const pcal_batch batch = data_batch(PCAL_LOGIT, 1, 2, cases[i].z, &cases[i].label);
    data_result result = data_derive_well(&batch, everything);
    assert_same(result.rows.top[0], 1);
    assert_int_equal(result.rows.top_label[0], 0);
    assert_near(result.rows.true_gap[0], cases[i].gap, 1e-15);
    assert_near(result.rows.others_square[0], cases[i].gap * cases[i].gap, 2e-15);
    assert_near(result.rows.log_true[0], cases[i].log_true, 1e-15);
    data_free(&result);
  }
}

TEST(huge_logits_in_long_rows) {
  static const size_t widths[] = {3, 40};
  double z[40];
  for (size_t w = 0; w < 2; w++) {
    for (size_t j = 0; j < widths[w]; j++)
      z[j] = j == 1 || j == 2 ? DBL_MAX : -DBL_MAX;
    const int32_t label = 2;
    const pcal_batch batch = data_batch(PCAL_LOGIT, 1, widths[w], z, &label);
    data_result result = data_derive_well(&batch, everything);
    for (size_t j = 0; j < widths[w]; j++)
      assert_same(result.rows.probs[j], j == 1 || j == 2 ? 0.5 : 0);
    assert_int_equal(result.rows.top_label[0], 1);
    assert_same(result.rows.true_gap[0], 0.5);
    assert_near(result.rows.log_true[0], -log(2), 4e-16);
    data_free(&result);
  }
}

TEST(equal_logits_are_uniform) {
  static const size_t widths[] = {2, 7, 32, 33, 100};
  double z[100];
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    for (size_t j = 0; j < widths[w]; j++)
      z[j] = -3.5;
    const int32_t label = 1;
    const double k = (double)widths[w];
    const pcal_batch batch = data_batch(PCAL_LOGIT, 1, widths[w], z, &label);
    data_result result = data_derive_well(&batch, everything);
    for (size_t j = 0; j < widths[w]; j++)
      assert_same(result.rows.probs[j], 1 / k);
    assert_int_equal(result.rows.top_label[0], 0);
    assert_near(result.rows.true_gap[0], (k - 1) / k, 2e-16);
    assert_near(result.rows.others_square[0], (k - 1) / (k * k), 5e-16);
    assert_near(result.rows.log_true[0], -log(k), 5e-16);
    data_free(&result);
  }
}

TEST(probabilities_are_used_as_stored) {
  static const double rows[][3] = {{0.25, 0.5, 0.25}, {0.4, 0.2, 0.4}, {0, 0, 1}, {1, 0, 0}};
  static const int32_t labels[] = {0, 2, 2, 1}, top_label[] = {1, 0, 2, 0};
  static const double top[] = {0.5, 0.4, 1, 1}, true_gap[] = {0.75, 1 - 0.4, 0, 1};
  static const double squares[] = {0.25 + 0.0625, 0.16 + 0.04, 0, 1};
  const pcal_batch batch = data_batch(PCAL_PROBABILITY, 4, 3, rows[0], labels);
  data_result result = data_derive_well(&batch, everything);
  assert_memory_equal(result.rows.probs, rows, sizeof rows);
  for (size_t i = 0; i < 4; i++) {
    assert_same(result.rows.top[i], top[i]);
    assert_int_equal(result.rows.top_label[i], top_label[i]);
    assert_same(result.rows.true_gap[i], true_gap[i]);
    assert_near(result.rows.others_square[i], squares[i], 1e-15);
    assert_same(result.rows.log_true[i], log(rows[i][labels[i]]));
    for (size_t j = 0; j < 3; j++)
      assert_same(result.rows.scores[i * 3 + j], log(rows[i][j]));
  }
  assert_true(result.rows.log_true[3] == -INFINITY);
  data_free(&result);
}

TEST(log_probabilities_keep_their_logarithms) {
  const double rows[][3] = {
      {log(0.5), log(0.25), log(0.25)}, {-INFINITY, 0, -INFINITY}, {-1e-300, -700, -1000}};
  static const double probs[][3] = {
      {0.5, 0.25, 0.25}, {0, 1, 0}, {1, 9.85967654375977e-305, 0}};
  static const int32_t labels[] = {2, 0, 2};
  const pcal_batch batch = data_batch(PCAL_LOG_PROBABILITY, 3, 3, rows[0], labels);
  data_result result = data_derive_well(&batch, everything);
  for (size_t i = 0; i < 9; i++) {
    assert_near(result.rows.probs[i], probs[i / 3][i % 3], 5e-16);
    assert_same(result.rows.scores[i], rows[i / 3][i % 3]);
  }
  assert_same(result.rows.log_true[0], log(0.25));
  assert_true(result.rows.log_true[1] == -INFINITY);
  assert_same(result.rows.log_true[2], -1000);
  assert_int_equal(result.rows.top_label[1], 1);
  data_free(&result);
}

TEST(one_column_of_logits) {
  static const double logits[] = {0, 40, -40, -800, 800, 800};
  static const int32_t labels[] = {1, 1, 1, 1, 0, 1};
  static const double log_true[] = {
      -0.6931471805599453, -4.248354255291589e-18, -40, -800, -800, 0};
  static const double true_gap[] = {0.5, 4.248354255291589e-18, 1, 1, 1, 0};
  const pcal_batch batch = data_batch(PCAL_LOGIT, 6, 1, logits, labels);
  data_result result = data_derive_well(&batch, everything);
  assert_int_equal(result.rows.classes, 2);
  for (size_t i = 0; i < 6; i++) {
    assert_near(result.rows.log_true[i], log_true[i], 1e-15);
    assert_near(result.rows.true_gap[i], true_gap[i], 1e-15);
    assert_near(result.rows.others_square[i], true_gap[i] * true_gap[i], 2e-15);
    assert_int_equal(result.rows.top_label[i], logits[i] > 0);
    assert_same(result.rows.scores[2 * i], 0);
    assert_same(result.rows.scores[2 * i + 1], logits[i]);
  }
  assert_same(result.rows.probs[0], 0.5);
  assert_near(result.rows.probs[2], 4.248354255291589e-18, 1e-15);
  assert_near(result.rows.probs[5], 4.248354255291589e-18, 1e-15);
  data_free(&result);
}

TEST(one_column_of_probabilities) {
  static const double scores[] = {0.25, 0.5, 0.75, 0, 1};
  static const int32_t labels[] = {1, 1, 0, 1, 1}, top_label[] = {0, 0, 1, 0, 1};
  const pcal_batch batch = data_batch(PCAL_PROBABILITY, 5, 1, scores, labels);
  data_result result = data_derive_well(&batch, everything);
  for (size_t i = 0; i < 5; i++) {
    const double p = scores[i], true_p = labels[i] == 1 ? p : 1 - p;
    assert_same(result.rows.probs[2 * i], 1 - p);
    assert_same(result.rows.probs[2 * i + 1], p);
    assert_same(result.rows.positive[i], p);
    assert_same(result.rows.top[i], fmax(p, 1 - p));
    assert_int_equal(result.rows.top_label[i], top_label[i]);
    assert_same(result.rows.true_gap[i], 1 - true_p);
    assert_same(result.rows.others_square[i], (1 - true_p) * (1 - true_p));
    assert_same(result.rows.log_true[i], log(true_p));
    assert_same(result.rows.scores[2 * i + 1], log(p));
  }
  data_free(&result);
}

TEST(confidences) {
  static const double scores[] = {0.25, 1, 0};
  static const int32_t labels[] = {1, 0, 1};
  const pcal_batch batch = data_batch(PCAL_CONFIDENCE, 3, 1, scores, labels);
  data_result result = data_derive_well(&batch, (pc_row_policy){0});
  assert_int_equal(result.rows.classes, 1);
  assert_memory_equal(result.rows.positive, scores, sizeof scores);
  assert_memory_equal(result.rows.top, scores, sizeof scores);
  assert_memory_equal(result.rows.labels, labels, sizeof labels);
  data_free(&result);
}

/* The same numbers in every order and place in memory. */
static void assert_like(const pcal_batch *batch, const pc_rows *expected) {
  data_result result = data_derive_well(batch, everything);
  const size_t bytes = expected->count * expected->classes * sizeof(double);
  assert_int_equal(result.rows.count, expected->count);
  assert_memory_equal(result.rows.probs, expected->probs, bytes);
  assert_memory_equal(result.rows.log_true, expected->log_true,
                      expected->count * sizeof(double));
  data_free(&result);
}

static void check_strides(pcal_kind kind, size_t rows, size_t k, const float *values,
                          const int32_t *labels) {
  static char memory[200 * 1024];
  static double plain[20 * 40];
  for (size_t i = 0; i < rows * k; i++)
    plain[i] = (double)values[i];
  const pcal_batch reference = data_batch(kind, rows, k, plain, labels);
  data_result expected = data_derive_well(&reference, everything);
  for (int single = 0; single <= 1; single++) {
    const ptrdiff_t size = single ? sizeof(float) : sizeof(double);
    const ptrdiff_t n = (ptrdiff_t)rows, c = (ptrdiff_t)k;
    const ptrdiff_t strides[][3] = {{c * size, size, 0},
                                    {size, n * size, 0},
                                    {-c * size, size, (n - 1) * c * size},
                                    {c * size, -size, (c - 1) * size},
                                    {-size, -n * size, (n * c - 1) * size},
                                    {c * size + 24, size, 0},
                                    {2 * c * size + 3, 2 * size, 1}};
    for (size_t s = 0; s < UNIT_COUNT(strides); s++) {
      pcal_batch batch = reference;
      batch.type = single ? PCAL_F32 : PCAL_F64;
      batch.row_stride = strides[s][0];
      batch.column_stride = strides[s][1];
      batch.scores = memory + strides[s][2];
      for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < k; j++) {
          char *at = memory + strides[s][2] + (ptrdiff_t)i * strides[s][0] +
                     (ptrdiff_t)j * strides[s][1];
          if (single)
            memcpy(at, &values[i * k + j], sizeof(float));
          else
            memcpy(at, &plain[i * k + j], sizeof(double));
        }
      }
      assert_like(&batch, &expected.rows);
    }
  }
  data_free(&expected);
}

TEST(strides_change_nothing) {
  static const pcal_kind kinds[] = {PCAL_LOGIT, PCAL_PROBABILITY, PCAL_LOG_PROBABILITY};
  static const size_t widths[] = {1, 3, 40};
  const pc_rng rng = {31, 3};
  float values[20 * 40];
  int32_t labels[20];
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    const size_t k = widths[w];
    for (size_t t = 0; t < UNIT_COUNT(kinds); t++) {
      if (k == 1 && kinds[t] == PCAL_LOG_PROBABILITY)
        continue;
      for (size_t i = 0; i < 20; i++) {
        const double share = pc_rng_uniform(&rng, i);
        for (size_t j = 0; j < k; j++) {
          const double p = j == 0 ? share : (1 - share) / (double)(k - 1);
          values[i * k + j] = (float)(kinds[t] == PCAL_PROBABILITY ? p : log(p));
        }
        labels[i] = (int32_t)(i % (k == 1 ? 2 : k));
      }
      check_strides(kinds[t], 20, k, values, labels);
    }
  }
}

TEST(the_policy_says_what_is_filled) {
  static const double scores[] = {0.5, 0.25, 0.25};
  static const int32_t label = 1;
  const pcal_batch three = data_batch(PCAL_PROBABILITY, 1, 3, scores, &label);
  const pcal_batch two = data_batch(PCAL_LOGIT, 1, 2, scores, &label);
  data_result result = data_derive_well(&three, (pc_row_policy){0});
  assert_null(result.rows.log_true);
  assert_null(result.rows.scores);
  assert_null(result.rows.weights);
  assert_null(result.rows.groups);
  data_free(&result);
  result = data_derive_well(&three, (pc_row_policy){.probs = PC_PROBS_LEAN, .need_log = 1});
  assert_null(result.rows.probs);
  assert_same(result.rows.log_true[0], log(0.25));
  assert_same(result.rows.top[0], 0.5);
  data_free(&result);
  result = data_derive_well(&two, (pc_row_policy){.probs = PC_PROBS_LEAN});
  assert_non_null(result.rows.probs);
  data_free(&result);
}

/* With score_alone, one column has at least scores, labels, weights and groups. */
TEST(bare_columns) {
  static const double scores[] = {0.25, 0.5, 1}, weights[] = {1, 0, 3};
  static const int32_t labels[] = {1, 0, 0};
  static const uint32_t groups[] = {4, 5, 6};
  static const pcal_kind kinds[] = {PCAL_PROBABILITY, PCAL_CONFIDENCE};
  for (size_t k = 0; k < UNIT_COUNT(kinds); k++) {
    pcal_batch batch = data_batch(kinds[k], 3, 1, scores, labels);
    batch.groups = groups;
    data_result result =
        data_derive_well(&batch, (pc_row_policy){.score_alone = 1, .probs = PC_PROBS_LEAN});
    assert_int_equal(result.rows.count, 3);
    assert_memory_equal(result.rows.positive, scores, sizeof scores);
    assert_memory_equal(result.rows.labels, labels, sizeof labels);
    assert_memory_equal(result.rows.groups, groups, sizeof groups);
    data_free(&result);
    batch.weights = weights;
    result =
        data_derive_well(&batch, (pc_row_policy){.score_alone = 1, .probs = PC_PROBS_LEAN});
    assert_int_equal(result.rows.count, 2);
    assert_same(result.rows.positive[1], 1);
    assert_same(result.rows.weights[1], 3);
    assert_int_equal(result.rows.groups[1], 6);
    data_free(&result);
  }
}

/* In the fast precision, terms are floats: still the same order, and close. */
TEST(fast_logits_are_close) {
  static const size_t widths[] = {2, 10, 32, 33, 100};
  enum { ROWS = 20 };
  float scores[ROWS * 100];
  int32_t labels[ROWS];
  const pc_rng rng = {31, 5};
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    const size_t k = widths[w];
    for (size_t i = 0; i < ROWS * k; i++)
      scores[i] = (float)(4 * pc_rng_normal(&rng, i));
    for (size_t i = 0; i < ROWS; i++)
      labels[i] = (int32_t)(i % k);
    const pcal_batch batch = data_batch_f32(PCAL_LOGIT, ROWS, k, scores, labels);
    data_result exact =
        data_derive_well(&batch, (pc_row_policy){.need_log = 1, .probs = PC_PROBS_LEAN});
    data_result fast =
        data_derive_well(&batch, (pc_row_policy){.need_log = 1, .probs = PC_PROBS_FAST});
    for (size_t i = 0; i < ROWS; i++) {
      assert_int_equal(fast.rows.top_label[i], exact.rows.top_label[i]);
      assert_near(fast.rows.top[i], exact.rows.top[i], 2e-6);
      assert_near(fast.rows.true_gap[i], exact.rows.true_gap[i], 4e-6);
      assert_near(exp(fast.rows.log_true[i] - exact.rows.log_true[i]), 1, 4e-6);
    }
    data_free(&fast);
    data_free(&exact);
  }
}

TEST(needs_no_labels_when_told) {
  static const double scores[] = {0.25, 0.5, 0.25};
  const pcal_batch batch = data_batch(PCAL_PROBABILITY, 1, 3, scores, NULL);
  data_result result =
      data_derive_well(&batch, (pc_row_policy){.unlabelled = 1, .need_log = 1});
  assert_int_equal(result.rows.labels[0], 0);
  assert_int_equal(result.rows.top_label[0], 1);
  assert_same(result.rows.log_true[0], log(0.25));
  data_free(&result);
}

TEST(carries_weights_groups_and_numbers) {
  static const double logits[] = {1, 2, 3, 4, 5, 6}, weights[] = {2, 0, 0.5, 1e12, -0.0, 0.25};
  static const int32_t labels[] = {0, 1, 0, 1, 0, 1};
  static const uint32_t groups[] = {7, 8, 9, 7, 8, 9};
  pcal_batch batch = data_batch(PCAL_LOGIT, 6, 1, logits, labels);
  batch.weights = weights;
  batch.groups = groups;
  batch.first_row = UINT64_C(1) << 40;
  data_result result = data_derive_well(&batch, everything);
  static const size_t kept[] = {0, 2, 3, 5};
  assert_int_equal(result.rows.count, 4);
  for (size_t i = 0; i < 4; i++) {
    assert_true(result.rows.ids[i] == batch.first_row + kept[i]);
    assert_int_equal(result.rows.labels[i], labels[kept[i]]);
    assert_same(result.rows.weights[i], weights[kept[i]]);
    assert_int_equal(result.rows.groups[i], groups[kept[i]]);
    assert_same(result.rows.scores[2 * i + 1], logits[kept[i]]);
  }
  assert_int_equal(result.counts.skipped, 0);
  assert_true(result.counts.fractional_row == batch.first_row + 2);
  data_free(&result);
}

TEST(fractional_row_is_the_first_of_all_chunks) {
  static const double logits[] = {1, 2, 3}, weights[] = {1, 1.5, 3};
  static const int32_t labels[] = {0, 1, 0};
  pcal_batch batch = data_batch(PCAL_LOGIT, 3, 1, logits, labels);
  batch.weights = weights;
  batch.first_row = 10;
  data_result result = data_derive_well(&batch, everything);
  assert_true(result.counts.fractional_row == 11);
  batch.first_row = 0;
  assert_int_equal(pc_rows_convert(&batch, &result.layout, &everything, 0, 3, &result.scratch,
                                   &result.rows, &result.counts, NULL),
                   PCAL_OK);
  assert_true(result.counts.fractional_row == 1);
  batch.first_row = 20;
  assert_int_equal(pc_rows_convert(&batch, &result.layout, &everything, 0, 3, &result.scratch,
                                   &result.rows, &result.counts, NULL),
                   PCAL_OK);
  assert_true(result.counts.fractional_row == 1);
  data_free(&result);
  result = data_derive_some(&batch, everything, 2, 1);
  assert_true(result.counts.fractional_row == PCAL_NO_ROW);
  data_free(&result);
}

TEST(no_rows_are_fine) {
  static const pcal_kind kinds[] = {PCAL_PROBABILITY, PCAL_LOGIT, PCAL_LOG_PROBABILITY,
                                    PCAL_CONFIDENCE};
  static const size_t columns[] = {1, 3, 40, 1};
  static const double scores[40] = {1};
  static const int32_t label = 0;
  for (size_t i = 0; i < 4; i++) {
    const size_t width = kinds[i] == PCAL_LOG_PROBABILITY ? 3 : columns[i];
    const pcal_batch batch = data_batch(kinds[i], 0, width, scores, &label);
    data_result result = data_derive_well(&batch, everything);
    assert_int_equal(result.rows.count, 0);
    data_free(&result);
  }
}

/* Weighted rows are converted one by one, others may take a faster path, with equal results. */
TEST(weights_of_one_change_nothing) {
  enum { ROWS = 50 };
  double scores[ROWS], ones[ROWS];
  int32_t labels[ROWS];
  const pc_rng rng = {31, 4};
  for (size_t i = 0; i < ROWS; i++) {
    scores[i] = i < 4 ? (double[]){0, 1, 1.000005, -0.000005}[i] : pc_rng_uniform(&rng, i);
    labels[i] = (int32_t)(i % 2);
    ones[i] = 1;
  }
  static const pcal_kind kinds[] = {PCAL_PROBABILITY, PCAL_LOGIT, PCAL_CONFIDENCE};
  for (size_t k = 0; k < UNIT_COUNT(kinds); k++) {
    pcal_batch batch = data_batch(kinds[k], ROWS, 1, scores, labels);
    data_result plain = data_derive_well(&batch, everything);
    batch.weights = ones;
    data_result weighted = data_derive_well(&batch, everything);
    const size_t classes = plain.rows.classes, bytes = ROWS * sizeof(double);
    assert_memory_equal(weighted.rows.positive, plain.rows.positive, bytes);
    assert_memory_equal(weighted.rows.top, plain.rows.top, bytes);
    assert_memory_equal(weighted.rows.ids, plain.rows.ids, bytes);
    if (classes == 2) {
      assert_memory_equal(weighted.rows.probs, plain.rows.probs, 2 * bytes);
      assert_memory_equal(weighted.rows.scores, plain.rows.scores, 2 * bytes);
      assert_memory_equal(weighted.rows.top_label, plain.rows.top_label, bytes / 2);
      assert_memory_equal(weighted.rows.true_gap, plain.rows.true_gap, bytes);
      assert_memory_equal(weighted.rows.others_square, plain.rows.others_square, bytes);
      assert_memory_equal(weighted.rows.log_true, plain.rows.log_true, bytes);
    }
    data_free(&weighted);
    batch.weights = NULL;
    batch.first_row = 100;
    data_result some = data_derive_some(&batch, everything, 7, 20);
    assert_int_equal(some.rows.count, 20);
    assert_int_equal(some.rows.ids[19], 126);
    assert_memory_equal(some.rows.labels, labels + 7, 20 * sizeof labels[0]);
    assert_memory_equal(some.rows.positive, plain.rows.positive + 7, 20 * sizeof(double));
    data_free(&some);
    data_free(&plain);
  }
}

TEST(the_limit_is_the_same_for_weighted_rows) {
  static const double scores[] = {1.00001, 1.0000099, -1.00001e-5, -1e-5};
  const int refused[] = {1, 0, 1, 0};
  const int32_t label = 1;
  const double one = 1;
  for (size_t i = 0; i < UNIT_COUNT(scores); i++) {
    for (int weighted = 0; weighted <= 1; weighted++) {
      pcal_batch batch = data_batch(PCAL_PROBABILITY, 1, 1, &scores[i], &label);
      batch.weights = weighted ? &one : NULL;
      data_result result = data_derive(&batch, everything);
      assert_int_equal(result.status, refused[i] ? PCAL_DATA : PCAL_OK);
      data_free(&result);
    }
  }
}
