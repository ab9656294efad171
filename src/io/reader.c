#include "io/reader.h"

#include <string.h>

#include "io/selector.h"

pcal_status pc_reader_open(const pc_read_request *request, pc_reader *out, pcal_error *err) {
  const pc_file_format *format = NULL;
  *out = (pc_reader){0};
  PC_TRY(pc_file_format_find(request->bytes, &format, err));
  PC_TRY(pc_input_file_check(request->bytes, err));
  *out = (pc_reader){.format = format, .env = request->env, .bytes = request->bytes};
  const pcal_status status = format->open(request, out, err);
  if (status != PCAL_OK)
    pc_reader_close(out);
  return status;
}

pcal_status pc_reader_next(pc_reader *reader, size_t max_rows, pc_window *out,
                           pcal_error *err) {
  const size_t limit = reader->window_limit;
  *out = (pc_window){0};
  PC_TRY(pc_input_file_check(reader->bytes, err));
  return reader->calls->next(reader, max_rows < limit ? max_rows : limit, out, err);
}

pcal_status pc_reader_ready(pc_reader *reader, size_t *rows, pcal_error *err) {
  *rows = SIZE_MAX;
  if (reader->calls->ready == NULL)
    return PCAL_OK;
  PC_TRY(reader->calls->ready(reader, rows, err));
  if (*rows == 0)
    *rows = SIZE_MAX;
  return PCAL_OK;
}

void pc_reader_rewind(pc_reader *reader) {
  reader->calls->rewind(reader);
}

void pc_reader_close(pc_reader *reader) {
  if (reader->calls != NULL && reader->state != NULL)
    reader->calls->close(reader);
  *reader = (pc_reader){0};
}

int pc_reader_has_lines(const pc_reader *reader) {
  return reader->calls->line(reader, 0) > 0;
}

uint64_t pc_reader_file_row(const pc_reader *reader, size_t row) {
  return reader->calls->file_row == NULL ? PCAL_NO_ROW : reader->calls->file_row(reader, row);
}

pc_place pc_reader_place(const pc_reader *reader, size_t row, uint64_t index) {
  const uint64_t own = pc_reader_file_row(reader, row);
  index = own != PCAL_NO_ROW ? own : index - reader->row_offset;
  return (pc_place){reader->bytes->name, index, reader->calls->line(reader, row),
                    PCAL_NO_COLUMN,      NULL,  NULL};
}

static pcal_status reader_copy_chosen(const pc_read_request *request, size_t **chosen,
                                      size_t *chosen_count, pcal_error *err) {
  const size_t count = request->chosen_count;
  *chosen = pc_alloc_raw(request->env, count, sizeof **chosen);
  if (*chosen == NULL)
    return pc_fail_memory(err, "choosing columns");
  memcpy(*chosen, request->chosen, count * sizeof **chosen);
  *chosen_count = count;
  return PCAL_OK;
}

pcal_status pc_read_request_columns(const pc_read_request *request, const char *const *names,
                                    size_t count, size_t **chosen, size_t *chosen_count,
                                    pcal_error *err) {
  const pc_column_set set = {request->bytes->name, names, count};
  if (request->chosen != NULL)
    return reader_copy_chosen(request, chosen, chosen_count, err);
  return pc_selector_columns(request->selector, &set, request->env, chosen, chosen_count, err);
}

size_t pc_window_rows(size_t row_bytes) {
  return row_bytes >= PC_WINDOW_BYTES || row_bytes == 0 ? 1 : PC_WINDOW_BYTES / row_bytes;
}
