/* Decomposition of proper scores of a binary outcome into calibration, sharpness and entropy,
 * by bins.  (By isotonic regression: curve/corp_decomposition.h.) */
#ifndef PC_DECOMPOSE_H
#define PC_DECOMPOSE_H

#include "stats/bins.h"

typedef enum pc_binary_score { PC_BINARY_BRIER, PC_BINARY_LOG } pc_binary_score;

/* score = calibration - sharpness + entropy + within_variance - within_covariance; also with
 * the debiased parts in place of the plain ones. */
typedef struct pc_decomposition {
  double score; /* if infinite, the other parts are meaningless */
  double calibration, sharpness, entropy;
  double within_variance, within_covariance;                         /* inside bins */
  double calibration_debiased, sharpness_debiased, entropy_debiased; /* Brier score only */
} pc_decomposition;

/* Sums of logarithms of the scores p in a bin, by outcome. */
enum {
  PC_LOG_HIT,       /* log p */
  PC_LOG_MISS,      /* log p */
  PC_LOG_REST_HIT,  /* log(1 - p) */
  PC_LOG_REST_MISS, /* log(1 - p) */
  PC_BIN_LOGS
};
typedef struct pc_bin_logs {
  double sum[PC_BIN_LOGS]; /* HIT and REST_MISS: -infinity if any term is infinite; the others:
                              sum of the finite terms only */
  unsigned infinite;       /* bit i: sum i has an infinite term */
} pc_bin_logs;

/* Both add to *sum, so that the parts of several classes can be summed. */

/* Brier score.  The bins need score_square and score_hit. */
void pc_decompose_brier(const pc_bin *bins, size_t count, double total, pc_decomposition *sum);

/* Log score.  If the score is finite, all parts are. */
void pc_decompose_log(const pc_bin *bins, const pc_bin_logs *logs, size_t count, double total,
                      pc_decomposition *sum);

/* weight * log(share); 0 log 0 is 0. */
double pc_weighted_log(double weight, double share);

/* The summed score of `weight` rows, `hits` of them hits, that all predict hits / weight. */
double pc_binary_entropy(pc_binary_score score, double hits, double weight);

#endif
