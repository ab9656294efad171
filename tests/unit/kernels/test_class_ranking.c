#include "kernels/class_ranking.h"

#include "../unit.h"
#include "base/rng.h"

#define LONGEST 1000

/* From the most probable on; equal ones by number. */
static void check(const double *probs, size_t count) {
  static uint32_t order[LONGEST], scratch[LONGEST];
  static unsigned char seen[LONGEST];
  memset(seen, 0, sizeof seen);
  pc_class_ranking(probs, count, order, scratch);
  for (size_t r = 0; r < count; r++) {
    assert_true(order[r] < count && !seen[order[r]]);
    seen[order[r]] = 1;
    if (r > 0) {
      const double before = probs[order[r - 1]], here = probs[order[r]];
      assert_true(before > here || (before == here && order[r - 1] < order[r]));
    }
  }
}

TEST(ranks) {
  static const size_t counts[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 64, 100, 257, LONGEST};
  static double probs[LONGEST];
  for (uint64_t seed = 0; seed < 40; seed++)
    for (size_t c = 0; c < UNIT_COUNT(counts); c++) {
      const pc_rng rng = {seed, c};
      for (size_t i = 0; i < counts[c]; i++)
        probs[i] = seed % 4 == 0   ? (double)i
                   : seed % 4 == 1 ? -(double)i
                   : seed % 4 == 2 ? (double)(pc_rng_bits(&rng, i) % 5) / 4
                                   : pc_rng_uniform(&rng, i);
      check(probs, counts[c]);
    }
}
