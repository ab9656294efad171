/* What the verdict reads, from evidence to results. */
#ifndef PC_JUDGED_BINS_H
#define PC_JUDGED_BINS_H

#include "measure/results.h"

/* Sets the bins of the natural view, and of samples and quantiles the ranks of their targets. */
PC_CHECKED pcal_status pc_judged_bins(const pcal_env *env, const pc_evidence *evidence,
                                      pcal_results *results, pcal_error *err);
/* Sets class_1_bins, or class_means of more than two classes; evidence of classes_slot. */
PC_CHECKED pcal_status pc_judged_classes(const pcal_env *env, const pc_evidence *evidence,
                                         pcal_results *results, pcal_error *err);

#endif
