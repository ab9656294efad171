/* The census of a measure: which rows of the data set it has met, and in which row each group
 * was met first.  Rows count here whether or not they count in the results. */
#ifndef PC_ROW_RANGES_H
#define PC_ROW_RANGES_H

#include "base/memory.h"

typedef struct pc_row_range {
  uint64_t first, last; /* both included */
} pc_row_range;

/* More ranges than this are not kept: then it is no longer known which rows were met. */
#define PC_ROW_RANGES_MAX 4096

typedef struct pc_row_ranges {
  const pcal_env *env;
  pc_row_range *ranges; /* ascending, with rows that were not met between them */
  size_t range_count, range_capacity;
  int scattered;        /* there were too many ranges; none is kept */
  uint64_t *first_rows; /* by group number; PCAL_NO_ROW: not met */
  size_t group_count, group_capacity;
  size_t expected; /* groups of the batch that pc_row_ranges_prepare has seen last */
} pc_row_ranges;

void pc_row_ranges_init(pc_row_ranges *census, const pcal_env *env);
void pc_row_ranges_free(pc_row_ranges *census);

/* Makes room for the rows of a batch, which pc_row_ranges_add then cannot fail to add. */
PC_CHECKED pcal_status pc_row_ranges_prepare(pc_row_ranges *census, const pcal_batch *batch,
                                             pcal_error *err);
void pc_row_ranges_add(pc_row_ranges *census, const pcal_batch *batch);
/* Groups that there will be after pc_row_ranges_add, whatever happens to the batch meanwhile. */
size_t pc_row_ranges_group_count(const pc_row_ranges *census);

/* Makes room for groups 0 .. count-1, and for ranges. */
PC_CHECKED pcal_status pc_row_ranges_reserve_groups(pc_row_ranges *census, size_t count,
                                                    pcal_error *err);
PC_CHECKED pcal_status pc_row_ranges_reserve(pc_row_ranges *census, size_t count,
                                             pcal_error *err);

/* The same for another census, whose group g is called map[g] here (NULL: g; SIZE_MAX: left
 * out). */
PC_CHECKED pcal_status pc_row_ranges_prepare_merge(pc_row_ranges *into,
                                                   const pc_row_ranges *from, const size_t *map,
                                                   pcal_error *err);
void pc_row_ranges_merge(pc_row_ranges *into, const pc_row_ranges *from, const size_t *map);

/* Was a row of the batch met before?  *out is then the first range of such rows. */
int pc_row_ranges_contain(const pc_row_ranges *census, const pcal_batch *batch,
                          pc_row_range *out);

/* Was a row met by both?  *out is then the first range of such rows. */
int pc_row_ranges_overlap(const pc_row_ranges *a, const pc_row_ranges *b, pc_row_range *out);

#endif
