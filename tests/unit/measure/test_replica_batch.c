/* Replicas that are added up together are those that come one by one. */
#include "measure_help.h"

#include "base/rng.h"
#include "measure/results.h"

#define LANES_ROWS 700
#define LANES_CLASSES 3
#define LANES_REPLICAS 30

typedef struct lanes_case {
  double probs[LANES_ROWS * LANES_CLASSES], weights[LANES_ROWS];
  int32_t labels[LANES_ROWS];
} lanes_case;

/* With ties; weights 1, 2 or 2.5 where asked for. */
static given_data lanes_data(lanes_case *at, int weighted) {
  const pc_rng rng = {8, 8};
  for (size_t i = 0; i < LANES_ROWS; i++) {
    double *p = at->probs + i * LANES_CLASSES;
    const double a = pc_rng_uniform(&rng, 3 * i);
    p[0] = i % 5 == 0 ? floor(8 * a) / 8 : a;
    p[1] = (1 - p[0]) * pc_rng_uniform(&rng, 3 * i + 1);
    p[2] = 1 - p[0] - p[1];
    at->labels[i] = (int32_t)(3 * pc_rng_uniform(&rng, 3 * i + 2));
    at->weights[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 2.5;
  }
  return (given_data){.kind = PCAL_PROBABILITY,
                      .rows = LANES_ROWS,
                      .columns = LANES_CLASSES,
                      .scores = at->probs,
                      .labels = at->labels,
                      .weights = weighted ? at->weights : NULL};
}

static pcal_results *lanes_measure(const given_data *data, const char *const *specs,
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
static void lanes_check(int weighted) {
  static lanes_case at;
  const given_data data = lanes_data(&at, weighted);
  static const char *const specs[] = {"ks",
                                      "tce:binning=mass,debias=yes",
                                      "smece",
                                      "gce:binning=adaptive,scope=all,classwise=yes",
                                      "decomposition:by=corp",
                                      "decomposition:by=corp,view=classwise"};
  pcal_results *together = lanes_measure(&data, specs, 4);
  pcal_results *apart = lanes_measure(&data, specs, 6);
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
  lanes_check(0);
}

TEST(test_with_weights) {
  lanes_check(1);
}
