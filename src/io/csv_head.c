/* Is the first record a header?  A cell is a number, missing (see slice.h), or text.  The
 * record is a header
 *  1. if it has text and no numbers: "label,cat,dog";
 *  2. if its numbers are 0, 1, 2, ... from left to right, at least three of them, as data
 *     frames without names are written: "0,1,2" or "label,0,1,2".
 * Otherwise it is the first row: "cat,0.25,0.75" or "0.25,0.75".
 *
 * A byte order mark of UTF-8 is skipped; UTF-16 and files with NUL bytes are refused. */
#include "io/csv_head.h"

#include <inttypes.h>
#include <string.h>

#include "core/number.h"

#define CSV_HEAD_PROBE 4096
#define CSV_HEAD_COUNTED 3

static pcal_status csv_head_check_text(const pc_bytes *bytes, pcal_error *err) {
  const unsigned char *data = bytes->data;
  const size_t probe = bytes->length < CSV_HEAD_PROBE ? bytes->length : CSV_HEAD_PROBE;
  const int wide = bytes->length >= 2 && ((data[0] == 0xFF && data[1] == 0xFE) ||
                                          (data[0] == 0xFE && data[1] == 0xFF));
  if (wide)
    return pc_fail(err, PCAL_DATA, "%s is written in UTF-16; save it as UTF-8", bytes->name);
  if (memchr(data, '\0', probe) != NULL ||
      memcmp(data, "\x93NUMPY", probe < 6 ? probe : 6) == 0)
    return pc_fail(err, PCAL_DATA,
                   "%s is not a text file; give a file whose extension says what it holds",
                   bytes->name);
  return PCAL_OK;
}

static void csv_head_begin(const pc_bytes *bytes, char delimiter, pc_csv_scan *out) {
  const size_t mark = bytes->length >= 3 && memcmp(bytes->data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
  *out = (pc_csv_scan){.name = bytes->name, .line = 1, .delimiter = delimiter};
  out->at = (const char *)bytes->data + mark;
  out->end = (const char *)bytes->data + bytes->length;
}

static int csv_head_is_number(pc_slice text, double *value) {
  return text.length > 0 &&
         pc_number_parse(text.bytes, text.bytes + text.length, value) == text.length;
}

/* Moves behind the first record. */
static pcal_status csv_head_look(pc_csv_scan *scan, size_t *columns, int *is_header,
                                 pcal_error *err) {
  size_t numbers = 0, texts = 0;
  int counting = 1;
  double value = 0;
  pc_csv_cell cell = {.last = 0};
  for (*columns = 0; !cell.last; ++*columns) {
    PC_TRY(pc_csv_scan_cell(scan, &cell, err));
    if (pc_slice_missing(cell.text))
      continue;
    if (csv_head_is_number(cell.text, &value)) {
      counting &= value == (double)numbers;
      numbers++;
    } else {
      texts++;
    }
  }
  *is_header = numbers == 0 ? texts > 0 : counting && numbers >= CSV_HEAD_COUNTED;
  return PCAL_OK;
}

/* One block: the pointers, then the letters; `letters` bounds their number. */
static pcal_status csv_head_names(pc_csv_scan scan, size_t columns, size_t letters,
                                  const pcal_env *env, const char ***out, pcal_error *err) {
  const size_t pointers = columns * sizeof(char *);
  char *block = pc_alloc_raw(env, pointers + letters + columns, 1);
  if (block == NULL)
    return pc_fail_memory(err, "reading a header");
  const char **names = (const char **)(void *)block;
  char *at = block + pointers;
  *out = names;
  for (size_t column = 0; column < columns; column++) {
    pc_csv_cell cell;
    const uint64_t line = scan.line;
    PC_TRY(pc_csv_scan_cell(&scan, &cell, err));
    if (!pc_slice_readable(cell.text))
      return pc_fail(err, PCAL_DATA,
                     "%s, line %" PRIu64
                     ": the name of column %zu is not valid UTF-8; save the file as UTF-8",
                     scan.name, line, column);
    names[column] = at;
    at += pc_csv_cell_copy(&cell, at);
    *at++ = '\0';
  }
  return PCAL_OK;
}

static pcal_status csv_head_fill(const pc_bytes *bytes, char delimiter, const pcal_env *env,
                                 pc_csv_head *out, pcal_error *err) {
  int is_header = 0;
  PC_TRY(csv_head_check_text(bytes, err));
  csv_head_begin(bytes, delimiter, &out->data);
  pc_csv_scan after = out->data;
  if (pc_csv_scan_blank(&after))
    return pc_fail(err, PCAL_DATA, "%s, line 1 is blank; delete it", bytes->name);
  PC_TRY(csv_head_look(&after, &out->columns, &is_header, err));
  if (!is_header)
    return PCAL_OK;
  PC_TRY(csv_head_names(out->data, out->columns, (size_t)(after.at - out->data.at), env,
                        &out->names, err));
  out->data = after;
  if (after.at == after.end)
    return pc_fail(err, PCAL_DATA,
                   "%s has a header but no rows; give a file with at least one row",
                   bytes->name);
  return PCAL_OK;
}

pcal_status pc_csv_head_read(const pc_bytes *bytes, char delimiter, const pcal_env *env,
                             pc_csv_head *out, pcal_error *err) {
  *out = (pc_csv_head){0};
  const pcal_status status = csv_head_fill(bytes, delimiter, env, out, err);
  if (status != PCAL_OK)
    pc_csv_head_free(env, out);
  return status;
}

void pc_csv_head_free(const pcal_env *env, pc_csv_head *head) {
  pc_free(env, head->names);
  head->names = NULL;
}
