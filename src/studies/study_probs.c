#include "studies/study_probs.h"

#include <string.h>

void pc_study_probs_free(pc_study_probs *data) {
  if (data->env == NULL)
    return;
  pc_free(data->env, data->probs);
  pc_free(data->env, data->labels);
  memset(data, 0, sizeof *data);
}

static pcal_status study_probs_reserve(pc_study_probs *data, size_t rows, size_t room[2],
                                       pcal_error *err) {
  void *block = data->probs;
  pcal_status status =
      pc_reserve(data->env, &block, &room[0], rows * data->classes, sizeof *data->probs, err);
  data->probs = block;
  if (status != PCAL_OK)
    return status;
  block = data->labels;
  status = pc_reserve(data->env, &block, &room[1], rows, sizeof *data->labels, err);
  data->labels = block;
  return status;
}

static void study_probs_add(pc_study_probs *data, const pc_rows *rows) {
  const size_t classes = data->classes;
  const double *probs = rows->probs != NULL ? rows->probs : rows->top;
  memcpy(data->probs + data->rows * classes, probs, rows->count * classes * sizeof *probs);
  memcpy(data->labels + data->rows, rows->labels, rows->count * sizeof *rows->labels);
  data->rows += rows->count;
}

static pcal_status study_probs_window(pc_study_probs *data, const pcal_batch *batch,
                                      const pc_row_policy *policy, const pc_scratch *scratch,
                                      pcal_error *err) {
  PC_TRY(pc_batch_check(batch, &data->layout, policy, err));
  for (size_t begin = 0; begin < batch->rows; begin += scratch->capacity) {
    const size_t left = batch->rows - begin;
    pc_rows rows;
    pc_row_counts counts = {0, 0, PCAL_NO_ROW};
    PC_TRY(pc_rows_convert(batch, &data->layout, policy, begin,
                           left < scratch->capacity ? left : scratch->capacity, scratch, &rows,
                           &counts, err));
    study_probs_add(data, &rows);
  }
  return PCAL_OK;
}

static pcal_status study_probs_rows(const pc_study_job *job, pcal_source *source,
                                    pc_study_probs *data, const pc_scratch *scratch,
                                    pcal_error *err) {
  const pc_row_policy policy = {.normalize = job->config->normalize,
                                .skip_missing = job->config->skip_missing};
  size_t room[2] = {0, 0};
  PC_TRY(pc_source_rewind(source, err));
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, 1 << 16, &batch, err));
    if (batch.rows == 0)
      break;
    PC_TRY(study_probs_reserve(data, data->rows + batch.rows, room, err));
    PC_TRY(study_probs_window(data, &batch, &policy, scratch, err));
    PC_TRY(pc_check_interrupt(data->env, err));
  }
  return data->rows > 0 ? PCAL_OK : pc_fail(err, PCAL_DATA, "there is no row to study");
}

pcal_status pc_study_probs_read(const pc_study_job *job, pcal_source *source,
                                pc_study_probs *out, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_scratch scratch;
  memset(out, 0, sizeof *out);
  out->env = job->memory;
  pc_source_shape(source, &shape);
  PC_TRY(pc_study_check_source(job, source, err));
  PC_TRY(pc_layout_make(shape.kind, shape.columns, &out->layout, err));
  out->classes = out->layout.classes;
  PC_TRY(pc_scratch_new(job->env, &out->layout, &scratch, err));
  const pcal_status status = study_probs_rows(job, source, out, &scratch, err);
  pc_scratch_free(job->env, &scratch);
  return status;
}

void pc_study_probs_widen(pc_study_probs *data) {
  if (!pc_layout_is_binary(&data->layout))
    return;
  data->layout.kind = PCAL_PROBABILITY;
  data->layout.columns = 2;
}

void pc_study_probs_batch(const pc_study_probs *data, pcal_batch *out) {
  const int one = pc_layout_is_binary(&data->layout);
  *out = (pcal_batch)PCAL_BATCH_INIT;
  out->scores = data->probs + (one ? 1 : 0);
  out->type = PCAL_F64;
  out->kind = data->classes == 1 ? PCAL_CONFIDENCE : PCAL_PROBABILITY;
  out->rows = data->rows;
  out->columns = one ? 1 : data->classes;
  out->row_stride = (ptrdiff_t)(data->classes * sizeof(double));
  out->column_stride = (ptrdiff_t)sizeof(double);
  out->labels = data->labels;
}

pcal_status pc_study_probs_source(const pc_study_probs *data, pcal_source **out,
                                  pcal_error *err) {
  pcal_batch batch;
  pc_study_probs_batch(data, &batch);
  return pc_source_borrow(&batch, NULL, data->env, out, err);
}
