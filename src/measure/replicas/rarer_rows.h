/* What metrics would show if more rows had the rarer outcome.
 *
 * A set with few wrong rows often lacks the rows on which an error depends: neither replicas nor
 * the jackknife can show rows that are not there.  These values say how much such rows would
 * change. */
#ifndef PC_RARER_ROWS_H
#define PC_RARER_ROWS_H

#include "measure/replicas/replicas.h"
#include "measure/replicas/row_moments.h"

/* Number of draws, and the number of rows of the rarer outcome from which on there is no allowance:
 * the effect of these rows is below a tenth of that of chance.  From half of that number on the
 * allowance falls linearly. */
#define PC_RARER_DRAWS 4
#define PC_RARER_ENOUGH 100.0

/* Weight of all rows, their number, and the weight of rows with the rarer outcome: wrong or right
 * predictions; for one column class 0 or class 1. */
typedef struct pc_rarer {
  double total, copies, rarer;
  double shown; /* weighted sum of (score - hit)^2 */
  int hits;     /* the rarer outcome is a hit */
  double
      design; /* variance of their number with clusters relative to that without; at least 1 */
} pc_rarer;

/* What a number depends on: how many rows have the rarer outcome, or how many more of them than the
 * predictions expect, which varies less from set to set. */
typedef enum pc_rarer_counts { PC_RARER_OF_ROWS, PC_RARER_OF_GAPS } pc_rarer_counts;

pc_rarer pc_rarer_from(const pc_row_moments *moments);
pc_rarer pc_rarer_count(const pc_kept_rows *rows);

/* Sets found->design by the clusters of the rows. */
PC_CHECKED pcal_status pc_rarer_find_design(const pcal_env *env, const pc_kept_rows *rows,
                                            pc_rarer *found, pcal_error *err);

/* The share of the allowance that is made: 1 if there are few rows of the rarer outcome, 0 if there
 * are enough. */
double pc_rarer_share(const pc_rarer *found);

/* Variance of the number of rows with the rarer outcome relative to that of a Poisson count. */
double pc_rarer_spread(const pc_rarer *found, pc_rarer_counts counts);

/* Number of rows by which Wilson's upper end lies above a count whose variance is `spread` times
 * that of a Poisson count. */
double pc_rarer_more(double count, double spread, double level);

/* Measures the requested entries with that many more rows of the rarer outcome: series as in
 * replicas.h, with PC_RARER_DRAWS values each. */
PC_CHECKED pcal_status pc_rarer_measure(const pcal_env *env, const pc_measure_plan *plan,
                                        const uint8_t *entries, const pc_kept_rows *rows,
                                        const pc_rarer *found, pc_rarer_counts counts,
                                        double *values, pcal_error *err);

/* Widens an interval by a share of what is missing for it to contain each of the values of a
 * series, or else their mean; values may be NULL.  Each: for sums over pairs of rows, which
 * depend on whether the few rows that changed are alike. */
void pc_rarer_include(const double *values, size_t entry, size_t series, int each, double share,
                      pc_interval *interval);

#endif
