/* Ranks of targets among the samples or quantiles of their rows, over all rows. */
#ifndef PC_TARGET_RANKS_H
#define PC_TARGET_RANKS_H

#include "curve/curve_table.h"
#include "data/forecast.h"

/* For n samples:
 *   mass   n + 1 shares of targets, one for each cell between neighbouring samples; a target
 *          that equals samples is divided equally among the cells that it touches
 * For n quantiles:
 *   upto   share of targets up to each quantile; targets equal to it count in part
 *   tied   share of targets that equal a quantile
 * Owned; free with pc_target_ranks_free.  The array of the other form is NULL. */
typedef struct pc_target_ranks {
  size_t count; /* n */
  double *mass, *upto;
  double tied;
} pc_target_ranks;

PC_CHECKED pcal_status pc_target_ranks_new(const pcal_env *env, const pc_layout *layout,
                                           const pc_curve_table *table, pc_target_ranks *out,
                                           pcal_error *err);
void pc_target_ranks_free(const pcal_env *env, pc_target_ranks *places);

/* For samples: the share of u <= level, with u uniform inside each cell. */
double pc_target_ranks_share(const pc_target_ranks *places, double level);

/* Summary of u for the verdict (output/verdict_forecast.c).  Samples: means over rows of u
 * and of (u - 1/2)^2, and their variances for one row of a calibrated model.  Samples and
 * quantiles: the ranks. */
typedef struct pc_pit_summary {
  double mean, square;
  double mean_variance, square_variance;
  pc_target_ranks places;
} pc_pit_summary;

PC_CHECKED pcal_status pc_pit_summary_new(const pcal_env *env, const pc_layout *layout,
                                          const pc_curve_table *table, pc_pit_summary *out,
                                          pcal_error *err);

#endif
