/* Proper scores of a binary outcome, taken apart into calibration, sharpness and entropy. */
#ifndef PC_DECOMPOSE_H
#define PC_DECOMPOSE_H

#include "stats/bins.h"

typedef enum pc_binary_score { PC_BINARY_BRIER, PC_BINARY_LOG } pc_binary_score;

/* score = calibration - sharpness + entropy + within_variance - within_covariance; the same
 * with the debiased parts. */
typedef struct pc_decomposition {
  double score; /* may be infinite; the other parts are then not to be used */
  double calibration, sharpness, entropy;
  double within_variance, within_covariance;                         /* of bins */
  double calibration_debiased, sharpness_debiased, entropy_debiased; /* Brier score by bins */
} pc_decomposition;

/* Sums of logarithms in a bin, over scores p that came true and that did not. */
enum {
  PC_LOG_HIT,       /* log p */
  PC_LOG_MISS,      /* log p */
  PC_LOG_REST_HIT,  /* log(1 - p) */
  PC_LOG_REST_MISS, /* log(1 - p) */
  PC_BIN_LOGS
};
typedef struct pc_bin_logs {
  double sum[PC_BIN_LOGS]; /* HIT and REST_MISS: -infinity where a score is 0 or 1; the others:
                              of the finite logarithms */
  unsigned infinite;       /* bit i: sum i has an infinite term */
} pc_bin_logs;

/* All add to *sum, so that parts of several classes can be summed. */

/* The Brier score by bins with score_square and score_hit. */
void pc_decompose_brier(const pc_bin *bins, size_t count, double total, pc_decomposition *sum);

/* The log score by bins: where the score is finite all parts are. */
void pc_decompose_log(const pc_bin *bins, const pc_bin_logs *logs, size_t count, double total,
                      pc_decomposition *sum);

/* Either score by isotonic recalibration of a table of single scores. */
PC_CHECKED pcal_status pc_decompose_corp(const pcal_env *env, const pc_curve_table *table,
                                         pc_binary_score score, pc_decomposition *sum,
                                         pcal_error *err);

#endif
