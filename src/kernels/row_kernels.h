/* The hot loops over rows: one portable source, compiled once for each instruction set.
 *
 * Kernels take pointers and counts, allocate nothing and never fail.  All variants give the
 * same bits: additions have a fixed order of PC_LANES partial sums and nothing is fused. */
#ifndef PC_ROW_KERNELS_H
#define PC_ROW_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define PC_LANES 16
#define PC_NARROW_CLASSES 32 /* up to here, one row in each lane */
#define PC_NARROW_ROWS 32    /* at a time, a multiple of PC_LANES */

/* What a row of logits z says.  The largest has the term exactly 1; it is kept out of `rest`,
 * so that probabilities next to 1 stay distinct. */
typedef struct pc_softmax_facts {
  double max;
  double rest;        /* sum of exp(z_j - max) over j != top */
  double rest_square; /* sum of their squares */
  size_t top;         /* lowest index of the largest */
  int finite;         /* no NaN, no infinity; the rest is undefined otherwise */
} pc_softmax_facts;

/* The same for PC_NARROW_ROWS narrow rows, into columns. */
typedef struct pc_narrow_facts {
  double *rest, *rest_square;
  double *gap; /* logit of the label less the largest; a wrong label counts as 0 */
  int32_t *top;
  int finite;   /* all rows; rows that are finite are right in any case */
  int labelled; /* all labels are classes */
} pc_narrow_facts;

/* Columns of rows of logits, turned from what a softmax says into what metrics ask. */
typedef struct pc_logit_columns {
  const int32_t *label, *top_label;
  double *top;           /* from `rest` to the largest probability */
  double *others_square; /* from `rest_square` to that of all classes but the label */
  double *log_true; /* from the logit of the label less the largest to its log probability */
  double *true_gap; /* to 1 - probability of the label */
} pc_logit_columns;

/* What a column of numbers says. */
typedef struct pc_column_facts {
  double low, high;
  int finite;
} pc_column_facts;

/* A column of numbers of at most PC_SPLIT_LARGEST in size, cut in rounds: the first into
 * multiples of 2^-40 and 2^-91, each other one, of what the one before left, into multiples
 * 2^-102 as large.  Sums of whole numbers: exact, whatever their order. */
#define PC_SPLIT_ROUNDS 2
#define PC_SPLIT_PIECES 2
#define PC_SPLIT_ROWS 1024
#define PC_SPLIT_LARGEST 1024.0

typedef struct pc_split_sums {
  int64_t units[PC_SPLIT_PIECES]; /* sums of the multiples */
  double largest;                 /* in size; if it is too large, the sums are wrong */
  int all;                        /* nothing is left of any number */
} pc_split_sums;

static inline int pc_split_exponent(size_t round, size_t piece) {
  return -40 - 51 * (int)(round * PC_SPLIT_PIECES + piece);
}

typedef struct pc_row_kernels {
  const char *name;
  /* terms[j] = exp(z[j] - max) where terms is not NULL. */
  void (*softmax_f32)(const float *z, size_t count, double *terms, pc_softmax_facts *facts);
  void (*softmax_f64)(const double *z, size_t count, double *terms, pc_softmax_facts *facts);
  /* PC_NARROW_ROWS rows of at most PC_NARROW_CLASSES logits one after the other, and their
   * labels; terms, where not NULL, are [class][row]. */
  void (*narrow_f32)(const float *z, size_t count, const int32_t *labels, double *terms,
                     pc_narrow_facts *facts);
  void (*narrow_f64)(const double *z, size_t count, const int32_t *labels, double *terms,
                     pc_narrow_facts *facts);
  void (*finish_logits)(const pc_logit_columns *columns, size_t count);
  /* The lowest index of the largest, 0 unless all are finite. */
  size_t (*top_f32)(const float *z, size_t count, int *finite);
  size_t (*top_f64)(const double *z, size_t count, int *finite);
  /* Copies a column into doubles. */
  void (*column_f32)(const float *z, size_t count, double *out, pc_column_facts *facts);
  void (*column_f64)(const double *z, size_t count, double *out, pc_column_facts *facts);
  double (*largest)(const double *x, size_t count); /* in size; 0 for none */
  /* Up to PC_SPLIT_ROWS numbers; what is left of each goes to `left`. */
  void (*split)(const double *x, size_t count, size_t round, double *left, pc_split_sums *sums);
  /* out[j] = terms[j] * factor; in place is allowed. */
  void (*scale)(const double *terms, size_t count, double factor, double *out);
} pc_row_kernels;

/* The reference, always present. */
extern const pc_row_kernels pc_row_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_row_kernels *pc_row_kernels_at(size_t index);

/* The fastest of them. */
const pc_row_kernels *pc_row_kernels_best(void);

#endif
