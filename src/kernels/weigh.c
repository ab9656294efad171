/* Sums over rows; see weigh.h.  Compiled with PC_VARIANT set to the name of an instruction set.
 */
#include "kernels/weigh.h"

#include <string.h>

#define WEIGH_JOIN(a, b) a##b
#define WEIGH_NAME(variant) WEIGH_JOIN(pc_weigh_kernels_, variant)
#define WEIGH_TEXT(variant) WEIGH_QUOTE(variant)
#define WEIGH_QUOTE(text) #text

static void weigh_add(const double *weights, const uint32_t *row, const double *score,
                      const double *hit, size_t count, double *sums) {
  double all[PC_WEIGH_LANES] = {0.0}, hits[PC_WEIGH_LANES] = {0.0};
  double scores[PC_WEIGH_LANES] = {0.0}, squares[PC_WEIGH_LANES] = {0.0};
  double both[PC_WEIGH_LANES] = {0.0};
  for (size_t i = 0; i < count; i++) {
    const double *w = weights + (size_t)row[i] * PC_WEIGH_LANES;
    const double s = score[i], a = hit[i];
    for (size_t k = 0; k < PC_WEIGH_LANES; k++) {
      const double mass = w[k] * s;
      all[k] += w[k];
      hits[k] += w[k] * a;
      scores[k] += mass;
      squares[k] += mass * s;
      both[k] += mass * a;
    }
  }
  memcpy(sums + PC_WEIGH_WEIGHT * PC_WEIGH_LANES, all, sizeof all);
  memcpy(sums + PC_WEIGH_HITS * PC_WEIGH_LANES, hits, sizeof hits);
  memcpy(sums + PC_WEIGH_SCORE * PC_WEIGH_LANES, scores, sizeof scores);
  memcpy(sums + PC_WEIGH_SCORE_SQUARE * PC_WEIGH_LANES, squares, sizeof squares);
  memcpy(sums + PC_WEIGH_SCORE_HIT * PC_WEIGH_LANES, both, sizeof both);
}

const pc_weigh_kernels WEIGH_NAME(PC_VARIANT) = {
    .name = WEIGH_TEXT(PC_VARIANT),
    .add = weigh_add,
};
