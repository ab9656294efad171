/* Files that hold several named arrays: which of them is meant. */
#ifndef PC_CONTAINER_MEMBER_H
#define PC_CONTAINER_MEMBER_H

#include "io/name_table.h"

/* How a format speaks of what it holds. */
typedef struct pc_container_member_words {
  const char *one, *many; /* "array", "arrays" */
} pc_container_member_words;

/* Finds the member called `wanted`; NULL takes the only one.  Fails with PCAL_USAGE and a
 * sentence that lists the names, which must not be none. */
PC_CHECKED pcal_status pc_container_member_choose(const char *file, const pc_name_table *names,
                                                  const char *wanted,
                                                  const pc_container_member_words *words,
                                                  uint32_t *out, pcal_error *err);

/* "file.npz:logits" in a block of the caller's, or NULL. */
char *pc_container_member_name(const pcal_env *env, const char *file, const char *member);

#endif
