/* The scores of a view in ascending order, sorted once for all replicas: evidence for other
 * weights and labels is then filled in one walk. */
#ifndef PC_SORTED_VIEW_H
#define PC_SORTED_VIEW_H

#include "measure/replicas/draws.h"

typedef struct pc_sorted_view {
  pc_view view;
  size_t part_count;
  size_t *begin; /* of each part, then the end */
  /* By score, ascending in each part: */
  double *score;
  uint32_t *row;  /* and PC_REPLICA_AHEAD zeros */
  int32_t *label; /* the label for which the score is a hit */
} pc_sorted_view;

/* Weights (0: the row is absent) and labels of the rows in one replica.  A label below 0: the
 * copies of the row drew several outcomes, number -1 - label of `outcomes`. */
typedef struct pc_replica_draw {
  const float *weights; /* of row i: weights[i * stride] */
  size_t stride;
  const int32_t *labels;
  double total;
  const double *each;                /* weight of one copy of row i; NULL without outcomes */
  const pc_drawn_outcomes *outcomes; /* or NULL */
} pc_replica_draw;

/* True if a need can be served: not for lower ranks, sums of logarithms, or bins that
 * overlap. */
int pc_sorted_view_suits(const pc_need *need, const pc_layout *layout);
/* The same for these rows: not for very many of them. */
int pc_sorted_view_applies(const pc_need *need, const pc_layout *layout,
                           const pc_kept_rows *rows);

PC_CHECKED pcal_status pc_sorted_view_new(const pcal_env *env, const pc_view *view,
                                          const pc_layout *layout, const pc_kept_rows *rows,
                                          pc_sorted_view *out, pcal_error *err);
void pc_sorted_view_free(const pcal_env *env, pc_sorted_view *sorted);

/* Evidence of a curve, a grid, or the cells of a curve that is refilled for each replica. */
typedef struct pc_score_cells pc_score_cells; /* score_cells.h */
typedef struct pc_replica_evidence {
  const pc_score_cells *coarse; /* cells of a curve, which are filled like bins; NULL: none */
  pc_partition cells;           /* of a grid */
  double lattice; /* the same: rounds its scores (row_moments.h); 0: not rounded */
  pc_evidence evidence;
} pc_replica_evidence;

/* coarse: cells of a curve, borrowed; or NULL. */
PC_CHECKED pcal_status pc_replica_evidence_new(const pcal_env *env, const pc_need *need,
                                               const pc_sorted_view *sorted,
                                               const pc_score_cells *coarse,
                                               pc_replica_evidence *out, pcal_error *err);
void pc_replica_evidence_free(const pcal_env *env, pc_replica_evidence *refilled);
void pc_replica_evidence_fill(const pc_need *need, const pc_sorted_view *sorted,
                              const pc_replica_draw *drawn, pc_replica_evidence *refilled);

#endif
