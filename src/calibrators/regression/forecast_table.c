#include "calibrators/regression/forecast_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/executor.h"
#include "base/sum.h"

typedef struct forecast_part {
  void *entries;
  size_t count, capacity;
} forecast_part;

typedef struct forecast_work {
  const pc_fit_task *task;
  pc_forecast_pick pick;
  forecast_part *parts; /* of each worker */
} forecast_work;

static pcal_status forecast_table_add(void *user, size_t worker, const pc_rows *rows,
                                      pcal_error *err) {
  const forecast_work *work = user;
  forecast_part *part = &work->parts[worker];
  const pc_layout *layout = &work->task->calibrator->layout;
  const pc_forecast_shape shape = {layout->form, layout->columns, layout->levels};
  PC_TRY(pc_reserve(work->task->env, &part->entries, &part->capacity, part->count + rows->count,
                    sizeof(pc_forecast_entry), err));
  pc_forecast_entry *entries = part->entries;
  for (size_t i = 0; i < rows->count; i++) {
    pc_forecast_entry entry = {0.0, 0.0, rows->weights == NULL ? 1.0 : rows->weights[i]};
    work->pick(&shape, rows->probs + i * rows->classes, &entry);
    entries[part->count++] = entry;
  }
  return PCAL_OK;
}

static int forecast_table_order(const void *a, const void *b) {
  const pc_forecast_entry *x = a, *y = b;
  if (x->first != y->first)
    return x->first < y->first ? -1 : 1;
  if (x->second != y->second)
    return x->second < y->second ? -1 : 1;
  return (x->weight > y->weight) - (x->weight < y->weight);
}

static pcal_status forecast_table_join(const pc_fit_task *task, const forecast_part *parts,
                                       size_t workers, pc_forecast_table *out,
                                       pcal_error *err) {
  size_t count = 0;
  pc_sum total;
  pc_sum_clear(&total);
  for (size_t w = 0; w < workers; w++)
    count += parts[w].count;
  out->entries = pc_alloc_raw(task->env, count, sizeof *out->entries);
  if (out->entries == NULL)
    return pc_fail_memory(err, "keeping rows for a fit");
  for (size_t w = 0; w < workers; w++) {
    if (parts[w].count > 0)
      memcpy(out->entries + out->count, parts[w].entries,
             parts[w].count * sizeof *out->entries);
    out->count += parts[w].count;
  }
  qsort(out->entries, out->count, sizeof *out->entries, forecast_table_order);
  for (size_t i = 0; i < out->count; i++)
    pc_sum_add(&total, out->entries[i].weight);
  out->total = pc_sum_value(&total);
  return PCAL_OK;
}

pcal_status pc_forecast_table_new(const pc_fit_task *task, pc_forecast_pick pick,
                                  pc_forecast_table *out, pcal_error *err) {
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
  const size_t workers = pc_worker_count(task->env);
  forecast_work work = {task, pick, pc_alloc(task->env, workers, sizeof *work.parts)};
  *out = (pc_forecast_table){NULL, 0, 0.0};
  if (work.parts == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(pc_fit_pass(task, &policy, forecast_table_add, NULL, &work, err));
  PC_TRY(forecast_table_join(task, work.parts, workers, out, err));
  for (size_t w = 0; w < workers; w++)
    pc_free(task->env, work.parts[w].entries);
  return PCAL_OK;
}
