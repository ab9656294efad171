/* Sets of rows drawn from a finite distribution, each measured by metrics. */
#ifndef PC_U_SCORE_SAMPLES_H
#define PC_U_SCORE_SAMPLES_H

#include "studies/u_score_exact.h"

typedef struct pc_u_score_samples {
  pc_finite_distribution distribution;
  const char *const *specs; /* metrics */
  size_t spec_count;
  uint64_t stream; /* of random numbers */
  size_t rows, sets;
  double *values; /* sets x specs, allocated by the caller; NaN: undefined */
} pc_u_score_samples;

/* Fills the values, in parallel; the seed is that of the environment. */
PC_CHECKED pcal_status pc_u_score_samples_draw(const pc_u_score_samples *sample,
                                               const pcal_env *env, pcal_error *err);

#endif
