#include "../measure/measure_help.h"

#include <math.h>

#include "simulate/population.h"
#include "simulate/simulate.h"

#define POPULATION_ROWS 3000

/* A calibrated model: errors vanish, and the Brier score is the mean of sum p (1 - p) over the
 * same rows. */
TEST(test_calibrated) {
  static const char *const specs[] = {"brier", "ks", "ece", "accuracy", "skce"};
  static float logits[POPULATION_ROWS * 3];
  static int32_t labels[POPULATION_ROWS];
  static double truth[POPULATION_ROWS * 3];
  pcal_simulation sim = PCAL_SIMULATION_INIT;
  const pcal_env env = pc_env_resolve(NULL);
  pc_metric_result values[5];
  sim.classes = 3;
  assert_int_equal(pc_population_outcomes(&sim, POPULATION_ROWS, specs, UNIT_COUNT(specs), &env,
                                          values, NULL),
                   PCAL_OK);
  sim.rows = POPULATION_ROWS;
  sim.first_row = (UINT64_C(1) << 40) / 3 * 3;
  assert_int_equal(pc_simulate(&sim, &env, logits, labels, truth, NULL), PCAL_OK);
  double brier = 0, accuracy = 0;
  for (size_t i = 0; i < POPULATION_ROWS; i++) {
    double top = 0;
    for (size_t k = 0; k < 3; k++) {
      brier += truth[3 * i + k] * (1 - truth[3 * i + k]) / POPULATION_ROWS;
      top = fmax(top, truth[3 * i + k]);
    }
    accuracy += top / POPULATION_ROWS;
  }
  assert_near(values[0].value, brier, 1e-10);
  assert_true(values[1].value < 1e-9 && values[2].value < 1e-9);
  assert_near(values[3].value, accuracy, 1e-10);
  assert_true(values[4].undefined); /* pairs of copies need whole weights */
}

/* A population has no chance to subtract: debiased errors are the plain ones. */
TEST(test_debiased) {
  static const char *const specs[] = {"ece:norm=l2", "ece:norm=l2,debias=yes", "cwce",
                                      "cwce:debias=yes", "decomposition"};
  pcal_simulation sim = PCAL_SIMULATION_INIT;
  const pcal_env env = pc_env_resolve(NULL);
  pc_metric_result values[5];
  sim.classes = 3;
  sim.factor = 1.5;
  assert_int_equal(pc_population_outcomes(&sim, POPULATION_ROWS, specs, UNIT_COUNT(specs), &env,
                                          values, NULL),
                   PCAL_OK);
  assert_near(values[1].value, values[0].value, 1e-6);
  assert_near(values[3].value, values[2].value, 1e-6);
  assert_true(values[0].value > 0.01 && values[2].value > 0.01);
  const pcal_part *parts = values[4].parts; /* calibration and calibration_debiased */
  assert_near(parts[5].value, parts[0].value, 1e-5);
  assert_near(parts[6].value, parts[1].value, 1e-5);
}

/* A metric that is asked for twice, also under a longer spec, has the same value each time, and
 * those behind it have their own. */
TEST(test_repeated_specs) {
  static const char *const specs[] = {"ece",  "brier", "ece",      "ece:bins=15", "skce",
                                      "cwce", "brier", "accuracy", "skce"};
  pcal_simulation sim = PCAL_SIMULATION_INIT;
  const pcal_env env = pc_env_resolve(NULL);
  pc_metric_result values[9];
  sim.classes = 3;
  sim.factor = 2.0;
  assert_int_equal(pc_population_outcomes(&sim, POPULATION_ROWS, specs, UNIT_COUNT(specs), &env,
                                          values, NULL),
                   PCAL_OK);
  for (size_t i = 0; i < UNIT_COUNT(specs); i++) {
    pc_metric_result alone;
    assert_int_equal(
        pc_population_outcomes(&sim, POPULATION_ROWS, &specs[i], 1, &env, &alone, NULL),
        PCAL_OK);
    assert_int_equal(values[i].undefined, alone.undefined);
    assert_same(values[i].value, alone.value);
    assert_null(values[i].class_values);
    assert_int_equal(values[i].class_count, 0);
  }
  assert_true(values[0].value != values[1].value && values[5].value != values[7].value);
}

/* Rows do not depend on where a simulation begins. */
TEST(test_first_row) {
  const pcal_env env = pc_env_resolve(NULL);
  pcal_simulation sim = PCAL_SIMULATION_INIT;
  float all[30], some[12];
  int32_t labels[10], few[4];
  sim.rows = 10;
  sim.classes = 3;
  assert_int_equal(pc_simulate(&sim, &env, all, labels, NULL, NULL), PCAL_OK);
  sim.rows = 4;
  sim.first_row = 6;
  assert_int_equal(pc_simulate(&sim, &env, some, few, NULL, NULL), PCAL_OK);
  assert_memory_equal(all + 18, some, sizeof some);
  assert_memory_equal(labels + 6, few, sizeof few);
  pcal_error err;
  sim.first_row = 7;
  assert_int_equal(pc_simulate(&sim, &env, some, few, NULL, &err), PCAL_USAGE);
  assert_contains(err.message, "the first row is 7; it must be a multiple of the 3 classes");
}

static pcal_status population_all(const pcal_env *env, void *user, pcal_error *err) {
  static const char *const specs[] = {"brier", "ece"};
  pc_metric_result values[2];
  pcal_simulation sim = PCAL_SIMULATION_INIT;
  (void)user;
  sim.classes = 2;
  return pc_population_outcomes(&sim, 4, specs, 2, env, values, err);
}

TEST(test_out_of_memory) {
  unit_fail_each_allocation(population_all, NULL);
}
