/* What a user writes for a file: "logits.npy", "data.csv:label", "data.csv:cat..dog",
 * "data.csv:a,b,c", "-:3".
 *
 *  - the selector starts at the last colon, unless the whole text names a file that exists or
 *    a slash follows the colon;
 *  - columns are chosen by name or, where no column has that name, by number counted from 0;
 *  - "first..last" takes both ends and what lies between them;
 *  - a selector or an item that is exactly the name of a column is that column, even if it
 *    holds a comma or dots. */
#ifndef PC_SELECTOR_H
#define PC_SELECTOR_H

#include "base/memory.h"

typedef struct pc_selector {
  char *path;          /* owned */
  const char *columns; /* inside path's block, or NULL: every column */
} pc_selector;

/* whole_exists says that the whole text names a file.  Fails with PCAL_USAGE. */
PC_CHECKED pcal_status pc_selector_split(const char *text, int whole_exists,
                                         const pcal_env *env, pc_selector *out,
                                         pcal_error *err);
void pc_selector_free(const pcal_env *env, pc_selector *selector);

/* The columns that a file has.  names is NULL for a file without names. */
typedef struct pc_column_set {
  const char *file;
  const char *const *names;
  size_t count;
} pc_column_set;

/* Finds the chosen columns, in the order written; columns NULL chooses all.  *chosen is owned
 * by the caller.  Fails with PCAL_USAGE for what does not exist or occurs twice. */
PC_CHECKED pcal_status pc_selector_columns(const char *columns, const pc_column_set *set,
                                           const pcal_env *env, size_t **chosen, size_t *count,
                                           pcal_error *err);

#endif
