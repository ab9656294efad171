/* Intervals of calibration errors by test inversion; they keep their level near zero too. */
#ifndef PC_INTERVAL_INVERSION_H
#define PC_INTERVAL_INVERSION_H

#include "measure/replicas/replica_views.h"
#include "measure/results.h"

#define PC_INVERSION_NULLS 200 /* most draws of labels from the predictions */

/* True if test inversion applies to an entry: its value is a norm of gaps with an upper bound
 * (pc_metric_config.most), and its replicas can be evaluated at gap points.  rows NULL: they were
 * tallied (replica_tally.h). */
int pc_interval_inversion_applies(const pc_measure_plan *plan, size_t entry,
                                  const pc_kept_rows *rows);

/* Fills the intervals of the entries with entries[e] != 0, whose values must be finite.  found: the
 * rows of the rarer outcome; rarer: values with more of them (rarer_rows.h), NULL if there are
 * enough. */
struct pc_rarer;
PC_CHECKED pcal_status pc_interval_inversion(const pcal_env *env, pc_replica_views *views,
                                             const uint8_t *entries,
                                             const struct pc_rarer *found, const double *rarer,
                                             pc_result_record *records, pcal_error *err);

#endif
