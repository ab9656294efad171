/* Rows with equal predictions, and what comes true for them: the distribution of a finite set
 * of rows, taken as it is. */
#ifndef PC_DISTINCT_PREDICTIONS_H
#define PC_DISTINCT_PREDICTIONS_H

#include "base/memory.h"

/* Rows of outcomes: labels of `width` classes, of 0 and 1 when the width is 1, or what is
 * expected of each column. */
typedef struct pc_row_outcomes {
  size_t rows, width;
  const int32_t *labels;
  const double *expected; /* rows x width in place of labels, or NULL */
  const double *weights;  /* or NULL: all 1 */
} pc_row_outcomes;

typedef struct pc_distinct_predictions {
  const pcal_env *env;
  size_t rows, width, count; /* count: how many cells there are */
  size_t *of_row;            /* the cell of each row */
  size_t *sizes;             /* rows of each cell */
  double *weights;           /* of each cell, together 1 */
  double *rates;             /* count x width: the mean outcome of each cell */
  double *shares;            /* the mean outcome of all rows */
} pc_distinct_predictions;

/* Rows whose `key_width` numbers in `keys` are equal share a cell.  Free it in any case; a
 * zeroed one is fine. */
PC_CHECKED pcal_status pc_distinct_predictions_new(const double *keys, size_t key_width,
                                                   const pc_row_outcomes *outcomes,
                                                   const pcal_env *env,
                                                   pc_distinct_predictions *out,
                                                   pcal_error *err);
void pc_distinct_predictions_free(pc_distinct_predictions *cells);

/* (mean over rows of sum_k |prediction_k - rate_k|^p)^(1/p), for predictions that are equal
 * where cells are. */
double pc_distinct_predictions_error(const pc_distinct_predictions *cells,
                                     const double *predictions, double p);

/* The least mean score that can be had: g(q) = 1 - sum q^2 (Brier) or - sum q log q (log) of
 * the rates, and of all rows together. */
typedef enum pc_entropy_score { PC_ENTROPY_BRIER, PC_ENTROPY_LOG } pc_entropy_score;
double pc_distinct_predictions_entropy(const pc_distinct_predictions *cells,
                                       pc_entropy_score score);
double pc_distinct_predictions_base_entropy(const pc_distinct_predictions *cells,
                                            pc_entropy_score score);

/* Of the Brier score, for labels that count once: the same without the part that chance adds;
 * a row that is alone in its cell says nothing. */
double pc_distinct_predictions_unbiased_entropy(const pc_distinct_predictions *cells);
double pc_distinct_predictions_unbiased_base_entropy(const pc_distinct_predictions *cells);

#endif
