/* Ranges of the sorted scores of a slot, which all replicas share. */
#ifndef PC_SCORE_RANGES_H
#define PC_SCORE_RANGES_H

#include "measure/measure_plan.h"
#include "measure/replicas/replica_class_bins.h"
#include "measure/replicas/score_cells.h"

/* The bins of a grid, the cells of a curve (score_cells.h), or short ranges of a curve.  Ranges
 * of a curve split no ties; if a metric joins scores in cells, each lies in one cell of
 * PC_PREFIX_LEVEL. */
typedef struct pc_score_ranges {
  size_t count;
  size_t *begin, *end; /* of a curve begin[count] is the end of the last range */
  pc_replica_class_bins
      by_row;      /* of a grid over every class that is not sorted: only `count` and this are
                           filled; else zeroed */
  size_t *part;    /* first range of each part, then `count` */
  double *hit;     /* of each score: 1.0 if it is a hit, else 0.0 */
  int coarse;      /* cells of a curve, which are added up like bins */
  int single;      /* every range is one score, which stands for a cell */
  int in_cells;    /* a metric joins scores in cells */
  uint32_t *cells; /* if in_cells: [part][cell], see pc_curve_prefix */
  uint16_t *of_class; /* of a grid over every class: [row][class], 1 + its range, or 0 if it has
                          none; NULL unless pc_score_ranges_index was called */
  const pc_kept_rows *rows; /* with of_class */
  int unit;                 /* every row has weight 1; with of_class or natural */
  double
      lattice; /* rounds the scores of a grid (kernels/replica_sum_kernels.h); 0: not rounded */
  int natural; /* a score is a hit if its row draws the class of the natural view;
                               0 unless pc_score_ranges_index was called */
} pc_score_ranges;

/* cells: of the slot, or NULL. */
PC_CHECKED pcal_status pc_score_ranges_new(const pcal_env *env, const pc_measure_plan *plan,
                                           size_t slot, const pc_sorted_view *sorted,
                                           const int32_t *labels, const pc_score_cells *cells,
                                           pc_score_ranges *out, pcal_error *err);
/* A range for each score of a view of one part; its hits are not known. */
PC_CHECKED pcal_status pc_score_ranges_single(const pcal_env *env, const pc_measure_plan *plan,
                                              size_t slot, const pc_sorted_view *sorted,
                                              pc_score_ranges *out, pcal_error *err);
/* The bins of a grid that pc_replica_class_bins_suit, of rows on a lattice. */
PC_CHECKED pcal_status pc_score_ranges_by_row(const pcal_env *env, const pc_need *need,
                                              const pc_layout *layout, const pc_kept_rows *rows,
                                              double lattice, pc_score_ranges *out,
                                              pcal_error *err);
static inline int pc_score_ranges_are_by_row(const pc_score_ranges *ranges) {
  return ranges->by_row.rows != NULL;
}
/* Prepares batches in which only the labels of rows of weight 1 differ, so that hits alone are
 * counted; and grids over every class without moments, which are then added up row by row.  Does
 * nothing for other slots. */
PC_CHECKED pcal_status pc_score_ranges_index(const pcal_env *env, const pc_need *need,
                                             const pc_kept_rows *rows,
                                             const pc_sorted_view *sorted,
                                             pc_score_ranges *ranges, pcal_error *err);
/* True for a grid over every class without moments that has few enough bins for the index. */
int pc_score_ranges_indexable(const pc_need *need);
void pc_score_ranges_free(const pcal_env *env, pc_score_ranges *ranges);

/* True if the weights of all rows are whole numbers that floats represent. */
int pc_kept_weights_whole(const pc_kept_rows *rows);

/* True if every distinct row stands for one copy. */
int pc_kept_rows_single(const pc_kept_rows *rows);
/* True if every distinct row has weight 1. */
int pc_kept_rows_unit(const pc_kept_rows *rows);

#endif
