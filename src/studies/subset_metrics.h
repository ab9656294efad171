/* Metrics of many random subsets of the same rows.
 *
 * What a metric needs of a row is found once: its bins, its place among the sorted scores, its
 * terms of a sum.  A subset then costs a walk over its own rows, without a softmax, a sort or a
 * search for bins.  Metrics that are neither sums, grids nor curves are measured on the rows of
 * the subset, the long way. */
#ifndef PC_SUBSET_METRICS_H
#define PC_SUBSET_METRICS_H

#include "base/rng.h"
#include "measure/measure_plan.h"
#include "studies/study_probs.h"

/* Writes `count` of `rows` row numbers, ascending and drawn without replacement; every subset
 * is equally likely.  marks has a bit for each row, all 0 before and after. */
void pc_subset_draw(const pc_rng *rng, size_t rows, size_t count, uint64_t *marks,
                    uint32_t *out);

/* Words of 64 bits for so many rows. */
size_t pc_subset_words(size_t rows);

typedef struct pc_subset_metrics pc_subset_metrics;

/* specs are metrics or groups; the data outlive it, and it takes them as probabilities. */
PC_CHECKED pcal_status pc_subset_metrics_new(const pcal_env *env, const pc_study_probs *data,
                                             const char *const *specs, size_t count,
                                             pc_subset_metrics **out, pcal_error *err);
void pc_subset_metrics_free(pc_subset_metrics *metrics);

size_t pc_subset_metrics_count(const pc_subset_metrics *metrics);
/* The spec, as short as it can be. */
void pc_subset_metrics_name(const pc_subset_metrics *metrics, size_t index, char *out,
                            size_t size);

/* True if the value is a score or a power of an error already: see PC_SQUARED. */
int pc_subset_metrics_squared(const pc_subset_metrics *metrics, size_t index);

/* What one thread works with. */
typedef struct pc_subset_scratch pc_subset_scratch;

PC_CHECKED pcal_status pc_subset_scratch_new(const pc_subset_metrics *metrics,
                                             pc_subset_scratch **out, pcal_error *err);
void pc_subset_scratch_free(const pc_subset_metrics *metrics, pc_subset_scratch *room);

/* Values of all metrics on rows in ascending order, none twice; NaN where one is undefined or
 * infinite, and why[metric], unless why is NULL. */
#define PC_SUBSET_REASON_MAX 192
PC_CHECKED pcal_status pc_subset_metrics_measure(const pc_subset_metrics *metrics,
                                                 pc_subset_scratch *room, const uint32_t *rows,
                                                 size_t count, double *values,
                                                 char (*why)[PC_SUBSET_REASON_MAX],
                                                 pcal_error *err);

#endif
