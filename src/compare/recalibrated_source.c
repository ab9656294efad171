#include "compare/recalibrated_source.h"

#include <math.h>
#include <string.h>

#include "calibrators/apply.h"

static int recalibrated_missing(const double *row, size_t columns) {
  for (size_t j = 0; j < columns; j++)
    if (isnan(row[j]))
      return 1;
  return 0;
}

/* Copies the rows of a fold to `in`; returns their number. */
static size_t recalibrated_gather(pc_recalibrated_source *source, const pcal_batch *from,
                                  size_t fold) {
  pc_fold_block block = {.known = 0};
  size_t count = 0;
  for (size_t i = 0; i < from->rows; i++) {
    if (pc_fold_of_row(&source->folds, &block, from, i) != fold)
      continue;
    double *row = source->in + count * source->columns;
    pc_batch_row(from, i, row);
    if (!source->skip_missing || !recalibrated_missing(row, source->columns))
      source->indices[count++] = i;
  }
  return count;
}

static pcal_status recalibrated_fold(pc_recalibrated_source *source, const pcal_batch *from,
                                     size_t fold, pcal_error *err) {
  const size_t k = source->columns, count = recalibrated_gather(source, from, fold);
  pcal_batch part = *from;
  part.type = PCAL_F64;
  part.rows = count;
  part.scores = source->in;
  part.row_stride = (ptrdiff_t)(k * sizeof(double));
  part.column_stride = (ptrdiff_t)sizeof(double);
  part.place = NULL;
  PC_TRY(pc_calibrator_apply(source->calibrators[fold], &part, &source->arena.env, source->out,
                             err));
  for (size_t i = 0; i < count; i++)
    memcpy(source->rows + source->indices[i] * k, source->out + i * k, k * sizeof(double));
  return PCAL_OK;
}

static pcal_status recalibrated_step(void *user, const pcal_batch *from, pcal_batch *to,
                                     pcal_error *err) {
  pc_recalibrated_source *source = user;
  for (size_t i = 0; i < from->rows * source->columns; i++)
    source->rows[i] = (double)NAN;
  for (size_t fold = 0; fold < source->folds.count; fold++)
    PC_TRY(recalibrated_fold(source, from, fold, err));
  to->kind = pc_calibrator_output_kind(from->kind);
  to->type = PCAL_F64;
  to->scores = source->rows;
  to->row_stride = (ptrdiff_t)(source->columns * sizeof(double));
  to->column_stride = (ptrdiff_t)sizeof(double);
  return PCAL_OK;
}

static pcal_status recalibrated_check(const pc_recalibrated_source *source,
                                      const pcal_shape *shape, pcal_error *err) {
  for (size_t fold = 0; fold < source->folds.count; fold++) {
    const pcal_calibrator *calibrator = source->calibrators[fold];
    if (!pc_method_predicts(calibrator->method))
      return pc_fail(err, PCAL_USAGE,
                     "%s gives sets or intervals, which cannot be compared with predictions; "
                     "apply it and look at its output",
                     calibrator->method->row.name);
    if (pc_calibrator_columns(calibrator) == shape->columns)
      continue;
    return pc_fail(err, PCAL_DATA,
                   "%s gives the probability of a single event, which cannot be compared with "
                   "the probabilities of all classes; choose target=all, or compare on "
                   "{confidence}",
                   calibrator->method->row.name);
  }
  return PCAL_OK;
}

pcal_status pc_recalibrated_source_open(pcal_source *base, const pc_folds *folds,
                                        pcal_calibrator *const *calibrators, int skip_missing,
                                        const pcal_env *env, pc_recalibrated_source *out,
                                        pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(base, &shape);
  *out = (pc_recalibrated_source){.folds = *folds,
                                  .calibrators = calibrators,
                                  .columns = shape.columns,
                                  .skip_missing = skip_missing};
  PC_TRY(recalibrated_check(out, &shape, err));
  PC_TRY(pc_arena_open(&out->arena, env, err));
  const pcal_env *memory = &out->arena.env;
  const size_t rows = pc_source_derived_window(shape.columns), cells = rows * shape.columns;
  out->in = pc_alloc_raw(memory, cells, sizeof *out->in);
  out->out = pc_alloc_raw(memory, cells, sizeof *out->out);
  out->rows = pc_alloc_raw(memory, cells, sizeof *out->rows);
  out->indices = pc_alloc_raw(memory, rows, sizeof *out->indices);
  if (out->in == NULL || out->out == NULL || out->rows == NULL || out->indices == NULL)
    return pc_fail_memory(err, "calibrating rows");
  const pc_source_derived derived = {.base = base,
                                     .step = recalibrated_step,
                                     .user = out,
                                     .kind = pc_calibrator_output_kind(shape.kind),
                                     .type = PCAL_F64,
                                     .columns = shape.columns,
                                     .window = rows};
  return pc_source_derive(&derived, memory, &out->source, err);
}

void pc_recalibrated_source_close(pc_recalibrated_source *source) {
  pc_source_free(source->source);
  pc_arena_close(&source->arena);
  *source = (pc_recalibrated_source){0};
}
