#include <math.h>

#include "arrow_help.h"
#include "io/source.h"

/* ---- Parts by hand ---- */

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

static pcal_source *join_open(const pcal_inputs *inputs) {
  pcal_source *source = NULL;
  pcal_error err;
  if (pcal_source_open(inputs, NULL, &source, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return source;
}

static pcal_batch join_next(pcal_source *source, size_t max_rows) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err;
  if (pcal_source_next(source, max_rows, &batch, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return batch;
}

static void join_refused(const pcal_inputs *inputs, pcal_status status, const char *sentence) {
  pcal_source *source = NULL;
  pcal_error err;
  assert_int_equal(pcal_source_open(inputs, NULL, &source, &err), status);
  assert_null(source);
  assert_string_equal(err.message, sentence);
}

static const float three[] = {1, 2, 3, 4, 5, 6};
static const int64_t long_labels[] = {0, 1, 1};

/* ---- Arrays ---- */

TEST(views_scores_where_they_lie) {
  const pcal_input labels = join_array(long_labels, PCAL_I64, 8, 3, 1);
  static const struct {
    size_t first;
    ptrdiff_t row, column;
    float cells[6];
  } layouts[] = {
      {0, 8, 4, {1, 2, 3, 4, 5, 6}},  /* C order */
      {0, 4, 12, {1, 4, 2, 5, 3, 6}}, /* Fortran order */
      {4, -8, 4, {5, 6, 3, 4, 1, 2}}, /* rows backwards */
      {1, 8, -4, {2, 1, 4, 3, 6, 5}}, /* columns backwards */
      {0, 0, 0, {1, 2, 3, 4, 5, 6}},  /* not given: without gaps */
  };
  for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
    pcal_input scores = join_array(three + layouts[l].first, PCAL_F32, 4, 3, 2);
    scores.row_stride = layouts[l].row;
    scores.column_stride = layouts[l].column;
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    inputs.logits = &scores;
    inputs.labels = &labels;
    inputs.first_row = 7;
    pcal_source *source = join_open(&inputs);
    pcal_batch batch = join_next(source, 10);
    assert_int_equal(batch.rows, 3);
    assert_int_equal(batch.type, PCAL_F32);
    assert_int_equal(batch.first_row, 7);
    assert_ptr_equal(batch.scores, three + layouts[l].first);
    for (size_t i = 0; i < 6; i++) {
      const char *at = (const char *)batch.scores + (ptrdiff_t)(i / 2) * batch.row_stride +
                       (ptrdiff_t)(i % 2) * batch.column_stride;
      assert_true(*(const float *)at == layouts[l].cells[i]);
    }
    assert_memory_equal(batch.labels, ((int32_t[]){0, 1, 1}), 12);
    assert_string_equal(batch.scores_name, "logits");
    pcal_source_free(source);
  }
}

/* A float in the middle of a packed record cannot be viewed. */
TEST(converts_what_is_not_aligned_or_swapped) {
  unsigned char packed[3][5], swapped[3][4];
  for (size_t i = 0; i < 3; i++) {
    memcpy(packed[i] + 1, &three[i], 4);
    for (size_t b = 0; b < 4; b++)
      swapped[i][b] = ((const unsigned char *)&three[i])[3 - b];
  }
  for (int turn = 0; turn < 2; turn++) {
    pcal_input scores =
        join_array(turn == 0 ? &packed[0][1] : &swapped[0][0], PCAL_F32, 4, 3, 0);
    scores.row_stride = turn == 0 ? 5 : 4;
    scores.swapped = turn;
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    inputs.logits = &scores;
    pcal_source *source = join_open(&inputs);
    const pcal_batch batch = join_next(source, 10);
    assert_int_equal(batch.rows, 3);
    assert_memory_equal(batch.scores, three, 12);
    pcal_source_free(source);
  }
}

TEST(takes_labels_of_every_type) {
  static const int8_t bytes[] = {0, 1, 1};
  static const uint64_t words[] = {0, 1, 1};
  static const double reals[] = {0, 1, 1};
  static const unsigned char truth[] = {0, 1, 1}, one_hot[] = {1, 0, 0, 1, 0, 1};
  static const int32_t codes[] = {1, 0, 0};
  static const char *const meanings[] = {"dog", "cat"}, *const classes[] = {"cat", "dog"};
  pcal_input kinds[] = {
      join_array(bytes, PCAL_I8, 1, 3, 1),   join_array(words, PCAL_U64, 8, 3, 1),
      join_array(reals, PCAL_F64, 8, 3, 1),  join_array(truth, PCAL_BOOL, 1, 3, 1),
      join_array(one_hot, PCAL_U8, 1, 3, 2), join_array(codes, PCAL_I32, 4, 3, 1)};
  kinds[5].meanings = meanings;
  kinds[5].meaning_count = 2;
  const pcal_input scores = join_array(three, PCAL_F32, 4, 3, 2);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    inputs.logits = &scores;
    inputs.labels = &kinds[k];
    inputs.class_names = classes;
    inputs.class_count = 2;
    pcal_source *source = join_open(&inputs);
    pcal_shape shape = PCAL_SHAPE_INIT;
    pcal_source_get_shape(source, &shape);
    assert_int_equal(shape.row_count, 3);
    assert_string_equal(shape.class_names[1], "dog");
    assert_memory_equal(join_next(source, 10).labels, ((int32_t[]){0, 1, 1}), 12);
    pcal_source_free(source);
  }
}

TEST(numbers_without_a_name_are_missing) {
  static const int16_t codes[] = {1, -1, 2};
  static const char *const meanings[] = {"dog", "cat"};
  pcal_input coded = join_array(codes, PCAL_I16, 2, 3, 1);
  const pcal_input scores = join_array(three, PCAL_F32, 4, 3, 2);
  coded.meanings = meanings;
  coded.meaning_count = 2;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  inputs.logits = &scores;
  inputs.labels = &coded;
  inputs.class_names = meanings;
  inputs.class_count = 2;
  pcal_source *source = join_open(&inputs);
  assert_memory_equal(join_next(source, 10).labels,
                      ((int32_t[]){1, PCAL_MISSING_LABEL, PCAL_MISSING_LABEL}), 12);
  pcal_source_free(source);
  inputs.labels = NULL;
  inputs.groups = &coded;
  source = join_open(&inputs);
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err;
  assert_int_equal(pcal_source_next(source, 10, &batch, &err), PCAL_DATA);
  assert_string_equal(err.message,
                      "groups, row 1: the group is missing; give every row a group");
  pcal_source_free(source);
}

TEST(refuses_what_does_not_fit) {
  pcal_input scores = join_array(three, PCAL_F32, 4, 3, 2),
             labels = join_array(three, PCAL_F32, 4, 2, 1);
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  static const char *const names[] = {"a", NULL};
  join_refused(&inputs, PCAL_USAGE,
               "there are no scores; give one of probs, logits, log_probs, confidence, "
               "mean, quantiles, samples or data");
  inputs.probs = &scores;
  inputs.labels = &labels;
  scores.name = "probs";
  join_refused(&inputs, PCAL_DATA,
               "probs has 3 rows but labels has 2; both must describe the same rows");
  labels.columns = 3;
  labels.rows = 3;
  join_refused(&inputs, PCAL_DATA,
               "labels has 3 columns, but probs has 2 classes; give one-hot labels for each "
               "class, or a class number for each row");
  inputs.labels = NULL;
  inputs.class_names = names;
  inputs.class_count = 3;
  join_refused(&inputs, PCAL_USAGE,
               "there are 3 names of classes for 2 columns of scores; give one for each");
  inputs.class_count = 2;
  join_refused(&inputs, PCAL_USAGE, "the name of class 1 is NULL");
  inputs.class_names = NULL;
  inputs.weights = &labels;
  join_refused(&inputs, PCAL_DATA,
               "weights has 3 columns, but weights need one; give only the right one");
  inputs.weights = NULL;
  inputs.header = (pcal_header)3;
  join_refused(&inputs, PCAL_USAGE, "header 3 is unknown; take one of pcal_header");
  inputs.header = PCAL_HEADER_AUTO;
  scores.rows = 0;
  join_refused(&inputs, PCAL_DATA, "probs has no rows; give at least one");
  scores.rows = 3;
  scores.columns = 1;
  join_refused(&inputs, PCAL_DATA,
               "probs has lists of one score, which means a single class; for scores of "
               "class 1 of two give a one-dimensional array (columns 0)");
  scores.columns = 2;
  scores.data = NULL;
  join_refused(&inputs, PCAL_USAGE, "probs: an array of 3 rows needs data");
}

TEST(refuses_unknown_types) {
  for (int i = 0; i < 2; i++) {
    const pcal_input scores = join_array(three, (pcal_type)(i * 13), 4, 3, 1);
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    inputs.probs = &scores;
    join_refused(&inputs, PCAL_USAGE,
                 i == 0 ? "probs: element type 0 is unknown; take one of pcal_type"
                        : "probs: element type 13 is unknown; take one of pcal_type");
  }
}

/* ---- Streams ---- */

static const float stream_probs[] = {0.25f, 0.5f, 1, 0.125f, 0};
static const double stream_weights[] = {1, 2, 3, 4, 5};

static struct ArrowSchema *join_scores_schema(void) {
  struct ArrowSchema *schema = help_schema("+s", "");
  help_schema_add(schema, help_schema("f", "cat"));
  help_schema_add(schema, help_schema("f", "dog"));
  return schema;
}

/* Five rows in batches of 2 and 3. */
static struct ArrowArray *join_scores_batch(int64_t index) {
  if (index > 1)
    return NULL;
  const int64_t rows = index + 2;
  struct ArrowArray *batch = help_array(rows, 0, 1, NULL, NULL, NULL);
  for (int i = 0; i < 2; i++)
    help_array_add(batch, help_array(rows, index * 2, 2, NULL, stream_probs, NULL));
  return batch;
}

static struct ArrowSchema *join_weights_schema(void) {
  return help_schema("g", "w");
}

/* Five rows in batches of 1, 3 and 1. */
static struct ArrowArray *join_weights_batch(int64_t index) {
  static const int64_t first[] = {0, 1, 4, 5};
  return index > 2 ? NULL
                   : help_array(first[index + 1] - first[index], first[index], 2, NULL,
                                stream_weights, NULL);
}

static struct ArrowArray *join_short_batch(int64_t index) {
  return index < 2 ? join_weights_batch(index) : NULL;
}

static pcal_status join_streams(const pcal_env *env, void *user, pcal_error *err) {
  static const size_t rows[] = {1, 1, 2, 1, 0};
  help_stream first = {join_scores_schema, join_scores_batch, 0, 0, 0};
  help_stream second = {join_weights_schema, join_weights_batch, 0, 0, 0};
  struct ArrowArrayStream probs = help_stream_make(&first), weights = help_stream_make(&second);
  pcal_input scores_input = PCAL_INPUT_INIT, weights_input = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  (void)user;
  scores_input.stream = &probs;
  weights_input.stream = &weights;
  inputs.probs = &scores_input;
  inputs.weights = &weights_input;
  pcal_status status = pcal_source_open(&inputs, env, &source, err);
  assert_null(probs.release);
  assert_null(weights.release);
  uint64_t at = 0;
  for (size_t i = 0; i < 5 && status == PCAL_OK; i++) {
    pcal_batch batch = PCAL_BATCH_INIT;
    status = pcal_source_next(source, 10, &batch, err);
    if (status != PCAL_OK)
      break;
    assert_int_equal(batch.rows, rows[i]);
    assert_int_equal(batch.columns, 2);
    for (size_t r = 0; r < batch.rows; r++, at++) {
      assert_true(((const float *)batch.scores)[r * 2] == stream_probs[at]);
      assert_true(batch.weights[r] == stream_weights[at]);
    }
  }
  if (status == PCAL_OK)
    assert_int_equal(at, 5);
  pcal_source_free(source);
  assert_int_equal(help_arrow_live, 0);
  return status;
}

TEST(joins_streams_with_different_batches) {
  pcal_error err;
  if (join_streams(NULL, NULL, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  help_fail_each_allocation(join_streams, NULL);
}

TEST(chooses_columns_and_notices_ends) {
  static const char *const chosen[] = {"dog"};
  help_stream first = {join_scores_schema, join_scores_batch, 0, 0, 0};
  help_stream second = {join_weights_schema, join_short_batch, 0, 0, 0};
  struct ArrowArrayStream probs = help_stream_make(&first), weights = help_stream_make(&second);
  pcal_input scores_input = PCAL_INPUT_INIT, weights_input = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_error err;
  pc_error_clear(&err);
  scores_input.stream = &probs;
  scores_input.column_names = chosen;
  scores_input.column_name_count = 1;
  weights_input.stream = &weights;
  inputs.probs = &scores_input;
  inputs.weights = &weights_input;
  pcal_source *source = join_open(&inputs);
  pcal_status status;
  while ((status = pcal_source_next(source, 10, &batch, &err)) == PCAL_OK && batch.rows > 0)
    assert_int_equal(batch.columns, 1);
  assert_int_equal(status, PCAL_DATA);
  assert_string_equal(
      err.message, "weights has 4 rows but probs has more; both must describe the same rows");
  pcal_source_free(source);
  assert_int_equal(help_arrow_live, 0);
}

/* ---- A table whose columns are found by name ---- */

static const int64_t table_labels[] = {0, 1, 1, 0, 1};
static const int32_t table_ends[] = {0, 1, 2, 3, 4, 5};

static struct ArrowSchema *join_table_schema(void) {
  static const char *const columns[][2] = {{"g", "weights"},
                                           {"f", "probs.cat"},
                                           {"u", "groups"},
                                           {"f", "probs.dog"},
                                           {"l", "labels"}};
  struct ArrowSchema *schema = help_schema("+s", "");
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    help_schema_add(schema, help_schema(columns[i][0], columns[i][1]));
  return schema;
}

/* Five rows in batches of 2 and 3, with an empty one between them. */
static struct ArrowArray *join_table_batch(int64_t index) {
  if (index > 2)
    return NULL;
  const int64_t rows = index == 0 ? 2 : index == 1 ? 0 : 3, first = index == 0 ? 0 : 2;
  struct ArrowArray *batch = help_array(rows, 0, 1, NULL, NULL, NULL);
  help_array_add(batch, help_array(rows, first, 2, NULL, stream_weights, NULL));
  help_array_add(batch, help_array(rows, first, 2, NULL, stream_probs, NULL));
  help_array_add(batch, help_array(rows, first, 3, NULL, table_ends, "abaab"));
  help_array_add(batch, help_array(rows, first, 2, NULL, stream_probs, NULL));
  help_array_add(batch, help_array(rows, first, 2, NULL, table_labels, NULL));
  return batch;
}

static void join_table_check(const pcal_batch *batch, uint64_t at) {
  static const uint32_t groups[] = {0, 1, 0, 0, 1};
  assert_int_equal(batch->columns, 2);
  for (size_t r = 0; r < batch->rows; r++, at++) {
    assert_true(((const float *)batch->scores)[r * 2] == stream_probs[at]);
    assert_true(((const float *)batch->scores)[r * 2 + 1] == stream_probs[at]);
    assert_int_equal(batch->labels[r], table_labels[at]);
    assert_true(batch->weights[r] == stream_weights[at]);
    assert_int_equal(batch->groups[r], groups[at]);
  }
}

/* user: weights that replace those of the table, or NULL. */
static pcal_status join_table(const pcal_env *env, void *user, pcal_error *err) {
  help_stream data = {join_table_schema, join_table_batch, 0, 0, 0};
  struct ArrowArrayStream stream = help_stream_make(&data);
  pcal_input table = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  table.stream = &stream;
  inputs.data = &table;
  inputs.weights = user;
  pcal_status status = pcal_source_open(&inputs, env, &source, err);
  assert_null(stream.release);
  uint64_t at = 0;
  for (int pass = 0; pass < 2 && status == PCAL_OK; pass++) {
    pcal_batch batch = PCAL_BATCH_INIT;
    at = 0;
    while ((status = pcal_source_next(source, 10, &batch, err)) == PCAL_OK && batch.rows > 0) {
      join_table_check(&batch, at);
      at += batch.rows;
    }
    if (status == PCAL_OK)
      status = pcal_source_rewind(source, err);
  }
  if (status == PCAL_OK) {
    pcal_shape shape = PCAL_SHAPE_INIT;
    pcal_source_get_shape(source, &shape);
    assert_int_equal(at, 5);
    assert_int_equal(shape.kind, PCAL_PROBABILITY);
    assert_string_equal(shape.class_names[0], "cat");
    assert_string_equal(shape.class_names[1], "dog");
    assert_int_equal(shape.group_count, 2);
    assert_string_equal(shape.group_names[1], "b");
  }
  pcal_source_free(source);
  assert_int_equal(help_arrow_live, 0);
  return status;
}

TEST(finds_columns_of_arrow_data_by_name) {
  pcal_input weights = join_array(stream_weights, PCAL_F64, 8, 5, 1);
  pcal_error err;
  if (join_table(NULL, NULL, &err) != PCAL_OK || join_table(NULL, &weights, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  help_fail_each_allocation(join_table, NULL);
}

TEST(refuses_arrow_data_without_scores) {
  help_stream data = {join_scores_schema, join_scores_batch, 0, 0, 0};
  struct ArrowArrayStream stream = help_stream_make(&data);
  pcal_input table = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_error err;
  table.stream = &stream;
  inputs.data = &table;
  assert_int_equal(pcal_source_open(&inputs, NULL, &source, &err), PCAL_DATA);
  assert_message(err, "data has no columns for scores");
  assert_null(source);
  assert_int_equal(help_arrow_live, 0);
}

/* Labels of two columns, and no place for the source: streams are released all the same. */
TEST(releases_streams_on_failure) {
  const pcal_input scores = join_array(three, PCAL_F32, 4, 3, 2);
  for (int turn = 0; turn < 3; turn++) {
    help_stream data = {join_scores_schema, join_scores_batch, 0, 0, 0};
    struct ArrowArrayStream stream = help_stream_make(&data);
    pcal_input labels = PCAL_INPUT_INIT;
    pcal_inputs inputs = PCAL_INPUTS_INIT;
    pcal_source *source = NULL;
    pcal_error err;
    labels.stream = &stream;
    labels.file = turn == 2 ? "labels.npy" : NULL;
    inputs.probs = &scores;
    inputs.labels = &labels;
    assert_int_equal(pcal_source_open(&inputs, NULL, turn == 0 ? NULL : &source, &err),
                     turn == 1 ? PCAL_DATA : PCAL_USAGE);
    assert_string_equal(
        err.message,
        turn == 0   ? "pcal_source_open needs inputs and an out pointer; NULL was given"
        : turn == 1 ? "labels has 2 columns; give one"
                    : "labels: a file and a stream or an array are both given; give one");
    assert_null(stream.release);
    assert_int_equal(help_arrow_live, 0);
  }
  assert_int_equal(pcal_source_open(NULL, NULL, NULL, NULL), PCAL_USAGE);
}

TEST(joins_a_file_with_an_array) {
  const char *csv = help_file("labels.csv", "y\n1\n0\n1\n", 8);
  const pcal_input scores = join_array(three, PCAL_F32, 4, 3, 2);
  pcal_input labels = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  labels.file = csv;
  inputs.logits = &scores;
  inputs.labels = &labels;
  pcal_source *source = join_open(&inputs);
  assert_memory_equal(join_next(source, 10).labels, ((int32_t[]){1, 0, 1}), 12);
  assert_int_equal(pcal_source_rewind(source, NULL), PCAL_OK);
  const pcal_batch batch = join_next(source, 2);
  assert_int_equal(batch.rows, 2);
  assert_string_equal(batch.labels_name, csv);
  pcal_source_free(source);
}

/* Strides of 0, as PCAL_INPUT_INIT has them, are those of an array without gaps. */
TEST(fills_strides_of_arrays) {
  static const float cells[] = {0.5, 0.5, 0.25, 0.75, 1, 0};
  static const double weights[] = {1, 2, 3};
  pcal_input scores = join_array(cells, PCAL_F32, 4, 3, 2);
  pcal_input truth = join_array(long_labels, PCAL_I64, 8, 3, 0);
  pcal_input often = join_array(weights, PCAL_F64, 8, 3, 1);
  scores.row_stride = scores.column_stride = 0;
  truth.row_stride = truth.column_stride = often.row_stride = often.column_stride = 0;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  inputs.probs = &scores;
  inputs.labels = &truth;
  inputs.weights = &often;
  pcal_source *source = join_open(&inputs);
  const pcal_batch batch = join_next(source, 10);
  assert_int_equal(batch.rows, 3);
  assert_int_equal(batch.row_stride, 8);
  assert_int_equal(batch.column_stride, 4);
  assert_memory_equal(batch.scores, cells, sizeof cells);
  assert_int_equal(batch.labels[2], 1);
  assert_true(batch.weights[2] == 3.0);
  pcal_source_free(source);
  scores.column_stride = 12;
  join_refused(&inputs, PCAL_USAGE,
               "probs: row_stride is 0 and the columns are not contiguous; set "
               "row_stride to the bytes from one row to the next");
}

/* Names of numbers, columns by name, and files that are missing among several. */
TEST(refuses_names_that_do_not_fit) {
  static const char *const names[] = {"x", NULL}, *const two[] = {"a", "b"};
  pcal_input scores = join_array(three, PCAL_F32, 4, 3, 2);
  pcal_input labels = join_array(long_labels, PCAL_I64, 8, 3, 1);
  pcal_input groups = join_array(three, PCAL_F32, 4, 3, 1);
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  inputs.logits = &scores;
  inputs.labels = &labels;
  inputs.groups = &groups;
  groups.meanings = two;
  groups.meaning_count = 2;
  join_refused(&inputs, PCAL_USAGE, "groups: only whole numbers can be indices of names");
  groups = join_array(long_labels, PCAL_I64, 8, 3, 1);
  groups.meanings = names;
  groups.meaning_count = 2;
  join_refused(&inputs, PCAL_USAGE, "groups: name number 1 is NULL");
}

TEST(refuses_several_files_of_which_one_is_missing) {
  static const char *files[2];
  char sentence[300];
  pcal_input data = PCAL_INPUT_INIT;
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  files[0] = help_text("here.csv", "probs,labels\n0.5,1\n0.25,0\n");
  files[1] = help_path("absent.csv");
  data.files = files;
  data.file_count = 2;
  inputs.data = &data;
  snprintf(sentence, sizeof sentence, "%s: there is no such file; check the name", files[1]);
  join_refused(&inputs, PCAL_IO, sentence);
}

TEST_GROUP(help_setup, help_teardown)
