#include "io/label_reader.h"

#include <math.h>

#include "io_help.h"

#define MISSING PCAL_MISSING_LABEL

typedef struct labels_fixture {
  pcal_env env;
  pc_input_file bytes;
  pc_reader reader;
  pc_name_table classes;
  pc_label_reader labels;
} labels_fixture;

/* classes: names separated by spaces. */
static pcal_status labels_open(labels_fixture *f, const char *name, const void *data,
                               size_t length, const char *classes) {
  uint32_t number;
  pc_input_file_from_memory(name, data, length, &f->bytes);
  pc_name_table_init(&f->classes, &f->env);
  while (*classes != '\0') {
    const size_t size = strcspn(classes, " ");
    PC_TRY(pc_name_table_add(&f->classes, (pc_slice){classes, size}, &number, NULL));
    classes += size + (classes[size] == ' ');
  }
  const pc_read_request request = {.env = &f->env, .bytes = &f->bytes, .as = PC_COLUMN_LABELS};
  f->labels = (pc_label_reader){.reader = &f->reader,
                                .classes = &f->classes,
                                .scores_name = "scores.csv",
                                .meaning = "labels are class numbers counted from 0"};
  return pc_reader_open(&request, &f->reader, NULL);
}

static void labels_done(labels_fixture *f) {
  pc_label_reader_free(&f->labels);
  pc_name_table_free(&f->classes);
  pc_reader_close(&f->reader);
}

static void expect_labels(const char *name, const void *data, size_t length,
                          const char *classes, const int32_t *expected, size_t count) {
  for (size_t step = 1; step <= count + 1; step++) {
    labels_fixture f = {.env = help_plain_env()};
    pcal_error err;
    size_t row = 0, rows = 0;
    assert_int_equal(labels_open(&f, name, data, length, classes), PCAL_OK);
    do {
      const int32_t *out = NULL;
      if (pc_label_reader_next(&f.labels, step, row, &out, &rows, &err) != PCAL_OK)
        fail_msg("%s", err.message);
      assert_memory_equal(out, expected + row, rows * sizeof *out);
      row += rows;
    } while (rows == step);
    assert_int_equal(row, count);
    labels_done(&f);
  }
}

static void expect_npy(const char *descr, const char *shape, const void *data, size_t size,
                       const int32_t *expected, size_t count) {
  const help_npy npy = help_npy_make(1, descr, 0, shape, data, size);
  expect_labels("y.npy", npy.bytes, npy.length, "", expected, count);
  free(npy.bytes);
}

TEST(takes_whole_numbers_of_any_type) {
  const int32_t expected[] = {0, 2, 1};
  expect_npy("|i1", "(3,)", (int8_t[]){0, 2, 1}, 3, expected, 3);
  expect_npy("|u1", "(3,)", (uint8_t[]){0, 2, 1}, 3, expected, 3);
  expect_npy("=i2", "(3,)", (int16_t[]){0, 2, 1}, 6, expected, 3);
  expect_npy("=u2", "(3,)", (uint16_t[]){0, 2, 1}, 6, expected, 3);
  expect_npy("=i4", "(3,)", (int32_t[]){0, 2, 1}, 12, expected, 3);
  expect_npy("=u4", "(3,)", (uint32_t[]){0, 2, 1}, 12, expected, 3);
  expect_npy("=i8", "(3,)", (int64_t[]){0, 2, 1}, 24, expected, 3);
  expect_npy("=u8", "(3, 1)", (uint64_t[]){0, 2, 1}, 24, expected, 3);
  expect_npy("=f4", "(3,)", (float[]){0, 2, 1}, 12, expected, 3);
  expect_npy("=f8", "(3,)", (double[]){-0.0, 2, 1}, 24, expected, 3);
  expect_npy("|b1", "(3,)", (uint8_t[]){0, 1, 7}, 3, (int32_t[]){0, 1, 1}, 3);
  expect_npy("=f2", "(5,)", (uint16_t[]){0x0000, 0x3C00, 0x8000, 0x6800, 0xC000}, 10,
             (int32_t[]){0, 1, 0, 2048, -2}, 5);
  expect_npy("=f2", "(2,)", (uint16_t[]){0x7E00, 0x3C00}, 4, (int32_t[]){MISSING, 1}, 2);
  expect_npy("=f4", "(2,)", (float[]){NAN, 1}, 8, (int32_t[]){MISSING, 1}, 2);
  expect_npy("|i1", "(2,)", (int8_t[]){-128, 127}, 2, (int32_t[]){-128, 127}, 2);
  expect_npy("=i2", "(2,)", (int16_t[]){-32768, 32767}, 4, (int32_t[]){-32768, 32767}, 2);
  expect_npy("=u2", "(2,)", (uint16_t[]){65535, 9}, 4, (int32_t[]){65535, 9}, 2);
  expect_npy("|u1", "(3,)", (uint8_t[]){0, 255, 128}, 3, (int32_t[]){0, 255, 128}, 3);
  expect_npy("=i8", "(3,)", (int64_t[]){INT32_MAX, -5, INT32_MIN + 1}, 24,
             (int32_t[]){INT32_MAX, -5, INT32_MIN + 1}, 3);
}

TEST(marks_missing_ones) {
  expect_npy("=f8", "(3,)", (double[]){1, NAN, 0}, 24, (int32_t[]){1, MISSING, 0}, 3);
  expect_npy("=i4", "(2,)", (int32_t[]){1, INT32_MIN}, 8, (int32_t[]){1, MISSING}, 2);
  expect_npy("=i8", "(2,)", (int64_t[]){1, INT32_MIN}, 16, (int32_t[]){1, MISSING}, 2);
  expect_npy("=f8", "(2, 2)", (double[]){0, 1, NAN, 1}, 32, (int32_t[]){1, MISSING}, 2);
  const char *text = "y,x\n1,a\n,a\nNA,a\nnan,a\nnull,a\nNone,a\nNaN,a\n";
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pc_input_file_from_memory("y.csv", text, strlen(text), &bytes);
  pc_reader reader;
  const pc_read_request request = {
      .env = &env, .bytes = &bytes, .selector = "y", .as = PC_COLUMN_LABELS};
  assert_int_equal(pc_reader_open(&request, &reader, NULL), PCAL_OK);
  const pc_name_table none = {.env = &env};
  pc_label_reader labels = {.reader = &reader, .classes = &none};
  const int32_t *out = NULL;
  size_t rows = 0;
  assert_int_equal(pc_label_reader_next(&labels, 20, 0, &out, &rows, NULL), PCAL_OK);
  assert_int_equal(rows, 7);
  assert_int_equal(out[0], 1);
  for (size_t i = 1; i < 7; i++)
    assert_int_equal(out[i], MISSING);
  pc_label_reader_free(&labels);
  pc_reader_close(&reader);
}

TEST(takes_one_hot_rows) {
  expect_npy("|u1", "(3, 3)", (uint8_t[]){0, 0, 1, 1, 0, 0, 0, 1, 0}, 9, (int32_t[]){2, 0, 1},
             3);
  expect_npy("=f4", "(2, 2)", (float[]){1, 0, 0, 1}, 16, (int32_t[]){0, 1}, 2);
  const char *text = "a,b\n0,1\n1,0\n";
  expect_labels("y.csv", text, strlen(text), "", (int32_t[]){1, 0}, 2);
}

TEST(takes_text) {
  const char *numbers = "y\n2\n1.0\n 0\n\"3\"\ntrue\nFalse\nTRUE\n";
  expect_labels("y.csv", numbers, strlen(numbers), "", (int32_t[]){2, 1, 0, 3, 1, 0, 1}, 7);
  const char *names = "y\ndog\ncat\n1\n\"dog\"\n\n";
  expect_labels("y.csv", names, strlen(names) - 1, "cat dog", (int32_t[]){1, 0, 1, 1}, 4);
  const char *odd = "y\n2\nNone\n0\nNA\n";
  expect_labels("y.csv", odd, strlen(odd), "2 None", (int32_t[]){0, 1, 0, MISSING}, 4);
}

static void expect_refused(const char *name, const void *data, size_t length,
                           const char *classes, uint64_t row, const char *sentence) {
  labels_fixture f = {.env = help_plain_env()};
  pcal_error err;
  const int32_t *out = NULL;
  size_t rows = 0;
  assert_int_equal(labels_open(&f, name, data, length, classes), PCAL_OK);
  assert_int_equal(pc_label_reader_next(&f.labels, 10, 1000, &out, &rows, &err), PCAL_DATA);
  assert_string_equal(err.message, sentence);
  assert_int_equal(err.row, row);
  labels_done(&f);
}

static void expect_refused_npy(const char *descr, const char *shape, const void *data,
                               size_t size, const char *sentence) {
  const help_npy npy = help_npy_make(1, descr, 0, shape, data, size);
  expect_refused("y.npy", npy.bytes, npy.length, "", 1001, sentence);
  free(npy.bytes);
}

TEST(refuses_bad_numbers) {
  expect_refused_npy(
      "=f8", "(2,)", (double[]){0, 1.5}, 16,
      "y.npy, row 1001: the label 1.5 is not a whole number and looks like a score "
      "(are the two swapped?); labels are class "
      "numbers counted from 0");
  expect_refused_npy("=f8", "(2,)", (double[]){0, INFINITY}, 16,
                     "y.npy, row 1001: the label inf does not fit 32 bits; labels are class "
                     "numbers counted from 0");
  expect_refused_npy("=i8", "(2,)", (int64_t[]){0, 3000000000}, 16,
                     "y.npy, row 1001: the label 3000000000 does not fit 32 bits; labels are "
                     "class numbers counted from 0");
  expect_refused_npy("=i8", "(2,)", (int64_t[]){0, -2147483649}, 16,
                     "y.npy, row 1001: the label -2147483649 does not fit 32 bits; labels are "
                     "class numbers counted from 0");
  expect_refused(
      "y.csv", "y\n0\n0.25\n", 9, "", 1001,
      "y.csv, line 3: the label 0.25 is not a whole number and looks like a score (are the two "
      "swapped?); labels are class numbers "
      "counted from 0");
}

/* Labels of a column are left for later; each piece is converted by itself. */
TEST(fills_labels_when_asked) {
  const int64_t labels[] = {3, 1, 4, 3000000000, 5};
  const help_npy npy = help_npy_make(1, "=i8", 0, "(5,)", labels, sizeof labels);
  labels_fixture f = {.env = help_plain_env()};
  const int32_t *out = NULL;
  size_t rows = 0;
  pc_lazy_labels lazy_labels;
  pcal_error err;
  assert_int_equal(labels_open(&f, "y.npy", npy.bytes, npy.length, ""), PCAL_OK);
  assert_int_equal(
      pc_label_reader_next_lazy(&f.labels, 9, 1000, &out, &rows, &lazy_labels, NULL), PCAL_OK);
  assert_int_equal(rows, 5);
  assert_int_equal(pc_lazy_labels_fill(&lazy_labels, 4, 1, NULL), PCAL_OK);
  assert_int_equal(pc_lazy_labels_fill(&lazy_labels, 1, 2, NULL), PCAL_OK);
  assert_true(out[1] == 1 && out[2] == 4 && out[4] == 5);
  assert_int_equal(pc_lazy_labels_fill(&lazy_labels, 2, 3, &err), PCAL_DATA);
  assert_string_equal(err.message,
                      "y.npy, row 1003: the label 3000000000 does not fit 32 bits; labels are "
                      "class numbers counted from 0");
  assert_int_equal(err.row, 1003);
  labels_done(&f);
  free(npy.bytes);
}

/* Names, one-hot rows and labels that lie there as they are needed are not left for later. */
TEST(leaves_only_columns_for_later) {
  const int32_t plain[] = {1, 0};
  const help_npy files[] = {help_npy_make(1, "=i4", 0, "(2,)", plain, sizeof plain),
                            help_npy_make(1, "|u1", 0, "(2, 2)", (uint8_t[]){0, 1, 1, 0}, 4)};
  for (size_t i = 0; i < 3; i++) {
    labels_fixture f = {.env = help_plain_env()};
    const int32_t *out = NULL;
    size_t rows = 0;
    pc_lazy_labels lazy_labels;
    assert_int_equal(i == 2 ? labels_open(&f, "y.csv", "y\nb\na\n", 6, "a b")
                            : labels_open(&f, "y.npy", files[i].bytes, files[i].length, ""),
                     PCAL_OK);
    assert_int_equal(
        pc_label_reader_next_lazy(&f.labels, 9, 0, &out, &rows, &lazy_labels, NULL), PCAL_OK);
    assert_null(lazy_labels.fill);
    assert_memory_equal(out, plain, sizeof plain);
    labels_done(&f);
  }
  free(files[0].bytes);
  free(files[1].bytes);
}

TEST(refuses_bad_one_hot_rows) {
  expect_refused_npy("|u1", "(2, 2)", (uint8_t[]){1, 0, 0, 0}, 4,
                     "y.npy, row 1001: the label row has no 1; a one-hot row has exactly "
                     "one; multi-label data are not supported");
  expect_refused_npy(
      "|u1", "(2, 2)", (uint8_t[]){1, 0, 1, 1}, 4,
      "y.npy, row 1001: the label row has several ones; a one-hot row has exactly one; "
      "multi-label data are not supported");
  expect_refused_npy("=f8", "(2, 2)", (double[]){1, 0, 0.9, 0.1}, 32,
                     "y.npy, row 1001: the label 0.9 is neither 0 nor 1; labels in several "
                     "columns are one-hot; for class numbers choose one column as FILE:COLUMN");
}

TEST(refuses_unknown_names) {
  expect_refused("y.csv", "y\ncat\ndgo\n", 10, "cat dog", 1001,
                 "y.csv, line 3: the label \"dgo\" is not the name of a score column in "
                 "scores.csv; did you mean \"dog\"?");
  expect_refused("y.csv", "y\ncat\nzebrafinch\n", 17, "cat dog", 1001,
                 "y.csv, line 3: the label \"zebrafinch\" is not the name of a score column in "
                 "scores.csv; give such a name or a class number");
  expect_refused(
      "y.csv", "y\n1\ncat\n", 8, "", 1001,
      "y.csv, line 3: the label \"cat\" is a name, but the scores in scores.csv have "
      "none; give class numbers, or scores whose columns have names");
}

static pcal_status labels_scenario(const pcal_env *env, void *user, pcal_error *err) {
  labels_fixture f = {.env = *env};
  const int32_t *out = NULL;
  size_t rows = 0;
  (void)user;
  pcal_status status = labels_open(&f, "y.csv", "y\ncat\ndog\n", 10, "cat dog");
  if (status == PCAL_OK)
    status = pc_label_reader_next(&f.labels, 10, 0, &out, &rows, err);
  else
    pc_fail_memory(err, "opening");
  labels_done(&f);
  return status;
}

TEST(survives_every_failed_allocation) {
  help_fail_each_allocation(labels_scenario, NULL);
}
