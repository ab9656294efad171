/* Numbers in brackets are the rules of apply_source.c. */
#include "calibrator_help.h"
#include "io/source.h"

static const double probs[][3] = {{0.5, 0.25, 0.25}, {0.125, 0.75, 0.125}, {0.1, 0.2, 0.7}};
static const int32_t labels[] = {0, 1, 2};

static pcal_batch three_rows(void) {
  return help_batch(PCAL_PROBABILITY, &probs[0][0], labels, 3, 3);
}

static pcal_source *borrow(const pcal_batch *batch, const char *const *names) {
  pcal_source *source = NULL;
  assert_int_equal(pc_source_borrow(batch, names, NULL, &source, NULL), PCAL_OK);
  return source;
}

static sink_bytes run(const pcal_batch *batch, const char *const *names, pcal_format format,
                      const pcal_calibrator *calibrator) {
  sink_bytes text = {0};
  pcal_error err;
  pcal_source *source = borrow(batch, names);
  if (pcal_calibrator_apply_source(calibrator, source, format, NULL, sink_collect, &text,
                                   &err) != PCAL_OK)
    fail_msg("%s", err.message);
  pcal_source_free(source);
  return text;
}

/* [1] */
TEST(writes_npy) {
  const pcal_batch batch = three_rows();
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  sink_bytes text = run(&batch, NULL, PCAL_NPY, calibrator);
  assert_int_equal(text.length, 128 + sizeof probs);
  assert_memory_equal(text.bytes, "\x93NUMPY\x01\x00", 8);
  assert_memory_equal(text.bytes + 10,
                      "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3)", 56);
  unit_native_order(text.bytes + 128, sizeof(double), sizeof probs / sizeof(double));
  assert_memory_equal(text.bytes + 128, probs, sizeof probs);
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}

TEST(one_column_is_one_dimensional) {
  const float single[] = {0.5f, 0.75f};
  pcal_batch batch = help_batch(PCAL_PROBABILITY, NULL, labels, 2, 1);
  batch.type = PCAL_F32;
  batch.scores = single;
  batch.row_stride = sizeof(float);
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  sink_bytes text = run(&batch, NULL, PCAL_NPY, calibrator);
  assert_memory_equal(text.bytes + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)",
                      54);
  assert_int_equal(text.length, 128 + sizeof single);
  unit_native_order(text.bytes + 128, sizeof *single, UNIT_COUNT(single));
  assert_memory_equal(text.bytes + 128, single, sizeof single);
  free(text.bytes);
  text = run(&batch, NULL, PCAL_CSV, calibrator);
  assert_string_equal(text.bytes, "0.5\n0.75\n");
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}

/* [2] */
TEST(writes_csv) {
  static const char *const names[] = {"cat", "a,\"b\"", " dog"};
  static const char *const numbers[] = {"0", "1", "2"}, *const gaps[] = {"x", "NA", "y"};
  const char *rows = "0.5,0.25,0.25\n0.125,0.75,0.125\n0.1,0.2,0.7\n";
  const pcal_batch batch = three_rows();
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  static const struct {
    const char *const *names;
    const char *header;
  } cases[] = {{NULL, ""},
               {names, "cat,\"a,\"\"b\"\"\",\" dog\"\n"},
               {numbers, "probs.0,probs.1,probs.2\n"},
               {gaps, "probs.x,probs.NA,probs.y\n"}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    char expected[256];
    sink_bytes text = run(&batch, cases[i].names, PCAL_CSV, calibrator);
    snprintf(expected, sizeof expected, "%s%s", cases[i].header, rows);
    assert_string_equal(text.bytes, expected);
    free(text.bytes);
  }
  pcal_calibrator_free(calibrator);
}

/* Digits for the width of the input: 0.1f, not 0.10000000149011612. */
TEST(csv_digits_follow_the_width) {
  const float narrow[][2] = {{0.1f, 0.9f}};
  pcal_batch batch = help_batch(PCAL_PROBABILITY, NULL, labels, 1, 2);
  batch.type = PCAL_F32;
  batch.scores = narrow;
  batch.row_stride = 2 * sizeof(float);
  batch.column_stride = sizeof(float);
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  sink_bytes text = run(&batch, NULL, PCAL_CSV, calibrator);
  assert_string_equal(text.bytes, "0.1,0.9\n");
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}

/* [3] */
TEST(refuses_another_order_of_classes) {
  static const char *const fitted[] = {"cat", "dog", "cow"};
  static const char *const moved[] = {"cat", "cow", "dog"}, *const other[] = {"c", "d", "e"};
  static const char *const twice[] = {"cat", "cat", "dog"};
  const pcal_batch batch = three_rows();
  pcal_source *source = borrow(&batch, fitted);
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  sink_bytes text = {0};
  assert_int_equal(pcal_fit_run(source, NULL, NULL, &calibrator, NULL), PCAL_OK);
  pcal_source_free(source);
  pcal_batch named = batch;
  named.scores_name = "moved.csv";
  source = borrow(&named, moved);
  assert_int_equal(pcal_calibrator_apply_source(calibrator, source, PCAL_CSV, NULL,
                                                sink_collect, &text, &err),
                   PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "moved.csv, column 1: it holds the scores of \"cow\", which the calibrator "
                  "was fitted on as "
                  "column 2; give the columns in the same order");
  assert_int_equal(text.length, 0);
  pcal_source_free(source);
  text = run(&batch, other, PCAL_CSV, calibrator);
  free(text.bytes);
  text = run(&batch, fitted, PCAL_CSV, calibrator);
  free(text.bytes);
  pcal_calibrator_free(calibrator);
  source = borrow(&batch, twice);
  assert_int_equal(pcal_fit_run(source, NULL, NULL, &calibrator, NULL), PCAL_OK);
  pcal_source_free(source);
  text = run(&batch, moved, PCAL_CSV, calibrator);
  free(text.bytes);
  pcal_calibrator_free(calibrator);
}

TEST(refuses_before_the_first_byte) {
  const pcal_batch batch = three_rows();
  pcal_calibrator *calibrator = help_fit(&batch, "histogram");
  pcal_batch two = help_batch(PCAL_PROBABILITY, &probs[0][0], NULL, 3, 2);
  two.scores_name = "two.npy";
  pcal_source *source = borrow(&two, NULL);
  sink_bytes text = {0};
  pcal_error err;
  assert_int_equal(pcal_calibrator_apply_source(calibrator, source, PCAL_NPY, NULL,
                                                sink_collect, &text, &err),
                   PCAL_DATA);
  assert_sentence(
      err, PCAL_DATA,
      "two.npy: the calibrator was fitted on 3 columns of scores and is applied to 2; "
      "give the same classes, or fit on these");
  assert_int_equal(text.length, 0);
  assert_int_equal(pcal_calibrator_apply_source(calibrator, source, PCAL_TEXT, NULL,
                                                sink_collect, &text, &err),
                   PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE, "calibrated rows are written as PCAL_NPY or PCAL_CSV");
  pcal_source_free(source);
  pcal_calibrator_free(calibrator);
}

TEST(reports_a_full_sink) {
  static const char *const names[] = {"a", "b", "c"};
  static const pcal_format formats[] = {PCAL_NPY, PCAL_CSV};
  const pcal_batch batch = three_rows();
  pcal_calibrator *calibrator = help_fit(&batch, "identity");
  for (size_t i = 0; i < 4; i++) {
    pcal_error err;
    pcal_source *source = borrow(&batch, i < 2 ? names : NULL);
    assert_int_equal(pcal_calibrator_apply_source(calibrator, source, formats[i % 2], NULL,
                                                  sink_refuse, NULL, &err),
                     PCAL_IO);
    assert_sentence(err, PCAL_IO, "the output could not be written");
    pcal_source_free(source);
  }
  pcal_calibrator_free(calibrator);
}

/* Many windows: the same bytes as one batch, in pieces of bounded size. */
typedef struct pieces {
  sink_bytes text;
  size_t largest;
} pieces;

static int piece_sink(void *user, const char *bytes, size_t count) {
  pieces *all = user;
  all->largest = count > all->largest ? count : all->largest;
  return sink_collect(&all->text, bytes, count);
}

TEST(streams_in_windows) {
  enum { ROWS = 3000, K = 500 };
  double *logits = malloc(ROWS * K * sizeof *logits), *out = malloc(ROWS * K * sizeof *out);
  int32_t *drawn = malloc(ROWS * sizeof *drawn);
  help_draw(logits, drawn, ROWS, K, 2.0, 1.0);
  const pcal_batch batch = help_batch(PCAL_LOGIT, logits, drawn, ROWS, K);
  pcal_calibrator *calibrator = help_fit(&batch, "temperature");
  pieces all = {{NULL, 0, 0}, 0};
  pcal_source *source = borrow(&batch, NULL);
  assert_int_equal(
      pcal_calibrator_apply_source(calibrator, source, PCAL_NPY, NULL, piece_sink, &all, NULL),
      PCAL_OK);
  help_apply(calibrator, &batch, out);
  assert_int_equal(all.text.length, 128 + ROWS * K * sizeof *out);
  unit_native_order(all.text.bytes + 128, sizeof *out, ROWS * K);
  assert_memory_equal(all.text.bytes + 128, out, ROWS * K * sizeof *out);
  assert_true(all.text.calls >= 3);
  assert_true(all.largest <= (size_t)4 << 20);
  pcal_source_free(source);
  pcal_calibrator_free(calibrator);
  free(all.text.bytes);
  free(logits);
  free(out);
  free(drawn);
}
