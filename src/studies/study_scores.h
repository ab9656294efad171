/* Unconverted scores of a study in memory; several threads may read them at once. */
#ifndef PC_STUDY_SCORES_H
#define PC_STUDY_SCORES_H

#include "io/source.h"
#include "studies/study.h"

typedef struct pc_study_scores {
  const pcal_env *env;
  pcal_kind kind;
  size_t rows, columns;
  double *scores; /* rows x columns */
  int32_t *labels;
  const char *scores_name, *labels_name; /* of the source, which outlives them */
} pc_study_scores;

/* Reads all rows of scores of classes, from the first one on, without checking them; weights are
 * refused.  Free out even after a failure; a zeroed one is allowed. */
PC_CHECKED pcal_status pc_study_scores_read(const pc_study_job *job, pcal_source *source,
                                            pc_study_scores *out, pcal_error *err);
void pc_study_scores_free(pc_study_scores *scores);

/* Grows the buffers to `rows` rows; room: capacities of scores and of labels, 0 at first. */
PC_CHECKED pcal_status pc_study_scores_reserve(pc_study_scores *scores, size_t rows,
                                               size_t room[2], pcal_error *err);

/* A source that borrows these rows; env: of the thread that reads it. */
PC_CHECKED pcal_status pc_study_scores_source(const pc_study_scores *scores,
                                              const pcal_env *env, pcal_source **out,
                                              pcal_error *err);

/* Converts the scores to logits, which a temperature divides; refuses confidences. */
PC_CHECKED pcal_status pc_study_scores_logits(const pc_study_job *job, pc_study_scores *scores,
                                              pcal_error *err);

/* Measures softmax(scores / temperature) of logits. */
PC_CHECKED pcal_status pc_study_scores_at(const pc_study_scores *logits, double temperature,
                                          const pcal_measure_config *config,
                                          const pcal_env *env, pcal_results **out,
                                          pcal_error *err);

#endif
