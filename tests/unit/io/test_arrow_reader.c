#include "io/formats/arrow_reader.h"

#include <math.h>

#include "arrow_help.h"
#include "io/source.h"

/* Five rows in batches of 2, 0 and 3: p (lists of two float32), a and b (float64 and float32),
 * y (int32), n (names of classes), t (booleans), l (int64), w (float64), g (dictionary), k
 * (int8). */
static const float arrow_p[] = {0.25f, 0.75f, 0.5f, 0.5f, 1, 0, 0.125f, 0.875f, 0, 1};
static const double arrow_a[] = {0.25, 0.5, 1, 0.125, 0};
static const float arrow_b[] = {0.75f, 0.5f, 0, 0.875f, 1};
static const int32_t arrow_y[] = {1, 0, 1, 0, 1};
static const int32_t arrow_n[] = {0, 1, 2, 3, 4, 5};
static const unsigned char arrow_t[] = {0x15};
static const int64_t arrow_l[] = {1, 0, 1, 0, 1};
static const double arrow_w[] = {1, 2, 3, 4, 5};
static const uint16_t arrow_g[] = {2, 0, 2, 1, 0};
static const int32_t arrow_words[] = {0, 4, 8, 13};
static const int8_t arrow_k[] = {-1, 7, 7, -1, 0};
/* Validity bitmap of every column: bit i is 0 if row i is null. */
static const unsigned char *arrow_bits;

static struct ArrowSchema *arrow_schema(void) {
  static const char *const names[] = {"a", "b", "y", "n", "t", "l", "w", "k"};
  static const char *const formats[] = {"g", "f", "i", "u", "b", "l", "g", "c"};
  struct ArrowSchema *schema = help_schema("+s", "");
  struct ArrowSchema *lists = help_schema("+w:2", "p"), *words = help_schema("S", "g");
  help_schema_add(lists, help_schema("f", "item"));
  words->dictionary = help_schema("u", NULL);
  help_schema_add(schema, lists);
  for (size_t i = 0; i < 8; i++)
    help_schema_add(schema, help_schema(formats[i], names[i]));
  help_schema_add(schema, words);
  return schema;
}

static struct ArrowArray *arrow_slice(int64_t first, int64_t rows) {
  const void *const values[] = {arrow_a, arrow_b, arrow_y, arrow_n,
                                arrow_t, arrow_l, arrow_w, arrow_k};
  struct ArrowArray *batch = help_array(rows, 0, 1, NULL, NULL, NULL);
  struct ArrowArray *lists = help_array(rows, first, 1, arrow_bits, NULL, NULL);
  help_array_add(lists, help_array(10, 0, 2, NULL, arrow_p, NULL));
  help_array_add(batch, lists);
  for (size_t i = 0; i < 8; i++)
    help_array_add(batch,
                   help_array(rows, first, 3, arrow_bits, values[i], i == 3 ? "babab" : NULL));
  struct ArrowArray *words = help_array(rows, first, 2, arrow_bits, arrow_g, NULL);
  words->dictionary = help_array(3, 0, 3, NULL, arrow_words, "westeastnorth");
  help_array_add(batch, words);
  return batch;
}

static struct ArrowArray *arrow_batch(int64_t index) {
  const int64_t first[] = {0, 2, 2, 5};
  return index < 3 ? arrow_slice(first[index], first[index + 1] - first[index]) : NULL;
}

/* Names of the columns to select from Arrow data; labels, weights and groups may be NULL. */
typedef struct arrow_columns {
  pcal_kind kind;
  const char *const *scores;
  size_t score_count;
  const char *labels, *weights, *groups, *name;
  uint64_t first_row;
} arrow_columns;

static pcal_status arrow_source(pcal_input data, const arrow_columns *columns,
                                const pcal_env *env, pcal_source **out, pcal_error *err) {
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_input scores = PCAL_INPUT_INIT, parts[3];
  const char *const names[3] = {columns->labels, columns->weights, columns->groups};
  const int confidence = columns->kind == PCAL_CONFIDENCE;
  const pcal_input **const fields[3] = {confidence ? &inputs.correct : &inputs.labels,
                                        &inputs.weights, &inputs.groups};
  data.size = sizeof data;
  data.name = columns->name == NULL ? "arrow" : columns->name;
  inputs.data = &data;
  scores.column_names = columns->scores;
  scores.column_name_count = columns->score_count;
  *(confidence                    ? &inputs.confidence
    : columns->kind == PCAL_LOGIT ? &inputs.logits
                                  : &inputs.probs) = &scores;
  for (size_t i = 0; i < 3; i++) {
    parts[i] = (pcal_input)PCAL_INPUT_INIT;
    parts[i].column_names = &names[i];
    parts[i].column_name_count = 1;
    if (names[i] != NULL)
      *fields[i] = &parts[i];
  }
  inputs.first_row = columns->first_row;
  return pcal_source_open(&inputs, env, out, err);
}

static pcal_source *arrow_open(const arrow_columns *columns) {
  help_stream data = {arrow_schema, arrow_batch, 0, 0, 0};
  static help_stream kept[4];
  static unsigned next;
  kept[next % 4] = data;
  struct ArrowArrayStream stream = help_stream_make(&kept[next++ % 4]);
  pcal_source *source = NULL;
  pcal_error err;
  if (arrow_source((pcal_input){.stream = &stream}, columns, NULL, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_null(stream.release);
  return source;
}

static pcal_batch arrow_next(pcal_source *source, size_t max_rows) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err;
  if (pcal_source_next(source, max_rows, &batch, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return batch;
}

static double arrow_score(const pcal_batch *batch, size_t row, size_t column) {
  const char *at = (const char *)batch->scores + (ptrdiff_t)row * batch->row_stride +
                   (ptrdiff_t)column * batch->column_stride;
  return batch->type == PCAL_F32 ? (double)*(const float *)(const void *)at
                                 : *(const double *)(const void *)at;
}

/* Reads the source twice, `step` rows at a time, and compares every row; an expected score of
 * -1 means NaN. */
static void expect_rows(pcal_source *source, size_t step, const double *first_scores,
                        const int32_t *labels, const char *const *groups) {
  for (int pass = 0; pass < 2; pass++) {
    size_t row = 0;
    pcal_batch batch;
    while ((batch = arrow_next(source, step)).rows > 0) {
      pcal_shape shape = {.size = sizeof shape};
      pcal_source_get_shape(source, &shape);
      assert_int_equal(batch.first_row, 50 + row);
      assert_int_equal(batch.columns, 2);
      for (size_t i = 0; i < batch.rows; i++, row++) {
        const double score = arrow_score(&batch, i, 0);
        assert_true(first_scores[row] < 0 ? isnan(score) : score == first_scores[row]);
        assert_true(batch.weights[i] == (double)row + 1 || isnan(batch.weights[i]));
        assert_int_equal(batch.labels[i], labels[row]);
        assert_string_equal(shape.group_names[batch.groups[i]], groups[row]);
      }
    }
    assert_int_equal(row, 5);
    assert_int_equal(pcal_source_rewind(source, NULL), PCAL_OK);
  }
  pcal_shape shape = {.size = sizeof shape};
  pcal_source_get_shape(source, &shape);
  assert_int_equal(shape.row_count, 5);
  assert_true(shape.labelled && shape.weighted && shape.grouped);
}

static const char *const arrow_words_of_rows[] = {"north", "west", "north", "east", "west"};

TEST(reads_lists) {
  const char *const scores[] = {"p"}, *const labels[] = {"y", "l", "t"};
  for (size_t i = 0; i < 3; i++) {
    for (size_t step = 1; step < 7; step++) {
      const arrow_columns columns = {
          PCAL_PROBABILITY, scores, 1, labels[i], "w", "g", NULL, 50};
      pcal_source *source = arrow_open(&columns);
      expect_rows(source, step, arrow_a, arrow_y, arrow_words_of_rows);
      pcal_source_free(source);
      assert_int_equal(help_arrow_live, 0);
    }
  }
}

TEST(does_not_copy_lists) {
  const char *const scores[] = {"p"};
  const arrow_columns columns = {PCAL_LOGIT, scores, 1, "y", "w", NULL, "mine", 0};
  pcal_source *source = arrow_open(&columns);
  pcal_shape shape = {.size = sizeof shape};
  pcal_source_get_shape(source, &shape);
  assert_true(shape.row_count == PCAL_NO_ROW);
  assert_int_equal(shape.type, PCAL_F32);
  assert_null(shape.class_names);
  pcal_batch batch = arrow_next(source, SIZE_MAX);
  assert_int_equal(batch.rows, 2);
  assert_ptr_equal(batch.scores, arrow_p);
  assert_int_equal(batch.row_stride, 8);
  assert_ptr_equal(batch.labels, arrow_y);
  assert_ptr_equal(batch.weights, arrow_w);
  assert_string_equal(batch.scores_name, "mine:p");
  assert_string_equal(batch.labels_name, "mine:y");
  batch = arrow_next(source, SIZE_MAX);
  assert_int_equal(batch.rows, 3);
  assert_ptr_equal(batch.scores, arrow_p + 4);
  assert_int_equal(arrow_next(source, SIZE_MAX).rows, 0);
  pcal_source_free(source);
  assert_int_equal(help_arrow_live, 0);
}

TEST(gathers_columns) {
  const char *const scores[] = {"a", "b"};
  const arrow_columns columns = {PCAL_PROBABILITY, scores, 2, "n", "w", "k", NULL, 50};
  const char *const groups[] = {"-1", "7", "7", "-1", "0"};
  for (size_t step = 1; step < 7; step++) {
    pcal_source *source = arrow_open(&columns);
    pcal_shape shape = {.size = sizeof shape};
    pcal_source_get_shape(source, &shape);
    assert_int_equal(shape.type, PCAL_F64);
    assert_string_equal(shape.class_names[0], "a");
    assert_string_equal(shape.class_names[1], "b");
    expect_rows(source, step, arrow_a, arrow_y, groups);
    pcal_source_free(source);
  }
  pcal_source *source = arrow_open(&columns);
  const pcal_batch batch = arrow_next(source, 5);
  assert_true(arrow_score(&batch, 0, 1) == 0.75 && arrow_score(&batch, 1, 1) == 0.5);
  assert_string_equal(batch.scores_name, "arrow");
  pcal_source_free(source);
  assert_int_equal(help_arrow_live, 0);
}

/* Rows 0 and 3 are null in every column. */
TEST(takes_nulls_as_missing) {
  const unsigned char bits[] = {0x16};
  const char *const lists[] = {"p"}, *const pairs[] = {"a", "b"};
  const char *const labels[] = {"y", "l", "t", "n"};
  const double first[] = {-1, 0.5, 1, -1, 0};
  const int32_t want[] = {PCAL_MISSING_LABEL, 0, 1, PCAL_MISSING_LABEL, 1};
  arrow_bits = bits;
  for (size_t i = 0; i < 4; i++) {
    const arrow_columns columns = {PCAL_PROBABILITY,
                                   i == 3 ? pairs : lists,
                                   i == 3 ? 2 : 1,
                                   labels[i],
                                   "w",
                                   NULL,
                                   NULL,
                                   0};
    pcal_source *source = arrow_open(&columns);
    size_t row = 0;
    pcal_batch batch;
    while ((batch = arrow_next(source, 2)).rows > 0) {
      for (size_t j = 0; j < batch.rows; j++, row++) {
        assert_true(first[row] < 0 ? isnan(arrow_score(&batch, j, 0))
                                   : arrow_score(&batch, j, 0) == first[row]);
        assert_true(first[row] < 0 ? isnan(batch.weights[j])
                                   : batch.weights[j] == arrow_w[row]);
        assert_int_equal(batch.labels[j], want[row]);
      }
    }
    assert_int_equal(row, 5);
    pcal_source_free(source);
  }
  arrow_bits = NULL;
  assert_int_equal(help_arrow_live, 0);
}

static struct ArrowSchema *arrow_null_schema(void) {
  struct ArrowSchema *schema = arrow_schema();
  help_schema_add(schema, help_schema("n", "void"));
  return schema;
}

static struct ArrowArray *arrow_null_batch(int64_t index) {
  struct ArrowArray *batch = arrow_batch(index);
  if (batch != NULL)
    help_array_add(batch, help_array(batch->length, 0, 0, NULL, NULL, NULL));
  return batch;
}

/* Columns of type null: labels, weights and one of two scores; float32 stays float32. */
TEST(takes_columns_of_type_null_as_missing) {
  const char *const pairs[] = {"b", "void"}, *const one[] = {"a"};
  const arrow_columns columns[] = {{PCAL_PROBABILITY, pairs, 2, "y", "w", NULL, NULL, 0},
                                   {PCAL_PROBABILITY, one, 1, "void", "void", NULL, NULL, 0}};
  for (size_t i = 0; i < 2; i++) {
    help_stream data = {arrow_null_schema, arrow_null_batch, 0, 0, 0};
    struct ArrowArrayStream stream = help_stream_make(&data);
    pcal_source *source = NULL;
    assert_int_equal(
        arrow_source((pcal_input){.stream = &stream}, &columns[i], NULL, &source, NULL),
        PCAL_OK);
    const pcal_batch batch = arrow_next(source, 2);
    assert_int_equal(batch.rows, 2);
    assert_int_equal(batch.type, i == 0 ? PCAL_F32 : PCAL_F64);
    assert_true(arrow_score(&batch, 1, 0) == 0.5);
    assert_true(i == 1 || isnan(arrow_score(&batch, 1, 1)));
    assert_true(i == 0 ? batch.weights[1] == 2 : isnan(batch.weights[1]));
    assert_int_equal(batch.labels[1], i == 0 ? 0 : PCAL_MISSING_LABEL);
    pcal_source_free(source);
  }
  assert_int_equal(help_arrow_live, 0);
}

TEST(reads_one_array) {
  const char *const scores[] = {"a"};
  const arrow_columns columns = {PCAL_CONFIDENCE, scores, 1, "t", NULL, NULL, NULL, 0};
  struct ArrowSchema *schema = arrow_schema();
  struct ArrowArray *array = arrow_slice(0, 5);
  pcal_source *source = NULL;
  pcal_shape shape = {.size = sizeof shape};
  assert_int_equal(arrow_source((pcal_input){.schema = schema, .array = array}, &columns, NULL,
                                &source, NULL),
                   PCAL_OK);
  assert_true(schema->release == NULL && array->release == NULL);
  free(schema);
  free(array);
  pcal_source_get_shape(source, &shape);
  assert_int_equal(shape.row_count, 5);
  assert_int_equal(shape.kind, PCAL_CONFIDENCE);
  const pcal_batch batch = arrow_next(source, 9);
  assert_int_equal(batch.rows, 5);
  assert_ptr_equal(batch.scores, arrow_a);
  assert_int_equal(batch.labels[4], 1);
  pcal_source_free(source);
  assert_int_equal(help_arrow_live, 0);
}

static void expect_refused(arrow_columns columns, pcal_status wanted, const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  help_stream data = {arrow_schema, arrow_batch, 0, 0, 0};
  struct ArrowArrayStream stream = help_stream_make(&data);
  pcal_source *source = NULL;
  pcal_error err;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_status status =
      arrow_source((pcal_input){.stream = &stream}, &columns, &env, &source, &err);
  do
    status = status == PCAL_OK ? pcal_source_next(source, 9, &batch, &err) : status;
  while (status == PCAL_OK && batch.rows > 0);
  pcal_source_free(source);
  assert_null(stream.release);
  assert_int_equal(status, wanted);
  assert_string_equal(err.message, sentence);
  assert_int_equal(counter.live, 0);
  assert_int_equal(help_arrow_live, 0);
}

TEST(refuses_wrong_columns) {
  const char *const p[] = {"p"}, *const n[] = {"n"}, *const both[] = {"a", "p"};
  const char *const twice[] = {"a", "a"}, *const none[] = {"scores"},
                    *const gap[] = {"a", NULL};
  const pcal_kind kind = PCAL_PROBABILITY;
  expect_refused((arrow_columns){kind, none, 1, "y", NULL, NULL, NULL, 0}, PCAL_USAGE,
                 "arrow has no column \"scores\"; name one of the 10 in its schema");
  expect_refused((arrow_columns){kind, p, 1, "yy", NULL, NULL, "d", 0}, PCAL_USAGE,
                 "d has no column \"yy\"; did you mean \"y\"?");
  expect_refused((arrow_columns){kind, n, 1, "y", NULL, NULL, NULL, 0}, PCAL_DATA,
                 "arrow, column \"n\": numbers are required; cast it to float64");
  expect_refused((arrow_columns){kind, p, 1, "y", "t", NULL, NULL, 0}, PCAL_DATA,
                 "arrow, column \"t\": numbers are required; cast it to float64");
  expect_refused((arrow_columns){kind, p, 1, "p", NULL, NULL, NULL, 0}, PCAL_DATA,
                 "arrow, column \"p\": only scores may be lists; give one value for each row");
  expect_refused((arrow_columns){kind, both, 2, "y", NULL, NULL, NULL, 0}, PCAL_DATA,
                 "arrow, column \"p\": it contains lists; name only this column, or one "
                 "column for each class");
  expect_refused((arrow_columns){kind, twice, 2, "y", NULL, NULL, NULL, 0}, PCAL_DATA,
                 "arrow, column \"a\": it is named twice; name it once");
  expect_refused((arrow_columns){PCAL_CONFIDENCE, p, 1, "y", NULL, NULL, NULL, 0}, PCAL_DATA,
                 "arrow:p has 2 columns, but confidences need one; give only the right one");
  expect_refused((arrow_columns){kind, p, 1, "n", NULL, NULL, NULL, 0}, PCAL_DATA,
                 "arrow:n, row 0: the label \"b\" is a name, but the scores in arrow:p have "
                 "none; give class numbers, or scores whose columns have names");
  expect_refused((arrow_columns){kind, gap, 2, "y", NULL, NULL, NULL, 0}, PCAL_USAGE,
                 "probs: column name 1 is NULL");
  expect_refused((arrow_columns){kind, NULL, 1, "y", NULL, NULL, NULL, 0}, PCAL_USAGE,
                 "probs: column name 0 is NULL");
  arrow_bits = (const unsigned char[]){0x0F};
  expect_refused((arrow_columns){kind, p, 1, "y", NULL, "g", NULL, 0}, PCAL_DATA,
                 "arrow:g, row 4: the group is missing; give every row a group");
  arrow_bits = NULL;
}

TEST(refuses_released_data) {
  const char *const p[] = {"p"};
  const arrow_columns columns = {PCAL_LOGIT, p, 1, "y", NULL, NULL, NULL, 0};
  struct ArrowSchema *schema = arrow_schema();
  struct ArrowArray *array = arrow_slice(0, 5);
  struct ArrowArrayStream stream = {.release = NULL};
  pcal_source *source = NULL;
  pcal_error err;
  assert_int_equal(arrow_source((pcal_input){.stream = &stream}, &columns, NULL, &source, &err),
                   PCAL_USAGE);
  assert_string_equal(err.message,
                      "arrow: the Arrow data were released before; give them anew");
  assert_int_equal(arrow_source((pcal_input){.schema = schema}, &columns, NULL, &source, &err),
                   PCAL_USAGE);
  assert_string_equal(err.message, "arrow: an Arrow array needs its schema; give both");
  assert_null(schema->release);
  assert_int_equal(arrow_source((pcal_input){.schema = schema, .array = array}, &columns, NULL,
                                &source, &err),
                   PCAL_USAGE);
  assert_null(array->release);
  free(schema);
  free(array);
  assert_int_equal(help_arrow_live, 0);
}

static pcal_status arrow_scenario(const pcal_env *env, void *user, pcal_error *err) {
  help_stream data = {arrow_schema, arrow_batch, 0, 0, 0};
  struct ArrowArrayStream stream = help_stream_make(&data);
  pcal_source *source = NULL;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_status status = arrow_source((pcal_input){.stream = &stream}, user, env, &source, err);
  do
    status = status == PCAL_OK ? pc_source_next(source, 9, &batch, err) : status;
  while (status == PCAL_OK && batch.rows > 0);
  pc_source_free(source);
  assert_int_equal(help_arrow_live, 0);
  return status;
}

TEST(survives_every_failed_allocation) {
  const char *const lists[] = {"p"}, *const pairs[] = {"a", "b"};
  arrow_columns one = {PCAL_LOGIT, lists, 1, "l", "w", "k", NULL, 0};
  arrow_columns two = {PCAL_LOGIT, pairs, 2, "n", "k", "g", "name", 0};
  help_fail_each_allocation(arrow_scenario, &one);
  help_fail_each_allocation(arrow_scenario, &two);
}
