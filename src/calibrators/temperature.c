/* temperature: one number divides all scores.
 *
 * Formula:  q = softmax(z / T),  T > 0 minimises the mean of -log q_y (objective=log) or of
 *           sum_k (q_k - 1[k = y])^2 (objective=brier).
 * Search:   beta = 1/T in [1e-4, 1e4].  The first pass evaluates beta = 1 and keeps a sample of
 *           at most about a thousand rows (row_sample.h); the minimum on the sample is the
 *           start on all rows.  The log objective is convex in beta and has four derivatives:
 *           two or three passes more.  The Brier objective is not convex: it is first looked at
 *           on a grid of powers of two on the sample, and the search is run from the best local
 *           minima.  The last pass at the result is the certificate: gradient is the size of
 *           the derivative of the mean objective by log T there.
 * Edge cases: (1) probabilities enter as their logarithms, which gives the same T; a class of
 * probability 0 stays at 0; (2) log: rows whose label has probability 0 are infinitely bad
 * under every T and are left out, with a warning; without any other row the objective is
 * infinite; (3) every label has the largest score of its
 * row: the best T is 0, so T stops at 1e-4; (4) no T is better than 1, also when all scores of
 * a row are equal: T is 1 and the status identity; (5) scores that say nothing about the
 * labels, or the opposite: T stops at 1e4; (6) all sums are exact, so that neither order,
 * threads nor batches show in T, and a row of weight w is w rows.
 * Source: Guo et al. 2017.
 * Accuracy: T to about 1e-11.   Cost: 4 passes, one exp for each score in each. */
#include <math.h>
#include <string.h>

#include "calibrators/row_sample.h"
#include "calibrators/scalar_search.h"
#include "calibrators/sweep.h"
#include "core/executor.h"
#include "core/number.h"
#include "core/sum.h"
#include "kernels/tempered.h"

#define TEMPERATURE_LOW 1e-4 /* of T and of beta */
#define TEMPERATURE_HIGH 1e4
#define TEMPERATURE_SAMPLE 1024 /* rows, fewer when they are long */
#define TEMPERATURE_SAMPLE_MIN 32
#define TEMPERATURE_SAMPLE_CELLS ((size_t)1 << 20)
#define TEMPERATURE_GRID 27 /* beta = 2^-13 .. 2^13 */
#define TEMPERATURE_STARTS 3

static const pcal_option temperature_options[] = {
    {"objective", PCAL_OPTION_CHOICE, "log", 0, 0, "log|brier",
     "the mean score that T minimises"},
};

typedef struct temperature_parameters {
  double temperature;
} temperature_parameters;

/* Exact sums of one trial value of beta. */
typedef struct temperature_sums {
  pc_sum loss, slope[PC_SLOPES];
} temperature_sums;

/* One thread's share of an evaluation. */
typedef struct temperature_worker {
  temperature_sums *trials;
  pc_sum weight;       /* of the rows in the objective */
  uint64_t impossible; /* rows left out of it */
  uint64_t misses;     /* rows in it whose label has not the largest score */
  pc_row_sample sample;
} temperature_worker;

typedef struct temperature_state {
  const pc_fit_task *task;
  pc_tempered_objective objective;
  const pc_tempered_kernels *kernels;
  size_t classes;
  const double *betas; /* the trials of the evaluation under way */
  size_t beta_count;
  int sampling;
  temperature_worker *workers;
  pc_row_sample sample;
  uint64_t impossible, misses;
  double weight;
} temperature_state;

/* ---- Sums over rows ---- */

static void temperature_add_term(pc_sum *sum, const double *weight, double value) {
  if (weight == NULL)
    pc_sum_add(sum, value);
  else
    pc_sum_add_product(sum, *weight, value);
}

static void temperature_add_row(const temperature_state *state, temperature_worker *worker,
                                const double *scores, size_t label, const double *weight) {
  const int is_log = state->objective == PC_TEMPERED_LOG;
  if (is_log && isinf(scores[label])) {
    worker->impossible++;
    return;
  }
  pc_sum_add(&worker->weight, weight == NULL ? 1.0 : *weight);
  for (size_t b = 0; b < state->beta_count; b++) {
    pc_tempered row;
    temperature_sums *sums = &worker->trials[b];
    state->kernels->row(state->objective, scores, state->classes, label, state->betas[b], &row);
    worker->misses += b == 0 && row.gap < 0.0;
    temperature_add_term(&sums->loss, weight, row.loss);
    for (size_t k = 0; k < (is_log ? 4 : 2); k++)
      temperature_add_term(&sums->slope[k], weight, row.slope[k]);
  }
}

static pcal_status temperature_add(void *user, size_t w, const pc_rows *rows, pcal_error *err) {
  const temperature_state *state = user;
  temperature_worker *worker = &state->workers[w];
  for (size_t i = 0; i < rows->count; i++)
    temperature_add_row(state, worker, rows->scores + i * rows->classes,
                        (size_t)rows->labels[i],
                        rows->weights == NULL ? NULL : &rows->weights[i]);
  return state->sampling ? pc_row_sample_add(&worker->sample, rows, err) : PCAL_OK;
}

static size_t temperature_sample_limit(size_t classes) {
  const size_t rows = TEMPERATURE_SAMPLE_CELLS / classes;
  return rows > TEMPERATURE_SAMPLE       ? TEMPERATURE_SAMPLE
         : rows < TEMPERATURE_SAMPLE_MIN ? TEMPERATURE_SAMPLE_MIN
                                         : rows;
}

static void temperature_workers_free(temperature_state *state, size_t count) {
  const pcal_env *env = state->task->env;
  for (size_t w = 0; state->workers != NULL && w < count; w++) {
    pc_free(env, state->workers[w].trials);
    pc_row_sample_free(&state->workers[w].sample);
  }
  pc_free(env, state->workers);
  state->workers = NULL;
}

static pcal_status temperature_workers_new(temperature_state *state, size_t count,
                                           pcal_error *err) {
  const pcal_env *env = state->task->env;
  state->workers = pc_alloc(env, count, sizeof *state->workers);
  int enough = state->workers != NULL;
  for (size_t w = 0; w < count && enough; w++) {
    temperature_worker *worker = &state->workers[w];
    worker->trials = pc_alloc(env, state->beta_count, sizeof *worker->trials);
    pc_row_sample_init(&worker->sample, env, state->classes,
                       temperature_sample_limit(state->classes));
    enough = worker->trials != NULL;
  }
  return enough ? PCAL_OK : pc_fail_memory(err, "preparing workers");
}

/* Means over the rows of all workers. */
static void temperature_collect(temperature_state *state, size_t count, pc_slopes *out) {
  temperature_worker *first = &state->workers[0];
  for (size_t w = 1; w < count; w++) {
    const temperature_worker *other = &state->workers[w];
    pc_sum_merge(&first->weight, &other->weight);
    first->impossible += other->impossible;
    first->misses += other->misses;
    for (size_t b = 0; b < state->beta_count; b++) {
      pc_sum_merge(&first->trials[b].loss, &other->trials[b].loss);
      for (size_t k = 0; k < PC_SLOPES; k++)
        pc_sum_merge(&first->trials[b].slope[k], &other->trials[b].slope[k]);
    }
  }
  state->weight = pc_sum_value(&first->weight);
  state->impossible = first->impossible;
  state->misses = first->misses;
  const double total = state->weight > 0.0 ? state->weight : 1.0;
  for (size_t b = 0; b < state->beta_count; b++) {
    out[b].value = pc_sum_value(&first->trials[b].loss) / total;
    for (size_t k = 0; k < PC_SLOPES; k++)
      out[b].slope[k] = pc_sum_value(&first->trials[b].slope[k]) / total;
  }
}

static pcal_status temperature_collect_sample(temperature_state *state, size_t count,
                                              pcal_error *err) {
  pc_row_sample_init(&state->sample, state->task->env, state->classes,
                     temperature_sample_limit(state->classes));
  for (size_t w = 0; w < count; w++)
    PC_TRY(pc_row_sample_merge(&state->sample, &state->workers[w].sample, err));
  return PCAL_OK;
}

/* One pass over all rows for several values of beta; keeps a sample on the way if asked. */
static pcal_status temperature_sweep(temperature_state *state, const double *betas,
                                     size_t beta_count, int sampling, pc_slopes *out,
                                     pcal_error *err) {
  const size_t count = pc_worker_count(state->task->env);
  const pc_policy policy = {.need_scores = 1, .scores_only = 1, .lean = 1};
  state->betas = betas;
  state->beta_count = beta_count;
  state->sampling = sampling;
  pcal_status status = temperature_workers_new(state, count, err);
  if (status == PCAL_OK)
    status = pc_sweep(state->task, &policy, temperature_add, state, err);
  if (status == PCAL_OK)
    temperature_collect(state, count, out);
  if (status == PCAL_OK && sampling)
    status = temperature_collect_sample(state, count, err);
  temperature_workers_free(state, count);
  return status;
}

static pcal_status temperature_on_all(void *user, double beta, pc_slopes *out,
                                      pcal_error *err) {
  return temperature_sweep(user, &beta, 1, 0, out, err);
}

/* The same on the sample; what was counted over all rows stays. */
static pcal_status temperature_on_sample(void *user, double beta, pc_slopes *out,
                                         pcal_error *err) {
  temperature_state *whole = user;
  const pc_row_sample *sample = &whole->sample;
  temperature_state state = *whole;
  state.betas = &beta;
  state.beta_count = 1;
  const pcal_status status = temperature_workers_new(&state, 1, err);
  for (size_t i = 0; status == PCAL_OK && i < sample->count; i++)
    temperature_add_row(&state, &state.workers[0], sample->scores + i * sample->classes,
                        (size_t)sample->labels[i], &sample->weights[i]);
  if (status == PCAL_OK)
    temperature_collect(&state, 1, out);
  temperature_workers_free(&state, 1);
  return status;
}

/* ---- Starts ---- */

static pc_scalar_problem temperature_problem(temperature_state *state, int on_sample) {
  return (pc_scalar_problem){on_sample ? temperature_on_sample : temperature_on_all,
                             state,
                             TEMPERATURE_LOW,
                             TEMPERATURE_HIGH,
                             state->objective == PC_TEMPERED_LOG ? 4 : 2,
                             on_sample ? 100 : 60};
}

/* The minimum on the sample; never at an end of the range, where nothing can be seen. */
static pcal_status temperature_start_log(temperature_state *state, double *start,
                                         pcal_error *err) {
  pc_search_result found;
  const pc_scalar_problem problem = temperature_problem(state, 1);
  *start = 1.0;
  if (state->sample.count == 0)
    return PCAL_OK;
  PC_TRY(pc_scalar_search(&problem, 1.0, &found, err));
  *start = fmin(fmax(found.at, 1.0 / 64.0), 64.0);
  return PCAL_OK;
}

/* Values of the objective on the grid: on the sample, or on all rows if that is empty. */
static pcal_status temperature_grid(temperature_state *state, double betas[TEMPERATURE_GRID],
                                    pc_slopes grid[TEMPERATURE_GRID], pcal_error *err) {
  for (int i = 0; i < TEMPERATURE_GRID; i++)
    betas[i] = ldexp(1.0, i - TEMPERATURE_GRID / 2);
  if (state->sample.count == 0)
    return temperature_sweep(state, betas, TEMPERATURE_GRID, 0, grid, err);
  for (size_t i = 0; i < TEMPERATURE_GRID; i++)
    PC_TRY(temperature_on_sample(state, betas[i], &grid[i], err));
  return PCAL_OK;
}

/* The grid's local minimum with the lowest value above what was taken before; -1: none. */
static int temperature_next_minimum(const pc_slopes grid[TEMPERATURE_GRID],
                                    const int taken[TEMPERATURE_GRID]) {
  int best = -1;
  for (int i = 0; i < TEMPERATURE_GRID; i++) {
    const int low_left = i == 0 || grid[i].value <= grid[i - 1].value;
    const int low_right = i + 1 == TEMPERATURE_GRID || grid[i].value < grid[i + 1].value;
    if (low_left && low_right && !taken[i] && (best < 0 || grid[i].value < grid[best].value))
      best = i;
  }
  return best;
}

static pcal_status temperature_starts_brier(temperature_state *state, double *starts,
                                            size_t *count, pcal_error *err) {
  double betas[TEMPERATURE_GRID];
  pc_slopes grid[TEMPERATURE_GRID];
  int taken[TEMPERATURE_GRID] = {0};
  PC_TRY(temperature_grid(state, betas, grid, err));
  for (*count = 0; *count < TEMPERATURE_STARTS;) {
    const int at = temperature_next_minimum(grid, taken);
    if (at < 0)
      break;
    pc_search_result found = {.at = betas[at]};
    pc_scalar_problem problem = temperature_problem(state, 1);
    problem.low = fmax(betas[at] / 2.0, TEMPERATURE_LOW);
    problem.high = fmin(betas[at] * 2.0, TEMPERATURE_HIGH);
    if (state->sample.count > 0)
      PC_TRY(pc_scalar_search(&problem, betas[at], &found, err));
    starts[(*count)++] = found.at;
    taken[at] = 1;
  }
  if (*count == 0)
    starts[(*count)++] = 1.0;
  return PCAL_OK;
}

/* ---- Fit ---- */

static void temperature_set(const temperature_state *state, pc_fit_status status, double beta,
                            double after, double gradient) {
  pcal_calibrator *calibrator = state->task->calibrator;
  temperature_parameters *parameters = calibrator->parameters;
  parameters->temperature = fmin(fmax(1.0 / beta, TEMPERATURE_LOW), TEMPERATURE_HIGH);
  calibrator->fit.status = status;
  calibrator->fit.after = after;
  calibrator->fit.gradient = gradient;
}

static void temperature_set_identity(const temperature_state *state, const pc_slopes *at_one) {
  temperature_set(state, PC_FIT_IDENTITY, 1.0, at_one->value, fabs(at_one->slope[0]));
}

static void temperature_set_found(const temperature_state *state,
                                  const pc_search_result *found) {
  pc_fit_info *fit = &state->task->calibrator->fit;
  char bound[PC_NUMBER_MAX];
  const int flat = found->end == PC_SEARCH_FLAT;
  temperature_set(state, flat ? PC_FIT_CONVERGED : PC_FIT_STOPPED, found->at,
                  found->slopes.value, found->gradient);
  if (found->end == PC_SEARCH_BOUND)
    pc_fit_warn(fit, "T stopped at its bound %s: %s", pc_show(1.0 / found->at, bound),
                found->at < 1.0 ? "the scores hardly tell which label is right"
                                : "the scores are far too close to each other");
  else if (!flat)
    pc_fit_warn(fit, "the search ended before the gradient vanished");
}

/* Every label has the largest score of its row. */
static pcal_status temperature_separable(temperature_state *state, const pc_slopes *at_one,
                                         pcal_error *err) {
  pc_slopes at_bound;
  pc_fit_info *fit = &state->task->calibrator->fit;
  if (at_one->slope[0] == 0.0) {
    pc_fit_warn(fit, "no temperature changes the objective, so T stays 1");
    temperature_set_identity(state, at_one);
    return PCAL_OK;
  }
  PC_TRY(temperature_on_all(state, TEMPERATURE_HIGH, &at_bound, err));
  fit->iterations++;
  temperature_set(state, PC_FIT_STOPPED, TEMPERATURE_HIGH, at_bound.value,
                  fabs(TEMPERATURE_HIGH * at_bound.slope[0]));
  pc_fit_warn(fit, "every row is classified correctly, so that no T above 0 is best; T stopped "
                   "at its bound 0.0001: fit on other rows than the model was trained on");
  return PCAL_OK;
}

static pcal_status temperature_search(temperature_state *state, const pc_slopes *at_one,
                                      pcal_error *err) {
  double starts[TEMPERATURE_STARTS];
  size_t count = 1;
  pc_search_result best = {.slopes = {.value = INFINITY}};
  pc_fit_info *fit = &state->task->calibrator->fit;
  const pc_scalar_problem problem = temperature_problem(state, 0);
  if (state->objective == PC_TEMPERED_LOG)
    PC_TRY(temperature_start_log(state, starts, err));
  else
    PC_TRY(temperature_starts_brier(state, starts, &count, err));
  for (size_t i = 0; i < count; i++) {
    pc_search_result found;
    PC_TRY(pc_scalar_search(&problem, starts[i], &found, err));
    fit->iterations += found.evaluations;
    if (i == 0 || found.slopes.value < best.slopes.value)
      best = found;
  }
  if (best.slopes.value < at_one->value)
    temperature_set_found(state, &best);
  else
    temperature_set_identity(state, at_one);
  return PCAL_OK;
}

static pcal_status temperature_run(temperature_state *state, pcal_error *err) {
  const double one = 1.0;
  pc_slopes at_one;
  pc_fit_info *fit = &state->task->calibrator->fit;
  PC_TRY(temperature_sweep(state, &one, 1, 1, &at_one, err));
  fit->iterations = 1;
  fit->searched = 1;
  fit->before = at_one.value;
  if (state->impossible > 0)
    pc_fit_warn(fit,
                "%llu rows whose label has probability 0 cannot be repaired by any T and were "
                "left out of the objective",
                (unsigned long long)state->impossible);
  if (state->weight == 0.0) {
    at_one.value = fit->before = INFINITY;
    temperature_set_identity(state, &at_one);
    return PCAL_OK;
  }
  return state->misses == 0 ? temperature_separable(state, &at_one, err)
                            : temperature_search(state, &at_one, err);
}

static pcal_status temperature_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  temperature_state state = {.task = task,
                             .kernels = pc_tempered_kernels_best(),
                             .classes = calibrator->layout.classes};
  state.objective =
      calibrator->options.value[0].choice == 0 ? PC_TEMPERED_LOG : PC_TEMPERED_BRIER;
  calibrator->parameters = pc_alloc(&calibrator->env, 1, sizeof(temperature_parameters));
  if (calibrator->parameters == NULL)
    return pc_fail_memory(err, "making a calibrator");
  const pcal_status status = temperature_run(&state, err);
  pc_row_sample_free(&state.sample);
  return status;
}

/* ---- Applying, files ---- */

static void temperature_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                              double *out) {
  const temperature_parameters *parameters = calibrator->parameters;
  const size_t k = calibrator->layout.classes;
  const double beta = 1.0 / parameters->temperature;
  const pc_tempered_kernels *kernels = pc_tempered_kernels_best();
  for (size_t i = 0; i < count; i++)
    kernels->softmax(in + i * k, k, beta, out + i * k);
}

static void temperature_write(const pcal_calibrator *calibrator, pc_json *json) {
  const temperature_parameters *parameters = calibrator->parameters;
  pc_json_key(json, "T");
  pc_json_number(json, parameters->temperature);
}

static pcal_status temperature_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                    const char *file, pcal_error *err) {
  const pc_json_node *value = pc_json_find(parameters, "T");
  if (value == NULL || parameters->list.count != 1)
    return pc_fail(err, PCAL_DATA,
                   "%s, line %lu: the parameters of temperature are \"T\" alone", file,
                   (unsigned long)parameters->line);
  if (value->kind != PC_JSON_NUMBER || !(value->number >= TEMPERATURE_LOW) ||
      !(value->number <= TEMPERATURE_HIGH))
    return pc_fail(err, PCAL_DATA, "%s, line %lu: T must be a number between 0.0001 and 10000",
                   file, (unsigned long)value->line);
  temperature_parameters *read = pc_alloc(&calibrator->env, 1, sizeof *read);
  calibrator->parameters = read;
  if (read == NULL)
    return pc_fail_memory(err, "reading a calibrator");
  read->temperature = value->number;
  return PCAL_OK;
}

static void temperature_tell(const pcal_calibrator *calibrator, pc_text *out) {
  const temperature_parameters *parameters = calibrator->parameters;
  char digits[PC_NUMBER_MAX];
  pc_number_round(parameters->temperature, 6, digits);
  pc_text_format(out, "T = %s", digits);
  if (parameters->temperature != 1.0)
    pc_text_add(out, parameters->temperature > 1.0
                         ? ": too sure before, probabilities move towards even\n"
                         : ": not sure enough before, probabilities move apart\n");
  else
    pc_text_add(out, ": probabilities stay as they are\n");
}

static void temperature_release(pcal_calibrator *calibrator) {
  pc_free(&calibrator->env, calibrator->parameters);
  calibrator->parameters = NULL;
}

const pc_calibrator_row pc_calibrator_temperature = {
    .row =
        {
            .kind = "calibrators",
            .name = "temperature",
            .title = "temperature scaling",
            .formula = "q = softmax(z / T)\n"
                       "objective=log:   T minimises the mean of -log q_y\n"
                       "objective=brier: T minimises the mean of sum_k (q_k - 1[k = y])^2",
            .about =
                "One number for all classes: above 1 it makes an over-confident model less "
                "sure, below 1 an under-confident one surer. It never changes which class "
                "is on top, needs few rows and can hardly overfit: try it first. "
                "Probabilities enter as their logarithms. Fit on rows that the model was "
                "not trained on.",
            .citation = "Guo, Pleiss, Sun & Weinberger, ICML 2017",
            .options = temperature_options,
            .option_count = sizeof temperature_options / sizeof *temperature_options,
        },
    .traits = PC_INJECTIVE | PC_KEEPS_ACCURACY | PC_KEEPS_ORDER | PC_SUMS_TO_ONE | PC_GUARDED,
    .needs_scores = 1,
    .fit = temperature_fit,
    .apply = temperature_apply,
    .write = temperature_write,
    .read = temperature_read,
    .tell = temperature_tell,
    .release = temperature_release,
};
