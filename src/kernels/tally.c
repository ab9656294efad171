/* Sums over rows; see tally.h.  Compiled with PC_VARIANT set to the name of an instruction set.
 */
#include "kernels/tally.h"

#include <string.h>

#define TALLY_JOIN(a, b) a##b
#define TALLY_NAME(variant) TALLY_JOIN(pc_tally_kernels_, variant)
#define TALLY_TEXT(variant) TALLY_QUOTE(variant)
#define TALLY_QUOTE(text) #text

static void tally_add(const double *weights, const uint32_t *row, const double *score,
                      const double *hit, size_t count, double *sums) {
  double all[PC_TALLY_LANES] = {0.0}, hits[PC_TALLY_LANES] = {0.0};
  double scores[PC_TALLY_LANES] = {0.0}, squares[PC_TALLY_LANES] = {0.0};
  double both[PC_TALLY_LANES] = {0.0};
  for (size_t i = 0; i < count; i++) {
    const double *w = weights + (size_t)row[i] * PC_TALLY_LANES;
    const double s = score[i], a = hit[i];
    for (size_t k = 0; k < PC_TALLY_LANES; k++) {
      const double mass = w[k] * s;
      all[k] += w[k];
      hits[k] += w[k] * a;
      scores[k] += mass;
      squares[k] += mass * s;
      both[k] += mass * a;
    }
  }
  memcpy(sums + PC_TALLY_WEIGHT * PC_TALLY_LANES, all, sizeof all);
  memcpy(sums + PC_TALLY_HITS * PC_TALLY_LANES, hits, sizeof hits);
  memcpy(sums + PC_TALLY_SCORE * PC_TALLY_LANES, scores, sizeof scores);
  memcpy(sums + PC_TALLY_SCORE_SQUARE * PC_TALLY_LANES, squares, sizeof squares);
  memcpy(sums + PC_TALLY_SCORE_HIT * PC_TALLY_LANES, both, sizeof both);
}

const pc_tally_kernels TALLY_NAME(PC_VARIANT) = {
    .name = TALLY_TEXT(PC_VARIANT),
    .add = tally_add,
};
