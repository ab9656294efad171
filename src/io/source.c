/* Rules:
 *  1. each file is opened once, however many fields name it: standard input can be shared.
 *  2. lengths are compared when they are known, at the latest when a file ends.
 *  3. labels may be absent: such a source can be inspected but not measured.
 *  4. fields given beside `data` take the place of its columns.
 *  5. a window is as long as the shortest of its parts allows; without conversion it is as
 *     long as asked for; Arrow windows also end where a record batch does.
 *  6. a data file that is a container gives one array of scores, without class names. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/rows.h"
#include "io/selector.h"
#include "io/source_state.h"

static int source_has(const pc_reader *part) {
  return part->format != NULL;
}

static const char *source_name(const pc_reader *part) {
  return source_has(part) ? part->bytes->name : NULL;
}

/* The file of a selector, opened if it is not yet; takes the selector's path over then. */
static pcal_status source_file_open(pcal_source *source, pc_selector *selector,
                                    const pc_input_file **out, pcal_error *err) {
  for (size_t i = 0; i < source->file_count; i++) {
    *out = &source->files[i].bytes;
    if (strcmp(source->files[i].path, selector->path) == 0)
      return PCAL_OK;
  }
  pc_source_file *file = &source->files[source->file_count];
  PC_TRY(pc_input_file_open(selector->path, &source->env, &file->bytes, err));
  file->path = pc_copy_text(&source->env, selector->path);
  *out = &file->bytes;
  source->file_count++;
  return file->path == NULL ? pc_fail_memory(err, "opening a file") : PCAL_OK;
}

pcal_status pc_source_file_part(pcal_source *source, const char *text, pc_column_role as,
                                pc_reader *part, pcal_error *err) {
  pc_selector selector;
  pc_read_request request = {.env = &source->env, .as = as, .header = source->header};
  PC_TRY(pc_selector_split(text, pc_input_file_exists(text), &source->env, &selector, err));
  request.selector = selector.columns;
  pcal_status status = source_file_open(source, &selector, &request.bytes, err);
  if (status == PCAL_OK)
    status = pc_reader_open(&request, part, err);
  pc_selector_free(&source->env, &selector);
  return status;
}

static pcal_status source_member(const pcal_source *source, size_t number, pc_column_role as,
                                 pc_reader *part, pcal_error *err) {
  const pc_read_request request = {.env = &source->env,
                                   .bytes = source->archive,
                                   .selector = source->members.text[number],
                                   .as = as};
  return pc_reader_open(&request, part, err);
}

/* A part from its own file, or else from a column or a member of the data file, if either is
 * there. */
static pcal_status source_part(pcal_source *source, const char *text, size_t column,
                               pc_column_role as, pc_reader *part, pcal_error *err) {
  if (text != NULL)
    return pc_source_file_part(source, text, as, part, err);
  if (column == PC_NO_COLUMN)
    return PCAL_OK;
  if (source->archive != NULL)
    return source_member(source, column, as, part, err);
  if (!source_has(&source->table))
    return PCAL_OK;
  const pc_read_request request = {.env = &source->env,
                                   .bytes = source->table.bytes,
                                   .chosen = &column,
                                   .chosen_count = 1,
                                   .as = as,
                                   .header = source->header};
  return pc_reader_open(&request, part, err);
}

/* Opens a data file and, when it is a container, sets source->archive. */
static pcal_status source_data_open(pcal_source *source, const char *text, pcal_error *err) {
  pc_selector selector;
  const pc_input_file *bytes = NULL;
  const pc_file_format *format = NULL;
  PC_TRY(pc_selector_split(text, pc_input_file_exists(text), &source->env, &selector, err));
  pcal_status status = source_file_open(source, &selector, &bytes, err);
  if (status == PCAL_OK)
    status = pc_file_format_find(bytes, &format, err);
  if (status == PCAL_OK && format->members != NULL && selector.columns != NULL)
    status = pc_fail(err, PCAL_USAGE,
                     "{data} finds what it needs in %s by name; leave the selector out",
                     bytes->name);
  if (status == PCAL_OK && format->members != NULL) {
    source->archive = bytes;
    status = format->members(bytes, &source->env, &source->members, err);
  }
  pc_selector_free(&source->env, &selector);
  return status;
}

static pcal_status source_scores_from_archive(pcal_source *source, pcal_error *err) {
  const pc_column_set set = {source->archive->name, (const char *const *)source->members.text,
                             source->members.count};
  PC_TRY(pc_data_members_find(&set, &source->env, &source->columns, err));
  source->kind = source->columns.kind;
  return source_member(source, source->columns.scores[0], PC_COLUMN_SCORES, &source->scores,
                       err);
}

static pcal_status source_scores_from_data(pcal_source *source, const pc_checked_inputs *plan,
                                           pcal_error *err) {
  PC_TRY(source_data_open(source, plan->data, err));
  if (source->archive != NULL)
    return source_scores_from_archive(source, err);
  PC_TRY(pc_source_file_part(source, plan->data, PC_COLUMN_TEXT, &source->table, err));
  const pc_column_set set = {source->table.bytes->name, source->table.names,
                             source->table.columns};
  if (source->table.columns != source->table.file_columns)
    return pc_fail(err, PCAL_USAGE,
                   "{data} finds the columns of %s by their names; leave the selector out",
                   set.file);
  PC_TRY(pc_data_columns_find(&set, &source->env, &source->columns, err));
  source->kind = source->columns.kind;
  source->class_names = source->columns.score_count > 1 ? source->columns.class_names : NULL;
  const pc_read_request request = {.env = &source->env,
                                   .bytes = source->table.bytes,
                                   .chosen = source->columns.scores,
                                   .chosen_count = source->columns.score_count,
                                   .as = PC_COLUMN_SCORES,
                                   .header = source->header};
  return pc_reader_open(&request, &source->scores, err);
}

static pcal_status source_scores(pcal_source *source, const pc_checked_inputs *plan,
                                 pcal_error *err) {
  if (plan->data != NULL)
    return source_scores_from_data(source, plan, err);
  source->kind = plan->kind;
  PC_TRY(pc_source_file_part(source, plan->scores, PC_COLUMN_SCORES, &source->scores, err));
  source->class_names = source->scores.columns > 1 ? source->scores.names : NULL;
  return PCAL_OK;
}

static int source_is_file(const pc_reader *part) {
  return part->format->open != NULL;
}

/* Does a selector choose columns of this part? */
static int source_selectable(const pc_reader *part) {
  return source_is_file(part) && part->format->members == NULL;
}

pcal_status pc_source_one_column(const pc_reader *part, const char *what, pcal_error *err) {
  if (!source_has(part) || part->columns == 1)
    return PCAL_OK;
  if (!source_selectable(part))
    return pc_fail(err, PCAL_DATA, "%s has %zu columns, but %-s need one; %-s",
                   source_name(part), part->columns, what,
                   source_is_file(part) ? "save the right one under its own name"
                                        : "give only the right one");
  return pc_fail(err, PCAL_DATA, "%s has %zu columns, but %-s need one; choose it as %s:COLUMN",
                 source_name(part), part->columns, what, source_name(part));
}

static pcal_status source_one_hot(const pcal_source *source, size_t classes, pcal_error *err) {
  const pc_reader *labels = &source->label_cells;
  if (!source_has(labels) || labels->columns == 1 || labels->columns == classes)
    return PCAL_OK;
  if (!source_selectable(labels))
    return pc_fail(err, PCAL_DATA,
                   "%s has %zu columns, but %s has %zu classes; give one-hot labels for each "
                   "class, or a class number for each row",
                   source_name(labels), labels->columns, source_name(&source->scores), classes);
  return pc_fail(err, PCAL_DATA,
                 "%s has %zu columns, but %s has %zu classes; give one-hot labels for each "
                 "class, or choose one column of class numbers as %s:COLUMN",
                 source_name(labels), labels->columns, source_name(&source->scores), classes,
                 source_name(labels));
}

/* A score for each row is binary; a list of one score for each row is one class. */
static pcal_status source_one_class(const pc_reader *scores, pcal_error *err) {
  if (scores->columns > 1 || !scores->listed)
    return PCAL_OK;
  return pc_fail(
      err, PCAL_DATA,
      "%s has lists of one score, which means a single class; for scores of class 1 of two "
      "save a one-dimensional array",
      source_name(scores));
}

static pcal_status source_check_columns(const pcal_source *source, pcal_error *err) {
  PC_TRY(pc_source_one_column(&source->weights, "weights", err));
  PC_TRY(pc_source_one_column(&source->group_cells, "groups", err));
  PC_TRY(pc_source_one_column(&source->id_cells, "ids", err));
  if (pc_source_regression(source))
    return PCAL_OK;
  if (source->kind != PCAL_CONFIDENCE) {
    PC_TRY(source_one_class(&source->scores, err));
    return source_one_hot(source, source->scores.columns == 1 ? 2 : source->scores.columns,
                          err);
  }
  PC_TRY(pc_source_one_column(&source->scores, "confidences", err));
  return pc_source_one_column(&source->label_cells, "{correct} values", err);
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
                 "%s has %" PRIu64 " rows%-s but %s has %" PRIu64
                 "%-s; both must describe the same rows",
                 source_name(scores), scores->rows, source_header_hint(scores),
                 source_name(part), part->rows, source_header_hint(part));
}

static pcal_status source_check_lengths(const pcal_source *source, pcal_error *err) {
  PC_TRY(source_check_length(source, &source->spread, err));
  PC_TRY(source_check_length(source, &source->label_cells, err));
  PC_TRY(source_check_length(source, &source->weights, err));
  PC_TRY(source_check_length(source, &source->group_cells, err));
  return source_check_length(source, &source->id_cells, err);
}

/* PCAL_NO_ROW is the index of no row. */
static pcal_status source_check_first_row(const char *name, uint64_t first_row, uint64_t rows,
                                          pcal_error *err) {
  if (rows < PCAL_NO_ROW - first_row || rows == 0)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "%s: rows counted from {first_row_is}%" PRIu64
                 " on run past the largest index; give a smaller {first_row}",
                 name, first_row);
}

/* Names are looked up only for labels that are text. */
static pcal_status source_name_classes(pcal_source *source, pcal_error *err) {
  pc_name_table_init(&source->classes, &source->env);
  if (source->class_names == NULL || source->label_cells.cells != PC_CELLS_TEXT)
    return PCAL_OK;
  for (size_t i = 0; i < source->scores.columns; i++) {
    uint32_t number = 0;
    PC_TRY(
        pc_name_table_add(&source->classes, pc_slice_of(source->class_names[i]), &number, err));
    if (number != i)
      return pc_fail(err, PCAL_DATA,
                     "%s has two score columns called \"%s\"; rename one, since labels may be "
                     "names",
                     source_name(&source->scores), source->class_names[i]);
  }
  return PCAL_OK;
}

pcal_status pc_source_complete(pcal_source *source, pcal_error *err) {
  PC_TRY(source_check_columns(source, err));
  if (pc_source_regression(source))
    PC_TRY(pc_source_check_forecast(source, err));
  PC_TRY(source_check_lengths(source, err));
  if (source->scores.rows != PCAL_NO_ROW)
    PC_TRY(source_check_first_row(source_name(&source->scores), source->first_row,
                                  source->scores.rows, err));
  PC_TRY(source_name_classes(source, err));
  source->labels.reader = &source->label_cells;
  source->labels.classes = &source->classes;
  source->labels.scores_name = source_name(&source->scores);
  source->labels.meaning = source->kind == PCAL_CONFIDENCE
                               ? "give 1 where the prediction was right and 0 where not"
                               : "labels are class numbers counted from 0";
  pc_group_reader_init(&source->groups, &source->group_cells, &source->env);
  source->ids.reader = &source->id_cells;
  return PCAL_OK;
}

static pcal_status source_fill(pcal_source *source, const pcal_inputs *inputs,
                               pcal_error *err) {
  pc_checked_inputs plan;
  PC_TRY(pc_inputs_check(inputs, &plan, err));
  source->first_row = plan.first_row;
  source->header = (pc_header_mode)plan.header;
  PC_TRY(source_scores(source, &plan, err));
  PC_TRY(pc_source_check_outcomes(source, &plan, err));
  const pc_data_columns *columns = &source->columns;
  const int regression = pc_source_regression(source);
  memcpy(source->forecast.levels, plan.levels, sizeof plan.levels);
  source->forecast.level_count = plan.level_count;
  if (regression)
    PC_TRY(source_part(source, plan.spread, columns->spread, PC_COLUMN_SCORES, &source->spread,
                       err));
  PC_TRY(source_part(source,
                     regression            ? plan.target
                     : plan.labels != NULL ? plan.labels
                                           : plan.correct,
                     columns->labels, regression ? PC_COLUMN_NUMBERS : PC_COLUMN_LABELS,
                     &source->label_cells, err));
  PC_TRY(source_part(source, plan.weights, columns->weights, PC_COLUMN_NUMBERS,
                     &source->weights, err));
  PC_TRY(source_part(source, plan.groups, columns->groups, PC_COLUMN_TEXT, &source->group_cells,
                     err));
  PC_TRY(source_part(source, plan.ids, PC_NO_COLUMN, PC_COLUMN_TEXT, &source->id_cells, err));
  source->weights_are = plan.weights_are;
  return pc_source_complete(source, err);
}

pcal_source *pc_source_new(const pcal_env *env) {
  const pcal_env resolved = pc_env_resolve(env);
  pcal_source *source = pc_alloc(&resolved, 1, sizeof *source);
  if (source == NULL)
    return NULL;
  source->env = resolved;
  pc_name_table_init(&source->members, &source->env);
  return source;
}

pcal_status pc_source_return(pcal_source *source, pcal_status status, pcal_source **out) {
  *out = status == PCAL_OK ? source : NULL;
  if (status != PCAL_OK)
    pc_source_free(source);
  return status;
}

pcal_status pc_source_open(const pcal_inputs *inputs, const pcal_env *env, pcal_source **out,
                           pcal_error *err) {
  pcal_source *source = pc_source_new(env);
  *out = NULL;
  if (source == NULL)
    return pc_fail_memory(err, "opening the data");
  return pc_source_return(source, source_fill(source, inputs, err), out);
}

pcal_status pc_source_borrow(const pcal_batch *batch, const char *const *class_names,
                             const pcal_env *env, pcal_source **out, pcal_error *err) {
  *out = NULL;
  PC_TRY(source_check_first_row(batch->scores_name != NULL ? batch->scores_name : "scores",
                                batch->first_row, batch->rows, err));
  pcal_source *source = pc_source_new(env);
  if (source == NULL)
    return pc_fail_memory(err, "opening the data");
  const pcal_status status =
      pc_source_batch_open(batch, class_names, &source->env, &source->borrowed, err);
  return pc_source_return(source, status, out);
}

pcal_status pc_source_derive(const pc_source_derived *derived, const pcal_env *env,
                             pcal_source **out, pcal_error *err) {
  *out = pc_source_new(env);
  if (*out == NULL)
    return pc_fail_memory(err, "deriving rows");
  (*out)->derived = *derived;
  return PCAL_OK;
}

void pc_source_free(pcal_source *source) {
  if (source == NULL)
    return;
  const pcal_env env = source->env;
  pc_source_batch_free(&env, &source->borrowed);
  pc_label_reader_free(&source->labels);
  pc_group_reader_free(&source->groups);
  pc_id_reader_free(&source->ids);
  pc_name_table_free(&source->classes);
  pc_name_table_free(&source->members);
  pc_data_columns_free(&env, &source->columns);
  pc_reader_close(&source->scores);
  pc_reader_close(&source->label_cells);
  pc_reader_close(&source->weights);
  pc_reader_close(&source->group_cells);
  pc_reader_close(&source->spread);
  pc_reader_close(&source->id_cells);
  pc_free(&env, source->forecast.rows);
  pc_reader_close(&source->table);
  for (size_t i = 0; i < PC_SOURCE_PARTS; i++) {
    pc_arrow_table_free(&source->inputs[i].arrow);
    pc_free(&env, source->inputs[i].name);
  }
  for (size_t i = 0; i < source->given_name_count; i++)
    pc_free(&env, source->given_names[i]);
  pc_free(&env, source->given_names);
  for (size_t i = 0; i < source->file_count; i++) {
    pc_free(&env, source->files[i].path);
    pc_input_file_close(&source->files[i].bytes);
  }
  pc_free(&env, source);
}

static pcal_status source_window(pcal_source *source, size_t max_rows, size_t *out,
                                 pcal_error *err) {
  size_t rows = max_rows;
  const size_t limits[] = {
      source->scores.window_limit,
      !source_has(&source->label_cells) ? SIZE_MAX
      : pc_source_regression(source)    ? source->label_cells.window_limit
                                        : pc_label_reader_limit(&source->labels),
      source_has(&source->weights) ? source->weights.window_limit : SIZE_MAX,
      source_has(&source->group_cells) ? source->group_cells.window_limit : SIZE_MAX,
      source_has(&source->id_cells) ? source->id_cells.window_limit : SIZE_MAX,
      source_has(&source->spread) ? source->spread.window_limit : SIZE_MAX,
      source_has(&source->spread) ? PC_SOURCE_JOINED_ROWS : SIZE_MAX,
  };
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    rows = rows < limits[i] ? rows : limits[i];
  pc_reader *parts[] = {&source->scores,      &source->label_cells, &source->weights,
                        &source->group_cells, &source->spread,      &source->id_cells};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    size_t ready = SIZE_MAX;
    if (source_has(parts[i]))
      PC_TRY(pc_reader_ready(parts[i], &ready, err));
    rows = rows < ready ? rows : ready;
  }
  *out = rows;
  return PCAL_OK;
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
      "%s has %" PRIu64 " rows%-s but %s has more%-s; both must describe the same rows",
      source_name(shorter), source->position + (rows < score_rows ? rows : score_rows),
      source_header_hint(shorter), source_name(longer), source_header_hint(longer));
}

/* Reads the columns beside the scores; their windows must have as many rows. */
static pcal_status source_beside(pcal_source *source, size_t max_rows, pcal_batch *batch,
                                 pc_lazy_labels *feed, pcal_error *err) {
  const uint64_t first = batch->first_row;
  size_t rows = 0;
  if (source_has(&source->label_cells) && pc_source_regression(source)) {
    pc_window window;
    PC_TRY(pc_reader_next(&source->label_cells, max_rows, &window, err));
    batch->targets = window.data;
    PC_TRY(source_check_end(source, &source->label_cells, window.rows, batch->rows, err));
  } else if (source_has(&source->label_cells)) {
    PC_TRY(pc_label_reader_next_later(&source->labels, max_rows, first, &batch->labels, &rows,
                                      feed, err));
    PC_TRY(source_check_end(source, &source->label_cells, rows, batch->rows, err));
  }
  if (source_has(&source->weights)) {
    pc_window window;
    PC_TRY(pc_reader_next(&source->weights, max_rows, &window, err));
    batch->weights = window.data;
    PC_TRY(source_check_end(source, &source->weights, window.rows, batch->rows, err));
  }
  if (source_has(&source->group_cells)) {
    PC_TRY(pc_group_reader_next(&source->groups, max_rows, first, &batch->groups, &rows, err));
    PC_TRY(source_check_end(source, &source->group_cells, rows, batch->rows, err));
  }
  if (source_has(&source->id_cells)) {
    PC_TRY(pc_id_reader_next(&source->ids, max_rows, first, &batch->ids, &rows, err));
    PC_TRY(source_check_end(source, &source->id_cells, rows, batch->rows, err));
  }
  return PCAL_OK;
}

static void source_place(const void *user, pcal_field field, size_t row, size_t column,
                         pcal_location *out) {
  const pcal_source *source = user;
  const int spread = field == PCAL_FIELD_SCORES && column == 1 && source_has(&source->spread);
  const pc_reader *part = spread                       ? &source->spread
                          : field == PCAL_FIELD_SCORES ? &source->scores
                          : field == PCAL_FIELD_LABELS ? &source->label_cells
                                                       : &source->weights;
  const int apart = source_has(&source->spread) && part->names == NULL;
  out->line = pc_reader_place(part, row, 0).line;
  if (apart)
    out->column = PCAL_NO_COLUMN;
  else if (column != PCAL_NO_COLUMN && part->names != NULL)
    out->column_name = part->names[spread ? 0 : column];
}

/* What regression adds to a window of means, quantiles or samples. */
static pcal_status source_spread(pcal_source *source, size_t wanted, const pc_window *window,
                                 pcal_batch *out, pcal_error *err) {
  pc_window spreads;
  out->levels = source->kind == PCAL_QUANTILES ? source->forecast.levels : NULL;
  out->spread_name = source_name(&source->spread);
  if (!source_has(&source->spread))
    return PCAL_OK;
  PC_TRY(pc_reader_next(&source->spread, wanted, &spreads, err));
  PC_TRY(source_check_end(source, &source->spread, spreads.rows, window->rows, err));
  return pc_source_join_spread(source, window, &spreads, out, err);
}

/* The next rows of the parts. */
static pcal_status source_read(pcal_source *source, size_t max_rows, pcal_batch *out,
                               pc_lazy_labels *feed, pcal_error *err) {
  pc_window window;
  size_t wanted = 0;
  PC_TRY(source_window(source, max_rows, &wanted, err));
  PC_TRY(pc_reader_next(&source->scores, wanted, &window, err));
  PC_TRY(source_check_first_row(source_name(&source->scores), source->first_row,
                                source->position + window.rows, err));
  out->kind = source->kind;
  out->type = pc_source_type(source);
  out->rows = window.rows;
  out->columns = source->scores.columns;
  out->scores = window.data;
  out->row_stride = window.row_stride;
  out->column_stride = window.column_stride;
  out->first_row = source->first_row + source->position;
  out->scores_name = source_name(&source->scores);
  out->labels_name = source_name(&source->label_cells);
  out->weights_name = source_name(&source->weights);
  out->groups_name = source_name(&source->group_cells);
  out->weights_are = source->weights_are;
  out->place = source_place;
  out->place_user = source;
  PC_TRY(source_spread(source, wanted, &window, out, err));
  return source_beside(source, wanted, out, feed, err);
}

pcal_status pc_source_next(pcal_source *source, size_t max_rows, pcal_batch *batch,
                           pcal_error *err) {
  pcal_batch filled = PCAL_BATCH_INIT;
  pc_lazy_labels feed;
  PC_TRY(pc_source_next_later(source, max_rows, &filled, &feed, err));
  PC_TRY(pc_lazy_labels_fill(&feed, 0, filled.rows, err));
  filled.size = batch->size;
  memcpy(batch, &filled, batch->size < sizeof filled ? batch->size : sizeof filled);
  return PCAL_OK;
}

pcal_status pc_source_next_later(pcal_source *source, size_t max_rows, pcal_batch *batch,
                                 pc_lazy_labels *feed, pcal_error *err) {
  pcal_batch filled = PCAL_BATCH_INIT;
  *feed = (pc_lazy_labels){NULL, NULL, NULL};
  if (source->derived.base != NULL)
    PC_TRY(pc_source_derived_next(&source->derived, max_rows, source->position, &filled, err));
  else if (source->borrowed.used)
    pc_source_batch_next(&source->borrowed, max_rows, &filled);
  else
    PC_TRY(pc_budget_explain(&source->env, source_read(source, max_rows, &filled, feed, err),
                             err));
  source->window = source->position;
  source->position += filled.rows;
  const size_t size = batch->size < sizeof filled ? batch->size : sizeof filled;
  filled.size = batch->size;
  memcpy(batch, &filled, size);
  return PCAL_OK;
}

pcal_status pc_source_rewind(pcal_source *source, pcal_error *err) {
  if (source->derived.base != NULL)
    PC_TRY(pc_source_rewind(source->derived.base, err));
  for (size_t i = 0; i < source->file_count; i++)
    PC_TRY(pc_input_file_check(&source->files[i].bytes, err));
  pc_reader *parts[] = {&source->scores,      &source->label_cells, &source->weights,
                        &source->group_cells, &source->spread,      &source->id_cells};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (source_has(parts[i]))
      pc_reader_rewind(parts[i]);
  source->position = 0;
  source->borrowed.position = 0;
  return PCAL_OK;
}

void pc_source_shape(const pcal_source *source, pcal_shape *shape) {
  if (source->derived.base != NULL) {
    pc_source_derived_shape(&source->derived, shape);
    return;
  }
  if (source->borrowed.used) {
    pc_source_batch_shape(&source->borrowed, shape);
    return;
  }
  *shape = (pcal_shape){
      .size = sizeof *shape,
      .kind = source->kind,
      .type = pc_source_type(source),
      .row_count = source->scores.rows,
      .columns = source->scores.columns + (source_has(&source->spread) ? 1 : 0),
      .weighted = source_has(&source->weights),
      .grouped = source_has(&source->group_cells),
      .labelled = source_has(&source->label_cells),
      .class_names = source->class_names,
      .levels = source->kind == PCAL_QUANTILES ? source->forecast.levels : NULL,
      .group_names = (const char *const *)source->groups.names.text,
      .group_count = source->groups.names.count,
  };
}
