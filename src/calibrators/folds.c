#include "calibrators/folds.h"

#include <string.h>

#include "base/rng.h"

#define FOLDS_STREAM 0x666f6c64 /* of random numbers */
#define FOLDS_WINDOW_CELLS ((size_t)1 << 20)

size_t pc_fold_of(const pc_folds *folds, uint64_t row) {
  const pc_rng rng = {folds->seed, FOLDS_STREAM};
  const uint64_t first = row - row % folds->count;
  unsigned char order[PC_FOLDS_MAX] = {0};
  for (size_t i = 0; i < folds->count; i++) {
    const size_t j = (size_t)(pc_rng_bits(&rng, first + i) % (i + 1));
    order[i] = order[j];
    order[j] = (unsigned char)i;
  }
  return order[row - first];
}

void pc_batch_row(const pcal_batch *batch, size_t row, double *out) {
  const char *from = (const char *)batch->scores + (ptrdiff_t)row * batch->row_stride;
  for (size_t j = 0; j < batch->columns; j++, from += batch->column_stride)
    out[j] = batch->type == PCAL_F32 ? (double)*(const float *)(const void *)from
                                     : *(const double *)(const void *)from;
}

size_t pc_derived_window(size_t columns) {
  const size_t rows = FOLDS_WINDOW_CELLS / (columns == 0 ? 1 : columns);
  return rows < 1 ? 1 : rows;
}

static void folds_take(pc_fold_source *training, const pcal_batch *from, size_t row,
                       size_t to) {
  pc_batch_row(from, row, training->scores + to * training->columns);
  if (from->labels != NULL)
    training->labels[to] = from->labels[row];
  if (from->targets != NULL)
    training->targets[to] = from->targets[row];
  if (from->weights != NULL)
    training->weights[to] = from->weights[row];
  if (from->groups != NULL)
    training->groups[to] = from->groups[row];
  if (from->ids != NULL)
    training->ids[to] = from->ids[row];
}

static int folds_wanted(const pc_fold_source *training, const pcal_batch *from, size_t row) {
  if (training->group != PC_ANY_GROUP && from->groups[row] != training->group)
    return 0;
  const size_t fold = pc_fold_of(&training->folds, from->first_row + row);
  return (fold == training->left_out) == (training->inside != 0);
}

static pcal_status folds_step(void *user, const pcal_batch *from, pcal_batch *to,
                              pcal_error *err) {
  pc_fold_source *training = user;
  (void)err;
  to->rows = 0;
  for (size_t i = 0; i < from->rows; i++)
    if (folds_wanted(training, from, i))
      folds_take(training, from, i, to->rows++);
  to->type = PCAL_F64;
  to->scores = training->scores;
  to->row_stride = (ptrdiff_t)(training->columns * sizeof(double));
  to->column_stride = (ptrdiff_t)sizeof(double);
  to->labels = from->labels == NULL ? NULL : training->labels;
  to->targets = from->targets == NULL ? NULL : training->targets;
  to->weights = from->weights == NULL ? NULL : training->weights;
  to->groups = from->groups == NULL ? NULL : training->groups;
  to->ids = from->ids == NULL ? NULL : training->ids;
  to->place = NULL;
  return PCAL_OK;
}

static pcal_status folds_reserve(pc_fold_source *training, const pcal_shape *shape,
                                 pcal_error *err) {
  const pcal_env *env = training->env;
  const size_t rows = training->room;
  training->scores = pc_alloc_raw(env, rows * shape->columns, sizeof *training->scores);
  training->labels = pc_alloc_raw(env, rows, sizeof *training->labels);
  training->targets = pc_alloc_raw(env, rows, sizeof *training->targets);
  training->weights = pc_alloc_raw(env, rows, sizeof *training->weights);
  training->groups = pc_alloc_raw(env, rows, sizeof *training->groups);
  training->ids = pc_alloc_raw(env, rows, sizeof *training->ids);
  if (training->scores == NULL || training->labels == NULL || training->targets == NULL ||
      training->weights == NULL || training->groups == NULL || training->ids == NULL)
    return pc_fail_memory(err, "leaving out a fold");
  return PCAL_OK;
}

pcal_status pc_fold_source_open(pcal_source *base, const pc_folds *folds, size_t left_out,
                                const pcal_env *env, pc_fold_source *out, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(base, &shape);
  *out = (pc_fold_source){.env = env,
                          .folds = *folds,
                          .left_out = left_out,
                          .group = PC_ANY_GROUP,
                          .columns = shape.columns,
                          .room = pc_derived_window(shape.columns)};
  PC_TRY(folds_reserve(out, &shape, err));
  const pc_source_derived derived = {.base = base,
                                     .step = folds_step,
                                     .user = out,
                                     .kind = shape.kind,
                                     .type = PCAL_F64,
                                     .columns = shape.columns,
                                     .window = out->room,
                                     .thinned = 1};
  return pc_source_derive(&derived, env, &out->source, err);
}

void pc_fold_source_close(pc_fold_source *training) {
  if (training->env == NULL)
    return;
  pc_source_free(training->source);
  pc_free(training->env, training->scores);
  pc_free(training->env, training->labels);
  pc_free(training->env, training->targets);
  pc_free(training->env, training->weights);
  pc_free(training->env, training->groups);
  pc_free(training->env, training->ids);
  *training = (pc_fold_source){0};
}
