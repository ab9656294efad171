#include "base/copy_pieces.h"

#include <string.h>

#include "base/executor.h"

#define COPY_BYTE_COST \
  1.0 /* nanoseconds, for the executor; the first write of a page is slow */

static pcal_status copy_piece(void *user, size_t index, size_t worker, pcal_error *err) {
  const pc_copy_piece *piece = (const pc_copy_piece *)user + index;
  (void)worker;
  (void)err;
  if (piece->bytes > 0)
    memcpy(piece->to, piece->from, piece->bytes);
  return PCAL_OK;
}

pcal_status pc_copy_pieces(const pcal_env *env, pc_copy_piece *pieces, size_t count,
                           pcal_error *err) {
  double bytes = 0.0;
  for (size_t i = 0; i < count; i++)
    bytes += (double)pieces[i].bytes;
  return pc_run(env, count, COPY_BYTE_COST * bytes, copy_piece, pieces, err);
}
