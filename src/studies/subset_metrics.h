/* Metrics of many random subsets of the same rows.
 *
 * The bins of a row, its position among the sorted scores and its terms of sums are computed once.
 * A subset then costs a pass over its own rows, without a softmax, a sort or a search for bins.
 * Metrics that are neither sums, grids nor curves are measured on the rows of the subset in the
 * usual way. */
#ifndef PC_SUBSET_METRICS_H
#define PC_SUBSET_METRICS_H

#include "base/rng.h"
#include "measure/measure_plan.h"
#include "studies/study_probs.h"

/* Draws `count` of `rows` row numbers without replacement and writes them in ascending order;
 * every subset is equally likely.  marks: a bit for each row, all 0 before and after. */
void pc_subset_draw(const pc_rng *rng, size_t rows, size_t count, uint64_t *marks,
                    uint32_t *out);

/* 64-bit words that a bit set of `rows` rows needs. */
size_t pc_subset_words(size_t rows);

typedef struct pc_subset_metrics pc_subset_metrics;

/* Prepares metrics or groups; data must outlive it. */
PC_CHECKED pcal_status pc_subset_metrics_new(const pcal_env *env, const pc_study_probs *data,
                                             const char *const *specs, size_t count,
                                             pc_subset_metrics **out, pcal_error *err);
void pc_subset_metrics_free(pc_subset_metrics *metrics);

size_t pc_subset_metrics_count(const pc_subset_metrics *metrics);
/* Writes the short spec. */
void pc_subset_metrics_name(const pc_subset_metrics *metrics, size_t index, char *out,
                            size_t size);

/* True if some metric compares pairs of rows, or is measured on the rows of a subset for another
 * reason. */
int pc_subset_metrics_slow(const pc_subset_metrics *metrics);

/* True if the value is a score or a power of an error (PC_SQUARED). */
int pc_subset_metrics_squared(const pc_subset_metrics *metrics, size_t index);

/* Scratch memory of one thread; pc_subset_metrics_free frees it. */
typedef struct pc_subset_scratch pc_subset_scratch;

PC_CHECKED pcal_status pc_subset_scratch_new(const pc_subset_metrics *metrics,
                                             pc_subset_scratch **out, pcal_error *err);

/* Measures all metrics on distinct rows in ascending order.  A value that is undefined or infinite
 * is NaN, with its reason in why[metric]; why may be NULL. */
#define PC_SUBSET_REASON_MAX 192
PC_CHECKED pcal_status pc_subset_metrics_measure(
    const pc_subset_metrics *metrics, pc_subset_scratch *scratch, const uint32_t *rows,
    size_t count, double *values, char (*why)[PC_SUBSET_REASON_MAX], pcal_error *err);

#endif
