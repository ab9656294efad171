/* The pass over the rows.
 *
 * A batch is cut into chunks.  Each worker checks and converts a chunk, fills the columns of
 * every view once, and adds the rows to its own states.  If all chunks are good, the states of
 * the workers are merged into the measure; otherwise they are dropped.  States merge to the
 * same bits in any order, so the result depends neither on chunks nor on workers. */
#include "measure/measure.h"

#include <stdio.h>
#include <string.h>

#include "base/executor.h"
#include "machines/machine_curve_buckets.h"
#include "machines/machine_grid_sparse.h"
#include "measure/cells_on_device.h"
#include "measure/merge_workers.h"

#define MEASURE_MANY ((size_t)1 << 20) /* scores of a batch */
#define MEASURE_FREE_COST 1e5          /* nanoseconds per worker */

static void measure_columns_free(const pcal_measure *measure, pc_measure_worker *worker) {
  for (size_t v = 0; worker->columns != NULL && v < measure->plan.view_count; v++)
    pc_view_columns_free(&measure->env, &worker->columns[v]);
  pc_free(&measure->env, worker->columns);
  worker->columns = NULL;
}

static void measure_worker_free(pcal_measure *measure, pc_measure_worker *worker) {
  measure_columns_free(measure, worker);
  pc_group_rows_free(&measure->env, &worker->group_rows);
  if (worker->groups.env != NULL)
    pc_group_states_free(&worker->groups);
  memset(worker, 0, sizeof *worker);
}

static pcal_status measure_free_task(void *user, size_t w, size_t worker, pcal_error *err) {
  pcal_measure *measure = user;
  (void)worker;
  (void)err;
  measure_worker_free(measure, &measure->workers[w]);
  return PCAL_OK;
}

/* Runs a task that cannot fail for each worker, with all threads if several workers have
 * states. */
static void measure_each_worker(pcal_measure *measure, double cost, pc_task task) {
  const size_t ready = pc_workers_ready(measure);
  pc_run_quietly(&measure->env, measure->pass.worker_count,
                 ready > 1 ? cost * (double)ready : 0.0, task, measure);
}

static pc_measure_worker *measure_worker(pcal_measure *measure, size_t w) {
  pc_measure_worker *worker = &measure->workers[w];
  if (!worker->ready)
    pc_group_states_init(&worker->groups, &measure->env, &measure->plan);
  worker->ready = 1;
  return worker;
}

/* Allocates view columns; only converted rows need them. */
static pcal_status measure_columns_open(const pcal_measure *measure, pc_measure_worker *worker,
                                        pcal_error *err) {
  const pc_measure_plan *plan = &measure->plan;
  pcal_status status = PCAL_OK;
  if (worker->columns != NULL)
    return PCAL_OK;
  worker->columns = pc_alloc(&measure->env, plan->view_count, sizeof *worker->columns);
  if (worker->columns == NULL)
    return pc_fail_memory(err, "preparing workers");
  for (size_t v = 0; v < plan->view_count && status == PCAL_OK; v++)
    status = pc_view_columns_new(&measure->env, &plan->views[v], pc_chunk_rows(&plan->layout),
                                 &worker->columns[v], err);
  if (status != PCAL_OK)
    measure_columns_free(measure, worker);
  return status;
}

static pcal_status measure_add(pc_measure_worker *worker, const pc_measure_plan *plan,
                               size_t state, const pc_rows *rows, pcal_error *err) {
  for (size_t v = 0; v < plan->view_count; v++)
    pc_view_fill(&plan->views[v], rows, &worker->columns[v]);
  return pc_group_states_update(&worker->groups, state, rows, worker->columns, err);
}

/* The user data of measure_add_group. */
typedef struct measure_groups {
  pc_measure_worker *worker;
  const pc_measure_plan *plan;
} measure_groups;

static pcal_status measure_add_group(void *user, uint64_t group, const pc_rows *rows,
                                     pcal_error *err) {
  const measure_groups *to = user;
  PC_TRY(measure_add(to->worker, to->plan, (size_t)group, rows, err));
  return pc_group_states_pack_idle(&to->worker->groups, err);
}

/* Rows are passed on once, for all slots. */
static void measure_forget_stages(pcal_measure *measure) {
  memset(measure->slots_on_stage, 0, sizeof measure->slots_on_stage);
  measure->totals_on_device = 0;
}

static pcal_status measure_chunk(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  pcal_measure *measure = user;
  pc_measure_worker *worker = measure_worker(measure, w);
  measure_groups to = {worker, &measure->plan};
  PC_TRY(measure_columns_open(measure, worker, err));
  worker->groups.added = measure->slots_on_stage[measure->pass.stage];
  worker->groups.added_bare =
      measure->pass.stage != PC_STAGE_FULL && !measure->totals_on_device;
  if (measure->fingerprinted)
    pc_row_fingerprint_add(&worker->rows, rows, measure->group_hashes);
  if (rows->groups == NULL || measure->plan.intervals.by_cluster)
    return measure_add(worker, &measure->plan, 0, rows, err);
  PC_TRY(pc_group_rows_open(&measure->env, &measure->plan.layout, &worker->group_rows, err));
  return pc_group_rows_each(rows, &worker->group_rows, measure_add_group, &to, err);
}

static pcal_status measure_take(void *user, size_t w, const pc_stored_rows *rows,
                                pcal_error *err) {
  pcal_measure *measure = user;
  return pc_group_states_add_stored(&measure_worker(measure, w)->groups, rows, err);
}

/* Which slots the rows that are passed on are not for, by stage; `done`: of the device. */
static void measure_plan_stages(pcal_measure *measure, pc_pass_done done) {
  const pc_measure_plan *plan = &measure->plan;
  uint8_t *lean = measure->slots_on_device + 2 * plan->slot_count;
  uint8_t *full = lean + plan->slot_count;
  int lean_left = 0, full_left = 0;
  for (size_t s = 0; s < plan->slot_count; s++) {
    const int there = done != PC_PASS_NONE && measure->slots_on_device[s];
    const int all = pc_need_all_probs(&plan->slots[s].need);
    lean[s] = (uint8_t)(there || all);
    full[s] = (uint8_t)(there || !all);
    full_left |= !full[s];
  }
  for (size_t e = 0; e < plan->entry_count; e++) /* other slots use the states that exist */
    lean_left |= !lean[plan->entries[e].slot];
  measure->slots_on_stage[PC_STAGE_ONLY] =
      done == PC_PASS_SOME ? measure->slots_on_device : NULL;
  measure->slots_on_stage[PC_STAGE_LEAN] = lean;
  measure->slots_on_stage[PC_STAGE_FULL] = full;
  measure->pass.rest = !full_left ? PC_REST_LEAN : lean_left ? PC_REST_SPLIT : PC_REST_FULL;
}

/* Rows with weights or groups: the device adds them to the grids of every class. */
static pcal_status measure_sum_cells(pcal_measure *measure, const pcal_batch *batch,
                                     const pc_device_labels *labels, pc_pass_done *done,
                                     pcal_error *err) {
  const int by_groups = batch->groups != NULL && !measure->plan.intervals.by_cluster;
  int ran = 0;
  PC_TRY(pc_group_states_add_cells(&measure_worker(measure, 0)->groups, batch, labels,
                                   by_groups, measure->pass.policy.normalize,
                                   measure->slots_on_device, &ran, err));
  *done = ran ? PC_PASS_SOME : PC_PASS_NONE;
  return PCAL_OK;
}

static pcal_status measure_sum(void *user, const pcal_batch *batch,
                               const pc_device_labels *labels, pc_pass_done *done,
                               pcal_error *err) {
  pcal_measure *measure = user;
  const int plain = batch->weights == NULL && batch->groups == NULL;
  pc_sums_options options = {.fast = measure->pass.policy.probs == PC_PROBS_FAST &&
                                     batch->columns > 2,
                             .normalize = measure->pass.policy.normalize};
  measure_forget_stages(measure);
  if (measure->fingerprinted)
    return PCAL_OK;
  if (plain)
    PC_TRY(pc_group_states_add_device(&measure_worker(measure, 0)->groups, batch, labels,
                                      &measure->device_scores, &options,
                                      measure->slots_on_device, done, err));
  else
    PC_TRY(measure_sum_cells(measure, batch, labels, done, err));
  measure_plan_stages(measure, *done);
  measure->totals_on_device = plain && *done != PC_PASS_NONE;
  measure->pass.rescaled = options.rescaled;
  measure->fast_on_device |= plain && *done != PC_PASS_NONE && options.fast;
  return PCAL_OK;
}

static pcal_status measure_prepare(pcal_measure *measure, const pcal_measure_config *config,
                                   const pc_layout *layout, pcal_error *err) {
  pc_interval_request request;
  PC_TRY(pc_interval_request_read(config, &request, err));
  PC_TRY(pc_measure_plan_new(&measure->env, layout, &request, config->specs, config->spec_count,
                             &measure->plan, err));
  const int fast = config->fast && layout->kind == PCAL_LOGIT && layout->columns > 1;
  if (!fast ||
      measure->plan.needs_probs) /* that precision has no probabilities but the largest */
    PC_TRY(pc_measure_plan_judge_classes(&measure->env, &measure->plan, err));
  pc_group_states_init(&measure->groups, &measure->env, &measure->plan);
  const pc_row_policy policy = {.normalize = config->normalize,
                                .skip_missing = config->skip_missing,
                                .probs = measure->plan.needs_probs ? PC_PROBS_FILLED
                                         : fast                    ? PC_PROBS_FAST
                                                                   : PC_PROBS_LEAN,
                                .need_log = measure->plan.needs_log,
                                .score_alone = !measure->plan.needs_row_terms,
                                .no_squares = !measure->plan.needs_rows,
                                .need_keys = measure->plan.rows_slot != PC_NO_SLOT};
  PC_TRY(pc_pass_init(&measure->pass, &measure->env, layout, &policy, measure_chunk, measure,
                      err));
  measure->pass.sum = measure_sum;
  measure->workers =
      pc_alloc(&measure->env, measure->pass.worker_count, sizeof *measure->workers);
  measure->slots_on_device = pc_alloc(&measure->env, 4, measure->plan.slot_count);
  if (measure->workers == NULL || measure->slots_on_device == NULL)
    return pc_fail_memory(err, "preparing workers");
  measure->slot_uses = measure->slots_on_device + measure->plan.slot_count;
  return PCAL_OK;
}

pcal_status pc_measure_new(const pcal_measure_config *config, const pcal_env *env,
                           pcal_measure **out, pcal_error *err) {
  const pcal_env resolved = pc_env_resolve(env);
  pc_layout layout;
  PC_TRY(pc_layout_make_levels(config->kind, config->columns, config->levels, &layout, err));
  pcal_measure *measure = pc_alloc(&resolved, 1, sizeof *measure);
  if (measure == NULL)
    return pc_fail_memory(err, "preparing to measure");
  measure->env = resolved;
  pc_row_ranges_init(&measure->seen, &measure->env);
  pc_row_ranges_init(&measure->saved, &measure->env);
  measure->grouped = measure->identified = -1;
  measure->curves = config->curves != 0;
  const pcal_status status = measure_prepare(measure, config, &layout, err);
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
  if (measure->workers != NULL)
    measure_each_worker(measure, MEASURE_FREE_COST, measure_free_task);
  pc_free(&env, measure->workers);
  if (measure->pass.env != NULL)
    pc_pass_free(&measure->pass);
  if (measure->groups.env != NULL)
    pc_group_states_free(&measure->groups);
  pc_row_ranges_free(&measure->seen);
  pc_row_ranges_free(&measure->saved);
  pc_measure_plan_free(&env, &measure->plan);
  pc_name_list_free(&env, measure->class_names, measure->class_count);
  pc_name_list_free(&env, measure->group_names, measure->group_name_count);
  pc_free(&env, measure->origin);
  pc_free(&env, measure->slots_on_device);
  pc_free(&env, measure);
}

static pcal_status measure_clear_task(void *user, size_t w, size_t unused, pcal_error *err) {
  pc_measure_worker *worker = &((pcal_measure *)user)->workers[w];
  (void)unused;
  (void)err;
  worker->rows = (pc_row_fingerprint){0};
  if (worker->ready)
    pc_group_states_clear(&worker->groups);
  return PCAL_OK;
}

/* Merges all workers, and the rows that they have into the measure. */
static pcal_status measure_collect(pcal_measure *measure, pcal_error *err) {
  PC_TRY(pc_workers_merge(measure, err));
  pc_measure_worker *first = &measure->workers[0];
  if (!first->ready)
    return PCAL_OK;
  if (measure->groups.count > 0)
    return pc_group_states_merge(&measure->groups, &first->groups, err);
  const pc_group_states empty =
      measure->groups; /* the measure is empty: take over the states of the worker */
  measure->groups = first->groups;
  first->groups = empty;
  return PCAL_OK;
}

static void measure_collect_fingerprints(pcal_measure *measure) {
  for (size_t w = 0; w < measure->pass.worker_count; w++)
    pc_row_fingerprint_merge(&measure->rows, &measure->workers[w].rows);
}

void pc_measure_use_fingerprint(pcal_measure *measure) {
  measure->fingerprinted = 1;
  measure->pass.policy.need_keys = 1;
}

static pcal_status measure_check_indices(const pcal_measure *measure, const pcal_batch *batch,
                                         pcal_error *err) {
  pc_row_range met;
  if (measure->plan.by_index == NULL || !pc_row_ranges_contain(&measure->seen, batch, &met))
    return PCAL_OK;
  return pc_fail_row(err, PCAL_DATA, met.first,
                     "rows %llu to %llu occur twice, and %s forms blocks by row index; set "
                     "first_row of every batch to the index of its first row",
                     (unsigned long long)met.first, (unsigned long long)met.last,
                     measure->plan.by_index);
}

int pc_measure_rows_are_units(const pcal_measure *measure) {
  return measure->weighted &&
         (measure->weights_are == PCAL_WEIGHTS_IMPORTANCE ||
          (measure->weights_are == PCAL_WEIGHTS_AUTO && measure->fractional));
}

static const char *measure_weights_name(const pcal_batch *batch) {
  return batch->weights_name == NULL ? "weights" : batch->weights_name;
}

/* The declared meaning of the weights must hold and be the same for all batches. */
static pcal_status measure_check_meaning(const pcal_measure *measure, const pcal_batch *batch,
                                         const pc_row_counts *counts, pcal_error *err) {
  const int given = batch->weights_are, before = measure->weights_are;
  const char *instead = measure->plan.instead;
  if (batch->weights == NULL || batch->rows == 0)
    return PCAL_OK;
  if (given < PCAL_WEIGHTS_AUTO || given > PC_WEIGHTS_EXPECTED)
    return pc_fail(err, PCAL_USAGE, "%s: weights_are %d is unknown; start from PCAL_BATCH_INIT",
                   measure_weights_name(batch), given);
  if (given != PCAL_WEIGHTS_AUTO && before != PCAL_WEIGHTS_AUTO && given != before)
    return pc_fail(err, PCAL_USAGE,
                   "%s: some weights are frequencies and others importance weights; declare "
                   "the same for all",
                   measure_weights_name(batch));
  const int said = given == PCAL_WEIGHTS_AUTO ? before : given;
  if (said == PCAL_WEIGHTS_FREQUENCY && counts->fractional_row != PCAL_NO_ROW)
    return pc_fail_row(err, PCAL_DATA, counts->fractional_row,
                       "%s, row %llu: frequencies are whole numbers, and this weight is not; "
                       "leave {weights_are} out, or declare importance weights",
                       measure_weights_name(batch), (unsigned long long)counts->fractional_row);
  if (said == PCAL_WEIGHTS_FREQUENCY && measure->fractional)
    return pc_fail(err, PCAL_DATA,
                   "%s: earlier weights were not whole numbers, so they cannot be frequencies",
                   measure_weights_name(batch));
  if (said == PCAL_WEIGHTS_IMPORTANCE && measure->plan.whole_weights != NULL)
    return pc_fail(err, PCAL_USAGE,
                   "%s: %s counts pairs of copies of a row, so its weights must be "
                   "frequencies; %s%s%sleave the metric or the weights out",
                   measure_weights_name(batch), measure->plan.whole_weights,
                   instead == NULL ? "" : "use ", instead == NULL ? "" : instead,
                   instead == NULL ? "" : ", or ");
  return PCAL_OK;
}

static pcal_status measure_check_weights(const pcal_measure *measure, const pcal_batch *batch,
                                         const pc_row_counts *counts, pcal_error *err) {
  const char *instead = measure->plan.instead;
  if (measure->plan.no_weights != NULL && batch->weights != NULL)
    return pc_fail(
        err, PCAL_USAGE,
        "%s: %s:estimator=block forms blocks of rows by position, and copies of a row have no "
        "position of their own; leave the weights out, or use estimator=unbiased",
        batch->weights_name == NULL ? "weights" : batch->weights_name,
        measure->plan.no_weights);
  PC_TRY(measure_check_meaning(measure, batch, counts, err));
  if (measure->plan.whole_weights == NULL || counts->fractional_row == PCAL_NO_ROW)
    return PCAL_OK;
  return pc_fail_row(err, PCAL_DATA, counts->fractional_row,
                     "%s, row %llu: %s counts pairs of copies of a row, so weights must be "
                     "whole numbers; %s%s%sleave the metric or the weights out",
                     batch->weights_name == NULL ? "weights" : batch->weights_name,
                     (unsigned long long)counts->fractional_row, measure->plan.whole_weights,
                     instead == NULL ? "" : "use ", instead == NULL ? "" : instead,
                     instead == NULL ? "" : ", or ");
}

/* True if results are split by group.  Clusters are groups too, but are measured together. */
static int measure_grouped(const pcal_measure *measure, const pcal_batch *batch) {
  return batch->groups != NULL && !measure->plan.intervals.by_cluster;
}

/* Fails if workers saw a group that pc_row_ranges_prepare did not: the caller overwrites the
 * batch. */
static pcal_status measure_check_groups(const pcal_measure *measure, pcal_error *err) {
  const size_t groups = pc_row_ranges_group_count(&measure->seen);
  size_t most = 1;
  for (size_t w = 0; w < measure->pass.worker_count; w++)
    if (measure->workers[w].ready && pc_group_states_used(&measure->workers[w].groups) > most)
      most = pc_group_states_used(&measure->workers[w].groups);
  if (most == 1 || most <= groups)
    return PCAL_OK;
  return pc_fail(
      err, PCAL_DATA,
      "the groups changed while they were read; measure when nothing writes to them");
}

/* Adds the rows of a batch to the states of the workers. */
static pcal_status measure_read(pcal_measure *measure, const pcal_batch *batch,
                                pc_row_counts *counts, pcal_error *err) {
  const int grouped = measure_grouped(measure, batch);
  if (measure->plan.intervals.by_cluster && batch->rows > 0 && batch->groups == NULL)
    return pc_fail(err, PCAL_USAGE, "clusters were requested, but the rows have no groups");
  if (batch->rows > 0 && measure->grouped >= 0 && measure->grouped != grouped)
    return pc_fail(err, PCAL_USAGE,
                   "some rows have groups and some have none; give all or none");
  if (batch->rows > 0 && measure->identified >= 0 &&
      measure->identified != (batch->ids != NULL))
    return pc_fail(err, PCAL_USAGE, "some rows have ids and some have none; give all or none");
  if (batch->rows > 0 && measure->dimensions > 0 && measure->dimensions != batch->dimensions)
    return pc_fail(
        err, PCAL_USAGE,
        "samples of some rows have %zu numbers and those of others %zu; give all rows "
        "the same dimensions",
        measure->dimensions, batch->dimensions);
  measure->pass.take = measure->plan.stored_scores_only ? measure_take : NULL;
  measure->fast_on_device = 0;
  measure_forget_stages(measure);
  PC_TRY(pc_pass_batch(&measure->pass, batch, counts, err));
  PC_TRY(measure_check_weights(measure, batch, counts, err));
  PC_TRY(measure_check_indices(measure, batch, err));
  PC_TRY(pc_row_ranges_prepare(&measure->seen, batch, err));
  return measure_check_groups(measure, err);
}

/* Records which slots the device of a batch has filled, and for which its rows were copied. */
static void measure_note_device(pcal_measure *measure, const pcal_device *device) {
  const unsigned copied = PC_USE_COPY | (pc_device_has_kernels(device) ? 0 : PC_USE_TOO_OLD);
  const unsigned ways = measure->pass.ways,
                 all = PC_WAY_SUMMED | PC_WAY_SOFTMAX | PC_WAY_COPIED;
  const uint8_t *lean = measure->slots_on_stage[PC_STAGE_LEAN];
  const unsigned full = ways >> PC_WAY_FULL & all;
  for (size_t s = 0; s < measure->plan.slot_count; s++) {
    const int there = (ways & PC_WAY_SUMMED) && measure->slots_on_device[s];
    const unsigned rest = full != 0 && lean[s] ? full : ways >> PC_WAY_REST & all;
    const int passed_on = !there || (ways & PC_WAY_MISSED);
    const unsigned own = (ways & all) | (passed_on ? rest & ~(unsigned)PC_WAY_SUMMED : 0);
    if ((own & PC_WAY_SOFTMAX) || there)
      measure->slot_uses[s] |= PC_USE_DEVICE;
    if (own & PC_WAY_COPIED)
      measure->slot_uses[s] |= (uint8_t)copied;
  }
}

void pc_measure_note_host(pcal_measure *measure, const pcal_device *device) {
  const unsigned here = PC_USE_HOST | (pc_device_has_kernels(device) ? 0 : PC_USE_TOO_OLD);
  for (size_t s = 0; s < measure->plan.slot_count; s++)
    measure->slot_uses[s] |= (uint8_t)here;
}

static void measure_note(pcal_measure *measure, const pcal_batch *batch,
                         const pc_row_counts *counts) {
  if (batch->rows == 0)
    return;
  pc_row_ranges_add(&measure->seen, batch);
  if (batch->device != NULL)
    measure_note_device(measure, batch->device);
  measure->normalized += counts->normalized;
  measure->skipped += counts->skipped;
  measure->grouped = measure_grouped(measure, batch);
  measure->identified = batch->ids != NULL;
  measure->dimensions = batch->kind == PCAL_SAMPLE_VECTORS ? batch->dimensions : 0;
  measure->weighted |= batch->weights != NULL;
  measure->fast |= pc_batch_is_fast(batch, &measure->plan.layout, &measure->pass.policy) ||
                   measure->fast_on_device;
  measure->fractional |= counts->fractional_row != PCAL_NO_ROW;
  if (batch->weights != NULL && batch->weights_are != PCAL_WEIGHTS_AUTO)
    measure->weights_are = batch->weights_are;
  if (batch->weights_name != NULL)
    snprintf(measure->weights_name, sizeof measure->weights_name, "%s: ", batch->weights_name);
}

pcal_status pc_measure_update(pcal_measure *measure, const pcal_batch *batch, pcal_error *err) {
  const int many = batch->rows * batch->columns >= MEASURE_MANY;
  pc_row_counts counts;
  pcal_status status = measure_read(measure, batch, &counts, err);
  if (status == PCAL_OK)
    status = measure_collect(measure, err);
  if (status == PCAL_OK)
    measure_collect_fingerprints(measure);
  measure_each_worker(measure, many ? MEASURE_FREE_COST : 0.0, measure_clear_task);
  if (status == PCAL_OK)
    measure_note(measure, batch, &counts);
  return status;
}

/* True if states grow with the rows, so that holding them twice would cost memory. */
static int measure_grows(const pc_measure_plan *plan) {
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_machine *machine = plan->slots[s].machine;
    if (machine != &pc_machine_sum && machine != &pc_machine_grid &&
        machine != &pc_machine_grid_sparse && !pc_machine_has_buckets(machine))
      return 1;
  }
  return 0;
}

pcal_status pc_measure_add_window(pcal_measure *measure, const pcal_batch *batch,
                                  const pc_lazy_labels *labels, pcal_error *err) {
  pc_row_counts counts;
  measure->pass.lazy_labels = *labels;
  const pcal_status status = measure_grows(&measure->plan)
                                 ? pc_measure_update(measure, batch, err)
                                 : measure_read(measure, batch, &counts, err);
  measure->pass.lazy_labels = (pc_lazy_labels){.fill = NULL};
  if (status != PCAL_OK || measure_grows(&measure->plan))
    return status;
  measure_note(measure, batch, &counts);
  return PCAL_OK;
}

pcal_status pc_measure_settle(pcal_measure *measure, pcal_error *err) {
  PC_TRY(measure_collect(measure, err));
  measure_collect_fingerprints(measure);
  measure_each_worker(measure, MEASURE_FREE_COST, measure_free_task);
  return PCAL_OK;
}

pcal_status pc_measure_set_names(pcal_measure *measure, const char *const *class_names,
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
