/* Shared by the tests of studies: rows whose predictions and labels are known. */
#ifndef STUDY_UNIT_H
#define STUDY_UNIT_H

#include "../unit.h"

#include "io/source.h"
#include "studies/study.h"

#define STUDY_UNIT_ROWS 60
#define STUDY_UNIT_CLASSES 3

/* Few different predictions, so that some rows share theirs. */
static inline pcal_source *study_unit_source(const pcal_env *env, double *probs,
                                             int32_t *labels) {
  pcal_batch batch = PCAL_BATCH_INIT;
  pcal_source *source = NULL;
  for (size_t i = 0; i < STUDY_UNIT_ROWS; i++) {
    const size_t top = i % STUDY_UNIT_CLASSES;
    const double score = 0.5 + 0.1 * (double)(i / 3 % 4);
    for (size_t c = 0; c < STUDY_UNIT_CLASSES; c++)
      probs[i * STUDY_UNIT_CLASSES + c] = c == top ? score : (1 - score) / 2;
    labels[i] = (int32_t)(i * i % 7 < 4 ? top : (top + 1) % STUDY_UNIT_CLASSES);
  }
  batch.kind = PCAL_PROBABILITY;
  batch.type = PCAL_F64;
  batch.rows = STUDY_UNIT_ROWS;
  batch.columns = STUDY_UNIT_CLASSES;
  batch.scores = probs;
  batch.row_stride = STUDY_UNIT_CLASSES * sizeof(double);
  batch.column_stride = sizeof(double);
  batch.labels = labels;
  return pc_source_borrow(&batch, NULL, env, &source, NULL) == PCAL_OK ? source : NULL;
}

/* Runs a study on these rows, as the first set and as the second, on one thread. */
static inline pcal_status study_unit_run(const char *spec, const pcal_env *given,
                                         pcal_study_config *config, pc_findings *findings,
                                         pcal_error *err) {
  static pcal_env quiet;
  const pcal_env *env = &quiet;
  static double probs[STUDY_UNIT_ROWS * STUDY_UNIT_CLASSES];
  static int32_t labels[STUDY_UNIT_ROWS];
  pcal_model model = PCAL_MODEL_INIT;
  quiet = *given;
  quiet.threads = 1;
  model.source = study_unit_source(env, probs, labels);
  model.val = study_unit_source(env, probs, labels);
  config->models = &model;
  config->model_count = 1;
  pc_findings_init(findings, env, "");
  const pcal_status status = model.source == NULL || model.val == NULL
                                 ? pc_fail_memory(err, "opening rows")
                                 : pc_study_run(spec, config, findings, err);
  pc_source_free(model.source);
  pc_source_free(model.val);
  return status;
}

/* Every `step`-th allocation of a study fails once: a clean error and nothing left over.  The
 * method may be NULL: those of the study. */
static inline void study_unit_fail_some(const char *spec, const char *method, size_t step) {
  static pc_findings findings;
  pcal_status status = PCAL_MEMORY;
  for (size_t n = 1; status != PCAL_OK; n += step) {
    unit_memory memory = {0};
    atomic_store(&memory.fail_at, n);
    const pcal_env env = unit_env(&memory);
    pcal_study_config config = PCAL_STUDY_CONFIG_INIT;
    pcal_error err;
    config.replicas = 20;
    config.methods = &method;
    config.method_count = method == NULL ? 0 : 1;
    status = study_unit_run(spec, &env, &config, &findings, &err);
    pc_findings_free(&findings);
    assert_int_equal(atomic_load(&memory.live), 0);
    assert_int_equal(status, atomic_load(&memory.calls) < n ? PCAL_OK : PCAL_MEMORY);
  }
}

static inline double study_unit_number(const pc_table *table, size_t row, const char *column) {
  const size_t place = pc_table_find_column(table, column);
  assert_true(row < table->row_count && place < table->column_count);
  assert_true(pc_table_at(table, row, place)->is_number);
  return pc_table_at(table, row, place)->number;
}

#endif
