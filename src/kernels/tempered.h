/* Rows of scores under a temperature: what a row adds to an objective and its derivatives.
 *
 * beta = 1/T.  The softmax of beta z is an exponential family in beta, so the derivatives of
 * the log score are the cumulants of z under it. */
#ifndef PC_TEMPERED_H
#define PC_TEMPERED_H

#include <stddef.h>
#include <stdint.h>

typedef enum pc_tempered_objective { PC_TEMPERED_LOG, PC_TEMPERED_BRIER } pc_tempered_objective;

#define PC_TEMPERED_SLOPES 4

/* Value of one row, and its derivatives by beta (4 for log, 2 for Brier, the others are 0). */
typedef struct pc_tempered {
  double loss;
  double slope[PC_TEMPERED_SLOPES];
  double gap; /* score of the label less the largest score */
} pc_tempered;

/* One portable source, compiled once for each instruction set, all with the same bits. */
typedef struct pc_tempered_kernels {
  const char *name;
  /* scores: finite or -inf, the largest finite; beta in [1e-4, 1e4].  For log the score of the
   * label is not -inf. */
  void (*row)(pc_tempered_objective objective, const double *scores, size_t count, size_t label,
              double beta, pc_tempered *out);
  /* out = softmax(beta scores); in place is allowed. */
  void (*softmax)(const double *scores, size_t count, double beta, double *out);
} pc_tempered_kernels;

extern const pc_tempered_kernels pc_tempered_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_tempered_kernels *pc_tempered_kernels_at(size_t index);
const pc_tempered_kernels *pc_tempered_kernels_best(void);

#endif
