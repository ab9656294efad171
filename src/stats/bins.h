/* Bins with fixed edges, the sums in a bin, and errors of bins.  (Bins that depend on the
 * sorted scores: curve/curve_bins.h.) */
#ifndef PC_BINS_H
#define PC_BINS_H

#include <math.h>

#include "base/memory.h"

#define PC_BINS_MAX 10000

/* Rule that places the edges and decides the bin of a score on an edge; M is the number of
 * bins. */
typedef enum pc_edge_rule {
  PC_EDGES_RIGHT = 1, /* (lo, hi], 0 in the first bin; edges i / M */
  PC_EDGES_LEFT,      /* [lo, hi), 1 in the last bin; edges i / M */
  PC_EDGES_GUO,     /* (lo, hi], 0 in no bin; edges of torch.linspace, all rounded to float32 */
  PC_EDGES_OWN_ONE, /* [lo, hi), 1 in a bin of its own; edges i * (1/M) */
  PC_EDGES_NETCAL,  /* [lo, hi), 1 in the last bin; edges i * (1/M) */
  PC_EDGES_KULL,    /* (lo, hi], edges 1/M + i * (1/M) accumulated, lo = hi - 1/M */
  PC_EDGES_TORCH,   /* as OWN_ONE, edges of torch.linspace; all rounded to float32 */
  PC_EDGES_TORCH_F64 /* the same in float64 */
} pc_edge_rule;

/* The score axis, cut into cells.  A score equal to a cut belongs to the cell below it if
 * closed_right, else to the cell above.  A bin is a run of neighbouring cells; a cell may be in
 * no bin or, under PC_EDGES_KULL, in two.  Rows in no bin still count in the total weight. */
typedef struct pc_partition {
  int closed_right;
  size_t cut_count; /* there are cut_count + 1 cells */
  double *cuts;     /* ascending; cuts[-1] is -INFINITY, cuts[cut_count] is INFINITY */
  double guess;     /* cells per unit of score: where pc_partition_find starts */
  size_t bin_count;
  struct pc_cell_run {
    size_t first, last; /* cells, last included */
    double low, high;
  } * runs;
} pc_partition;

PC_CHECKED pcal_status pc_partition_new(const pcal_env *env, pc_edge_rule rule, size_t bins,
                                        pc_partition *out, pcal_error *err);
void pc_partition_free(const pcal_env *env, pc_partition *cells);

/* True if the score is above cut i. */
static inline int pc_partition_above(const pc_partition *cells, double score, size_t i) {
  return cells->closed_right ? score > cells->cuts[i] : score >= cells->cuts[i];
}

/* The cell of a score; of NaN the first cell. */
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

/* The rows of a bin, as sums.  Moments (score_square, score_hit) are NaN if unknown. */
typedef struct pc_bin {
  double low, high;
  double weight, hits; /* weight of all rows, and weight of the hits */
  double score;        /* sum of scores */
  double score_square; /* sum of squared scores */
  double score_hit;    /* sum of scores over hits */
} pc_bin;

/* Mean score, and share of hits; NaN for an empty bin. */
double pc_bin_confidence(const pc_bin *bin);
double pc_bin_frequency(const pc_bin *bin);

/* The norm that turns the errors of bins into one number. */
typedef enum pc_norm { PC_NORM_L1, PC_NORM_L2, PC_NORM_MAX } pc_norm;

/* With n_b the weight of bin b, N = total, and g_b = confidence - frequency:
 *   PC_NORM_L1   sum_b n_b / N |g_b|
 *   PC_NORM_L2   sqrt(sum_b n_b / N g_b^2)
 *   PC_NORM_MAX  max over non-empty bins of |g_b|
 *   debias       (L2 only) frequency (1 - frequency) / (n_b - 1) is subtracted from each g_b^2;
 *                bins with n_b < 2 add 0; a negative sum counts as 0. */
double pc_bins_error(const pc_bin *bins, size_t count, double total, pc_norm norm, int debias);

/* The debiased square before the root is taken.  It is unbiased and may be negative.  Its
 * variance is noise + slope * t0, where t0 is its mean and slope = slope_sum / slope_weight. */
typedef struct pc_debiased {
  double square, noise;
  double slope_sum, slope_weight;
} pc_debiased;

pc_debiased pc_bins_debiased(const pc_bin *bins, size_t count, double total);
/* The same without moments: the variance of a row is that of its outcome. */
pc_debiased pc_bins_square(const pc_bin *bins, size_t count, double total);
/* The same for squares of (frequency - overall frequency): the debiased sharpness. */
pc_debiased pc_bins_sharpness(const pc_bin *bins, size_t count, double total);

#endif
