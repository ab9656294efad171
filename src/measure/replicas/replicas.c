/* Replicas of kept rows: with other weights (measure/replicas/replica_weights.h), or with other labels; a
 * row that stands for several copies then becomes one row for each label that they drew. */
#include "measure/replicas/replicas.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/elementary.h"
#include "base/executor.h"
#include "measure/replicas/draws.h"
#include "measure/replicas/replica_batch.h"
#include "measure/replicas/replica_row_sums.h"
#include "measure/replicas/replica_weights.h"

#define REPLICATE_ROW_COST 20.0 /* nanoseconds for a row, an entry and a class, about */
#define REPLICATE_BATCH PC_REPLICA_LANES /* replicas that are drawn together */

/* What one thread works with: draws of REPLICATE_BATCH replicas at a time, evidence that is
 * refilled, and for what cannot be refilled, rows and states. */
typedef struct replicate_worker {
  int ready;
  float *drawn; /* weights: row, replica of the batch */
  double total[REPLICATE_BATCH];
  int32_t *new_labels;      /* of one replica */
  pc_drawn_outcomes shares; /* of its rows of several copies */
  pc_replica_evidence *refilled;
  pc_replica_batch *lanes;
  double *weights, *probs, *score, *top, *true_gap, *others_square, *log_true;
  uint64_t *ids;
  int32_t *labels, *top_label;
  pc_view_columns *columns;
  void **states;
  size_t room; /* rows that fit */
} replicate_worker;

typedef struct replicate_job {
  pcal_env env; /* of a single thread */
  const pc_replica_request *request;
  pc_sorted_view *sorted;      /* by slot; without parts where there is none */
  pc_score_ranges *ranges;     /* by slot; without any where replicas come one by one */
  pc_replica_base *base;       /* by slot; filled for gap points */
  pc_replica_row_sums *summed; /* by slot; empty where rows go through a state */
  replicate_worker *workers;
  size_t worker_count;
  int sums;      /* some entry is a sum of row values */
  int plain;     /* some slot needs rows and states */
  size_t single; /* for blocks of rows: how many there are, copies one by one; else 0 */
  size_t step;   /* then neighbouring copies are so many rows apart */
  double *values;
} replicate_job;

/* ---- draws ---- */

/* Labels of all rows in a replica; a row of several copies has the number of its shares,
 * below 0. */
static pcal_status replicate_relabel(const replicate_job *job, replicate_worker *worker,
                                     size_t replica, pcal_error *err) {
  const pc_kept_rows *rows = job->request->rows;
  const pc_layout *layout = &job->request->plan->layout;
  const int classes = layout->form == PC_FORM_CLASSES;
  pc_drawn_outcomes_clear(&worker->shares);
  for (size_t i = 0; i < rows->count; i++) {
    if (rows->copies[i] == 1.0) {
      worker->new_labels[i] =
          classes ? pc_draw_label(job->env.seed, replica, rows, i) : rows->labels[i];
      continue;
    }
    worker->new_labels[i] = -1 - (int32_t)worker->shares.row_count;
    PC_TRY(classes ? pc_draw_labels(&job->env, job->env.seed, replica, rows, i, &worker->shares,
                                    err)
                   : pc_draw_targets(&job->env, job->env.seed, replica, layout, rows, i,
                                     &worker->shares, err));
  }
  return PCAL_OK;
}

/* ---- rows ---- */

/* What sums read of a row: from its probabilities and the label. */
static void replicate_facts(replicate_worker *worker, size_t at, const double *probs,
                            size_t classes) {
  const double p = probs[worker->labels[at]];
  double square = 0.0;
  for (size_t k = 0; k < classes; k++)
    square += k == (size_t)worker->labels[at] ? 0.0 : probs[k] * probs[k];
  worker->true_gap[at] = 1.0 - p;
  worker->others_square[at] = square;
  worker->log_true[at] = pc_log(p > 0 ? p : 0.0);
}

static void replicate_copy_forecast(const replicate_job *job, replicate_worker *worker,
                                    size_t row, size_t at) {
  const pc_kept_rows *rows = job->request->rows;
  memcpy(worker->probs + at * rows->classes, rows->probs + row * rows->classes,
         rows->classes * sizeof(double));
}

static void replicate_copy_row(const replicate_job *job, replicate_worker *worker, size_t row,
                               size_t at) {
  const pc_kept_rows *rows = job->request->rows;
  const size_t k = rows->classes;
  const double score = rows->score[row];
  worker->score[at] = score;
  worker->top[at] = score;
  if (rows->top_label != NULL)
    worker->top_label[at] = rows->top_label[row];
  else if (k == 2) {
    worker->top_label[at] = score > 1.0 - score;
    worker->top[at] = score > 1.0 - score ? score : 1.0 - score;
  }
  if (rows->probs == NULL)
    return;
  memcpy(worker->probs + at * k, rows->probs + row * k, k * sizeof(double));
  if (job->sums)
    replicate_facts(worker, at, worker->probs + at * k, k);
}

/* Copies a row to a place among the worker's rows. */
static void replicate_put(const replicate_job *job, replicate_worker *worker, size_t row,
                          size_t at, double weight, int32_t label) {
  worker->ids[at] = at;
  worker->weights[at] = weight;
  worker->labels[at] = label;
  if (job->request->plan->layout.form == PC_FORM_CLASSES)
    replicate_copy_row(job, worker, row, at);
  else
    replicate_copy_forecast(job, worker, row, at);
}

/* The target of a row whose place has its prediction already. */
static void replicate_aim(const replicate_job *job, replicate_worker *worker, size_t at,
                          double target) {
  worker->probs[(at + 1) * job->request->rows->classes - 1] = target;
}

/* Where row number n of a replica goes.  Blocks take neighbours, which should not be copies. */
static size_t replicate_place(const replicate_job *job, size_t n) {
  return job->single == 0 ? n : (size_t)((uint64_t)n * job->step % job->single);
}

/* One row for each outcome that the copies of a row drew, or for each copy where there are
 * blocks; returns the next number. */
static size_t replicate_put_shares(const replicate_job *job, replicate_worker *worker,
                                   size_t row, size_t n, size_t number) {
  const int classes = job->request->plan->layout.form == PC_FORM_CLASSES;
  const double each = job->request->rows->weights[row];
  const pc_drawn_outcomes *shares = &worker->shares;
  for (size_t s = shares->begin[number]; s < pc_drawn_outcomes_end(shares, number); s++) {
    const pc_drawn_outcome *share = &shares->list[s];
    const size_t times = job->single == 0 ? 1 : (size_t)share->copies;
    for (size_t t = 0; t < times; t++, n++) {
      const size_t at = replicate_place(job, n);
      replicate_put(job, worker, row, at, each * share->copies / (double)times,
                    classes ? (int32_t)share->outcome : 0);
      if (!classes)
        replicate_aim(job, worker, at, share->outcome);
    }
  }
  return n;
}

/* Copies a replica into the worker's rows; weights of 0 are left out. */
static pc_rows replicate_rows(const replicate_job *job, replicate_worker *worker,
                              const pc_replica_draw *drawn, size_t replica) {
  const pc_kept_rows *rows = job->request->rows;
  const pc_layout *layout = &job->request->plan->layout;
  const int aimed = job->request->kind == PC_REPLICA_LABELS && layout->form != PC_FORM_CLASSES;
  size_t n = 0;
  for (size_t i = 0; i < rows->count; i++) {
    if (drawn->weights[i * drawn->stride] <= 0)
      continue;
    if (drawn->labels[i] < 0) {
      n = replicate_put_shares(job, worker, i, n, (size_t)(-1 - drawn->labels[i]));
      continue;
    }
    const size_t at = replicate_place(job, n++);
    replicate_put(job, worker, i, at, (double)drawn->weights[i * drawn->stride],
                  drawn->labels[i]);
    if (aimed)
      replicate_aim(job, worker, at, pc_draw_target(job->env.seed, replica, layout, rows, i));
  }
  const int one_column = rows->top_label == NULL;
  return (pc_rows){.count = n,
                   .classes = rows->classes,
                   .ids = worker->ids,
                   .labels = worker->labels,
                   .weights = worker->weights,
                   .probs = rows->probs == NULL ? NULL : worker->probs,
                   .positive = one_column ? worker->score : NULL,
                   .top = worker->top,
                   .top_label = worker->top_label,
                   .true_gap = worker->true_gap,
                   .others_square = worker->others_square,
                   .log_true = worker->log_true,
                   .levels = layout->form == PC_FORM_QUANTILES ? layout->levels : NULL};
}

/* ---- workers ---- */

static int replicate_has(const pc_replica_request *request, size_t slot) {
  for (size_t e = 0; e < request->plan->entry_count; e++)
    if (request->entries[e] && request->plan->entries[e].slot == slot)
      return 1;
  return 0;
}

/* Frees the rows of a replica, and the columns of their views. */
static void replicate_rows_free(const replicate_job *job, replicate_worker *worker) {
  void *const blocks[] = {worker->weights,  worker->probs,    worker->score,
                          worker->top,      worker->true_gap, worker->others_square,
                          worker->log_true, worker->ids,      worker->labels,
                          worker->top_label};
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
    pc_free(&job->env, blocks[b]);
  worker->weights = worker->probs = worker->score = worker->top = worker->true_gap = NULL;
  worker->others_square = worker->log_true = NULL;
  worker->ids = NULL;
  worker->labels = worker->top_label = NULL;
  for (size_t v = 0; worker->columns != NULL && v < job->request->plan->view_count; v++)
    pc_view_columns_free(&job->env, &worker->columns[v]);
  worker->room = 0;
}

static void replicate_worker_free(replicate_job *job, replicate_worker *worker) {
  const pc_measure_plan *plan = job->request->plan;
  pc_free(&job->env, worker->drawn);
  pc_free(&job->env, worker->new_labels);
  pc_drawn_outcomes_free(&job->env, &worker->shares);
  replicate_rows_free(job, worker);
  for (size_t s = 0; worker->states != NULL && s < plan->slot_count; s++)
    if (worker->states[s] != NULL)
      plan->slots[s].machine->destroy(&job->env, worker->states[s]);
  for (size_t s = 0; worker->refilled != NULL && s < plan->slot_count; s++)
    pc_replica_evidence_free(&job->env, &worker->refilled[s]);
  for (size_t s = 0; worker->lanes != NULL && s < plan->slot_count; s++)
    pc_replica_batch_free(&job->env, &worker->lanes[s]);
  pc_free(&job->env, worker->refilled);
  pc_free(&job->env, worker->lanes);
  pc_free(&job->env, worker->columns);
  pc_free(&job->env, worker->states);
}

/* Room for n rows; what was there is lost. */
static pcal_status replicate_rows_room(const replicate_job *job, replicate_worker *worker,
                                       size_t n, pcal_error *err) {
  const pcal_env *env = &job->env;
  const pc_measure_plan *plan = job->request->plan;
  const pc_kept_rows *rows = job->request->rows;
  double **const columns[] = {&worker->weights,  &worker->score,         &worker->top,
                              &worker->true_gap, &worker->others_square, &worker->log_true};
  int enough = 1;
  replicate_rows_free(job, worker);
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
    *columns[c] = pc_alloc_raw(env, n, sizeof(double));
    enough &= *columns[c] != NULL;
  }
  worker->ids = pc_alloc_raw(env, n, sizeof(uint64_t));
  worker->labels = pc_alloc_raw(env, n, sizeof(int32_t));
  worker->top_label = pc_alloc_raw(env, n, sizeof(int32_t));
  if (rows->probs != NULL)
    worker->probs = pc_alloc_raw(env, n * rows->classes, sizeof(double));
  if (!enough || worker->ids == NULL || worker->labels == NULL || worker->top_label == NULL ||
      (rows->probs != NULL && worker->probs == NULL))
    return pc_fail_memory(err, "drawing replicas");
  for (size_t v = 0; v < plan->view_count; v++)
    PC_TRY(pc_view_columns_new(env, &plan->views[v], n, &worker->columns[v], err));
  worker->room = n;
  return PCAL_OK;
}

static int replicate_sorted(const replicate_job *job, size_t slot) {
  return job->sorted[slot].part_count > 0;
}

/* Are the replicas of a batch added up together? */
static int replicate_together(const replicate_job *job, size_t slot) {
  return job->ranges[slot].count > 0;
}

/* What slots without a sorted view need. */
static pcal_status replicate_worker_states(const replicate_job *job, replicate_worker *worker,
                                           pcal_error *err) {
  const pc_measure_plan *plan = job->request->plan;
  worker->columns = pc_alloc(&job->env, plan->view_count, sizeof *worker->columns);
  worker->states = pc_alloc(&job->env, plan->slot_count, sizeof *worker->states);
  if (worker->columns == NULL || worker->states == NULL)
    return pc_fail_memory(err, "drawing replicas");
  PC_TRY(replicate_rows_room(job, worker, job->request->rows->count, err));
  for (size_t s = 0; s < plan->slot_count; s++)
    if (replicate_has(job->request, s) && !replicate_sorted(job, s) &&
        job->summed[s].count == 0)
      PC_TRY(plan->slots[s].machine->create(&job->env, &plan->slots[s].need, &plan->layout,
                                            &worker->states[s], err));
  return PCAL_OK;
}

static pcal_status replicate_worker_lanes(const replicate_job *job, size_t slot,
                                          pc_replica_batch *out, pcal_error *err) {
  PC_TRY(pc_replica_batch_new(&job->env, job->request->plan, slot, &job->sorted[slot],
                              &job->ranges[slot], out, err));
  return job->request->points == NULL
             ? PCAL_OK
             : pc_replica_batch_reserve_points(&job->env, &job->sorted[slot], out, err);
}

static pcal_status replicate_worker_fill(const replicate_job *job, replicate_worker *worker,
                                         pcal_error *err) {
  const pc_measure_plan *plan = job->request->plan;
  const size_t n = job->request->rows->count;
  worker->drawn = pc_alloc_raw(&job->env, REPLICATE_BATCH * n, sizeof *worker->drawn);
  worker->new_labels = pc_alloc_raw(&job->env, n, sizeof *worker->new_labels);
  worker->refilled = pc_alloc(&job->env, plan->slot_count, sizeof *worker->refilled);
  worker->lanes = pc_alloc(&job->env, plan->slot_count, sizeof *worker->lanes);
  if (worker->drawn == NULL || worker->new_labels == NULL || worker->refilled == NULL ||
      worker->lanes == NULL)
    return pc_fail_memory(err, "drawing replicas");
  for (size_t s = 0; s < plan->slot_count; s++)
    if (replicate_together(job, s))
      PC_TRY(replicate_worker_lanes(job, s, &worker->lanes[s], err));
    else if (replicate_sorted(job, s))
      PC_TRY(pc_replica_evidence_new(&job->env, &plan->slots[s].need, &job->sorted[s],
                                     &worker->refilled[s], err));
  if (job->plain)
    PC_TRY(replicate_worker_states(job, worker, err));
  worker->ready = 1;
  return PCAL_OK;
}

/* ---- values ---- */

static double replicate_finite(double value) {
  return isfinite(value) ? value : (double)NAN;
}

/* One replica of an entry: out points into the first of its series. */
static pcal_status replicate_entry(const replicate_job *job, const pc_plan_entry *entry,
                                   const pc_evidence *evidence, double *out, pcal_error *err) {
  const size_t count = job->request->count;
  pc_metric_result outcome;
  memset(&outcome, 0, sizeof outcome);
  const pcal_status status =
      entry->metric->evaluate(&entry->options, evidence, &job->env, &outcome, err);
  const int defined = status == PCAL_OK && !outcome.undefined;
  if (defined)
    out[0] = replicate_finite(outcome.value);
  if (defined && outcome.inner_power != 0)
    out[PC_REPLICA_INNER * count] = replicate_finite(outcome.inner);
  for (size_t p = 0; defined && p < outcome.part_count; p++)
    out[(PC_REPLICA_PARTS + p) * count] = replicate_finite(outcome.parts[p].value);
  pc_free(&job->env, outcome.class_values);
  return status;
}

static pcal_status replicate_slot_entries(const replicate_job *job, size_t slot,
                                          const pc_evidence *evidence, size_t replica,
                                          pcal_error *err) {
  const pc_replica_request *request = job->request;
  for (size_t e = 0; e < request->plan->entry_count; e++)
    if (request->entries[e] && request->plan->entries[e].slot == slot)
      PC_TRY(replicate_entry(job, &request->plan->entries[e], evidence,
                             &job->values[e * PC_REPLICA_VALUES * request->count + replica],
                             err));
  return PCAL_OK;
}

/* The long way: the rows through an ordinary state. */
static pcal_status replicate_state(const replicate_job *job, replicate_worker *worker,
                                   size_t slot, const pc_rows *rows, double total,
                                   size_t replica, pcal_error *err) {
  const pc_plan_slot *planned = &job->request->plan->slots[slot];
  pc_view_columns *view = planned->view == PC_NO_VIEW ? NULL : &worker->columns[planned->view];
  if (view != NULL && !pc_view_is_every_class(&planned->need.view))
    pc_view_fill(&planned->need.view, rows, view);
  planned->machine->clear(worker->states[slot]);
  PC_TRY(planned->machine->update(&job->env, worker->states[slot], rows, view, err));
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  evidence.machine = planned->need.machine;
  evidence.layout = &job->request->plan->layout;
  evidence.total = total;
  PC_TRY(planned->machine->finish(&job->env, worker->states[slot], &evidence, err));
  const pcal_status status = replicate_slot_entries(job, slot, &evidence, replica, err);
  planned->machine->release(&job->env, &evidence);
  return status;
}

/* The values of a slot's entries at their gap points. */
static pcal_status replicate_points(const replicate_job *job, replicate_worker *worker,
                                    size_t slot, double total, size_t replica,
                                    pcal_error *err) {
  const pc_replica_request *request = job->request;
  for (size_t i = 0; i < request->plan->entry_count * request->point_count; i++) {
    const pc_plan_entry *entry = &request->plan->entries[i / request->point_count];
    if (!request->entries[i / request->point_count] || entry->slot != slot ||
        isnan(request->points[i].noise))
      continue;
    pc_metric_result outcome;
    memset(&outcome, 0, sizeof outcome);
    pc_replica_batch_select_point(&job->sorted[slot], &job->ranges[slot], &job->base[slot],
                                  worker->drawn, replica % REPLICATE_BATCH, total,
                                  &request->points[i], &worker->lanes[slot]);
    const pcal_status status = entry->metric->evaluate(
        &entry->options, &worker->lanes[slot].evidence, &job->env, &outcome, err);
    if (status == PCAL_OK && !outcome.undefined)
      job->values[i * request->count + replica] = replicate_finite(outcome.value);
    pc_free(&job->env, outcome.class_values);
    PC_TRY(status);
  }
  return PCAL_OK;
}

static pcal_status replicate_summed(const replicate_job *job, size_t slot,
                                    const pc_replica_draw *drawn, size_t replica,
                                    pcal_error *err) {
  pc_evidence evidence;
  memset(&evidence, 0, sizeof evidence);
  evidence.machine = PC_SUM;
  evidence.layout = &job->request->plan->layout;
  evidence.total = drawn->total;
  pc_replica_row_sums_evidence(&job->summed[slot], drawn, &evidence);
  return replicate_slot_entries(job, slot, &evidence, replica, err);
}

static pcal_status replicate_one(const replicate_job *job, replicate_worker *worker,
                                 const pc_replica_draw *drawn, size_t replica,
                                 pcal_error *err) {
  const pc_measure_plan *plan = job->request->plan;
  const size_t most =
      job->single > 0 ? job->single : job->request->rows->count + worker->shares.count;
  pc_rows rows = {.count = 0};
  if (job->plain && most > worker->room)
    PC_TRY(replicate_rows_room(job, worker, most + most / 4, err));
  if (job->plain)
    rows = replicate_rows(job, worker, drawn, replica);
  for (size_t s = 0; s < plan->slot_count; s++) {
    if (replicate_together(job, s) && job->request->points != NULL) {
      PC_TRY(replicate_points(job, worker, s, drawn->total, replica, err));
    } else if (replicate_together(job, s)) {
      pc_replica_batch_select(&job->sorted[s], &job->ranges[s], worker->drawn,
                              replica % REPLICATE_BATCH, drawn->total, &worker->lanes[s]);
      PC_TRY(replicate_slot_entries(job, s, &worker->lanes[s].evidence, replica, err));
    } else if (replicate_sorted(job, s)) {
      pc_replica_evidence_fill(&plan->slots[s].need, &job->sorted[s], drawn,
                               &worker->refilled[s]);
      PC_TRY(replicate_slot_entries(job, s, &worker->refilled[s].evidence, replica, err));
    } else if (job->summed[s].count > 0) {
      PC_TRY(replicate_summed(job, s, drawn, replica, err));
    } else if (replicate_has(job->request, s)) {
      PC_TRY(replicate_state(job, worker, s, &rows, drawn->total, replica, err));
    }
  }
  return PCAL_OK;
}

static pcal_status replicate_task(void *user, size_t batch, size_t w, pcal_error *err) {
  replicate_job *job = user;
  replicate_worker *worker = &job->workers[w];
  const pc_kept_rows *rows = job->request->rows;
  if (!worker->ready)
    PC_TRY(replicate_worker_fill(job, worker, err));
  pc_replica_weights(job->request, job->env.seed, batch, worker->drawn, worker->total);
  for (size_t s = 0; s < job->request->plan->slot_count; s++)
    if (replicate_together(job, s))
      pc_replica_batch_add(&job->sorted[s], &job->ranges[s], worker->drawn, &worker->lanes[s]);
  for (size_t q = 0; q < REPLICATE_BATCH; q++) {
    const size_t replica = batch * REPLICATE_BATCH + q;
    pc_replica_draw drawn = {worker->drawn + q, REPLICATE_BATCH, rows->labels,
                             worker->total[q],  rows->weights,   &worker->shares};
    if (replica >= job->request->count)
      break;
    if (job->request->kind == PC_REPLICA_LABELS) {
      PC_TRY(replicate_relabel(job, worker, replica, err));
      drawn.labels = worker->new_labels;
    }
    if (drawn.total > 0)
      PC_TRY(replicate_one(job, worker, &drawn, replica, err));
  }
  return PCAL_OK;
}

/* ---- all of it ---- */

static void replicate_free(replicate_job *job) {
  const pc_measure_plan *plan = job->request->plan;
  for (size_t w = 0; job->workers != NULL && w < job->worker_count; w++)
    replicate_worker_free(job, &job->workers[w]);
  for (size_t s = 0; job->sorted != NULL && s < plan->slot_count; s++)
    pc_sorted_view_free(&job->env, &job->sorted[s]);
  for (size_t s = 0; job->ranges != NULL && s < plan->slot_count; s++)
    pc_score_ranges_free(&job->env, &job->ranges[s]);
  for (size_t s = 0; job->base != NULL && s < plan->slot_count; s++)
    pc_replica_base_free(&job->env, &job->base[s]);
  for (size_t s = 0; job->summed != NULL && s < plan->slot_count; s++)
    pc_replica_row_sums_free(&job->env, &job->summed[s]);
  pc_free(&job->env, job->summed);
  pc_free(&job->env, job->ranges);
  pc_free(&job->env, job->base);
  pc_free(&job->env, job->workers);
  pc_free(&job->env, job->sorted);
}

/* Blocks of rows do not know weights: they are given every copy, in an order of their own. */
static void replicate_singles(replicate_job *job) {
  const pc_kept_rows *rows = job->request->rows;
  double total = 0.0;
  for (size_t i = 0; i < rows->count; i++)
    total += rows->copies[i];
  job->single = (size_t)total;
  job->step = pc_draw_step(job->single);
}

/* Values of all rows for the slots that add them up, the same in every replica. */
static pcal_status replicate_fill_sums(replicate_job *job, replicate_worker *worker,
                                       pcal_error *err) {
  const pc_replica_request *request = job->request;
  const size_t n = request->rows->count;
  worker->drawn = pc_alloc_raw(&job->env, n, sizeof *worker->drawn);
  worker->columns = pc_alloc(&job->env, request->plan->view_count, sizeof *worker->columns);
  if (worker->drawn == NULL || worker->columns == NULL)
    return pc_fail_memory(err, "drawing replicas");
  PC_TRY(replicate_rows_room(job, worker, n, err));
  for (size_t i = 0; i < n; i++)
    worker->drawn[i] = 1.0F;
  const pc_replica_draw each = {.weights = worker->drawn,
                                .stride = 1,
                                .labels = request->rows->labels,
                                .total = (double)n};
  const pc_rows rows = replicate_rows(job, worker, &each, 0);
  for (size_t s = 0; s < request->plan->slot_count; s++)
    if (replicate_has(request, s) && request->plan->slots[s].need.machine == PC_SUM)
      PC_TRY(pc_replica_row_sums_new(&job->env, &request->plan->slots[s].need, &rows,
                                     &job->summed[s], err));
  return PCAL_OK;
}

static pcal_status replicate_prepare_sums(replicate_job *job, pcal_error *err) {
  replicate_worker worker;
  memset(&worker, 0, sizeof worker);
  const pcal_status status = replicate_fill_sums(job, &worker, err);
  replicate_worker_free(job, &worker);
  return status;
}

static pcal_status replicate_prepare(replicate_job *job, pcal_error *err) {
  const pc_replica_request *request = job->request;
  const pc_measure_plan *plan = request->plan;
  job->workers = pc_alloc(&job->env, job->worker_count, sizeof *job->workers);
  job->sorted = pc_alloc(&job->env, plan->slot_count, sizeof *job->sorted);
  job->ranges = pc_alloc(&job->env, plan->slot_count, sizeof *job->ranges);
  job->base = pc_alloc(&job->env, plan->slot_count, sizeof *job->base);
  job->summed = pc_alloc(&job->env, plan->slot_count, sizeof *job->summed);
  if (job->workers == NULL || job->sorted == NULL || job->ranges == NULL || job->base == NULL ||
      job->summed == NULL)
    return pc_fail_memory(err, "drawing replicas");
  for (size_t s = 0; s < plan->slot_count; s++) {
    const pc_need *need = &plan->slots[s].need;
    if (!replicate_has(request, s))
      continue;
    job->sums |= need->machine == PC_SUM;
    if (need->machine == PC_BLOCK && job->single == 0)
      replicate_singles(job);
    if (pc_sorted_view_applies(need, &plan->layout, request->rows))
      PC_TRY(pc_sorted_view_new(&job->env, &need->view, &plan->layout, request->rows,
                                &job->sorted[s], err));
    else if (need->machine != PC_SUM || request->kind == PC_REPLICA_LABELS)
      job->plain = 1;
    if (replicate_sorted(job, s) && request->kind != PC_REPLICA_LABELS &&
        pc_replica_batch_applies(plan, s, request->points == NULL ? NULL : request->entries,
                                 request->rows))
      PC_TRY(pc_score_ranges_new(&job->env, plan, s, &job->sorted[s], request->rows->labels,
                                 &job->ranges[s], err));
    if (replicate_together(job, s) && request->points != NULL)
      PC_TRY(pc_replica_base_new(&job->env, plan, s, &job->sorted[s], &job->ranges[s],
                                 request->rows, &job->base[s], err));
  }
  return job->sums && request->kind != PC_REPLICA_LABELS ? replicate_prepare_sums(job, err)
                                                         : PCAL_OK;
}

pcal_status pc_replicas_measure(const pcal_env *env, const pc_replica_request *request,
                                double *values, pcal_error *err) {
  const size_t entries = request->plan->entry_count;
  replicate_job job = {
      .env = pc_env_for_use(env, PC_MEMORY_REPLICAS), .request = request, .values = values};
  job.env.threads = 1;
  job.env.pool = NULL;
  job.env.progress = NULL;
  job.env.interrupted = NULL;
  job.worker_count = pc_worker_count(env);
  pc_replica_values_clear(request, values);
  const double cost = REPLICATE_ROW_COST * (double)request->rows->count *
                      (double)(request->count * entries * request->plan->layout.classes);
  pcal_status status = replicate_prepare(&job, err);
  if (status == PCAL_OK)
    status = pc_run_with_progress(
        env,
        request->kind == PC_REPLICA_LABELS     ? "drawing calibrated labels"
        : request->kind == PC_REPLICA_EXCHANGE ? "exchanging the models"
                                               : "drawing replicas",
        (request->count - 1) / REPLICATE_BATCH + 1, cost, replicate_task, &job, err);
  replicate_free(&job);
  return status;
}
