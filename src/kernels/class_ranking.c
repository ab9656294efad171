/* Few classes are counted, more are sorted.  Ties keep their order. */
#include "kernels/class_ranking.h"

#define PC_SORT_NAME class_ranking_sort
#define PC_SORT_TYPE uint32_t
#define PC_SORT_CONTEXT const double *
#define PC_SORT_IN_ORDER(probs, a, b) ((probs)[*(a)] >= (probs)[*(b)])
#include "base/stable_sort.h"

#define CLASS_RANKING_FEW 16

/* Counts how many come before each, without branches. */
static void class_ranking_count(const double *probs, size_t count, uint32_t *order) {
  for (size_t j = 0; j < count; j++) {
    size_t rank = 0;
    for (size_t i = 0; i < j; i++)
      rank += probs[i] >= probs[j];
    for (size_t i = j + 1; i < count; i++)
      rank += probs[i] > probs[j];
    order[rank] = (uint32_t)j;
  }
}

void pc_class_ranking(const double *probs, size_t count, uint32_t *order, uint32_t *scratch) {
  if (count <= CLASS_RANKING_FEW) {
    class_ranking_count(probs, count, order);
    return;
  }
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)i;
  class_ranking_sort(probs, order, scratch, count);
}
