/* A source that transforms the rows of another source, window by window. */
#ifndef PC_SOURCE_DERIVED_H
#define PC_SOURCE_DERIVED_H

#include "base/memory.h"

/* Transforms one nonempty window.  `to` starts as a copy of `from`; the step replaces the
 * fields that it computes, keeps their memory valid until the next call, and may drop rows. */
typedef pcal_status (*pc_source_derive_step)(void *user, const pcal_batch *from, pcal_batch *to,
                                             pcal_error *err);

/* Zeroed: not in use. */
typedef struct pc_source_derived {
  pcal_source *base; /* must outlive the derived source; nobody else may read from it
                        meanwhile */
  pc_source_derive_step step;
  void *user;
  pcal_kind kind; /* of the derived rows */
  pcal_type type;
  size_t columns;
  size_t window; /* largest number of rows in a step */
  int thinned;   /* the step drops rows, and the remaining rows are numbered from 0 */
} pc_source_derived;

/* As pc_source_next; `position` is the number of rows returned so far. */
PC_CHECKED pcal_status pc_source_derived_next(const pc_source_derived *derived, size_t max_rows,
                                              uint64_t position, pcal_batch *out,
                                              pcal_error *err);
/* Number of rows of a window with `columns` columns. */
size_t pc_source_derived_window(size_t columns);

void pc_source_derived_shape(const pc_source_derived *derived, pcal_shape *out);

#endif
