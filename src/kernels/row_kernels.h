/* Loops over rows: softmax, largest logit, conversion, exact column sums.  A kernel table: see
 * dispatch.h.
 *
 * Kernels take pointers and counts, allocate nothing and cannot fail.  All variants give the
 * same bits: PC_LANES partial sums have a fixed order, and no operation is fused. */
#ifndef PC_ROW_KERNELS_H
#define PC_ROW_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define PC_LANES 16
#define PC_NARROW_CLASSES 32 /* most classes of a narrow row; each lane processes one row */
#define PC_NARROW_ROWS 32    /* narrow rows in one call; a multiple of PC_LANES */

/* The softmax of a row of logits z.  The term of the largest logit, exactly 1, is left out of
 * `rest`, so that probabilities close to 1 stay distinct. */
typedef struct pc_softmax_facts {
  double max;
  double rest;        /* sum of exp(z_j - max) over j != top */
  double rest_square; /* sum of their squares */
  size_t top;         /* lowest index of the largest */
  int finite;         /* no NaN or infinity; otherwise the other fields are undefined */
} pc_softmax_facts;

/* The same for PC_NARROW_ROWS narrow rows, as columns. */
typedef struct pc_narrow_facts {
  double *rest, *rest_square;
  double *gap; /* logit of the label minus the largest; an invalid label counts as 0 */
  int32_t *top;
  int finite;   /* of all rows; the columns of finite rows are valid even if this is 0 */
  int labelled; /* all labels are classes */
} pc_narrow_facts;

/* Columns of rows of logits: finish_logits turns the sums of the softmax into probabilities. */
typedef struct pc_logit_columns {
  const int32_t *label, *top_label;
  double *top;           /* in: `rest`; out: the largest probability */
  double *others_square; /* in: `rest_square`; out: sum of p^2 over all classes but the label */
  double *log_true; /* in: logit of the label minus the largest; out: its log probability */
  double *true_gap; /* out: 1 - probability of the label */
} pc_logit_columns;

/* The range of a column. */
typedef struct pc_column_facts {
  double low, high;
  int finite;
} pc_column_facts;

/* Exact sums of numbers with absolute values up to PC_SPLIT_LARGEST.  The first round splits
 * each number into a multiple of 2^-40, a multiple of 2^-91 and a remainder; the second round
 * splits the remainder in the same way, with units that are 2^102 times smaller.  Sums of
 * multiples are integers, exact in any order. */
#define PC_SPLIT_ROUNDS 2
#define PC_SPLIT_PIECES 2
#define PC_SPLIT_ROWS 1024
#define PC_SPLIT_LARGEST 1024.0

typedef struct pc_split_sums {
  int64_t units[PC_SPLIT_PIECES]; /* sums of the multiples */
  double largest; /* absolute value; above PC_SPLIT_LARGEST the sums are invalid */
  int all;        /* all remainders are 0 */
} pc_split_sums;

static inline int pc_split_exponent(size_t round, size_t piece) {
  return -40 - 51 * (int)(round * PC_SPLIT_PIECES + piece);
}

typedef struct pc_row_kernels {
  /* terms[j] = exp(z[j] - max), unless terms is NULL. */
  void (*softmax_f32)(const float *z, size_t count, double *terms, pc_softmax_facts *facts);
  void (*softmax_f64)(const double *z, size_t count, double *terms, pc_softmax_facts *facts);
  /* PC_NARROW_ROWS consecutive rows of at most PC_NARROW_CLASSES logits, and their labels;
   * terms, if not NULL, are [class][row]. */
  void (*narrow_f32)(const float *z, size_t count, const int32_t *labels, double *terms,
                     pc_narrow_facts *facts);
  void (*narrow_f64)(const double *z, size_t count, const int32_t *labels, double *terms,
                     pc_narrow_facts *facts);
  /* Probabilities of PC_NARROW_ROWS narrow rows, out[row][class], from their terms and `rest`. */
  void (*narrow_probs)(const double *terms, size_t count, const double *rest, double *out);
  void (*finish_logits)(const pc_logit_columns *columns, size_t count);
  /* The lowest index of the largest number; 0 unless all are finite. */
  size_t (*top_f32)(const float *z, size_t count, int *finite);
  size_t (*top_f64)(const double *z, size_t count, int *finite);
  /* Copies a column into doubles. */
  void (*column_f32)(const float *z, size_t count, double *out, pc_column_facts *facts);
  void (*column_f64)(const double *z, size_t count, double *out, pc_column_facts *facts);
  double (*largest)(const double *x,
                    size_t count); /* the largest absolute value; 0 if count is 0 */
  /* Splits up to PC_SPLIT_ROWS numbers; their remainders go to `left`. */
  void (*split)(const double *x, size_t count, size_t round, double *left, pc_split_sums *sums);
  /* out[j] = terms[j] * factor; out may be terms. */
  void (*scale)(const double *terms, size_t count, double factor, double *out);
} pc_row_kernels;

#endif
