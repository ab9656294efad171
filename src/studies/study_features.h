/* Numbers to learn from and their targets in memory, for studies that train a model. */
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

/* Reads all rows of the job's features; missing and infinite numbers, and weights, are refused.
 * Free it in any case; a zeroed one is fine. */
PC_CHECKED pcal_status pc_study_features_read(const pc_study_job *job, pc_study_features *out,
                                              pcal_error *err);
void pc_study_features_free(pc_study_features *features);

/* All rows in an order that seed and stream draw.  Each input gets mean 0 and standard
 * deviation 1 over the first `train` rows, and is 0 where it is the same in all of them;
 * targets are only scaled, to the standard deviation `scale` over these rows, or not at all
 * where that is 0. */
void pc_study_features_shuffle(const pc_study_features *features, uint64_t seed,
                               uint64_t stream, size_t train, double scale, double *inputs,
                               double *targets);

#endif
