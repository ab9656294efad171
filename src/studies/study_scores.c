#include "studies/study_scores.h"

#include <string.h>

#include "data/rows.h"
#include "data/score_logit.h"
#include "measure/measure_source.h"

#define STUDY_SCORES_WINDOW 65536

void pc_study_scores_free(pc_study_scores *scores) {
  if (scores->env == NULL)
    return;
  pc_free(scores->env, scores->scores);
  pc_free(scores->env, scores->labels);
  memset(scores, 0, sizeof *scores);
}

pcal_status pc_study_scores_reserve(pc_study_scores *out, size_t rows, size_t room[2],
                                    pcal_error *err) {
  void *blocks[2] = {out->scores, out->labels};
  pcal_status status =
      pc_reserve(out->env, &blocks[0], &room[0], rows * out->columns, sizeof *out->scores, err);
  if (status == PCAL_OK)
    status = pc_reserve(out->env, &blocks[1], &room[1], rows, sizeof *out->labels, err);
  out->scores = blocks[0];
  out->labels = blocks[1];
  return status;
}

static pcal_status study_scores_rows(pcal_source *source, pc_study_scores *out,
                                     pcal_error *err) {
  size_t room[2] = {0, 0};
  PC_TRY(pc_source_rewind(source, err));
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, STUDY_SCORES_WINDOW, &batch, err));
    if (batch.rows == 0)
      break;
    PC_TRY(pc_study_scores_reserve(out, out->rows + batch.rows, room, err));
    for (size_t i = 0; i < batch.rows; i++)
      pc_batch_row(&batch, i, out->scores + (out->rows + i) * out->columns);
    memcpy(out->labels + out->rows, batch.labels, batch.rows * sizeof *out->labels);
    out->rows += batch.rows;
    out->scores_name = batch.scores_name;
    out->labels_name = batch.labels_name;
    PC_TRY(pc_check_interrupt(out->env, err));
  }
  return out->rows > 0 ? PCAL_OK : pc_fail(err, PCAL_DATA, "there is no row to study");
}

pcal_status pc_study_scores_read(const pc_study_job *job, pcal_source *source,
                                 pc_study_scores *out, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  memset(out, 0, sizeof *out);
  PC_TRY(pc_study_check_source(job, source, err));
  pc_source_shape(source, &shape);
  out->env = job->memory;
  out->kind = shape.kind;
  out->columns = shape.columns;
  return study_scores_rows(source, out, err);
}

static pcal_batch study_scores_batch(const pc_study_scores *scores) {
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.scores = scores->scores;
  batch.type = PCAL_F64;
  batch.kind = scores->kind;
  batch.rows = scores->rows;
  batch.columns = scores->columns;
  batch.row_stride = (ptrdiff_t)(scores->columns * sizeof(double));
  batch.column_stride = (ptrdiff_t)sizeof(double);
  batch.labels = scores->labels;
  batch.scores_name = scores->scores_name;
  batch.labels_name = scores->labels_name;
  return batch;
}

pcal_status pc_study_scores_source(const pc_study_scores *scores, const pcal_env *env,
                                   pcal_source **out, pcal_error *err) {
  const pcal_batch batch = study_scores_batch(scores);
  return pc_source_borrow(&batch, NULL, env, out, err);
}

/* ---- Temperatures ---- */

/* Checks the rows before conversion, so that errors name the original values. */
static pcal_status study_scores_check(const pc_study_job *job, const pc_study_scores *scores,
                                      pcal_error *err) {
  static const char *const specs[] = {"accuracy"};
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  config.specs = specs;
  config.spec_count = 1;
  config.normalize = job->config->normalize;
  config.skip_missing = job->config->skip_missing;
  PC_TRY(pc_study_scores_source(scores, job->env, &source, err));
  const pcal_status status = pc_measure_whole(source, &config, job->env, &results, err);
  pc_source_free(source);
  pc_results_free(results);
  return status;
}

pcal_status pc_study_scores_logits(const pc_study_job *job, pc_study_scores *scores,
                                   pcal_error *err) {
  if (scores->kind == PCAL_CONFIDENCE)
    return pc_fail(err, PCAL_USAGE,
                   "study %s needs the scores of all classes, which a temperature changes "
                   "together, but the data have only confidences; give {logits} or {probs}",
                   job->options->name);
  PC_TRY(study_scores_check(job, scores, err));
  for (size_t i = 0; i < scores->rows * scores->columns; i++)
    scores->scores[i] = pc_score_logit(scores->kind, scores->columns, scores->scores[i]);
  scores->kind = PCAL_LOGIT;
  return PCAL_OK;
}

pcal_status pc_study_scores_at(const pc_study_scores *logits, double temperature,
                               const pcal_measure_config *config, const pcal_env *env,
                               pcal_results **out, pcal_error *err) {
  const size_t count = logits->rows * logits->columns;
  pc_study_scores tempered = *logits;
  pcal_source *source = NULL;
  tempered.scores = pc_alloc_raw(env, count, sizeof *tempered.scores);
  if (tempered.scores == NULL)
    return pc_fail_memory(err, "changing the temperature");
  for (size_t i = 0; i < count; i++)
    tempered.scores[i] = logits->scores[i] / temperature;
  pcal_status status = pc_study_scores_source(&tempered, env, &source, err);
  if (status == PCAL_OK)
    status = pc_measure_whole(source, config, env, out, err);
  pc_source_free(source);
  pc_free(env, tempered.scores);
  return status;
}
