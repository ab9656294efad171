#include "measure/rounds_worker.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "io/source.h"
#include "machines/machine_curve_buckets.h"
#include "measure/group_names.h"
#include "measure/overlapping_groups.h"
#include "measure/replicas/replica_tally.h"

#define WORKER_WINDOW_ROWS ((size_t)1 << 16)

/* ---- groups of a batch ---- */

/* The largest group number of a batch plus 1; 0 without groups. */
static pcal_status worker_group_count(const pcal_batch *batch, size_t *out, pcal_error *err) {
  size_t count = 0;
  for (size_t i = 0; batch->groups != NULL && i < batch->rows; i++)
    count = batch->groups[i] >= count ? (size_t)batch->groups[i] + 1 : count;
  *out = count;
  return pc_groups_check(count, err);
}

/* Hashes the names of the groups of a batch, for the fingerprint of its rows.  names NULL: groups
 * are named by their numbers. */
static pcal_status worker_hash_groups(pc_measure_rounds_worker *worker, const pcal_batch *batch,
                                      const char *const *names, pcal_error *err) {
  size_t count = 0;
  PC_TRY(worker_group_count(batch, &count, err));
  void *block = worker->group_hashes;
  const pcal_status status = pc_reserve(&worker->env, &block, &worker->hash_capacity, count,
                                        sizeof *worker->group_hashes, err);
  worker->group_hashes = block;
  PC_TRY(status);
  worker->hash_count = count;
  for (size_t g = 0; g < count; g++) {
    char number[PC_GROUP_NUMBER_MAX];
    snprintf(number, sizeof number, "%zu", g);
    const char *name = names == NULL ? number : names[g];
    worker->group_hashes[g] = pc_hash_bytes(name, strlen(name));
  }
  return PCAL_OK;
}

static pc_group_hashes worker_group_hashes(const pc_measure_rounds_worker *worker) {
  return (pc_group_hashes){worker->group_hashes, worker->hash_count};
}

/* ---- opening ---- */

/* Prepares a pass over rows for the targets of the request. */
static pcal_status worker_open_pass(pc_measure_rounds_worker *worker, pc_pass_add add,
                                    pcal_error *err) {
  pcal_measure *measure = worker->request.measure;
  pc_row_policy policy = measure->pass.policy;
  policy.need_log = 0;
  PC_TRY(pc_pass_init(&worker->pass, &measure->env, &measure->plan.layout, &policy, add, worker,
                      err));
  PC_TRY(pc_refine_columns_new(measure, &worker->columns, err));
  const size_t threads = measure->pass.worker_count;
  worker->rows = pc_alloc(&worker->env, threads, sizeof *worker->rows);
  worker->group_rows = pc_alloc(&worker->env, threads, sizeof *worker->group_rows);
  if (worker->rows == NULL || worker->group_rows == NULL)
    return pc_fail_memory(err, "answering a request");
  for (size_t s = 0; s < worker->request.state_count; s++)
    PC_TRY(pc_refine_jobs_open(&worker->request.states[s].jobs, err));
  return PCAL_OK;
}

static pcal_status worker_open_names(pc_measure_rounds_worker *worker, pcal_error *err) {
  for (size_t s = 1; s < worker->request.state_count; s++) {
    uint32_t number;
    PC_TRY(pc_name_table_add(&worker->names, pc_slice_of(worker->request.states[s].group),
                             &number, err));
    if (number != s - 1)
      return pc_envelope_misfit(&pc_round_request_envelope, "the request", err);
  }
  return PCAL_OK;
}

/* ---- rows of later rounds ---- */

/* The user data of worker_add_group. */
typedef struct worker_groups {
  pc_measure_rounds_worker *worker;
  size_t thread;
} worker_groups;

static pcal_status worker_add_group(void *user, uint64_t group, const pc_rows *rows,
                                    pcal_error *err) {
  const worker_groups *to = user;
  pc_measure_rounds_worker *worker = to->worker;
  if (group >= worker->map_count ||
      worker->map[group] == SIZE_MAX) /* the caller overwrites the batch */
    return pc_fail(
        err, PCAL_DATA,
        "the groups changed while they were read; measure when nothing writes to them");
  return pc_refine_jobs_add(&worker->request.states[worker->map[group]].jobs, to->thread, rows,
                            &worker->columns, err);
}

static pcal_status worker_chunk(void *user, size_t thread, const pc_rows *rows,
                                pcal_error *err) {
  pc_measure_rounds_worker *worker = user;
  worker_groups to = {worker, thread};
  pc_row_fingerprint_add(&worker->rows[thread], rows, worker_group_hashes(worker));
  PC_TRY(
      pc_refine_jobs_add(&worker->request.states[0].jobs, thread, rows, &worker->columns, err));
  if (rows->groups == NULL)
    return PCAL_OK;
  pc_group_rows *space = &worker->group_rows[thread];
  PC_TRY(pc_group_rows_open(&worker->env, &worker->pass.layout, space, err));
  return pc_group_rows_each(rows, space, worker_add_group, &to, err);
}

/* Maps a group of the batch to its state. */
static pcal_status worker_map_group(pc_measure_rounds_worker *worker, size_t group,
                                    const char *name, pcal_error *err) {
  uint32_t number;
  if (!pc_name_table_find(&worker->names, pc_slice_of(name), &number))
    return pc_fail(
        err, PCAL_DATA,
        "the group %s was not in the rows of the first round; store the table before "
        "measuring it, so that every round reads the same rows",
        name);
  worker->map[group] = (size_t)number + 1;
  return PCAL_OK;
}

/* names NULL: groups are named by their numbers. */
static pcal_status worker_map_groups(pc_measure_rounds_worker *worker, const pcal_batch *batch,
                                     const char *const *names, pcal_error *err) {
  const size_t count = worker->hash_count;
  void *block = worker->map;
  const pcal_status status =
      pc_reserve(&worker->env, &block, &worker->map_capacity, count, sizeof *worker->map, err);
  worker->map = block;
  PC_TRY(status);
  worker->map_count = count;
  for (size_t g = 0; g < count; g++)
    worker->map[g] = SIZE_MAX;
  for (size_t i = 0; batch->groups != NULL && i < batch->rows; i++) {
    const size_t group = batch->groups[i];
    char number[PC_GROUP_NUMBER_MAX];
    if (group >= count || worker->map[group] != SIZE_MAX)
      continue;
    snprintf(number, sizeof number, "%zu", group);
    PC_TRY(worker_map_group(worker, group, names == NULL ? number : names[group], err));
  }
  return PCAL_OK;
}

static pcal_status worker_answer(pc_measure_rounds_worker *worker, const pcal_batch *batch,
                                 const char *const *names, pcal_error *err) {
  pc_row_counts counts;
  if (batch->rows > 0 && (batch->groups != NULL) != (worker->request.state_count > 1))
    return pc_fail(err, PCAL_USAGE,
                   "some rows have groups and some have none; give all or none");
  if (worker->request.state_count > 1)
    PC_TRY(worker_map_groups(worker, batch, names, err));
  return pc_pass_batch(&worker->pass, batch, &counts, err);
}

/* ---- rows of the first round ---- */

static pcal_status worker_part(const pc_measure_rounds_worker *worker, const pcal_batch *batch,
                               pcal_measure **out, pcal_error *err) {
  return pc_round_measure_new(&worker->request.config, batch->kind, batch->columns,
                              &worker->env, out, err);
}

static pcal_status worker_add(pc_measure_rounds_worker *worker, const pcal_batch *batch,
                              pcal_error *err) {
  if (worker->measure == NULL)
    PC_TRY(worker_part(worker, batch, &worker->measure, err));
  const pc_lazy_labels none = {.fill = NULL};
  worker->measure->group_hashes = worker_group_hashes(worker);
  return pc_measure_add_window(worker->measure, batch, &none, err);
}

/* Fails for groups of several columns if later rounds are needed: these know combinations of
 * groups, not their unions. */
static pcal_status worker_check_groups(const pcal_measure *part, const pcal_shape *shape,
                                       pcal_error *err) {
  const pc_measure_plan *plan = &part->plan;
  uint64_t numbers = 0;
  int several = 0, later = 0;
  for (size_t g = 0; g < shape->group_count; g++)
    several |= pc_group_fields(shape->group_names[g]) > 1;
  PC_TRY(pc_replica_tally_size(&part->env, plan, &numbers, err));
  for (size_t s = 0; s < plan->slot_count; s++)
    later |= pc_machine_has_buckets(plan->slots[s].machine);
  if (!several || (!later && numbers == 0))
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "in rounds, metrics of sorted scores, intervals and nulls take one column of "
                 "groups, and {groups} has several; join the columns into one");
}

/* Adds rows whose groups or classes have names: they are measured apart and merged by name. */
static pcal_status worker_add_named(pc_measure_rounds_worker *worker, const pcal_batch *batch,
                                    const pcal_shape *shape, pcal_error *err) {
  pcal_measure *part = NULL;
  if (worker->measure == NULL)
    PC_TRY(worker_part(worker, batch, &worker->measure, err));
  PC_TRY(worker_part(worker, batch, &part, err));
  part->group_hashes = worker_group_hashes(worker);
  pcal_status status = worker_check_groups(part, shape, err);
  if (status == PCAL_OK)
    status = pc_measure_update(part, batch, err);
  if (status == PCAL_OK)
    status = pc_measure_set_names(part, shape->class_names,
                                  shape->class_names == NULL ? 0 : shape->columns,
                                  shape->group_names, shape->group_count, err);
  if (status == PCAL_OK)
    status = pc_measure_merge(worker->measure, part, err);
  pc_measure_free(part);
  return status;
}

/* ---- interface ---- */

static pcal_status worker_ready(const pc_measure_rounds_worker *worker, pcal_error *err) {
  if (worker->failed)
    return pc_fail(err, PCAL_USAGE,
                   "an update of this worker failed; answer the request with a new one");
  return PCAL_OK;
}

static pcal_status worker_batch(pc_measure_rounds_worker *worker, const pcal_batch *batch,
                                const pcal_shape *shape, pcal_error *err) {
  PC_TRY(worker_ready(worker, err));
  if (worker->answered)
    return pc_fail(err, PCAL_USAGE,
                   "this worker has given its tally; answer more rows with a new one");
  if (batch->rows == 0)
    return PCAL_OK;
  const int named = shape != NULL && (shape->class_names != NULL || shape->group_count > 0);
  const char *const *groups =
      shape == NULL || shape->group_count == 0 ? NULL : shape->group_names;
  pcal_status status = worker_hash_groups(worker, batch, groups, err);
  if (status == PCAL_OK)
    status = worker->request.config.later ? worker_answer(worker, batch, groups, err)
             : named                      ? worker_add_named(worker, batch, shape, err)
                                          : worker_add(worker, batch, err);
  worker->begun = 1;
  worker->failed = status != PCAL_OK;
  return status;
}

pcal_status pc_measure_rounds_worker_update(pc_measure_rounds_worker *worker,
                                            const pcal_batch *batch, pcal_error *err) {
  return worker_batch(worker, batch, NULL, err);
}

pcal_status pc_measure_rounds_worker_update_source(pc_measure_rounds_worker *worker,
                                                   pcal_source *source, pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  PC_TRY(pc_source_widen(source, worker->request.config.measure.columns, err));
  pc_source_shape(source, &shape);
  if (!shape.labelled)
    return pc_fail(err, PCAL_USAGE, "measuring needs the true outcomes; give them with %-s",
                   pc_kind_outcome_argument(shape.kind));
  for (;;) {
    pcal_batch batch = PCAL_BATCH_INIT;
    PC_TRY(pc_source_next(source, WORKER_WINDOW_ROWS, &batch, err));
    if (batch.rows == 0)
      return PCAL_OK;
    pc_source_shape(source, &shape);
    PC_TRY(worker_batch(worker, &batch, &shape, err));
    PC_TRY(pc_check_interrupt(&worker->env, err));
  }
}

static pcal_status worker_tally_first(pc_measure_rounds_worker *worker, pc_round_tally *tally,
                                      pcal_sink sink, void *user, pcal_error *err) {
  tally->content = worker->request.config.whole_curves ? PC_ROUND_WHOLE : PC_ROUND_BUCKETS;
  if (!worker->answered)
    PC_TRY(pc_measure_settle(worker->measure, err));
  worker->answered = 1;
  pc_round_forget_rows(worker->measure);
  tally->rows = worker->measure->rows;
  tally->measure = worker->measure;
  const pcal_status status = pc_round_tally_write(tally, sink, user, err);
  tally->measure = NULL; /* stays with the worker */
  return status;
}

/* Equal rows and replicas are known when all rows are there. */
static pcal_status worker_tally_draws(pc_measure_rounds_worker *worker, pc_round_tally *tally,
                                      pcal_sink sink, void *user, pcal_error *err) {
  tally->content = PC_ROUND_DRAWS;
  if (!worker->answered)
    PC_TRY(pc_measure_settle(worker->measure, err));
  worker->answered = 1;
  tally->rows = worker->measure->rows;
  PC_TRY(pc_round_draws_new(&worker->env, worker->measure, worker->request.draws,
                            worker->request.draw_count, &tally->draws, err));
  return pc_round_tally_write(tally, sink, user, err);
}

static size_t worker_part_count(const pc_measure_rounds_worker *worker) {
  size_t count = 0;
  for (size_t s = 0; s < worker->request.state_count; s++)
    for (size_t j = 0; j < worker->request.states[s].jobs.count; j++)
      count += worker->request.states[s].jobs.list[j].part_count;
  return count;
}

static pcal_status worker_collect_state(pc_measure_rounds_worker *worker, size_t s,
                                        pc_round_tally *tally, size_t *at, pcal_error *err) {
  pc_refine_jobs *jobs = &worker->request.states[s].jobs;
  if (!worker->answered)
    PC_TRY(pc_refine_jobs_collect(jobs, err));
  for (size_t j = 0; j < jobs->count; j++)
    for (size_t p = 0; p < jobs->list[j].part_count; p++)
      PC_TRY(pc_sparse_tally_new(tally->env, &jobs->list[j].tallies[p], &tally->parts[(*at)++],
                                 err));
  return PCAL_OK;
}

static pcal_status worker_tally_later(pc_measure_rounds_worker *worker, pc_round_tally *tally,
                                      pcal_sink sink, void *user, pcal_error *err) {
  size_t at = 0;
  tally->content = PC_ROUND_TARGETS;
  for (size_t w = 0; w < worker->request.measure->pass.worker_count; w++)
    pc_row_fingerprint_merge(&tally->rows, &worker->rows[w]);
  PC_TRY(pc_round_tally_room(tally, worker_part_count(worker), err));
  for (size_t s = 0; s < worker->request.state_count; s++)
    PC_TRY(worker_collect_state(worker, s, tally, &at, err));
  worker->answered = 1;
  return pc_round_tally_write(tally, sink, user, err);
}

pcal_status pc_measure_rounds_worker_tally(pc_measure_rounds_worker *worker, pcal_sink sink,
                                           void *user, pcal_error *err) {
  pc_round_tally tally = {.env = &worker->env, .id = worker->request.id};
  PC_TRY(worker_ready(worker, err));
  const pcal_status status =
      !worker->begun                 ? pc_round_tally_write(&tally, sink, user, err)
      : worker->request.config.later ? worker_tally_later(worker, &tally, sink, user, err)
      : worker->request.config.draws ? worker_tally_draws(worker, &tally, sink, user, err)
                                     : worker_tally_first(worker, &tally, sink, user, err);
  worker->failed |= status != PCAL_OK && !worker->answered;
  pc_round_tally_free(&tally);
  return status;
}

void pc_measure_rounds_worker_free(pc_measure_rounds_worker *worker) {
  if (worker == NULL)
    return;
  const pcal_env env = worker->env;
  const size_t threads =
      worker->request.measure == NULL ? 0 : worker->request.measure->pass.worker_count;
  for (size_t w = 0; worker->group_rows != NULL && w < threads; w++)
    pc_group_rows_free(&env, &worker->group_rows[w]);
  pc_free(&env, worker->group_rows);
  pc_free(&env, worker->rows);
  pc_free(&env, worker->map);
  pc_free(&env, worker->group_hashes);
  pc_name_table_free(&worker->names);
  pc_refine_columns_free(&env, &worker->columns);
  if (worker->pass.env != NULL)
    pc_pass_free(&worker->pass);
  pc_measure_free(worker->measure);
  pc_round_request_free(&worker->request);
  pc_free(&env, worker);
}

pcal_status pc_measure_rounds_worker_new(const void *request, size_t length,
                                         const pcal_env *env, pc_measure_rounds_worker **out,
                                         pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_measure_rounds_worker *worker = pc_alloc(&resolved, 1, sizeof *worker);
  if (worker == NULL)
    return pc_fail_memory(err, "answering a request");
  worker->env = resolved;
  pc_name_table_init(&worker->names, &worker->env);
  pcal_status status = pc_round_request_read(request, length, "the request", &worker->env,
                                             &worker->request, err);
  worker->env.seed = worker->request.config.seed;
  if (status == PCAL_OK && worker->request.config.later)
    status = worker_open_pass(worker, worker_chunk, err);
  if (status == PCAL_OK)
    status = worker_open_names(worker, err);
  if (status != PCAL_OK) {
    pc_measure_rounds_worker_free(worker);
    return status;
  }
  *out = worker;
  return PCAL_OK;
}
