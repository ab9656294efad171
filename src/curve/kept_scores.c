#include "curve/kept_scores.h"

#include <string.h>

#include "base/assert.h"

void pc_kept_scores_free(const pcal_env *env, pc_kept_scores *kept) {
  pc_free(env, kept->score);
  pc_free(env, kept->weight);
  *kept = (pc_kept_scores){0};
}

pcal_status pc_kept_scores_reserve(const pcal_env *env, pc_kept_scores *kept, size_t more,
                                   int weighted, pcal_error *err) {
  const size_t needed = kept->count + more;
  void *block = kept->score;
  pcal_status status =
      pc_reserve(env, &block, &kept->score_capacity, needed, sizeof(double), err);
  kept->score = block;
  if (status != PCAL_OK || (!weighted && kept->weight == NULL))
    return status;
  const int fresh = kept->weight == NULL;
  block = kept->weight;
  status = pc_reserve(env, &block, &kept->weight_capacity, needed, sizeof(double), err);
  kept->weight = block;
  for (size_t i = 0; status == PCAL_OK && fresh && i < kept->count; i++)
    kept->weight[i] = 1.0;
  return status;
}

void pc_kept_scores_join(pc_kept_scores *into, const pc_kept_scores *from) {
  if (from->count == 0)
    return;
  pc_assert(into->count + from->count <= into->score_capacity);
  memcpy(into->score + into->count, from->score, from->count * sizeof(double));
  for (size_t i = 0; into->weight != NULL && i < from->count; i++)
    into->weight[into->count + i] = pc_kept_scores_weight(from, i);
  into->count += from->count;
}

pcal_status pc_kept_scores_append(const pcal_env *env, pc_kept_scores *into,
                                  const pc_kept_scores *from, pcal_error *err) {
  PC_TRY(pc_kept_scores_reserve(env, into, from->count, from->weight != NULL, err));
  pc_kept_scores_join(into, from);
  return PCAL_OK;
}
