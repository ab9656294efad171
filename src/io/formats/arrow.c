/* Reader for .arrow, .feather and .ipc: tables of the Arrow IPC format, as a file or as a stream.
 * Columns are chosen as in CSV; a column of lists is one array of scores.
 *
 * Edge cases:
 *  1. every reader walks through the file for itself; values are used in place unless they are
 *     compressed.
 *  2. two columns with the same name are refused, since columns are found by name.
 *  3. a mapped file that shrinks is an error of its window. */
#include <string.h>

#include "io/formats/arrow_ipc_stream.h"
#include "io/formats/arrow_reader.h"

typedef struct arrow_state {
  pc_arrow_table table;
  pc_reader columns;  /* of the table */
  pc_input_file file; /* the file of the request, under the name of the column */
} arrow_state;

static pcal_status arrow_open_table(const pc_input_file *bytes, const pcal_env *env,
                                    pc_arrow_table *out, pcal_error *err) {
  struct ArrowArrayStream stream;
  *out = (pc_arrow_table){0};
  PC_TRY(pc_arrow_ipc_stream_open(bytes, env, &stream, err));
  pc_arrow_table_take(&stream, NULL, NULL, out);
  return pc_arrow_table_open(out, bytes->name, env, err);
}

static pcal_status arrow_names(const pc_arrow_table *table, pc_name_table *out,
                               pcal_error *err) {
  for (int64_t i = 0; i < table->schema.n_children; i++) {
    char shown[PC_CLIP_MAX];
    uint32_t number = 0;
    const pc_slice name = pc_slice_of(table->schema.children[i]->name);
    PC_TRY(pc_name_table_add(out, name, &number, err));
    if ((int64_t)number != i)
      return pc_fail(err, PCAL_DATA, "%s has two columns called \"%s\"; rename one",
                     table->name, pc_clip(name, shown));
  }
  return out->count > 0
             ? PCAL_OK
             : pc_fail(err, PCAL_DATA, "%s has no columns; give at least one", table->name);
}

pcal_status pc_arrow_members(const pc_input_file *bytes, const pcal_env *env,
                             pc_name_table *out, pcal_error *err) {
  pc_arrow_table table;
  pcal_status status = arrow_open_table(bytes, env, &table, err);
  if (status == PCAL_OK)
    status = arrow_names(&table, out, err);
  pc_arrow_table_free(&table);
  return status;
}

/* The shape of one column, of numbers or of words, of a table that is open. */
static pcal_status arrow_visit_column(pc_arrow_table *table, const char *name, size_t number,
                                      const pc_member_visitor *visitor, pcal_error *err) {
  pc_reader reader = {.format = NULL};
  pcal_error failure, of_words;
  pcal_status status =
      pc_arrow_reader_open(table, &name, 1, PC_COLUMN_SCORES, &reader, &failure);
  if (status == PCAL_DATA) {
    pc_reader_close(&reader);
    reader = (pc_reader){.format = NULL};
    status = pc_arrow_reader_open(table, &name, 1, PC_COLUMN_LABELS, &reader, &of_words);
    if (status == PCAL_MEMORY || status == PCAL_INTERRUPTED)
      failure = of_words;
  }
  const pc_member_shape shape = {reader.rows, reader.columns, reader.stored};
  status =
      visitor->visit(visitor->user, number, status == PCAL_OK ? &shape : NULL, &failure, err);
  pc_reader_close(&reader);
  return status;
}

pcal_status pc_arrow_visit(const pc_input_file *bytes, const pcal_env *env,
                           const pc_name_table *names, const pc_member_visitor *visitor,
                           pcal_error *err) {
  pc_arrow_table table;
  pcal_status status = arrow_open_table(bytes, env, &table, err);
  for (size_t i = 0; i < names->count && status == PCAL_OK; i++) {
    status = arrow_visit_column(&table, names->text[i], i, visitor, err);
    if (status == PCAL_OK)
      status = pc_check_interrupt(env, err);
  }
  pc_arrow_table_free(&table);
  return status;
}

static void arrow_close(pc_reader *reader) {
  arrow_state *state = reader->state;
  pc_reader_close(&state->columns);
  pc_arrow_table_free(&state->table);
  pc_free(reader->env, state);
  reader->state = NULL;
}

static void arrow_rewind(pc_reader *reader) {
  arrow_state *state = reader->state;
  pc_reader_rewind(&state->columns);
}

static uint64_t arrow_line(const pc_reader *reader, size_t row) {
  (void)reader;
  (void)row;
  return 0;
}

static pcal_status arrow_next(pc_reader *reader, size_t max_rows, pc_window *out,
                              pcal_error *err) {
  arrow_state *state = reader->state;
  state->columns.first_row = reader->first_row;
  const pcal_status status = pc_reader_next(&state->columns, max_rows, out, err);
  reader->rows = state->columns.rows;
  PC_TRY(pc_input_file_check(reader->bytes, err));
  return status;
}

static pcal_status arrow_ready(pc_reader *reader, size_t *rows, pcal_error *err) {
  arrow_state *state = reader->state;
  return pc_reader_ready(&state->columns, rows, err);
}

static const pc_reader_calls arrow_calls = {arrow_next,  arrow_rewind, arrow_line,
                                            arrow_close, arrow_ready,  NULL};

/* Opens the chosen columns of the table. */
static pcal_status arrow_open_columns(const pc_read_request *request, pc_reader *reader,
                                      const pc_name_table *names, pcal_error *err) {
  arrow_state *state = reader->state;
  size_t *chosen = NULL, count = 0;
  PC_TRY(pc_read_request_columns(request, (const char *const *)names->text, names->count,
                                 &chosen, &count, err));
  const char **wanted = pc_alloc(request->env, count, sizeof *wanted);
  pcal_status status = wanted == NULL ? pc_fail_memory(err, "opening an Arrow file") : PCAL_OK;
  for (size_t i = 0; i < count && status == PCAL_OK; i++)
    wanted[i] = names->text[chosen[i]];
  const int several = request->as == PC_COLUMN_SCORES || request->as == PC_COLUMN_TEXT;
  if (status == PCAL_OK && !several && count > 1)
    status = pc_fail(err, PCAL_DATA, "%s has %zu columns; choose one as %s:COLUMN",
                     request->bytes->name, count, request->bytes->name);
  if (status == PCAL_OK)
    status =
        pc_arrow_reader_open(&state->table, wanted, count, request->as, &state->columns, err);
  pc_free(request->env, wanted);
  pc_free(request->env, chosen);
  return status;
}

pcal_status pc_arrow_open(const pc_read_request *request, pc_reader *out, pcal_error *err) {
  arrow_state *state = pc_alloc(request->env, 1, sizeof *state);
  pc_name_table names;
  if (state == NULL)
    return pc_fail_memory(err, "opening an Arrow file");
  out->calls = &arrow_calls;
  out->state = state;
  PC_TRY(arrow_open_table(request->bytes, request->env, &state->table, err));
  state->table.ragged = request->ragged;
  pc_name_table_init(&names, request->env);
  pcal_status status = arrow_names(&state->table, &names, err);
  if (status == PCAL_OK)
    status = arrow_open_columns(request, out, &names, err);
  pc_name_table_free(&names);
  PC_TRY(status);
  const pc_reader *columns = &state->columns;
  state->file = *request->bytes;
  state->file.name = columns->bytes->name;
  out->bytes = &state->file;
  out->cells = columns->cells;
  out->columns = columns->columns;
  out->rows = columns->rows;
  out->window_limit = columns->window_limit;
  out->names = columns->names;
  out->file_columns = (size_t)state->table.schema.n_children;
  out->listed = columns->listed;
  memcpy(out->stored, columns->stored, sizeof out->stored);
  return PCAL_OK;
}
