/* Which rows of the data set a measure has seen, and the first row of each group.  Rows with
 * weight 0 or missing values count too. */
#ifndef PC_ROW_RANGES_H
#define PC_ROW_RANGES_H

#include "base/memory.h"

typedef struct pc_row_range {
  uint64_t first, last; /* both inclusive */
} pc_row_range;

typedef struct pc_row_ranges {
  const pcal_env *env;
  pc_row_range *ranges; /* ascending, disjoint and not adjacent */
  size_t range_count, range_capacity;
  uint64_t *first_rows; /* by group number; PCAL_NO_ROW: not seen */
  size_t group_count, group_capacity;
  size_t expected; /* groups of the batch of the last pc_row_ranges_prepare */
} pc_row_ranges;

void pc_row_ranges_init(pc_row_ranges *seen, const pcal_env *env);
void pc_row_ranges_free(pc_row_ranges *seen);

/* Allocates what the rows of a batch need; pc_row_ranges_add then cannot fail. */
PC_CHECKED pcal_status pc_row_ranges_prepare(pc_row_ranges *seen, const pcal_batch *batch,
                                             pcal_error *err);
void pc_row_ranges_add(pc_row_ranges *seen, const pcal_batch *batch);
/* The number of groups after pc_row_ranges_add, as counted by prepare: the caller may overwrite
 * the batch meanwhile. */
size_t pc_row_ranges_group_count(const pc_row_ranges *seen);

/* PCAL_DATA: more than PC_GROUPS_MAX groups. */
#define PC_GROUPS_MAX 1048576
PC_CHECKED pcal_status pc_groups_check(size_t count, pcal_error *err);

/* Reserve memory for groups 0 .. count - 1, and for `count` ranges. */
PC_CHECKED pcal_status pc_row_ranges_reserve_groups(pc_row_ranges *seen, size_t count,
                                                    pcal_error *err);
PC_CHECKED pcal_status pc_row_ranges_reserve(pc_row_ranges *seen, size_t count,
                                             pcal_error *err);

/* The same for merging: group g of `from` is group map[g] here (map NULL: g; SIZE_MAX:
 * ignored). */
PC_CHECKED pcal_status pc_row_ranges_prepare_merge(pc_row_ranges *into,
                                                   const pc_row_ranges *from, const size_t *map,
                                                   pcal_error *err);
void pc_row_ranges_merge(pc_row_ranges *into, const pc_row_ranges *from, const size_t *map);

/* True if a row of the batch was seen before; *out: the first range of such rows. */
int pc_row_ranges_contain(const pc_row_ranges *seen, const pcal_batch *batch,
                          pc_row_range *out);

/* True if a row was seen by both; *out: the first range of such rows. */
int pc_row_ranges_overlap(const pc_row_ranges *a, const pc_row_ranges *b, pc_row_range *out);

#endif
