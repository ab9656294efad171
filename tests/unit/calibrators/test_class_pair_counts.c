#include "calibrators/binning/class_pair_counts.h"

#include "../unit.h"
#include "base/rng.h"

#define CLASSES 50
#define DRAWS 20000

/* Against a square of counters, added in two halves and merged. */
TEST(counts) {
  const pcal_env env = pc_env_resolve(NULL);
  static double expected[CLASSES * CLASSES];
  pc_class_pair_counts halves[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
  const pc_rng rng = {1, 1};
  double *pairs = NULL, *weights = NULL;
  for (uint64_t i = 0; i < DRAWS; i++) {
    const uint64_t pair = (pc_rng_bits(&rng, i) % (CLASSES * CLASSES)) | 1;
    const double weight = (double)(i % 4) / 4;
    expected[pair] += weight;
    assert_int_equal(pc_class_pair_counts_add(&env, &halves[i % 2], pair, weight, NULL),
                     PCAL_OK);
  }
  assert_int_equal(pc_class_pair_counts_merge(&env, &halves[0], &halves[1], NULL), PCAL_OK);
  assert_int_equal(pc_class_pair_counts_list(&env, &halves[0], &pairs, &weights, NULL),
                   PCAL_OK);
  size_t at = 0;
  for (size_t p = 0; p < CLASSES * CLASSES; p++)
    if (p % 2 == 1) {
      assert_same(pairs[at], (double)p);
      assert_same(weights[at++], expected[p]);
    }
  assert_int_equal(halves[0].count, at);
  pc_free(&env, pairs);
  pc_class_pair_counts_free(&env, &halves[0]);
  pc_class_pair_counts_free(&env, &halves[1]);
}

TEST(nothing) {
  const pcal_env env = pc_env_resolve(NULL);
  pc_class_pair_counts none = {NULL, 0, 0}, other = {NULL, 0, 0};
  double *pairs = NULL, *weights = NULL;
  assert_int_equal(pc_class_pair_counts_merge(&env, &none, &other, NULL), PCAL_OK);
  assert_int_equal(pc_class_pair_counts_list(&env, &none, &pairs, &weights, NULL), PCAL_OK);
  assert_int_equal(none.count, 0);
  pc_free(&env, pairs);
}
