/* Every error about a bad row, by every path of conversion. */
#include <math.h>

#include "data_help.h"

#define PLAIN \
  { 0 }
#define NORMALIZE \
  { .normalize = 1 }
#define SKIP \
  { .skip_missing = 1 }

static void assert_refused(const pcal_batch *batch, pc_row_policy policy, uint64_t row,
                           const char *sentence) {
  data_result result = data_derive(batch, policy);
  assert_sentence(result.err, PCAL_DATA, sentence);
  assert_int_equal(result.status, PCAL_DATA);
  assert_true(result.err.row == row);
  data_free(&result);
}

/* One row, number 17 of its data set. */
typedef struct bad_row {
  pcal_kind kind;
  size_t columns;
  double scores[3];
  int32_t label;
  double weight;
  pc_row_policy policy;
  const char *sentence;
} bad_row;

/* Rows without weights may take a faster path, with the same error. */
static void assert_all_refused(const bad_row *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    pcal_batch batch =
        data_batch(cases[i].kind, 1, cases[i].columns, cases[i].scores, &cases[i].label);
    batch.first_row = 17;
    if (cases[i].weight == 1)
      assert_refused(&batch, cases[i].policy, 17, cases[i].sentence);
    batch.weights = &cases[i].weight;
    assert_refused(&batch, cases[i].policy, 17, cases[i].sentence);
  }
}

static const bad_row label_rows[] = {
    {PCAL_LOGIT,
     3,
     {1, 2, 3},
     PCAL_MISSING_LABEL,
     1,
     PLAIN,
     "l.npy, row 17: the label is missing; remove the row or pass skip_missing"},
    {PCAL_PROBABILITY,
     1,
     {0.5},
     PCAL_MISSING_LABEL,
     1,
     NORMALIZE,
     "l.npy, row 17: the label is missing; remove the row or pass skip_missing"},
    {PCAL_LOGIT,
     3,
     {1, 2, 3},
     4,
     1,
     PLAIN,
     "l.npy, row 17: label 4 is outside 0 to 2; labels are class numbers counted from 0"},
    {PCAL_LOGIT,
     3,
     {1, 2, 3},
     -1,
     1,
     SKIP,
     "l.npy, row 17: label -1 is outside 0 to 2; labels are class numbers counted from 0"},
    {PCAL_LOGIT,
     3,
     {1, 2, 3},
     3,
     1,
     PLAIN,
     "l.npy, row 17: label 3 is outside 0 to 2; the labels look 1-based, subtract 1 from "
     "each"},
    {PCAL_PROBABILITY,
     1,
     {0.5},
     2,
     1,
     PLAIN,
     "l.npy, row 17: label 2 is outside 0 to 1; the labels look 1-based, subtract 1 from "
     "each"},
    {PCAL_LOGIT,
     3,
     {1, 2, 3},
     4,
     0,
     PLAIN,
     "l.npy, row 17: label 4 is outside 0 to 2; labels are class numbers counted from 0"},
    {PCAL_CONFIDENCE,
     1,
     {0.5},
     2,
     1,
     PLAIN,
     "l.npy, row 17: 2 is neither 0 (wrong) nor 1 (correct)"},
    {PCAL_CONFIDENCE,
     1,
     {0.5},
     -1,
     1,
     PLAIN,
     "l.npy, row 17: -1 is neither 0 (wrong) nor 1 (correct)"},
};

TEST(refuses_bad_labels) {
  assert_all_refused(label_rows, UNIT_COUNT(label_rows));
}

/* The hint looks at all labels of the batch. */
TEST(hints_at_labels_counted_from_one) {
  static const double logits[12] = {0};
  static const struct {
    int32_t labels[4];
    uint64_t row;
    int32_t label;
    int hint;
  } cases[] = {{{1, 2, 3, 1}, 2, 3, 1},
               {{1, 2, 3, 0}, 2, 3, 0},
               {{3, 2, 1, 4}, 0, 3, 0},
               {{3, -1, 1, 1}, 0, 3, 0},
               {{3, 3, 3, PCAL_MISSING_LABEL}, 0, 3, 1}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    const pcal_batch batch = data_batch(PCAL_LOGIT, 4, 3, logits, cases[i].labels);
    char sentence[160];
    snprintf(sentence, sizeof sentence, "l.npy, row %d: label %d is outside 0 to 2; %s",
             (int)cases[i].row, (int)cases[i].label,
             cases[i].hint ? "the labels look 1-based, subtract 1 from each"
                           : "labels are class numbers counted from 0");
    assert_refused(&batch, (pc_row_policy){0}, cases[i].row, sentence);
  }
}

TEST(refuses_bad_weights) {
  static const bad_row cases[] = {
      {PCAL_LOGIT,
       3,
       {1, 2, 3},
       1,
       NAN,
       PLAIN,
       "w.npy, row 17: the weight is missing; remove the row or pass skip_missing"},
      {PCAL_LOGIT,
       3,
       {1, 2, 3},
       1,
       -1,
       SKIP,
       "w.npy, row 17: the weight -1 is negative; a weight says how often the row occurred"},
      {PCAL_CONFIDENCE,
       1,
       {0.5},
       1,
       -1e-300,
       PLAIN,
       "w.npy, row 17: the weight -1e-300 is negative; a weight says how often the row "
       "occurred"},
      {PCAL_PROBABILITY,
       1,
       {0.5},
       1,
       INFINITY,
       PLAIN,
       "w.npy, row 17: the weight inf is above 1e12; a weight says how often the row "
       "occurred"},
      {PCAL_LOGIT,
       3,
       {1, 2, 3},
       1,
       1000000000000.0001,
       PLAIN,
       "w.npy, row 17: the weight 1000000000000.0001 is above 1e12; a weight says how often "
       "the row occurred"},
      {PCAL_LOGIT,
       3,
       {1, 2, 3},
       PCAL_MISSING_LABEL,
       -2,
       SKIP,
       "w.npy, row 17: the weight -2 is negative; a weight says how often the row occurred"},
  };
  assert_all_refused(cases, UNIT_COUNT(cases));
}

#define NAN_WORDS "the score is missing (NaN); remove the row or pass skip_missing"
#define INFINITE_WORDS "the score is infinite; a finite number is needed"
#define MINUS_INFINITY_WORDS \
  "the logit is -inf; for classes that are ruled out give log-softmax values as log_probs"
#define NAN_SENTENCE(column) "s.npy, row 17, column " column ": " NAN_WORDS
#define INFINITE_SENTENCE(column) "s.npy, row 17, column " column ": " INFINITE_WORDS
#define MINUS_INFINITY_SENTENCE(column) \
  "s.npy, row 17, column " column ": " MINUS_INFINITY_WORDS

TEST(refuses_scores_that_are_not_finite) {
  static const bad_row cases[] = {
      {PCAL_LOGIT, 3, {1, NAN, 3}, 1, 1, PLAIN, NAN_SENTENCE("1")},
      {PCAL_LOGIT, 1, {NAN}, 1, 1, PLAIN, NAN_SENTENCE("0")},
      {PCAL_PROBABILITY, 3, {0.5, 0.5, NAN}, 1, 1, NORMALIZE, NAN_SENTENCE("2")},
      {PCAL_PROBABILITY, 1, {NAN}, 1, 1, PLAIN, NAN_SENTENCE("0")},
      {PCAL_LOG_PROBABILITY, 3, {NAN, 0, -INFINITY}, 1, 1, PLAIN, NAN_SENTENCE("0")},
      {PCAL_CONFIDENCE, 1, {NAN}, 1, 1, PLAIN, NAN_SENTENCE("0")},
      {PCAL_LOGIT, 3, {1, 2, INFINITY}, 1, 1, SKIP, INFINITE_SENTENCE("2")},
      {PCAL_LOGIT, 3, {1, INFINITY, NAN}, 1, 1, PLAIN, INFINITE_SENTENCE("1")},
      {PCAL_LOGIT, 1, {INFINITY}, 1, 1, PLAIN, INFINITE_SENTENCE("0")},
      {PCAL_PROBABILITY, 3, {INFINITY, 0, 0}, 1, 1, NORMALIZE, INFINITE_SENTENCE("0")},
      {PCAL_PROBABILITY, 3, {0, -INFINITY, 0}, 1, 1, PLAIN, INFINITE_SENTENCE("1")},
      {PCAL_PROBABILITY, 1, {-INFINITY}, 1, 1, PLAIN, INFINITE_SENTENCE("0")},
      {PCAL_LOG_PROBABILITY, 3, {0, -INFINITY, INFINITY}, 1, 1, PLAIN, INFINITE_SENTENCE("2")},
      {PCAL_CONFIDENCE, 1, {INFINITY}, 1, 1, PLAIN, INFINITE_SENTENCE("0")},
      {PCAL_LOGIT,
       3,
       {-INFINITY, -INFINITY, -INFINITY},
       1,
       1,
       PLAIN,
       "s.npy, row 17, column 0: the logit is -inf, and no logit of the row is finite; a row "
       "needs a "
       "class that is not ruled out"},
      {PCAL_LOGIT, 1, {-INFINITY}, 1, 1, PLAIN, MINUS_INFINITY_SENTENCE("0")},
      {PCAL_LOGIT, 3, {1, NAN, 3}, 1, 0, PLAIN, NAN_SENTENCE("1")},
  };
  assert_all_refused(cases, UNIT_COUNT(cases));
}

/* Long rows and single precision take other paths. */
TEST(finds_bad_scores_in_long_rows) {
  static const size_t widths[] = {31, 32, 33, 48, 100, 257};
  static const double bad[] = {NAN, INFINITY, -INFINITY};
  static const char *const what[] = {NAN_WORDS, INFINITE_WORDS, MINUS_INFINITY_WORDS};
  static const pc_row_policy policies[] = {
      {0}, {0}, {.probs = PC_PROBS_LEAN, .scores = PC_SCORES_ONLY}};
  double wide[257];
  float narrow[257];
  const int32_t label = 0;
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    for (size_t b = 0; b < 3; b++) {
      for (size_t at = 0; at < widths[w]; at += at + 5 < widths[w] ? 5 : 1) {
        char sentence[200];
        for (size_t j = 0; j < widths[w]; j++) {
          wide[j] = j == at ? bad[b] : (double)(j % 7);
          narrow[j] = (float)wide[j];
        }
        snprintf(sentence, sizeof sentence, "s.npy, row 0, column %zu: %s", at, what[b]);
        const pcal_batch doubles = data_batch(PCAL_LOGIT, 1, widths[w], wide, &label);
        const pcal_batch floats = data_batch_f32(PCAL_LOGIT, 1, widths[w], narrow, &label);
        assert_refused(&doubles, policies[b], 0, sentence);
        assert_refused(&floats, policies[b], 0, sentence);
      }
    }
  }
}

/* Edge case 5: thirds rounded to 11 or 8 bits do not sum to 1; decimals with such a sum are refused. */
TEST(half_precision_rows_are_rescaled) {
  static const double rows[][3] = {{0x1.554p-2, 0x1.554p-2, 0x1.554p-2},
                                   {0x1.56p-2, 0x1.56p-2, 0x1.56p-2}};
  const double decimals[] = {0.3335, 0.3335, 0.3335};
  const int32_t label = 0;
  for (size_t i = 0; i < 2; i++) {
    const pcal_batch batch = data_batch(PCAL_PROBABILITY, 1, 3, rows[i], &label);
    data_result made = data_derive_well(&batch, (pc_row_policy){.probs = PC_PROBS_LEAN});
    assert_int_equal(made.counts.normalized, 1);
    assert_true(fabs(made.rows.true_gap[0] - 2.0 / 3) < 1e-15);
    data_free(&made);
  }
  const pcal_batch batch = data_batch(PCAL_PROBABILITY, 1, 3, decimals, &label);
  assert_refused(
      &batch, (pc_row_policy){0}, 0,
      "s.npy, row 0: the probabilities sum to 1.000500, not 1; pass normalize to rescale "
      "such rows");
}

static const bad_row probability_rows[] = {
    {PCAL_PROBABILITY,
     3,
     {-0.005, 0.5, 0.505},
     1,
     1,
     PLAIN,
     "s.npy, row 17, column 0: the probability -0.005 is negative; pass normalize to clip "
     "and rescale the row"},
    {PCAL_PROBABILITY,
     3,
     {0, 1.005, 0},
     1,
     1,
     PLAIN,
     "s.npy, row 17, column 1: the probability 1.005 is above 1; pass normalize to clip "
     "and rescale the row"},
    {PCAL_PROBABILITY,
     3,
     {0.5, 0.25, -0.25},
     1,
     1,
     PLAIN,
     "s.npy, row 17, column 2: the probability -0.25 is negative; are these logits?"},
    {PCAL_PROBABILITY,
     3,
     {-1, 3, 0},
     1,
     1,
     NORMALIZE,
     "s.npy, row 17, column 1: the probability 3 is above 1; for percentages from 0 to "
     "100 give percent = 1, for scores before the softmax logits"},
    {PCAL_PROBABILITY,
     3,
     {0, 1.5, -0.5},
     1,
     1,
     NORMALIZE,
     "s.npy, row 17, column 1: the probability 1.5 is above 1; are these logits?"},
    {PCAL_PROBABILITY,
     1,
     {1.005},
     1,
     1,
     NORMALIZE,
     "s.npy, row 17, column 0: the probability 1.005 is above 1; are these logits?"},
    {PCAL_PROBABILITY,
     1,
     {-2},
     1,
     1,
     PLAIN,
     "s.npy, row 17, column 0: the probability -2 is negative; are these logits?"},
    {PCAL_CONFIDENCE,
     1,
     {1.5},
     1,
     1,
     PLAIN,
     "s.npy, row 17, column 0: the probability 1.5 is above 1; are these logits?"},
    {PCAL_LOG_PROBABILITY,
     3,
     {-1, 800, -1},
     1,
     1,
     NORMALIZE,
     "s.npy, row 17, column 1: the probability inf is above 1; log-probabilities are at most "
     "0; are these logits?"},
    {PCAL_PROBABILITY,
     1,
     {1.00002},
     1,
     0,
     PLAIN,
     "s.npy, row 17, column 0: the probability 1.00002 is above 1; are these logits?"},
};

TEST(refuses_bad_probabilities) {
  assert_all_refused(probability_rows, UNIT_COUNT(probability_rows));
  const double large[] = {0.5, -1};
  const int32_t label = 0;
  const pcal_batch batch = data_batch(PCAL_LOG_PROBABILITY, 1, 2, large, &label);
  data_result result = data_derive(&batch, (pc_row_policy){0});
  assert_int_equal(result.status, PCAL_DATA);
  assert_memory_equal(result.err.message, "s.npy, row 0, column 0: the probability 1.64872127",
                      50);
  assert_non_null(strstr(result.err.message,
                         " is above 1; log-probabilities are at most 0; are "
                         "these logits?"));
  data_free(&result);
}

#define NOT_ONE(sum) "s.npy, row 17: the probabilities sum to " sum ", not 1; "
#define RESCALE "pass normalize to rescale such rows"
#define SEVERAL \
  "are these logits, or scores of several labels at once (which have no single true class)?"

TEST(refuses_bad_sums) {
  static const bad_row cases[] = {
      {PCAL_PROBABILITY, 3, {0.5, 0.25, 0.2495}, 1, 1, PLAIN, NOT_ONE("0.9995000") RESCALE},
      {PCAL_PROBABILITY, 3, {0.5, 0.25, 0.2599}, 1, 1, PLAIN, NOT_ONE("1.009900") RESCALE},
      {PCAL_PROBABILITY, 3, {0.5, 0.25, 0.25002}, 1, 1, PLAIN, NOT_ONE("1.000020") RESCALE},
      {PCAL_PROBABILITY, 3, {0.5, 0.25, 0.24998}, 1, 1, PLAIN, NOT_ONE("0.9999800") RESCALE},
      {PCAL_PROBABILITY, 3, {0.5, 0.25, 0.15}, 1, 1, PLAIN, NOT_ONE("0.9000000") SEVERAL},
      {PCAL_PROBABILITY, 3, {0.5, 0.25, 0.15}, 1, 1, NORMALIZE, NOT_ONE("0.9000000") SEVERAL},
      {PCAL_PROBABILITY, 3, {0.5, 0.25, 0.2398}, 1, 1, NORMALIZE, NOT_ONE("0.9898000") SEVERAL},
      {PCAL_PROBABILITY, 3, {0.9, 0.8, 0.7}, 1, 1, NORMALIZE, NOT_ONE("2.400000") SEVERAL},
      {PCAL_PROBABILITY, 3, {0, 0, 0}, 1, 1, NORMALIZE, NOT_ONE("0.000000") SEVERAL},
      {PCAL_LOG_PROBABILITY,
       2,
       {-INFINITY, -INFINITY},
       1,
       1,
       PLAIN,
       NOT_ONE("0.000000") SEVERAL},
  };
  assert_all_refused(cases, UNIT_COUNT(cases));
}

/* Off by at most 1e-5: no bit changes, with and without rescaling. */
TEST(takes_small_faults_as_stored) {
  static const double rows[][3] = {{0.5, 0.25, 0.250009},
                                   {0.5, 0.25, 0.249991},
                                   {-0.000009, 0.5, 0.500009},
                                   {1.000009, 0, -0.000009}};
  static const int32_t labels[] = {0, 1, 2, 0};
  const pcal_batch batch = data_batch(PCAL_PROBABILITY, 4, 3, rows[0], labels);
  for (int normalize = 0; normalize <= 1; normalize++) {
    data_result result = data_derive_well(&batch, (pc_row_policy){.normalize = normalize});
    assert_int_equal(result.counts.normalized, 0);
    assert_int_equal(result.rows.count, 4);
    assert_memory_equal(result.rows.probs, rows, sizeof rows);
    data_free(&result);
  }
}

TEST(rescales_when_asked) {
  static const double rows[][3] = {
      {0.5, 0.25, 0.2599}, {0.5, 0.25, 0.25}, {-0.009, 0.5, 0.509}, {1.009, -0.009, 0}};
  static const double expected[][3] = {{0.5 / 1.0099, 0.25 / 1.0099, 0.2599 / 1.0099},
                                       {0.5, 0.25, 0.25},
                                       {0, 0.5 / 1.009, 0.509 / 1.009},
                                       {1, 0, 0}};
  static const int32_t labels[] = {2, 1, 1, 0};
  const pcal_batch batch = data_batch(PCAL_PROBABILITY, 4, 3, rows[0], labels);
  data_result result = data_derive_well(
      &batch, (pc_row_policy){.normalize = 1, .need_log = 1, .scores = PC_SCORES_FILLED});
  assert_int_equal(result.counts.normalized, 3);
  for (size_t i = 0; i < 4; i++) {
    const size_t y = (size_t)labels[i];
    for (size_t j = 0; j < 3; j++)
      assert_near(result.rows.probs[i * 3 + j], expected[i][j], 4e-16);
    assert_near(result.rows.log_true[i], log(expected[i][y]), 1e-15);
    assert_near(result.rows.scores[i * 3 + y], log(expected[i][y]), 1e-15);
    assert_near(result.rows.true_gap[i], 1 - expected[i][y], 1e-14);
  }
  assert_true(result.rows.scores[2 * 3] == -INFINITY);
  data_free(&result);
}

TEST(rescales_log_probabilities) {
  const double rows[] = {log(0.5), log(0.505)};
  const int32_t label = 1;
  const pcal_batch batch = data_batch(PCAL_LOG_PROBABILITY, 1, 2, rows, &label);
  data_result result = data_derive_well(&batch, (pc_row_policy){.normalize = 1, .need_log = 1});
  assert_int_equal(result.counts.normalized, 1);
  assert_near(result.rows.probs[0], 0.5 / 1.005, 1e-15);
  assert_near(result.rows.probs[1], 0.505 / 1.005, 1e-15);
  assert_near(result.rows.log_true[0], log(0.505 / 1.005), 1e-15);
  data_free(&result);
}

TEST(skips_and_counts_missing_rows) {
  static const double logits[][2] = {{1, 2}, {NAN, 2}, {3, 4}, {5, NAN}, {NAN, NAN}, {6, 7}};
  static const int32_t labels[] = {0, 1, PCAL_MISSING_LABEL, 1, PCAL_MISSING_LABEL, 1};
  static const double weights[] = {1, 1, 1, NAN, NAN, 2};
  pcal_batch batch = data_batch(PCAL_LOGIT, 6, 2, logits[0], labels);
  batch.weights = weights;
  batch.first_row = 1000;
  data_result result = data_derive_well(&batch, (pc_row_policy){.skip_missing = 1});
  assert_int_equal(result.counts.skipped, 4);
  assert_int_equal(result.counts.normalized, 0);
  assert_int_equal(result.rows.count, 2);
  assert_int_equal(result.rows.ids[0], 1000);
  assert_int_equal(result.rows.ids[1], 1005);
  assert_int_equal(result.rows.labels[1], 1);
  assert_same(result.rows.weights[1], 2);
  data_free(&result);
}

/* The same for kinds that take other paths. */
TEST(skips_missing_rows_of_every_kind) {
  static const pcal_kind kinds[] = {PCAL_PROBABILITY, PCAL_LOGIT, PCAL_LOG_PROBABILITY,
                                    PCAL_CONFIDENCE};
  static const int32_t labels[] = {1, 0, PCAL_MISSING_LABEL, 1};
  double scores[4 * 40];
  for (size_t k = 0; k < UNIT_COUNT(kinds); k++) {
    for (size_t columns = 1; columns <= 40; columns += 39) {
      if (columns == 1 ? kinds[k] == PCAL_LOG_PROBABILITY : kinds[k] == PCAL_CONFIDENCE)
        continue;
      for (size_t i = 0; i < 4 * columns; i++)
        scores[i] =
            kinds[k] == PCAL_LOG_PROBABILITY ? -log((double)columns) : 1.0 / (double)columns;
      scores[columns] = NAN;
      const pcal_batch batch = data_batch(kinds[k], 4, columns, scores, labels);
      data_result result = data_derive_well(&batch, (pc_row_policy){.skip_missing = 1});
      assert_int_equal(result.counts.skipped, 2);
      assert_int_equal(result.rows.count, 2);
      assert_int_equal(result.rows.ids[0], 0);
      assert_int_equal(result.rows.ids[1], 3);
      data_free(&result);
    }
  }
}

TEST(names_things_without_names) {
  static const double scores[] = {NAN, 1};
  int32_t label = PCAL_MISSING_LABEL;
  double weight = -1;
  pcal_batch batch = data_batch(PCAL_LOGIT, 1, 2, scores, &label);
  batch.scores_name = batch.labels_name = batch.weights_name = NULL;
  assert_refused(&batch, (pc_row_policy){0}, 0,
                 "labels, row 0: the label is missing; remove the row or pass skip_missing");
  label = 1;
  assert_refused(&batch, (pc_row_policy){0}, 0,
                 "scores, row 0, column 0: the score is missing (NaN); remove the row or pass "
                 "skip_missing");
  batch.weights = &weight;
  assert_refused(&batch, (pc_row_policy){0}, 0,
                 "weights, row 0: the weight -1 is negative; a weight says how often the row "
                 "occurred");
}

/* Of several bad rows the first is reported. */
TEST(reports_the_first_bad_row) {
  double logits[20][2];
  int32_t labels[20];
  for (size_t i = 0; i < 20; i++) {
    logits[i][0] = logits[i][1] = i == 7 || i == 18 ? NAN : 0;
    labels[i] = i == 9 ? 5 : 0;
  }
  const pcal_batch batch = data_batch(PCAL_LOGIT, 20, 2, logits[0], labels);
  assert_refused(&batch, (pc_row_policy){0}, 7,
                 "s.npy, row 7, column 0: the score is missing (NaN); remove the row or pass "
                 "skip_missing");
  assert_refused(&batch, (pc_row_policy){.skip_missing = 1}, 9,
                 "l.npy, row 9: label 5 is outside 0 to 1; labels are class numbers counted "
                 "from 0");
}
