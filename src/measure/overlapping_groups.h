/* The groups of results.
 *
 * Rows with several group columns are kept by the combination of their values, called
 * "site=north & sex=f" (io/group_reader.h).  Each combination belongs to several groups of
 * results: one for each nonempty set of columns, here "site=north", "sex=f" and
 * "site=north & sex=f".  Groups with other names are shown as they are. */
#ifndef PC_OVERLAPPING_GROUPS_H
#define PC_OVERLAPPING_GROUPS_H

#include "measure/measure.h"

typedef struct pc_result_groups {
  const pcal_env *env;
  size_t count;
  char **names;
  size_t *ends;    /* the members of group g end before members[ends[g]] */
  size_t *members; /* numbers of the measure's groups, group after group */
  size_t capacity, end_capacity, member_capacity;
} pc_result_groups;

/* The groups in the order of results: those of one column first, then those of two, ...; the
 * groups of a set of columns by name.  Combinations of more than PC_GROUP_COLUMNS_MAX columns are
 * shown alone.  combined = 0: shows each of the measure's groups alone.  Freed with
 * pc_result_groups_free, also after a failure. */
PC_CHECKED pcal_status pc_result_groups_new(const pcal_measure *measure, int combined,
                                            pc_result_groups *out, pcal_error *err);
void pc_result_groups_free(pc_result_groups *groups);

/* The number of fields COLUMN=VALUE of a name; 1 for a name that is no combination of at most
 * PC_GROUP_COLUMNS_MAX columns. */
size_t pc_group_fields(const char *name);

/* The name of a combination, restricted to the columns of a set: bit c is column c; set 0: the
 * name as it is.  The caller frees *out. */
PC_CHECKED pcal_status pc_group_part(const pcal_env *env, const char *name, unsigned set,
                                     char **out, pcal_error *err);

/* The order of groups of the same columns, as strcmp: field by field, whole numbers before other
 * values and by value. */
int pc_group_parts_order(const char *a, const char *b);

/* True if every field of `part` is one of the fields of `name`: rows called `name` belong to the
 * group `part`. */
int pc_group_is_part(const char *part, const char *name);

/* The members of a group. */
const size_t *pc_result_group_members(const pc_result_groups *groups, size_t group,
                                      size_t *count);

#endif
