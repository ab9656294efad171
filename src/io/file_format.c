/* Which format a file has.  The first rule that applies decides:
 *  1. the extension, without .gz or .zst: the one of a format in formats/registry.def.
 *  2. the format that the caller gave.
 *  3. for standard input, pipes and devices, the first bytes: the magic numbers of npy, npz and
 *     Arrow; '{' is JSON lines; other text is TSV if its first line has a tab, else CSV.
 *  4. other files are refused. */
#include <stdio.h>
#include <string.h>

#include "io/input_unpack.h"
#include "io/reader.h"

static const pc_file_format file_formats[] = {
#define PC_FORMAT(name, extensions, about) \
  {#name, extensions, about, pc_##name##_open, NULL, NULL, 0},
#define PC_CONTAINER(name, extensions, about) \
  {#name, extensions, about, pc_##name##_open, pc_##name##_members, pc_##name##_visit, 0},
#define PC_TABLE(name, extensions, about) \
  {#name, extensions, about, pc_##name##_open, pc_##name##_members, pc_##name##_visit, 1},
#include "io/formats/registry.def"
#undef PC_TABLE
#undef PC_CONTAINER
#undef PC_FORMAT
};

#define FILE_FORMATS (sizeof file_formats / sizeof file_formats[0])

const pc_file_format *pc_file_format_at(size_t index) {
  return index < FILE_FORMATS ? &file_formats[index] : NULL;
}

/* ---- By name ---- */

static char file_format_lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* True if `extension`, ignoring case, is one of the words separated by '|'. */
static int file_format_has_word(const char *words, pc_slice extension) {
  for (;;) {
    const size_t length = strcspn(words, "|");
    size_t same = 0;
    while (same < length && same < extension.length &&
           file_format_lower(extension.bytes[same]) == words[same])
      same++;
    if (same == length && extension.length == length)
      return 1;
    if (words[length] == '\0')
      return 0;
    words += length + 1;
  }
}

/* The extension of a file name without the dot and without that of its compression, or "". */
static pc_slice file_format_extension(const char *name) {
  const size_t length = pc_compression_name_length(name);
  size_t begin = length;
  while (begin > 0 && name[begin - 1] != '.' && name[begin - 1] != '/')
    begin--;
  return begin > 0 && name[begin - 1] == '.' ? (pc_slice){name + begin, length - begin}
                                             : (pc_slice){"", 0};
}

static const pc_file_format *file_format_named(pc_slice extension) {
  for (size_t i = 0; i < FILE_FORMATS; i++)
    if (file_format_has_word(file_formats[i].extensions, extension))
      return &file_formats[i];
  return NULL;
}

/* ".npy, .csv, ..." */
static void file_format_list(char *out, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < FILE_FORMATS; i++) {
    for (const char *word = file_formats[i].extensions; used < size; word++) {
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

static pcal_status file_format_unknown(const char *name, pc_slice extension, pcal_error *err) {
  char known[128] = "", shown[PC_CLIP_MAX];
  file_format_list(known, sizeof known);
  if (extension.length == 0)
    return pc_fail(err, PCAL_USAGE,
                   "%s has no extension, so its format is unknown; use one of %s, or give "
                   "{file_format}",
                   name, known);
  return pc_fail(err, PCAL_USAGE,
                 "%s: the format .%s is unknown; use one of %s, or give {file_format}", name,
                 pc_clip(extension, shown), known);
}

/* ---- By first bytes ---- */

static int file_format_begins(const pc_input_file *bytes, const char *magic, size_t count) {
  return bytes->length >= count && memcmp(bytes->data, magic, count) == 0;
}

static const char *file_format_of_text(const pc_input_file *bytes) {
  const char *text = (const char *)bytes->data;
  const size_t mark = file_format_begins(bytes, "\xEF\xBB\xBF", 3) ? 3 : 0;
  size_t at = mark;
  while (at < bytes->length && (text[at] == ' ' || text[at] == '\t'))
    at++;
  if (at < bytes->length && text[at] == '{')
    return "jsonl";
  const char *end = memchr(text + mark, '\n', bytes->length - mark);
  const size_t length = end == NULL ? bytes->length - mark : (size_t)(end - text) - mark;
  return length > 0 && memchr(text + mark, '\t', length) != NULL ? "tsv" : "csv";
}

static const char *file_format_of_bytes(const pc_input_file *bytes) {
  if (file_format_begins(bytes, "\x93NUMPY", 6))
    return "npy";
  if (file_format_begins(bytes, "PK\x03\x04", 4))
    return "npz";
  if (file_format_begins(bytes, "ARROW1", 6) ||
      file_format_begins(bytes, "\xff\xff\xff\xff", 4))
    return "arrow";
  return file_format_of_text(bytes);
}

/* ---- Both ---- */

/* One sentence for files of a format that other programs convert. */
static pcal_status file_format_foreign(const pc_input_file *bytes, pc_slice extension,
                                       pcal_error *err) {
  if (file_format_begins(bytes, "PAR1", 4))
    return pc_fail(err, PCAL_USAGE, "%s is a Parquet file; {parquet}", bytes->name);
  if (file_format_has_word("xlsx|xlsm|xls|ods", extension))
    return pc_fail(err, PCAL_USAGE, "%s is a spreadsheet; {spreadsheet}", bytes->name);
  return PCAL_OK;
}

pcal_status pc_file_format_check_name(const char *name, pcal_error *err) {
  char known[128] = "";
  size_t used = 0;
  for (size_t i = 0; i < FILE_FORMATS; i++) {
    if (strcmp(file_formats[i].name, name) == 0)
      return PCAL_OK;
    const int wrote = snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ",
                               file_formats[i].name);
    used += wrote < 0 ? 0 : (size_t)wrote;
  }
  return pc_fail(err, PCAL_USAGE, "{file_format} \"%s\" is unknown; give one of %s", name,
                 known);
}

pcal_status pc_file_format_find(const pc_input_file *bytes, const pc_file_format **out,
                                pcal_error *err) {
  const pc_slice extension = file_format_extension(bytes->name);
  const int is_stream =
      bytes->kind == PC_INPUT_FILE_STREAM || strncmp(bytes->name, "/dev/", 5) == 0;
  *out = file_format_named(extension);
  if (*out == NULL && bytes->format != NULL)
    *out = file_format_named(pc_slice_of(bytes->format));
  if (*out != NULL)
    return PCAL_OK;
  PC_TRY(file_format_foreign(bytes, extension, err));
  if (is_stream)
    *out = file_format_named(pc_slice_of(file_format_of_bytes(bytes)));
  return *out == NULL ? file_format_unknown(bytes->name, extension, err) : PCAL_OK;
}
