/* Predictions of a study in memory, as probabilities with labels. */
#ifndef PC_STUDY_PROBS_H
#define PC_STUDY_PROBS_H

#include "data/rows.h"
#include "io/source.h"
#include "studies/study.h"

typedef struct pc_study_probs {
  const pcal_env *env;
  pc_layout layout; /* of the source */
  size_t rows;
  size_t classes;  /* of a row: 2 for one column, 1 for confidences */
  double *probs;   /* rows x classes */
  int32_t *labels; /* for confidences 1 where a prediction was correct, else 0 */
} pc_study_probs;

/* Reads and checks all rows, from the first one on.  Weights are refused.  Free out even after
 * a failure; a zeroed one is allowed. */
PC_CHECKED pcal_status pc_study_probs_read(const pc_study_job *job, pcal_source *source,
                                           pc_study_probs *out, pcal_error *err);
void pc_study_probs_free(pc_study_probs *data);

/* A batch of these rows that borrows them; one column where the source had one. */
void pc_study_probs_batch(const pc_study_probs *data, pcal_batch *out);

/* Makes one column count as two, so that metrics judge the predicted class, not class 1. */
void pc_study_probs_widen(pc_study_probs *data);

/* A source of probabilities that borrows these rows. */
PC_CHECKED pcal_status pc_study_probs_source(const pc_study_probs *data, pcal_source **out,
                                             pcal_error *err);

#endif
