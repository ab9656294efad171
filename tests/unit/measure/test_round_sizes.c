/* How many rounds models of very many rows take, and how large their tallies are. */
#include "rounds_help.h"

#include <math.h>

#include "emulated.h"

/* Of a calibrated model smece is small and asks for narrow cells, a part of them in each round. */
TEST(a_calibrated_model_of_many_rows) {
  skip_if_emulated();
  const pc_rng rng = {77, 3};
  rounds_data data = rounds_data_draw(1000000, 1, 0, 0, 0);
  for (size_t i = 0; i < data.rows; i++)
    data.labels[i] = pc_rng_uniform(&rng, i) < data.scores[i];
  const pcal_measure_config config = rounds_config(&data, NULL, 0);
  const rounds_cost cost = rounds_compare(&data, &config, 3);
  assert_true(cost.rounds >= 3 && cost.rounds <= 6);
  assert_true(cost.tally > 1000000 && cost.tally < 2000000);
  rounds_data_free(&data);
}

/* The same of ten billion rows: two rows with weights for each of 100,000 scores.  Labels move by chance, so that
 * smece is 0.0003; tallies do not grow. */
TEST(a_calibrated_model_of_ten_billion_rows) {
  skip_if_emulated();
  const pc_rng rng = {78, 3};
  const double copies = 1e5;
  rounds_data data = rounds_data_draw(200000, 1, 0, 1, 0);
  for (size_t i = 0; i < data.rows; i += 2) {
    const double p = pc_rng_uniform(&rng, i);
    double deviate = -6.0; /* of variance 1 */
    for (size_t k = 0; k < 12; k++)
      deviate += pc_rng_uniform(&rng, data.rows + 12 * i + k);
    const double hits = floor(copies * p + deviate * sqrt(copies * p * (1 - p)));
    data.scores[i] = data.scores[i + 1] = p;
    data.labels[i] = 1;
    data.labels[i + 1] = 0;
    data.weights[i] = fmin(fmax(hits, 0), copies);
    data.weights[i + 1] = copies - data.weights[i];
  }
  const pcal_measure_config config = rounds_config(&data, NULL, 0);
  const rounds_cost cost = rounds_compare(&data, &config, 2);
  assert_true(cost.rounds <= 7);
  assert_true(cost.tally < 2000000);
  rounds_data_free(&data);
}
