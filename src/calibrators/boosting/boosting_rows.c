/* A record of a row is numbers: how many they are, group, label, 1 if the label has probability 0,
 * probabilities, weight.  Records are sorted by all of these, so that neither the order of rows
 * nor threads matter. */
#include "calibrators/boosting/boosting_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/executor.h"
#include "base/float_bits.h"
#include "base/hash_key.h"
#include "calibrators/boosting/group_boosting.h"
#include "calibrators/fit_pass.h"
#include "calibrators/group_calibrators.h"
#include "io/source.h"

enum { RECORD_LENGTH, RECORD_GROUP, RECORD_LABEL, RECORD_IMPOSSIBLE, RECORD_PROBS };

typedef struct boosting_part {
  void *records;
  size_t count, capacity; /* numbers */
} boosting_part;

typedef struct boosting_reading {
  const pc_fit_task *task;
  size_t width, stride; /* numbers of a record */
  boosting_part *parts; /* of each worker */
} boosting_reading;

static pcal_status boosting_rows_add(void *user, size_t worker, const pc_rows *rows,
                                     pcal_error *err) {
  const boosting_reading *reading = user;
  const pc_layout *layout = &reading->task->calibrator->layout;
  const size_t width = reading->width, classes = rows->classes;
  boosting_part *part = &reading->parts[worker];
  PC_TRY(pc_reserve(reading->task->env, &part->records, &part->capacity,
                    part->count + rows->count * reading->stride, sizeof(double), err));
  double *to = (double *)part->records + part->count;
  for (size_t i = 0; i < rows->count; i++, to += reading->stride) {
    to[RECORD_LENGTH] = (double)reading->stride;
    to[RECORD_GROUP] =
        reading->task->by_group && rows->groups != NULL ? (double)rows->groups[i] : 0.0;
    to[RECORD_LABEL] = (double)rows->labels[i];
    const double *probs = classes == 1 ? rows->top + i : rows->probs + i * classes;
    to[RECORD_IMPOSSIBLE] =
        classes > 1 ? probs[rows->labels[i]] <= 0.0 : probs[0] == (rows->labels[i] ? 0.0 : 1.0);
    pc_boosting_begin(probs, layout, to + RECORD_PROBS);
    to[RECORD_PROBS + width] = rows->weights == NULL ? 1.0 : rows->weights[i];
  }
  part->count += rows->count * reading->stride;
  return PCAL_OK;
}

static int boosting_rows_order(const void *a, const void *b) {
  const double *x = a, *y = b;
  const size_t length = (size_t)x[RECORD_LENGTH];
  for (size_t j = 1; j < length; j++)
    if (x[j] != y[j])
      return x[j] < y[j] ? -1 : 1;
  return 0;
}

/* Moves the records of all workers to one block. */
static pcal_status boosting_rows_join(const boosting_reading *reading, size_t workers,
                                      boosting_part *all, pcal_error *err) {
  *all = (boosting_part){NULL, 0, 0};
  for (size_t w = 0; w < workers; w++)
    all->capacity += reading->parts[w].count;
  all->records = pc_alloc_raw(reading->task->env, all->capacity + 1, sizeof(double));
  if (all->records == NULL)
    return pc_fail_memory(err, "keeping rows");
  for (size_t w = 0; w < workers; w++) {
    const boosting_part *part = &reading->parts[w];
    if (part->count > 0)
      memcpy((double *)all->records + all->count, part->records, part->count * sizeof(double));
    all->count += part->count;
    pc_free(reading->task->env, part->records);
  }
  return PCAL_OK;
}

/* ---- Groups ---- */

static pcal_status boosting_rows_sets(const pc_fit_task *task, pc_boosting_rows *rows,
                                      pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(task->source, &shape);
  const size_t count = task->by_group ? shape.group_count : 0;
  if (task->by_group && count == 0)
    return pc_fail(err, PCAL_USAGE,
                   "calibrators of groups need groups with names; give them with {groups}");
  PC_TRY(pc_boosting_sets_new(task->env, shape.group_names, count, PC_GROUP_CALIBRATORS_MAX,
                              &rows->sets, err));
  rows->memberships = pc_alloc(task->env, count + 1, sizeof *rows->memberships);
  if (rows->memberships == NULL)
    return pc_fail_memory(err, "collecting groups");
  rows->memberships[0] = (pc_boosting_membership){1, {0}};
  for (size_t g = 0; g < count; g++)
    pc_boosting_sets_of(&rows->sets, shape.group_names[g], &rows->memberships[g]);
  return PCAL_OK;
}

/* Numbers the groups of records by the sets with their names, in place of the order of first
 * appearance. */
static void boosting_rows_rank(const pc_boosting_rows *rows, double *records, size_t count,
                               size_t stride) {
  for (size_t at = 0; at < count; at += stride) {
    const pc_boosting_membership *own = &rows->memberships[(size_t)records[at + RECORD_GROUP]];
    records[at + RECORD_GROUP] = (double)own->sets[own->count - 1];
  }
}

/* Memberships by the number of a group's own set, for rows that boosting_rows_rank changed. */
static pcal_status boosting_rows_by_set(const pc_fit_task *task, pc_boosting_rows *rows,
                                        pcal_error *err) {
  pc_boosting_membership *by_set = pc_alloc(task->env, rows->sets.count, sizeof *by_set);
  if (by_set == NULL)
    return pc_fail_memory(err, "collecting groups");
  by_set[0] = (pc_boosting_membership){1, {0}};
  for (size_t s = 1; s < rows->sets.count; s++)
    pc_boosting_sets_of(&rows->sets, rows->sets.names[s], &by_set[s]);
  pc_free(task->env, rows->memberships);
  rows->memberships = by_set;
  return PCAL_OK;
}

/* ---- From records to rows ---- */

static uint8_t boosting_rows_fold(const pc_fit_task *task, const double *record, size_t width) {
  uint64_t key = pc_hash_u64(task->env->seed + UINT64_C(0x9e3779b97f4a7c15));
  for (size_t j = RECORD_GROUP; j < RECORD_PROBS + width; j++)
    key = pc_hash_u64(key + pc_double_bits(record[j]));
  return (uint8_t)((key >> 32) * PC_BOOSTING_FOLDS >> 32);
}

static int boosting_rows_same(const double *a, const double *b, size_t width) {
  return memcmp(a + RECORD_GROUP, b + RECORD_GROUP,
                (RECORD_PROBS - RECORD_GROUP + width) * sizeof *a) == 0;
}

static void boosting_rows_count(pc_boosting_rows *rows, const double *record) {
  const pc_boosting_membership *in = &rows->memberships[(size_t)record[RECORD_GROUP]];
  for (size_t s = 0; s < in->count; s++) {
    rows->set_rows[in->sets[s]]++;
    rows->set_impossible[in->sets[s]] |= record[RECORD_IMPOSSIBLE] != 0.0;
    rows->set_weights[in->sets[s]] += record[RECORD_PROBS + rows->width];
  }
}

static void boosting_rows_fill(const pc_fit_task *task, const double *records, size_t count,
                               pc_boosting_rows *rows) {
  const size_t width = rows->width, stride = RECORD_PROBS + width + 1;
  for (size_t at = 0; at < count; at += stride) {
    const double *record = records + at;
    const double weight = record[RECORD_PROBS + width];
    boosting_rows_count(rows, record);
    if (at > 0 && boosting_rows_same(record - stride, record, width)) {
      rows->weights[rows->count - 1] += weight;
      continue;
    }
    const size_t i = rows->count++;
    rows->groups[i] = (uint32_t)record[RECORD_GROUP];
    rows->labels[i] = (int32_t)record[RECORD_LABEL];
    memcpy(rows->probs + i * width, record + RECORD_PROBS, width * sizeof *rows->probs);
    rows->weights[i] = weight;
    rows->folds[i] = boosting_rows_fold(task, record, width);
  }
}

static pcal_status boosting_rows_alloc(const pcal_env *env, size_t count,
                                       pc_boosting_rows *rows, pcal_error *err) {
  rows->probs = pc_alloc_raw(env, count * rows->width + 1, sizeof *rows->probs);
  rows->labels = pc_alloc_raw(env, count + 1, sizeof *rows->labels);
  rows->weights = pc_alloc_raw(env, count + 1, sizeof *rows->weights);
  rows->groups = pc_alloc_raw(env, count + 1, sizeof *rows->groups);
  rows->folds = pc_alloc_raw(env, count + 1, sizeof *rows->folds);
  rows->set_rows = pc_alloc(env, rows->sets.count, sizeof *rows->set_rows);
  rows->set_weights = pc_alloc(env, rows->sets.count, sizeof *rows->set_weights);
  rows->set_impossible = pc_alloc(env, rows->sets.count, sizeof *rows->set_impossible);
  return rows->probs == NULL || rows->labels == NULL || rows->weights == NULL ||
                 rows->groups == NULL || rows->folds == NULL || rows->set_rows == NULL ||
                 rows->set_weights == NULL || rows->set_impossible == NULL
             ? pc_fail_memory(err, "keeping rows")
             : PCAL_OK;
}

pcal_status pc_boosting_rows_open(const pc_fit_task *task, pc_boosting_rows *out,
                                  pcal_error *err) {
  const pc_row_policy policy = {.probs = PC_PROBS_FILLED};
  const size_t workers = pc_worker_count(task->env);
  const size_t width = pc_boosting_width(&task->calibrator->layout);
  const size_t stride = RECORD_PROBS + width + 1;
  boosting_reading reading = {task, width, stride,
                              pc_alloc(task->env, workers, sizeof *reading.parts)};
  boosting_part all;
  *out = (pc_boosting_rows){.width = width};
  if (reading.parts == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(pc_fit_pass(task, &policy, boosting_rows_add, NULL, &reading, err));
  PC_TRY(boosting_rows_join(&reading, workers, &all, err));
  PC_TRY(boosting_rows_sets(task, out, err));
  boosting_rows_rank(out, all.records, all.count, stride);
  PC_TRY(boosting_rows_by_set(task, out, err));
  qsort(all.records, all.count / stride, stride * sizeof(double), boosting_rows_order);
  PC_TRY(boosting_rows_alloc(task->env, all.count / stride, out, err));
  boosting_rows_fill(task, all.records, all.count, out);
  pc_free(task->env, all.records);
  return PCAL_OK;
}
