/* Bins: where their edges are, and what they hold. */
#ifndef PC_BINS_H
#define PC_BINS_H

#include <math.h>

#include "curve/curve_table.h"

#define PC_BINS_MAX 10000

/* Which package's rule places the edges and decides for scores on an edge. */
typedef enum pc_edge_rule {
  PC_EDGES_RIGHT = 1, /* (lo, hi], 0 in the first bin; edges i/M */
  PC_EDGES_LEFT,      /* [lo, hi), 1 in the last bin; edges i/M */
  PC_EDGES_GUO,     /* (lo, hi], 0 in no bin; edges of torch.linspace, all rounded to float32 */
  PC_EDGES_OWN_ONE, /* [lo, hi), 1 in a bin of its own; edges i * (1/M) */
  PC_EDGES_NETCAL,  /* [lo, hi), 1 in the last bin; edges i * (1/M) */
  PC_EDGES_KULL,    /* (lo, hi], edges 1/M + i * (1/M) accumulated, lo = hi - 1/M */
  PC_EDGES_TORCH,   /* as OWN_ONE with edges of torch.linspace; all rounded to float32 */
  PC_EDGES_TORCH_F64 /* the same in float64, nothing rounded */
} pc_edge_rule;

/* Cells are what a grid counts: they are separated by ascending cuts.  A score equal to a cut
 * belongs to the cell below it (closed right) or above it.  A bin is a run of cells; cells in
 * no bin are left out of the bins but still count as rows. */
typedef struct pc_partition {
  int closed_right;
  size_t cut_count; /* there are cut_count + 1 cells */
  double *cuts;     /* with -INFINITY before the first and INFINITY behind the last */
  double guess;     /* cells per unit, for a first guess */
  size_t bin_count;
  struct pc_cell_run {
    size_t first, last; /* cells, last included */
    double low, high;
  } * runs;
} pc_partition;

PC_CHECKED pcal_status pc_partition_new(const pcal_env *env, pc_edge_rule rule, size_t bins,
                                        pc_partition *out, pcal_error *err);
void pc_partition_free(const pcal_env *env, pc_partition *cells);

/* Is the score above cut number i? */
static inline int pc_partition_above(const pc_partition *cells, double score, size_t i) {
  return cells->closed_right ? score > cells->cuts[i] : score >= cells->cuts[i];
}

/* The cell of a score; that of NaN is the first. */
static inline size_t pc_partition_find(const pc_partition *cells, double score) {
  const double place = score * cells->guess, last = (double)cells->cut_count;
  const double *cut = cells->cuts + (ptrdiff_t)(place > 0 ? place > last ? last : place : 0.0);
  if (!(score > -INFINITY && score < INFINITY))
    return score > 0 ? cells->cut_count : 0;
  if (cells->closed_right) {
    while (score > *cut)
      cut++;
    while (!(score > cut[-1]))
      cut--;
  } else {
    while (score >= *cut)
      cut++;
    while (!(score >= cut[-1]))
      cut--;
  }
  return (size_t)(cut - cells->cuts);
}

/* Contents of a bin: sums, not means. */
typedef struct pc_bin {
  double low, high;
  double weight, hits;
  double score;        /* sum of scores */
  double score_square; /* sum of their squares */
  double score_hit;    /* sum of score * outcome */
} pc_bin;

double pc_bin_confidence(const pc_bin *bin);
double pc_bin_frequency(const pc_bin *bin);

/* Equal-mass bins of a sorted view.  Part r ends at r q + min(r, W - B q), q = floor(W / B);
 * edges lie midway between neighbouring parts, equal edges are joined, the last edge is 1,
 * intervals are (lo, hi]: ties are never split.  Writes at most `bins` bins; those of a coarse
 * table have NaN for score_square and score_hit. */
PC_CHECKED pcal_status pc_bins_by_mass(const pcal_env *env, const pc_curve_table *table,
                                       size_t bins, pc_bin *out, size_t *count,
                                       pcal_error *err);

/* Marks the open entries of a coarse table whose scores decide where an edge lies; 0 when
 * there are none, so that pc_bins_by_mass is exact. */
size_t pc_bins_by_mass_wants(const pc_curve_table *table, size_t bins, uint8_t *wanted);

/* Adaptive bins of a sorted view, as Nixon et al. make them: of the scores above the threshold
 * (0: of all), weight n together, edge r of R is the one with index round(r (n / R)) in
 * ascending order, halves to even, and at most the last; intervals are [lo, hi).  Ties may
 * leave bins empty.  Writes `bins` bins, with NaN for score_square and score_hit. */
void pc_bins_adaptive(const pc_curve_table *table, double threshold, size_t bins, pc_bin *out);

/* As pc_bins_by_mass_wants. */
size_t pc_bins_adaptive_wants(const pc_curve_table *table, double threshold, size_t bins,
                              uint8_t *wanted);

/* The sorted rows in `bins` ranges of equal weight, ends as in pc_bins_by_mass but with ties
 * split: a score on both sides of an end gives each side its share of hits.  Moments are NaN;
 * low and high are the scores at the ends.  Not for coarse tables. */
void pc_bins_split_ties(const pc_curve_table *table, size_t bins, pc_bin *out);

/* The largest number of equal-mass bins B such that for every number of bins up to B the share
 * of hits does not fall from bin to bin; at most `most`, and at most one for each row.  Not for
 * coarse tables. */
PC_CHECKED pcal_status pc_bins_sweep(const pcal_env *env, const pc_curve_table *table,
                                     size_t most, size_t *out, pcal_error *err);

/* Where part r of `bins` ends among the sorted rows; not inside (0, W) when it is empty. */
double pc_bins_end_position(const pc_curve_table *table, size_t bins, size_t r);

/* What lies between two places of a replica; moments are NaN, low and high 0. */
pc_bin pc_bin_between(const pc_curve_cursor *begin, const pc_curve_cursor *end);

/* What the entries [begin, end) hold; moments are NaN. */
pc_bin pc_bin_of_entries(const pc_curve_table *table, size_t begin, size_t end);

/* How the errors of bins become one number. */
typedef enum pc_norm { PC_NORM_L1, PC_NORM_L2, PC_NORM_MAX } pc_norm;

/* l1: sum n_b/N |conf - acc|; l2: root of sum n_b/N (conf - acc)^2; max over non-empty bins.
 * debias (l2): each square less acc (1 - acc) / (n_b - 1), bins with n_b < 2 give 0, root of
 * the positive part. */
double pc_bins_error(const pc_bin *bins, size_t count, double total, pc_norm norm, int debias);

/* What debias takes the root of: unbiased, so that it may be negative; and what is known of its
 * variance, noise + slope t0 with t0 its mean, slope = slope_sum / slope_weight. */
typedef struct pc_debiased {
  double square, noise;
  double slope_sum, slope_weight;
} pc_debiased;

pc_debiased pc_bins_debiased(const pc_bin *bins, size_t count, double total);
/* The same for the squares of rates less the overall rate (debiased sharpness). */
pc_debiased pc_bins_sharpness(const pc_bin *bins, size_t count, double total);

#endif
