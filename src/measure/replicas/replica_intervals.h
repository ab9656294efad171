/* Intervals and null distributions by measuring kept rows again. */
#ifndef PC_REPLICA_INTERVALS_H
#define PC_REPLICA_INTERVALS_H

#include "machines/machine_rows.h"
#include "measure/results.h"

/* Blocks of rows for the jackknife. */
#define PC_JACKKNIFE_BLOCKS 50
#define PC_JACKKNIFE_PAIR_BLOCKS 20 /* for metrics over pairs, whose every value is dear */

/* Values of each entry (the inner ones where it has some) that the caller keeps: in each
 * replica and, for metrics over pairs, without each block; NaN where there is none.  And the
 * rows, which the caller frees; none when they take more than PC_REPLICA_OUTPUT_ROWS_MAX bytes. NULL:
 * not kept. */
#define PC_REPLICA_OUTPUT_ROWS_MAX ((size_t)1 << 28)
typedef struct pc_replica_output {
  double *replicas, *left_out;
  pc_kept_rows *rows;
} pc_replica_output;

/* Fills the interval_result of those records (one for each entry of the plan) that need replicas; `keep`
 * is the state of the plan's keep slot, and `how` says what is drawn. */
PC_CHECKED pcal_status pc_replica_intervals(const pcal_env *env, const pc_measure_plan *plan,
                                            const void *keep, const pc_distinct_rule *how,
                                            const pc_replica_output *values,
                                            pc_result_record *records, pcal_error *err);

#endif
