/* Replicas that are added up together are those that come one by one. */
#include "measure_help.h"

#include "base/rng.h"
#include "measure/results.h"

#define BATCH_ROWS 700
#define LANES_CLASSES 3
#define LANES_REPLICAS 30

typedef struct batch_case {
  double probs[BATCH_ROWS * LANES_CLASSES], weights[BATCH_ROWS];
  int32_t labels[BATCH_ROWS];
} batch_case;

/* With ties; weights 1, 2 or 2.5 where asked for. */
static given_data batch_data(batch_case *at, int weighted) {
  const pc_rng rng = {8, 8};
  for (size_t i = 0; i < BATCH_ROWS; i++) {
    double *p = at->probs + i * LANES_CLASSES;
    const double a = pc_rng_uniform(&rng, 3 * i);
    p[0] = i % 5 == 0 ? floor(8 * a) / 8 : a;
    p[1] = (1 - p[0]) * pc_rng_uniform(&rng, 3 * i + 1);
    p[2] = 1 - p[0] - p[1];
    at->labels[i] = (int32_t)(3 * pc_rng_uniform(&rng, 3 * i + 2));
    at->weights[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 2.5;
  }
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = BATCH_ROWS,
                      .columns = LANES_CLASSES,
                      .scores = at->probs,
                      .labels = at->labels,
                      .weights = weighted ? at->weights : NULL};
}

static pcal_results *batch_measure(const given_data *data, const char *const *specs,
                                   size_t count) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_measure *measure = NULL;
  pcal_results *results = NULL;
  const pcal_batch batch = given_batch(data);
  config.kind = data->kind;
  config.columns = data->columns;
  config.specs = specs;
  config.spec_count = count;
  config.interval = 0.95;
  config.replicas = LANES_REPLICAS;
  config.interval_method = PCAL_INTERVAL_PERCENTILE;
  config.paired = 1;
  assert_int_equal(pcal_measure_new(&config, NULL, &measure, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_update(measure, &batch, NULL), PCAL_OK);
  assert_int_equal(pcal_measure_finish(measure, &results, NULL), PCAL_OK);
  pcal_measure_free(measure);
  return results;
}

/* Isotonic regression takes whole curves: beside it all others are evaluated on them too. */
static void batch_check(int weighted) {
  static batch_case at;
  const given_data data = batch_data(&at, weighted);
  static const char *const specs[] = {"ks",
                                      "tce:binning=mass,debias=yes",
                                      "smece",
                                      "gce:binning=adaptive,scope=all,classwise=yes",
                                      "decomposition:by=corp",
                                      "decomposition:by=corp,view=classwise"};
  pcal_results *together = batch_measure(&data, specs, 4);
  pcal_results *apart = batch_measure(&data, specs, 6);
  for (size_t m = 0; m < 4; m++)
    for (size_t r = 0; r < LANES_REPLICAS; r++) {
      const double a = together->replicas[m * LANES_REPLICAS + r];
      const double b = apart->replicas[m * LANES_REPLICAS + r];
      assert_near(a, b, m == 2 ? 1e-3 * b : 1e-11);
    }
  pcal_results_free(together);
  pcal_results_free(apart);
}

TEST(test_the_same_values) {
  batch_check(0);
}

TEST(test_with_weights) {
  batch_check(1);
}
