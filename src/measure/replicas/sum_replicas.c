/* Formula:  T = sum_i w_i v_i in the order of the rows, for w_i ~ Poisson(1), or for the rows of
 *           either side of an exchange (exchange.h).
 * Order:    that of replica_sum_kernels.h, so that each value has the bits of replicas.c.
 * Edge cases:
 *   1. An infinite row value, a weight other than 1 or another metric beside sums: replicas.c.
 *   2. Exchange 0 moves nothing.
 *   3. A replica without rows has no value.
 * Cost:     about two cycles for a row and bootstrap replica, a quarter of that for an exchange. */
#include "measure/replicas/sum_replicas.h"

#include <string.h>

#include "base/executor.h"
#include "kernels/dispatch.h"
#include "measure/replicas/draws.h"
#include "measure/replicas/exchange.h"
#include "measure/replicas/replica_weights.h"

#define SUM_REPLICAS_TASK (2 * (size_t)PC_REPLICA_WIDE) /* replicas of a task */
#define SUM_REPLICAS_COST 1.0                           /* nanoseconds per row and replica */

_Static_assert(PC_EXCHANGE_BLOCK == 2 * PC_REPLICA_WIDE, "a block has the bits of two tasks");

/* The memory of one thread. */
typedef struct sum_replicas_worker {
  uint64_t *bits; /* exchanges: of each row of a model */
  double *sums;   /* [value][replica of the task, or side and exchange] */
} sum_replicas_worker;

typedef struct sum_replicas_job {
  const pcal_env *serial;
  const pc_replica_request *request;
  const pc_replica_row_sums *sums; /* by slot */
  sum_replicas_worker *workers;
  double *values;
} sum_replicas_job;

static int sum_replicas_unit(const pc_kept_rows *rows) {
  size_t i = 0;
  while (i < rows->count && rows->weights[i] == 1.0 &&
         (rows->copies == NULL || rows->copies[i] == 1.0))
    i++;
  return i == rows->count;
}

/* True if the rows of the second model have the keys of the first. */
static int sum_replicas_paired(const pc_replica_request *request) {
  const uint64_t *keys = pc_replica_keys(request->rows);
  return request->rows->count == 2 * request->half &&
         memcmp(keys, keys + request->half, request->half * sizeof *keys) == 0;
}

int pc_sum_replicas_apply(const pc_replica_request *request, const pc_replica_way *ways,
                          const pc_replica_row_sums *sums) {
  int apply = request->points == NULL && request->collect == NULL &&
              (request->kind == PC_REPLICA_WEIGHTS || request->kind == PC_REPLICA_EXCHANGE) &&
              request->rows->count > 0;
  for (size_t s = 0; apply && s < request->plan->slot_count; s++)
    apply = ways[s] == PC_REPLICA_WAY_NONE ||
            (ways[s] == PC_REPLICA_WAY_ROW_SUMS && sums[s].finite);
  return apply && sum_replicas_unit(request->rows) &&
         (request->kind == PC_REPLICA_WEIGHTS || sum_replicas_paired(request));
}

/* Evaluates the entries of a slot in one replica; sums: the first value, others follow at a
 * distance of SUM_REPLICAS_TASK. */
static pcal_status sum_replicas_evaluate(const sum_replicas_job *job, size_t slot,
                                         const double *sums, double total, size_t replica,
                                         pcal_error *err) {
  const pc_replica_request *request = job->request;
  pc_evidence evidence = {.machine = PC_SUM, .layout = &request->plan->layout, .total = total};
  evidence.sum.count = job->sums[slot].count;
  for (size_t v = 0; v < evidence.sum.count; v++) {
    evidence.sum.infinite_row[v] = PCAL_NO_ROW;
    evidence.sum.value[v] = sums[v * SUM_REPLICAS_TASK];
  }
  for (size_t e = 0; e < request->plan->entry_count; e++)
    if (request->entries[e] && request->plan->entries[e].slot == slot)
      PC_TRY(pc_replica_evaluate(
          job->serial, &request->plan->entries[e], &evidence, request->count,
          &job->values[e * PC_REPLICA_VALUES * request->count + replica], err));
  return PCAL_OK;
}

/* ---- bootstrap ---- */

static pcal_status sum_replicas_weights(const sum_replicas_job *job,
                                        const sum_replicas_worker *worker, size_t slot,
                                        size_t first, pcal_error *err) {
  const pc_replica_row_sums *sums = &job->sums[slot];
  const size_t count = job->request->count;
  double total[PC_REPLICA_WIDE], part[PC_VALUES_MAX * PC_REPLICA_WIDE];
  for (size_t begin = first; begin < count && begin < first + SUM_REPLICAS_TASK;
       begin += PC_REPLICA_WIDE) {
    const pc_rng rng = pc_draw_count_rng(job->serial->seed, begin);
    pc_kernels_best()->replica_sum->poisson(rng.seed, rng.stream,
                                            pc_replica_keys(job->request->rows), sums->values,
                                            sums->count, sums->rows, total, part);
    for (size_t v = 0; v < sums->count; v++)
      memcpy(worker->sums + v * SUM_REPLICAS_TASK, part + v * PC_REPLICA_WIDE,
             PC_REPLICA_WIDE * sizeof *part);
    for (size_t r = 0; r < PC_REPLICA_WIDE && begin + r < count; r++)
      if (total[r] > 0.0)
        PC_TRY(sum_replicas_evaluate(job, slot, worker->sums + r, total[r], begin + r, err));
  }
  return PCAL_OK;
}

/* ---- exchanges ---- */

static void sum_replicas_draw_bits(const sum_replicas_job *job,
                                   const sum_replicas_worker *worker, size_t exchange) {
  const pc_rng rng = pc_replica_exchange_rng(job->serial->seed);
  const size_t half = job->request->half;
  pc_kernels_best()->replica_sum->exchange_bits(
      rng.seed, rng.stream + exchange / PC_EXCHANGE_BLOCK, pc_replica_keys(job->request->rows),
      half, exchange % PC_EXCHANGE_BLOCK != 0, worker->bits);
  for (size_t i = 0; exchange == 0 && i < half; i++)
    worker->bits[i] &= ~UINT64_C(1);
}

static pcal_status sum_replicas_exchange(const sum_replicas_job *job,
                                         const sum_replicas_worker *worker, size_t slot,
                                         size_t first, pcal_error *err) {
  const pc_replica_row_sums *sums = &job->sums[slot];
  const size_t half = job->request->half;
  pc_kernels_best()->replica_sum->exchange(worker->bits, sums->values, sums->count, half,
                                           worker->sums);
  for (size_t r = 0; r < SUM_REPLICAS_TASK && first + r < job->request->count; r++)
    PC_TRY(sum_replicas_evaluate(job, slot, worker->sums + r % 2 * PC_REPLICA_WIDE + r / 2,
                                 (double)half, first + r, err));
  return PCAL_OK;
}

/* ---- entry point ---- */

static pcal_status sum_replicas_reserve(const sum_replicas_job *job,
                                        sum_replicas_worker *worker, pcal_error *err) {
  const size_t rows = job->request->kind == PC_REPLICA_EXCHANGE ? job->request->half : 0;
  worker->bits = pc_alloc_raw(job->serial, rows, sizeof *worker->bits);
  if (worker->bits != NULL)
    worker->sums =
        pc_alloc_raw(job->serial, PC_VALUES_MAX * SUM_REPLICAS_TASK, sizeof *worker->sums);
  return worker->sums != NULL ? PCAL_OK : pc_fail_memory(err, "drawing replicas");
}

static pcal_status sum_replicas_task(void *user, size_t task, size_t w, pcal_error *err) {
  const sum_replicas_job *job = user;
  sum_replicas_worker *worker = &job->workers[w];
  const size_t first = task * SUM_REPLICAS_TASK;
  const int exchange = job->request->kind == PC_REPLICA_EXCHANGE;
  if (worker->sums == NULL)
    PC_TRY(sum_replicas_reserve(job, worker, err));
  if (exchange)
    sum_replicas_draw_bits(job, worker, first / 2);
  for (size_t s = 0; s < job->request->plan->slot_count; s++)
    if (pc_replica_wants_slot(job->request, s))
      PC_TRY((exchange ? sum_replicas_exchange : sum_replicas_weights)(job, worker, s, first,
                                                                       err));
  return PCAL_OK;
}

pcal_status pc_sum_replicas_measure(const pcal_env *env, const pcal_env *serial,
                                    const pc_replica_request *request,
                                    const pc_replica_row_sums *sums, double *values,
                                    pcal_error *err) {
  const size_t workers = pc_worker_count(env);
  sum_replicas_job job = {.serial = serial, .request = request, .sums = sums, .values = values};
  const double cost = SUM_REPLICAS_COST * (double)(request->rows->count * request->count);
  job.workers = pc_alloc(env, workers, sizeof *job.workers);
  if (job.workers == NULL)
    return pc_fail_memory(err, "drawing replicas");
  const pcal_status status = pc_run_with_progress(
      env, request->kind == PC_REPLICA_EXCHANGE ? "exchanging the models" : "drawing replicas",
      (request->count - 1) / SUM_REPLICAS_TASK + 1, cost, sum_replicas_task, &job, err);
  for (size_t w = 0; w < workers; w++) {
    pc_free(serial, job.workers[w].bits);
    pc_free(serial, job.workers[w].sums);
  }
  pc_free(env, job.workers);
  return status;
}
