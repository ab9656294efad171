/* Intervals of calibration errors that hold near zero too, by test inversion. */
#ifndef PC_INTERVAL_INVERSION_H
#define PC_INTERVAL_INVERSION_H

#include "measure/results.h"

/* Can the interval of an entry be found so?  Its value must be a norm of gaps, with a largest
 * possible value (pc_metric_config.most), whose replicas can be shown at gap points. */
int pc_interval_inversion_applies(const pc_measure_plan *plan, size_t entry,
                                  const pc_kept_rows *rows);

/* Fills the intervals of the chosen entries, whose values are finite. */
PC_CHECKED pcal_status pc_interval_inversion(const pcal_env *env, const pc_measure_plan *plan,
                                             const uint8_t *entries, const pc_kept_rows *rows,
                                             pc_result_record *records, pcal_error *err);

#endif
