#include "io/formats/arrow_lists.h"

#include <math.h>

#include "arrow_help.h"
#include "io/source.h"

/* One batch of lists of float32, some of them null; the child begins at value 1. */
static const float lists_values[] = {9, 0.25f, 0.75f, 0.5f, 0.5f, 1, 0, 0.125f, 0.875f};

typedef struct lists_case {
  const void *offsets; /* NULL: `narrow`, of 32 bits */
  int32_t narrow[8];
  int64_t first, rows; /* the slice of the column that is read */
  const unsigned char *bits;
  int64_t values;
  int ragged;
  uint64_t first_row;
} lists_case;

static pcal_status lists_open(const lists_case *given, pcal_source **out, pcal_error *err) {
  const int wide = given->offsets != NULL;
  struct ArrowSchema *schema = help_schema(wide ? "+L" : "+l", "p");
  help_schema_add(schema, help_schema("f", "item"));
  struct ArrowArray *array = help_array(given->rows, given->first, 2, given->bits,
                                        wide ? given->offsets : given->narrow, NULL);
  help_array_add(array, help_array(given->values, 1, 2, NULL, lists_values, NULL));
  static const int32_t labels[] = {0, 1, 0, 1, 0};
  pcal_input scores = PCAL_INPUT_INIT, truth = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  scores.schema = schema;
  scores.array = array;
  scores.name = "probs";
  truth.data = labels;
  truth.rows = (size_t)given->rows;
  truth.type = PCAL_I32;
  inputs.probs = &scores;
  inputs.labels = &truth;
  inputs.ragged = given->ragged;
  inputs.first_row = given->first_row;
  const pcal_status status = pcal_source_open(&inputs, NULL, out, err);
  free(schema);
  free(array);
  return status;
}

/* Reads all rows, `step` at a time, and compares the first score of each; -1: NaN. */
static void lists_are(const lists_case *given, size_t step, const double *expected) {
  pcal_source *source = NULL;
  pcal_error err;
  if (lists_open(given, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  size_t row = 0;
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    assert_int_equal(pcal_source_next(source, step, &batch, &err), PCAL_OK);
    if (batch.rows == 0)
      break;
    assert_int_equal(batch.columns, 2);
    for (size_t i = 0; i < batch.rows; i++, row++) {
      const float *at = (const float *)(const void *)((const char *)batch.scores +
                                                      (ptrdiff_t)i * batch.row_stride);
      assert_true(expected[row] < 0
                      ? isnan(at[0]) && isnan(at[1])
                      : at[0] == (float)expected[row] && at[1] == (float)(1 - expected[row]));
    }
  }
  assert_int_equal(row, given->rows);
  pcal_source_free(source);
  assert_int_equal(help_arrow_live, 0);
}

TEST(reads_lists_with_offsets) {
  static const int64_t wide[] = {0, 2, 4, 6, 8};
  const lists_case small = {.narrow = {0, 2, 4, 6, 8}, .rows = 4, .values = 8};
  const lists_case large = {.offsets = wide, .rows = 4, .values = 8};
  const lists_case sliced = {.narrow = {0, 2, 4, 6, 8}, .first = 1, .rows = 3, .values = 8};
  for (size_t step = 1; step < 6; step++) {
    lists_are(&small, step, (const double[]){0.25, 0.5, 1, 0.125});
    lists_are(&large, step, (const double[]){0.25, 0.5, 1, 0.125});
    lists_are(&sliced, step, (const double[]){0.5, 1, 0.125});
  }
}

/* (1) a null has no values, or has some that are not looked at. */
TEST(takes_null_lists_as_missing) {
  static const unsigned char bits[] = {0x1A}; /* rows 0 and 2 are null */
  const lists_case empty = {.narrow = {0, 0, 2, 2, 4, 6}, .rows = 5, .bits = bits, .values = 8};
  const lists_case odd = {.narrow = {-7, 0, 2, 4, 6, 8}, .rows = 5, .bits = bits, .values = 8};
  for (size_t step = 1; step < 7; step++) {
    lists_are(&empty, step, (const double[]){-1, 0.25, -1, 0.5, 1});
    lists_are(&odd, step, (const double[]){-1, 0.25, -1, 1, 0.125});
  }
}

/* (5) Offsets that were overwritten after their check: the values that are used lie in the child
 * array, of 8 values, and are not more than the width. */
TEST(offsets_that_changed_after_their_check) {
  static const struct {
    int64_t begin, end;
    size_t size, first;
  } cases[] = {{0, 2, 2, 0},         {6, 8, 2, 6},          {5, 6, 1, 5},
               {3, 3, 0, 3},         {0, 8, 3, 0},          {7, 9, 0, 0},
               {-1, 1, 0, 0},        {4, 2, 0, 0},          {INT64_MIN, INT64_MAX, 0, 0},
               {0, INT64_MAX, 0, 0}, {INT64_MAX, -1, 0, 0}, {INT32_MAX, INT32_MAX, 0, 0}};
  const struct ArrowArray values = {.length = 8};
  const unsigned char bits[] = {2};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int64_t offsets[] = {cases[i].begin, cases[i].end, cases[i].end};
    const pc_arrow_column column = {.width = 3, .ragged = 1, .wide = 1};
    pc_arrow_part part = {.column = &column, .values = &values, .offsets = offsets};
    size_t first = 99;
    assert_int_equal(pc_arrow_lists_values(&part, 0, &first), cases[i].size);
    assert_int_equal(first, cases[i].first);
    part.row_bits = bits;
    assert_int_equal(pc_arrow_lists_values(&part, 0, &first), 0);
    assert_int_equal(first, 0);
  }
}

static void lists_refused(const lists_case *given, const char *sentence) {
  pcal_source *source = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err;
  pcal_status status = lists_open(given, &source, &err);
  batch.rows = 1;
  while (status == PCAL_OK && batch.rows > 0)
    status = pcal_source_next(source, 10, &batch, &err);
  assert_int_equal(status, PCAL_DATA);
  assert_string_equal(err.message, sentence);
  pcal_source_free(source);
  assert_int_equal(help_arrow_live, 0);
}

/* Reads all rows, `step` at a time, and compares them with rows of `width`; -1: NaN. */
static void ragged_are(const lists_case *given, size_t step, size_t width,
                       const double *expected) {
  pcal_source *source = NULL;
  pcal_error err;
  if (lists_open(given, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  for (size_t row = 0; row < (size_t)given->rows;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    if (pcal_source_next(source, step, &batch, &err) != PCAL_OK)
      fail_msg("%s", err.message);
    assert_int_equal(batch.columns, width);
    assert_int_equal(batch.type, PCAL_F64);
    assert_true(batch.rows > 0);
    for (size_t i = 0; i < batch.rows; i++, row++) {
      const double *at = (const double *)(const void *)((const char *)batch.scores +
                                                        (ptrdiff_t)i * batch.row_stride);
      for (size_t k = 0; k < width; k++)
        assert_true(expected[row * width + k] < 0 ? isnan(at[k])
                                                  : at[k] == expected[row * width + k]);
    }
  }
  pcal_source_free(source);
  assert_int_equal(help_arrow_live, 0);
}

/* (2) ragged: the longest list is the width, what a list lacks is impossible, and a list that is
 * empty or null is a missing row. */
TEST(reads_ragged_lists) {
  static const unsigned char bits[] = {0x1D}; /* row 1 is null */
  static const int64_t wide[] = {0, 2, 5, 5, 8};
  const double rows[] = {0.25, 0.75, 0, 0.25, 0.25, 0.5, -1, -1, -1, 0, 0.125, 0.875};
  const double alike[] = {0.25, 0.75, 0.5, 0.5};
  for (size_t step = 1; step < 6; step++) {
    ragged_are(&(lists_case){.narrow = {0, 2, 5, 5, 8}, .rows = 4, .values = 8, .ragged = 1},
               step, 3, rows);
    ragged_are(&(lists_case){.offsets = wide, .rows = 4, .values = 8, .ragged = 1}, step, 3,
               rows);
    ragged_are(
        &(lists_case){
            .narrow = {0, 2, 6, 6, 8}, .rows = 4, .bits = bits, .values = 8, .ragged = 1},
        step, 2, (const double[]){0.25, 0.75, -1, -1, -1, -1, 0.125, 0.875});
    ragged_are(&(lists_case){.narrow = {0, 2, 4}, .rows = 2, .values = 8, .ragged = 1}, step, 2,
               alike);
  }
}

/* (2) to (4) */
TEST(refuses_unequal_and_damaged_lists) {
  static const unsigned char none[] = {0};
  lists_refused(&(lists_case){.narrow = {0, 2, 4, 7, 8}, .rows = 4, .values = 8},
                "probs, column \"p\", row 2: the list has 3 values and the first one 2; give "
                "lists of equal length");
  lists_refused(&(lists_case){.narrow = {0, 2, 2, 4}, .rows = 3, .values = 8},
                "probs, column \"p\", row 1: the list has 0 values and the first one 2; give "
                "lists of equal length");
  lists_refused(&(lists_case){.narrow = {0, 0, 2}, .rows = 2, .values = 8},
                "probs, column \"p\": the first list is empty; give a list of scores for each "
                "row");
  lists_refused(&(lists_case){.narrow = {0, 2, 4}, .rows = 2, .bits = none, .values = 8},
                "probs, column \"p\": every row is null; give a list of scores for each row");
  lists_refused(&(lists_case){.narrow = {0, 2, 4}, .rows = 2, .values = 3},
                "probs, column \"p\": the list offsets are invalid; check the program that "
                "produced the Arrow data");
  lists_refused(&(lists_case){.narrow = {-2, 0, 2}, .rows = 2, .values = 8},
                "probs, column \"p\": the list offsets are invalid; check the program that "
                "produced the Arrow data");
  /* ragged */
  lists_refused(&(lists_case){.narrow = {0, 2, 9}, .rows = 2, .values = 8, .ragged = 1},
                "probs, column \"p\": the list offsets are invalid; check the program that "
                "produced the Arrow data");
  lists_refused(&(lists_case){.narrow = {3, 3, 3}, .rows = 2, .values = 8, .ragged = 1},
                "probs, column \"p\": every row is null or empty; give a list of scores for "
                "each row");
  lists_refused(
      &(lists_case){.narrow = {0, 3, 4, 6}, .rows = 3, .values = 8, .ragged = 1},
      "labels, row 1: the label is a choice that the row has no score for; give every "
      "row a score for its true choice");
}

/* Rows are counted from first_row; (6) a bad row before an unequal list is reported first. */
TEST(names_the_first_bad_row) {
  const char *const specs[] = {"brier"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  config.specs = specs;
  config.spec_count = 1;
  lists_refused(
      &(lists_case){.narrow = {0, 2, 4, 7, 8}, .rows = 4, .values = 8, .first_row = 300},
      "probs, column \"p\", row 302: the list has 3 values and the first one 2; give "
      "lists of equal length");
  for (int bad = 0; bad < 2; bad++) { /* of row 0 the sum is 1 or 1.25 */
    const lists_case given = {
        .narrow = {bad, bad + 2, bad + 5, 8}, .rows = 3, .values = 8, .first_row = 7};
    pcal_source *source = NULL;
    pcal_measure *measure = NULL;
    pcal_error err;
    assert_int_equal(lists_open(&given, &source, &err), PCAL_OK);
    assert_int_equal(pcal_measure_from_source(source, &config, NULL, &measure, &err),
                     PCAL_DATA);
    assert_int_equal(err.row, 7 + !bad);
    pcal_source_free(source);
  }
  assert_int_equal(help_arrow_live, 0);
}
