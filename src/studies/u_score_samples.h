/* Sets of rows drawn from a finite law, and what metrics say of each. */
#ifndef PC_U_SCORE_SAMPLES_H
#define PC_U_SCORE_SAMPLES_H

#include "studies/u_score_exact.h"

typedef struct pc_u_score_samples {
  pc_finite_distribution law;
  const char *const *specs; /* metrics */
  size_t spec_count;
  uint64_t stream; /* of random numbers */
  size_t rows, sets;
  double *values; /* sets x specs, of the caller; NaN: undefined */
} pc_u_score_samples;

/* Fills the values, over threads; the seed is the environment's. */
PC_CHECKED pcal_status pc_u_score_samples_draw(const pc_u_score_samples *sample,
                                               const pcal_env *env, pcal_error *err);

#endif
