/* Edge cases:
 *  1. the group is the text of the cell: "1" and "1.0" are different groups, and "NA" is a
 *     group; numbers of a npy file are converted to their shortest text.
 *  2. an empty cell, or NaN in a npy file, is refused.
 *  3. more than PC_NAME_TABLE_MAX groups are refused.
 *  4. of several columns, one without a name is called by its number, and a value that contains
 *     PC_GROUP_AND is refused. */
#include "io/group_reader.h"

#include <string.h>

void pc_group_reader_init(pc_group_reader *groups, pc_reader *reader, const pcal_env *env) {
  *groups = (pc_group_reader){.reader = reader};
  pc_name_table_init(&groups->names, env);
  pc_text_init(&groups->joined, env);
}

static pcal_status group_reader_fail(const pc_group_reader *groups, size_t row, uint64_t index,
                                     const char *what, pcal_error *err) {
  const pc_place place = pc_reader_place(groups->reader, row, index);
  return pc_fail_at(err, PCAL_DATA, &place, "%-s", what);
}

static pcal_status group_reader_period(pc_group_reader *groups, pc_slice text, size_t row,
                                       uint64_t index, char name[PC_PERIOD_NAME_MAX],
                                       pcal_error *err) {
  int64_t seconds = 0;
  char shown[PC_CLIP_MAX];
  const char *wrong = pc_time_parse(text, &seconds);
  if (wrong != NULL) {
    const pc_place place = pc_reader_place(groups->reader, row, index);
    return pc_fail_at(err, PCAL_DATA, &place, "\"%s\" %-s", pc_clip(text, shown), wrong);
  }
  pc_period_name(groups->period, seconds, name);
  return PCAL_OK;
}

static pcal_status group_reader_check(const pc_group_reader *groups, pc_slice text, size_t row,
                                      uint64_t index, pcal_error *err) {
  const int is_text_file = groups->reader->calls->line(groups->reader, 0) > 0;
  if (text.length == 0 || (!is_text_file && pc_slice_is(text, "nan")))
    return group_reader_fail(groups, row, index,
                             groups->period == NULL
                                 ? "the group is missing; give every row a group"
                                 : "the time is missing; give every row a time",
                             err);
  if (!pc_slice_is_utf8(text))
    return group_reader_fail(groups, row, index,
                             groups->period == NULL
                                 ? "the group is not valid UTF-8; save the file as UTF-8"
                                 : "the time is not valid UTF-8; save the file as UTF-8",
                             err);
  return PCAL_OK;
}

static int group_reader_contains(pc_slice text, const char *part) {
  const size_t length = strlen(part);
  for (size_t i = 0; i + length <= text.length; i++)
    if (memcmp(text.bytes + i, part, length) == 0)
      return 1;
  return 0;
}

/* True if a name contains " & " or ends in " &": it would be read as two groups. */
static int group_reader_joins(pc_slice name) {
  return group_reader_contains(name, PC_GROUP_AND) ||
         (name.length >= 2 && memcmp(name.bytes + name.length - 2, PC_GROUP_AND, 2) == 0);
}

/* Fails if the name of one of several group columns contains " & " or ends in " &". */
static pcal_status group_reader_check_names(const pc_reader *reader, pcal_error *err) {
  for (size_t c = 0; c < reader->columns && reader->columns > 1 && reader->names != NULL; c++)
    if (group_reader_joins((pc_slice){reader->names[c], strlen(reader->names[c])}))
      return pc_fail(err, PCAL_DATA,
                     "the group column \"%s\" has \" &\" in its name, which joins the names of "
                     "several group columns; rename it",
                     reader->names[c]);
  return PCAL_OK;
}

/* The name of the combination of the groups of a row. */
static pcal_status group_reader_join(pc_group_reader *groups, const pc_slice *cells, size_t row,
                                     uint64_t index, pc_slice *out, pcal_error *err) {
  pc_text *joined = &groups->joined;
  joined->length = 0;
  for (size_t c = 0; c < groups->reader->columns; c++) {
    PC_TRY(group_reader_check(groups, cells[c], row, index, err));
    if (group_reader_joins(cells[c]))
      return group_reader_fail(
          groups, row, index,
          "the group contains \" & \" or ends in \" &\", which joins the names of several "
          "group columns; rename it",
          err);
    if (c > 0)
      pc_text_add(joined, PC_GROUP_AND);
    if (groups->reader->names != NULL)
      pc_text_add(joined, groups->reader->names[c]);
    else
      pc_text_format(joined, "%zu", c);
    pc_text_add(joined, "=");
    pc_text_add_bytes(joined, cells[c].bytes, cells[c].length);
  }
  if (joined->failed)
    return pc_fail_memory(err, "reading groups");
  *out = (pc_slice){joined->bytes, joined->length};
  return PCAL_OK;
}

static pcal_status group_reader_number(pc_group_reader *groups, const pc_slice *cells,
                                       size_t row, uint64_t index, uint32_t *out,
                                       pcal_error *err) {
  pc_slice text = cells[0];
  char period[PC_PERIOD_NAME_MAX];
  if (groups->reader->columns > 1)
    PC_TRY(group_reader_join(groups, cells, row, index, &text, err));
  else
    PC_TRY(group_reader_check(groups, text, row, index, err));
  if (groups->period != NULL) {
    PC_TRY(group_reader_period(groups, text, row, index, period, err));
    text = pc_slice_of(period);
  }
  const pcal_status status = pc_name_table_add(&groups->names, text, out, err);
  if (status == PCAL_DATA)
    return group_reader_fail(
        groups, row, index,
        groups->period == NULL
            ? "there are more than 1048576 groups; check that this is the right column"
            : "there are more than 1048576 periods; choose longer ones",
        err);
  return status;
}

pcal_status pc_group_reader_next(pc_group_reader *groups, size_t max_rows, uint64_t first_row,
                                 const uint32_t **out, size_t *rows, pcal_error *err) {
  pc_window window;
  PC_TRY(group_reader_check_names(groups->reader, err));
  PC_TRY(pc_reader_next(groups->reader, max_rows, &window, err));
  void *buffer = groups->buffer;
  const pcal_status status = pc_reserve(groups->reader->env, &buffer, &groups->capacity,
                                        window.rows, sizeof *groups->buffer, err);
  groups->buffer = buffer;
  PC_TRY(status);
  for (size_t i = 0; i < window.rows; i++)
    PC_TRY(group_reader_number(groups,
                               (const pc_slice *)window.data + i * groups->reader->columns, i,
                               first_row + i, &groups->buffer[i], err));
  *out = groups->buffer;
  *rows = window.rows;
  return PCAL_OK;
}

void pc_group_reader_free(pc_group_reader *groups) {
  if (groups->buffer != NULL)
    pc_free(groups->reader->env, groups->buffer);
  pc_name_table_free(&groups->names);
  pc_text_free(&groups->joined);
  *groups = (pc_group_reader){0};
}
