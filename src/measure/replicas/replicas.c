/* With other labels, a row that stands for several copies becomes one row for each label that its
 * copies drew. */
#include "measure/replicas/replicas.h"

#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "measure/replicas/draws.h"
#include "measure/replicas/replica_label_sums.h"
#include "measure/replicas/replica_row_sums.h"
#include "measure/replicas/replica_rows.h"
#include "measure/replicas/replica_tally.h"
#include "measure/replicas/replica_views.h"
#include "measure/replicas/replica_ways.h"
#include "measure/replicas/replica_weights.h"
#include "measure/replicas/row_moments.h"
#include "measure/replicas/single_copies.h"
#include "measure/replicas/sorted_view.h"
#include "measure/replicas/sum_replicas.h"

#define REPLICAS_ROW_COST 20.0          /* nanoseconds per row, entry and class, roughly */
#define REPLICAS_SCORE_COST 5.0         /* nanoseconds per score, to divide sorted ones */
#define REPLICAS_FREE_COST 3.0          /* nanoseconds per row and worker */
#define REPLICAS_TOGETHER 8             /* batches of exchanges, which share random bits */
#define REPLICAS_BATCH PC_REPLICA_LANES /* replicas drawn together */

/* The memory of one thread: the draws of REPLICAS_BATCH replicas, evidence that is refilled,
 * and rows and states for PC_REPLICA_WAY_STATE. */
typedef struct replicas_worker {
  int ready;
  float *drawn; /* weights: [row][replica of the batch] */
  pc_replica_bits bits;
  double total[REPLICAS_BATCH];
  int32_t *new_labels;        /* of one replica */
  int32_t *lane_labels;       /* if job->lanes: [row][replica of the batch] */
  uint8_t *lane_hits;         /* the same: see pc_batch_draws */
  pc_drawn_outcomes outcomes; /* of its rows of several copies */
  pc_replica_evidence *refilled;
  pc_replica_batch *batches;
  double *row_sums;                 /* of the batch: [slot][value][replica of the batch] */
  double *class_sums;               /* the same: see pc_batch_draws; NULL: no slot needs them */
  pc_replica_label_sums label_sums; /* of the batch */
  pc_replica_rows rows;
  pc_view_columns *columns;
  void **states;
} replicas_worker;

typedef struct replicas_job {
  pcal_env env; /* of a single thread */
  const pc_replica_request *request;
  pc_replica_way *ways;        /* by slot */
  pc_replica_views *views;     /* for the first two ways */
  pc_replica_row_sums *summed; /* by slot; for PC_REPLICA_WAY_ROW_SUMS */
  replicas_worker *workers;
  size_t worker_count;
  size_t together; /* batches of a task */
  int lanes;       /* labels are drawn for all replicas of a batch together */
  int sums;        /* some entry is a sum of row values */
  int states;      /* some slot is evaluated by PC_REPLICA_WAY_STATE */
  int columns;     /* some slot needs sums of whole classes with the weights of each batch */
  uint8_t *label_sums; /* by slot: evaluated by PC_REPLICA_WAY_LABEL_SUMS */
  int sums_labels;     /* some slot is */
  int relabels;        /* some slot reads the labels of a single replica */
  size_t single;       /* for blocks of rows: number of rows with copies written out; else 0 */
  size_t step;         /* then the distance between copies of a row */
  double *values;
} replicas_job;

static size_t replicas_batches(const replicas_job *job) {
  return (job->request->count - 1) / REPLICAS_BATCH + 1;
}

/* True if other requests draw the same replicas. */
static int replicas_kept(const replicas_job *job) {
  return job->request->kind == PC_REPLICA_WEIGHTS && job->request->views != NULL;
}

/* ---- draws ---- */

/* Draws the labels of all rows in a replica. */
static pcal_status replicas_relabel(const replicas_job *job, replicas_worker *worker,
                                    size_t replica, pcal_error *err) {
  const pc_kept_rows *rows = job->request->rows;
  for (size_t i = 0; job->lanes && i < rows->count; i++)
    worker->new_labels[i] = worker->lane_labels[i * REPLICAS_BATCH + replica % REPLICAS_BATCH];
  return job->lanes ? PCAL_OK
                    : pc_draw_outcomes(&job->env, replica, &job->request->plan->layout, rows,
                                       &worker->outcomes, worker->new_labels, err);
}

/* ---- rows ---- */

/* The position of row number n of a replica.  Blocks consist of neighbours, which should not be
 * copies of the same row. */
static size_t replicas_place(const replicas_job *job, size_t n) {
  return job->single == 0 ? n : (size_t)((uint64_t)n * job->step % job->single);
}

/* Writes one row for each outcome that the copies of a row drew; with blocks, one for each
 * copy.  Returns the next row number. */
static size_t replicas_put_outcomes(const replicas_job *job, replicas_worker *worker,
                                    size_t row, size_t n, size_t number) {
  const int classes = job->request->plan->layout.form == PC_FORM_CLASSES;
  const double each = job->request->rows->weights[row];
  const pc_drawn_outcomes *outcomes = &worker->outcomes;
  for (size_t s = outcomes->begin[number]; s < pc_drawn_outcomes_end(outcomes, number); s++) {
    const pc_drawn_outcome *drew = &outcomes->list[s];
    const size_t times = job->single == 0 ? 1 : (size_t)drew->copies;
    for (size_t t = 0; t < times; t++, n++) {
      const size_t at = replicas_place(job, n);
      pc_replica_rows_put(&worker->rows, row, at, each * drew->copies / (double)times,
                          classes ? (int32_t)drew->outcome : 0);
      if (!classes)
        pc_replica_rows_put_target(&worker->rows, at, drew->outcome);
    }
  }
  return n;
}

/* Writes out the rows of a replica, without rows of weight 0. */
static pc_rows replicas_rows(const replicas_job *job, replicas_worker *worker,
                             const pc_replica_draw *drawn, size_t replica) {
  const pc_kept_rows *rows = job->request->rows;
  const pc_layout *layout = &job->request->plan->layout;
  const int aimed = job->request->kind == PC_REPLICA_LABELS && layout->form != PC_FORM_CLASSES;
  size_t n = worker->rows.same_rows ? rows->count : 0;
  if (worker->rows.same_rows)
    pc_replica_rows_relabel(&worker->rows, drawn->labels);
  for (size_t i = n; i < rows->count; i++) {
    if (drawn->weights[i * drawn->stride] <= 0)
      continue;
    if (drawn->labels[i] < 0) {
      n = replicas_put_outcomes(job, worker, i, n, (size_t)(-1 - drawn->labels[i]));
      continue;
    }
    const size_t at = replicas_place(job, n++);
    pc_replica_rows_put(&worker->rows, i, at, (double)drawn->weights[i * drawn->stride],
                        drawn->labels[i]);
    if (aimed)
      pc_replica_rows_put_target(&worker->rows, at,
                                 pc_draw_target(job->env.seed, replica, layout, rows, i));
  }
  return pc_replica_rows_view(&worker->rows, n);
}

/* ---- workers ---- */

static void replicas_rows_free(const replicas_job *job, replicas_worker *worker) {
  pc_replica_rows_free(&job->env, &worker->rows);
  for (size_t v = 0; worker->columns != NULL && v < job->request->plan->view_count; v++)
    pc_view_columns_free(&job->env, &worker->columns[v]);
}

static void replicas_worker_free(replicas_job *job, replicas_worker *worker) {
  const pc_measure_plan *plan = job->request->plan;
  pc_free(&job->env, worker->drawn);
  pc_free(&job->env, worker->new_labels);
  pc_free(&job->env, worker->lane_labels);
  pc_free(&job->env, worker->lane_hits);
  pc_drawn_outcomes_free(&job->env, &worker->outcomes);
  replicas_rows_free(job, worker);
  for (size_t s = 0; worker->states != NULL && s < plan->slot_count; s++)
    if (worker->states[s] != NULL)
      plan->slots[s].machine->destroy(&job->env, worker->states[s]);
  for (size_t s = 0; worker->refilled != NULL && s < plan->slot_count; s++)
    pc_replica_evidence_free(&job->env, &worker->refilled[s]);
  for (size_t s = 0; worker->batches != NULL && s < plan->slot_count; s++)
    pc_replica_batch_free(&job->env, &worker->batches[s]);
  pc_free(&job->env, worker->refilled);
  pc_free(&job->env, worker->batches);
  pc_free(&job->env, worker->row_sums);
  pc_free(&job->env, worker->class_sums);
  if (worker->label_sums.plan != NULL)
    pc_replica_label_sums_free(&job->env, &worker->label_sums);
  pc_free(&job->env, worker->bits.bits);
  pc_free(&job->env, worker->columns);
  pc_free(&job->env, worker->states);
}

/* Room for n rows and the columns of their views; discards the rows that were there. */
static pcal_status replicas_rows_room(const replicas_job *job, replicas_worker *worker,
                                      size_t n, pcal_error *err) {
  const pc_measure_plan *plan = job->request->plan;
  replicas_rows_free(job, worker);
  worker->rows.kept = job->request->rows;
  worker->rows.layout = &plan->layout;
  worker->rows.needs_row_terms = job->sums;
  worker->rows.same_rows =
      job->lanes && job->single == 0 && pc_kept_rows_unit(job->request->rows);
  PC_TRY(pc_replica_rows_reserve(&job->env, &worker->rows, n, err));
  for (size_t v = 0; v < plan->view_count; v++)
    PC_TRY(pc_view_columns_new(&job->env, &plan->views[v], n, &worker->columns[v], err));
  return PCAL_OK;
}

/* Memory for PC_REPLICA_WAY_STATE. */
static pcal_status replicas_worker_states(const replicas_job *job, replicas_worker *worker,
                                          pcal_error *err) {
  const pc_measure_plan *plan = job->request->plan;
  worker->columns = pc_alloc(&job->env, plan->view_count, sizeof *worker->columns);
  worker->states = pc_alloc(&job->env, plan->slot_count, sizeof *worker->states);
  if (worker->columns == NULL || worker->states == NULL)
    return pc_fail_memory(err, "drawing replicas");
  PC_TRY(replicas_rows_room(job, worker, job->request->rows->count, err));
  for (size_t s = 0; s < plan->slot_count; s++)
    if (job->ways[s] == PC_REPLICA_WAY_STATE)
      PC_TRY(plan->slots[s].machine->create(&job->env, &plan->slots[s].need, &plan->layout,
                                            &worker->states[s], err));
  return PCAL_OK;
}

static pcal_status replicas_worker_lanes(const replicas_job *job, size_t slot,
                                         pc_replica_batch *out, pcal_error *err) {
  PC_TRY(pc_replica_batch_new(&job->env, job->request->plan, slot, job->views->sorted[slot],
                              &job->views->ranges[slot], out, err));
  return job->request->points == NULL
             ? PCAL_OK
             : pc_replica_batch_reserve_points(&job->env, job->views->sorted[slot],
                                               &job->views->ranges[slot], out, err);
}

static pcal_status replicas_worker_fill(const replicas_job *job, replicas_worker *worker,
                                        pcal_error *err) {
  const pc_measure_plan *plan = job->request->plan;
  const size_t n = job->request->rows->count;
  worker->drawn = pc_alloc_raw(&job->env, REPLICAS_BATCH * n, sizeof *worker->drawn);
  worker->new_labels = pc_alloc_raw(&job->env, n, sizeof *worker->new_labels);
  if (job->lanes) {
    worker->lane_labels =
        pc_alloc_raw(&job->env, REPLICAS_BATCH * n, sizeof *worker->lane_labels);
    worker->lane_hits = pc_alloc_raw(&job->env, n, sizeof *worker->lane_hits);
  }
  worker->refilled = pc_alloc(&job->env, plan->slot_count, sizeof *worker->refilled);
  worker->batches = pc_alloc(&job->env, plan->slot_count, sizeof *worker->batches);
  worker->row_sums = pc_alloc_raw(&job->env, plan->slot_count * PC_VALUES_MAX,
                                  REPLICAS_BATCH * sizeof *worker->row_sums);
  worker->bits.bits = pc_alloc_raw(&job->env, job->request->kind == PC_REPLICA_EXCHANGE ? n : 0,
                                   sizeof *worker->bits.bits);
  if (job->columns)
    worker->class_sums = pc_alloc_raw(&job->env, pc_replica_columns_size(job->request->rows),
                                      sizeof *worker->class_sums);
  if (worker->drawn == NULL || worker->new_labels == NULL || worker->refilled == NULL ||
      worker->batches == NULL || worker->row_sums == NULL || worker->bits.bits == NULL ||
      (job->columns && worker->class_sums == NULL) ||
      (job->lanes && (worker->lane_labels == NULL || worker->lane_hits == NULL)))
    return pc_fail_memory(err, "drawing replicas");
  for (size_t s = 0; s < plan->slot_count; s++)
    if (job->ways[s] == PC_REPLICA_WAY_IN_BATCH || job->ways[s] == PC_REPLICA_WAY_COUNT)
      PC_TRY(replicas_worker_lanes(job, s, &worker->batches[s], err));
    else if (job->ways[s] == PC_REPLICA_WAY_REFILL)
      PC_TRY(pc_replica_views_evidence(job->views, s, &worker->refilled[s], err));
  if (job->states)
    PC_TRY(replicas_worker_states(job, worker, err));
  if (job->sums_labels)
    PC_TRY(pc_replica_label_sums_new(&job->env, plan, job->label_sums, job->request->rows,
                                     &worker->label_sums, err));
  worker->ready = 1;
  return PCAL_OK;
}

/* ---- values ---- */

static pcal_status replicas_slot_entries(const replicas_job *job, size_t slot,
                                         const pc_evidence *evidence, size_t replica,
                                         pcal_error *err) {
  const pc_replica_request *request = job->request;
  if (request->collect != NULL) {
    request->collect(request->user, slot, replica, evidence);
    return PCAL_OK;
  }
  for (size_t e = 0; e < request->plan->entry_count; e++)
    if (request->entries[e] && request->plan->entries[e].slot == slot)
      PC_TRY(pc_replica_evaluate(
          &job->env, &request->plan->entries[e], evidence, request->count,
          &job->values[e * PC_REPLICA_VALUES * request->count + replica], err));
  return PCAL_OK;
}

/* Evaluates the entries of a slot from a state that has all rows of a replica. */
static pcal_status replicas_finish(const replicas_job *job, size_t slot, void *state,
                                   double total, size_t replica, pcal_error *err) {
  const pc_replica_request *request = job->request;
  const pc_plan_slot *planned = &request->plan->slots[slot];
  pc_evidence evidence = {
      .machine = planned->need.machine, .layout = &request->plan->layout, .total = total};
  if (request->collect_sums != NULL && planned->need.machine == PC_SUM) {
    request->collect_sums(request->user, slot, replica, total, state);
    return PCAL_OK;
  }
  PC_TRY(planned->machine->finish(&job->env, state, &evidence, err));
  const pcal_status status = replicas_slot_entries(job, slot, &evidence, replica, err);
  planned->machine->release(&job->env, &evidence);
  return status;
}

/* Adds the rows of a replica to an ordinary state. */
static pcal_status replicas_state(const replicas_job *job, replicas_worker *worker, size_t slot,
                                  const pc_rows *rows, double total, size_t replica,
                                  pcal_error *err) {
  const pc_plan_slot *planned = &job->request->plan->slots[slot];
  pc_view_columns *view = planned->view == PC_NO_VIEW ? NULL : &worker->columns[planned->view];
  if (view != NULL && !pc_view_is_every_class(&planned->need.view))
    pc_view_fill(&planned->need.view, rows, view);
  planned->machine->clear(worker->states[slot]);
  PC_TRY(planned->machine->update(&job->env, worker->states[slot], rows, view, err));
  return replicas_finish(job, slot, worker->states[slot], total, replica, err);
}

/* Evaluates the entries of a slot at their gap points. */
static pcal_status replicas_points(const replicas_job *job, replicas_worker *worker,
                                   size_t slot, double total, size_t replica, pcal_error *err) {
  const pc_replica_request *request = job->request;
  for (size_t i = 0; i < request->plan->entry_count * request->point_count; i++) {
    const pc_plan_entry *entry = &request->plan->entries[i / request->point_count];
    if (!request->entries[i / request->point_count] || entry->slot != slot ||
        isnan(request->points[i].noise))
      continue;
    pc_replica_batch_select_point(job->views->sorted[slot], &job->views->ranges[slot],
                                  &job->views->base[slot], worker->drawn,
                                  replica % REPLICAS_BATCH, total, &request->points[i],
                                  &worker->batches[slot]);
    PC_TRY(pc_replica_value(&job->env, entry, &worker->batches[slot].evidence,
                            &job->values[i * request->count + replica], err));
  }
  return PCAL_OK;
}

/* The sums of a batch for a slot. */
static double *replicas_row_sums(const replicas_worker *worker, size_t slot) {
  return worker->row_sums + slot * PC_VALUES_MAX * REPLICAS_BATCH;
}

static pcal_status replicas_summed(const replicas_job *job, const replicas_worker *worker,
                                   size_t slot, const pc_replica_draw *drawn, size_t replica,
                                   pcal_error *err) {
  pc_evidence evidence = {
      .machine = PC_SUM, .layout = &job->request->plan->layout, .total = drawn->total};
  pc_replica_row_sums_evidence(&job->summed[slot], drawn,
                               replicas_row_sums(worker, slot) + replica % REPLICAS_BATCH,
                               &evidence);
  return replicas_slot_entries(job, slot, &evidence, replica, err);
}

static pcal_status replicas_in_batch(const replicas_job *job, replicas_worker *worker,
                                     size_t slot, const pc_replica_draw *drawn, size_t replica,
                                     pcal_error *err) {
  const pc_score_ranges *ranges = &job->views->ranges[slot];
  pc_replica_batch *batch = &worker->batches[slot];
  const pc_batch_draws all = {.weights = worker->drawn, .labels = worker->lane_labels};
  if (job->request->points != NULL)
    return replicas_points(job, worker, slot, drawn->total, replica, err);
  if (job->ways[slot] == PC_REPLICA_WAY_COUNT)
    pc_replica_batch_count(ranges, &job->views->base[slot], drawn, batch);
  else
    pc_replica_batch_select(job->views->sorted[slot], ranges, &all, replica % REPLICAS_BATCH,
                            drawn->total, batch);
  return replicas_slot_entries(job, slot, &batch->evidence, replica, err);
}

static pcal_status replicas_refill(const replicas_job *job, replicas_worker *worker,
                                   size_t slot, const pc_replica_draw *drawn, size_t replica,
                                   pcal_error *err) {
  pc_replica_evidence_fill(&job->request->plan->slots[slot].need, job->views->sorted[slot],
                           drawn, &worker->refilled[slot]);
  return replicas_slot_entries(job, slot, &worker->refilled[slot].evidence, replica, err);
}

static pcal_status replicas_slot(const replicas_job *job, replicas_worker *worker, size_t slot,
                                 const pc_replica_draw *drawn, const pc_rows *rows,
                                 size_t replica, pcal_error *err) {
  switch (job->ways[slot]) {
  case PC_REPLICA_WAY_NONE:
    break;
  case PC_REPLICA_WAY_IN_BATCH:
  case PC_REPLICA_WAY_COUNT:
    return replicas_in_batch(job, worker, slot, drawn, replica, err);
  case PC_REPLICA_WAY_REFILL:
    return replicas_refill(job, worker, slot, drawn, replica, err);
  case PC_REPLICA_WAY_ROW_SUMS:
    return replicas_summed(job, worker, slot, drawn, replica, err);
  case PC_REPLICA_WAY_LABEL_SUMS:
    return replicas_finish(
        job, slot, worker->label_sums.states[slot * REPLICAS_BATCH + replica % REPLICAS_BATCH],
        drawn->total, replica, err);
  case PC_REPLICA_WAY_STATE:
    return replicas_state(job, worker, slot, rows, drawn->total, replica, err);
  }
  return PCAL_OK;
}

static pcal_status replicas_one(const replicas_job *job, replicas_worker *worker,
                                const pc_replica_draw *drawn, size_t replica, pcal_error *err) {
  const size_t most =
      job->single > 0 ? job->single : job->request->rows->count + worker->outcomes.count;
  pc_rows rows = {.count = 0};
  if (job->states && most > worker->rows.room)
    PC_TRY(replicas_rows_room(job, worker, most + most / 4, err));
  if (job->states)
    rows = replicas_rows(job, worker, drawn, replica);
  for (size_t s = 0; s < job->request->plan->slot_count; s++)
    PC_TRY(replicas_slot(job, worker, s, drawn, &rows, replica, err));
  return PCAL_OK;
}

static pcal_status replicas_batch(const replicas_job *job, replicas_worker *worker,
                                  size_t batch, pcal_error *err) {
  const pc_kept_rows *rows = job->request->rows;
  pc_replica_weights(job->request, job->env.seed, batch, &worker->bits, worker->drawn,
                     worker->total);
  if (job->lanes)
    pc_draw_label_lanes(job->env.seed, batch * REPLICAS_BATCH, rows, worker->lane_labels,
                        worker->lane_hits);
  const double *columns = job->columns
                              ? pc_replica_views_columns(job->views, replicas_kept(job), batch,
                                                         worker->drawn, worker->class_sums)
                              : NULL;
  const pc_batch_draws all = {worker->drawn, worker->lane_labels, worker->lane_hits, columns};
  for (size_t s = 0; s < job->request->plan->slot_count; s++)
    if (job->ways[s] == PC_REPLICA_WAY_IN_BATCH)
      pc_replica_batch_add(job->views->sorted[s], &job->views->ranges[s], &all,
                           &worker->batches[s]);
    else if (job->ways[s] == PC_REPLICA_WAY_ROW_SUMS)
      pc_replica_row_sums_add(&job->summed[s], worker->drawn, replicas_row_sums(worker, s));
  const size_t left = job->request->count - batch * REPLICAS_BATCH;
  if (job->sums_labels)
    PC_TRY(pc_replica_label_sums_add(&job->env, rows, worker->lane_labels,
                                     left < REPLICAS_BATCH ? left : REPLICAS_BATCH,
                                     &worker->label_sums, err));
  for (size_t q = 0; q < REPLICAS_BATCH; q++) {
    const size_t replica = batch * REPLICAS_BATCH + q;
    pc_replica_draw drawn = {worker->drawn + q, REPLICAS_BATCH, rows->labels,
                             worker->total[q],  rows->weights,  &worker->outcomes};
    if (replica >= job->request->count)
      break;
    if (job->request->kind == PC_REPLICA_LABELS && job->relabels) {
      PC_TRY(replicas_relabel(job, worker, replica, err));
      drawn.labels = worker->new_labels;
    }
    if (drawn.total > 0)
      PC_TRY(replicas_one(job, worker, &drawn, replica, err));
  }
  return PCAL_OK;
}

static pcal_status replicas_task(void *user, size_t index, size_t w, pcal_error *err) {
  const replicas_job *job = user;
  replicas_worker *worker = &job->workers[w];
  const size_t begin = index * job->together, left = replicas_batches(job) - begin;
  if (!worker->ready)
    PC_TRY(replicas_worker_fill(job, worker, err));
  for (size_t b = 0; b < (left < job->together ? left : job->together); b++)
    PC_TRY(replicas_batch(job, worker, begin + b, err));
  return PCAL_OK;
}

/* ---- entry point ---- */

static pcal_status replicas_free_task(void *user, size_t w, size_t unused, pcal_error *err) {
  replicas_job *job = user;
  (void)unused;
  (void)err;
  replicas_worker_free(job, &job->workers[w]);
  job->workers[w] = (replicas_worker){.ready = 0};
  return PCAL_OK;
}

static void replicas_free(replicas_job *job) {
  const pc_measure_plan *plan = job->request->plan;
  const size_t workers = job->workers == NULL ? 0 : job->worker_count;
  const double cost = REPLICAS_FREE_COST * (double)(workers * job->request->rows->count);
  if (pc_run(&job->views->team, workers, cost, replicas_free_task, job, NULL) != PCAL_OK)
    for (size_t w = 0; w < workers; w++)
      replicas_worker_free(job, &job->workers[w]);
  for (size_t s = 0; job->summed != NULL && s < plan->slot_count; s++)
    pc_replica_row_sums_free(&job->env, &job->summed[s]);
  pc_free(&job->env, job->summed);
  pc_free(&job->env, job->label_sums);
  pc_free(&job->env, job->ways);
  pc_free(&job->env, job->workers);
}

/* Metrics over blocks of rows ignore weights, so each copy of a row is written out as a row;
 * copies of the same row are placed far apart. */
static void replicas_singles(replicas_job *job) {
  const pc_kept_rows *rows = job->request->rows;
  double total = 0.0;
  for (size_t i = 0; i < rows->count; i++)
    total += rows->copies[i];
  job->single = (size_t)total;
  job->step = pc_draw_step(job->single);
}

static pcal_status replicas_prepare_slot(replicas_job *job, size_t slot, pcal_error *err) {
  const pc_replica_request *request = job->request;
  const pc_measure_plan *plan = request->plan;
  const pc_need *need = &plan->slots[slot].need;
  const pc_replica_way way = job->ways[slot] =
      pc_replica_choose_way(request, job->views, slot, job->lanes);
  job->states |= way == PC_REPLICA_WAY_STATE;
  job->columns |= way == PC_REPLICA_WAY_IN_BATCH && request->kind != PC_REPLICA_LABELS &&
                  pc_replica_views_by_row(job->views, slot);
  job->sums_labels |= job->label_sums[slot] = way == PC_REPLICA_WAY_LABEL_SUMS;
  job->relabels |= way == PC_REPLICA_WAY_COUNT || way == PC_REPLICA_WAY_REFILL ||
                   way == PC_REPLICA_WAY_STATE || !job->lanes;
  job->sums |= way != PC_REPLICA_WAY_NONE && need->machine == PC_SUM;
  if (way != PC_REPLICA_WAY_NONE && need->machine == PC_BLOCK && job->single == 0)
    replicas_singles(job);
  if (way == PC_REPLICA_WAY_NONE || way == PC_REPLICA_WAY_ROW_SUMS ||
      way == PC_REPLICA_WAY_LABEL_SUMS || way == PC_REPLICA_WAY_STATE)
    return PCAL_OK;
  return pc_replica_views_sort(job->views, slot, err);
}

/* Divides the sorted scores of a slot; a task of its own, since slots share nothing but
 * sorted scores. */
static pcal_status replicas_divide_slot(void *user, size_t slot, size_t worker,
                                        pcal_error *err) {
  replicas_job *job = user;
  const pc_replica_way way = job->ways[slot];
  const int data = way == PC_REPLICA_WAY_COUNT || job->request->points != NULL;
  (void)worker;
  if (way != PC_REPLICA_WAY_IN_BATCH && way != PC_REPLICA_WAY_COUNT)
    return PCAL_OK;
  PC_TRY(pc_replica_views_ready(job->views, slot, data, data || job->lanes, err));
  if (way == PC_REPLICA_WAY_COUNT && job->views->ranges[slot].of_class == NULL &&
      !pc_score_ranges_are_by_row(&job->views->ranges[slot]))
    job->ways[slot] = PC_REPLICA_WAY_REFILL; /* too many bins */
  return PCAL_OK;
}

static pcal_status replicas_prepare(replicas_job *job, pcal_error *err) {
  const size_t slots = job->request->plan->slot_count;
  job->workers = pc_alloc(&job->env, job->worker_count, sizeof *job->workers);
  job->ways = pc_alloc(&job->env, slots, sizeof *job->ways);
  job->label_sums = pc_alloc(&job->env, slots, sizeof *job->label_sums);
  job->summed = pc_alloc(&job->env, slots, sizeof *job->summed);
  if (job->workers == NULL || job->ways == NULL || job->label_sums == NULL ||
      job->summed == NULL)
    return pc_fail_memory(err, "drawing replicas");
  job->lanes = job->request->kind == PC_REPLICA_LABELS &&
               job->request->plan->layout.form == PC_FORM_CLASSES &&
               pc_kept_rows_single(job->request->rows);
  for (size_t s = 0; s < slots; s++)
    PC_TRY(replicas_prepare_slot(job, s, err));
  const double cost = REPLICAS_SCORE_COST * (double)job->request->rows->count *
                      (double)(slots * job->request->plan->layout.classes);
  PC_TRY(pc_run(&job->views->team, slots, cost, replicas_divide_slot, job, err));
  if (job->columns && replicas_kept(job) && job->request->collect == NULL)
    pc_replica_views_keep_columns(job->views, replicas_batches(job));
  return job->sums && job->request->kind != PC_REPLICA_LABELS
             ? pc_replica_row_sums_fill(&job->env, job->request, job->summed, err)
             : PCAL_OK;
}

static pcal_status replicas_run(replicas_job *job, const pcal_env *env, pcal_error *err) {
  const pc_replica_request *request = job->request;
  const double cost =
      REPLICAS_ROW_COST * (double)request->rows->count *
      (double)(request->count * request->plan->entry_count * request->plan->layout.classes);
  PC_TRY(replicas_prepare(job, err));
  if (pc_sum_replicas_apply(request, job->ways, job->summed))
    return pc_sum_replicas_measure(env, &job->env, request, job->summed, job->values, err);
  return pc_run_with_progress(env,
                              request->kind == PC_REPLICA_LABELS     ? "drawing labels"
                              : request->kind == PC_REPLICA_EXCHANGE ? "exchanging the models"
                                                                     : "drawing replicas",
                              (replicas_batches(job) - 1) / job->together + 1, cost,
                              replicas_task, job, err);
}

pcal_status pc_replicas_measure(const pcal_env *env, const pc_replica_request *request,
                                double *values, pcal_error *err) {
  pc_replica_views own;
  replicas_job job = {.request = request,
                      .views = request->views == NULL ? &own : request->views,
                      .worker_count = pc_worker_count(env),
                      .together = request->kind == PC_REPLICA_EXCHANGE ? REPLICAS_TOGETHER : 1,
                      .values = values};
  if (values != NULL)
    pc_replica_values_clear(request, values);
  if (request->views != NULL && request->views->tally != NULL)
    return pc_replica_tally_measure(env, request->views->tally, request, values, err);
  if (pc_single_copies_apply(request))
    return pc_single_copies_measure(env, request, values, err);
  if (request->views == NULL)
    PC_TRY(pc_replica_views_new(env, request->plan, request->rows, &own, err));
  job.env = job.views->env;
  const pcal_status status = replicas_run(&job, env, err);
  replicas_free(&job);
  if (request->views == NULL)
    pc_replica_views_free(&own);
  return status;
}
