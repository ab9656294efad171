/* The key is a hash of the cell's text: "1" and "1.0" are different ids; numbers of a .npy file
 * are converted to their shortest text.  An empty cell, or NaN in a .npy file, is refused. */
#include "io/id_reader.h"

#include "base/rng.h"

static pcal_status id_reader_key(const pc_id_reader *ids, pc_slice text, size_t row,
                                 uint64_t index, uint64_t *out, pcal_error *err) {
  const int is_text_file = ids->reader->calls->line(ids->reader, 0) > 0;
  *out = pc_hash_bytes(text.bytes, text.length);
  if (text.length > 0 && (is_text_file || !pc_slice_is(text, "nan")))
    return PCAL_OK;
  const pc_place place = pc_reader_place(ids->reader, row, index);
  return pc_fail_at(err, PCAL_DATA, &place, "the id is missing; give every row an id");
}

pcal_status pc_id_reader_next(pc_id_reader *ids, size_t max_rows, uint64_t first_row,
                              const uint64_t **out, size_t *rows, pcal_error *err) {
  pc_window window;
  PC_TRY(pc_reader_next(ids->reader, max_rows, &window, err));
  void *buffer = ids->buffer;
  const pcal_status status = pc_reserve(ids->reader->env, &buffer, &ids->capacity, window.rows,
                                        sizeof *ids->buffer, err);
  ids->buffer = buffer;
  PC_TRY(status);
  for (size_t i = 0; i < window.rows; i++)
    PC_TRY(id_reader_key(ids, ((const pc_slice *)window.data)[i], i, first_row + i,
                         &ids->buffer[i], err));
  *out = ids->buffer;
  *rows = window.rows;
  return PCAL_OK;
}

void pc_id_reader_free(pc_id_reader *ids) {
  if (ids->buffer != NULL)
    pc_free(ids->reader->env, ids->buffer);
  *ids = (pc_id_reader){0};
}
