#include "figure/figure_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fails if a group has no row of positive weight. */
static pcal_status figure_groups_check_weights(const pcal_source *source, const char *counts,
                                               size_t count, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  size_t group = 0;
  while (group < count && counts[group])
    group++;
  if (group == count)
    return PCAL_OK;
  pc_source_shape(source, &shape);
  if (shape.group_names != NULL && group < shape.group_count)
    return pc_fail(
        err, PCAL_DATA,
        "all rows of the group \"%s\" have the weight 0; leave them out of the figure",
        shape.group_names[group]);
  return pc_fail(err, PCAL_DATA,
                 "all rows of group %zu have the weight 0; leave them out of the figure",
                 group);
}

/* Reads to the end, so that all groups are known. */
static pcal_status figure_groups_count(pcal_source *source, const pcal_env *env, size_t *count,
                                       pcal_error *err) {
  char counts[PC_FIGURE_GROUPS_MAX] = {0}; /* 1: a row of the group has a weight above 0 */
  *count = 0;
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, SIZE_MAX, &batch, err));
    if (batch.rows == 0)
      break;
    for (size_t i = 0; batch.groups != NULL && i < batch.rows; i++) {
      const uint32_t group = *(const volatile uint32_t *)&batch.groups[i]; /* may change */
      *count = group >= *count ? (size_t)group + 1 : *count;
      if (group < PC_FIGURE_GROUPS_MAX)
        counts[group] |= batch.weights == NULL || batch.weights[i] != 0.0;
    }
    PC_TRY(pc_check_interrupt(env, err));
  }
  if (*count > PC_FIGURE_GROUPS_MAX)
    return pc_fail(err, PCAL_USAGE,
                   "a figure draws at most %d groups, and {groups} has %zu; join some of them, "
                   "or measure them with a table",
                   PC_FIGURE_GROUPS_MAX, *count);
  return figure_groups_check_weights(source, counts, *count, err);
}

static int figure_groups_order(const void *a, const void *b) {
  return strcmp(((const pcal_model *)a)->name, ((const pcal_model *)b)->name);
}

static pcal_status figure_groups_one(pcal_source *source, size_t group, pc_figure_groups *out,
                                     pcal_error *err) {
  const pc_folds all = {0, 1, 0};
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(source, &shape);
  PC_TRY(pc_fold_source_open(source, &all, 0, out->env, &out->parts[group], err));
  out->parts[group].inside = 1;
  out->parts[group].group = (uint32_t)group;
  snprintf(out->numbers[group], sizeof out->numbers[group], "%zu", group);
  out->models[group] = (pcal_model)PCAL_MODEL_INIT;
  out->models[group].source = out->parts[group].source;
  out->models[group].name = shape.group_names != NULL && group < shape.group_count
                                ? shape.group_names[group]
                                : out->numbers[group];
  return PCAL_OK;
}

pcal_status pc_figure_groups_open(pcal_source *source, const pcal_env *env,
                                  pc_figure_groups *out, pcal_error *err) {
  size_t count;
  *out = (pc_figure_groups){.env = env};
  PC_TRY(figure_groups_count(source, env, &count, err));
  out->models = pc_alloc(env, count + 1, sizeof *out->models);
  out->parts = pc_alloc(env, count + 1, sizeof *out->parts);
  out->numbers = pc_alloc(env, count + 1, sizeof *out->numbers);
  if (out->models == NULL || out->parts == NULL || out->numbers == NULL)
    return pc_fail_memory(err, "drawing groups");
  out->count = count;
  for (size_t g = 0; g < count; g++)
    PC_TRY(figure_groups_one(source, g, out, err));
  qsort(out->models, count, sizeof *out->models, figure_groups_order);
  return PCAL_OK;
}

void pc_figure_groups_close(pc_figure_groups *groups) {
  for (size_t g = 0; g < groups->count; g++)
    pc_fold_source_close(&groups->parts[g]);
  pc_free(groups->env, groups->models);
  pc_free(groups->env, groups->parts);
  pc_free(groups->env, groups->numbers);
}
