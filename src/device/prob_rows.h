/* Arguments and results of the kernels of prob_rows_body.h, shared by the host, the GPU and tests. */
#ifndef PC_PROB_ROWS_H
#define PC_PROB_ROWS_H

#include <stdint.h>

#define PC_PROB_ROWS_THREADS 128 /* of a block */
#define PC_PROB_ROWS_LANES 16    /* threads of a row: those of kernels/prob_row.c */

/* The numbers of a row. */
typedef enum pc_row_form { PC_ROW_LOGITS, PC_ROW_PROBS, PC_ROW_LOG_PROBS } pc_row_form;

/* Columns of checked rows.  Addresses are of the GPU. */
typedef struct pc_prob_columns {
  double *high;        /* the largest probability */
  double *rest_square; /* sum of squares of the others; of two classes the other one itself */
  double *stored;      /* of the label, as stored: a logarithm, or before it was rescaled */
  double *scale;       /* 0, or the sum by which the row is divided (data/row_convert.c) */
  int32_t *top;        /* lowest class of the largest */
} pc_prob_columns;

typedef struct pc_prob_rows {
  const void *scores; /* row after row, without gaps */
  const void *labels; /* one for each row; one that is no class counts as class 0 */
  pc_prob_columns out;
  uint32_t *odd; /* out, the largest over all rows: pc_prob_rows_odd; begins as 0 */
  uint64_t rows;
  uint32_t classes;
  uint32_t label_size; /* bytes: 8, 4 (signed) or 1 (unsigned) */
  uint32_t form;       /* PC_ROW_PROBS or PC_ROW_LOG_PROBS */
  uint32_t normalize;  /* rows that are off by up to PC_PROB_REPAIRABLE are rescaled */
} pc_prob_rows;

typedef enum pc_prob_rows_odd {
  PC_PROB_ROWS_EVEN,
  PC_PROB_ROWS_OUTSIDE, /* a number is outside [0, 1], by no more than is accepted */
  PC_PROB_ROWS_ODD      /* a row must be checked by the host, and columns have no meaning */
} pc_prob_rows_odd;

#endif
