/* Errors of scores that may lie outside [0, 1], which sources refuse. */
#ifndef PC_UNCLIPPED_SCORES_H
#define PC_UNCLIPPED_SCORES_H

#include "base/memory.h"

/* Scores of one event and its outcomes (0 or 1), row by row; borrowed. */
typedef struct pc_unclipped_scores {
  const double *scores;
  const int32_t *hits;
  size_t rows;
} pc_unclipped_scores;

/* KS error: largest |sum of (score - hit)| / N over the rows up to a score. */
PC_CHECKED pcal_status pc_unclipped_ks(const pc_unclipped_scores *raw, const pcal_env *env,
                                       double *out, pcal_error *err);

/* ECE with bins ((b - 1)/B, b/B], b = 1 .. B.  Scores outside (0, 1] are in no bin: they count
 * as rows but add no gap, as in the published code.  At most PC_UNCLIPPED_BINS_MAX bins. */
#define PC_UNCLIPPED_BINS_MAX 100
double pc_unclipped_ece(const pc_unclipped_scores *raw, size_t bins);

#endif
