/* All rows of a source in memory, as doubles, so that several threads can read them at once. */
#ifndef PC_MEMORY_SOURCE_H
#define PC_MEMORY_SOURCE_H

#include "base/arena.h"
#include "data/rows.h"

#define PC_MEMORY_SOURCE_BYTES ((uint64_t)256 << 20)

typedef struct pc_memory_source {
  pcal_batch batch; /* rows is 0 if there were too many rows to keep */
  const char *const *class_names;
  pc_arena arena; /* holds the arrays of the batch */
} pc_memory_source;

/* Reads the source from its first row on.  More than PC_MEMORY_SOURCE_BYTES, or an eighth of the
 * memory limit, are not kept.  `source` must outlive the rows.  Close them also after a
 * failure. */
PC_CHECKED pcal_status pc_memory_source_read(pcal_source *source, const pcal_env *env,
                                             pc_memory_source *out, pcal_error *err);
void pc_memory_source_close(pc_memory_source *rows); /* a zeroed struct is allowed */

/* Opens a source of these rows; the caller frees it. */
PC_CHECKED pcal_status pc_memory_source_open(const pc_memory_source *rows, const pcal_env *env,
                                             pcal_source **out, pcal_error *err);

#endif
