/* Rows with equal predictions, and what comes true for them: the distribution of a finite set
 * of rows, taken as it is. */
#ifndef PC_CELLS_H
#define PC_CELLS_H

#include "core/memory.h"

/* Rows of outcomes: labels of `width` classes, of 0 and 1 when the width is 1, or what is
 * expected of each column. */
typedef struct pc_outcomes {
  size_t rows, width;
  const int32_t *labels;
  const double *expected; /* rows x width in place of labels, or NULL */
  const double *weights;  /* or NULL: all 1 */
} pc_outcomes;

typedef struct pc_cells {
  const pcal_env *env;
  size_t rows, width, count; /* count: how many cells there are */
  size_t *of_row;            /* the cell of each row */
  size_t *sizes;             /* rows of each cell */
  double *weights;           /* of each cell, together 1 */
  double *rates;             /* count x width: the mean outcome of each cell */
  double *shares;            /* the mean outcome of all rows */
} pc_cells;

/* Rows whose `key_width` numbers in `keys` are equal share a cell.  Free it in any case; a
 * zeroed one is fine. */
PC_CHECKED pcal_status pc_cells_new(const double *keys, size_t key_width,
                                    const pc_outcomes *outcomes, const pcal_env *env,
                                    pc_cells *out, pcal_error *err);
void pc_cells_free(pc_cells *cells);

/* (mean over rows of sum_k |prediction_k - rate_k|^p)^(1/p), for predictions that are equal
 * where cells are. */
double pc_cells_error(const pc_cells *cells, const double *predictions, double p);

/* The least mean score that can be had: g(q) = 1 - sum q^2 (Brier) or - sum q log q (log) of
 * the rates, and of all rows together. */
typedef enum pc_cells_score { PC_CELLS_BRIER, PC_CELLS_LOG } pc_cells_score;
double pc_cells_entropy(const pc_cells *cells, pc_cells_score score);
double pc_cells_base(const pc_cells *cells, pc_cells_score score);

/* Of the Brier score, for labels that count once: the same without the part that chance adds;
 * a row that is alone in its cell says nothing. */
double pc_cells_unbiased_entropy(const pc_cells *cells);
double pc_cells_unbiased_base(const pc_cells *cells);

#endif
