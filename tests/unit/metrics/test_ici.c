/* Distances from the smooth curve, and its band, against statsmodels. */
#include "event_rows.h"

#include "base/rng.h"

TEST(test_distances) {
  event_rows rows;
  const given_data data = event_rows_given(&rows);
  assert_near(given_value(&data, "ici"), 0.14202507019562532, 1e-7);
  assert_near(given_value(&data, "e50"), 0.12018332788829672, 1e-7);
  assert_near(given_value(&data, "e90"), 0.2835334032884342, 1e-7);
  assert_near(given_value(&data, "emax"), 0.29945896716625897, 1e-7);
}

TEST(test_band) {
  event_rows rows;
  const given_data data = event_rows_given(&rows);
  pcal_results *results = given_results_with_curves(&data, "ici");
  const double *score = given_column(results, 0, "score", 201);
  assert_near(score[0], 0.025, 1e-15);
  assert_near(score[200], 0.975, 1e-15);
  assert_near(given_column(results, 0, "frequency", 201)[0], 0.3025350756916368, 1e-6);
  assert_near(given_column(results, 0, "low", 201)[0], 0.0276237726036091, 1e-6);
  assert_near(given_column(results, 0, "high", 201)[0], 0.8688189196310492, 1e-6);
  pcal_results_free(results);
}

/* Edge case 3 of the curve: it is 0, and the distance is the score. */
TEST(test_one_outcome) {
  const given_data data = {.kind = PCAL_PROBABILITY,
                           .rows = 3,
                           .columns = 1,
                           .scores = (const double[]){0.1, 0.2, 0.6},
                           .labels = (const int32_t[]){0, 0, 0}};
  assert_near(given_value(&data, "ici"), 0.3, 1e-15);
  assert_near(given_value(&data, "e50"), 0.2, 1e-15);
  assert_near(given_value(&data, "emax"), 0.6, 1e-15);
}

/* Edge cases 2 and 4 of the curve: one score has its frequency; separated outcomes have 0 and
 * 1. */
TEST(test_few_scores) {
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = 4,
                     .columns = 1,
                     .scores = (const double[]){0.3, 0.3, 0.3, 0.3},
                     .labels = (const int32_t[]){0, 1, 0, 1}};
  assert_near(given_value(&data, "ici"), 0.2, 1e-9);
  data.scores = (const double[]){0.2, 0.2, 0.9, 0.9};
  data.labels = (const int32_t[]){0, 0, 1, 1};
  assert_near(given_value(&data, "ici"), 0.15, 1e-6);
  data.scores = (const double[]){0, 0, 1, 1};
  assert_true(given_value(&data, "ici") < 1e-6);
}

/* Edge case 5 of the curve: 20000 distinct scores are joined, 16000 of them are not. */
TEST(test_joined_scores) {
  enum { ICI_MANY = 20000 };
  static double scores[ICI_MANY];
  static int32_t labels[ICI_MANY];
  const pc_rng rng = {5, 6};
  for (size_t i = 0; i < ICI_MANY; i++) {
    const double u = pc_rng_uniform(&rng, 2 * i);
    scores[i] = i % 5 == 0 ? 0.5 : u;
    labels[i] = pc_rng_uniform(&rng, 2 * i + 1) < scores[i] * scores[i];
  }
  given_data data = {.kind = PCAL_PROBABILITY,
                     .rows = ICI_MANY,
                     .columns = 1,
                     .scores = scores,
                     .labels = labels};
  const double apart = given_value(&data, "ici"), highest = given_value(&data, "emax");
  for (size_t i = 0; i < ICI_MANY; i += 5)
    scores[i] = 0.5 + (double)i * 1e-12; /* now there are 20000 scores */
  assert_near(given_value(&data, "ici"), apart, 1e-6);
  assert_near(given_value(&data, "emax"), highest, 1e-3);
}
