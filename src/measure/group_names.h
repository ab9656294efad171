/* Names of groups, their order in results, and how they match when measures are merged. */
#ifndef PC_GROUP_NAMES_H
#define PC_GROUP_NAMES_H

#include "measure/measure.h"

#define PC_GROUP_NUMBER_MAX 24

/* True if groups have names; otherwise they are named by their numbers. */
int pc_groups_have_names(const pcal_measure *measure);

/* The name of a group: as given, or its number, written to `buffer`. */
const char *pc_group_name(const pcal_measure *measure, size_t number,
                          char buffer[PC_GROUP_NUMBER_MAX]);

/* The order of names in results: whole numbers first, by value; then other names, by their
 * bytes. */
int pc_group_name_before(const char *a, const char *b);

/* The numbers of the groups in the order of results; the caller frees *out.  Named groups:
 * those with rows, by name: whole numbers by value, then other names by their bytes.  Groups
 * without names: all numbers from 0 to the highest.  The order does not depend on the order of
 * rows, batches or merges. */
PC_CHECKED pcal_status pc_group_order(const pcal_measure *measure, size_t **out, size_t *count,
                                      pcal_error *err);

/* How the groups of another measure map to those of this one. */
typedef struct pc_group_merge {
  size_t *map; /* by the other's numbers; SIZE_MAX: group without rows; NULL: same numbers */
  char **names;
  size_t name_count; /* names of all groups after the merge; 0: names do not change */
} pc_group_merge;

/* Matches groups by name if both measures have names, else by number.  Fails if a name occurs
 * twice.  Freed with pc_group_merge_free. */
PC_CHECKED pcal_status pc_group_merge_match(const pcal_measure *measure,
                                            const pcal_measure *other, pc_group_merge *out,
                                            pcal_error *err);
void pc_group_merge_free(const pcal_env *env, pc_group_merge *merge);

#endif
