/* Arrow streams built from the input's bytes: record batches of scores, labels, weights and
 * groups in every type that is read, some of them damaged in a way that the C data interface
 * lets a consumer notice.  Buffers are exactly as long as their arrays say, so that a sanitizer
 * sees any read beyond them.
 *
 *   1. A stream is refused with one sentence, or all its rows are measured.
 *   2. Everything handed over is released exactly once. */
#include "fuzz_count.h"
#include "fuzz_files.h"
#include "propercal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARROW_COLUMNS_MAX = 12, ARROW_BATCHES_MAX = 3 };

typedef struct arrow_column {
  char name[24], format[24];
  fuzz_part part;
  int grouped;  /* holds names of groups */
  int listed;   /* fixed-size lists of scores */
  size_t class; /* of a column of scores */
  int dictionary, nullable;
} arrow_column;

typedef struct arrow_stream {
  fuzz_table table;
  fuzz_choice choice;
  arrow_column columns[ARROW_COLUMNS_MAX];
  size_t count, batches, sent;
  int damage; /* 0: none; else what is wrong with the last batch */
} arrow_stream;

enum {
  ARROW_FINE,
  ARROW_NO_BUFFER,
  ARROW_FEW_BUFFERS,
  ARROW_NO_CHILDREN,
  ARROW_SHORT,
  ARROW_NEGATIVE,
  ARROW_OFFSETS,
  ARROW_INDEX,
  ARROW_FAILS,
  ARROW_DAMAGES
};

static int arrow_live; /* structures handed over and not yet released */

/* ---- schema ---- */

static void arrow_schema_release(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release != NULL)
      schema->children[i]->release(schema->children[i]);
    free(schema->children[i]);
  }
  free(schema->children);
  if (schema->dictionary != NULL && schema->dictionary->release != NULL)
    schema->dictionary->release(schema->dictionary);
  free(schema->dictionary);
  schema->release = NULL;
  arrow_live--;
}

static struct ArrowSchema *arrow_schema_new(const char *name, const char *format,
                                            int64_t children, struct ArrowSchema *out) {
  if (out == NULL)
    out = malloc(sizeof *out);
  *out = (struct ArrowSchema){.format = format, .name = name, .n_children = children};
  out->flags = ARROW_FLAG_NULLABLE;
  out->children = children > 0 ? calloc((size_t)children, sizeof *out->children) : NULL;
  out->release = arrow_schema_release;
  arrow_live++;
  return out;
}

static int arrow_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  const arrow_stream *from = stream->private_data;
  arrow_schema_new("", "+s", (int64_t)from->count, out);
  for (size_t c = 0; c < from->count; c++) {
    const arrow_column *column = &from->columns[c];
    struct ArrowSchema *child =
        arrow_schema_new(column->name, column->format, column->listed, NULL);
    if (column->listed)
      child->children[0] = arrow_schema_new("item", "g", 0, NULL);
    if (column->dictionary)
      child->dictionary = arrow_schema_new("", "u", 0, NULL);
    out->children[c] = child;
  }
  return 0;
}

/* ---- arrays ---- */

static void arrow_array_release(struct ArrowArray *array) {
  const intptr_t children =
      (intptr_t)((void **)array->private_data)[3]; /* n_children may lie */
  for (intptr_t i = 0; i < children; i++) {
    if (array->children[i]->release != NULL)
      array->children[i]->release(array->children[i]);
    free(array->children[i]);
  }
  free(array->children);
  if (array->dictionary != NULL && array->dictionary->release != NULL)
    array->dictionary->release(array->dictionary);
  free(array->dictionary);
  for (size_t b = 0; b < 3; b++)
    free(((void **)array->private_data)[b]);
  free(array->private_data);
  free(array->buffers);
  array->release = NULL;
  arrow_live--;
}

static struct ArrowArray *arrow_array_new(size_t rows, int64_t buffers, int64_t children,
                                          struct ArrowArray *out) {
  if (out == NULL)
    out = malloc(sizeof *out);
  *out = (struct ArrowArray){
      .length = (int64_t)rows, .n_buffers = buffers, .n_children = children};
  out->buffers = calloc(3, sizeof *out->buffers);
  out->private_data = calloc(4, sizeof(void *));
  ((void **)out->private_data)[3] = (void *)(intptr_t)children;
  out->children = children > 0 ? calloc((size_t)children, sizeof *out->children) : NULL;
  out->release = arrow_array_release;
  arrow_live++;
  return out;
}

/* A buffer of exactly so many bytes, at least one. */
static void *arrow_buffer(struct ArrowArray *array, size_t number, size_t bytes) {
  void *block = calloc(bytes > 0 ? bytes : 1, 1);
  ((void **)array->private_data)[number] = block;
  array->buffers[number] = block;
  return block;
}

static void arrow_nulls(arrow_stream *from, struct ArrowArray *array) {
  const size_t rows = (size_t)array->length;
  uint8_t *bits = arrow_buffer(array, 0, (rows + 7) / 8);
  memset(bits, 0xFF, (rows + 7) / 8);
  array->null_count = -1;
  if (rows > 0 && fuzz_chance(&from->choice, 2))
    bits[(rows - 1) / 8] &= (uint8_t) ~(1u << ((rows - 1) % 8));
}

/* Texts of rows, as utf8. */
static void arrow_texts(arrow_stream *from, struct ArrowArray *array, size_t first,
                        int labels) {
  const size_t rows = (size_t)array->length;
  int32_t *offsets = arrow_buffer(array, 1, (rows + 1) * sizeof *offsets);
  char *bytes = NULL;
  size_t length = 0;
  for (size_t row = 0; row < rows; row++) {
    char digits[16];
    const char *text = fuzz_table_group(&from->table, first + row);
    if (labels) {
      snprintf(digits, sizeof digits, "s%d", fuzz_table_label(&from->table, first + row));
      text = digits;
    }
    bytes = realloc(bytes, length + strlen(text) + 1);
    memcpy(bytes + length, text, strlen(text) + 1);
    length += strlen(text);
    offsets[row + 1] = (int32_t)length;
  }
  if (from->damage == ARROW_OFFSETS && rows > 1 && from->sent == from->batches)
    offsets[1] = fuzz_chance(&from->choice, 2) ? -5 : offsets[rows] + 1;
  char *exact = arrow_buffer(array, 2, length);
  if (length > 0)
    memcpy(exact, bytes, length);
  free(bytes);
}

static void arrow_indices(arrow_stream *from, struct ArrowArray *array, size_t first) {
  const size_t rows = (size_t)array->length;
  int8_t *indices = arrow_buffer(array, 1, rows);
  for (size_t row = 0; row < rows; row++)
    indices[row] = (int8_t)((first + row) % 2);
  if (from->damage == ARROW_INDEX && from->sent == from->batches && rows > 0)
    indices[rows - 1] = fuzz_chance(&from->choice, 2) ? -1 : 100;
  array->dictionary = arrow_array_new(2, 3, 0, NULL);
  arrow_texts(from, array->dictionary, 0, 0);
}

static double arrow_value(const arrow_stream *from, const arrow_column *column, size_t row) {
  return column->part == FUZZ_SCORES   ? fuzz_table_score(&from->table, row, column->class)
         : column->part == FUZZ_LABELS ? (double)fuzz_table_label(&from->table, row)
                                       : fuzz_table_weight(&from->table, row);
}

static void arrow_numbers(const arrow_stream *from, const arrow_column *column,
                          struct ArrowArray *array, size_t first) {
  const size_t rows = (size_t)array->length;
  const char type = column->format[0];
  const size_t bytes = type == 'g' || type == 'l' ? 8 : type == 'c' ? 1 : 4;
  uint8_t *at = arrow_buffer(array, 1, rows * bytes);
  for (size_t row = 0; row < rows; row++, at += bytes) {
    const double value = arrow_value(from, column, first + row);
    const float single = (float)value;
    const int64_t whole = (int64_t)value;
    memcpy(at,
           type == 'g'   ? (const void *)&value
           : type == 'f' ? (const void *)&single
                         : (const void *)&whole,
           bytes);
  }
}

static void arrow_lists(const arrow_stream *from, struct ArrowArray *array, size_t first) {
  const size_t rows = (size_t)array->length, k = from->table.columns;
  struct ArrowArray *values = arrow_array_new(rows * k, 2, 0, NULL);
  double *at = arrow_buffer(values, 1, rows * k * sizeof *at);
  for (size_t row = 0; row < rows; row++)
    for (size_t c = 0; c < k; c++)
      *at++ = fuzz_table_score(&from->table, first + row, c);
  array->children[0] = values;
}

static struct ArrowArray *arrow_child(arrow_stream *from, const arrow_column *column,
                                      size_t first, size_t rows) {
  const int text = strcmp(column->format, "u") == 0;
  struct ArrowArray *array = arrow_array_new(rows,
                                             column->listed ? 1
                                             : text         ? 3
                                                            : 2,
                                             column->listed, NULL);
  if (column->nullable)
    arrow_nulls(from, array);
  if (column->listed)
    arrow_lists(from, array, first);
  else if (column->dictionary)
    arrow_indices(from, array, first);
  else if (text)
    arrow_texts(from, array, first, column->part == FUZZ_LABELS);
  else
    arrow_numbers(from, column, array, first);
  return array;
}

/* ---- damage ---- */

static void arrow_damage(arrow_stream *from, struct ArrowArray *batch) {
  struct ArrowArray *child = batch->children[fuzz_below(&from->choice, from->count)];
  if (from->damage == ARROW_NO_BUFFER)
    child->buffers[1] = NULL;
  else if (from->damage == ARROW_FEW_BUFFERS)
    child->n_buffers = 0;
  else if (from->damage == ARROW_SHORT)
    child->length--;
  else if (from->damage == ARROW_NEGATIVE && fuzz_chance(&from->choice, 2))
    child->length = -child->length - 1;
  else if (from->damage == ARROW_NEGATIVE)
    child->offset = -1;
  else if (from->damage == ARROW_NO_CHILDREN && child->n_children > 0)
    child->n_children = 0;
  else if (from->damage == ARROW_NO_CHILDREN)
    batch->n_children--;
}

static int arrow_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  arrow_stream *from = stream->private_data;
  const size_t n = from->table.rows, begin = n * from->sent / from->batches;
  *out = (struct ArrowArray){0};
  if (from->sent == from->batches)
    return from->damage == ARROW_FAILS ? 5 : 0;
  from->sent++;
  const size_t rows = n * from->sent / from->batches - begin;
  arrow_array_new(rows, 1, (int64_t)from->count, out);
  for (size_t c = 0; c < from->count; c++)
    out->children[c] = arrow_child(from, &from->columns[c], begin, rows);
  if (from->sent == from->batches)
    arrow_damage(from, out);
  return 0;
}

static const char *arrow_last_error(struct ArrowArrayStream *stream) {
  arrow_stream *from = stream->private_data;
  return fuzz_chance(&from->choice, 2) ? "broken pipe" : NULL;
}

static void arrow_stream_release(struct ArrowArrayStream *stream) {
  stream->release = NULL;
  arrow_live--;
}

/* ---- columns ---- */

static arrow_column *arrow_add(arrow_stream *stream, const char *name, const char *format) {
  arrow_column *column = &stream->columns[stream->count++];
  *column = (arrow_column){.nullable = fuzz_chance(&stream->choice, 8)};
  snprintf(column->name, sizeof column->name, "%s", name);
  snprintf(column->format, sizeof column->format, "%s", format);
  return column;
}

static void arrow_add_scores(arrow_stream *stream) {
  static const char *const floats[] = {"g", "g", "f"};
  const size_t k = stream->table.columns;
  char text[24];
  if (k > 1 && fuzz_chance(&stream->choice, 2)) {
    snprintf(text, sizeof text, "+w:%zu", k);
    arrow_add(stream, "scores", text)->listed = 1;
    return;
  }
  for (size_t c = 0; c < k; c++) {
    snprintf(text, sizeof text, "s%zu", c);
    arrow_add(stream, text,
              stream->table.kind == FUZZ_PROBS ? "g" : FUZZ_PICK(&stream->choice, floats))
        ->class
        = c;
  }
}

static void arrow_stream_make(arrow_stream *stream, const uint8_t *data, size_t size) {
  static const char *const wholes[] = {"i", "l", "c"};
  *stream = (arrow_stream){.choice = fuzz_choice_of_bytes(data, size)};
  fuzz_choice *choice = &stream->choice;
  stream->damage = fuzz_chance(choice, 3) ? (int)fuzz_below(choice, ARROW_DAMAGES) : ARROW_FINE;
  stream->table = fuzz_table_make(choice);
  stream->batches = 1 + fuzz_below(choice, ARROW_BATCHES_MAX);
  arrow_add_scores(stream);
  const int named = !stream->columns[0].listed && stream->table.columns > 1;
  const char *type = named && fuzz_chance(choice, 3) ? "u" : FUZZ_PICK(choice, wholes);
  arrow_add(stream, "labels", type)->part = FUZZ_LABELS;
  if (stream->table.weighted)
    arrow_add(stream, "weights", fuzz_chance(choice, 2) ? "g" : "f")->part = FUZZ_WEIGHTS;
  if (!stream->table.grouped)
    return;
  const int dictionary = fuzz_chance(choice, 2);
  arrow_column *groups = arrow_add(stream, "groups", dictionary ? "c" : "u");
  groups->grouped = 1;
  groups->dictionary = dictionary;
}

/* ---- ---- */

static int arrow_measure(pcal_source *source) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_env env = PCAL_ENV_INIT;
  pcal_results *results = NULL;
  pcal_error err;
  env.threads = 1;
  config.skip_missing = 1;
  const pcal_status status = pcal_measure_run(source, &config, &env, &results, &err);
  if (status != PCAL_OK && (err.status != status || err.message[0] == '\0'))
    abort();
  pcal_results_free(results);
  return status == PCAL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  arrow_stream state;
  const char *names[ARROW_COLUMNS_MAX];
  static const char *const beside[] = {"labels", "weights", "groups"};
  pcal_input table = PCAL_INPUT_INIT, scores = PCAL_INPUT_INIT, parts[3];
  pcal_inputs inputs = PCAL_INPUTS_INIT;
  pcal_source *source = NULL;
  pcal_error err;
  arrow_stream_make(&state, data, size);
  struct ArrowArrayStream stream = {arrow_get_schema, arrow_get_next, arrow_last_error,
                                    arrow_stream_release, &state};
  arrow_live = 1;
  table.stream = &stream;
  inputs.data = &table;
  scores.column_names = names;
  for (size_t c = 0; c < state.count && state.columns[c].part == FUZZ_SCORES; c++)
    if (!state.columns[c].grouped)
      names[scores.column_name_count++] = state.columns[c].name;
  const pcal_input **const kinds[FUZZ_KINDS] = {&inputs.probs, &inputs.logits,
                                                &inputs.log_probs, &inputs.confidence};
  const int confidence = kinds[state.table.kind] == &inputs.confidence;
  *kinds[state.table.kind] = &scores;
  const pcal_input **const fields[] = {confidence ? &inputs.correct : &inputs.labels,
                                       state.table.weighted ? &inputs.weights : NULL,
                                       state.table.grouped ? &inputs.groups : NULL};
  for (size_t i = 0; i < 3; i++) {
    const pcal_input blank = PCAL_INPUT_INIT;
    parts[i] = blank;
    parts[i].column_names = &beside[i];
    parts[i].column_name_count = 1;
    if (fields[i] != NULL)
      *fields[i] = &parts[i];
  }
  const pcal_status status = pcal_source_open(&inputs, NULL, &source, &err);
  if (status != PCAL_OK && (err.status != status || err.message[0] == '\0'))
    abort();
  fuzz_count(status == PCAL_OK && arrow_measure(source));
  pcal_source_free(source);
  if (arrow_live != 0 || stream.release != NULL)
    abort();
  return 0;
}
