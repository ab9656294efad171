/* A source whose rows are made from those of another source, window by window. */
#ifndef PC_SOURCE_DERIVED_H
#define PC_SOURCE_DERIVED_H

#include "base/memory.h"

/* `to` comes as a copy of `from`, which has rows; the step changes what it makes anew, keeps it
 * alive until it is called again, and may leave rows out. */
typedef pcal_status (*pc_source_derive_step)(void *user, const pcal_batch *from, pcal_batch *to,
                                             pcal_error *err);

/* Zeroed: not in use. */
typedef struct pc_source_derived {
  pcal_source *base; /* outlives the derived source; nobody else reads it meanwhile */
  pc_source_derive_step step;
  void *user;
  pcal_kind kind; /* of what comes out */
  pcal_type type;
  size_t columns;
  size_t window; /* rows of a step at most */
  int thinned;   /* rows are left out; the others are counted from 0 */
} pc_source_derived;

/* As pc_source_next, for a source that has given out `position` rows. */
PC_CHECKED pcal_status pc_source_derived_next(const pc_source_derived *derived, size_t max_rows,
                                              uint64_t position, pcal_batch *out,
                                              pcal_error *err);
void pc_source_derived_shape(const pc_source_derived *derived, pcal_shape *out);

#endif
