/* Two models on the same rows: the difference of every metric, with an interval and a p-value
 * from exchanging the two models row by row. */
#ifndef PC_PAIRED_DIFFERENCE_H
#define PC_PAIRED_DIFFERENCE_H

#include "measure/results.h"

/* Fills the differences `results` - `other` of the records over all rows.  Both were measured
 * with the same metrics, paired and with an interval, on the same rows. */
PC_CHECKED pcal_status pc_paired_differences(pcal_results *results, const pcal_results *other,
                                             pcal_error *err);

/* The same for the metric of one record. */
PC_CHECKED pcal_status pc_paired_difference(pcal_results *results, const pcal_results *other,
                                            size_t metric, pcal_error *err);

/* One model is an injective function of the other's predictions: marks the differences of
 * proper scores as those of their calibration errors (Gruber & Buettner 2022, Proposition 4.5:
 * such a map leaves sharpness alone). */
void pc_paired_differences_mark_injective(pcal_results *results);

#endif
