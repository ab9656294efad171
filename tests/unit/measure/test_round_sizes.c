/* How many rounds models of very many rows take, and how large their tallies are. */
#include "rounds_help.h"

#include <math.h>

#include "emulated.h"

/* Of a calibrated model smece is small and asks for narrow cells. */
TEST(a_calibrated_model_of_many_rows) {
  skip_if_emulated();
  const pc_rng rng = {77, 3};
  rounds_data data = rounds_data_draw(1000000, 1, 0, 0, 0);
  for (size_t i = 0; i < data.rows; i++)
    data.labels[i] = pc_rng_uniform(&rng, i) < data.scores[i];
  const pcal_measure_config config = rounds_config(&data, NULL, 0);
  const rounds_cost cost = rounds_compare(&data, &config, 3);
  assert_in_range(cost.rounds, 2, 6);
  assert_true(cost.tally > 1000000 && cost.tally < 2000000);
  rounds_data_free(&data);
}

/* Two rows with weights for each of many scores, which have `copies` rows each.  Labels move by
 * chance around scores whose distance from 1/2 is `off` too large.
 *
 * up : added before hits are rounded down; 0 loses half a hit of each score, as ks can see */
static rounds_cost sizes_of_copies(double copies, double off, double up, const char *spec) {
  const pc_rng rng = {78, 3};
  rounds_data data = rounds_data_draw(1200000, 1, 0, 1, 0);
  for (size_t i = 0; i < data.rows; i += 2) {
    const double p = pc_rng_uniform(&rng, i), truth = 0.5 + (p - 0.5) * (1 - off);
    double deviate = -6.0; /* of variance 1 */
    for (size_t k = 0; k < 12; k++)
      deviate += pc_rng_uniform(&rng, data.rows + 12 * i + k);
    const double hits =
        floor(copies * truth + deviate * sqrt(copies * truth * (1 - truth)) + up);
    data.scores[i] = data.scores[i + 1] = p;
    data.labels[i] = 1;
    data.labels[i + 1] = 0;
    data.weights[i] = fmin(fmax(hits, 0), copies);
    data.weights[i + 1] = copies - data.weights[i];
  }
  const pcal_measure_config config = rounds_config(&data, &spec, spec == NULL ? 0 : 1);
  const rounds_cost cost = rounds_compare(&data, &config, 2);
  rounds_data_free(&data);
  return cost;
}

/* A calibrated model of a billion rows, whose smece is 0.0003. */
TEST(a_calibrated_model_of_a_billion_rows) {
  skip_if_emulated();
  const rounds_cost cost = sizes_of_copies(1666, 0.0, 0.0, NULL);
  assert_in_range(cost.rounds, 3, 6);
  assert_true(cost.tally < 2000000);
}

/* A model of ten billion rows that is off by up to a quarter of a point. */
TEST(a_good_model_of_ten_billion_rows) {
  skip_if_emulated();
  const rounds_cost cost = sizes_of_copies(16666, 0.005, 0.0, NULL);
  assert_in_range(cost.rounds, 3, 6);
  assert_true(cost.tally < 2000000);
}

/* One that is calibrated takes more rounds, not larger tallies. */
TEST(a_calibrated_model_of_ten_billion_rows) {
  skip_if_emulated();
  const rounds_cost cost = sizes_of_copies(16666, 0.0, 0.0, NULL);
  assert_in_range(cost.rounds, 7, 16);
  assert_true(cost.tally < 2000000);
}

/* A calibrated model of a billion rows: ks divides each part of the axis into as many as can
 * rule out a wider gap. */
TEST(ks_of_a_calibrated_model_of_a_billion_rows) {
  skip_if_emulated();
  const rounds_cost cost = sizes_of_copies(1666, 0.0, 0.5, "ks");
  assert_in_range(cost.rounds, 3, 5);
  assert_true(cost.tally < 2000000);
}
