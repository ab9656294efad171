/* Bins whose edges depend on the sorted scores.  (Bins with fixed edges: stats/bins.h.)
 *
 * Functions accept tables of any form unless stated otherwise.  The functions named _wants mark
 * the open entries of a table of segments that must be resolved to single scores before the
 * bins are exact, and return how many they marked; 0: the bins are exact. */
#ifndef PC_CURVE_BINS_H
#define PC_CURVE_BINS_H

#include "curve/curve_table.h"
#include "stats/bins.h"

/* How bins follow from the scores. */
typedef enum pc_binning {
  PC_BINNING_MASS = 1, /* pc_bins_by_mass */
  PC_BINNING_ADAPTIVE, /* pc_bins_adaptive */
  PC_BINNING_EVEN      /* pc_bins_split_ties */
} pc_binning;

/* Zeroed: no bins. */
typedef struct pc_curve_binning {
  pc_binning rule;
  size_t bins;
  double per_bin;   /* rows of a bin, in place of `bins`; 0: as many bins as `bins` says */
  double threshold; /* of adaptive bins */
} pc_curve_binning;

/* The number of bins of rows of this weight. */
size_t pc_curve_binning_count(const pc_curve_binning *binning, double total);

/* Equal-mass bins: with W the total weight, B = bins and q = floor(W / B), part r ends after
 * r q + min(r, W - B q) rows.  An edge lies midway between the last score of a part and the
 * first score of the next; equal edges are joined; the last edge is 1.  Bins are (low, high],
 * so that equal scores share a bin.  Writes at most `bins` bins and returns how many.  Moments
 * are NaN unless the table is one of scores. */
size_t pc_bins_by_mass(const pc_curve_table *table, size_t bins, pc_bin *out);
/* The same, for errors whose variance uses moments: those of PC_BINS_MANY_ROWS rows or more are
 * NaN in every form of table, so that intervals of rounds (measure/rounds.h), which do not know
 * them, have the bits of one process. */
#define PC_BINS_MANY_ROWS 16384.0
size_t pc_bins_by_mass_of_error(const pc_curve_table *table, size_t bins, pc_bin *out);
/* The same; ends[i]: the entry before which bin i ends.  NULL: not wanted. */
size_t pc_bins_by_mass_ends(const pc_curve_table *table, size_t bins, pc_bin *out,
                            size_t *ends);
/* The upper edges of the same bins, without their sums. */
size_t pc_bins_by_mass_edges(const pc_curve_table *table, size_t bins, double *edges);
size_t pc_bins_by_mass_wants(const pc_curve_table *table, size_t bins, uint8_t *wanted);

/* The number of rows after which part r of `bins` ends; for an empty part the result may be 0
 * or W. */
double pc_bins_end_position(const pc_curve_table *table, size_t bins, size_t r);

/* Adaptive bins (Nixon et al. 2019): of the scores above `threshold` (0: all), total weight n,
 * edge r of R bins is the score with index round(r (n / R)) in ascending order, at most the
 * last; halves round to even.  Bins are [low, high); equal scores may leave bins empty.  Writes
 * exactly `bins` bins; moments are NaN. */
void pc_bins_adaptive(const pc_curve_table *table, double threshold, size_t bins, pc_bin *out);
size_t pc_bins_adaptive_wants(const pc_curve_table *table, double threshold, size_t bins,
                              uint8_t *wanted);

/* Ranges of exactly equal weight: ends as in pc_bins_by_mass, but the rows and hits of a score
 * that lies across an end are divided between both sides in proportion.  low and high are the
 * scores at the ends; moments are NaN.  Tables of scores only. */
void pc_bins_split_ties(const pc_curve_table *table, size_t bins, pc_bin *out);

/* Monotonic sweep (Roelofs et al. 2022): the largest B, at most `most` and at most the number
 * of rows, such that for every number of equal-mass bins up to B the share of hits never falls
 * from bin to bin.  Tables of scores only. */
PC_CHECKED pcal_status pc_bins_sweep(const pcal_env *env, const pc_curve_table *table,
                                     size_t most, size_t *out, pcal_error *err);

#endif
