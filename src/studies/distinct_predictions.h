/* Rows grouped by equal predictions, with the outcome frequencies of each group: the rows' own
 * distribution of predictions and outcomes. */
#ifndef PC_DISTINCT_PREDICTIONS_H
#define PC_DISTINCT_PREDICTIONS_H

#include "base/memory.h"

/* Outcomes of rows, borrowed: labels of `width` classes (0 or 1 if the width is 1), or expected
 * values of each column. */
typedef struct pc_row_outcomes {
  size_t rows, width;
  const int32_t *labels;
  const double *expected; /* rows x width, in place of labels; or NULL */
  const double *weights;  /* or NULL: all 1 */
} pc_row_outcomes;

/* A cell is a set of rows with equal predictions. */
typedef struct pc_distinct_predictions {
  const pcal_env *env;
  size_t rows, width;
  size_t count;    /* cells */
  size_t *of_row;  /* the cell of each row */
  size_t *sizes;   /* rows of each cell */
  double *weights; /* share of the total weight of each cell */
  double *rates;   /* count x width: mean outcome of each cell */
  double *shares;  /* mean outcome of all rows */
} pc_distinct_predictions;

/* Rows whose `key_width` numbers in `keys` are equal share a cell.  Free out even after a
 * failure; a zeroed one is allowed. */
PC_CHECKED pcal_status pc_distinct_predictions_new(const double *keys, size_t key_width,
                                                   const pc_row_outcomes *outcomes,
                                                   const pcal_env *env,
                                                   pc_distinct_predictions *out,
                                                   pcal_error *err);
void pc_distinct_predictions_free(pc_distinct_predictions *cells);

/* (mean over rows of sum_k |prediction_k - rate_k|^p)^(1/p); predictions of one cell are equal. */
double pc_distinct_predictions_error(const pc_distinct_predictions *cells,
                                     const double *predictions, double p);

/* The lowest mean score that predictions can reach: g(q) = 1 - sum q^2 (Brier) or - sum q log q
 * (log), averaged over the cells; and of the shares of all rows. */
typedef enum pc_entropy_score { PC_ENTROPY_BRIER, PC_ENTROPY_LOG } pc_entropy_score;
double pc_distinct_predictions_entropy(const pc_distinct_predictions *cells,
                                       pc_entropy_score score);
double pc_distinct_predictions_base_entropy(const pc_distinct_predictions *cells,
                                            pc_entropy_score score);

/* Unbiased versions for the Brier score and labels of weight 1; a cell of one row counts with
 * the entropy of all rows. */
double pc_distinct_predictions_unbiased_entropy(const pc_distinct_predictions *cells);
double pc_distinct_predictions_unbiased_base_entropy(const pc_distinct_predictions *cells);

#endif
