/* Record batches that came through the Arrow C data interface. */
#ifndef PC_ARROW_TABLE_H
#define PC_ARROW_TABLE_H

#include "base/memory.h"

/* Batches are pulled from the stream when they are wanted, and kept. */
typedef struct pc_arrow_table {
  const pcal_env *env;
  const char *name;               /* for sentences */
  struct ArrowSchema schema;      /* of the batches; release NULL: none */
  struct ArrowArrayStream stream; /* release NULL: nothing left to pull */
  struct ArrowArray single;       /* in place of a stream, until it is opened */
  struct ArrowArray *batches;
  size_t count, capacity;
  uint64_t rows;   /* in all batches so far */
  int takes_plain; /* arrays that are no record batches are a column; set before opening */
  int plain;       /* and they are */
} pc_arrow_table;

/* Moves a stream, or a schema and one array, into a table; what was moved is marked as released
 * where it came from.  Unused arguments are NULL.  To be freed even if it is never opened. */
void pc_arrow_table_take(struct ArrowArrayStream *stream, struct ArrowSchema *schema,
                         struct ArrowArray *array, pc_arrow_table *out);

/* Reads the schema and the first row; name and env must outlive the table.  Fails with
 * PCAL_DATA when there is no row or no table of columns, with PCAL_IO when the stream does. */
PC_CHECKED pcal_status pc_arrow_table_open(pc_arrow_table *table, const char *name,
                                           const pcal_env *env, pcal_error *err);

/* Batch `index`, valid until the next call; *out is NULL behind the last one. */
PC_CHECKED pcal_status pc_arrow_table_batch(pc_arrow_table *table, size_t index,
                                            const struct ArrowArray **out, pcal_error *err);

/* Is the number of rows final? */
int pc_arrow_table_ended(const pc_arrow_table *table);

void pc_arrow_table_free(pc_arrow_table *table); /* releases everything; a zeroed one is fine */

#endif
