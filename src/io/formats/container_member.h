/* Members of containers: files with several named arrays or fields. */
#ifndef PC_CONTAINER_MEMBER_H
#define PC_CONTAINER_MEMBER_H

#include "io/name_table.h"

/* What a format calls its members. */
typedef struct pc_container_member_words {
  const char *one, *many; /* "array", "arrays" */
} pc_container_member_words;

/* Finds the member called `wanted`, or the only one if NULL.  Fails with PCAL_USAGE and a
 * message that lists the names.  There must be at least one name. */
PC_CHECKED pcal_status pc_container_member_choose(const char *file, const pc_name_table *names,
                                                  const char *wanted,
                                                  const pc_container_member_words *words,
                                                  uint32_t *out, pcal_error *err);

/* Allocates "file.npz:logits", owned by the caller; NULL without memory. */
char *pc_container_member_name(const pcal_env *env, const char *file, const char *member);

#endif
