/* Copies many blocks of memory with all threads, so that new memory is first written by all
 * of them. */
#ifndef PC_COPY_PIECES_H
#define PC_COPY_PIECES_H

#include "base/memory.h"

typedef struct pc_copy_piece {
  void *to;
  const void *from; /* does not overlap the destination of any piece */
  size_t bytes;
} pc_copy_piece;

PC_CHECKED pcal_status pc_copy_pieces(const pcal_env *env, pc_copy_piece *pieces, size_t count,
                                      pcal_error *err);

#endif
