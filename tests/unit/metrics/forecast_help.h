/* Measuring predictions of a number through the public calls. */
#ifndef FORECAST_HELP_H
#define FORECAST_HELP_H

#include "../unit.h"
#include "propercal.h"

/* Rows of `columns` numbers each; levels of quantiles or NULL. */
typedef struct forecast_data {
  pcal_kind kind;
  size_t rows, columns;
  const double *scores, *targets, *levels, *weights;
} forecast_data;

static inline pcal_batch forecast_batch(const forecast_data *data) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = data->kind;
  batch.type = PCAL_F64;
  batch.rows = data->rows;
  batch.columns = data->columns;
  batch.scores = data->scores;
  batch.row_stride = (ptrdiff_t)(data->columns * sizeof(double));
  batch.column_stride = sizeof(double);
  batch.targets = data->targets;
  batch.levels = data->levels;
  batch.weights = data->weights;
  return batch;
}

static inline pcal_status forecast_try(const forecast_data *data, const char *spec,
                                       const pcal_env *env, pcal_results **out,
                                       pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  const pcal_batch batch = forecast_batch(data);
  pcal_measure *measure = NULL;
  config.kind = data->kind;
  config.columns = data->columns;
  config.levels = data->levels;
  config.specs = &spec;
  config.spec_count = 1;
  pcal_status status = pcal_measure_new(&config, env, &measure, err);
  if (status == PCAL_OK)
    status = pcal_measure_update(measure, &batch, err);
  if (status == PCAL_OK)
    status = pcal_measure_finish(measure, out, err);
  pcal_measure_free(measure);
  return status;
}

/* The value of a spec, or of one of its parts. */
static inline double forecast_part(const forecast_data *data, const char *spec,
                                   const char *part) {
  pcal_results *results = NULL;
  pcal_result found = PCAL_RESULT_INIT;
  pcal_error err;
  double value = (double)NAN;
  if (forecast_try(data, spec, NULL, &results, &err) != PCAL_OK)
    fail_msg("%s: %s", spec, err.message);
  pcal_results_get(results, 0, &found);
  if (part == NULL)
    value = found.value;
  for (size_t p = 0; part != NULL && p < found.part_count; p++)
    if (strcmp(found.parts[p].name, part) == 0)
      value = found.parts[p].value;
  pcal_results_free(results);
  return value;
}

static inline double forecast_value(const forecast_data *data, const char *spec) {
  return forecast_part(data, spec, NULL);
}

static inline void forecast_refuses(const forecast_data *data, const char *spec,
                                    pcal_status status, const char *sentence) {
  pcal_results *results = NULL;
  pcal_error err;
  assert_int_equal(forecast_try(data, spec, NULL, &results, &err), status);
  assert_sentence(err, status, sentence);
}

/* A small set that every test can compare with its own loops. */
static const double forecast_pairs[] = {0.1, 0.04, 1.0, 0.25, -0.5, 0.09,
                                        2.0, 1.00, 0.3, 0.04, 1.5,  0.36};
static const double forecast_targets[] = {0.3, 0.2, -0.4, 3.5, 0.3, 1.0};
static const forecast_data forecast_gaussian = {PCAL_MEAN_VARIANCE, 6,    2,   forecast_pairs,
                                                forecast_targets,   NULL, NULL};

static const double forecast_levels[] = {0.1, 0.5, 0.9};
static const double forecast_quantiles[] = {-1, 0, 1, 0, 2, 3, 1, 1, 1, -2, -1, 4};
static const double forecast_quantile_targets[] = {0.5, -1, 1, 5};
static const forecast_data forecast_quantile_set = {
    PCAL_QUANTILES, 4, 3, forecast_quantiles, forecast_quantile_targets, forecast_levels, NULL};

static const double forecast_samples[] = {3, 1, 2, 0, 0, 0, -1, 4, 2};
static const double forecast_sample_targets[] = {2.5, 1, -3};
static const forecast_data forecast_sample_set = {
    PCAL_SAMPLES, 3, 3, forecast_samples, forecast_sample_targets, NULL, NULL};

#endif
