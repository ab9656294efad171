/* Class names are kept only for several columns, as for files. */
#include "io/source_batch.h"

#include "data/rows.h"

static pcal_status source_batch_check(const pcal_batch *batch, pcal_error *err) {
  pc_layout layout;
  PC_TRY(pc_layout_make_levels(batch->kind, batch->columns, batch->levels, &layout, err));
  if (batch->type != PCAL_F32 && batch->type != PCAL_F64)
    return pc_fail(err, PCAL_USAGE, "scores must be float32 or float64");
  if (batch->rows > 0 && batch->scores == NULL)
    return pc_fail(err, PCAL_USAGE, "a batch of %zu rows needs scores", batch->rows);
  return pc_batch_check_device(batch,
                               batch->scores_name == NULL ? "scores" : batch->scores_name, err);
}

static pcal_status source_batch_copy_names(pc_source_batch *borrowed, const pcal_env *env,
                                           const char *const *class_names, pcal_error *err) {
  pcal_batch *batch = &borrowed->batch;
  const char **fields[] = {&batch->scores_name, &batch->labels_name, &batch->weights_name,
                           &batch->groups_name, &batch->spread_name};
  int enough = 1;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    if (*fields[i] == NULL)
      continue;
    borrowed->names[i] = pc_copy_text(env, *fields[i]);
    enough &= borrowed->names[i] != NULL;
    *fields[i] = borrowed->names[i];
  }
  if (class_names != NULL && batch->columns > 1) {
    borrowed->class_names = pc_alloc(env, batch->columns, sizeof *borrowed->class_names);
    enough &= borrowed->class_names != NULL;
  }
  for (size_t j = 0; borrowed->class_names != NULL && j < batch->columns; j++) {
    borrowed->class_names[j] = pc_copy_text(env, class_names[j]);
    enough &= borrowed->class_names[j] != NULL;
  }
  return enough ? PCAL_OK : pc_fail_memory(err, "opening the data");
}

pcal_status pc_source_batch_open(const pcal_batch *batch, const char *const *class_names,
                                 const pcal_env *env, pc_source_batch *out, pcal_error *err) {
  PC_TRY(source_batch_check(batch, err));
  *out = (pc_source_batch){.used = 1, .batch = *batch};
  const pcal_status status = source_batch_copy_names(out, env, class_names, err);
  if (status != PCAL_OK)
    pc_source_batch_free(env, out);
  return status;
}

void pc_source_batch_free(const pcal_env *env, pc_source_batch *borrowed) {
  for (size_t i = 0; i < sizeof borrowed->names / sizeof *borrowed->names; i++)
    pc_free(env, borrowed->names[i]);
  for (size_t j = 0; borrowed->class_names != NULL && j < borrowed->batch.columns; j++)
    pc_free(env, borrowed->class_names[j]);
  pc_free(env, borrowed->class_names);
  *borrowed = (pc_source_batch){0};
}

void pc_source_batch_next(pc_source_batch *borrowed, size_t max_rows, pcal_batch *out) {
  const pcal_batch *all = &borrowed->batch;
  const size_t at = borrowed->position, left = all->rows - at;
  *out = *all;
  out->rows = left < max_rows ? left : max_rows;
  out->scores =
      left == 0 ? all->scores : (const char *)all->scores + (ptrdiff_t)at * all->row_stride;
  out->labels = all->labels == NULL ? NULL : all->labels + at;
  out->targets = pc_batch_targets(all, at);
  out->weights = all->weights == NULL ? NULL : all->weights + at;
  out->groups = all->groups == NULL ? NULL : all->groups + at;
  out->ids = all->ids == NULL ? NULL : all->ids + at;
  out->first_row = all->first_row + at;
  borrowed->position += out->rows;
}

void pc_source_batch_shape(const pc_source_batch *borrowed, pcal_shape *out) {
  const pcal_batch *all = &borrowed->batch;
  *out = (pcal_shape){.size = sizeof *out,
                      .kind = all->kind,
                      .type = all->type,
                      .row_count = all->rows,
                      .columns = all->columns,
                      .weighted = all->weights != NULL,
                      .grouped = all->groups != NULL,
                      .labelled = pc_kind_form(all->kind) == PC_FORM_CLASSES
                                      ? all->labels != NULL
                                      : all->targets != NULL,
                      .levels = all->levels,
                      .class_names = (const char *const *)borrowed->class_names};
}
