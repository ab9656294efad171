/* Two models on the same rows: the difference of every metric, with an interval and a p-value
 * from exchanging the models row by row. */
#ifndef PC_PAIRED_DIFFERENCE_H
#define PC_PAIRED_DIFFERENCE_H

#include "measure/results.h"

/* Fills the differences `results` - `other` of all records over all rows.  Both must have been
 * measured with the same metrics, paired, with an interval, on the same rows. */
PC_CHECKED pcal_status pc_paired_differences(pcal_results *results, const pcal_results *other,
                                             pcal_error *err);

/* The same for one record. */
PC_CHECKED pcal_status pc_paired_difference(pcal_results *results, const pcal_results *other,
                                            size_t metric, pcal_error *err);

/* Marks the differences of proper scores as differences of calibration errors.  Valid if the
 * predictions of one model are an injective function of the other's, which leaves sharpness
 * unchanged (Gruber & Buettner 2022, Proposition 4.5). */
void pc_paired_differences_mark_injective(pcal_results *results);

#endif
