#include "calibrators/folds.h"

#include <string.h>

#include "base/rng.h"

#define FOLDS_STREAM 0x666f6c64 /* stream of random numbers */

size_t pc_fold_in_block(const pc_folds *folds, pc_fold_block *block, uint64_t row) {
  const pc_rng rng = {folds->seed, FOLDS_STREAM};
  if (block->known && row - block->first < folds->count)
    return block->order[row - block->first];
  *block = (pc_fold_block){.known = 1, .first = row - row % folds->count};
  for (size_t i = 0; i < folds->count; i++) {
    const size_t j = (size_t)(pc_rng_bits(&rng, block->first + i) % (i + 1));
    block->order[i] = block->order[j];
    block->order[j] = (unsigned char)i;
  }
  return block->order[row - block->first];
}

size_t pc_fold_of(const pc_folds *folds, uint64_t row) {
  pc_fold_block block = {.known = 0};
  return pc_fold_in_block(folds, &block, row);
}

size_t pc_fold_of_row(const pc_folds *folds, pc_fold_block *block, const pcal_batch *batch,
                      size_t row) {
  const int grouped = folds->by_group && batch->groups != NULL;
  return pc_fold_in_block(folds, block, grouped ? batch->groups[row] : batch->first_row + row);
}

static void folds_copy_row(pc_fold_source *source, const pcal_batch *from, size_t row,
                           size_t to) {
  pc_batch_row(from, row, source->scores + to * source->columns);
  if (from->labels != NULL)
    source->labels[to] = from->labels[row];
  if (from->targets != NULL)
    source->targets[to] = from->targets[row];
  if (from->weights != NULL)
    source->weights[to] = from->weights[row];
  if (from->groups != NULL)
    source->groups[to] = from->groups[row];
  if (from->ids != NULL)
    source->ids[to] = from->ids[row];
}

static int folds_includes(pc_fold_source *source, const pcal_batch *from, size_t row) {
  if (source->group != PC_ANY_GROUP && from->groups[row] != source->group)
    return 0;
  const size_t fold = pc_fold_of_row(&source->folds, &source->block, from, row);
  return (fold == source->fold) == (source->inside != 0);
}

static pcal_status folds_step(void *user, const pcal_batch *from, pcal_batch *to,
                              pcal_error *err) {
  pc_fold_source *source = user;
  (void)err;
  to->rows = 0;
  for (size_t i = 0; i < from->rows; i++)
    if (folds_includes(source, from, i))
      folds_copy_row(source, from, i, to->rows++);
  to->type = PCAL_F64;
  to->scores = source->scores;
  to->row_stride = (ptrdiff_t)(source->columns * sizeof(double));
  to->column_stride = (ptrdiff_t)sizeof(double);
  to->labels = from->labels == NULL ? NULL : source->labels;
  to->targets = from->targets == NULL ? NULL : source->targets;
  to->weights = from->weights == NULL ? NULL : source->weights;
  to->groups = from->groups == NULL ? NULL : source->groups;
  to->ids = from->ids == NULL ? NULL : source->ids;
  to->place = NULL;
  return PCAL_OK;
}

static pcal_status folds_reserve(pc_fold_source *source, pcal_error *err) {
  const pcal_env *env = &source->arena.env;
  const size_t rows = source->rows;
  source->scores = pc_alloc_raw(env, rows * source->columns, sizeof *source->scores);
  source->labels = pc_alloc_raw(env, rows, sizeof *source->labels);
  source->targets = pc_alloc_raw(env, rows, sizeof *source->targets);
  source->weights = pc_alloc_raw(env, rows, sizeof *source->weights);
  source->groups = pc_alloc_raw(env, rows, sizeof *source->groups);
  source->ids = pc_alloc_raw(env, rows, sizeof *source->ids);
  if (source->scores == NULL || source->labels == NULL || source->targets == NULL ||
      source->weights == NULL || source->groups == NULL || source->ids == NULL)
    return pc_fail_memory(err, "leaving out a fold");
  return PCAL_OK;
}

pcal_status pc_fold_source_open(pcal_source *base, const pc_folds *folds, size_t fold,
                                const pcal_env *env, pc_fold_source *out, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(base, &shape);
  *out = (pc_fold_source){.folds = *folds,
                          .fold = fold,
                          .group = PC_ANY_GROUP,
                          .columns = shape.columns,
                          .rows = pc_source_derived_window(shape.columns)};
  PC_TRY(pc_arena_open(&out->arena, env, err));
  PC_TRY(folds_reserve(out, err));
  const pc_source_derived derived = {.base = base,
                                     .step = folds_step,
                                     .user = out,
                                     .kind = shape.kind,
                                     .type = PCAL_F64,
                                     .columns = shape.columns,
                                     .window = out->rows,
                                     .thinned = 1};
  return pc_source_derive(&derived, &out->arena.env, &out->source, err);
}

void pc_fold_source_close(pc_fold_source *source) {
  pc_source_free(source->source);
  pc_arena_close(&source->arena);
  *source = (pc_fold_source){0};
}
