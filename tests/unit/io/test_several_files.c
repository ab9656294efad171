/* Several files that are read as one: of other widths, types and shapes. */
#include "io/source.h"
#include "io_help.h"

static pcal_input join_array(const void *data, pcal_type type, size_t item, size_t rows,
                             size_t columns) {
  pcal_input input = PCAL_INPUT_INIT;
  input.data = data;
  input.type = type;
  input.rows = rows;
  input.columns = columns;
  input.row_stride = (ptrdiff_t)(item * (columns == 0 ? 1 : columns));
  input.column_stride = (ptrdiff_t)item;
  return input;
}

static pcal_batch join_next(pcal_source *source, size_t max_rows) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err;
  if (pcal_source_next(source, max_rows, &batch, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return batch;
}

typedef struct several_file {
  const char *name, *code, *shape; /* of an array; shape NULL: a text */
  const void *bytes;
  size_t size;
} several_file;

static pcal_status several_open(const several_file given[2], pcal_kind kind, int ragged,
                                pcal_source **out, pcal_error *err) {
  static const double targets[6];
  static const char *files[2];
  pcal_input scores = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  const pcal_input truth = join_array(targets, PCAL_F64, 3, 2, 2);
  for (size_t i = 0; i < 2; i++)
    files[i] = given[i].shape == NULL
                   ? help_text(given[i].name, given[i].bytes)
                   : help_npy_file(given[i].name, given[i].code, given[i].shape, given[i].bytes,
                                   given[i].size);
  scores.files = files;
  scores.file_count = 2;
  inputs.ragged = ragged;
  if (kind == PCAL_SAMPLES) {
    inputs.samples = &scores;
    inputs.target = &truth;
  } else {
    inputs.probs = &scores;
  }
  return pcal_source_open(&inputs, NULL, out, err);
}

/* Ragged arrays of both types: the wider one sets the columns, and what a row lacks is impossible. */
TEST(joins_files_of_several_widths) {
  static const float two[] = {0.25f, 0.75f, 0.5f, 0.5f}, three_of[] = {0.25f, 0.25f, 0.5f};
  static const double wide_two[] = {0.25, 0.75, 0.5, 0.5}, wide_three[] = {0.25, 0.25, 0.5};
  static const double expected[] = {0.25, 0.75, 0, 0.5, 0.5, 0, 0.25, 0.25, 0.5};
  const several_file narrow[] = {{"n2.npy", "=f4", "(2, 2)", two, sizeof two},
                                 {"n3.npy", "=f4", "(1, 3)", three_of, sizeof three_of}};
  const several_file wide[] = {{"w2.npy", "=f8", "(2, 2)", wide_two, sizeof wide_two},
                               {"w3.npy", "=f8", "(1, 3)", wide_three, sizeof wide_three}};
  for (int w = 0; w < 2; w++) {
    pcal_source *source = NULL;
    pcal_error err;
    if (several_open(w ? wide : narrow, PCAL_PROBABILITY, 1, &source, &err) != PCAL_OK)
      fail_msg("%s", err.message);
    for (size_t row = 0; row < 3;) {
      const pcal_batch batch = join_next(source, 10);
      assert_int_equal(batch.columns, 3);
      assert_true(batch.rows > 0);
      assert_memory_equal(batch.scores, expected + 3 * row, batch.rows * 3 * sizeof(double));
      row += batch.rows;
    }
    pcal_source_free(source);
  }
}

TEST(refuses_files_of_other_shapes) {
  static const float few[12];
  static const double numbers[12];
  static const struct {
    several_file files[2];
    pcal_kind kind;
    int ragged;
    const char *problem; /* after the name of the second file */
    const char *rest;    /* after that of the first */
  } cases[] = {
      {{{"a.npy", "=f8", "(2, 2)", numbers, 32}, {"b.npy", "=f8", "(1, 3)", numbers, 24}},
       PCAL_PROBABILITY,
       0,
       " has 3 columns, but ",
       " has 2; files that are read as one need the same columns"},
      {{{"a.npy", "=f8", "(2, 2)", numbers, 32}, {"b.npy", "=f8", "(1, 1)", numbers, 8}},
       PCAL_PROBABILITY,
       0,
       " has 1 column, but ",
       " has 2; files that are read as one need the same columns"},
      {{{"a.npy", "=f8", "(2, 2)", numbers, 32}, {"b.npy", "=f4", "(1, 2)", few, 8}},
       PCAL_PROBABILITY,
       0,
       " contains float32, but ",
       " contains float64; save both with the same type"},
      {{{"a.npy", "=f8", "(2, 2)", numbers, 32}, {"b.npy", "=f4", "(1, 3)", few, 12}},
       PCAL_PROBABILITY,
       1,
       " contains float32, but ",
       " contains float64; save both with the same type"},
      {{{"a.npy", "=f8", "(2, 6)", numbers, 96}, {"b.npy", "=f8", "(1, 3, 2)", numbers, 48}},
       PCAL_SAMPLES,
       0,
       " has samples of another shape than ",
       "; files that are read as one need the same dimensions"},
      {{{"a.jsonl", NULL, NULL, "{\"p\":[0.5,0.5]}\n", 0},
        {"b.csv", NULL, NULL, "0.5,0.5\n", 0}},
       PCAL_PROBABILITY,
       0,
       " contains text, but ",
       ":p contains JSON; save both with the same type"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pcal_source *source = NULL;
    pcal_error err;
    char sentence[800];
    assert_int_equal(
        several_open(cases[i].files, cases[i].kind, cases[i].ragged, &source, &err), PCAL_DATA);
    snprintf(sentence, sizeof sentence, "%s%s%s%s", help_path(cases[i].files[1].name),
             cases[i].problem, help_path(cases[i].files[0].name), cases[i].rest);
    assert_string_equal(err.message, sentence);
    assert_null(source);
  }
}

TEST_GROUP(help_setup, help_teardown)
