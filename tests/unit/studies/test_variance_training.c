/* A training step against the public measures and fits, and against differences. */
#include "../calibrators/forecast_fit_help.h"
#include "simulate/friedman.h"
#include "studies/variance_training.h"

#define TRAINING_ROWS 40 /* whole vectors */

typedef struct training_data {
  double inputs[3][PC_FRIEDMAN_INPUTS * TRAINING_ROWS], targets[3][TRAINING_ROWS];
  pc_variance_plan plan;
} training_data;

static void training_make(training_data *data, int absolute) {
  data->plan = (pc_variance_plan){.net = {3, {PC_FRIEDMAN_INPUTS, 12, 7, 2}},
                                  .absolute = absolute,
                                  .rate = 1e-3,
                                  .length = 2,
                                  .seed = 5,
                                  .stream = 9};
  for (size_t s = 0; s < 3; s++) {
    pc_friedman(5, s, TRAINING_ROWS, 0, data->inputs[s], data->targets[s]);
    data->plan.sets[s] = (pc_variance_rows){TRAINING_ROWS, data->inputs[s], data->targets[s]};
  }
}

/* Means and variances for a set, by the parameters given. */
static void training_predict(const training_data *data, const double *parameters, size_t set,
                             double *pairs) {
  static double room[TRAINING_ROWS * 64], columns[PC_FRIEDMAN_INPUTS * TRAINING_ROWS];
  assert_true(pc_dense_net_scratch(&data->plan.net, TRAINING_ROWS) <=
              sizeof room / sizeof *room);
  for (size_t i = 0; i < PC_FRIEDMAN_INPUTS * TRAINING_ROWS; i++)
    columns[i % PC_FRIEDMAN_INPUTS * TRAINING_ROWS + i / PC_FRIEDMAN_INPUTS] =
        data->inputs[set][i];
  const double *made =
      pc_dense_net_forward(&data->plan.net, parameters, columns, TRAINING_ROWS, room);
  for (size_t i = 0; i < TRAINING_ROWS; i++) {
    const double raw = made[TRAINING_ROWS + i];
    pairs[2 * i] = made[i];
    pairs[2 * i + 1] = data->plan.absolute ? fabs(raw) : exp(raw);
  }
}

static void training_agrees(const training_data *data, const double *pairs, int after,
                            const pc_variance_point *point) {
  const forecast_data test = {PCAL_MEAN_VARIANCE, TRAINING_ROWS, 2,   pairs,
                              data->targets[2],   NULL,          NULL};
  assert_near(point->mse, forecast_value(&test, "mse"), 1e-12);
  assert_near(point->dss[after], forecast_value(&test, "dss"), 1e-12);
  assert_near(point->skce[after], forecast_value(&test, "skce:length=2"), 1e-11);
  assert_near(point->variance[after], forecast_value(&test, "mean-variance"), 1e-12);
  assert_near(point->ratio[after], forecast_value(&test, "variance-ratio"), 1e-12);
  assert_near(point->deviation[after], forecast_part(&test, "variance-ratio", "sd"), 1e-10);
}

TEST(test_points) {
  static training_data data;
  static double pairs[2 * TRAINING_ROWS], mapped[2 * TRAINING_ROWS];
  const pcal_env env = pc_env_resolve(NULL);
  for (int absolute = 0; absolute < 2; absolute++) {
    pc_variance_training training;
    pc_variance_point point;
    training_make(&data, absolute);
    assert_int_equal(pc_variance_training_new(&env, &data.plan, &training, NULL), PCAL_OK);
    for (size_t i = 0; i < 3; i++)
      pc_variance_training_step(&training, &point);
    training_predict(&data, training.parameters, PC_VARIANCE_VAL, pairs);
    const forecast_data val = {PCAL_MEAN_VARIANCE, TRAINING_ROWS, 2,   pairs,
                               data.targets[1],    NULL,          NULL};
    pcal_calibrator *platt = forecast_fit(&val, "variance-platt");
    training_predict(&data, training.parameters, PC_VARIANCE_TEST, pairs);
    training_agrees(&data, pairs, 0, &point);
    const forecast_data test = {PCAL_MEAN_VARIANCE, TRAINING_ROWS, 2,   pairs,
                                data.targets[2],    NULL,          NULL};
    forecast_apply(platt, &test, mapped);
    for (size_t i = 0; i < TRAINING_ROWS; i++)
      assert_near(mapped[2 * i + 1], point.map.w * pairs[2 * i + 1] + point.map.b, 1e-6);
    for (size_t i = 0; i < TRAINING_ROWS; i++)
      mapped[2 * i + 1] = point.map.w * pairs[2 * i + 1] + point.map.b;
    training_agrees(&data, mapped, 1, &point);
    pcal_calibrator_free(platt);
    pc_variance_training_free(&training);
  }
}

static double training_loss(const training_data *data, const double *parameters) {
  static double pairs[2 * TRAINING_ROWS];
  double sum = 0.0;
  training_predict(data, parameters, PC_VARIANCE_TRAIN, pairs);
  for (size_t i = 0; i < TRAINING_ROWS; i++)
    sum +=
        pow(pairs[2 * i] - data->targets[0][i], 2) / pairs[2 * i + 1] + log(pairs[2 * i + 1]);
  return sum / TRAINING_ROWS;
}

/* The gradient that the step followed, against central differences. */
TEST(test_gradient) {
  static training_data data;
  const pcal_env env = pc_env_resolve(NULL);
  for (int absolute = 0; absolute < 2; absolute++) {
    pc_variance_training training;
    pc_variance_point point;
    training_make(&data, absolute);
    assert_int_equal(pc_variance_training_new(&env, &data.plan, &training, NULL), PCAL_OK);
    const size_t count = pc_dense_net_count(&data.plan.net);
    double *start = malloc(count * sizeof *start);
    memcpy(start, training.parameters, count * sizeof *start);
    pc_variance_training_step(&training, &point);
    for (size_t i = 0; i < count; i += 7) {
      const double kept = start[i], step = 1e-6;
      start[i] = kept + step;
      const double above = training_loss(&data, start);
      start[i] = kept - step;
      const double slope = (above - training_loss(&data, start)) / (2 * step);
      start[i] = kept;
      assert_true(fabs(slope - training.gradient[i]) <= 1e-5 * fmax(1, fabs(slope)));
    }
    free(start);
    pc_variance_training_free(&training);
  }
}

static pcal_status training_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_variance_training training;
  pc_variance_point point;
  const training_data *data = user;
  const pcal_status status = pc_variance_training_new(env, &data->plan, &training, err);
  if (status == PCAL_OK)
    pc_variance_training_step(&training, &point);
  pc_variance_training_free(&training);
  return status;
}

TEST(test_out_of_memory) {
  static training_data data;
  training_make(&data, 0);
  unit_fail_each_allocation(training_scenario, &data);
}
