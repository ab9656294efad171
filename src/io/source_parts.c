/* One part of a source: scores, labels, weights, ..., from a file, an array or Arrow data.
 *
 * Edge cases:
 *  1. each file is opened once, even if several inputs name it: standard input can be shared.
 *  2. an input given in addition to `data` replaces the column of `data`.
 *  3. an Arrow column of lists is one array of scores. */
#include <string.h>

#include "data/rows.h"
#include "io/file_sequence.h"
#include "io/formats/array_reader.h"
#include "io/source_state.h"

pcal_status pc_source_file_open(pcal_source *source, const pc_selector *selector,
                                const pc_input_file **out, pcal_error *err) {
  for (size_t i = 0; i < source->file_count; i++) {
    *out = &source->files[i]->bytes;
    if (strcmp(source->files[i]->path, selector->path) == 0)
      return PCAL_OK;
  }
  void *files = source->files;
  const pcal_status reserved = pc_reserve(&source->env, &files, &source->file_capacity,
                                          source->file_count + 1, sizeof *source->files, err);
  source->files = files;
  PC_TRY(reserved);
  pc_source_file *file = pc_alloc(&source->env, 1, sizeof *file);
  if (file == NULL)
    return pc_fail_memory(err, "opening a file");
  source->files[source->file_count++] = file;
  PC_TRY(pc_input_file_open(selector->path, &source->env, &file->bytes, err));
  file->bytes.format = source->file_format;
  file->path = pc_copy_text(&source->env, selector->path);
  *out = &file->bytes;
  return file->path == NULL ? pc_fail_memory(err, "opening a file") : PCAL_OK;
}

/* Opens a part of one file. */
static pcal_status parts_open_file(pcal_source *source, const char *text,
                                   const pc_source_pick *pick, pc_column_role as,
                                   pc_reader *part, pcal_error *err) {
  pc_selector selector;
  pc_read_request request = {.env = &source->env,
                             .as = as,
                             .header = source->header,
                             .ragged = source->ragged.used && as == PC_COLUMN_SCORES,
                             .deep = source->kind == PCAL_SAMPLES && as == PC_COLUMN_SCORES};
  PC_TRY(pc_selector_split(text, pc_input_file_exists(text), &source->env, &selector, err));
  request.selector = selector.columns;
  if (pick != NULL) {
    request.selector = pick->member;
    request.chosen = pick->columns;
    request.chosen_count = pick->column_count;
  }
  pcal_status status = pc_source_file_open(source, &selector, &request.bytes, err);
  if (status == PCAL_OK)
    status = pc_reader_open(&request, part, err);
  pc_selector_free(&source->env, &selector);
  return status;
}

pcal_status pc_source_file_part(pcal_source *source, const pcal_input *input,
                                const pc_source_pick *pick, pc_column_role as, pc_reader *part,
                                pcal_error *err) {
  const size_t count = input->file != NULL ? 1 : input->file_count;
  if (count == 1)
    return parts_open_file(source, pc_source_first_file(input), pick, as, part, err);
  pc_reader *parts = pc_alloc(&source->env, count, sizeof *parts);
  if (parts == NULL)
    return pc_fail_memory(err, "opening several files");
  for (size_t i = 0; i < count; i++) {
    const pcal_status status =
        parts_open_file(source, input->files[i], pick, as, &parts[i], err);
    if (status == PCAL_OK)
      continue;
    for (size_t opened = 0; opened < i; opened++)
      pc_reader_close(&parts[opened]);
    pc_free(&source->env, parts);
    return status;
  }
  return pc_file_sequence_open(parts, count, source->ragged.used && as == PC_COLUMN_SCORES,
                               &source->env, part, err);
}

/* ---- Arrays ---- */

static const pc_file_format parts_array_format = {"array", "", "an array in memory", NULL, NULL,
                                                  NULL,    0};

static pcal_status parts_type(const pcal_input *input, pc_element_type *out, pcal_error *err) {
  static const struct {
    pc_element_kind kind;
    size_t size;
  } types[] = {[PCAL_F32] = {PC_ELEMENT_FLOAT, 4},    [PCAL_F64] = {PC_ELEMENT_FLOAT, 8},
               [PCAL_F16] = {PC_ELEMENT_FLOAT, 2},    [PCAL_I8] = {PC_ELEMENT_SIGNED, 1},
               [PCAL_I16] = {PC_ELEMENT_SIGNED, 2},   [PCAL_I32] = {PC_ELEMENT_SIGNED, 4},
               [PCAL_I64] = {PC_ELEMENT_SIGNED, 8},   [PCAL_U8] = {PC_ELEMENT_UNSIGNED, 1},
               [PCAL_U16] = {PC_ELEMENT_UNSIGNED, 2}, [PCAL_U32] = {PC_ELEMENT_UNSIGNED, 4},
               [PCAL_U64] = {PC_ELEMENT_UNSIGNED, 8}, [PCAL_BOOL] = {PC_ELEMENT_BOOL, 1}};
  const size_t type = (size_t)input->type;
  if (type == 0 || type >= sizeof types / sizeof *types)
    return pc_fail(err, PCAL_USAGE, "%s: element type %d is unknown; take one of pcal_type",
                   input->name, (int)input->type);
  *out = (pc_element_type){
      .kind = types[type].kind, .size = types[type].size, .swapped = input->swapped != 0};
  return PCAL_OK;
}

static pcal_status parts_check(const pcal_input *input, const pc_element_type *type,
                               pcal_error *err) {
  if (input->rows > 0 && input->data == NULL)
    return pc_fail(err, PCAL_USAGE, "%s: an array of %zu rows needs data", input->name,
                   input->rows);
  if (input->rows == 0)
    return pc_fail(err, PCAL_DATA, "%s has no rows; give at least one", input->name);
  if (input->meanings == NULL)
    return PCAL_OK;
  if (type->kind == PC_ELEMENT_FLOAT || type->kind == PC_ELEMENT_BOOL)
    return pc_fail(err, PCAL_USAGE, "%s: only whole numbers can be indices of names",
                   input->name);
  for (size_t i = 0; i < input->meaning_count; i++)
    if (input->meanings[i] == NULL)
      return pc_fail(err, PCAL_USAGE, "%s: name number %zu is NULL", input->name, i);
  return PCAL_OK;
}

static pcal_status parts_open_array(pcal_source *source, const pcal_input *input,
                                    pc_source_input *place, pc_column_role as, pc_reader *part,
                                    pcal_error *err) {
  const pc_read_request request = {.env = &source->env, .bytes = &place->bytes, .as = as};
  pc_array array = {.first = input->data,
                    .rows = input->rows,
                    .columns = input->columns == 0 ? 1 : input->columns,
                    .listed = input->columns == 1,
                    .row_stride = input->row_stride,
                    .column_stride = input->column_stride,
                    .names = input->meanings,
                    .name_count = input->meaning_count,
                    .device = input->device,
                    .stream = input->device_stream,
                    .copied = pc_source_regression(source),
                    .labels_stay = source->scores.on_device};
  PC_TRY(parts_type(input, &array.type, err));
  PC_TRY(parts_check(input, &array.type, err));
  if (!pc_strides_fill(array.rows, array.columns, array.type.size, &array.row_stride,
                       &array.column_stride))
    return pc_fail(err, PCAL_USAGE,
                   "%s: row_stride is 0 and the columns are not contiguous; set "
                   "row_stride to the bytes from one row to the next",
                   input->name);
  if (array.device != NULL &&
      (array.row_stride != (ptrdiff_t)(array.columns * array.type.size) ||
       (array.columns > 1 && array.column_stride != (ptrdiff_t)array.type.size)))
    return pc_fail(err, PCAL_USAGE,
                   "%s: an array on a GPU must be contiguous, row after row; copy it there",
                   input->name);
  if (array.device != NULL && !pc_device_holds(array.device, array.first))
    return pc_fail(
        err, PCAL_USAGE,
        "%s: the GPU that the input names does not hold the array; open the one that "
        "holds its address",
        input->name);
  *part =
      (pc_reader){.format = &parts_array_format, .env = &source->env, .bytes = &place->bytes};
  const pcal_status status = pc_array_reader_open(&array, &request, part, err);
  if (status != PCAL_OK)
    pc_reader_close(part);
  return status;
}

/* ---- Arrow ---- */

/* Names of all columns; the caller frees the array. */
pcal_status pc_source_arrow_names(const pcal_source *source, const pc_arrow_table *table,
                                  const char ***out, size_t *count, pcal_error *err) {
  const struct ArrowSchema *schema = &table->schema;
  *count = (size_t)schema->n_children;
  if (*count == 0)
    return pc_fail(err, PCAL_DATA, "%s has no columns; give at least one", table->name);
  *out = pc_alloc(&source->env, *count, sizeof **out);
  if (*out == NULL)
    return pc_fail_memory(err, "opening Arrow data");
  for (size_t i = 0; i < *count; i++) {
    const char *name = schema->children[i]->name;
    (*out)[i] = name == NULL ? "" : name;
  }
  return PCAL_OK;
}

static pcal_status parts_open_arrow(pcal_source *source, const pcal_input *input,
                                    pc_source_input *place, pc_column_role as, pc_reader *part,
                                    pcal_error *err) {
  const char **all = NULL;
  size_t count = input->column_name_count;
  place->arrow.takes_plain = 1;
  PC_TRY(pc_arrow_table_open(&place->arrow, place->name, &source->env, err));
  if (count == 0)
    PC_TRY(pc_source_arrow_names(source, &place->arrow, &all, &count, err));
  pcal_status status = PCAL_OK;
  if (as != PC_COLUMN_SCORES && count > 1)
    status = pc_fail(err, PCAL_DATA, "%s has %zu columns; give one", place->name, count);
  if (status == PCAL_OK)
    status = pc_arrow_reader_open(&place->arrow, all == NULL ? input->column_names : all, count,
                                  as, part, err);
  pc_free(&source->env, all);
  return status;
}

/* Columns of Arrow data in `data`. */
static pcal_status parts_open_columns(pcal_source *source, const pcal_input *input,
                                      pc_column_role as, pc_reader *part, pcal_error *err) {
  if (as != PC_COLUMN_SCORES && input->column_name_count > 1)
    return pc_fail(err, PCAL_USAGE, "%s: %zu columns are named; name one", input->name,
                   input->column_name_count);
  return pc_arrow_reader_open(&source->inputs[PC_INPUT_DATA].arrow, input->column_names,
                              input->column_name_count, as, part, err);
}

/* ---- Any part ---- */

pcal_status pc_source_input_name(pcal_source *source, const char *name, pc_source_input *place,
                                 pcal_error *err) {
  place->name = pc_copy_text(&source->env, name);
  if (place->name == NULL)
    return pc_fail_memory(err, "opening the data");
  pc_input_file_from_memory(place->name, "", 0, &place->bytes);
  return PCAL_OK;
}

static pcal_status parts_open_input(pcal_source *source, const pc_checked_inputs *inputs,
                                    pc_input_field field, pc_column_role as, pc_reader *part,
                                    pcal_error *err) {
  const pcal_input *input = &inputs->items[field];
  pc_source_input *place = &source->inputs[field];
  if (inputs->forms[field] == PC_INPUT_FILE)
    return pc_source_file_part(source, input, NULL, as, part, err);
  if (inputs->forms[field] == PC_INPUT_COLUMNS)
    return parts_open_columns(source, input, as, part, err);
  PC_TRY(pc_source_input_name(source, input->name, place, err));
  return inputs->forms[field] == PC_INPUT_ARROW
             ? parts_open_arrow(source, input, place, as, part, err)
             : parts_open_array(source, input, place, as, part, err);
}

pcal_status pc_source_member(pcal_source *source, size_t number, pc_column_role as,
                             pc_reader *part, pcal_error *err) {
  const pc_source_pick pick = {source->members.text[number], NULL, 0};
  return pc_source_file_part(source, source->data, &pick, as, part, err);
}

/* Opens a column of `data`: a member of a container, or a column of Arrow data or text. */
static pcal_status parts_open_data(pcal_source *source, size_t column, pc_column_role as,
                                   pc_reader *part, pcal_error *err) {
  if (source->archive != NULL)
    return pc_source_member(source, column, as, part, err);
  if (source->arrow_names != NULL)
    return pc_arrow_reader_open(&source->inputs[PC_INPUT_DATA].arrow,
                                &source->arrow_names[column], 1, as, part, err);
  const pc_source_pick pick = {NULL, &column, 1};
  return pc_source_file_part(source, source->data, &pick, as, part, err);
}

pcal_status pc_source_part_open(pcal_source *source, const pc_checked_inputs *inputs,
                                pc_input_field field, size_t column, pc_column_role as,
                                pc_reader *part, pcal_error *err) {
  if (field != PC_INPUT_COUNT && inputs->forms[field] != PC_INPUT_NOT_GIVEN)
    return parts_open_input(source, inputs, field, as, part, err);
  return column == PC_NO_DATA_COLUMN ? PCAL_OK : parts_open_data(source, column, as, part, err);
}

const char *pc_source_notation(const pcal_source *source) {
  while (source->derived.base != NULL)
    source = source->derived.base;
  const pc_reader *const parts[] = {
      &source->scores, &source->label_cells, &source->weights,      &source->group_cells,
      &source->spread, &source->id_cells,    &source->abstain.cells};
  int semicolons = 0, commas = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    semicolons |= pc_source_has(parts[i]) && parts[i]->delimiter == ';';
    commas |= pc_source_has(parts[i]) && parts[i]->decimal_comma;
  }
  return commas ? "semicolons and decimal commas" : semicolons ? "semicolons" : NULL;
}

const char *pc_source_data_column(const pcal_source *source, const char *field) {
  const pc_data_columns *columns = &source->columns;
  const struct {
    const char *field;
    size_t column;
  } found[] = {{pc_kind_outcome(source->kind), columns->labels},
               {"weights", columns->weights},
               {"groups", columns->groups},
               {"time", columns->time},
               {"abstain", columns->abstain}};
  const char *const *names = source->arrow_names != NULL ? source->arrow_names
                             : source->members.count > 0
                                 ? (const char *const *)source->members.text
                                 : source->table.names;
  if (columns->score_count == 0 || names == NULL) /* no data file, or a derived source */
    return NULL;
  for (size_t i = 0; i < sizeof found / sizeof *found; i++)
    if (strcmp(found[i].field, field) == 0 && found[i].column != PC_NO_DATA_COLUMN)
      return names[found[i].column];
  return NULL;
}
