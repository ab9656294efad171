/* The rows of a chunk, group by group. */
#ifndef PC_GROUP_ROWS_H
#define PC_GROUP_ROWS_H

#include "data/rows.h"

/* Receives the rows of one group. */
typedef pcal_status (*pc_group_rows_add)(void *user, uint64_t group, const pc_rows *rows,
                                         pcal_error *err);

/* Space for one chunk, of one worker.  Zeroed: not open yet. */
typedef struct pc_group_rows {
  pc_scratch scratch;
  size_t *positions;
} pc_group_rows;

/* Allocates the space at the first call. */
PC_CHECKED pcal_status pc_group_rows_open(const pcal_env *env, const pc_layout *layout,
                                          pc_group_rows *space, pcal_error *err);
void pc_group_rows_free(const pcal_env *env, pc_group_rows *space); /* or a zeroed one */

/* Passes the groups of a chunk to `add` one after the other, by ascending number. */
PC_CHECKED pcal_status pc_group_rows_each(const pc_rows *rows, const pc_group_rows *space,
                                          pc_group_rows_add add, void *user, pcal_error *err);

#endif
