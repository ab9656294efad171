/* Record batches received through the Arrow C data interface. */
#ifndef PC_ARROW_TABLE_H
#define PC_ARROW_TABLE_H

#include "base/memory.h"

/* Batches are read from the stream on demand, and kept, except those without rows. */
typedef struct pc_arrow_table {
  const pcal_env *env;
  const char *name;               /* for messages */
  struct ArrowSchema schema;      /* of the batches; release is NULL if there is none */
  struct ArrowArrayStream stream; /* release is NULL after the last batch */
  struct ArrowArray single;       /* one array instead of a stream; used until the table is
                                     opened */
  struct ArrowArray *batches;
  size_t count, capacity;
  uint64_t rows;   /* in all batches so far */
  size_t empty;    /* batches without rows since the last one with rows */
  int takes_plain; /* accept plain arrays as one column; set before opening */
  int plain;       /* the batches were plain arrays */
  int ragged;      /* lists of scores may have different lengths; set before reading columns */
} pc_arrow_table;

/* Moves a stream, or a schema and one array, into a table and marks the originals as
 * released.  Unused arguments are NULL.  Free the table even if it is never opened. */
void pc_arrow_table_take(struct ArrowArrayStream *stream, struct ArrowSchema *schema,
                         struct ArrowArray *array, pc_arrow_table *out);

/* Reads the schema and the first nonempty batch.  name and env must outlive the table.
 * Fails with PCAL_DATA if there are no rows or no columns, or more than PC_ARROW_EMPTY_MAX
 * batches without rows in succession, with PCAL_IO if the stream fails. */
#define PC_ARROW_EMPTY_MAX 100000
PC_CHECKED pcal_status pc_arrow_table_open(pc_arrow_table *table, const char *name,
                                           const pcal_env *env, pcal_error *err);

/* Sets *out to batch `index`, valid until the next call; NULL after the last one. */
PC_CHECKED pcal_status pc_arrow_table_batch(pc_arrow_table *table, size_t index,
                                            const struct ArrowArray **out, pcal_error *err);

/* True if all batches have been read, so that table->rows is final. */
int pc_arrow_table_ended(const pc_arrow_table *table);

void pc_arrow_table_free(pc_arrow_table *table); /* a zeroed table is allowed */

#endif
