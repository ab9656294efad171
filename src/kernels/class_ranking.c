#include "kernels/class_ranking.h"

#define PC_SORT_NAME class_ranking_sort
#define PC_SORT_TYPE uint32_t
#define PC_SORT_CONTEXT const double *
#define PC_SORT_IN_ORDER(probs, a, b) ((probs)[*(a)] >= (probs)[*(b)])
#include "base/stable_sort.h"

void pc_class_ranking(const double *probs, size_t count, uint32_t *order, uint32_t *scratch) {
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)i;
  class_ranking_sort(probs, order, scratch, count);
}
