/* Edge cases:
 *  1. the group is the text of the cell: "1" and "1.0" are different groups, and "NA" is a
 *     group; numbers of a npy file are converted to their shortest text.
 *  2. an empty cell, or NaN in a npy file, is refused.
 *  3. more than PC_NAME_TABLE_MAX groups are refused. */
#include "io/group_reader.h"

void pc_group_reader_init(pc_group_reader *groups, pc_reader *reader, const pcal_env *env) {
  *groups = (pc_group_reader){.reader = reader};
  pc_name_table_init(&groups->names, env);
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

static pcal_status group_reader_number(pc_group_reader *groups, pc_slice text, size_t row,
                                       uint64_t index, uint32_t *out, pcal_error *err) {
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
  char period[PC_PERIOD_NAME_MAX];
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
  PC_TRY(pc_reader_next(groups->reader, max_rows, &window, err));
  void *buffer = groups->buffer;
  const pcal_status status = pc_reserve(groups->reader->env, &buffer, &groups->capacity,
                                        window.rows, sizeof *groups->buffer, err);
  groups->buffer = buffer;
  PC_TRY(status);
  for (size_t i = 0; i < window.rows; i++)
    PC_TRY(group_reader_number(groups, ((const pc_slice *)window.data)[i], i, first_row + i,
                               &groups->buffer[i], err));
  *out = groups->buffer;
  *rows = window.rows;
  return PCAL_OK;
}

void pc_group_reader_free(pc_group_reader *groups) {
  if (groups->buffer != NULL)
    pc_free(groups->reader->env, groups->buffer);
  pc_name_table_free(&groups->names);
  *groups = (pc_group_reader){0};
}
