#include "curve/sorted_column.h"

#include <string.h>

#include "kernels/sort.h"

void pc_sorted_column_free(const pcal_env *env, pc_sorted_column *column) {
  pc_free(env, column->score);
  pc_free(env, column->weight);
  *column = (pc_sorted_column){0};
}

/* Sorts the weights of equal scores, so that they are always added in the same order. */
static void sorted_column_sort_ties(pc_sorted_column *column, double *scratch) {
  for (size_t begin = 0; begin < column->count;) {
    size_t end = begin + 1;
    while (end < column->count && column->score[end] == column->score[begin])
      end++;
    pc_sort(column->weight + begin, scratch, end - begin);
    begin = end;
  }
}

pcal_status pc_sorted_column_sort(const pcal_env *env, pc_sorted_column *column,
                                  pcal_error *err) {
  const int weighted = column->weight != NULL;
  double *scores = pc_alloc_raw(env, column->count, sizeof(double));
  double *weights = weighted ? pc_alloc_raw(env, column->count, sizeof(double)) : NULL;
  const int enough = scores != NULL && (!weighted || weights != NULL);
  if (enough)
    pc_sort_pairs(column->score, column->weight, scores, weights, column->count);
  if (enough && weighted)
    sorted_column_sort_ties(column, weights);
  pc_free(env, scores);
  pc_free(env, weights);
  return enough ? PCAL_OK : pc_fail_memory(err, "sorting scores");
}

pcal_status pc_sorted_column_new(const pcal_env *env, const pc_outcome_column *from,
                                 pc_sorted_column *out, pcal_error *err) {
  const size_t n = from->count;
  const int weighted = from->weight != NULL;
  *out = (pc_sorted_column){.count = n};
  out->score = pc_alloc_raw(env, n, sizeof(double));
  out->weight = weighted ? pc_alloc_raw(env, n, sizeof(double)) : NULL;
  pcal_status status = PCAL_OK;
  if (out->score == NULL || (weighted && out->weight == NULL)) {
    status = pc_fail_memory(err, "sorting scores");
  } else {
    for (size_t i = 0; i < n; i++)
      out->score[i] = from->score[i] + 0.0; /* -0 becomes 0 */
    if (weighted && n > 0)
      memcpy(out->weight, from->weight, n * sizeof(double));
    status = pc_sorted_column_sort(env, out, err);
  }
  if (status != PCAL_OK)
    pc_sorted_column_free(env, out);
  return status;
}
