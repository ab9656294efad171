/* Rows of scores under a temperature: what a row adds to an objective and its derivatives.
 *
 * beta = 1/T.  The softmax of beta z is an exponential family in beta, so the derivatives of
 * the log score are the cumulants of z under it. */
#ifndef PC_TEMPERATURE_KERNELS_H
#define PC_TEMPERATURE_KERNELS_H

#include "kernels/row_kernels.h"

/* What is wanted of a row: the log score with six derivatives by beta, the same and the log
 * score for beta = 1, or the Brier score with two derivatives. */
typedef enum pc_temperature_score {
  PC_TEMPERATURE_LOG,
  PC_TEMPERATURE_LOG_AND_ONE,
  PC_TEMPERATURE_BRIER
} pc_temperature_score;

#define PC_TEMPERATURE_SLOPES 6
#define PC_TEMPERATURE_ROWS 256

/* Rows of one width on their way: first sums over their classes, then what they mean.  Narrow
 * rows wait until every lane has one. */
typedef struct pc_temperature_block {
  size_t count, classes;
  double lanes[PC_NARROW_CLASSES * PC_LANES]; /* of waiting rows: scores less the largest */
  double gap[PC_TEMPERATURE_ROWS];            /* score of the label less the largest score */
  double loss[PC_TEMPERATURE_ROWS]; /* until finished: sum of the terms without the largest */
  double one[PC_TEMPERATURE_ROWS];  /* the same for beta = 1 */
  double slope[PC_TEMPERATURE_SLOPES][PC_TEMPERATURE_ROWS];
} pc_temperature_block;

/* One portable source, compiled once for each instruction set, all with the same bits. */
#define PC_TEMPERATURE_FLOATS 4096

typedef struct pc_temperature_kernels {
  const char *name;
  /* Adds a row to a block that is not full.  scores: finite or -inf, the largest, at `top`,
   * finite; beta in [1e-4, 1e4].  For the log score the score of the label is not -inf. */
  void (*add_f32)(pc_temperature_score wish, const float *scores, size_t count, size_t top,
                  size_t label, double beta, pc_temperature_block *block);
  void (*add_f64)(pc_temperature_score wish, const double *scores, size_t count, size_t top,
                  size_t label, double beta, pc_temperature_block *block);
  /* Fills what was wished for. */
  void (*finish)(pc_temperature_score wish, double beta, pc_temperature_block *block);
  /* out = softmax(beta scores) for rows of `count` scores, one after the other; in place is
   * allowed.  What comes out of a row does not depend on the rows beside it. */
  void (*softmax)(const double *scores, size_t rows, size_t count, double beta, double *out);
  /* The same of floats, each result rounded once, count at most PC_TEMPERATURE_FLOATS; 0, and
   * anything in out, where scores are not finite or their sum overflows.  Not in place. */
  int (*softmax_floats)(const float *scores, size_t rows, size_t count, double beta,
                        float *out);
} pc_temperature_kernels;

extern const pc_temperature_kernels pc_temperature_kernels_portable;

/* All variants that this processor can run, the reference first; NULL behind the last. */
const pc_temperature_kernels *pc_temperature_kernels_at(size_t index);
const pc_temperature_kernels *pc_temperature_kernels_best(void);

static inline size_t pc_temperature_slopes(pc_temperature_score wish) {
  return wish == PC_TEMPERATURE_BRIER ? 2 : PC_TEMPERATURE_SLOPES;
}

#endif
