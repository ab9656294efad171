/* The groups of a fit, overlapping where names are combinations, and which a name belongs to. */
#ifndef PC_BOOSTING_SETS_H
#define PC_BOOSTING_SETS_H

#include "base/memory.h"
#include "io/group_reader.h"

#define PC_BOOSTING_SETS_OF_ROW (1u << PC_GROUP_COLUMNS_MAX) /* all rows and its groups */

/* Set 0 is all rows and has no name; the others are sorted: fewer columns first, then
 * by name. */
typedef struct pc_boosting_sets {
  size_t count;
  char **names;
} pc_boosting_sets;

/* Numbers of the sets that contain a row, ascending. */
typedef struct pc_boosting_membership {
  size_t count;
  uint32_t sets[PC_BOOSTING_SETS_OF_ROW];
} pc_boosting_membership;

/* Memory of the names comes from env, which frees it.  Fails if there are more than `most`. */
PC_CHECKED pcal_status pc_boosting_sets_new(const pcal_env *env, const char *const *names,
                                            size_t count, size_t most, pc_boosting_sets *out,
                                            pcal_error *err);

/* The sets of rows called `name`; the last one is that of the whole name, if it is a set. */
void pc_boosting_sets_of(const pc_boosting_sets *sets, const char *name,
                         pc_boosting_membership *out);

#endif
