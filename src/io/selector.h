/* File names with column selectors: "logits.npy", "data.csv:label", "data.csv:cat..dog",
 * "data.csv:a,b,c", "-:3".
 *
 *  - the selector starts at the last colon, unless the whole text names an existing file or
 *    it is part of the directory ("/x:y/data.csv", "C:\data.csv");
 *  - columns are chosen by name or, if no column has that name, by number counted from 0;
 *  - "first..last" is the range from first to last, both included;
 *  - a selector or an item that equals the name of a column is that column, even if it
 *    contains a comma or dots. */
#ifndef PC_SELECTOR_H
#define PC_SELECTOR_H

#include "base/memory.h"

typedef struct pc_selector {
  char *path;          /* owned */
  const char *columns; /* in the block of path; NULL: every column */
} pc_selector;

/* whole_exists: the whole text names an existing file.  Fails with PCAL_USAGE. */
PC_CHECKED pcal_status pc_selector_split(const char *text, int whole_exists,
                                         const pcal_env *env, pc_selector *out,
                                         pcal_error *err);
void pc_selector_free(const pcal_env *env, pc_selector *selector);

/* The columns of a file; names is NULL if they have none. */
typedef struct pc_column_set {
  const char *file;
  const char *const *names;
  size_t count;
} pc_column_set;

/* Finds the chosen columns, in the given order; NULL chooses all.  The caller frees
 * *chosen.  Fails with PCAL_USAGE for a column that does not exist or is chosen twice. */
PC_CHECKED pcal_status pc_selector_columns(const char *columns, const pc_column_set *set,
                                           const pcal_env *env, size_t **chosen, size_t *count,
                                           pcal_error *err);

#endif
