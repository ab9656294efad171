/* Two models on the same rows: the difference of every metric, with an interval from replicas
 * that draw the same rows for both. */
#ifndef PC_VERSUS_H
#define PC_VERSUS_H

#include "measure/results.h"

/* Fills the differences `results` - `other` of the records over all rows.  Both were measured
 * with the same metrics, paired and with an interval, on the same rows. */
PC_CHECKED pcal_status pc_versus(pcal_results *results, const pcal_results *other,
                                 pcal_error *err);

#endif
