/* Insertion sort of short runs, then merging: stable, so that ties keep their order. */
#include "kernels/class_ranking.h"

#include <string.h>

#define CLASS_RANKING_RUN ((size_t)8)

static void class_ranking_run(const double *probs, uint32_t *order, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) {
    size_t at = i;
    for (; at > begin && probs[order[at - 1]] < probs[i]; at--)
      order[at] = order[at - 1];
    order[at] = (uint32_t)i;
  }
}

static void class_ranking_merge(const double *probs, const uint32_t *from, uint32_t *to,
                                size_t begin, size_t middle, size_t end) {
  size_t left = begin, right = middle;
  for (size_t at = begin; at < end; at++) {
    const int take_left =
        right == end || (left < middle && probs[from[left]] >= probs[from[right]]);
    to[at] = take_left ? from[left++] : from[right++];
  }
}

void pc_class_ranking(const double *probs, size_t count, uint32_t *order, uint32_t *scratch) {
  uint32_t *from = order, *to = scratch;
  for (size_t begin = 0; begin < count; begin += CLASS_RANKING_RUN)
    class_ranking_run(probs, order, begin,
                      begin + CLASS_RANKING_RUN < count ? begin + CLASS_RANKING_RUN : count);
  for (size_t width = CLASS_RANKING_RUN; width < count; width *= 2) {
    for (size_t begin = 0; begin < count; begin += 2 * width) {
      const size_t middle = begin + width < count ? begin + width : count;
      const size_t end = begin + 2 * width < count ? begin + 2 * width : count;
      class_ranking_merge(probs, from, to, begin, middle, end);
    }
    uint32_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != order)
    memcpy(order, from, count * sizeof *order);
}
