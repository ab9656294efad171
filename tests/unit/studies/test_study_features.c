#include "../unit.h"

#include "io/source.h"
#include "studies/study_features.h"

#define FEATURES_ROWS 30
#define FEATURES_TRAIN 10

static double features_inputs[3 * FEATURES_ROWS], features_targets[FEATURES_ROWS];

static pcal_batch features_batch(void) {
  pcal_batch batch = PCAL_BATCH_INIT;
  for (size_t i = 0; i < FEATURES_ROWS; i++) {
    features_inputs[3 * i] = (double)(i * i);
    features_inputs[3 * i + 1] = 7;
    features_inputs[3 * i + 2] = -(double)i;
    features_targets[i] = 100 + (double)i;
  }
  batch.kind = PCAL_SAMPLES;
  batch.type = PCAL_F64;
  batch.rows = FEATURES_ROWS;
  batch.columns = 3;
  batch.scores = features_inputs;
  batch.row_stride = 3 * sizeof(double);
  batch.column_stride = sizeof(double);
  batch.targets = features_targets;
  return batch;
}

static pcal_status features_read(const pcal_batch *batch, const pcal_env *env,
                                 pc_study_features *out, pcal_error *err) {
  pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
  pc_options options = {.name = "variance-regression"};
  *out = (pc_study_features){0};
  pcal_status status = pc_source_borrow(batch, NULL, env, &config.features, err);
  const pc_study_job job = {&config, &options, env, env};
  if (status == PCAL_OK)
    status = pc_study_features_read(&job, out, err);
  pcal_source_free(config.features);
  return status;
}

/* Rows keep together, and the first ones set the scale. */
TEST(test_shuffle) {
  const pcal_env env = pc_env_resolve(NULL);
  const pcal_batch batch = features_batch();
  double inputs[3 * FEATURES_ROWS], targets[FEATURES_ROWS], other[FEATURES_ROWS];
  double sums[3] = {0}, squares[3] = {0}, total = 0;
  pc_study_features features;
  size_t moved = 0;
  assert_int_equal(features_read(&batch, &env, &features, NULL), PCAL_OK);
  assert_int_equal(features.rows, FEATURES_ROWS);
  pc_study_features_shuffle(&features, 1, 2, FEATURES_TRAIN, 0, inputs, targets);
  for (size_t i = 0; i < FEATURES_ROWS; i++) {
    moved += targets[i] != features_targets[i];
    total += targets[i];
    for (size_t j = 0; j < 3 && i < FEATURES_TRAIN; j++) {
      sums[j] += inputs[3 * i + j] / FEATURES_TRAIN;
      squares[j] += inputs[3 * i + j] * inputs[3 * i + j] / FEATURES_TRAIN;
    }
    /* the third input is a straight line of the target */
    const double slope = (inputs[3 * 1 + 2] - inputs[2]) / (targets[1] - targets[0]);
    assert_near(1 + inputs[3 * i + 2], 1 + inputs[2] + slope * (targets[i] - targets[0]),
                1e-12);
    assert_near(1 + inputs[3 * i + 1], 1, 0);
  }
  assert_true(moved > FEATURES_ROWS / 2);
  assert_near(total, 100 * FEATURES_ROWS + 435, 1e-14);
  for (size_t j = 0; j < 3; j++) {
    assert_near(1 + sums[j], 1, 1e-12);
    assert_near(1 + squares[j], j == 1 ? 1 : 2, 1e-12);
  }
  pc_study_features_shuffle(&features, 1, 2, FEATURES_TRAIN, 5, inputs, other);
  double mean = 0, square = 0;
  for (size_t i = 0; i < FEATURES_TRAIN; i++)
    mean += other[i] / FEATURES_TRAIN;
  for (size_t i = 0; i < FEATURES_TRAIN; i++)
    square += pow(other[i] - mean, 2) / FEATURES_TRAIN;
  assert_near(square, 25, 1e-10);
  assert_near(other[3] / other[4], targets[3] / targets[4], 1e-13);
  pc_study_features_free(&features);
}

TEST(test_refused) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_batch batch = features_batch();
  const double weights[FEATURES_ROWS] = {1};
  pc_study_features features;
  pcal_error err;
  features_inputs[3 * 4] = (double)NAN;
  assert_int_equal(features_read(&batch, &env, &features, &err), PCAL_DATA);
  assert_sentence(err, PCAL_DATA,
                  "row 4 of the features or of the target has a number that is missing or not "
                  "finite; remove the row");
  pc_study_features_free(&features);
  batch = features_batch();
  batch.weights = weights;
  assert_int_equal(features_read(&batch, &env, &features, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "study variance-regression takes every row once; leave weights out");
  pc_study_features_free(&features);
  batch = features_batch();
  batch.targets = NULL;
  assert_int_equal(features_read(&batch, &env, &features, &err), PCAL_USAGE);
  assert_sentence(err, PCAL_USAGE,
                  "study variance-regression learns from features; give target too");
  pc_study_features_free(&features);
  assert_int_equal(atomic_load(&memory.live), 0);
}
