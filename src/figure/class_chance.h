/* The calibration error of a class that chance alone causes. */
#ifndef PC_CLASS_CHANCE_H
#define PC_CLASS_CHANCE_H

#include "figure/figure_registry.h"
#include "stats/expected_ece.h"

/* Mean and standard deviation of the binned error of a class for a calibrated model with the same
 * scores.  The bins must be narrow, such as those of equal width of sce: scores in a bin count as
 * equal.  Both are NaN if the record has no bins. */
pc_chance_ece pc_class_chance(const pcal_results *results, const pc_result_record *record,
                              size_t class);

#endif
