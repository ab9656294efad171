#include "calibrators/temperature/temperature_objective.h"

#include <math.h>

#include "base/executor.h"
#include "base/sum.h"
#include "calibrators/fit_pass.h"
#include "io/source.h"
#include "kernels/column_sum.h"

#define TEMPERING_SAMPLE 1024 /* rows, fewer when they are long */
#define TEMPERING_SAMPLE_MIN 32
#define TEMPERING_SAMPLE_CELLS ((size_t)1 << 20)
#define TEMPERING_STEP 32        /* rows of the sample in a task */
#define TEMPERING_SCORE_COST 4.0 /* nanoseconds, for the executor */

/* One trial: exact sums over rows, and rows still to be added. */
typedef struct tempering_sums {
  pc_sum loss, one, slope[PC_SCALAR_DERIVATIVES];
  pc_temperature_block block;
} tempering_sums;

/* One thread's share of an evaluation. */
typedef struct tempering_worker {
  tempering_sums *trials; /* their blocks hold the same rows */
  double weights[PC_TEMPERATURE_ROWS];
  int weighted;  /* else all weights in the blocks are 1 */
  uint64_t rows; /* of weight 1 */
  pc_sum weight; /* of the others in the objective */
  uint64_t impossible, misses;
  int odd; /* a row is not finite */
} tempering_worker;

/* One evaluation. */
typedef struct tempering_run {
  pc_temperature_objective *about;
  const pc_temperature_kernels *kernels;
  const pc_row_kernels *row_kernels;
  size_t classes;
  const pc_temperature_trial *trials;
  size_t trial_count;
  tempering_worker *workers;
  size_t worker_count;
} tempering_run;

/* A row, its scores in one of two forms. */
typedef struct tempering_row {
  const float *floats;
  const double *doubles; /* where floats is NULL */
  size_t top, label;
  double weight;
} tempering_row;

/* ---- Sums over rows ---- */

static void tempering_add_column(const tempering_worker *worker, pc_sum *sum,
                                 const double *values, size_t count) {
  if (!worker->weighted)
    pc_sum_add_column(sum, values, count);
  for (size_t i = 0; worker->weighted && i < count; i++)
    pc_sum_add_product(sum, worker->weights[i], values[i]);
}

/* Adds the rows in the blocks to the sums. */
static void tempering_flush(const tempering_run *run, tempering_worker *worker) {
  const pc_temperature_block *first = &worker->trials[0].block;
  for (size_t i = 0; i < first->count; i++)
    worker->misses += first->gap[i] < 0.0;
  for (size_t t = 0; t < run->trial_count; t++) {
    tempering_sums *sums = &worker->trials[t];
    pc_temperature_block *block = &sums->block;
    run->kernels->finish(run->trials[t].wish, run->trials[t].beta, block);
    tempering_add_column(worker, &sums->loss, block->loss, block->count);
    if (run->trials[t].wish == PC_TEMPERATURE_LOG_AND_ONE)
      tempering_add_column(worker, &sums->one, block->one, block->count);
    for (size_t k = 0; k < pc_temperature_slopes(run->trials[t].wish); k++)
      tempering_add_column(worker, &sums->slope[k], block->slope[k], block->count);
    block->count = 0;
  }
  worker->weighted = 0;
}

static void tempering_weigh(tempering_worker *worker, size_t at, double weight) {
  worker->weights[at] = weight;
  if (weight == 1.0) {
    worker->rows++;
    return;
  }
  worker->weighted = 1;
  pc_sum_add(&worker->weight, weight);
}

static void tempering_add_row(const tempering_run *run, tempering_worker *worker,
                              const tempering_row *row) {
  const pc_temperature_kernels *kernels = run->kernels;
  if (run->about->is_log && row->floats == NULL && isinf(row->doubles[row->label])) {
    worker->impossible++;
    return;
  }
  tempering_weigh(worker, worker->trials[0].block.count, row->weight);
  for (size_t t = 0; t < run->trial_count; t++) {
    const pc_temperature_trial *trial = &run->trials[t];
    pc_temperature_block *block = &worker->trials[t].block;
    if (row->floats != NULL)
      kernels->add_f32(trial->wish, row->floats, run->classes, row->top, row->label,
                       trial->beta, block);
    else
      kernels->add_f64(trial->wish, row->doubles, run->classes, row->top, row->label,
                       trial->beta, block);
  }
  if (worker->trials[0].block.count == PC_TEMPERATURE_ROWS)
    tempering_flush(run, worker);
}

/* Row i; 0 when it is not finite. */
static int tempering_read(const tempering_run *run, const pc_rows *rows, size_t i,
                          tempering_row *out) {
  int finite = 1;
  *out = (tempering_row){.floats = pc_rows_floats(rows, i),
                         .label = (size_t)rows->labels[i],
                         .weight = rows->weights == NULL ? 1.0 : rows->weights[i]};
  if (out->floats != NULL) {
    out->top = run->row_kernels->top_f32(out->floats, rows->classes, &finite);
  } else {
    out->doubles = rows->scores + i * rows->classes;
    out->top = (size_t)rows->top_label[i];
  }
  return finite;
}

static pcal_status tempering_add(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  const tempering_run *run = user;
  tempering_worker *worker = &run->workers[w];
  (void)err;
  for (size_t i = 0; i < rows->count && !worker->odd; i++) {
    tempering_row row;
    worker->odd = !tempering_read(run, rows, i, &row);
    if (!worker->odd)
      tempering_add_row(run, worker, &row);
  }
  return PCAL_OK;
}

/* ---- Workers ---- */

static void tempering_run_free(tempering_run *run) {
  const pcal_env *env = run->about->task->env;
  for (size_t w = 0; run->workers != NULL && w < run->worker_count; w++)
    pc_free(env, run->workers[w].trials);
  pc_free(env, run->workers);
}

static pcal_status tempering_run_new(tempering_run *run, pc_temperature_objective *about,
                                     const pc_temperature_trial *trials, size_t count,
                                     pcal_error *err) {
  const pcal_env *env = about->task->env;
  *run = (tempering_run){.about = about,
                         .kernels = pc_temperature_kernels_best(),
                         .row_kernels = pc_row_kernels_best(),
                         .classes = about->task->calibrator->layout.classes,
                         .trials = trials,
                         .trial_count = count,
                         .worker_count = pc_worker_count(env)};
  run->workers = pc_alloc(env, run->worker_count, sizeof *run->workers);
  int enough = run->workers != NULL;
  for (size_t w = 0; w < run->worker_count && enough; w++) {
    run->workers[w].trials = pc_alloc(env, count, sizeof *run->workers[w].trials);
    enough = run->workers[w].trials != NULL;
  }
  if (enough)
    return PCAL_OK;
  tempering_run_free(run);
  return pc_fail_memory(err, "preparing workers");
}

static void tempering_merge(tempering_worker *into, const tempering_worker *from,
                            size_t trial_count) {
  into->rows += from->rows;
  pc_sum_merge(&into->weight, &from->weight);
  into->impossible += from->impossible;
  into->misses += from->misses;
  for (size_t t = 0; t < trial_count; t++) {
    pc_sum_merge(&into->trials[t].loss, &from->trials[t].loss);
    pc_sum_merge(&into->trials[t].one, &from->trials[t].one);
    for (size_t k = 0; k < PC_SCALAR_DERIVATIVES; k++)
      pc_sum_merge(&into->trials[t].slope[k], &from->trials[t].slope[k]);
  }
}

/* All workers into the first; means over its rows.  Returns their weight. */
static double tempering_collect(const tempering_run *run, pc_scalar_derivatives *out) {
  tempering_worker *first = &run->workers[0];
  for (size_t w = 0; w < run->worker_count; w++)
    tempering_flush(run, &run->workers[w]);
  for (size_t w = 1; w < run->worker_count; w++)
    tempering_merge(first, &run->workers[w], run->trial_count);
  pc_sum_add(&first->weight, (double)first->rows);
  const double weight = pc_sum_value(&first->weight), total = weight > 0.0 ? weight : 1.0;
  for (size_t t = 0; t < run->trial_count; t++) {
    out[t].value = pc_sum_value(&first->trials[t].loss) / total;
    for (size_t k = 0; k < PC_SCALAR_DERIVATIVES; k++)
      out[t].slope[k] = pc_sum_value(&first->trials[t].slope[k]) / total;
  }
  return weight;
}

/* ---- All rows ---- */

static int tempering_odd(const tempering_run *run) {
  int odd = 0;
  for (size_t w = 0; w < run->worker_count; w++)
    odd |= run->workers[w].odd;
  return odd;
}

/* One pass; rows are checked as they are added, when they are near anyway, or beforehand. */
static pcal_status tempering_pass(pc_temperature_objective *tempering, tempering_run *run,
                                  int beforehand, pc_scalar_derivatives *out, int *odd,
                                  pcal_error *err) {
  const pc_row_policy policy = {.scores = beforehand ? PC_SCORES_IN_PLACE : PC_SCORES_UNCHECKED,
                                .probs = PC_PROBS_LEAN};
  PC_TRY(pc_fit_pass(tempering->task, &policy, tempering_add, run, err));
  *odd = tempering_odd(run);
  tempering->weight = tempering_collect(run, out);
  tempering->impossible = run->workers[0].impossible;
  tempering->misses = run->workers[0].misses;
  const double one = pc_sum_value(&run->workers[0].trials[0].one);
  tempering->one = tempering->weight > 0.0 ? one / tempering->weight : one;
  return PCAL_OK;
}

static pcal_status tempering_try(pc_temperature_objective *tempering,
                                 const pc_temperature_trial *trials, size_t count,
                                 int beforehand, pc_scalar_derivatives *out, int *odd,
                                 pcal_error *err) {
  tempering_run run;
  PC_TRY(tempering_run_new(&run, tempering, trials, count, err));
  const pcal_status status = tempering_pass(tempering, &run, beforehand, out, odd, err);
  tempering_run_free(&run);
  return status;
}

pcal_status pc_temperature_objective_on_all(pc_temperature_objective *tempering,
                                            const pc_temperature_trial *trials, size_t count,
                                            pc_scalar_derivatives *out, pcal_error *err) {
  int odd = 0;
  tempering->passes++;
  const pcal_status status = tempering_try(tempering, trials, count, 0, out, &odd, err);
  if (status != PCAL_DATA && !odd)
    return status;
  return tempering_try(tempering, trials, count, 1, out, &odd, err);
}

/* ---- The sample ---- */

static size_t tempering_sample_limit(size_t classes) {
  const size_t rows = TEMPERING_SAMPLE_CELLS / classes;
  return rows > TEMPERING_SAMPLE       ? TEMPERING_SAMPLE
         : rows < TEMPERING_SAMPLE_MIN ? TEMPERING_SAMPLE_MIN
                                       : rows;
}

static pcal_status tempering_sample_add(void *user, size_t w, const pc_rows *rows,
                                        pcal_error *err) {
  pc_temperature_objective *tempering = user;
  (void)w;
  return pc_row_sample_add(&tempering->sample, rows, err);
}

static pcal_status tempering_sample_from(pc_temperature_objective *tempering, uint64_t rows,
                                         pcal_error *err) {
  const pc_row_policy policy = {.scores = PC_SCORES_UNCHECKED, .probs = PC_PROBS_LEAN};
  const size_t classes = tempering->task->calibrator->layout.classes;
  PC_TRY(pc_row_sample_init(&tempering->sample, tempering->task->env, classes,
                            tempering_sample_limit(classes), rows, err));
  tempering->passes++;
  return pc_fit_pass(tempering->task, &policy, tempering_sample_add, tempering, err);
}

pcal_status pc_temperature_objective_draw_sample(pc_temperature_objective *tempering,
                                                 pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(tempering->task->source, &shape);
  const uint64_t rows = shape.row_count == PCAL_NO_ROW ? 0 : shape.row_count;
  pcal_status status = tempering_sample_from(tempering, rows, err);
  if (status == PCAL_OK && pc_row_sample_is_sparse(&tempering->sample)) {
    pc_row_sample_free(&tempering->sample);
    status = tempering_sample_from(tempering, 0, err);
  }
  if (status != PCAL_DATA)
    return status;
  pc_row_sample_free(&tempering->sample);
  return PCAL_OK;
}

void pc_temperature_objective_free(pc_temperature_objective *tempering) {
  pc_row_sample_free(&tempering->sample);
}

static pcal_status tempering_sample_task(void *user, size_t index, size_t w, pcal_error *err) {
  const tempering_run *run = user;
  const pc_row_sample *sample = &run->about->sample;
  const size_t end = (index + 1) * TEMPERING_STEP;
  (void)err;
  for (size_t i = index * TEMPERING_STEP; i < end && i < sample->count; i++) {
    if (!pc_row_sample_in_subset(sample, i, run->about->few))
      continue;
    tempering_row row = {.top = (size_t)sample->rows[i].top_label,
                         .label = (size_t)sample->rows[i].label,
                         .weight = sample->rows[i].weight};
    if (sample->floats)
      row.floats = pc_row_sample_floats(sample, i);
    else
      row.doubles = pc_row_sample_doubles(sample, i);
    tempering_add_row(run, &run->workers[w], &row);
  }
  return PCAL_OK;
}

pcal_status pc_temperature_objective_on_sample(pc_temperature_objective *tempering,
                                               const pc_temperature_trial *trial,
                                               pc_scalar_derivatives *out, pcal_error *err) {
  const size_t rows = tempering->sample.count;
  tempering_run run;
  PC_TRY(tempering_run_new(&run, tempering, trial, 1, err));
  const double cost = TEMPERING_SCORE_COST * (double)rows * (double)run.classes;
  const pcal_status status = pc_run(tempering->task->env, (rows - 1) / TEMPERING_STEP + 1, cost,
                                    tempering_sample_task, &run, err);
  if (status == PCAL_OK)
    tempering_collect(&run, out);
  tempering_run_free(&run);
  return status;
}
