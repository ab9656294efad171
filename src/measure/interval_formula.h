/* Intervals by formula: of functions of sums, and of means over blocks of rows. */
#ifndef PC_INTERVAL_FORMULA_H
#define PC_INTERVAL_FORMULA_H

#include "measure/interval_request.h"

/* With fewer rows of the rarer outcome intervals are unreliable. */
#define PC_INTERVAL_FEW_ROWS 10

/* The interval of a function of sums, by the delta method; of a share Wilson's. */
PC_CHECKED pcal_status pc_interval_of_sums(const pc_interval_request *request,
                                           const pc_metric *metric, const pc_options *options,
                                           const pc_evidence *evidence, const pcal_env *env,
                                           const pc_metric_result *outcome,
                                           pc_interval_result *out, pcal_error *err);

/* The interval of a value with a standard error of its own (pc_metric_config.has_se). */
void pc_interval_of_estimate(const pc_interval_request *request,
                             const pc_metric_result *outcome, pc_interval_result *out);

/* The interval of a mean over blocks of rows, from their variance. */
void pc_interval_of_blocks(const pc_interval_request *request, const pc_evidence *evidence,
                           const pc_metric_result *outcome, pc_interval_result *out);

/* Converts an interval of the inner value to the scale of the value.  The standard error is
 * divided by the slope there, or at 0 scaled by the ratio of widths. */
void pc_interval_unwrap(const pc_metric_result *outcome, double *se, pc_interval *interval);

/* Says that there is no interval, because too many of these replicas have no value. */
void pc_interval_lacks_replicas(size_t replicas, pc_interval_result *out);

/* Makes an interval contain its own estimate and, beyond that, stay in the range of its
 * metric. */
void pc_interval_bound(const pc_range *range, double value, pc_interval_result *out);

/* Adds a remark to an interval if fewer than PC_INTERVAL_FEW_ROWS rows are of the rarer kind:
 * "wrong", "right", "of class 1".  Intervals of shares and of means of losses keep their coverage
 * with few rows and get no remark. */
void pc_interval_warn_few(double rarer, double total, const char *kind,
                          pc_interval_result *out);

#endif
