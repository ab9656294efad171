#include "../measure/measure_help.h"

#include "figure/class_chance.h"

/* Four rows with equal scores: half of the rows of a calibrated model, on average, are of class 0.
 * E|X - 2| of four fair coins is (2*2 + 1*8) / 16. */
static pc_chance_ece chance_of_coins(const double *weights) {
  static const double scores[] = {0.5, 0.25, 0.25, 0.5, 0.25, 0.25,
                                  0.5, 0.25, 0.25, 0.5, 0.25, 0.25};
  static const int32_t labels[] = {0, 1, 2, 0};
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 4,
                           .columns = 3,
                           .scores = scores,
                           .labels = labels,
                           .weights = weights};
  pcal_results *results = given_results_with_curves(&data, "sce");
  const pc_chance_ece chance = pc_class_chance(results, pc_results_record(results, "sce"), 0);
  pcal_results_free(results);
  return chance;
}

TEST(test_coins) {
  const pc_chance_ece chance = chance_of_coins(NULL);
  assert_near(chance.mean, 12.0 / 16 / 4, 1e-12);
  assert_near(chance.deviation, sqrt(1 - 0.75 * 0.75) / 4, 1e-12);
}

/* Whole weights stand for rows: eight coins, E|X - 4| = 2 (5) C(8, 5) / 2^9. */
TEST(test_weights_are_rows) {
  static const double weights[] = {2, 2, 2, 2};
  assert_near(chance_of_coins(weights).mean, 560.0 / 512 / 8, 1e-12);
}

TEST(test_without_bins) {
  static const double scores[] = {0.5, 0.25, 0.25};
  static const int32_t labels[] = {0};
  const given_data data = {
      .kind = PCAL_PROBABILITY, .rows = 1, .columns = 3, .scores = scores, .labels = labels};
  pcal_results *results = given_results(&data, "sce");
  assert_true(isnan(pc_class_chance(results, pc_results_record(results, "sce"), 0).mean));
  pcal_results_free(results);
}
