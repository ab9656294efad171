/* Shared by the tests of calibrators: batches, fits, files as texts. */
#ifndef CALIBRATOR_HELP_H
#define CALIBRATOR_HELP_H

#include "../unit.h"
#include "base/rng.h"
#include "calibrators/calibrator.h"
#include "calibrators/fit.h"
#include "io/source.h"

#define HELP_SEED 20170806

/* Row-major float64 scores. */
static inline pcal_batch help_batch(pcal_kind kind, const double *scores, const int32_t *labels,
                                    size_t rows, size_t columns) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = kind;
  batch.type = PCAL_F64;
  batch.rows = rows;
  batch.columns = columns;
  batch.scores = scores;
  batch.row_stride = (ptrdiff_t)(columns * sizeof(double));
  batch.column_stride = sizeof(double);
  batch.labels = labels;
  return batch;
}

static inline pcal_status help_try_fit(const pcal_batch *batch, const char *method,
                                       const pcal_env *env, pcal_calibrator **out,
                                       pcal_error *err) {
  pcal_source *source = NULL;
  pcal_fit_config config = PCAL_FIT_CONFIG_INIT;
  config.method = method;
  pcal_status status = pc_source_borrow(batch, NULL, NULL, &source, err);
  pcal_env inside = pc_env_resolve(env);
  if (status == PCAL_OK && inside.memory_limit > 0) /* below the budget: only caches obey it */
    status = pc_fit_run(source, &config, &inside, out, err);
  else if (status == PCAL_OK)
    status = pcal_fit_run(source, &config, env, out, err);
  pcal_source_free(source);
  return status;
}

static inline pcal_calibrator *help_fit(const pcal_batch *batch, const char *method) {
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  if (help_try_fit(batch, method, NULL, &calibrator, &err) != PCAL_OK)
    fail_msg("%s: %s", method, err.message);
  return calibrator;
}

static inline void help_refused(const pcal_batch *batch, const char *method, pcal_status status,
                                const char *sentence) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  assert_int_equal(help_try_fit(batch, method, &env, &calibrator, &err), status);
  assert_sentence(err, status, sentence);
  assert_null(calibrator);
  assert_int_equal(atomic_load(&memory.live), 0);
}

static inline void help_apply(const pcal_calibrator *calibrator, const pcal_batch *batch,
                              void *out) {
  pcal_error err;
  if (pcal_calibrator_apply(calibrator, batch, NULL, out, &err) != PCAL_OK)
    fail_msg("%s", err.message);
}

/* ---- Texts ---- */

static inline sink_bytes help_save(const pcal_calibrator *calibrator) {
  sink_bytes text = {0};
  assert_int_equal(pcal_calibrator_save(calibrator, sink_collect, &text, NULL), PCAL_OK);
  return text;
}

static inline pcal_calibrator *help_load(const char *text) {
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  if (pcal_calibrator_load(text, strlen(text), "cal.json", NULL, &calibrator, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return calibrator;
}

/* Loads a file of a method with these parameters; sentence NULL: it must be accepted. */
static inline void help_parameters(const char *spec, int columns, const char *parameters,
                                   const char *sentence) {
  char text[4096];
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_calibrator *calibrator = NULL;
  pcal_error err;
  snprintf(text, sizeof text,
           "{\"format\": \"propercal-calibrator\", \"version\": 1, \"spec\": \"%s\",\n"
           "\"method\": \"%.*s\", \"classes\": %d, \"columns\": %d,\n"
           "\"input\": \"probability\", \"normalize\": false, \"parameters\": %s,\n"
           "\"fit\": {\"status\": \"closed-form\", \"iterations\": 0, \"gradient\": null,\n"
           "\"objective\": null, \"rows\": 1, \"weighted\": false, \"weight\": 1,\n"
           "\"normalized_rows\": 0, \"skipped_rows\": 0, \"warnings\": []}}",
           spec, (int)strcspn(spec, ":"), spec, columns == 1 ? 2 : columns, columns,
           parameters);
  const pcal_status status =
      pcal_calibrator_load(text, strlen(text), "cal.json", &env, &calibrator, &err);
  if (sentence == NULL && status != PCAL_OK)
    fail_msg("%s: %s", parameters, err.message);
  if (sentence != NULL)
    assert_sentence(err, PCAL_DATA, sentence);
  pcal_calibrator_free(calibrator);
  assert_int_equal(atomic_load(&memory.live), 0);
}

/* ---- Data ---- */

/* Normal logits of some size; labels drawn from the logits divided by `truth`. */
static inline void help_draw(double *logits, int32_t *labels, size_t rows, size_t classes,
                             double size, double truth) {
  const pc_rng scores = {HELP_SEED, 1}, noise = {HELP_SEED, 2};
  for (size_t i = 0; i < rows; i++) {
    double best = -INFINITY;
    for (size_t j = 0; j < classes; j++) {
      const uint64_t draw = i * classes + j;
      const double z = size * pc_rng_normal(&scores, draw);
      const double chosen = z / truth - log(-log(pc_rng_uniform(&noise, draw)));
      logits[draw] = z;
      if (chosen > best)
        labels[i] = (int32_t)j;
      best = fmax(best, chosen);
    }
  }
}

#endif
