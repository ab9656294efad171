/* The hot loops over rows: one portable source, compiled once for each instruction set.
 *
 * Kernels take pointers and counts, allocate nothing and never fail.  All variants give the
 * same bits: additions have a fixed order of PC_LANES partial sums and nothing is fused. */
#ifndef PC_ROW_KERNELS_H
#define PC_ROW_KERNELS_H

#include <stddef.h>

#define PC_LANES 16
#define PC_NARROW_CLASSES 32 /* up to here, one row in each lane */

/* What a row of logits z says.  The largest has the term exactly 1; it is kept out of `rest`,
 * so that probabilities next to 1 stay distinct. */
typedef struct pc_softmax_facts {
  double max;
  double rest;        /* sum of exp(z_j - max) over j != top */
  double rest_square; /* sum of their squares */
  size_t top;         /* lowest index of the largest */
  int finite;         /* no NaN, no infinity; the rest is undefined otherwise */
} pc_softmax_facts;

/* The same for PC_LANES rows, and log(1 + rest). */
typedef struct pc_softmax_lanes {
  double max[PC_LANES], rest[PC_LANES], rest_square[PC_LANES], log_norm[PC_LANES];
  double top[PC_LANES];
  double odd[PC_LANES]; /* 0 for finite rows, NaN for others */
} pc_softmax_lanes;

/* What a row of probabilities p says. */
typedef struct pc_simplex_facts {
  double sum, low, high;
  double rest_square; /* sum of squares over j != top */
  size_t top;
  int finite;
} pc_simplex_facts;

/* What a column of numbers says. */
typedef struct pc_column_facts {
  double low, high;
  int finite;
} pc_column_facts;

typedef struct pc_row_kernels {
  const char *name;
  /* terms[j] = exp(z[j] - max) where terms is not NULL. */
  void (*softmax_f32)(const float *z, size_t count, double *terms, pc_softmax_facts *facts);
  void (*softmax_f64)(const double *z, size_t count, double *terms, pc_softmax_facts *facts);
  /* The fast precision: terms and lanes in float, lanes folded in double for every row. */
  void (*softmax_fast)(const float *z, size_t count, pc_softmax_facts *facts);
  /* Narrow rows: z and terms are [class][lane]. */
  void (*softmax_lanes)(const double *z, size_t count, double *terms, pc_softmax_lanes *facts);
  void (*softmax_fast_lanes)(const float *z, size_t count, pc_softmax_lanes *facts);
  void (*simplex_f64)(const double *p, size_t count, pc_simplex_facts *facts);
  /* Copies a column into doubles. */
  void (*column_f32)(const float *z, size_t count, double *out, pc_column_facts *facts);
  void (*column_f64)(const double *z, size_t count, double *out, pc_column_facts *facts);
  /* out[j] = terms[j] / divisor; in place is allowed. */
  void (*divide)(const double *terms, size_t count, double divisor, double *out);
} pc_row_kernels;

/* The reference, always present. */
extern const pc_row_kernels pc_row_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_row_kernels *pc_row_kernels_at(size_t index);

/* The fastest of them. */
const pc_row_kernels *pc_row_kernels_best(void);

#endif
