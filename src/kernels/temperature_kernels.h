/* Losses of rows of scores at a temperature T, and their derivatives by beta = 1/T.  A kernel
 * table: see dispatch.h.
 *
 * The softmax of beta z is an exponential family in beta, so the derivatives of the log score
 * are the cumulants of z. */
#ifndef PC_TEMPERATURE_KERNELS_H
#define PC_TEMPERATURE_KERNELS_H

#include "kernels/row_kernels.h"

/* What is computed: the log score with six derivatives; the same plus the log score at
 * beta = 1; or the Brier score with two derivatives. */
typedef enum pc_temperature_score {
  PC_TEMPERATURE_LOG,
  PC_TEMPERATURE_LOG_AND_ONE,
  PC_TEMPERATURE_BRIER
} pc_temperature_score;

#define PC_TEMPERATURE_SLOPES 6
#define PC_TEMPERATURE_ROWS 256

/* Rows of one width: add_f32 and add_f64 fill sums over the classes, finish turns them into
 * losses and derivatives.  Narrow rows are collected until every lane has one. */
typedef struct pc_temperature_block {
  size_t count, classes;
  double lanes[PC_NARROW_CLASSES * PC_LANES]; /* narrow rows: score minus the largest */
  double gap[PC_TEMPERATURE_ROWS];            /* score of the label minus the largest score */
  double loss[PC_TEMPERATURE_ROWS]; /* before finish: sum of the terms without the largest */
  double one[PC_TEMPERATURE_ROWS];  /* the same at beta = 1 */
  double slope[PC_TEMPERATURE_SLOPES][PC_TEMPERATURE_ROWS];
} pc_temperature_block;

/* Most scores of a row for softmax_floats. */
#define PC_TEMPERATURE_FLOATS 4096

typedef struct pc_temperature_kernels {
  /* Adds a row to a block that is not full.  scores: finite or -inf; the largest, at index
   * `top`, is finite.  beta is in [1e-4, 1e4].  For the log score the score of the label is not
   * -inf. */
  void (*add_f32)(pc_temperature_score score, const float *scores, size_t count, size_t top,
                  size_t label, double beta, pc_temperature_block *block);
  void (*add_f64)(pc_temperature_score score, const double *scores, size_t count, size_t top,
                  size_t label, double beta, pc_temperature_block *block);
  /* Fills loss, slope and one, as the score needs. */
  void (*finish)(pc_temperature_score score, double beta, pc_temperature_block *block);
  /* out = softmax(beta scores) for consecutive rows of `count` scores; out may be scores.  The
   * result of a row does not depend on the other rows. */
  void (*softmax)(const double *scores, size_t rows, size_t count, double beta, double *out);
  /* The same for floats, rounded once; count is at most PC_TEMPERATURE_FLOATS, and out is not
   * scores. Returns 0, with out undefined, if scores are not finite or their sum overflows. */
  int (*softmax_floats)(const float *scores, size_t rows, size_t count, double beta,
                        float *out);
  /* gaps[c * rows + r]: score of class c of row r minus the largest of the row.  With the terms
   * exp(beta gap), of which those below exp(-708) are 0: norm is the logarithm of their sum, mean
   * and variance are those of the gaps with the terms as weights. */
  void (*moments)(const double *gaps, size_t classes, size_t rows, double beta, double *norm,
                  double *mean, double *variance);
} pc_temperature_kernels;

static inline size_t pc_temperature_slopes(pc_temperature_score score) {
  return score == PC_TEMPERATURE_BRIER ? 2 : PC_TEMPERATURE_SLOPES;
}

#endif
