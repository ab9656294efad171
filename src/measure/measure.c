/* The pass over the rows.
 *
 * A batch is cut into chunks; each worker checks and converts a chunk, fills the columns of
 * every view once, and adds the rows to its own ledger.  When all chunks went well the
 * workers' ledgers are merged into the measure's; when one did not, they are dropped.  States
 * merge to the same bits in any order, so neither chunks nor workers show in the result. */
#include "measure/measure.h"

#include <stdio.h>
#include <string.h>

#include "core/executor.h"

#define MEASURE_SCORE_COST 8.0 /* nanoseconds, for the executor */

static void measure_worker_free(pcal_measure *measure, pc_measure_worker *worker) {
  pc_scratch_free(&measure->env, &worker->scratch);
  pc_scratch_free(&measure->env, &worker->group_scratch);
  for (size_t v = 0; worker->columns != NULL && v < measure->plan.view_count; v++)
    pc_columns_free(&measure->env, &worker->columns[v]);
  pc_free(&measure->env, worker->columns);
  pc_free(&measure->env, worker->positions);
  if (worker->ledger.env != NULL)
    pc_ledger_free(&worker->ledger);
  memset(worker, 0, sizeof *worker);
}

static pcal_status measure_worker_fill(pcal_measure *measure, pc_measure_worker *worker,
                                       pcal_error *err) {
  const pcal_env *env = &measure->env;
  const pc_plan *plan = &measure->plan;
  pc_ledger_init(&worker->ledger, env, plan);
  PC_TRY(pc_scratch_new(env, &plan->layout, &worker->scratch, err));
  PC_TRY(pc_scratch_new(env, &plan->layout, &worker->group_scratch, err));
  worker->positions = pc_alloc_raw(env, worker->scratch.capacity, sizeof *worker->positions);
  worker->columns = pc_alloc(env, plan->view_count, sizeof *worker->columns);
  if (worker->positions == NULL || worker->columns == NULL)
    return pc_fail_memory(err, "preparing workers");
  for (size_t v = 0; v < plan->view_count; v++)
    PC_TRY(pc_columns_new(env, &plan->views[v], worker->scratch.capacity, &worker->columns[v],
                          err));
  worker->counts.fractional_row = PCAL_NO_ROW;
  worker->ready = 1;
  return PCAL_OK;
}

pcal_status pc_measure_new(const pcal_measure_config *config, const pcal_env *env,
                           pcal_measure **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_layout layout;
  PC_TRY(pc_layout_make(config->kind, config->columns, &layout, err));
  pcal_measure *measure = pc_alloc(&resolved, 1, sizeof *measure);
  if (measure == NULL)
    return pc_fail_memory(err, "preparing to measure");
  measure->env = resolved;
  measure->grouped = -1;
  pcal_status status = pc_plan_make(&measure->env, &layout, config->specs, config->spec_count,
                                    &measure->plan, err);
  pc_ledger_init(&measure->ledger, &measure->env, &measure->plan);
  measure->policy =
      (pc_policy){config->normalize, config->skip_missing, measure->plan.needs_log};
  measure->worker_count = pc_worker_count(&measure->env);
  measure->workers = pc_alloc(&resolved, measure->worker_count, sizeof *measure->workers);
  if (status == PCAL_OK && measure->workers == NULL)
    status = pc_fail_memory(err, "preparing workers");
  if (status != PCAL_OK) {
    pc_measure_free(measure);
    return status;
  }
  *out = measure;
  return PCAL_OK;
}

void pc_measure_free(pcal_measure *measure) {
  if (measure == NULL)
    return;
  const pcal_env env = measure->env;
  for (size_t w = 0; measure->workers != NULL && w < measure->worker_count; w++)
    measure_worker_free(measure, &measure->workers[w]);
  pc_free(&env, measure->workers);
  pc_ledger_free(&measure->ledger);
  pc_plan_free(&env, &measure->plan);
  pc_name_list_free(&env, measure->class_names, measure->class_count);
  pc_name_list_free(&env, measure->group_names, measure->group_name_count);
  pc_free(&env, measure);
}

/* One update, as the tasks see it. */
typedef struct measure_pass {
  pcal_measure *measure;
  const pcal_batch *batch;
  size_t chunk;
} measure_pass;

static pcal_status measure_add(pc_measure_worker *worker, const pc_plan *plan, size_t account,
                               const pc_rows *rows, pcal_error *err) {
  for (size_t v = 0; v < plan->view_count; v++)
    pc_view_fill(&plan->views[v], rows, &worker->columns[v]);
  return pc_ledger_update(&worker->ledger, account, rows, worker->columns, err);
}

/* Groups of a chunk one after the other, by the lowest number not yet done. */
static pcal_status measure_add_groups(pc_measure_worker *worker, const pc_plan *plan,
                                      const pc_rows *rows, pcal_error *err) {
  for (uint64_t done = 0;;) {
    uint64_t group = UINT64_MAX;
    for (size_t i = 0; i < rows->count; i++)
      if (rows->groups[i] >= done && rows->groups[i] < group)
        group = rows->groups[i];
    if (group == UINT64_MAX)
      return PCAL_OK;
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
      if (rows->groups[i] == group)
        worker->positions[count++] = i;
    pc_rows selected;
    pc_rows_select(rows, worker->positions, count, &worker->group_scratch, &selected);
    PC_TRY(measure_add(worker, plan, (size_t)group, &selected, err));
    done = group + 1;
  }
}

static pcal_status measure_task(void *user, size_t index, size_t w, pcal_error *err) {
  const measure_pass *pass = user;
  pcal_measure *measure = pass->measure;
  pc_measure_worker *worker = &measure->workers[w];
  if (!worker->ready)
    PC_TRY(measure_worker_fill(measure, worker, err));
  const size_t begin = index * pass->chunk, left = pass->batch->rows - begin;
  pc_rows rows;
  PC_TRY(pc_rows_derive(pass->batch, &measure->plan.layout, &measure->policy, begin,
                        left < pass->chunk ? left : pass->chunk, &worker->scratch, &rows,
                        &worker->counts, err));
  if (measure->plan.whole_weights != NULL && worker->counts.fractional_row != PCAL_NO_ROW)
    return pc_fail_row(
        err, PCAL_DATA, worker->counts.fractional_row,
        "%s, row %llu: %s counts pairs of copies of a row, so weights must be "
        "whole numbers; leave the metric or the weights out",
        pass->batch->weights_name == NULL ? "weights" : pass->batch->weights_name,
        (unsigned long long)worker->counts.fractional_row, measure->plan.whole_weights);
  if (rows.groups != NULL)
    return measure_add_groups(worker, &measure->plan, &rows, err);
  return measure_add(worker, &measure->plan, 0, &rows, err);
}

static void measure_workers_clear(pcal_measure *measure) {
  for (size_t w = 0; w < measure->worker_count; w++) {
    pc_measure_worker *worker = &measure->workers[w];
    if (!worker->ready) {
      measure_worker_free(measure, worker);
      continue;
    }
    pc_ledger_clear(&worker->ledger);
    worker->counts = (pc_row_counts){.fractional_row = PCAL_NO_ROW};
  }
}

/* All workers into the first that has anything, then that one into the measure. */
static pcal_status measure_collect(pcal_measure *measure, pcal_error *err) {
  pc_measure_worker *first = NULL;
  pc_row_counts counts = {0};
  for (size_t w = 0; w < measure->worker_count; w++) {
    pc_measure_worker *worker = &measure->workers[w];
    if (!worker->ready)
      continue;
    counts.normalized += worker->counts.normalized;
    counts.skipped += worker->counts.skipped;
    if (first == NULL)
      first = worker;
    else
      PC_TRY(pc_ledger_merge(&first->ledger, &worker->ledger, err));
  }
  if (first == NULL)
    return PCAL_OK;
  PC_TRY(pc_ledger_merge(&measure->ledger, &first->ledger, err));
  measure->normalized += counts.normalized;
  measure->skipped += counts.skipped;
  return PCAL_OK;
}

pcal_status pc_measure_update(pcal_measure *measure, const pcal_batch *batch, pcal_error *err) {
  PC_TRY(pc_batch_check(batch, &measure->plan.layout, err));
  if (batch->rows == 0)
    return PCAL_OK;
  const int grouped = batch->groups != NULL;
  if (measure->grouped >= 0 && measure->grouped != grouped)
    return pc_fail(err, PCAL_USAGE,
                   "some rows have groups and some have none; give all or none");
  measure_pass pass = {measure, batch, pc_chunk_rows(&measure->plan.layout)};
  const size_t chunks = (batch->rows - 1) / pass.chunk + 1;
  const double work = MEASURE_SCORE_COST * (double)batch->rows * (double)batch->columns;
  pcal_status status = pc_run(&measure->env, chunks, work, measure_task, &pass, err);
  if (status == PCAL_OK)
    status = measure_collect(measure, err);
  measure_workers_clear(measure);
  if (status != PCAL_OK)
    return status;
  measure->grouped = grouped;
  measure->weighted |= batch->weights != NULL;
  if (batch->weights_name != NULL)
    snprintf(measure->weights_name, sizeof measure->weights_name, "%s: ", batch->weights_name);
  return PCAL_OK;
}

pcal_status pc_measure_merge(pcal_measure *measure, const pcal_measure *other,
                             pcal_error *err) {
  if (!pc_plan_equal(&measure->plan, &other->plan) ||
      measure->policy.normalize != other->policy.normalize ||
      measure->policy.skip_missing != other->policy.skip_missing)
    return pc_fail(err, PCAL_USAGE,
                   "the two measures were made for different metrics or data and cannot be "
                   "merged");
  if (measure->grouped >= 0 && other->grouped >= 0 && measure->grouped != other->grouped)
    return pc_fail(err, PCAL_USAGE, "one measure has groups and the other has none");
  PC_TRY(pc_ledger_merge(&measure->ledger, &other->ledger, err));
  measure->normalized += other->normalized;
  measure->skipped += other->skipped;
  measure->weighted |= other->weighted;
  if (measure->grouped < 0)
    measure->grouped = other->grouped;
  return PCAL_OK;
}

pcal_status pc_measure_name(pcal_measure *measure, const char *const *class_names,
                            size_t class_count, const char *const *group_names,
                            size_t group_count, pcal_error *err) {
  char **classes, **groups;
  PC_TRY(pc_name_list_copy(&measure->env, class_names, class_count, &classes, err));
  const pcal_status status =
      pc_name_list_copy(&measure->env, group_names, group_count, &groups, err);
  if (status != PCAL_OK) {
    pc_name_list_free(&measure->env, classes, class_count);
    return status;
  }
  pc_name_list_free(&measure->env, measure->class_names, measure->class_count);
  pc_name_list_free(&measure->env, measure->group_names, measure->group_name_count);
  measure->class_names = classes;
  measure->class_count = classes == NULL ? 0 : class_count;
  measure->group_names = groups;
  measure->group_name_count = groups == NULL ? 0 : group_count;
  return PCAL_OK;
}
