/* temperature: divides all scores by one number.
 *
 * Formula:  q = softmax(z / T),  T > 0 minimises the mean of -log q_y (objective=log) or of
 *           sum_k (q_k - 1[k = y])^2 (objective=brier); objective=ece: see temperature_ece.c.
 * Search:   beta = 1/T in [1e-4, 1e4].  A light pass keeps a sample of about a thousand rows
 *           (row_sample.h); the minimum on it is the start.  One pass over all rows evaluates
 *           beta = 1 and the start.  The log objective is convex in beta and has six
 *           derivatives there, which usually locate the minimum; otherwise more passes follow
 *           (optim/scalar_search.c).  The Brier objective is not convex: it is evaluated on the
 *           sample at powers of two, and the search starts from the best local minima.
 *           `gradient` is the derivative of the mean objective by log T at the result, as an
 *           absolute value, or an upper bound on it.
 * Edge cases:
 *   1. Probabilities enter as their logarithms, which gives the same T; a class of probability
 *      0 stays at 0.
 *   2. log: rows whose label has probability 0 are infinitely bad for every T and are left out,
 *      with a warning; if no row remains, the objective is infinite.
 *   3. Every label has the largest score of its row: the best T would be 0, so T stops at 1e-4.
 *   4. No T beats 1, as when the scores of each row are all equal: T is 1, status identity.
 *   5. Scores that carry no information about the labels, or point to the wrong classes: T
 *      stops at 1e4.
 *   6. Logits on a GPU, objective=log, no weights: the passes run there
 *      (temperature_on_device.h), with the same bits.
 *   7. All sums are exact: order, threads and batches do not change T, and a row of weight w
 *      equals w rows.
 * Source:   Guo et al. 2017.
 * Accuracy: T to 3e-9, mostly to 1e-11; the objective to 1e-13.
 * Cost:     mostly two exp for each score. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "calibrators/recipe.h"
#include "calibrators/temperature/temperature_ece.h"
#include "calibrators/temperature/temperature_objective.h"
#include "kernels/dispatch.h"

#define TEMPERATURE_LOW 1e-4 /* bounds of T and of beta */
#define TEMPERATURE_HIGH 1e4
#define TEMPERATURE_GRID 27 /* beta = 2^-13 .. 2^13 */
#define TEMPERATURE_STARTS 3
#define TEMPERATURE_MANY 256      /* sample weight from which a subset is searched first */
#define TEMPERATURE_SUBSET_BITS 3 /* that subset is 2^-3 of the sample */

static const pcal_option temperature_options[] = {
    {"objective", PCAL_OPTION_CHOICE, "log", 0, 0, "log|brier|ece",
     "the mean score, or the calibration error, that T minimises"},
};

typedef struct temperature_parameters {
  double temperature;
} temperature_parameters;

/* ---- Starts ---- */

static pc_temperature_score temperature_score_kind(const pc_temperature_objective *objective) {
  return objective->is_log ? PC_TEMPERATURE_LOG : PC_TEMPERATURE_BRIER;
}

static pcal_status temperature_on_all(void *user, double beta, pc_scalar_derivatives *out,
                                      pcal_error *err) {
  const pc_temperature_trial trial = {temperature_score_kind(user), beta};
  return pc_temperature_objective_on_all(user, &trial, 1, out, err);
}

static pcal_status temperature_on_sample(void *user, double beta, pc_scalar_derivatives *out,
                                         pcal_error *err) {
  const pc_temperature_trial trial = {temperature_score_kind(user), beta};
  return pc_temperature_objective_on_sample(user, &trial, out, err);
}

static pc_scalar_problem temperature_problem(pc_temperature_objective *objective,
                                             int on_sample) {
  return (pc_scalar_problem){on_sample ? temperature_on_sample : temperature_on_all,
                             objective,
                             TEMPERATURE_LOW,
                             TEMPERATURE_HIGH,
                             objective->is_log ? PC_SCALAR_DERIVATIVES : 2,
                             on_sample ? 100 : 60,
                             on_sample};
}

/* Sets *start to the minimum on the sample, or on 2^-subset_bits of it.  A minimum of few rows
 * at the ends of the range is ignored. */
static pcal_status temperature_start_on(pc_temperature_objective *objective,
                                        unsigned subset_bits, double *start, pcal_error *err) {
  pc_scalar_result found;
  const pc_scalar_problem problem = temperature_problem(objective, 1);
  objective->subset_bits = subset_bits;
  PC_TRY(pc_scalar_search(&problem, *start, NULL, &found, err));
  objective->subset_bits = 0;
  if (subset_bits == 0 || found.end == PC_SEARCH_FLAT)
    *start = fmin(fmax(found.at, 1.0 / 64.0), 64.0);
  return PCAL_OK;
}

static pcal_status temperature_start_log(pc_temperature_objective *objective, double *start,
                                         pcal_error *err) {
  *start = 1.0;
  if (objective->sample_weight >= TEMPERATURE_MANY)
    PC_TRY(temperature_start_on(objective, TEMPERATURE_SUBSET_BITS, start, err));
  return objective->sample_count == 0 ? PCAL_OK
                                      : temperature_start_on(objective, 0, start, err);
}

/* Evaluates the objective on the grid: on the sample, or on all rows if it is empty. */
static pcal_status temperature_grid(pc_temperature_objective *objective,
                                    pc_temperature_trial trials[TEMPERATURE_GRID],
                                    pc_scalar_derivatives grid[TEMPERATURE_GRID],
                                    pcal_error *err) {
  for (int i = 0; i < TEMPERATURE_GRID; i++)
    trials[i] =
        (pc_temperature_trial){PC_TEMPERATURE_BRIER, ldexp(1.0, i - TEMPERATURE_GRID / 2)};
  if (objective->sample_count == 0)
    return pc_temperature_objective_on_all(objective, trials, TEMPERATURE_GRID, grid, err);
  for (size_t i = 0; i < TEMPERATURE_GRID; i++)
    PC_TRY(pc_temperature_objective_on_sample(objective, &trials[i], &grid[i], err));
  return PCAL_OK;
}

/* The best local minimum of the grid that was not taken yet, or -1. */
static int temperature_next_minimum(const pc_scalar_derivatives grid[TEMPERATURE_GRID],
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

static pcal_status temperature_starts_brier(pc_temperature_objective *objective, double *starts,
                                            size_t *count, pcal_error *err) {
  pc_temperature_trial trials[TEMPERATURE_GRID];
  pc_scalar_derivatives grid[TEMPERATURE_GRID];
  int taken[TEMPERATURE_GRID] = {0};
  PC_TRY(temperature_grid(objective, trials, grid, err));
  for (*count = 0; *count < TEMPERATURE_STARTS;) {
    const int at = temperature_next_minimum(grid, taken);
    if (at < 0)
      break;
    const double beta = trials[at].beta;
    pc_scalar_result found = {.at = beta};
    pc_scalar_problem problem = temperature_problem(objective, 1);
    problem.low = fmax(beta / 2.0, TEMPERATURE_LOW);
    problem.high = fmin(beta * 2.0, TEMPERATURE_HIGH);
    if (objective->sample_count > 0)
      PC_TRY(pc_scalar_search(&problem, beta, &grid[at], &found, err));
    starts[(*count)++] = found.at;
    taken[at] = 1;
  }
  if (*count == 0)
    starts[(*count)++] = 1.0;
  return PCAL_OK;
}

/* ---- Fit ---- */

/* Results of the first pass over all rows: at beta = 1 and at the starts. */
typedef struct temperature_first {
  size_t count;
  double one, starts[TEMPERATURE_STARTS];
  pc_scalar_derivatives at[TEMPERATURE_STARTS];
} temperature_first;

static pcal_status temperature_first_pass_log(pc_temperature_objective *objective,
                                              temperature_first *out, pcal_error *err) {
  out->count = 1;
  PC_TRY(temperature_start_log(objective, out->starts, err));
  const pc_temperature_trial trial = {PC_TEMPERATURE_LOG_AND_ONE, out->starts[0]};
  PC_TRY(pc_temperature_objective_on_all(objective, &trial, 1, out->at, err));
  out->one = objective->one;
  return PCAL_OK;
}

static pcal_status temperature_first_pass_brier(pc_temperature_objective *objective,
                                                temperature_first *out, pcal_error *err) {
  pc_temperature_trial trials[TEMPERATURE_STARTS + 1];
  pc_scalar_derivatives at[TEMPERATURE_STARTS + 1];
  PC_TRY(temperature_starts_brier(objective, out->starts, &out->count, err));
  for (size_t i = 0; i < out->count; i++)
    trials[i] = (pc_temperature_trial){PC_TEMPERATURE_BRIER, out->starts[i]};
  trials[out->count] = (pc_temperature_trial){PC_TEMPERATURE_BRIER, 1.0};
  PC_TRY(pc_temperature_objective_on_all(objective, trials, out->count + 1, at, err));
  memcpy(out->at, at, sizeof out->at);
  out->one = at[out->count].value;
  return PCAL_OK;
}

static pcal_status temperature_first_pass(pc_temperature_objective *objective,
                                          temperature_first *out, pcal_error *err) {
  PC_TRY(pc_temperature_objective_draw_sample(objective, err));
  return objective->is_log ? temperature_first_pass_log(objective, out, err)
                           : temperature_first_pass_brier(objective, out, err);
}

static void temperature_set(const pc_temperature_objective *objective, pc_fit_status status,
                            double beta, double after, double gradient) {
  pcal_calibrator *calibrator = objective->task->calibrator;
  temperature_parameters *parameters = calibrator->parameters;
  parameters->temperature = fmin(fmax(1.0 / beta, TEMPERATURE_LOW), TEMPERATURE_HIGH);
  calibrator->fit.status = status;
  calibrator->fit.after = after;
  calibrator->fit.gradient = gradient;
}

/* T = 1, with the gradient there. */
static pcal_status temperature_set_identity(pc_temperature_objective *objective,
                                            pcal_error *err) {
  pc_scalar_derivatives at_one;
  PC_TRY(temperature_on_all(objective, 1.0, &at_one, err));
  temperature_set(objective, PC_FIT_IDENTITY, 1.0, at_one.value, fabs(at_one.slope[0]));
  return PCAL_OK;
}

static void temperature_set_found(const pc_temperature_objective *objective,
                                  const pc_scalar_result *found) {
  pc_fit_info *fit = &objective->task->calibrator->fit;
  char bound[PC_NUMBER_MAX];
  const int flat = found->end == PC_SEARCH_FLAT;
  temperature_set(objective, flat ? PC_FIT_CONVERGED : PC_FIT_STOPPED, found->at,
                  found->slopes.value, found->gradient);
  if (found->end == PC_SEARCH_BOUND)
    pc_fit_warn(fit, "T stopped at its bound %s: %s", pc_show(1.0 / found->at, bound),
                found->at < 1.0 ? "the scores carry hardly any information about the labels"
                                : "the scores are far too close to each other");
  else if (!flat)
    pc_fit_warn(fit, "the search ended before the gradient vanished");
}

/* Every label has the largest score of its row. */
static pcal_status temperature_separable(pc_temperature_objective *objective, pcal_error *err) {
  pc_scalar_derivatives at_bound;
  pc_fit_info *fit = &objective->task->calibrator->fit;
  PC_TRY(temperature_set_identity(objective, err));
  if (fit->gradient == 0.0) {
    pc_fit_warn(fit, "no temperature changes the objective, so T stays 1");
    return PCAL_OK;
  }
  PC_TRY(temperature_on_all(objective, TEMPERATURE_HIGH, &at_bound, err));
  temperature_set(objective, PC_FIT_STOPPED, TEMPERATURE_HIGH, at_bound.value,
                  fabs(TEMPERATURE_HIGH * at_bound.slope[0]));
  pc_fit_warn(fit,
              "every row is classified correctly, so a lower T is always better; T stopped at "
              "its bound 0.0001: fit on rows that the model was not trained on");
  return PCAL_OK;
}

static pcal_status temperature_search(pc_temperature_objective *objective,
                                      const temperature_first *first, pcal_error *err) {
  pc_scalar_result best = {.slopes = {.value = INFINITY}};
  const pc_scalar_problem problem = temperature_problem(objective, 0);
  for (size_t i = 0; i < first->count; i++) {
    pc_scalar_result found;
    PC_TRY(pc_scalar_search(&problem, first->starts[i], &first->at[i], &found, err));
    if (i == 0 || found.slopes.value < best.slopes.value)
      best = found;
  }
  if (!(best.slopes.value < first->one))
    return temperature_set_identity(objective, err);
  temperature_set_found(objective, &best);
  return PCAL_OK;
}

static pcal_status temperature_run(pc_temperature_objective *objective, pcal_error *err) {
  temperature_first first;
  pc_fit_info *fit = &objective->task->calibrator->fit;
  PC_TRY(temperature_first_pass(objective, &first, err));
  fit->searched = 1;
  fit->before = first.one;
  if (objective->impossible > 0)
    pc_fit_warn(fit,
                "%llu rows whose label has probability 0 were left out of the objective: no T "
                "can improve them",
                (unsigned long long)objective->impossible);
  if (objective->weight == 0.0) {
    fit->before = INFINITY;
    temperature_set(objective, PC_FIT_IDENTITY, 1.0, INFINITY, 0.0);
    return PCAL_OK;
  }
  return objective->misses == 0 ? temperature_separable(objective, err)
                                : temperature_search(objective, &first, err);
}

static pcal_status temperature_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  pc_temperature_objective objective = {.task = task,
                                        .is_log = calibrator->options.value[0].choice == 0};
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(temperature_parameters), err));
  if (calibrator->options.value[0].choice == 2)
    return pc_temperature_fit_ece(
        task, &((temperature_parameters *)calibrator->parameters)->temperature, err);
  pcal_status status =
      objective.is_log ? pc_temperature_device_open(task, &objective.device, err) : PCAL_OK;
  if (status == PCAL_OK)
    status = temperature_run(&objective, err);
  if (objective.device.odd) { /* again on the host, which finds the row */
    pc_temperature_objective_free(&objective);
    pc_error_clear(err);
    objective = (pc_temperature_objective){.task = task, .is_log = 1};
    status = temperature_run(&objective, err);
  }
  calibrator->fit.iterations = objective.passes;
  pc_temperature_objective_free(&objective);
  return status;
}

/* ---- Applying, files ---- */

static double temperature_beta(const pcal_calibrator *calibrator) {
  const temperature_parameters *parameters = calibrator->parameters;
  return 1.0 / parameters->temperature;
}

static void temperature_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                              double *out) {
  const size_t k = calibrator->layout.classes;
  pc_kernels_best()->temperature->softmax(in, count, k, temperature_beta(calibrator), out);
}

static int temperature_apply_floats(const pcal_calibrator *calibrator, const float *in,
                                    size_t count, float *out) {
  const size_t k = calibrator->layout.classes;
  return k <= PC_TEMPERATURE_FLOATS && pc_kernels_best()->temperature->softmax_floats(
                                           in, count, k, temperature_beta(calibrator), out);
}

static const char *temperature_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  const temperature_parameters *parameters = calibrator->parameters;
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SUBTRACT_MAX});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SCALE, .a = 1.0 / parameters->temperature});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_SOFTMAX});
  return NULL;
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
    return pc_fail_line(err, PCAL_DATA, file, parameters->line,
                        "the parameters of temperature are \"T\" alone");
  if (value->kind != PC_JSON_NUMBER || !(value->number >= TEMPERATURE_LOW) ||
      !(value->number <= TEMPERATURE_HIGH))
    return pc_fail_line(err, PCAL_DATA, file, value->line,
                        "T must be a number between 0.0001 and 10000");
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(temperature_parameters), err));
  ((temperature_parameters *)calibrator->parameters)->temperature = value->number;
  return PCAL_OK;
}

static void temperature_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const temperature_parameters *parameters = calibrator->parameters;
  char digits[PC_NUMBER_MAX];
  pc_number_round(parameters->temperature, 6, digits);
  pc_text_format(out, "T = %s", digits);
  if (parameters->temperature != 1.0)
    pc_text_add(out, parameters->temperature > 1.0
                         ? ": over-confident before, probabilities become more even\n"
                         : ": under-confident before, probabilities become less even\n");
  else
    pc_text_add(out, ": probabilities are unchanged\n");
}

const pc_calibrator_method pc_calibrator_temperature = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "temperature",
            .title = "temperature scaling",
            .formula = "q = softmax(z / T)\n"
                       "objective=log:   T minimises the mean of -log q_y\n"
                       "objective=brier: T minimises the mean of sum_k (q_k - 1[k = y])^2\n"
                       "objective=ece:   T minimises the calibration error `ece`",
            .about = "One number for all classes: above 1 it makes an over-confident model "
                     "less confident, below 1 an under-confident one more confident. It never "
                     "changes the top class, needs few rows and can hardly overfit: try it "
                     "first. Probabilities enter as their logarithms. Fit on rows that the "
                     "model was not trained on.",
            .citation = "Guo, Pleiss, Sun & Weinberger, ICML 2017",
            .options = temperature_options,
            .option_count = sizeof temperature_options / sizeof *temperature_options,
        },
    .traits = PC_INJECTIVE | PC_KEEPS_ACCURACY | PC_KEEPS_ORDER | PC_SUMS_TO_ONE | PC_GUARDED,
    .needs_scores = 1,
    .in_rounds = 1,
    .fit = temperature_fit,
    .apply = temperature_apply,
    .apply_floats = temperature_apply_floats,
    .softmax_factor = temperature_beta,
    .recipe = temperature_recipe,
    .write = temperature_write,
    .read = temperature_read,
    .describe = temperature_describe,
};
