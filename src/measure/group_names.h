/* The roster of groups: what they are called, in which order they are told, and who is who when
 * measures are merged. */
#ifndef PC_GROUP_NAMES_H
#define PC_GROUP_NAMES_H

#include "measure/measure.h"

#define PC_GROUP_NUMBER_MAX 24

/* Do the groups have names?  Else they are called by their numbers. */
int pc_groups_have_names(const pcal_measure *measure);

/* The name of a group: given, or its number written into the buffer. */
const char *pc_group_name(const pcal_measure *measure, size_t number,
                          char buffer[PC_GROUP_NUMBER_MAX]);

/* The numbers of the groups to tell about, in a list that the caller frees.  Groups with names:
 * those that were met, by the row in which they were met first, equal ones by name.  Groups
 * without: all numbers from 0 to the highest.  Neither depends on how the data were cut. */
PC_CHECKED pcal_status pc_group_order(const pcal_measure *measure, size_t **out, size_t *count,
                                      pcal_error *err);

/* How the groups of another measure are called in this one. */
typedef struct pc_group_merge {
  size_t *map; /* by the other's numbers, SIZE_MAX for groups not met; NULL: as there */
  char **names;
  size_t name_count; /* the names of all groups after the merge; 0: they stay as they are */
} pc_group_merge;

/* By name when both have names, else by number.  Fails when a name is there twice. */
PC_CHECKED pcal_status pc_group_merge_match(const pcal_measure *measure,
                                            const pcal_measure *other, pc_group_merge *out,
                                            pcal_error *err);
void pc_group_merge_free(const pcal_env *env, pc_group_merge *merge);

#endif
