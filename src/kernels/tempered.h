/* Rows of scores under a temperature: what a row adds to an objective and its derivatives.
 *
 * beta = 1/T.  The softmax of beta z is an exponential family in beta, so the derivatives of
 * the log score are the cumulants of z under it. */
#ifndef PC_TEMPERED_H
#define PC_TEMPERED_H

#include "kernels/row_kernels.h"

/* What is wanted of a row: the log score with six derivatives by beta, the same and the log
 * score for beta = 1, or the Brier score with two derivatives. */
typedef enum pc_tempered_wish {
  PC_TEMPERED_LOG,
  PC_TEMPERED_LOG_AND_ONE,
  PC_TEMPERED_BRIER
} pc_tempered_wish;

#define PC_TEMPERED_SLOPES 6
#define PC_TEMPERED_ROWS 256

/* Rows of one width on their way: first sums over their classes, then what they mean.  Narrow
 * rows wait until every lane has one. */
typedef struct pc_tempered_block {
  size_t count, classes;
  double lanes[PC_NARROW_CLASSES * PC_LANES]; /* of waiting rows: scores less the largest */
  double gap[PC_TEMPERED_ROWS];               /* score of the label less the largest score */
  double loss[PC_TEMPERED_ROWS]; /* until finished: sum of the terms without the largest */
  double one[PC_TEMPERED_ROWS];  /* the same for beta = 1 */
  double slope[PC_TEMPERED_SLOPES][PC_TEMPERED_ROWS];
} pc_tempered_block;

/* One portable source, compiled once for each instruction set, all with the same bits. */
#define PC_TEMPERED_FLOATS 4096

typedef struct pc_tempered_kernels {
  const char *name;
  /* Adds a row to a block that is not full.  scores: finite or -inf, the largest, at `top`,
   * finite; beta in [1e-4, 1e4].  For the log score the score of the label is not -inf. */
  void (*add_f32)(pc_tempered_wish wish, const float *scores, size_t count, size_t top,
                  size_t label, double beta, pc_tempered_block *block);
  void (*add_f64)(pc_tempered_wish wish, const double *scores, size_t count, size_t top,
                  size_t label, double beta, pc_tempered_block *block);
  /* Fills what was wished for. */
  void (*finish)(pc_tempered_wish wish, double beta, pc_tempered_block *block);
  /* out = softmax(beta scores) for rows of `count` scores, one after the other; in place is
   * allowed.  What comes out of a row does not depend on the rows beside it. */
  void (*softmax)(const double *scores, size_t rows, size_t count, double beta, double *out);
  /* The same of floats, each result rounded once, count at most PC_TEMPERED_FLOATS; 0, and
   * anything in out, where scores are not finite or their sum overflows.  Not in place. */
  int (*softmax_floats)(const float *scores, size_t rows, size_t count, double beta,
                        float *out);
} pc_tempered_kernels;

extern const pc_tempered_kernels pc_tempered_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_tempered_kernels *pc_tempered_kernels_at(size_t index);
const pc_tempered_kernels *pc_tempered_kernels_best(void);

static inline size_t pc_tempered_slopes(pc_tempered_wish wish) {
  return wish == PC_TEMPERED_BRIER ? 2 : PC_TEMPERED_SLOPES;
}

#endif
