/* Files that hold several named arrays: which of them is meant. */
#ifndef PC_MEMBERS_H
#define PC_MEMBERS_H

#include "io/names.h"

/* How a format speaks of what it holds. */
typedef struct pc_member_words {
  const char *one, *many; /* "array", "arrays" */
} pc_member_words;

/* Finds the member called `wanted`; NULL takes the only one.  Fails with PCAL_USAGE and a
 * sentence that lists the names, which must not be none. */
PC_CHECKED pcal_status pc_member_choose(const char *file, const pc_names *names,
                                        const char *wanted, const pc_member_words *words,
                                        uint32_t *out, pcal_error *err);

/* "file.npz:logits" in a block of the caller's, or NULL. */
char *pc_member_name(const pcal_env *env, const char *file, const char *member);

#endif
