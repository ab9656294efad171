/* Cells in which replicas of a curve of many rows are added up.
 *
 * With PC_CELLS_LEAST rows or more, replicas of metrics of sorted scores are evaluated on cells of
 * the score axis: all scores of a cell count as their mean.  The metric itself is exact; see
 * replica_cells.h for the difference.  Sums over cells add up over parts of the rows, so that
 * rounds (rounds.h) and one process find the same replicas.
 *
 * The common cells of a slot end at the ends of bins of equal mass of the rows
 * (curve/curve_bins.h): of 10, 15, 20, 30, 50 and 100 bins, so that errors in such bins have
 * the same value on cells, and of 256 bins; and at multiples of 1/128.  They depend on the rows
 * alone.
 *
 * Errors in other bins whose edges follow from the scores (tally_slots.h) have the bins of the
 * data as cells, in each part of the curve: replicas keep these bins. */
#ifndef PC_SCORE_CELLS_H
#define PC_SCORE_CELLS_H

#include "base/codec.h"
#include "curve/curve_bins.h"
#include "measure/measure_plan.h"
#include "measure/replicas/sorted_view.h"

#define PC_CELLS_LEAST PC_BINS_MANY_ROWS /* weight of all rows */
#define PC_CELLS_WIDTH 128
#define PC_CELLS_MAX (10 + 15 + 20 + 30 + 50 + 100 + 256 + PC_CELLS_WIDTH - 7)

/* The cells of one slot: (ends[i - 1], ends[i]], or [ends[i - 1], ends[i]) if they are open
 * above; the last one of a part always holds all scores that are left. */
struct pc_score_cells {
  size_t slot;         /* of the tally (tally_slots.h) */
  size_t parts, count; /* of the curve; cells of each part */
  int open;
  double threshold; /* scores up to it are in no cell; 0: all are in one */
  double *ends;     /* [part][cell], ascending in each part; the last is 1 */
};

/* True if a score lies above cell c of a part. */
static inline int pc_score_cells_above(const pc_score_cells *cells, size_t part, size_t c,
                                       double score) {
  const double end = cells->ends[part * cells->count + c];
  return c + 1 < cells->count && (cells->open ? score >= end : score > end);
}

/* Those of all slots that have cells.  Zeroed: none. */
typedef struct pc_score_cell_lists {
  pc_score_cells *list;
  size_t count;
} pc_score_cell_lists;

/* True if replicas of an entry can be evaluated on common cells: a curve of the natural view,
 * and a metric that may join scores, or has one of these numbers of bins. */
int pc_score_cells_suit(const pc_measure_plan *plan, size_t entry);

/* Marks the segments in which cells may end, and returns how many were newly marked; 0: the
 * table is exact for pc_score_cells_add. */
size_t pc_score_cells_wants(const pc_curve_table *table, uint8_t *wanted);

/* lists NULL: none.  Returns NULL if the slot has no cells. */
const pc_score_cells *pc_score_cells_of(const pc_score_cell_lists *lists, size_t slot);

/* Adds the cells of a slot; fewer than PC_CELLS_LEAST rows have none. */
PC_CHECKED pcal_status pc_score_cells_add(const pcal_env *env, pc_score_cell_lists *lists,
                                          size_t slot, const pc_curve_table *table,
                                          pcal_error *err);
/* Adds cells that are the bins of an error, `bins` in each part; the caller sets those of
 * every part. */
PC_CHECKED pcal_status pc_score_cells_add_bins(const pcal_env *env, pc_score_cell_lists *lists,
                                               size_t slot, const pc_curve_binning *binning,
                                               size_t parts, size_t bins, pc_score_cells **out,
                                               pcal_error *err);
PC_CHECKED pcal_status pc_score_cells_set_bins(const pcal_env *env, pc_score_cells *cells,
                                               size_t part, const pc_curve_binning *binning,
                                               const pc_curve_table *table, pcal_error *err);
/* The same two for the rows of a view in one process. */
PC_CHECKED pcal_status pc_score_cells_add_view(const pcal_env *env, pc_score_cell_lists *lists,
                                               size_t slot, const pc_sorted_view *sorted,
                                               const pc_kept_rows *rows, pcal_error *err);
PC_CHECKED pcal_status pc_score_cells_add_view_bins(const pcal_env *env,
                                                    pc_score_cell_lists *lists, size_t slot,
                                                    const pc_curve_binning *binning,
                                                    size_t bins, const pc_sorted_view *sorted,
                                                    const pc_kept_rows *rows, pcal_error *err);
void pc_score_cells_free(const pcal_env *env, pc_score_cell_lists *lists);

/* As bytes: number of lists; for each its slot, number of parts and of cells of a part
 * (varints), whether cells are open (u8), the threshold, and for each part the ends of its
 * cells but the last (doubles). */
void pc_encode_score_cells(pc_encoder *out, const pc_score_cell_lists *lists);
/* The caller frees *out, also on failure. */
PC_CHECKED pcal_status pc_decode_score_cells(pc_decoder *in, const pcal_env *env,
                                             pc_score_cell_lists *out, pcal_error *err);

#endif
