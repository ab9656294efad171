/* The census of a measure: which rows of the data set it has met, and in which row each group
 * was met first.  Rows count here whether or not they count in the results. */
#ifndef PC_CENSUS_H
#define PC_CENSUS_H

#include "core/memory.h"

typedef struct pc_row_range {
  uint64_t first, last; /* both included */
} pc_row_range;

/* More ranges than this are not kept: then it is no longer known which rows were met. */
#define PC_RANGES_MAX 4096

typedef struct pc_census {
  const pcal_env *env;
  pc_row_range *ranges; /* ascending, with rows that were not met between them */
  size_t range_count, range_capacity;
  int scattered;        /* there were too many ranges; none is kept */
  uint64_t *first_rows; /* by group number; PCAL_NO_ROW: not met */
  size_t group_count, group_capacity;
  size_t expected; /* groups of the batch that pc_census_prepare has seen last */
} pc_census;

void pc_census_init(pc_census *census, const pcal_env *env);
void pc_census_free(pc_census *census);

/* Makes room for the rows of a batch, which pc_census_add then cannot fail to add. */
PC_CHECKED pcal_status pc_census_prepare(pc_census *census, const pcal_batch *batch,
                                         pcal_error *err);
void pc_census_add(pc_census *census, const pcal_batch *batch);
/* Groups that there will be after pc_census_add, whatever happens to the batch meanwhile. */
size_t pc_census_groups(const pc_census *census);

/* Makes room for groups 0 .. count-1, and for ranges. */
PC_CHECKED pcal_status pc_census_grow_groups(pc_census *census, size_t count, pcal_error *err);
PC_CHECKED pcal_status pc_census_grow_ranges(pc_census *census, size_t count, pcal_error *err);

/* The same for another census, whose group g is called map[g] here (NULL: g; SIZE_MAX: left
 * out). */
PC_CHECKED pcal_status pc_census_prepare_merge(pc_census *into, const pc_census *from,
                                               const size_t *map, pcal_error *err);
void pc_census_merge(pc_census *into, const pc_census *from, const size_t *map);

/* Was a row of the batch met before?  *out is then the first range of such rows. */
int pc_census_met(const pc_census *census, const pcal_batch *batch, pc_row_range *out);

/* Was a row met by both?  *out is then the first range of such rows. */
int pc_census_overlap(const pc_census *a, const pc_census *b, pc_row_range *out);

#endif
