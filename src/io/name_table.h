/* A hash table of names, numbered in the order in which they were added. */
#ifndef PC_NAME_TABLE_H
#define PC_NAME_TABLE_H

#include "base/memory.h"
#include "io/slice.h"

#define PC_NAME_TABLE_MAX (UINT32_C(1) << 20)

typedef struct pc_name_table {
  const pcal_env *env;
  char **text; /* the names, owned */
  size_t count, capacity;
  uint32_t *slots; /* number + 1, or 0 if free; slot_count is a power of two */
  size_t slot_count;
} pc_name_table;

void pc_name_table_init(pc_name_table *names, const pcal_env *env);
void pc_name_table_free(pc_name_table *names);

/* Returns 1 and sets *number if the name is in the table. */
int pc_name_table_find(const pc_name_table *names, pc_slice name, uint32_t *number);

/* Finds or adds a name; the table is unchanged on failure.  Fails with PCAL_MEMORY, or with
 * PCAL_DATA beyond PC_NAME_TABLE_MAX names. */
PC_CHECKED pcal_status pc_name_table_add(pc_name_table *names, pc_slice name, uint32_t *number,
                                         pcal_error *err);

/* The name nearest to a mistyped one, or NULL. */
const char *pc_name_table_nearest(const pc_name_table *names, pc_slice name);

#endif
