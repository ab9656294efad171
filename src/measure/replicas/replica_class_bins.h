/* The bins of a grid over every class in all replicas of a batch, added up row by row.
 *
 * Nearly all scores of a class lie in its usual bin, that of the smallest scores.  Whole
 * columns are added up, and the sums of all other scores, which are listed row by row, are
 * subtracted.  Rows must be on a lattice (row_moments.h): sums are then exact, so that this
 * order of terms and the subtraction leave the bits of any other order.
 *
 * Edge cases:
 *   (1) scores in no bin have a cell behind the bins of their part;
 *   (2) with a threshold the usual cell is that of no bin, and scores above it are listed. */
#ifndef PC_REPLICA_CLASS_BINS_H
#define PC_REPLICA_CLASS_BINS_H

#include "kernels/replica_sum_kernels.h"
#include "machines/machine.h"

typedef struct pc_replica_class_bins {
  const pc_kept_rows *rows;
  double lattice;
  size_t parts, bins;           /* a part has bins + 1 cells */
  size_t usual;                 /* the bin of most scores; `bins`: none */
  size_t *begin;                /* of each row, in the lists; then the end */
  uint32_t *class_index, *cell; /* listed scores, by class in each row */
  uint32_t *hit;                /* of each row: the cell of the score of its label */
} pc_replica_class_bins;

/* True if a grid can be added up in this way on a lattice: it is over every class, without moments
 * and bins that overlap, and needs no more memory than its rows. */
int pc_replica_class_bins_suit(const pc_need *need, const pc_layout *layout,
                               const pc_kept_rows *rows);

PC_CHECKED pcal_status pc_replica_class_bins_new(const pcal_env *env, const pc_need *need,
                                                 const pc_layout *layout,
                                                 const pc_kept_rows *rows, double lattice,
                                                 pc_replica_class_bins *out, pcal_error *err);
void pc_replica_class_bins_free(const pcal_env *env, pc_replica_class_bins *bins);

/* Numbers of the scratch memory `cells` below, and of `columns`. */
size_t pc_replica_class_bins_scratch(const pc_replica_class_bins *bins);
size_t pc_replica_columns_size(const pc_kept_rows *rows);

/* Adds up all classes: [class][replica], then the weights of all rows.  Grids of the same rows
 * share them. */
void pc_replica_columns_add(const pc_kept_rows *rows, double lattice, const float *weights,
                            double *columns);

/* Fills sums[replica][kind][range] with the weights, hits and scores of all bins. */
void pc_replica_class_bins_add(const pc_replica_class_bins *bins, const float *weights,
                               const double *columns, double *cells, double *sums);

/* Fills the hits alone, for labels[row][replica]. */
void pc_replica_class_bins_add_hits(const pc_replica_class_bins *bins, const float *weights,
                                    const int32_t *labels, double *cells, double *sums);

/* The range of the score of one class of a row; SIZE_MAX: it is in no bin. */
size_t pc_replica_class_bins_range(const pc_replica_class_bins *bins, size_t row,
                                   int32_t class_index);

/* of_class[row][class]: 1 + the range of the score; 0: it is in no bin. */
void pc_replica_class_bins_index(const pc_replica_class_bins *bins, uint16_t *of_class);

/* Sums of tilts (pc_gap_tilt) of rows with weight[row] by range; returns their mean over all scores
 * in bins, 1 if there are none. */
double pc_replica_class_bins_tilt(const pc_replica_class_bins *bins, const float *weight,
                                  double *tilt);

#endif
