/* Reading a source window by window.
 *
 * Rules:
 *  1. a window is as long as the shortest of its parts allows; if no part needs conversion it
 *     is as long as requested; Arrow windows also end where a record batch does.
 *  2. parts of unknown length must end at the same row. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/rows.h"
#include "device/device.h"
#include "io/source_state.h"

#define SOURCE_DEVICE_BYTES ((size_t)16 << 30)
#define SOURCE_SOFT_WINDOW ((size_t)1 << 14) /* expanded rows */

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

pcal_status pc_source_borrow(const pcal_batch *batch, const char *const *class_names,
                             const pcal_env *env, pcal_source **out, pcal_error *err) {
  pcal_batch full;
  *out = NULL;
  PC_TRY(pc_batch_resolve(batch, &full, err));
  PC_TRY(pc_source_check_first_row(batch->scores_name != NULL ? batch->scores_name : "scores",
                                   batch->first_row, batch->rows, err));
  pcal_source *source = pc_source_new(env);
  if (source == NULL)
    return pc_fail_memory(err, "opening the data");
  const pcal_status status =
      pc_source_batch_open(&full, class_names, &source->env, &source->borrowed, err);
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

void pc_source_forget_pages(const pcal_source *source, const pcal_env *env) {
  for (size_t i = 0; i < source->file_count; i++)
    pc_input_file_forget(&source->files[i]->bytes, env);
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
  pc_free(&env, source->event.probs);
  pc_free(&env, source->event.labels);
  pc_free(&env, source->event.row);
  pc_free(&env, source->from_device);
  if (source->uploaded != NULL)
    pc_device_drop(source->device, source->uploaded);
  pc_free(&env, source->positive);
  pc_label_reader_free(&source->abstain.answers);
  pc_name_table_free(&source->abstain.names);
  pc_reader_close(&source->abstain.cells);
  pc_free(&env, source->abstain.correct);
  pc_free(&env, source->own_rows);
  pc_source_soft_free(source);
  pc_free(&env, source->arranged.from);
  pc_free(&env, source->class_factors);
  pc_free(&env, source->class_weights);
  pc_free(&env, source->scaling.weights);
  pc_reader_close(&source->table);
  for (size_t i = 0; i < PC_INPUT_COUNT; i++) {
    pc_arrow_table_free(&source->inputs[i].arrow);
    pc_free(&env, source->inputs[i].name);
  }
  for (size_t i = 0; i < source->given_name_count; i++)
    pc_free(&env, source->given_names[i]);
  pc_free(&env, source->given_names);
  pc_free(&env, source->arrow_names);
  for (size_t i = 0; i < source->file_count; i++) {
    pc_free(&env, source->files[i]->path);
    pc_input_file_close(&source->files[i]->bytes);
    pc_free(&env, source->files[i]);
  }
  pc_free(&env, source->files);
  pc_free(&env, source);
}

/* Most rows of a window that is copied to a device. */
static size_t source_device_rows(const pcal_source *source) {
  const size_t rows = SOURCE_DEVICE_BYTES / (source->scores.columns * sizeof(double));
  return rows < 1 ? 1 : rows;
}

static pcal_status source_window(pcal_source *source, size_t max_rows, size_t *out,
                                 pcal_error *err) {
  size_t rows = max_rows;
  const size_t limits[] = {
      source->scores.window_limit,
      !pc_source_has(&source->label_cells) ? SIZE_MAX
      : pc_source_regression(source)       ? source->label_cells.window_limit
                                           : pc_label_reader_limit(&source->labels),
      pc_source_has(&source->weights) ? source->weights.window_limit : SIZE_MAX,
      pc_source_has(&source->group_cells) ? source->group_cells.window_limit : SIZE_MAX,
      pc_source_has(&source->id_cells) ? source->id_cells.window_limit : SIZE_MAX,
      pc_source_has(&source->spread) ? source->spread.window_limit : SIZE_MAX,
      pc_source_has(&source->spread) ? PC_SOURCE_JOINED_ROWS : SIZE_MAX,
      pc_source_changes_rows(source)
          ? pc_window_rows(pc_source_class_columns(source) * sizeof(double))
          : SIZE_MAX,
      pc_source_has(&source->abstain.cells) ? pc_label_reader_limit(&source->abstain.answers)
                                            : SIZE_MAX,
      source->event.used ? PC_SOURCE_JOINED_ROWS : SIZE_MAX,
      pc_source_uploads(source) ? source_device_rows(source) : SIZE_MAX,
  };
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
    rows = rows < limits[i] ? rows : limits[i];
  pc_reader *parts[] = {&source->scores,       &source->label_cells, &source->weights,
                        &source->group_cells,  &source->spread,      &source->id_cells,
                        &source->abstain.cells};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    size_t ready = SIZE_MAX;
    if (pc_source_has(parts[i]))
      PC_TRY(pc_reader_ready(parts[i], &ready, err));
    rows = rows < ready ? rows : ready;
  }
  *out = rows;
  return PCAL_OK;
}

pcal_status pc_source_check_end(const pcal_source *source, const pc_reader *part, size_t rows,
                                size_t score_rows, pcal_error *err) {
  const pc_reader *scores = &source->scores;
  const pc_reader *shorter = rows < score_rows ? part : scores;
  const pc_reader *longer = rows < score_rows ? scores : part;
  if (rows == score_rows)
    return PCAL_OK;
  return pc_fail(
      err, PCAL_DATA,
      "%s has %" PRIu64 " rows%-s but %s has more%-s; both must describe the same rows",
      pc_source_part_name(shorter), source->position + (rows < score_rows ? rows : score_rows),
      pc_source_header_hint(shorter), pc_source_part_name(longer),
      pc_source_header_hint(longer));
}

/* Reads the columns other than scores; their windows must have as many rows. */
static pcal_status source_beside(pcal_source *source, size_t max_rows, pcal_batch *batch,
                                 pc_lazy_labels *lazy_labels, pcal_error *err) {
  const uint64_t first = batch->first_row;
  size_t rows = 0;
  if (pc_source_has(&source->label_cells) &&
      (pc_source_regression(source) || source->soft.used)) {
    pc_window window;
    PC_TRY(pc_reader_next(&source->label_cells, max_rows, &window, err));
    batch->targets = window.data; /* or the shares of soft labels, until they are expanded */
    PC_TRY(pc_source_check_end(source, &source->label_cells, window.rows, batch->rows, err));
  } else if (pc_source_has(&source->label_cells)) {
    PC_TRY(pc_label_reader_next_lazy(&source->labels, max_rows, first, &batch->labels, &rows,
                                     lazy_labels, err));
    PC_TRY(pc_source_check_end(source, &source->label_cells, rows, batch->rows, err));
  }
  if (pc_source_has(&source->weights)) {
    pc_window window;
    PC_TRY(pc_reader_next(&source->weights, max_rows, &window, err));
    batch->weights = window.data;
    PC_TRY(pc_source_check_end(source, &source->weights, window.rows, batch->rows, err));
  }
  if (pc_source_has(&source->group_cells)) {
    PC_TRY(pc_group_reader_next(&source->groups, max_rows, first, &batch->groups, &rows, err));
    PC_TRY(pc_source_check_end(source, &source->group_cells, rows, batch->rows, err));
  }
  if (pc_source_has(&source->id_cells)) {
    PC_TRY(pc_id_reader_next(&source->ids, max_rows, first, &batch->ids, &rows, err));
    PC_TRY(pc_source_check_end(source, &source->id_cells, rows, batch->rows, err));
  }
  return PCAL_OK;
}

/* The name of a column of a part; NULL for a choice that no row has. */
static const char *source_column_name(const pcal_source *source, const pc_reader *part,
                                      size_t column) {
  if (part == &source->scores && source->arranged.from != NULL)
    column = source->arranged.from[column];
  return column == PC_NO_DATA_COLUMN ? NULL : part->names[column];
}

static void source_place(const void *user, pcal_field field, size_t row, size_t column,
                         pcal_location *out) {
  const pcal_source *source = user;
  const int spread =
      field == PCAL_FIELD_SCORES && column == 1 && pc_source_has(&source->spread);
  const pc_reader *part = spread                       ? &source->spread
                          : field == PCAL_FIELD_SCORES ? &source->scores
                          : field == PCAL_FIELD_LABELS ? &source->label_cells
                                                       : &source->weights;
  const int apart =
      source->event.used || (pc_source_has(&source->spread) && part->names == NULL);
  out->line = pc_reader_place(part, row, 0).line;
  out->row = pc_reader_file_row(part, row);
  if (out->row == PCAL_NO_ROW && source->placed)
    out->row = source->window + row;
  if (apart)
    out->column = PCAL_NO_COLUMN;
  else if (column != PCAL_NO_COLUMN && part->names != NULL)
    out->column_name = source_column_name(source, part, spread ? 0 : column);
}

/* Adds the levels and spreads of regression to a window. */
static pcal_status source_spread(pcal_source *source, size_t wanted, const pc_window *window,
                                 pcal_batch *out, pcal_error *err) {
  pc_window spreads;
  out->levels = source->kind == PCAL_QUANTILES ? source->forecast.levels : NULL;
  out->spread_name = pc_source_part_name(&source->spread);
  if (!pc_source_has(&source->spread))
    return PCAL_OK;
  PC_TRY(pc_reader_next(&source->spread, wanted, &spreads, err));
  PC_TRY(pc_source_check_end(source, &source->spread, spreads.rows, window->rows, err));
  return pc_source_join_spread(source, window, &spreads, out, err);
}

/* Copies the scores of a batch from its device. */
static pcal_status source_copy_scores(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  const size_t bytes = batch->rows * (size_t)batch->row_stride;
  if (batch->device == NULL)
    return PCAL_OK;
  PC_TRY(pc_reserve(&source->env, &source->from_device, &source->from_device_capacity, bytes, 1,
                    err));
  PC_TRY(pc_device_copy(batch->device, batch->stream, batch->scores, bytes, source->from_device,
                        err));
  batch->scores = source->from_device;
  batch->device = NULL;
  return PCAL_OK;
}

/* Changes a window whose labels are converted. */
static pcal_status source_change(pcal_source *source, size_t wanted, pcal_batch *out,
                                 pcal_error *err) {
  PC_TRY(source_copy_scores(source, out, err));
  if (source->ragged.used)
    PC_TRY(pc_source_rule_out(source, out, err));
  if (pc_source_has(&source->abstain.cells))
    PC_TRY(pc_source_mark_abstentions(source, wanted, out, err));
  return source->class_factors == NULL ? PCAL_OK : pc_source_weigh_classes(source, out, err);
}

/* Reads the next rows of all parts. */
static pcal_status source_read(pcal_source *source, size_t max_rows, pcal_batch *out,
                               pc_lazy_labels *lazy_labels, pcal_error *err) {
  pc_window window;
  size_t wanted = 0;
  PC_TRY(source_window(source, max_rows, &wanted, err));
  PC_TRY(pc_reader_next(&source->scores, wanted, &window, err));
  PC_TRY(pc_source_check_first_row(pc_source_part_name(&source->scores), source->first_row,
                                   source->position + window.rows, err));
  out->kind = source->kind;
  out->type = pc_source_type(source);
  out->rows = window.rows;
  out->columns = source->scores.columns;
  out->dimensions = source->forecast.dimensions;
  out->scores = window.data;
  out->device = window.device;
  out->stream = window.stream;
  out->row_stride = window.row_stride;
  out->column_stride = window.column_stride;
  out->first_row = source->first_row + source->position;
  out->scores_name = pc_source_part_name(&source->scores);
  out->labels_name = pc_source_part_name(&source->label_cells);
  out->weights_name = pc_source_part_name(&source->weights);
  out->groups_name = pc_source_part_name(&source->group_cells);
  out->weights_are = source->weights_are;
  out->place = source_place;
  out->place_user = source;
  if (source->percent) {
    PC_TRY(source_copy_scores(source, out, err));
    PC_TRY(pc_source_scale_percent(source, out, err));
  }
  PC_TRY(source_spread(source, wanted, &window, out, err));
  PC_TRY(source_beside(source, wanted, out, lazy_labels, err));
  if (source->event.used) {
    PC_TRY(source_copy_scores(source, out, err));
    PC_TRY(pc_source_make_event(source, out, err));
  }
  if (source->class_factors == NULL && !source->ragged.used &&
      !pc_source_has(&source->abstain.cells))
    return PCAL_OK;
  PC_TRY(pc_lazy_labels_fill(lazy_labels, 0, out->rows, err));
  *lazy_labels = (pc_lazy_labels){0};
  return source_change(source, wanted, out, err);
}

/* Reads the next rows of soft labels: those that are left of the last window, or a new one. */
static pcal_status source_read_soft(pcal_source *source, size_t max_rows, pcal_batch *out,
                                    pc_lazy_labels *lazy_labels, pcal_error *err) {
  pc_source_soft *soft = &source->soft;
  const uint64_t position = source->position;
  const size_t rows = SOURCE_SOFT_WINDOW / soft->classes;
  PC_TRY(pc_source_check_soft(source, err));
  if (soft->next == soft->held.rows) {
    pcal_batch base = PCAL_BATCH_INIT;
    source->position = soft->read;
    pcal_status status = source_read(source, rows < 1 ? 1 : rows, &base, lazy_labels, err);
    source->position = position;
    PC_TRY(status);
    PC_TRY(source_copy_scores(source, &base, err));
    const double *shares = base.targets;
    base.targets = NULL;
    PC_TRY(pc_source_soft_expand(source, &base, shares, err));
  }
  pc_source_soft_take(source, max_rows, out);
  return PCAL_OK;
}

pcal_status pc_source_next(pcal_source *source, size_t max_rows, pcal_batch *batch,
                           pcal_error *err) {
  pcal_batch filled = PCAL_BATCH_INIT;
  pc_lazy_labels lazy_labels;
  PC_TRY(pc_source_next_lazy(source, max_rows, &filled, &lazy_labels, err));
  PC_TRY(pc_lazy_labels_fill(&lazy_labels, 0, filled.rows, err));
  PC_TRY(source_copy_scores(source, &filled, err));
  filled.size = batch->size;
  memcpy(batch, &filled, batch->size < sizeof filled ? batch->size : sizeof filled);
  return PCAL_OK;
}

pcal_status pc_source_next_lazy(pcal_source *source, size_t max_rows, pcal_batch *batch,
                                pc_lazy_labels *lazy_labels, pcal_error *err) {
  pcal_batch filled = PCAL_BATCH_INIT;
  *lazy_labels = (pc_lazy_labels){.fill = NULL};
  if (source->derived.base != NULL)
    PC_TRY(pc_source_derived_next(&source->derived, max_rows, source->position, &filled, err));
  else if (source->borrowed.used)
    pc_source_batch_next(&source->borrowed, max_rows, &filled);
  else
    PC_TRY(pc_budget_explain(&source->env,
                             (source->soft.used ? source_read_soft : source_read)(
                                 source, max_rows, &filled, lazy_labels, err),
                             err));
  PC_TRY(pc_source_scale_batch(source, &filled, err));
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
    PC_TRY(pc_input_file_check(&source->files[i]->bytes, err));
  pc_reader *parts[] = {&source->scores,       &source->label_cells, &source->weights,
                        &source->group_cells,  &source->spread,      &source->id_cells,
                        &source->abstain.cells};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (pc_source_has(parts[i]))
      pc_reader_rewind(parts[i]);
  source->abstain.count = 0;
  source->soft.read = source->soft.first = 0;
  source->soft.next = source->soft.held.rows = 0;
  source->soft.kept = 0;
  pc_sum_clear(&source->soft.square);
  pc_weight_sums_clear(&source->soft.sums);
  source->position = 0;
  source->borrowed.position = 0;
  return PCAL_OK;
}

int pc_source_has_given_groups(const pcal_source *source) {
  return source->given_groups;
}

int pc_source_on_device(const pcal_source *source) {
  return source->derived.base == NULL &&
         (source->borrowed.used ? source->borrowed.batch.device != NULL
                                : source->scores.on_device && !pc_source_changes_rows(source) &&
                                      !source->event.used && !source->soft.used);
}

int pc_source_has_float16(const pcal_source *source) {
  return source->derived.base == NULL && !source->borrowed.used && source->scores.float16 &&
         !pc_source_changes_rows(source) && !source->event.used && !source->soft.used;
}

pcal_device *pc_source_holder(const pcal_source *source) {
  return source->borrowed.used ? source->borrowed.batch.device : source->scores.device;
}

pcal_device *pc_source_device(const pcal_source *source) {
  return source->device;
}

int pc_source_uploads(const pcal_source *source) {
  pc_row_form form;
  return source->device != NULL && pc_device_row_form(source->kind, &form) &&
         source->scores.columns > 1 && !source->scores.on_device && !source->soft.used;
}

/* Gives the device room for a window. */
static pcal_status source_reserve_upload(pcal_source *source, size_t bytes, pcal_error *err) {
  if (bytes <= source->uploaded_capacity)
    return PCAL_OK;
  pc_device_drop(source->device, source->uploaded);
  source->uploaded = NULL;
  source->uploaded_capacity = 0;
  PC_TRY(pc_device_allocate(source->device, bytes, &source->uploaded, err));
  source->uploaded_capacity = bytes;
  return PCAL_OK;
}

pcal_status pc_source_upload(pcal_source *source, pcal_batch *batch, pcal_error *err) {
  const size_t size = batch->type == PCAL_F32 ? sizeof(float) : sizeof(double);
  const size_t row = batch->columns * size, bytes = batch->rows * row;
  if (!pc_source_uploads(source) || batch->rows == 0 || batch->device != NULL ||
      batch->column_stride != (ptrdiff_t)size || batch->row_stride != (ptrdiff_t)row)
    return PCAL_OK;
  if (source_reserve_upload(source, bytes, NULL) != PCAL_OK)
    return PCAL_OK; /* too little memory there: the rows stay here, with the same results */
  PC_TRY(pc_device_put(source->device, NULL, batch->scores, bytes, source->uploaded, err));
  batch->scores = source->uploaded;
  batch->device = source->device;
  batch->stream = NULL;
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
  const int event = source->event.used;
  *shape = (pcal_shape){
      .size = sizeof *shape,
      .kind = event ? PCAL_PROBABILITY : source->kind,
      .type = event ? PCAL_F64 : pc_source_type(source),
      .row_count = source->scores.rows,
      .columns =
          event ? 1
                : pc_source_class_columns(source) + (pc_source_has(&source->spread) ? 1 : 0),
      .weighted =
          pc_source_has(&source->weights) || source->class_factors != NULL || source->soft.used,
      .grouped = pc_source_has(&source->group_cells) || source->soft.clusters,
      .labelled = pc_source_has(&source->label_cells),
      .class_names = source->class_names,
      .levels = source->kind == PCAL_QUANTILES && !event ? source->forecast.levels : NULL,
      .group_names = (const char *const *)source->groups.names.text,
      .group_count = source->groups.names.count,
  };
  if (!source->soft.used)
    return;
  shape->type = PCAL_F64;
  if (shape->row_count != PCAL_NO_ROW)
    shape->row_count *= source->soft.classes;
}
