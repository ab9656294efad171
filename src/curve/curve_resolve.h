/* From scores in memory to a curve that is resolved only where a metric needs it. */
#ifndef PC_CURVE_RESOLVE_H
#define PC_CURVE_RESOLVE_H

#include "curve/bucket_curve.h"

/* Marks the entries of a table of segments that must be known score by score, and returns how
 * many it marked; 0: the table is exact for the metric. */
typedef size_t (*pc_curve_wants)(const void *user, const pc_curve_table *table,
                                 uint8_t *wanted);

/* Sets *level to the level of the cells (point_masses.h) whose borders no entry of a table of
 * segments may cross, or to PC_EACH_SCORE; leaves it at 0 if the table is exact for the metric. */
typedef pcal_status (*pc_curve_cells)(const void *user, const pc_curve_table *table,
                                      unsigned *level, pcal_error *err);

/* What metrics need to know of a curve. */
typedef struct pc_curve_question {
  pc_curve_wants wants;
  pc_curve_cells cells; /* NULL: no metric joins scores in cells */
  const void *user;
  int squares; /* a metric needs the sums of squared scores of segments */
} pc_curve_question;

/* Builds a curve from the scores of misses and of hits; freed with pc_curve_table_free.
 * asked NULL: sorts all scores, the result is a table of scores.
 * Otherwise the result is a table of segments that is exact: a few passes over the scores, by all
 * threads of the environment, replace the sort.  Columns with weights, and short ones, are always
 * sorted. */
PC_CHECKED pcal_status pc_curve_resolve(const pcal_env *env, const pc_outcome_column *misses,
                                        const pc_outcome_column *hits,
                                        const pc_curve_question *asked, pc_curve_table *out,
                                        pcal_error *err);

#endif
