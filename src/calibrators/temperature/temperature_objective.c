#include "calibrators/temperature/temperature_objective.h"

#include <math.h>

#include "base/executor.h"
#include "base/sum.h"
#include "calibrators/fit_pass.h"
#include "io/source.h"
#include "kernels/column_sum.h"
#include "kernels/dispatch.h"

#define TEMPERATURE_SAMPLE 1024 /* rows of the sample; fewer if they are long */
#define TEMPERATURE_SAMPLE_MIN 32
#define TEMPERATURE_SAMPLE_CELLS ((size_t)1 << 20)
#define TEMPERATURE_STEP 32        /* rows of the sample for each task */
#define TEMPERATURE_SCORE_COST 4.0 /* nanoseconds, for the executor */

/* One trial: exact sums over rows, and a block of rows not yet added. */
typedef struct temperature_objective_sums {
  pc_sum loss, one, slope[PC_SCALAR_DERIVATIVES];
  pc_temperature_block block;
} temperature_objective_sums;

/* One thread's share of an evaluation. */
typedef struct temperature_objective_worker {
  temperature_objective_sums *trials; /* all with the same rows in their blocks */
  double weights[PC_TEMPERATURE_ROWS];
  int weighted;  /* else all weights in the blocks are 1 */
  uint64_t rows; /* rows of weight 1 in the objective */
  pc_sum weight; /* of the other rows in the objective */
  uint64_t impossible, misses;
  int not_finite; /* a row is not finite */
} temperature_objective_worker;

/* One evaluation. */
typedef struct temperature_objective_run {
  pc_temperature_objective *objective;
  const pc_temperature_kernels *kernels;
  const pc_row_kernels *row_kernels;
  size_t classes;
  const pc_temperature_trial *trials;
  size_t trial_count;
  temperature_objective_worker *workers;
  temperature_objective_sums *sums; /* of all workers and trials */
  size_t worker_count;
} temperature_objective_run;

/* A row; its scores are floats or doubles. */
typedef struct temperature_objective_row {
  const float *floats;
  const double *doubles; /* if floats is NULL */
  size_t top, label;
  double weight;
} temperature_objective_row;

/* ---- Sums over rows ---- */

static void temperature_objective_add_column(const temperature_objective_worker *worker,
                                             pc_sum *sum, const double *values, size_t count) {
  if (!worker->weighted)
    pc_sum_add_column(sum, values, count);
  for (size_t i = 0; worker->weighted && i < count; i++)
    pc_sum_add_product(sum, worker->weights[i], values[i]);
}

/* Adds the rows in the blocks to the sums. */
static void temperature_objective_flush(const temperature_objective_run *run,
                                        temperature_objective_worker *worker) {
  const pc_temperature_block *first = &worker->trials[0].block;
  for (size_t i = 0; i < first->count; i++)
    worker->misses += first->gap[i] < 0.0;
  for (size_t t = 0; t < run->trial_count; t++) {
    temperature_objective_sums *sums = &worker->trials[t];
    pc_temperature_block *block = &sums->block;
    run->kernels->finish(run->trials[t].score, run->trials[t].beta, block);
    temperature_objective_add_column(worker, &sums->loss, block->loss, block->count);
    if (run->trials[t].score == PC_TEMPERATURE_LOG_AND_ONE)
      temperature_objective_add_column(worker, &sums->one, block->one, block->count);
    for (size_t k = 0; k < pc_temperature_slopes(run->trials[t].score); k++)
      temperature_objective_add_column(worker, &sums->slope[k], block->slope[k], block->count);
    block->count = 0;
  }
  worker->weighted = 0;
}

static void temperature_objective_weigh(temperature_objective_worker *worker, size_t at,
                                        double weight) {
  worker->weights[at] = weight;
  if (weight == 1.0) {
    worker->rows++;
    return;
  }
  worker->weighted = 1;
  pc_sum_add(&worker->weight, weight);
}

static void temperature_objective_add_row(const temperature_objective_run *run,
                                          temperature_objective_worker *worker,
                                          const temperature_objective_row *row) {
  const pc_temperature_kernels *kernels = run->kernels;
  if (run->objective->is_log && row->floats == NULL && isinf(row->doubles[row->label])) {
    worker->impossible++;
    return;
  }
  temperature_objective_weigh(worker, worker->trials[0].block.count, row->weight);
  for (size_t t = 0; t < run->trial_count; t++) {
    const pc_temperature_trial *trial = &run->trials[t];
    pc_temperature_block *block = &worker->trials[t].block;
    if (row->floats != NULL)
      kernels->add_f32(trial->score, row->floats, run->classes, row->top, row->label,
                       trial->beta, block);
    else
      kernels->add_f64(trial->score, row->doubles, run->classes, row->top, row->label,
                       trial->beta, block);
  }
  if (worker->trials[0].block.count == PC_TEMPERATURE_ROWS)
    temperature_objective_flush(run, worker);
}

/* Reads row i; returns 0 if it is not finite. */
static int temperature_objective_read(const temperature_objective_run *run, const pc_rows *rows,
                                      size_t i, temperature_objective_row *out) {
  int finite = 1;
  *out = (temperature_objective_row){.floats = pc_rows_floats(rows, i),
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

static pcal_status temperature_objective_add(void *user, size_t w, const pc_rows *rows,
                                             pcal_error *err) {
  const temperature_objective_run *run = user;
  temperature_objective_worker *worker = &run->workers[w];
  (void)err;
  for (size_t i = 0; i < rows->count && !worker->not_finite; i++) {
    temperature_objective_row row;
    worker->not_finite = !temperature_objective_read(run, rows, i, &row);
    if (!worker->not_finite)
      temperature_objective_add_row(run, worker, &row);
  }
  return PCAL_OK;
}

/* ---- Workers ---- */

static pcal_status temperature_objective_run_new(temperature_objective_run *run,
                                                 pc_temperature_objective *objective,
                                                 const pc_temperature_trial *trials,
                                                 size_t count, pcal_error *err) {
  const pcal_env *env = objective->task->env;
  *run = (temperature_objective_run){.objective = objective,
                                     .kernels = pc_kernels_best()->temperature,
                                     .row_kernels = pc_kernels_best()->row,
                                     .classes = objective->task->calibrator->layout.classes,
                                     .trials = trials,
                                     .trial_count = count,
                                     .worker_count = pc_worker_count(env)};
  run->workers = pc_alloc(env, run->worker_count, sizeof *run->workers);
  run->sums = pc_alloc(env, run->worker_count * count, sizeof *run->sums);
  if (run->workers == NULL || run->sums == NULL)
    return pc_fail_memory(err, "preparing workers");
  for (size_t w = 0; w < run->worker_count; w++)
    run->workers[w].trials = run->sums + w * count;
  return PCAL_OK;
}

static void temperature_objective_run_free(temperature_objective_run *run) {
  pc_free(run->objective->task->env, run->workers);
  pc_free(run->objective->task->env, run->sums);
}

static void temperature_objective_merge(temperature_objective_worker *into,
                                        const temperature_objective_worker *from,
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

/* Merges all workers into the first and computes means; returns the weight. */
static double temperature_objective_collect(const temperature_objective_run *run,
                                            pc_scalar_derivatives *out) {
  temperature_objective_worker *first = &run->workers[0];
  for (size_t w = 0; w < run->worker_count; w++)
    temperature_objective_flush(run, &run->workers[w]);
  for (size_t w = 1; w < run->worker_count; w++)
    temperature_objective_merge(first, &run->workers[w], run->trial_count);
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

static pcal_status temperature_objective_list(void *user, size_t w, pc_fit_fields *fields,
                                              pcal_error *err) {
  const temperature_objective_run *run = user;
  temperature_objective_worker *worker = &run->workers[w];
  uint64_t counts[3] = {worker->rows, worker->impossible, worker->misses};
  if (!fields->taking)
    temperature_objective_flush(run, worker);
  counts[2] = worker->misses;
  PC_TRY(pc_fit_field_counts(fields, counts, 3, err));
  PC_TRY(pc_fit_field_sums(fields, &worker->weight, 1, err));
  for (size_t t = 0; t < run->trial_count; t++) {
    PC_TRY(pc_fit_field_sums(fields, &worker->trials[t].loss, 1, err));
    PC_TRY(pc_fit_field_sums(fields, &worker->trials[t].one, 1, err));
    PC_TRY(pc_fit_field_sums(fields, worker->trials[t].slope, PC_SCALAR_DERIVATIVES, err));
  }
  if (fields->taking) {
    worker->rows = counts[0];
    worker->impossible = counts[1];
    worker->misses = counts[2];
  }
  return PCAL_OK;
}

static int temperature_objective_not_finite(const temperature_objective_run *run) {
  int not_finite = 0;
  for (size_t w = 0; w < run->worker_count; w++)
    not_finite |= run->workers[w].not_finite;
  return not_finite;
}

/* One pass.  Rows are checked as they are added, while they are in the cache, or before. */
static pcal_status temperature_objective_pass(pc_temperature_objective *objective,
                                              temperature_objective_run *run, int check_first,
                                              pc_scalar_derivatives *out, int *not_finite,
                                              pcal_error *err) {
  const pc_row_policy policy = {
      .scores = check_first ? PC_SCORES_IN_PLACE : PC_SCORES_UNCHECKED, .probs = PC_PROBS_LEAN};
  PC_TRY(pc_fit_pass(objective->task, &policy, temperature_objective_add,
                     temperature_objective_list, run, err));
  *not_finite = temperature_objective_not_finite(run);
  objective->weight = temperature_objective_collect(run, out);
  objective->impossible = run->workers[0].impossible;
  objective->misses = run->workers[0].misses;
  const double one = pc_sum_value(&run->workers[0].trials[0].one);
  objective->one = objective->weight > 0.0 ? one / objective->weight : one;
  return PCAL_OK;
}

static pcal_status temperature_objective_try(pc_temperature_objective *objective,
                                             const pc_temperature_trial *trials, size_t count,
                                             int check_first, pc_scalar_derivatives *out,
                                             int *not_finite, pcal_error *err) {
  temperature_objective_run run;
  PC_TRY(temperature_objective_run_new(&run, objective, trials, count, err));
  PC_TRY(temperature_objective_pass(objective, &run, check_first, out, not_finite, err));
  temperature_objective_run_free(&run);
  return PCAL_OK;
}

/* One trial of the log score, on the device. */
static pcal_status temperature_objective_there(pc_temperature_objective *objective,
                                               const pc_temperature_trial *trial,
                                               pc_scalar_derivatives *out, pcal_error *err) {
  pc_temperature_device_sums sums;
  PC_TRY(pc_temperature_device_on_all(objective->task, &objective->device, trial->beta,
                                      trial->score == PC_TEMPERATURE_LOG_AND_ONE, &sums, err));
  *out = sums.mean;
  objective->weight = (double)objective->device.batch.rows;
  objective->impossible = 0;
  objective->misses = (uint64_t)sums.missed;
  objective->one = sums.one;
  return PCAL_OK;
}

pcal_status pc_temperature_objective_on_all(pc_temperature_objective *objective,
                                            const pc_temperature_trial *trials, size_t count,
                                            pc_scalar_derivatives *out, pcal_error *err) {
  int not_finite = 0;
  objective->passes++;
  if (objective->device.used)
    return temperature_objective_there(objective, trials, out, err);
  if (objective->task->replay != NULL) /* the passes must not depend on the rows of a worker */
    return temperature_objective_try(objective, trials, count, 1, out, &not_finite, err);
  const pcal_status status =
      temperature_objective_try(objective, trials, count, 0, out, &not_finite, err);
  if (status != PCAL_DATA && !not_finite)
    return status;
  return temperature_objective_try(objective, trials, count, 1, out, &not_finite, err);
}

/* ---- The sample ---- */

static size_t temperature_objective_sample_limit(size_t classes) {
  const size_t rows = TEMPERATURE_SAMPLE_CELLS / classes;
  return rows > TEMPERATURE_SAMPLE       ? TEMPERATURE_SAMPLE
         : rows < TEMPERATURE_SAMPLE_MIN ? TEMPERATURE_SAMPLE_MIN
                                         : rows;
}

static pcal_status temperature_objective_sample_add(void *user, size_t w, const pc_rows *rows,
                                                    pcal_error *err) {
  pc_temperature_objective *objective = user;
  (void)w;
  return pc_row_sample_add(&objective->sample, rows, err);
}

static pcal_status temperature_objective_sample_list(void *user, size_t w,
                                                     pc_fit_fields *fields, pcal_error *err) {
  pc_temperature_objective *objective = user;
  return w == 0 ? pc_row_sample_list(&objective->sample, fields, err) : PCAL_OK;
}

static pcal_status temperature_objective_sample_from(pc_temperature_objective *objective,
                                                     uint64_t rows, pcal_error *err) {
  const int in_rounds = objective->task->replay != NULL;
  const pc_row_policy policy = {.scores = in_rounds ? PC_SCORES_FILLED : PC_SCORES_UNCHECKED,
                                .probs = PC_PROBS_LEAN};
  const size_t classes = objective->task->calibrator->layout.classes;
  PC_TRY(pc_row_sample_init(&objective->sample, objective->task->env, classes,
                            temperature_objective_sample_limit(classes), rows, err));
  return pc_fit_pass(objective->task, &policy, temperature_objective_sample_add,
                     temperature_objective_sample_list, objective, err);
}

/* A bad row leaves the sample empty. */
static pcal_status temperature_objective_draw(pc_temperature_objective *objective,
                                              pcal_error *err) {
  pcal_shape shape = {.size = sizeof shape};
  pc_source_shape(objective->task->source, &shape);
  const int in_rounds = objective->task->replay != NULL;
  const uint64_t rows = in_rounds || shape.row_count == PCAL_NO_ROW ? 0 : shape.row_count;
  pcal_status status = temperature_objective_sample_from(objective, rows, err);
  if (status == PCAL_OK && pc_row_sample_is_sparse(&objective->sample)) {
    pc_row_sample_free(&objective->sample);
    status = temperature_objective_sample_from(objective, 0, err);
  }
  if (status != PCAL_DATA || in_rounds)
    return status;
  pc_row_sample_free(&objective->sample);
  return PCAL_OK;
}

pcal_status pc_temperature_objective_draw_sample(pc_temperature_objective *objective,
                                                 pcal_error *err) {
  const size_t classes = objective->task->calibrator->layout.classes;
  objective->passes++;
  if (objective->device.used) {
    PC_TRY(pc_temperature_device_draw(objective->task, &objective->device,
                                      temperature_objective_sample_limit(classes), err));
    objective->sample_count = objective->device.sample_count;
    objective->sample_weight = (double)objective->sample_count;
    return PCAL_OK;
  }
  PC_TRY(temperature_objective_draw(objective, err));
  objective->sample_count = objective->sample.count;
  objective->sample_weight = objective->sample.heavy;
  return PCAL_OK;
}

void pc_temperature_objective_free(pc_temperature_objective *objective) {
  pc_temperature_device_close(&objective->device);
  pc_row_sample_free(&objective->sample);
}

static pcal_status temperature_objective_sample_task(void *user, size_t index, size_t w,
                                                     pcal_error *err) {
  const temperature_objective_run *run = user;
  const pc_row_sample *sample = &run->objective->sample;
  const size_t end = (index + 1) * TEMPERATURE_STEP;
  (void)err;
  for (size_t i = index * TEMPERATURE_STEP; i < end && i < sample->count; i++) {
    if (!pc_row_sample_in_subset(sample, i, run->objective->subset_bits))
      continue;
    temperature_objective_row row = {.top = (size_t)sample->rows[i].top_label,
                                     .label = (size_t)sample->rows[i].label,
                                     .weight = sample->rows[i].weight};
    if (sample->floats)
      row.floats = pc_row_sample_floats(sample, i);
    else
      row.doubles = pc_row_sample_doubles(sample, i);
    temperature_objective_add_row(run, &run->workers[w], &row);
  }
  return PCAL_OK;
}

pcal_status pc_temperature_objective_on_sample(pc_temperature_objective *objective,
                                               const pc_temperature_trial *trial,
                                               pc_scalar_derivatives *out, pcal_error *err) {
  const size_t rows = objective->sample.count;
  temperature_objective_run run;
  if (objective->device.used) {
    pc_temperature_device_sums sums;
    PC_TRY(pc_temperature_device_on_sample(objective->task, &objective->device, trial->beta,
                                           objective->subset_bits, &sums, err));
    *out = sums.mean;
    return PCAL_OK;
  }
  PC_TRY(temperature_objective_run_new(&run, objective, trial, 1, err));
  const double cost = TEMPERATURE_SCORE_COST * (double)rows * (double)run.classes;
  PC_TRY(pc_run(objective->task->env, (rows - 1) / TEMPERATURE_STEP + 1, cost,
                temperature_objective_sample_task, &run, err));
  temperature_objective_collect(&run, out);
  temperature_objective_run_free(&run);
  return PCAL_OK;
}
