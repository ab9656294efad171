#include "io/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/selector.h"

static const pc_file_format reader_formats[] = {
#define PC_FORMAT(name, extensions, about) {#name, extensions, about, pc_##name##_open, NULL},
#define PC_CONTAINER(name, extensions, about) \
  {#name, extensions, about, pc_##name##_open, pc_##name##_members},
#include "io/formats/registry.def"
#undef PC_CONTAINER
#undef PC_FORMAT
};

#define READER_FORMATS (sizeof reader_formats / sizeof reader_formats[0])

const pc_file_format *pc_file_format_at(size_t index) {
  return index < READER_FORMATS ? &reader_formats[index] : NULL;
}

static char reader_lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* True if `extension`, ignoring case, is one of the words separated by '|'. */
static int reader_has_word(const char *words, const char *extension) {
  for (;;) {
    const size_t length = strcspn(words, "|");
    size_t same = 0;
    while (same < length && reader_lower(extension[same]) == words[same])
      same++;
    if (same == length && extension[same] == '\0')
      return 1;
    if (words[length] == '\0')
      return 0;
    words += length + 1;
  }
}

/* The extension of a file name without the dot, or "". */
static const char *reader_extension(const char *name) {
  const char *slash = strrchr(name, '/');
  const char *dot = strrchr(slash == NULL ? name : slash, '.');
  return dot == NULL ? "" : dot + 1;
}

static const pc_file_format *reader_format_named(const char *extension) {
  for (size_t i = 0; i < READER_FORMATS; i++)
    if (reader_has_word(reader_formats[i].extensions, extension))
      return &reader_formats[i];
  return NULL;
}

/* ".npy, .csv, ..." */
static void reader_known(char *out, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < READER_FORMATS; i++) {
    for (const char *word = reader_formats[i].extensions; used < size; word++) {
      const int length = (int)strcspn(word, "|");
      const int wrote =
          snprintf(out + used, size - used, "%s.%.*s", used == 0 ? "" : ", ", length, word);
      used += wrote < 0 ? 0 : (size_t)wrote;
      word += length;
      if (*word == '\0')
        break;
    }
  }
}

static pcal_status reader_unknown(const char *name, const char *extension, pcal_error *err) {
  char known[128] = "";
  reader_known(known, sizeof known);
  if (extension[0] == '\0')
    return pc_fail(err, PCAL_USAGE,
                   "%s has no extension, so its format is unknown; use one of %s", name, known);
  return pc_fail(err, PCAL_USAGE, "%s: the format .%s is unknown; use one of %s", name,
                 extension, known);
}

pcal_status pc_file_format_find(const pc_input_file *bytes, const pc_file_format **out,
                                pcal_error *err) {
  const char *extension = reader_extension(bytes->name);
  const int is_stream =
      bytes->kind == PC_INPUT_FILE_STREAM || strncmp(bytes->name, "/dev/", 5) == 0;
  *out = reader_format_named(extension);
  if (*out == NULL && is_stream)
    *out = reader_format_named("csv");
  return *out == NULL ? reader_unknown(bytes->name, extension, err) : PCAL_OK;
}

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

pc_place pc_reader_place(const pc_reader *reader, size_t row, uint64_t index) {
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
