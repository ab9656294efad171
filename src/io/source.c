/* Rules:
 *  1. each file is opened once, however many fields name it: standard input can be shared.
 *  2. lengths are compared when they are known, at the latest when a file ends.
 *  3. labels may be absent: such a source can be inspected but not measured.
 *  4. fields given beside `data` take the place of its columns.
 *  5. a window is as long as the shortest of its parts allows; without conversion it is as
 *     long as asked for. */
#include "io/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/bytes.h"
#include "io/groups.h"
#include "io/inputs.h"
#include "io/labels.h"
#include "io/reader.h"
#include "io/selector.h"

#define SOURCE_FILES_MAX 5

typedef struct source_file {
  char *path; /* owned */
  pc_bytes bytes;
} source_file;

struct pcal_source {
  pcal_env env;
  source_file files[SOURCE_FILES_MAX];
  size_t file_count;
  pcal_kind kind;
  pc_reader table; /* a data file with all its columns: keeps their names */
  pc_data_columns columns;
  pc_reader scores, label_cells, weights, group_cells;
  const char *const *class_names; /* owned by a reader or by columns */
  pc_names classes;
  pc_labels labels;
  pc_groups groups;
  uint64_t first_row;
  uint64_t position; /* rows given out */
};

static int source_has(const pc_reader *part) {
  return part->format != NULL;
}

static const char *source_name(const pc_reader *part) {
  return source_has(part) ? part->bytes->name : NULL;
}

/* The file of a selector, opened if it is not yet; takes the selector's path over then. */
static pcal_status source_file_open(pcal_source *source, pc_selector *selector,
                                    const pc_bytes **out, pcal_error *err) {
  for (size_t i = 0; i < source->file_count; i++) {
    *out = &source->files[i].bytes;
    if (strcmp(source->files[i].path, selector->path) == 0)
      return PCAL_OK;
  }
  source_file *file = &source->files[source->file_count];
  PC_TRY(pc_bytes_open(selector->path, &source->env, &file->bytes, err));
  file->path = pc_copy_text(&source->env, selector->path);
  *out = &file->bytes;
  source->file_count++;
  return file->path == NULL ? pc_fail_memory(err, "opening a file") : PCAL_OK;
}

static pcal_status source_part_open(pcal_source *source, const char *text, pc_as as,
                                    pc_reader *part, pcal_error *err) {
  pc_selector selector;
  pc_request request = {.env = &source->env, .as = as};
  PC_TRY(pc_selector_split(text, pc_bytes_exists(text), &source->env, &selector, err));
  request.selector = selector.columns;
  pcal_status status = source_file_open(source, &selector, &request.bytes, err);
  if (status == PCAL_OK)
    status = pc_reader_open(&request, part, err);
  pc_selector_free(&source->env, &selector);
  return status;
}

/* A part from its own file, or else from a column of the data file, if either is there. */
static pcal_status source_part(pcal_source *source, const char *text, size_t column, pc_as as,
                               pc_reader *part, pcal_error *err) {
  if (text != NULL)
    return source_part_open(source, text, as, part, err);
  if (!source_has(&source->table) || column == PC_NO_COLUMN)
    return PCAL_OK;
  const pc_request request = {.env = &source->env,
                              .bytes = source->table.bytes,
                              .chosen = &column,
                              .chosen_count = 1,
                              .as = as};
  return pc_reader_open(&request, part, err);
}

static pcal_status source_scores_from_data(pcal_source *source, const pc_plan *plan,
                                           pcal_error *err) {
  PC_TRY(source_part_open(source, plan->data, PC_AS_TEXT, &source->table, err));
  const pc_column_set set = {source->table.bytes->name, source->table.names,
                             source->table.columns};
  if (source->table.columns != source->table.file_columns)
    return pc_fail(err, PCAL_USAGE,
                   "--data finds the columns of %s by their names; leave the selector out",
                   set.file);
  PC_TRY(pc_data_columns_find(&set, &source->env, &source->columns, err));
  source->kind = source->columns.kind;
  source->class_names = source->columns.score_count > 1 ? source->columns.class_names : NULL;
  const pc_request request = {.env = &source->env,
                              .bytes = source->table.bytes,
                              .chosen = source->columns.scores,
                              .chosen_count = source->columns.score_count,
                              .as = PC_AS_SCORES};
  return pc_reader_open(&request, &source->scores, err);
}

static pcal_status source_scores(pcal_source *source, const pc_plan *plan, pcal_error *err) {
  if (plan->data != NULL)
    return source_scores_from_data(source, plan, err);
  source->kind = plan->kind;
  PC_TRY(source_part_open(source, plan->scores, PC_AS_SCORES, &source->scores, err));
  source->class_names = source->scores.columns > 1 ? source->scores.names : NULL;
  return PCAL_OK;
}

static pcal_status source_one_column(const pc_reader *part, const char *what, pcal_error *err) {
  if (!source_has(part) || part->columns == 1)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA, "%s has %zu columns, but %s take one; choose it as %s:COLUMN",
                 source_name(part), part->columns, what, source_name(part));
}

static pcal_status source_check_columns(const pcal_source *source, pcal_error *err) {
  const size_t classes = source->scores.columns == 1 ? 2 : source->scores.columns;
  PC_TRY(source_one_column(&source->weights, "weights", err));
  PC_TRY(source_one_column(&source->group_cells, "groups", err));
  if (source->kind == PCAL_CONFIDENCE) {
    PC_TRY(source_one_column(&source->scores, "confidences", err));
    return source_one_column(&source->label_cells, "--correct values", err);
  }
  if (!source_has(&source->label_cells) || source->label_cells.columns == 1 ||
      source->label_cells.columns == classes)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA,
                 "%s has %zu columns, but %s has %zu classes; give one-hot labels for each "
                 "class, or choose one column of class numbers as %s:COLUMN",
                 source_name(&source->label_cells), source->label_cells.columns,
                 source_name(&source->scores), classes, source_name(&source->label_cells));
}

static const char *source_header_hint(const pc_reader *part) {
  return part->headed ? " after its header" : "";
}

static pcal_status source_check_length(const pcal_source *source, const pc_reader *part,
                                       pcal_error *err) {
  const pc_reader *scores = &source->scores;
  if (!source_has(part) || part->rows == PCAL_NO_ROW || scores->rows == PCAL_NO_ROW ||
      part->rows == scores->rows)
    return PCAL_OK;
  return pc_fail(err, PCAL_DATA,
                 "%s has %" PRIu64 " rows%s but %s has %" PRIu64
                 "%s; both must describe the same rows",
                 source_name(scores), scores->rows, source_header_hint(scores),
                 source_name(part), part->rows, source_header_hint(part));
}

static pcal_status source_check_lengths(const pcal_source *source, pcal_error *err) {
  PC_TRY(source_check_length(source, &source->label_cells, err));
  PC_TRY(source_check_length(source, &source->weights, err));
  return source_check_length(source, &source->group_cells, err);
}

/* Names are looked up only for labels that are text. */
static pcal_status source_name_classes(pcal_source *source, pcal_error *err) {
  pc_names_init(&source->classes, &source->env);
  if (source->class_names == NULL || source->label_cells.cells != PC_CELLS_TEXT)
    return PCAL_OK;
  for (size_t i = 0; i < source->scores.columns; i++) {
    uint32_t number = 0;
    PC_TRY(pc_names_add(&source->classes, pc_slice_of(source->class_names[i]), &number, err));
    if (number != i)
      return pc_fail(err, PCAL_DATA,
                     "%s has two score columns called \"%s\"; rename one, since labels may be "
                     "names",
                     source_name(&source->scores), source->class_names[i]);
  }
  return PCAL_OK;
}

static pcal_status source_data_labels(const pcal_source *source, const pc_plan *plan,
                                      pcal_error *err) {
  const int confidence = source->kind == PCAL_CONFIDENCE;
  if (plan->data == NULL || (confidence ? plan->labels : plan->correct) == NULL)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE, "%s holds %s, which go with --%s; give that in place of --%s",
                 source_name(&source->scores), confidence ? "confidences" : "scores of classes",
                 confidence ? "correct" : "labels", confidence ? "labels" : "correct");
}

static pcal_status source_fill(pcal_source *source, const pcal_inputs *inputs,
                               pcal_error *err) {
  pc_plan plan;
  PC_TRY(pc_inputs_plan(inputs, &plan, err));
  source->first_row = plan.first_row;
  PC_TRY(source_scores(source, &plan, err));
  PC_TRY(source_data_labels(source, &plan, err));
  const pc_data_columns *columns = &source->columns;
  PC_TRY(source_part(source, plan.labels != NULL ? plan.labels : plan.correct, columns->labels,
                     PC_AS_LABELS, &source->label_cells, err));
  PC_TRY(source_part(source, plan.weights, columns->weights, PC_AS_NUMBERS, &source->weights,
                     err));
  PC_TRY(
      source_part(source, plan.groups, columns->groups, PC_AS_TEXT, &source->group_cells, err));
  PC_TRY(source_check_columns(source, err));
  PC_TRY(source_check_lengths(source, err));
  PC_TRY(source_name_classes(source, err));
  source->labels.reader = &source->label_cells;
  source->labels.classes = &source->classes;
  source->labels.scores_name = source_name(&source->scores);
  source->labels.meaning = source->kind == PCAL_CONFIDENCE
                               ? "give 1 where the prediction was right and 0 where not"
                               : "labels are class numbers counted from 0";
  pc_groups_init(&source->groups, &source->group_cells, &source->env);
  return PCAL_OK;
}

pcal_status pc_source_open(const pcal_inputs *inputs, const pcal_env *env, pcal_source **out,
                           pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  *out = NULL;
  pcal_source *source = pc_alloc(&resolved, 1, sizeof *source);
  if (source == NULL)
    return pc_fail_memory(err, "opening the data");
  source->env = resolved;
  const pcal_status status = source_fill(source, inputs, err);
  if (status != PCAL_OK) {
    pc_source_free(source);
    return status;
  }
  *out = source;
  return PCAL_OK;
}

void pc_source_free(pcal_source *source) {
  if (source == NULL)
    return;
  const pcal_env env = source->env;
  pc_labels_free(&source->labels);
  pc_groups_free(&source->groups);
  pc_names_free(&source->classes);
  pc_data_columns_free(&env, &source->columns);
  pc_reader_close(&source->scores);
  pc_reader_close(&source->label_cells);
  pc_reader_close(&source->weights);
  pc_reader_close(&source->group_cells);
  pc_reader_close(&source->table);
  for (size_t i = 0; i < source->file_count; i++) {
    pc_free(&env, source->files[i].path);
    pc_bytes_close(&source->files[i].bytes);
  }
  pc_free(&env, source);
}

static size_t source_window(const pcal_source *source, size_t max_rows) {
  size_t rows = max_rows;
  const size_t limits[] = {
      source->scores.window_limit,
      source_has(&source->label_cells) ? pc_labels_limit(&source->labels) : SIZE_MAX,
      source_has(&source->weights) ? source->weights.window_limit : SIZE_MAX,
      source_has(&source->group_cells) ? source->group_cells.window_limit : SIZE_MAX,
  };
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    rows = rows < limits[i] ? rows : limits[i];
  return rows;
}

/* A part that ends before or after the scores. */
static pcal_status source_check_end(const pcal_source *source, const pc_reader *part,
                                    size_t rows, size_t score_rows, pcal_error *err) {
  const pc_reader *scores = &source->scores;
  const pc_reader *shorter = rows < score_rows ? part : scores;
  const pc_reader *longer = rows < score_rows ? scores : part;
  if (rows == score_rows)
    return PCAL_OK;
  return pc_fail(
      err, PCAL_DATA,
      "%s has %" PRIu64 " rows%s but %s has more%s; both must describe the same rows",
      source_name(shorter), source->position + (rows < score_rows ? rows : score_rows),
      source_header_hint(shorter), source_name(longer), source_header_hint(longer));
}

/* Reads the columns beside the scores; their windows must have as many rows. */
static pcal_status source_beside(pcal_source *source, size_t max_rows, pcal_batch *batch,
                                 pcal_error *err) {
  const uint64_t first = batch->first_row;
  size_t rows = 0;
  if (source_has(&source->label_cells)) {
    PC_TRY(pc_labels_next(&source->labels, max_rows, first, &batch->labels, &rows, err));
    PC_TRY(source_check_end(source, &source->label_cells, rows, batch->rows, err));
  }
  if (source_has(&source->weights)) {
    pc_window window;
    PC_TRY(pc_reader_next(&source->weights, max_rows, &window, err));
    batch->weights = window.data;
    PC_TRY(source_check_end(source, &source->weights, window.rows, batch->rows, err));
  }
  if (source_has(&source->group_cells)) {
    PC_TRY(pc_groups_next(&source->groups, max_rows, first, &batch->groups, &rows, err));
    PC_TRY(source_check_end(source, &source->group_cells, rows, batch->rows, err));
  }
  return PCAL_OK;
}

pcal_status pc_source_next(pcal_source *source, size_t max_rows, pcal_batch *batch,
                           pcal_error *err) {
  pc_window window;
  pcal_batch filled = PCAL_BATCH_INIT;
  const size_t wanted = source_window(source, max_rows);
  PC_TRY(pc_reader_next(&source->scores, wanted, &window, err));
  filled.kind = source->kind;
  filled.type = source->scores.cells == PC_CELLS_F32 ? PCAL_F32 : PCAL_F64;
  filled.rows = window.rows;
  filled.columns = source->scores.columns;
  filled.scores = window.data;
  filled.row_stride = window.row_stride;
  filled.column_stride = window.column_stride;
  filled.first_row = source->first_row + source->position;
  filled.scores_name = source_name(&source->scores);
  filled.labels_name = source_name(&source->label_cells);
  filled.weights_name = source_name(&source->weights);
  filled.groups_name = source_name(&source->group_cells);
  PC_TRY(source_beside(source, wanted, &filled, err));
  source->position += filled.rows;
  const size_t size = batch->size < sizeof filled ? batch->size : sizeof filled;
  filled.size = batch->size;
  memcpy(batch, &filled, size);
  return PCAL_OK;
}

pcal_status pc_source_rewind(pcal_source *source, pcal_error *err) {
  for (size_t i = 0; i < source->file_count; i++)
    PC_TRY(pc_bytes_check(&source->files[i].bytes, err));
  pc_reader *parts[] = {&source->scores, &source->label_cells, &source->weights,
                        &source->group_cells};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (source_has(parts[i]))
      pc_reader_rewind(parts[i]);
  source->position = 0;
  return PCAL_OK;
}

void pc_source_shape(const pcal_source *source, pcal_shape *shape) {
  *shape = (pcal_shape){
      .size = sizeof *shape,
      .kind = source->kind,
      .type = source->scores.cells == PC_CELLS_F32 ? PCAL_F32 : PCAL_F64,
      .row_count = source->scores.rows,
      .columns = source->scores.columns,
      .weighted = source_has(&source->weights),
      .grouped = source_has(&source->group_cells),
      .labelled = source_has(&source->label_cells),
      .class_names = source->class_names,
      .group_names = (const char *const *)source->groups.names.text,
      .group_count = source->groups.names.count,
  };
}
