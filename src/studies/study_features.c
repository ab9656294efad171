#include "studies/study_features.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/rng.h"
#include "data/rows.h"

#define STUDY_FEATURES_WINDOW ((size_t)1 << 14)

void pc_study_features_free(pc_study_features *features) {
  if (features->env == NULL)
    return;
  pc_free(features->env, features->inputs);
  pc_free(features->env, features->targets);
  *features = (pc_study_features){0};
}

static pcal_status study_features_reserve(pc_study_features *features, size_t rows,
                                          size_t room[2], pcal_error *err) {
  void *block = features->inputs;
  pcal_status status = pc_reserve(features->env, &block, &room[0], rows * features->columns,
                                  sizeof *features->inputs, err);
  features->inputs = block;
  if (status != PCAL_OK)
    return status;
  block = features->targets;
  status = pc_reserve(features->env, &block, &room[1], rows, sizeof *features->targets, err);
  features->targets = block;
  return status;
}

static pcal_status study_features_add(pc_study_features *features, const pcal_batch *batch,
                                      pcal_error *err) {
  for (size_t i = 0; i < batch->rows; i++, features->rows++) {
    double *row = features->inputs + features->rows * features->columns;
    const double target = batch->targets[i];
    int good = isfinite(target);
    pc_batch_row(batch, i, row);
    for (size_t j = 0; j < features->columns; j++)
      good &= isfinite(row[j]);
    if (!good)
      return pc_fail_row(err, PCAL_DATA, batch->first_row + i,
                         "row %llu of the features or of the target has a number that is "
                         "missing or not finite; remove the row",
                         (unsigned long long)(batch->first_row + i));
    features->targets[features->rows] = target;
  }
  return PCAL_OK;
}

pcal_status pc_study_features_read(const pc_study_job *job, pc_study_features *out,
                                   pcal_error *err) {
  pcal_source *source = job->config->features;
  pcal_shape shape = {.size = sizeof shape};
  size_t room[2] = {0, 0};
  *out = (pc_study_features){.env = job->memory};
  pc_source_shape(source, &shape);
  out->columns = shape.columns;
  if (!shape.labelled)
    return pc_fail(err, PCAL_USAGE, "study %s learns from features; give {target} too",
                   job->options->name);
  if (shape.weighted)
    return pc_fail(err, PCAL_USAGE, "study %s takes every row once; leave {weights} out",
                   job->options->name);
  PC_TRY(pc_source_rewind(source, err));
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, STUDY_FEATURES_WINDOW, &batch, err));
    if (batch.rows == 0)
      return PCAL_OK;
    PC_TRY(study_features_reserve(out, out->rows + batch.rows, room, err));
    PC_TRY(study_features_add(out, &batch, err));
  }
}

/* Mean and standard deviation of a column over the first rows. */
static void study_features_moments(const double *column, size_t stride, size_t rows,
                                   double *mean, double *deviation) {
  double sum = 0.0, square = 0.0;
  for (size_t i = 0; i < rows; i++)
    sum += column[i * stride];
  *mean = sum / (double)rows;
  for (size_t i = 0; i < rows; i++)
    square += pc_pow(column[i * stride] - *mean, 2);
  *deviation = sqrt(square / (double)rows);
}

static void study_features_standardise(double *column, size_t stride, size_t rows,
                                       size_t train) {
  double mean, deviation;
  study_features_moments(column, stride, train, &mean, &deviation);
  for (size_t i = 0; i < rows; i++)
    column[i * stride] = deviation > 0 ? (column[i * stride] - mean) / deviation : 0.0;
}

void pc_study_features_shuffle(const pc_study_features *features, uint64_t seed,
                               uint64_t stream, size_t train, double scale, double *inputs,
                               double *targets) {
  const pc_rng rng = {seed, stream};
  const size_t columns = features->columns, rows = features->rows;
  double mean, deviation;
  for (size_t i = 0; i < rows; i++) { /* the inside-out Fisher-Yates shuffle */
    const size_t j = (size_t)(pc_rng_bits(&rng, i) % (i + 1));
    memcpy(inputs + i * columns, inputs + j * columns, columns * sizeof *inputs);
    memcpy(inputs + j * columns, features->inputs + i * columns, columns * sizeof *inputs);
    targets[i] = targets[j];
    targets[j] = features->targets[i];
  }
  for (size_t j = 0; j < columns; j++)
    study_features_standardise(inputs + j, columns, rows, train);
  study_features_moments(targets, 1, train, &mean, &deviation);
  for (size_t i = 0; i < rows && scale > 0 && deviation > 0; i++)
    targets[i] *= scale / deviation;
}
