/* Intervals and null distributions by measuring stored rows again. */
#ifndef PC_REPLICA_INTERVALS_H
#define PC_REPLICA_INTERVALS_H

#include "machines/machine_rows.h"
#include "measure/results.h"

/* Number of blocks of rows for the jackknife. */
#define PC_JACKKNIFE_BLOCKS 50
#define PC_JACKKNIFE_PAIR_BLOCKS 20 /* for metrics over pairs of rows, which are expensive */

/* Optional outputs for a later comparison; NULL: not kept.  Values are the inner ones if an
 * entry has them, NaN if there is none.  The caller frees the rows; none are returned if they
 * take more than PC_REPLICA_OUTPUT_ROWS_MAX bytes. */
#define PC_REPLICA_OUTPUT_ROWS_MAX ((size_t)1 << 28)
typedef struct pc_replica_output {
  double *replicas; /* [entry][replica] */
  double *left_out; /* metrics over pairs: [entry][block left out] */
  pc_kept_rows *rows;
} pc_replica_output;

/* Fills interval_result of the records (one for each entry of the plan) that need replicas.
 * rows: the state of the rows slot of the plan; rule: how its rows are drawn. */
PC_CHECKED pcal_status pc_replica_intervals(const pcal_env *env, const pc_measure_plan *plan,
                                            const void *rows, const pc_distinct_rule *rule,
                                            const pc_replica_output *values,
                                            pc_result_record *records, pcal_error *err);

/* The same from a tally of replicas. */
struct pc_replica_tally;
PC_CHECKED pcal_status pc_replica_intervals_tallied(const pcal_env *env,
                                                    const pc_measure_plan *plan,
                                                    const struct pc_replica_tally *tally,
                                                    pc_result_record *records, pcal_error *err);

#endif
