/* Sources joined from files, arrays and Arrow streams.
 *
 * Edge cases:
 *  1. streams are taken over before anything can fail, and released with the source.
 *  2. record batches of different streams may end at different rows: a window ends where the
 *     first of them does.
 *  3. given class names take the place of those of columns; there is one for each column. */
#include <string.h>

#include "data/rows.h"
#include "io/formats/array_reader.h"
#include "io/source_state.h"

static const pc_file_format source_join_format = {"array", "", "an array in memory", NULL,
                                                  NULL};

typedef struct source_join_part {
  pcal_input input;
  int given;
  pc_column_role as;
  pc_reader *reader;
  const char *name;
} source_join_part;

/* ---- Arrays ---- */

static pcal_status source_join_type(const pcal_input *input, const char *name,
                                    pc_element_type *out, pcal_error *err) {
  const size_t size = input->item_size;
  const int is_size = size == 1 || size == 2 || size == 4 || size == 8;
  *out = (pc_element_type){.size = size, .swapped = input->swapped != 0};
  if (input->type == 'f' && is_size && size > 1)
    out->kind = PC_ELEMENT_FLOAT;
  else if ((input->type == 'i' || input->type == 'u') && is_size)
    out->kind = input->type == 'i' ? PC_ELEMENT_SIGNED : PC_ELEMENT_UNSIGNED;
  else if (input->type == 'b' && size == 1)
    out->kind = PC_ELEMENT_BOOL;
  else
    return pc_fail(err, PCAL_USAGE,
                   "%s: elements of type '%c' with %zu bytes are unknown; give floats, whole "
                   "numbers or booleans of at most 8 bytes",
                   name, input->type >= ' ' && input->type <= '~' ? input->type : '?', size);
  return PCAL_OK;
}

static pcal_status source_join_check(const pcal_input *input, const char *name,
                                     const pc_element_type *type, pcal_error *err) {
  if (input->rows > 0 && input->data == NULL)
    return pc_fail(err, PCAL_USAGE, "%s: an array of %zu rows needs data", name, input->rows);
  if (input->rows == 0)
    return pc_fail(err, PCAL_DATA, "%s has no rows; give at least one", name);
  if (input->meanings == NULL)
    return PCAL_OK;
  if (type->kind == PC_ELEMENT_FLOAT || type->kind == PC_ELEMENT_BOOL)
    return pc_fail(err, PCAL_USAGE, "%s: only whole numbers can be indices of names", name);
  for (size_t i = 0; i < input->meaning_count; i++)
    if (input->meanings[i] == NULL)
      return pc_fail(err, PCAL_USAGE, "%s: name number %zu is NULL", name, i);
  return PCAL_OK;
}

static pcal_status source_join_array(pcal_source *source, const source_join_part *part,
                                     pc_source_input *place, pcal_error *err) {
  const pcal_input *input = &part->input;
  const pc_read_request request = {.env = &source->env, .bytes = &place->bytes, .as = part->as};
  pc_array array = {.first = input->data,
                    .rows = input->rows,
                    .columns = input->columns == 0 ? 1 : input->columns,
                    .listed = input->columns == 1,
                    .row_stride = input->row_stride,
                    .column_stride = input->column_stride,
                    .names = input->meanings,
                    .name_count = input->meaning_count};
  PC_TRY(source_join_type(input, place->name, &array.type, err));
  PC_TRY(source_join_check(input, place->name, &array.type, err));
  if (!pc_strides_fill(array.rows, array.columns, array.type.size, &array.row_stride,
                       &array.column_stride))
    return pc_fail(err, PCAL_USAGE,
                   "%s: row_stride is 0 and the columns do not lie next to each other; set "
                   "row_stride to the bytes from one row to the next",
                   place->name);
  *part->reader =
      (pc_reader){.format = &source_join_format, .env = &source->env, .bytes = &place->bytes};
  const pcal_status status = pc_array_reader_open(&array, &request, part->reader, err);
  if (status != PCAL_OK)
    pc_reader_close(part->reader);
  return status;
}

/* ---- Arrow ---- */

/* The columns asked for, or all of them, which *all then owns. */
static pcal_status source_join_columns(const pcal_source *source, const pcal_input *input,
                                       const pc_arrow_table *table, const char ***all,
                                       size_t *count, pcal_error *err) {
  const struct ArrowSchema *schema = &table->schema;
  *all = NULL;
  *count = input->chosen_count;
  if (input->chosen_count > 0)
    return PCAL_OK;
  *count = (size_t)schema->n_children;
  if (*count == 0)
    return pc_fail(err, PCAL_DATA, "%s has no columns; give at least one", table->name);
  *all = pc_alloc(&source->env, *count, sizeof **all);
  if (*all == NULL)
    return pc_fail_memory(err, "opening Arrow data");
  for (size_t i = 0; i < *count; i++) {
    const char *name = schema->children[i]->name;
    (*all)[i] = name == NULL ? "" : name;
  }
  return PCAL_OK;
}

static pcal_status source_join_stream(pcal_source *source, const source_join_part *part,
                                      pc_source_input *place, pcal_error *err) {
  const pcal_input *input = &part->input;
  const char **all = NULL;
  size_t count = 0;
  place->arrow.takes_plain = 1;
  PC_TRY(pc_arrow_table_open(&place->arrow, place->name, &source->env, err));
  PC_TRY(source_join_columns(source, input, &place->arrow, &all, &count, err));
  const char *const *names = all == NULL ? input->chosen : all;
  pcal_status status = PCAL_OK;
  if (part->as != PC_COLUMN_SCORES && count > 1)
    status = pc_fail(err, PCAL_DATA, "%s has %zu columns; give one", place->name, count);
  if (status == PCAL_OK)
    status = pc_arrow_reader_open(&place->arrow, names, count, part->as, part->reader, err);
  pc_free(&source->env, all);
  return status;
}

/* ---- Joining ---- */

static pcal_status source_join_class_names(pcal_source *source, const pcal_join *join,
                                           pcal_error *err) {
  const size_t columns = source->scores.columns, count = join->class_count;
  source->class_names = columns > 1 ? source->scores.names : NULL;
  if (join->class_names == NULL)
    return PCAL_OK;
  if (count != columns)
    return pc_fail(err, PCAL_USAGE,
                   "there are %zu names of classes for %zu column%s of scores; give one for "
                   "each",
                   count, columns, columns == 1 ? "" : "s");
  source->given_names = pc_alloc(&source->env, count, sizeof *source->given_names);
  if (source->given_names == NULL)
    return pc_fail_memory(err, "opening the data");
  for (; source->given_name_count < count; source->given_name_count++) {
    const char *name = join->class_names[source->given_name_count];
    if (name == NULL)
      return pc_fail(err, PCAL_USAGE, "the name of class %zu is NULL",
                     source->given_name_count);
    char **copy = &source->given_names[source->given_name_count];
    *copy = pc_copy_text(&source->env, name);
    if (*copy == NULL)
      return pc_fail_memory(err, "opening the data");
  }
  if (columns > 1)
    source->class_names = (const char *const *)source->given_names;
  return PCAL_OK;
}

static pcal_status source_join_part_open(pcal_source *source, const source_join_part *part,
                                         pc_source_input *place, pcal_error *err) {
  const pcal_input *input = &part->input;
  if (!part->given)
    return PCAL_OK;
  if (input->file != NULL && input->stream != NULL)
    return pc_fail(err, PCAL_USAGE, "%s: a file and a stream are both given; give one",
                   part->name);
  if (input->file != NULL)
    return pc_source_file_part(source, input->file, part->as, part->reader, err);
  place->name = pc_copy_text(&source->env, part->name);
  if (place->name == NULL)
    return pc_fail_memory(err, "opening the data");
  pc_input_file_from_memory(place->name, "", 0, &place->bytes);
  return input->stream != NULL ? source_join_stream(source, part, place, err)
                               : source_join_array(source, part, place, err);
}

static pcal_status source_join_fill(pcal_source *source, const pcal_join *join,
                                    const source_join_part parts[PC_SOURCE_PARTS],
                                    pcal_error *err) {
  source->kind = join->kind;
  source->first_row = join->first_row;
  source->header = (pc_header_mode)join->header;
  source->weights_are = join->weights_are;
  if (join->levels != NULL && join->level_count <= PCAL_LEVELS_MAX)
    memcpy(source->forecast.levels, join->levels, join->level_count * sizeof(double));
  source->forecast.level_count = join->levels == NULL ? 0 : join->level_count;
  for (size_t i = 0; i < PC_SOURCE_PARTS; i++)
    PC_TRY(source_join_part_open(source, &parts[i], &source->inputs[i], err));
  PC_TRY(source_join_class_names(source, join, err));
  return pc_source_complete(source, err);
}

/* Copies the inputs and moves their streams into tables. */
static void source_join_take(const pcal_join *join, pcal_source *source,
                             source_join_part parts[PC_SOURCE_PARTS],
                             pc_arrow_table tables[PC_SOURCE_PARTS]) {
  const int regression = pc_kind_form(join->kind) != PC_FORM_CLASSES;
  const char *const names[] = {"scores",
                               regression ? "target" : "labels",
                               "weights",
                               "groups",
                               join->kind == PCAL_MEAN_STD ? "std" : "variance",
                               "ids"};
  const pc_column_role wanted[] = {
      PC_COLUMN_SCORES,  regression ? PC_COLUMN_NUMBERS : PC_COLUMN_LABELS,
      PC_COLUMN_NUMBERS, PC_COLUMN_TEXT,
      PC_COLUMN_SCORES,  PC_COLUMN_TEXT};
  const pcal_input *const inputs[] = {join->scores, join->labels, join->weights,
                                      join->groups, join->spread, join->ids};
  for (size_t i = 0; i < PC_SOURCE_PARTS; i++) {
    parts[i] = (source_join_part){.input = PCAL_INPUT_INIT, .as = wanted[i], .name = names[i]};
    tables[i] = (pc_arrow_table){0};
    if (inputs[i] == NULL)
      continue;
    const size_t size = inputs[i]->size;
    memcpy(&parts[i].input, inputs[i],
           size < sizeof parts[i].input ? size : sizeof parts[i].input);
    parts[i].given = 1;
    if (parts[i].input.name != NULL)
      parts[i].name = parts[i].input.name;
    if (parts[i].input.stream != NULL)
      pc_arrow_table_take(parts[i].input.stream, NULL, NULL, &tables[i]);
  }
  if (source == NULL)
    return;
  pc_reader *const readers[] = {&source->scores,      &source->label_cells, &source->weights,
                                &source->group_cells, &source->spread,      &source->id_cells};
  for (size_t i = 0; i < PC_SOURCE_PARTS; i++) {
    parts[i].reader = readers[i];
    source->inputs[i].arrow = tables[i];
  }
}

pcal_status pc_source_join(const pcal_join *join, const pcal_env *env, pcal_source **out,
                           pcal_error *err) {
  source_join_part parts[PC_SOURCE_PARTS];
  pc_arrow_table tables[PC_SOURCE_PARTS];
  pcal_source *source = pc_source_new(env);
  source_join_take(join, source, parts, tables);
  *out = NULL;
  if (source != NULL)
    return pc_source_return(source, source_join_fill(source, join, parts, err), out);
  for (size_t i = 0; i < PC_SOURCE_PARTS; i++)
    pc_arrow_table_free(&tables[i]);
  return pc_fail_memory(err, "opening the data");
}
