/* Numbers in brackets are the rules of apply.c. */
#include "calibrators/apply.h"

#include "calibrator_help.h"

static pcal_calibrator *temperature_for(pcal_kind kind, size_t columns, double t) {
  char text[1024], number[PC_NUMBER_MAX];
  snprintf(
      text, sizeof text,
      "{\"format\": \"propercal-calibrator\", \"version\": 1, \"spec\": \"temperature\", "
      "\"method\": \"temperature\", \"classes\": %zu, \"columns\": %zu, \"input\": \"%s\", "
      "\"normalize\": false, \"parameters\": {\"T\": %s}, \"fit\": {\"status\": "
      "\"converged\", \"iterations\": 1, \"gradient\": 0, \"objective\": {\"name\": "
      "\"log\", \"before\": 1, \"after\": 1}, \"rows\": 1, \"weighted\": false, \"weight\": "
      "1, \"normalized_rows\": 0, \"skipped_rows\": 0, \"warnings\": []}}",
      columns == 1 ? 2 : columns, columns, pcal_kind_name(kind), pc_show(t, number));
  return help_load(text);
}

static void expect_refused(const pcal_calibrator *calibrator, const pcal_batch *batch,
                           const char *sentence) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_error err;
  double out[64];
  assert_int_equal(pcal_calibrator_apply(calibrator, batch, &env, out, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, sentence);
  assert_int_equal(atomic_load(&memory.live), 0);
}

/* [1] */
TEST(refuses_other_kinds_and_columns) {
  const double scores[] = {0.5, 0.25, 0.25};
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, 2, 2.0);
  pcal_batch batch = help_batch(PCAL_PROBABILITY, scores, NULL, 1, 2);
  batch.scores_name = "p.npy";
  expect_refused(calibrator, &batch,
                 "p.npy: the calibrator was fitted on logits and is applied to probs; give "
                 "the same kind of scores, or fit on these");
  batch.kind = PCAL_LOGIT;
  batch.columns = 3;
  expect_refused(calibrator, &batch,
                 "p.npy: the calibrator was fitted on 2 columns of scores and is applied to 3; "
                 "give the same classes, or fit on these");
  batch.columns = 1;
  batch.scores_name = NULL;
  expect_refused(
      calibrator, &batch,
      "scores: the calibrator was fitted on 2 columns of scores and is applied to 1; "
      "give the same classes, or fit on these");
  pcal_calibrator_free(calibrator);
}

/* [1] Each kind is called as it is given. */
TEST(names_both_kinds) {
  static const struct {
    pcal_kind kind;
    const char *name;
  } kinds[] = {{PCAL_PROBABILITY, "probs"},
               {PCAL_LOGIT, "logits"},
               {PCAL_LOG_PROBABILITY, "log_probs"},
               {PCAL_CONFIDENCE, "confidence"},
               {PCAL_MEAN_VARIANCE, "mean and variance"},
               {PCAL_MEAN_STD, "mean and std"},
               {PCAL_QUANTILES, "quantiles"},
               {PCAL_SAMPLES, "samples"},
               {PCAL_SAMPLE_VECTORS, "samples"}};
  const double scores[] = {0.5, 0.5};
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, 2, 2.0);
  for (size_t a = 0; a < UNIT_COUNT(kinds); a++)
    for (size_t b = 0; b < UNIT_COUNT(kinds); b++) {
      char sentence[300];
      const pcal_batch batch = help_batch(kinds[b].kind, scores, NULL, 1, 2);
      calibrator->layout.kind = kinds[a].kind;
      snprintf(sentence, sizeof sentence,
               "scores: the calibrator was fitted on %s and is applied to %s; give the same "
               "kind of scores, or fit on these",
               kinds[a].name, kinds[b].name);
      if (kinds[a].kind == PCAL_LOG_PROBABILITY && kinds[b].kind == PCAL_LOGIT)
        snprintf(sentence, sizeof sentence,
                 "scores: the calibrator was fitted on log_probs, or on logits with ragged, "
                 "and is applied to logits without it; add ragged if it was fitted so, or fit "
                 "on these");
      if (a != b)
        expect_refused(calibrator, &batch, sentence);
    }
  pcal_calibrator_free(calibrator);
}

/* [2] Probabilities that rounding makes equal: the top class stays the first of the largest. */
TEST(rounding_keeps_the_top_class) {
  enum { K = 4 };
  static const double logits[][K] = {
      {0, 1e-14, 0, 1e-14}, {0, 0, 0, 1e-14}, {1e-14, 0, 0, 0}, {0, 0, 0, 0}};
  static const size_t tops[] = {1, 3, 0, 0};
  const double quarter = 0.25, below = nextafter(0.25, 0.0);
  const float narrow_below = nextafterf(0.25f, 0.0f);
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, K, 1e4);
  for (size_t i = 0; i < UNIT_COUNT(logits); i++) {
    double wide[K];
    float narrow[K], in[K];
    pcal_batch batch = help_batch(PCAL_LOGIT, logits[i], NULL, 1, K);
    help_apply(calibrator, &batch, wide);
    for (size_t k = 0; k < K; k++)
      in[k] = (float)logits[i][k];
    batch.type = PCAL_F32;
    batch.scores = in;
    batch.row_stride = sizeof in;
    batch.column_stride = sizeof(float);
    help_apply(calibrator, &batch, narrow);
    for (size_t k = 0; k < K; k++) {
      assert_same(wide[k], k < tops[i] ? below : quarter);
      assert_true(narrow[k] == (k < tops[i] ? narrow_below : 0.25f));
    }
  }
  pcal_calibrator_free(calibrator);
}

/* [2] One rounding: the float is the double rounded. */
TEST(rounds_once_to_the_input_width) {
  enum { ROWS = 300, K = 5 };
  static double wide[ROWS * K], wide_out[ROWS * K];
  static float narrow[ROWS * K], narrow_out[ROWS * K];
  static int32_t labels[ROWS];
  help_draw(wide, labels, ROWS, K, 3.0, 1.0);
  for (size_t i = 0; i < ROWS * K; i++) {
    narrow[i] = (float)wide[i];
    wide[i] = (double)narrow[i];
  }
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, K, 1.7);
  pcal_batch batch = help_batch(PCAL_LOGIT, wide, NULL, ROWS, K);
  help_apply(calibrator, &batch, wide_out);
  batch.type = PCAL_F32;
  batch.scores = narrow;
  batch.row_stride = K * sizeof(float);
  batch.column_stride = sizeof(float);
  help_apply(calibrator, &batch, narrow_out);
  for (size_t i = 0; i < ROWS * K; i++)
    assert_true(narrow_out[i] == (float)wide_out[i]);
  for (size_t i = 0; i < ROWS; i++) {
    double sum = 0.0, plain = 0.0;
    for (size_t j = 0; j < K; j++) {
      sum += wide_out[i * K + j];
      plain += exp(wide[i * K + j] / 1.7);
    }
    assert_near(sum, 1.0, 1e-15);
    assert_near(wide_out[i * K], exp(wide[i * K] / 1.7) / plain, 1e-14);
  }
  pcal_calibrator_free(calibrator);
}

/* Contiguous floats have a fast path; others are converted first. */
TEST(both_paths_of_floats_agree) {
  enum { CELLS = 6000 };
  static const size_t widths[] = {2, 3, 16, 17, 32, 33, 600, 5000};
  static double wide[CELLS];
  static float dense[CELLS], apart[2 * CELLS], out[CELLS], out_apart[CELLS];
  static int32_t labels[CELLS];
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    const size_t k = widths[w], rows = k > 100 ? CELLS / k : 37;
    help_draw(wide, labels, rows, k, 4.0, 1.0);
    for (size_t i = 0; i < rows * k; i++)
      dense[i] = apart[2 * i] = (float)wide[i];
    dense[1] = apart[2] = 3e38f; /* finite, but the sum of the row is not */
    dense[0] = apart[0] = w % 2 == 0 ? 3e38f : -3e38f;
    pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, k, 1.3);
    pcal_batch batch = help_batch(PCAL_LOGIT, wide, NULL, rows, k);
    batch.type = PCAL_F32;
    batch.scores = dense;
    batch.row_stride = (ptrdiff_t)(k * sizeof(float));
    batch.column_stride = sizeof(float);
    pcal_batch other = batch;
    other.scores = apart;
    other.row_stride = (ptrdiff_t)(2 * k * sizeof(float));
    other.column_stride = 2 * sizeof(float);
    help_apply(calibrator, &batch, out);
    help_apply(calibrator, &other, out_apart);
    assert_memory_equal(out, out_apart, rows * k * sizeof *out);
    for (size_t i = 0; i < rows; i++) /* rows with a gap between them */
      memcpy(apart + i * (k + 1), dense + i * k, k * sizeof *apart);
    other.row_stride = (ptrdiff_t)((k + 1) * sizeof(float));
    other.column_stride = sizeof(float);
    help_apply(calibrator, &other, out_apart);
    assert_memory_equal(out, out_apart, rows * k * sizeof *out);
    help_apply(calibrator, &batch, dense); /* in place */
    assert_memory_equal(dense, out, rows * k * sizeof *out);
    pcal_calibrator_free(calibrator);
  }
}

TEST(floats_must_be_finite) {
  enum { ROWS = 50 };
  static const size_t widths[] = {4, 40};
  for (size_t w = 0; w < UNIT_COUNT(widths); w++) {
    static float scores[ROWS * 40], out[ROWS * 40];
    const size_t k = widths[w];
    pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, k, 1.3);
    pcal_batch batch = help_batch(PCAL_LOGIT, NULL, NULL, ROWS, k);
    pcal_error err;
    batch.type = PCAL_F32;
    batch.scores = scores;
    batch.row_stride = (ptrdiff_t)(k * sizeof(float));
    batch.column_stride = sizeof(float);
    for (size_t row = 0; row < ROWS; row += 7) {
      memset(scores, 0, sizeof scores);
      scores[row * k + k - 1] = row % 2 == 0 ? NAN : INFINITY;
      assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, out, &err), PCAL_DATA);
      assert_true(err.row == row);
    }
    pcal_calibrator_free(calibrator);
  }
}

/* Column-major, and rows in reverse. */
TEST(takes_any_strides) {
  const double columns[] = {1, 2, 3, 0, 0, 1};
  double out[3][2], back[3][2];
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, 2, 2.0);
  pcal_batch batch = help_batch(PCAL_LOGIT, columns, NULL, 3, 2);
  batch.row_stride = sizeof(double);
  batch.column_stride = 3 * sizeof(double);
  help_apply(calibrator, &batch, out);
  for (int i = 0; i < 3; i++)
    assert_near(out[i][0], 1 / (1 + exp((columns[3 + i] - columns[i]) / 2)), 1e-15);
  batch.scores = columns + 2;
  batch.row_stride = -(ptrdiff_t)sizeof(double);
  help_apply(calibrator, &batch, back);
  for (int i = 0; i < 3; i++)
    assert_memory_equal(back[i], out[2 - i], sizeof out[0]);
  pcal_calibrator_free(calibrator);
}

/* Contiguous rows, rows with gaps, and single rows; scores that are not finite are found in
 * all.
 */
TEST(any_layout_of_rows) {
  enum { ROWS = 40, K = 5 };
  double dense[ROWS * K], apart[ROWS][K + 1], out[ROWS * K], out_apart[ROWS * K], one[K];
  int32_t labels[ROWS];
  help_draw(dense, labels, ROWS, K, 3.0, 1.0);
  for (size_t i = 0; i < ROWS * K; i++)
    apart[i / K][i % K] = dense[i];
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, K, 1.7);
  pcal_batch batch = help_batch(PCAL_LOGIT, dense, NULL, ROWS, K);
  pcal_batch spaced = help_batch(PCAL_LOGIT, &apart[0][0], NULL, ROWS, K);
  spaced.row_stride = sizeof apart[0];
  help_apply(calibrator, &batch, out);
  help_apply(calibrator, &spaced, out_apart);
  assert_memory_equal(out, out_apart, sizeof out);
  for (size_t i = 0; i < ROWS; i++) {
    const pcal_batch single = help_batch(PCAL_LOGIT, dense + i * K, NULL, 1, K);
    help_apply(calibrator, &single, one);
    assert_memory_equal(one, out + i * K, sizeof one);
  }
  dense[9 * K + 2] = apart[9][2] = NAN;
  batch.rows = spaced.rows = 12;
  static const char sentence[] =
      "scores, row 9, column 2: the score is missing (NaN); remove the row: every row that "
      "goes in must come out";
  expect_refused(calibrator, &batch, sentence);
  expect_refused(calibrator, &spaced, sentence);
  pcal_calibrator_free(calibrator);
}

/* [3] Bad labels and weights are ignored; first_row appears in errors only. */
TEST(reads_scores_only) {
  const double logits[] = {1.0, -1.0};
  const int32_t labels[] = {77, PCAL_MISSING_LABEL};
  const double weights[] = {0.0, NAN};
  double out[2], plain[2];
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, 1, 0.5);
  pcal_batch batch = help_batch(PCAL_LOGIT, logits, NULL, 2, 1);
  help_apply(calibrator, &batch, plain);
  batch.labels = labels;
  batch.weights = weights;
  batch.first_row = 1000;
  help_apply(calibrator, &batch, out);
  assert_memory_equal(out, plain, sizeof out);
  assert_near(out[0], 1 / (1 + exp(-2.0)), 1e-15);
  assert_near(out[1], 1 / (1 + exp(2.0)), 1e-15);
  pcal_calibrator_free(calibrator);
}

TEST(refuses_bad_rows_with_its_own_remedies) {
  const double missing[][2] = {{0.5, 0.5}, {NAN, 0.5}}, off[][2] = {{0.5, 0.505}};
  pcal_calibrator *calibrator = temperature_for(PCAL_PROBABILITY, 2, 2.0);
  pcal_batch batch = help_batch(PCAL_PROBABILITY, &missing[0][0], NULL, 2, 2);
  batch.first_row = 5;
  expect_refused(
      calibrator, &batch,
      "scores, row 6, column 0: the score is missing (NaN); remove the row: every row that "
      "goes in must come out");
  pcal_batch loose = help_batch(PCAL_PROBABILITY, &off[0][0], NULL, 1, 2);
  expect_refused(calibrator, &loose,
                 "scores, row 0: the probabilities sum to 1.005000, not 1; fit the calibrator "
                 "with normalize to rescale such rows");
  calibrator->normalize = 1;
  double out[2];
  help_apply(calibrator, &loose, out);
  assert_near(out[0] + out[1], 1.0, 1e-15);
  pcal_calibrator_free(calibrator);
}

TEST(no_rows_are_allowed) {
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, 3, 2.0);
  pcal_batch batch = help_batch(PCAL_LOGIT, NULL, NULL, 0, 3);
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, NULL, NULL), PCAL_OK);
  batch.type = PCAL_F32;
  batch.row_stride = 3 * sizeof(float);
  batch.column_stride = sizeof(float);
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, NULL, NULL), PCAL_OK);
  pcal_calibrator_free(calibrator);
}

/* More classes than a block of results holds. */
TEST(many_classes) {
  enum { K = 10000 };
  double *logits = calloc(2 * K, sizeof *logits), *out = calloc(2 * K, sizeof *out);
  logits[K + 7] = 3.0;
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, K, 1.5);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, NULL, 2, K);
  help_apply(calibrator, &batch, out);
  assert_near(out[0], 1.0 / K, 1e-13);
  assert_near(out[K + 7], exp(2.0) / (exp(2.0) + K - 1), 1e-12);
  pcal_calibrator_free(calibrator);
  free(logits);
  free(out);
}

/* A row of floats is longer than a task. */
TEST(more_classes_than_a_task_takes) {
  enum { K = 70000, ROWS = 3 };
  float *logits = calloc(ROWS * K, sizeof *logits), *out = calloc(ROWS * K, sizeof *out);
  for (size_t i = 0; i < ROWS; i++)
    logits[i * K + 60000 + i] = 3.0f;
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, K, 1.5);
  pcal_batch batch = help_batch(PCAL_LOGIT, NULL, NULL, ROWS, K);
  batch.type = PCAL_F32;
  batch.scores = logits;
  batch.row_stride = (ptrdiff_t)(K * sizeof(float));
  batch.column_stride = sizeof(float);
  help_apply(calibrator, &batch, out);
  for (size_t i = 0; i < ROWS; i++) {
    assert_near((double)out[i * K], 1 / (exp(2.0) + K - 1), 1e-7);
    assert_near((double)out[i * K + 60000 + i], exp(2.0) / (exp(2.0) + K - 1), 1e-7);
  }
  pcal_calibrator_free(calibrator);
  free(logits);
  free(out);
}

/* Threads are started, and do not change results. */
TEST(threads_do_not_matter) {
  enum { ROWS = 20000, K = 40 };
  double *logits = malloc(ROWS * K * sizeof *logits), *out[2];
  int32_t *labels = malloc(ROWS * sizeof *labels);
  help_draw(logits, labels, ROWS, K, 3.0, 1.0);
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, K, 1.3);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, NULL, ROWS, K);
  for (unsigned i = 0; i < 2; i++) {
    pcal_env env = PCAL_ENV_INIT;
    env.threads = i == 0 ? 1 : 5;
    out[i] = malloc(ROWS * K * sizeof *out[i]);
    assert_int_equal(pcal_calibrator_apply(calibrator, &batch, &env, out[i], NULL), PCAL_OK);
  }
  assert_memory_equal(out[0], out[1], ROWS * K * sizeof *out[0]);
  pcal_calibrator_free(calibrator);
  free(logits);
  free(labels);
  free(out[0]);
  free(out[1]);
}

TEST(strides_may_be_omitted) {
  enum { ROWS = 5, K = 3 };
  static double logits[ROWS * K], given[ROWS * K], left_out[ROWS * K];
  static int32_t labels[ROWS];
  help_draw(logits, labels, ROWS, K, 3.0, 1.0);
  pcal_calibrator *calibrator = temperature_for(PCAL_LOGIT, K, 1.7);
  pcal_batch batch = help_batch(PCAL_LOGIT, logits, NULL, ROWS, K);
  help_apply(calibrator, &batch, given);
  batch.row_stride = batch.column_stride = 0;
  assert_int_equal(pcal_calibrator_apply(calibrator, &batch, NULL, left_out, NULL), PCAL_OK);
  assert_memory_equal(left_out, given, sizeof given);
  pcal_calibrator_free(calibrator);
}
