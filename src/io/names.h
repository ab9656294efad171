/* A table of names, numbered in the order in which they were added. */
#ifndef PC_NAMES_H
#define PC_NAMES_H

#include "core/memory.h"
#include "io/slice.h"

#define PC_NAMES_MAX (UINT32_C(1) << 20)

typedef struct pc_names {
  const pcal_env *env;
  char **text; /* the names, owned */
  size_t count, capacity;
  uint32_t *slots; /* number + 1, or 0; as many as a power of two */
  size_t slot_count;
} pc_names;

void pc_names_init(pc_names *names, const pcal_env *env);
void pc_names_free(pc_names *names);

/* Returns 1 and the number when the name is in the table. */
int pc_names_find(const pc_names *names, pc_slice name, uint32_t *number);

/* Finds or adds a name; the table is unchanged on failure.  Fails with PCAL_MEMORY, or with
 * PCAL_DATA beyond PC_NAMES_MAX names. */
PC_CHECKED pcal_status pc_names_add(pc_names *names, pc_slice name, uint32_t *number,
                                    pcal_error *err);

/* The name nearest to a mistyped one, or NULL. */
const char *pc_names_nearest(const pc_names *names, pc_slice name);

#endif
