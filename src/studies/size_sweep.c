/* Formula:  mean and standard error over R subsets of n rows each,
 *             mean = (1/R) sum_r e(D_r),   error = sqrt(sum_r (e(D_r) - mean)^2 / (R (R - 1)))
 *           with e squared where squares are studied, and e(D, f) - e(D, h o f) in place of e
 *           where improvements are.  Scores and metrics that are powers already (PC_SQUARED:
 *           brier, skce, root=no) are not squared.
 *           sizes n_i = smallest (N / smallest)^(i / 9), rounded, i = 0 .. 9; size n_i has
 *           2 (100 - 11 i)^2 subsets: 20000, 15842, 12168, 8978, 6272, 4050, 2312, 1058, 288, 2
 * Edge cases:
 *   (1) a metric that is undefined in one subset of a size is left out at that size, with a
 *       sentence that gives the reason;
 *   (2) all rows are drawn at most twice, since each draw is the same;
 *   (3) equal sizes, in sets of few rows, are joined.
 * Source:   Gruber & Buettner 2022, appendix G.2.
 * Cost:     that of the subsets (subset_metrics.h), spread over threads. */
#include "studies/size_sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/elementary.h"
#include "base/executor.h"

#define SIZE_SWEEP_PAIR_ROWS 1000 /* a row costs as much as so many pairs, roughly */
#define SIZE_SWEEP_STREAM UINT64_C(0x5a00000000000000)
#define SIZE_SWEEP_SCORE_NS 10.0

/* ---- sizes ---- */

static size_t size_sweep_repeats(const pc_study_job *job, size_t step, size_t steps) {
  const size_t tenth = steps > 1 ? step * (PC_SIZE_STEPS - 1) / (steps - 1) : 0;
  const size_t root = 100 - 11 * tenth;
  if (step + 1 == steps)
    return job->config->repeats == 1 ? 1 : 2;
  return job->config->repeats > 0 ? (size_t)job->config->repeats : 2 * root * root;
}

static void size_sweep_add(pc_sizes *sizes, size_t rows) {
  if (sizes->count == 0 || rows > sizes->rows[sizes->count - 1])
    sizes->rows[sizes->count++] = rows;
}

static pcal_status size_sweep_given(const pc_study_job *job, size_t all_rows, pc_sizes *out,
                                    pcal_error *err) {
  const pcal_study_config *config = job->config;
  for (size_t i = 0; i < config->row_count_count; i++) {
    const uint64_t rows = config->row_counts[i];
    if (rows == 0 || rows > all_rows || (i > 0 && rows <= config->row_counts[i - 1]) ||
        out->count + 1 == PC_SIZE_STEPS_MAX)
      return pc_fail(
          err, PCAL_USAGE,
          "study %s: sizes must ascend and lie between 1 and the %zu rows of the data, at "
          "most %d of them; see {rows}",
          job->options->name, all_rows, PC_SIZE_STEPS_MAX - 1);
    size_sweep_add(out, (size_t)rows);
  }
  return PCAL_OK;
}

pcal_status pc_sizes_make(const pc_study_job *job, size_t all_rows, size_t smallest,
                          pc_sizes *out, pcal_error *err) {
  memset(out, 0, sizeof *out);
  if (job->config->row_count_count > 0)
    PC_TRY(size_sweep_given(job, all_rows, out, err));
  else if (all_rows <= smallest)
    return pc_fail(err, PCAL_USAGE,
                   "study %s draws subsets of %zu rows and more, but there are only %zu rows; "
                   "give more rows, or smaller sizes with {rows}",
                   job->options->name, smallest, all_rows);
  else
    for (size_t i = 0; i + 1 < PC_SIZE_STEPS; i++)
      size_sweep_add(out, (size_t)(pc_exp2(pc_log2((double)smallest) +
                                           (double)i / (PC_SIZE_STEPS - 1) *
                                               pc_log2((double)all_rows / (double)smallest)) +
                                   0.5));
  size_sweep_add(out, all_rows);
  for (size_t i = 0; i < out->count; i++)
    out->repeats[i] = size_sweep_repeats(job, i, out->count);
  return PCAL_OK;
}

/* ---- subsets ---- */

/* Scratch memory of one thread. */
typedef struct size_sweep_worker {
  pc_subset_scratch *before, *after;
  uint64_t *marks;
  uint32_t *rows;
  double *values; /* of the metrics after the calibrator */
} size_sweep_worker;

typedef struct size_sweep_state {
  pc_arena arena; /* holds the scratch memory of one case */
  pc_size_sweep *plan;
  pc_size_case *studied;
  pc_subset_metrics *before, *after;
  size_sweep_worker *workers;
  size_t worker_count;
  double *values; /* subset by subset, largest size first; metric by metric */
  pcal_env given; /* of the study; its callbacks */
} size_sweep_state;

/* Where the values of a subset are stored. */
static double *size_sweep_at(const size_sweep_state *run, size_t size, size_t repeat) {
  const pc_sizes *sizes = &run->studied->sizes;
  size_t before = repeat;
  for (size_t s = sizes->count - 1; s > size; s--)
    before += sizes->repeats[s];
  return run->values + before * run->plan->metric_count;
}

static pcal_status size_sweep_worker_fill(const size_sweep_state *run,
                                          size_sweep_worker *worker, pcal_error *err) {
  const pcal_env *env = &run->arena.env;
  const size_t rows = run->studied->data->rows;
  if (worker->marks == NULL)
    worker->marks = pc_alloc(env, pc_subset_words(rows), sizeof *worker->marks);
  if (worker->rows == NULL)
    worker->rows = pc_alloc(env, rows, sizeof *worker->rows);
  if (worker->values == NULL)
    worker->values = pc_alloc(env, run->plan->metric_count, sizeof *worker->values);
  if (worker->marks == NULL || worker->rows == NULL || worker->values == NULL)
    return pc_fail_memory(err, "drawing subsets");
  if (worker->before == NULL)
    PC_TRY(pc_subset_scratch_new(run->before, &worker->before, err));
  return worker->after != NULL || run->after == NULL
             ? PCAL_OK
             : pc_subset_scratch_new(run->after, &worker->after, err);
}

static double size_sweep_power(const size_sweep_state *run, size_t metric, double value) {
  return run->plan->squared && !pc_subset_metrics_squared(run->before, metric) ? value * value
                                                                               : value;
}

static void size_sweep_draw(const size_sweep_state *run, size_sweep_worker *worker, size_t size,
                            size_t repeat) {
  const size_t rows = run->studied->sizes.rows[size];
  const pc_rng rng = {run->plan->job->env->seed,
                      SIZE_SWEEP_STREAM + ((uint64_t)rows << 24) + repeat};
  pc_subset_draw(&rng, run->studied->data->rows, rows, worker->marks, worker->rows);
}

static pcal_status size_sweep_subset(const size_sweep_state *run, size_sweep_worker *worker,
                                     size_t size, size_t repeat, double *values,
                                     pcal_error *err) {
  const size_t rows = run->studied->sizes.rows[size], metrics = run->plan->metric_count;
  size_sweep_draw(run, worker, size, repeat);
  PC_TRY(pc_subset_metrics_measure(run->before, worker->before, worker->rows, rows, values,
                                   NULL, err));
  for (size_t m = 0; m < metrics; m++)
    values[m] = size_sweep_power(run, m, values[m]);
  if (run->after == NULL)
    return PCAL_OK;
  PC_TRY(pc_subset_metrics_measure(run->after, worker->after, worker->rows, rows,
                                   worker->values, NULL, err));
  for (size_t m = 0; m < metrics; m++)
    values[m] -= size_sweep_power(run, m, worker->values[m]);
  return PCAL_OK;
}

static pcal_status size_sweep_task(void *user, size_t index, size_t w, pcal_error *err) {
  const size_sweep_state *run = user;
  const pc_sizes *sizes = &run->studied->sizes;
  size_t size = sizes->count - 1;
  PC_TRY(size_sweep_worker_fill(run, &run->workers[w], err));
  for (; index >= sizes->repeats[size]; size--)
    index -= sizes->repeats[size];
  return size_sweep_subset(run, &run->workers[w], size, index, size_sweep_at(run, size, index),
                           err);
}

/* ---- means ---- */

/* Finds why a metric is undefined in a subset, by drawing the subset again. */
static pcal_status size_sweep_why(const size_sweep_state *run, size_t size, size_t repeat,
                                  size_t metric, char (*why)[PC_SUBSET_REASON_MAX],
                                  pcal_error *err) {
  size_sweep_worker *worker = &run->workers[0];
  const size_t rows = run->studied->sizes.rows[size];
  PC_TRY(size_sweep_worker_fill(run, worker, err));
  size_sweep_draw(run, worker, size, repeat);
  PC_TRY(pc_subset_metrics_measure(run->before, worker->before, worker->rows, rows,
                                   worker->values, why, err));
  return run->after == NULL || why[metric][0] != '\0'
             ? PCAL_OK
             : pc_subset_metrics_measure(run->after, worker->after, worker->rows, rows,
                                         worker->values, why, err);
}

static pcal_status size_sweep_reason(const size_sweep_state *run, size_t size, size_t repeat,
                                     size_t metric, char out[PC_SUBSET_REASON_MAX],
                                     pcal_error *err) {
  const pcal_env *env = &run->arena.env;
  char(*why)[PC_SUBSET_REASON_MAX] = pc_alloc(env, run->plan->metric_count, sizeof *why);
  if (why == NULL)
    return pc_fail_memory(err, "drawing subsets");
  const pcal_status status = size_sweep_why(run, size, repeat, metric, why, err);
  memcpy(out, why[metric], PC_SUBSET_REASON_MAX);
  pc_free(env, why);
  return status;
}

static pcal_status size_sweep_mean(const size_sweep_state *run, size_t metric, size_t size,
                                   pc_size_value *out, pcal_error *err) {
  const size_t repeats = run->studied->sizes.repeats[size];
  double sum = 0.0, squares = 0.0;
  for (size_t r = 0; r < repeats; r++) {
    const double value = size_sweep_at(run, size, r)[metric];
    sum += value;
    if (isnan(value) && out->undefined++ == 0)
      PC_TRY(size_sweep_reason(run, size, r, metric, out->why, err));
  }
  out->mean = sum / (double)repeats;
  for (size_t r = 0; r < repeats; r++) {
    const double rest = size_sweep_at(run, size, r)[metric] - out->mean;
    squares += rest * rest;
  }
  out->error =
      repeats < 2 ? 0.0 * out->mean : sqrt(squares / ((double)repeats * (double)(repeats - 1)));
  return PCAL_OK;
}

const pc_size_value *pc_size_value_at(const pc_size_case *from, size_t metric, size_t size) {
  return &from->values[metric * from->sizes.count + size];
}

static pcal_status size_sweep_means(const size_sweep_state *run, pcal_error *err) {
  const size_t sizes = run->studied->sizes.count;
  for (size_t m = 0; m < run->plan->metric_count; m++)
    for (size_t s = 0; s < sizes; s++)
      PC_TRY(size_sweep_mean(run, m, s, &run->studied->values[m * sizes + s], err));
  return PCAL_OK;
}

/* ---- a case ---- */

/* Stores the names of the metrics; refuses cases with other metrics. */
static pcal_status size_sweep_names(const size_sweep_state *run, pcal_error *err) {
  pc_size_sweep *plan = run->plan;
  const size_t count = pc_subset_metrics_count(run->before);
  const int first = plan->metrics == NULL;
  int same = first || count == plan->metric_count;
  if (first)
    plan->metrics = pc_alloc(plan->job->memory, count, sizeof *plan->metrics);
  if (plan->metrics == NULL)
    return pc_fail_memory(err, "drawing subsets");
  plan->metric_count = first ? count : plan->metric_count;
  for (size_t m = 0; same && m < count; m++) {
    char name[PC_SPEC_MAX];
    pc_subset_metrics_name(run->before, m, name, sizeof name);
    if (first)
      snprintf(plan->metrics[m], PC_TABLE_WORD_MAX, "%.95s", name);
    same = strncmp(plan->metrics[m], name, PC_TABLE_WORD_MAX - 1) == 0;
  }
  if (!same || (run->after != NULL && pc_subset_metrics_count(run->after) != count))
    return pc_fail(err, PCAL_USAGE,
                   "study %s: not every metric fits all models; name those that do with "
                   "{metrics}",
                   plan->job->options->name);
  return PCAL_OK;
}

/* ---- progress ---- */

/* The work of the first `subsets` of all, roughly; those with many rows come first, and pairs
 * of rows make them cost much more than the others. */
static uint64_t size_sweep_cost(const size_sweep_state *run, uint64_t subsets) {
  const pc_sizes *sizes = &run->studied->sizes;
  const int pairs = pc_subset_metrics_slow(run->before);
  uint64_t cost = 0;
  for (size_t s = sizes->count; s-- > 0 && subsets > 0;) {
    const uint64_t here = subsets < sizes->repeats[s] ? subsets : sizes->repeats[s];
    const uint64_t rows = sizes->rows[s];
    cost += here * rows * (pairs ? rows + SIZE_SWEEP_PAIR_ROWS : 1);
    subsets -= here;
  }
  return cost;
}

static void size_sweep_report(void *user, const char *what, uint64_t done, uint64_t total) {
  const size_sweep_state *run = user;
  pc_progress(&run->given, what, size_sweep_cost(run, done), size_sweep_cost(run, total));
}

static int size_sweep_interrupted(void *user) {
  const size_sweep_state *run = user;
  return run->given.interrupted != NULL && run->given.interrupted(run->given.user);
}

/* The environment of the study, which reports progress by work. */
static pcal_env size_sweep_env(size_sweep_state *run) {
  pcal_env env = *run->plan->job->env;
  run->given = env;
  env.progress = size_sweep_report;
  env.interrupted = size_sweep_interrupted;
  env.user = run;
  return env;
}

static pcal_status size_sweep_work(size_sweep_state *run, pcal_error *err) {
  pc_size_sweep *plan = run->plan;
  const pcal_env *env = plan->job->env;
  const pcal_env reporting = size_sweep_env(run);
  const pc_sizes *sizes = &run->studied->sizes;
  const pc_study_probs *data = run->studied->data;
  size_t subsets = 0;
  double rows = 0.0;
  PC_TRY(pc_subset_metrics_new(env, data, plan->specs, plan->spec_count, &run->before, err));
  if (run->studied->after != NULL)
    PC_TRY(pc_subset_metrics_new(env, run->studied->after, plan->specs, plan->spec_count,
                                 &run->after, err));
  PC_TRY(size_sweep_names(run, err));
  for (size_t s = 0; s < sizes->count; s++) {
    subsets += sizes->repeats[s];
    rows += (double)sizes->repeats[s] * (double)sizes->rows[s];
  }
  run->workers = pc_alloc(&run->arena.env, run->worker_count, sizeof *run->workers);
  run->values = pc_alloc(&run->arena.env, subsets * plan->metric_count, sizeof *run->values);
  run->studied->values = pc_alloc(plan->job->memory, plan->metric_count * sizes->count,
                                  sizeof *run->studied->values);
  if (run->workers == NULL || run->values == NULL || run->studied->values == NULL)
    return pc_fail_memory(err, "drawing subsets");
  PC_TRY(pc_run_with_progress(&reporting, "drawing subsets", subsets,
                              SIZE_SWEEP_SCORE_NS * rows *
                                  (double)(plan->metric_count * data->classes),
                              size_sweep_task, run, err));
  return size_sweep_means(run, err);
}

pcal_status pc_size_sweep_measure(pc_size_sweep *plan, pc_size_case *out, pcal_error *err) {
  const pcal_env *env = plan->job->env;
  if (out->sizes.count == 0)
    PC_TRY(pc_sizes_make(plan->job, out->data->rows, PC_SIZE_SMALLEST, &out->sizes, err));
  size_sweep_state run = {.plan = plan, .studied = out, .worker_count = pc_worker_count(env)};
  PC_TRY(pc_arena_open(&run.arena, env, err));
  const pcal_status status = size_sweep_work(&run, err);
  pc_subset_metrics_free(run.before);
  pc_subset_metrics_free(run.after);
  pc_arena_close(&run.arena);
  return status;
}

pcal_status pc_size_sweep_run(pc_size_sweep *plan, pc_size_sweep_fill fill,
                              pc_findings *findings, pcal_error *err) {
  plan->cases = pc_alloc(plan->job->memory, plan->case_count, sizeof *plan->cases);
  if (plan->cases == NULL)
    return pc_fail_memory(err, "drawing subsets");
  for (size_t c = 0; c < plan->case_count; c++)
    PC_TRY(fill(plan, c, err));
  return (plan->report == NULL ? pc_size_sweep_report : plan->report)(plan, findings, err);
}
