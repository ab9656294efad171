/* Features and targets in memory, for studies that train a model. */
#ifndef PC_STUDY_FEATURES_H
#define PC_STUDY_FEATURES_H

#include "io/source.h"
#include "studies/study.h"

typedef struct pc_study_features {
  const pcal_env *env;
  size_t rows, columns;
  double *inputs; /* rows x columns */
  double *targets;
} pc_study_features;

/* Reads all rows of the job's features; refuses missing and infinite numbers, and weights.  Free
 * out even after a failure; a zeroed one is allowed. */
PC_CHECKED pcal_status pc_study_features_read(const pc_study_job *job, pc_study_features *out,
                                              pcal_error *err);
void pc_study_features_free(pc_study_features *features);

/* Copies all rows in an order drawn from seed and stream.  Each input is standardised by the first
 * `train` rows, and set to 0 if it is constant there; targets are scaled to the standard deviation
 * `scale` over these rows, or left unchanged if scale is 0. */
void pc_study_features_shuffle(const pc_study_features *features, uint64_t seed,
                               uint64_t stream, size_t train, double scale, double *inputs,
                               double *targets);

#endif
