/* Fitting, applying and saving calibrators of predictions of a number. */
#ifndef FORECAST_FIT_HELP_H
#define FORECAST_FIT_HELP_H

#include "../metrics/forecast_help.h"
#include "base/rng.h"
#include "io/source.h"

#define FORECAST_FIT_ROWS 400

/* Normal predictions whose variance is too small: true variance 3 v + 0.5. */
typedef struct forecast_fit_set {
  double pairs[2 * FORECAST_FIT_ROWS], targets[FORECAST_FIT_ROWS];
  forecast_data data;
} forecast_fit_set;

static inline void forecast_fit_make(forecast_fit_set *set) {
  const pc_rng rng = {11, 3};
  for (size_t i = 0; i < FORECAST_FIT_ROWS; i++) {
    const double v = 0.05 + pc_rng_uniform(&rng, 3 * i);
    set->pairs[2 * i] = pc_rng_normal(&rng, 3 * i + 1);
    set->pairs[2 * i + 1] = v;
    set->targets[i] = set->pairs[2 * i] + sqrt(3 * v + 0.5) * pc_rng_normal(&rng, 3 * i + 2);
  }
  set->data = (forecast_data){
      PCAL_MEAN_VARIANCE, FORECAST_FIT_ROWS, 2, set->pairs, set->targets, NULL, NULL};
}

static inline pcal_status forecast_fit_try(const forecast_data *data, const char *method,
                                           const pcal_env *env, pcal_calibrator **out,
                                           pcal_error *err) {
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  const pcal_batch batch = forecast_batch(data);
  pcal_source *source = NULL;
  config.method = method;
  pcal_status status = pc_source_borrow(&batch, NULL, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, env, out, err);
  pcal_source_free(source);
  return status;
}

static inline pcal_calibrator *forecast_fit(const forecast_data *data, const char *method) {
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  if (forecast_fit_try(data, method, NULL, &calibrator, &err) != PCAL_OK)
    fail_msg("%s: %s", method, err.message);
  return calibrator;
}

static inline void forecast_apply(const pcal_calibrator *calibrator, const forecast_data *data,
                                  double *out) {
  const pcal_batch batch = forecast_batch(data);
  pcal_error err;
  if (pcal_calibrator_apply(calibrator, &batch, NULL, out, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

/* A saved and loaded calibrator maps to the same bits. */
static inline void forecast_fit_round_trip(const pcal_calibrator *calibrator,
                                           const forecast_data *data, double *one,
                                           double *other) {
  static sink_bytes text;
  pcal_calibrator *loaded = NULL;
  pcal_error err;
  text.length = 0;
  assert_int_equal(pcal_calibrator_save(calibrator, sink_collect, &text, NULL), PCAL_OK);
  if (pcal_calibrator_load(text.bytes, text.length, "cal.json", NULL, &loaded, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  forecast_apply(calibrator, data, one);
  forecast_apply(loaded, data, other);
  assert_memory_equal(one, other, data->rows * data->columns * sizeof *one);
  pcal_calibrator_free(loaded);
}

#endif
