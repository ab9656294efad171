/* A growing column of scores with weights, in any order. */
#ifndef PC_KEPT_SCORES_H
#define PC_KEPT_SCORES_H

#include "base/memory.h"

typedef struct pc_kept_scores {
  double *score, *weight; /* weight NULL: all weights are 1 so far */
  size_t count, score_capacity, weight_capacity;
} pc_kept_scores;

void pc_kept_scores_free(const pcal_env *env, pc_kept_scores *kept);

/* Reserves memory for `more` scores; weighted: also for their weights. */
PC_CHECKED pcal_status pc_kept_scores_reserve(const pcal_env *env, pc_kept_scores *kept,
                                              size_t more, int weighted, pcal_error *err);
PC_CHECKED pcal_status pc_kept_scores_append(const pcal_env *env, pc_kept_scores *into,
                                             const pc_kept_scores *from, pcal_error *err);
/* The same after reserving memory for them; cannot fail. */
void pc_kept_scores_join(pc_kept_scores *into, const pc_kept_scores *from);

static inline double pc_kept_scores_weight(const pc_kept_scores *kept, size_t i) {
  return kept->weight == NULL ? 1.0 : kept->weight[i];
}

#endif
