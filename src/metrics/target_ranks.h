/* Where targets fall among the samples or quantiles of their rows, over all rows. */
#ifndef PC_TARGET_RANKS_H
#define PC_TARGET_RANKS_H

#include "curve/curve_table.h"
#include "data/forecast.h"

/* Of n samples, as shares of the rows:
 *   mass   n + 1 numbers: targets in each cell between neighbouring samples; a target that
 *          equals some of them counts in equal parts in each cell that it touches
 * Of n quantiles:
 *   below  share of targets below each quantile
 *   upto   share of targets below or equal to it
 * One block of memory, which begins at mass or at below; the others are NULL. */
typedef struct pc_target_ranks {
  size_t count; /* n */
  double *mass, *below, *upto;
} pc_target_ranks;

PC_CHECKED pcal_status pc_target_ranks_new(const pcal_env *env, const pc_layout *layout,
                                           const pc_curve_table *table, pc_target_ranks *out,
                                           pcal_error *err);
void pc_target_ranks_free(const pcal_env *env, pc_target_ranks *places);

/* Samples: the share of u <= level, with u uniform inside each cell. */
double pc_target_ranks_share(const pc_target_ranks *places, double level);

/* Quantiles: the share of targets up to quantile number `column`, as near to `level` as targets
 * that equal the quantile allow. */
double pc_target_ranks_upto(const pc_target_ranks *places, size_t column, double level);

/* What the verdict is made of (output/verdict_forecast.c).  Samples and normal predictions:
 * means over rows of u and (u - 1/2)^2, and the variance that these have for one row of a
 * calibrated model.  Quantiles: the places. */
typedef struct pc_pit_summary {
  double mean, square;
  double mean_variance, square_variance;
  pc_target_ranks places;
} pc_pit_summary;

PC_CHECKED pcal_status pc_pit_summary_new(const pcal_env *env, const pc_layout *layout,
                                          const pc_curve_table *table, pc_pit_summary *out,
                                          pcal_error *err);

#endif
