/* prior-shift: probabilities for another prevalence of the classes.
 *
 * Formula:  q_k ~ p_k new_k / old_k, rescaled to sum to one.
 *           old: from=, else the shares of the labels if prevalence= is given
 *           new: prevalence=, else the shares of the labels, else by EM from the scores:
 *                new_k <- mean of q_k under new, starting from old
 *           neither option, labels: new is the shares of the labels and old such that the mean
 *           of q_k is new_k:  new_k / old_k <- (new_k / old_k) new_k / mean of q_k
 * Edge cases:
 *   1. One number for two classes is the prevalence of class 1.  Several are one for each class,
 *      sum to one within 1e-6, and are divided by their sum.
 *   2. Prevalences of 0 are refused.  If a class has no label, half a row is added to each class,
 *      with a warning.
 *   3. Rows without labels need from=; with from= and prevalence= nothing is learned, and labels
 *      are not needed.
 *   4. Both iterations raise the likelihood in each step.  They end when no prevalence moves by
 *      1e-11, or after 1,000 steps with the status stopped.
 *   5. Prevalences that reach 0 in EM are kept at 1e-12.
 *   6. Ratios new_k / old_k lie between 1e-12 and 1e12; scores a little below 0 count as 0.
 * Source:   Saerens, Latinne & Decaestecker 2002; Elkan 2001 (prevalence given).
 * Accuracy: sums are exact for any order of rows.
 * Cost:     one pass; for the iterations memory of 8 N K bytes and O(N K) for each step. */
#include <math.h>
#include <string.h>

#include "base/executor.h"
#include "base/number.h"
#include "base/sum.h"
#include "calibrators/fit_pass.h"
#include "calibrators/parameter_lists.h"
#include "calibrators/recipe.h"
#include "io/source.h"

#define PRIOR_SHIFT_STEPS 1000
#define PRIOR_SHIFT_CLOSE 1e-11
#define PRIOR_SHIFT_LEAST 1e-12
#define PRIOR_SHIFT_SUM 1e-6
#define PRIOR_SHIFT_STEP_COST 3.0 /* nanoseconds for each number, for the executor */

enum { PRIOR_SHIFT_NEW, PRIOR_SHIFT_OLD };

static const pcal_option prior_shift_options[] = {
    {"prevalence", PCAL_OPTION_REALS, "", 0, 1, NULL,
     "new prevalence: of class 1 of two, or of each class as 0.2/0.3/0.5; not given: the "
     "shares "
     "of the labels, and without labels an estimate from the scores by EM"},
    {"from", PCAL_OPTION_REALS, "", 0, 1, NULL,
     "prevalence under which the scores hold, written in the same way; not given: the shares "
     "of "
     "the labels if prevalence is given, else those that the scores imply"},
};

typedef struct prior_shift {
  size_t classes;
  double *old, *new, *ratio;
} prior_shift;

/* Rows that one worker keeps, and its sums of one step. */
typedef struct prior_shift_part {
  void *probs; /* count x classes */
  void *weights;
  size_t count, probs_capacity, weights_capacity;
  pc_fixed *labels, *sums; /* for each class */
  pc_fixed weight;
} prior_shift_part;

typedef struct prior_shift_fit {
  const pc_fit_task *task;
  prior_shift *model;
  int labelled;
  int keep; /* rows are kept for the iterations */
  size_t workers;
  prior_shift_part *parts;
  double *share; /* of the labels */
} prior_shift_fit;

/* ---- Reading rows ---- */

static pcal_status prior_shift_keep(const pcal_env *env, prior_shift_part *part,
                                    const pc_rows *rows, pcal_error *err) {
  const size_t total = part->count + rows->count;
  PC_TRY(pc_reserve(env, &part->probs, &part->probs_capacity, total * rows->classes,
                    sizeof(double), err));
  PC_TRY(pc_reserve(env, &part->weights, &part->weights_capacity, total, sizeof(double), err));
  double *weights = part->weights;
  memcpy((double *)part->probs + part->count * rows->classes, rows->probs,
         rows->count * rows->classes * sizeof(double));
  for (size_t i = 0; i < rows->count; i++)
    weights[part->count + i] = rows->weights == NULL ? 1.0 : rows->weights[i];
  part->count = total;
  return PCAL_OK;
}

static pcal_status prior_shift_add(void *user, size_t worker, const pc_rows *rows,
                                   pcal_error *err) {
  const prior_shift_fit *fit = user;
  prior_shift_part *part = &fit->parts[worker];
  for (size_t i = 0; i < rows->count; i++) {
    const double weight = rows->weights == NULL ? 1.0 : rows->weights[i];
    pc_fixed_add_weighted(&part->weight, weight, 1.0);
    if (fit->labelled)
      pc_fixed_add_weighted(&part->labels[rows->labels[i]], weight, 1.0);
  }
  return fit->keep ? prior_shift_keep(fit->task->env, part, rows, err) : PCAL_OK;
}

static pcal_status prior_shift_room(prior_shift_fit *fit, pcal_error *err) {
  const pcal_env *env = fit->task->env;
  const size_t classes = fit->model->classes;
  fit->workers = pc_worker_count(env);
  fit->parts = pc_alloc(env, fit->workers, sizeof *fit->parts);
  fit->share = pc_alloc(env, classes, sizeof *fit->share);
  if (fit->parts == NULL || fit->share == NULL)
    return pc_fail_memory(err, "preparing workers");
  for (size_t w = 0; w < fit->workers; w++) {
    fit->parts[w].labels = pc_alloc(env, classes, 2 * sizeof *fit->parts[w].labels);
    if (fit->parts[w].labels == NULL)
      return pc_fail_memory(err, "preparing workers");
    fit->parts[w].sums = fit->parts[w].labels + classes;
  }
  return PCAL_OK;
}

/* The sum over workers of one class: of labels or of the last step. */
static double prior_shift_total(const prior_shift_fit *fit, size_t k, int labels) {
  pc_fixed sum = {0};
  for (size_t w = 0; w < fit->workers; w++)
    sum.units += labels ? fit->parts[w].labels[k].units : fit->parts[w].sums[k].units;
  return pc_fixed_value(&sum);
}

static double prior_shift_weight(const prior_shift_fit *fit) {
  pc_fixed sum = {0};
  for (size_t w = 0; w < fit->workers; w++)
    sum.units += fit->parts[w].weight.units;
  return pc_fixed_value(&sum);
}

static void prior_shift_count(prior_shift_fit *fit) {
  const size_t classes = fit->model->classes;
  const double weight = prior_shift_weight(fit);
  size_t absent = 0;
  for (size_t k = 0; k < classes; k++)
    absent += prior_shift_total(fit, k, 1) == 0.0;
  const double more = absent > 0 ? 0.5 : 0.0;
  for (size_t k = 0; k < classes; k++)
    fit->share[k] = (prior_shift_total(fit, k, 1) + more) / (weight + more * (double)classes);
  if (absent == 0)
    return;
  pc_fit_info *info = &fit->task->calibrator->fit;
  pc_fit_warn(info,
              "%zu of %zu classes never occur among the labels: half a row is added to "
              "each class",
              absent, classes);
  info->warned |= PC_WARNED_ABSENT_CLASS;
}

/* ---- Iterations ---- */

/* q of one row; `out` may be `p`. */
static void prior_shift_row(const prior_shift *model, const double *p, double *out) {
  double sum = 0.0;
  for (size_t k = 0; k < model->classes; k++)
    sum += out[k] = fmax(p[k], 0.0) * model->ratio[k];
  for (size_t k = 0; k < model->classes; k++)
    out[k] /= sum;
}

static pcal_status prior_shift_step(void *user, size_t index, size_t worker, pcal_error *err) {
  const prior_shift_fit *fit = user;
  const prior_shift *model = fit->model;
  prior_shift_part *part = &fit->parts[index];
  (void)worker;
  (void)err;
  const double *p = part->probs, *weights = part->weights;
  memset(part->sums, 0, model->classes * sizeof *part->sums);
  for (size_t i = 0; i < part->count; i++, p += model->classes) {
    double sum = 0.0;
    for (size_t k = 0; k < model->classes; k++)
      sum += fmax(p[k], 0.0) * model->ratio[k];
    for (size_t k = 0; k < model->classes; k++)
      pc_fixed_add_weighted(&part->sums[k], weights[i],
                            fmax(p[k], 0.0) * model->ratio[k] / sum);
  }
  return PCAL_OK;
}

static double prior_shift_bounded(double x, double least) {
  return fmin(fmax(x, least), 1.0 / least);
}

/* Moves the ratios by one step; returns the largest change of a prevalence. */
static double prior_shift_move(const prior_shift_fit *fit, int em) {
  const prior_shift *model = fit->model;
  const double weight = prior_shift_weight(fit);
  double moved = 0.0;
  for (size_t k = 0; k < model->classes; k++) {
    const double mean = prior_shift_total(fit, k, 0) / weight;
    if (em) {
      const double next = fmax(mean, PRIOR_SHIFT_LEAST);
      moved = fmax(moved, fabs(next - model->new[k]));
      model->new[k] = next;
      model->ratio[k] = next / model->old[k];
    } else {
      moved = fmax(moved, fabs(mean - fit->share[k]));
      model->ratio[k] *= fit->share[k] / fmax(mean, PRIOR_SHIFT_LEAST);
    }
    model->ratio[k] = prior_shift_bounded(model->ratio[k], PRIOR_SHIFT_LEAST);
  }
  return moved;
}

static pcal_status prior_shift_iterate(prior_shift_fit *fit, int em, pcal_error *err) {
  const pc_fit_task *task = fit->task;
  pc_fit_info *info = &task->calibrator->fit;
  const double cost = PRIOR_SHIFT_STEP_COST * (double)info->rows * (double)fit->model->classes;
  double moved = 1.0;
  for (info->iterations = 0; info->iterations < PRIOR_SHIFT_STEPS && moved > PRIOR_SHIFT_CLOSE;
       info->iterations++) {
    PC_TRY(pc_run(task->env, fit->workers, cost, prior_shift_step, fit, err));
    moved = prior_shift_move(fit, em);
    PC_TRY(pc_check_interrupt(task->env, err));
  }
  info->status = moved > PRIOR_SHIFT_CLOSE ? PC_FIT_STOPPED : PC_FIT_CONVERGED;
  return PCAL_OK;
}

/* ---- Fitting ---- */

static pcal_status prior_shift_new(pcal_calibrator *calibrator, prior_shift **out,
                                   pcal_error *err) {
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof **out, err));
  prior_shift *model = *out = calibrator->parameters;
  model->classes = calibrator->layout.classes;
  model->old = pc_alloc(&calibrator->env, model->classes, 3 * sizeof *model->old);
  if (model->old == NULL)
    return pc_fail_memory(err, "making a calibrator");
  model->new = model->old + model->classes;
  model->ratio = model->new + model->classes;
  for (size_t k = 0; k < model->classes; k++)
    model->ratio[k] = 1.0;
  return PCAL_OK;
}

/* Copies the prevalences of an option to out. */
static pcal_status prior_shift_option(const pc_options *options, size_t index, size_t classes,
                                      double *out, pcal_error *err) {
  const pc_option_value *value = &options->value[index];
  const char *name = options->table[index].name;
  double sum = 0.0;
  if (value->list_count == 1 && classes == 2) {
    out[0] = 1.0 - value->list[0];
    out[1] = value->list[0];
  } else if (value->list_count != classes)
    return pc_fail(err, PCAL_USAGE,
                   "%s of prior-shift has %zu number%s for %zu classes; give one for each "
                   "class, separated by '/'",
                   name, value->list_count, value->list_count == 1 ? "" : "s", classes);
  else
    memcpy(out, value->list, classes * sizeof *out);
  for (size_t k = 0; k < classes; k++) {
    sum += out[k];
    if (!(out[k] >= PRIOR_SHIFT_LEAST))
      return pc_fail(err, PCAL_USAGE,
                     "%s of prior-shift is 0 for class %zu; every class needs a prevalence "
                     "above 0",
                     name, k);
  }
  if (!(fabs(sum - 1.0) <= PRIOR_SHIFT_SUM))
    return pc_fail(err, PCAL_USAGE, "%s of prior-shift sums to %s; it must sum to 1", name,
                   pc_show(sum, (char[PC_NUMBER_MAX]){0}));
  for (size_t k = 0; k < classes; k++)
    out[k] /= sum;
  return PCAL_OK;
}

/* Old prevalences from the ratios: new_k / ratio_k, rescaled. */
static void prior_shift_imply_old(prior_shift *model) {
  double sum = 0.0;
  for (size_t k = 0; k < model->classes; k++)
    sum += model->old[k] = model->new[k] / model->ratio[k];
  for (size_t k = 0; k < model->classes; k++)
    model->old[k] /= sum;
}

static pcal_status prior_shift_learn(prior_shift_fit *fit, pcal_error *err) {
  prior_shift *model = fit->model;
  const size_t bytes = model->classes * sizeof *model->new;
  const pc_option_value *options = fit->task->calibrator->options.value;
  const int given = options[PRIOR_SHIFT_NEW].set, from = options[PRIOR_SHIFT_OLD].set;
  const int em = !fit->labelled && !given;
  fit->task->calibrator->fit.status = PC_FIT_CLOSED_FORM;
  if (fit->labelled && !(given && from))
    prior_shift_count(fit);
  if (!from && given)
    memcpy(model->old, fit->share, bytes);
  if (!given)
    memcpy(model->new, em ? model->old : fit->share, bytes);
  if (fit->keep)
    PC_TRY(prior_shift_iterate(fit, em, err));
  if (fit->keep && !em)
    prior_shift_imply_old(model);
  for (size_t k = 0; k < model->classes; k++)
    model->ratio[k] = prior_shift_bounded(model->new[k] / model->old[k], PRIOR_SHIFT_LEAST);
  return PCAL_OK;
}

static pcal_status prior_shift_fit_rows(const pc_fit_task *task, pcal_error *err) {
  const pc_options *options = &task->calibrator->options;
  const size_t classes = task->calibrator->layout.classes;
  pcal_shape shape = {.size = sizeof shape};
  prior_shift_fit fit = {.task = task};
  pc_source_shape(task->source, &shape);
  const int given = options->value[PRIOR_SHIFT_NEW].set;
  const int from = options->value[PRIOR_SHIFT_OLD].set;
  fit.labelled = shape.labelled;
  fit.keep = shape.labelled ? !given && !from : !given;
  if (!fit.labelled && !from)
    return pc_fail(err, PCAL_USAGE,
                   "without labels prior-shift needs the prevalence under which the scores "
                   "hold; write prior-shift:from=0.5, or give the labels");
  PC_TRY(prior_shift_new(task->calibrator, &fit.model, err));
  if (given)
    PC_TRY(prior_shift_option(options, PRIOR_SHIFT_NEW, classes, fit.model->new, err));
  if (from)
    PC_TRY(prior_shift_option(options, PRIOR_SHIFT_OLD, classes, fit.model->old, err));
  const pc_row_policy policy = {.probs = fit.keep ? PC_PROBS_FILLED : PC_PROBS_LEAN,
                                .unlabelled = !fit.labelled};
  PC_TRY(prior_shift_room(&fit, err));
  PC_TRY(pc_fit_pass(task, &policy, prior_shift_add, NULL, &fit, err));
  return prior_shift_learn(&fit, err);
}

/* ---- Applying, files ---- */

static void prior_shift_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                              double *out) {
  const prior_shift *model = calibrator->parameters;
  for (size_t i = 0; i < count; i++)
    prior_shift_row(model, in + i * model->classes, out + i * model->classes);
}

static const char *prior_shift_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  const prior_shift *model = calibrator->parameters;
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_AT_LEAST, .a = 0.0});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_VECTOR, .w = model->ratio});
  pc_recipe_add(out, (pc_step){.kind = PC_STEP_RESCALE});
  return NULL;
}

static unsigned prior_shift_traits(const pcal_calibrator *calibrator) {
  return calibrator->layout.columns == 1 ? PC_SUMS_TO_ONE | PC_KEEPS_ORDER : PC_SUMS_TO_ONE;
}

static void prior_shift_write(const pcal_calibrator *calibrator, pc_json *json) {
  const prior_shift *model = calibrator->parameters;
  pc_json_key(json, "old");
  pc_json_numbers(json, model->old, model->classes);
  pc_json_key(json, "new");
  pc_json_numbers(json, model->new, model->classes);
}

static pcal_status prior_shift_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                    const char *file, pcal_error *err) {
  static const pc_list_rule rule = {PRIOR_SHIFT_LEAST / 1e12, 1.0, PC_LIST_ANY,
                                    "a prevalence must be a number above 0 and at most 1"};
  prior_shift *model = NULL;
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("old", "new"), file, err));
  PC_TRY(prior_shift_new(calibrator, &model, err));
  for (int fresh = 0; fresh < 2; fresh++) {
    const pc_json_node *list = pc_json_find(parameters, fresh ? "new" : "old");
    if (list->kind != PC_JSON_ARRAY || list->list.count != model->classes)
      return pc_parameter_error(list, file, "there must be a prevalence for each class", err);
    PC_TRY(pc_parameter_numbers(list, &rule, fresh ? model->new : model->old, file, err));
  }
  for (size_t k = 0; k < model->classes; k++)
    model->ratio[k] = prior_shift_bounded(model->new[k] / model->old[k], PRIOR_SHIFT_LEAST);
  return PCAL_OK;
}

/* Appends the prevalences of the classes, of two classes only that of class 1. */
static void prior_shift_list(const double *prevalence, size_t classes, pc_text *out) {
  const size_t first = classes == 2, shown = classes < 12 ? classes : 12;
  for (size_t k = first; k < shown; k++) {
    char digits[PC_NUMBER_MAX];
    pc_number_round(prevalence[k], 4, digits);
    pc_text_format(out, "%s%s", k > first ? "/" : "", digits);
  }
  if (shown < classes)
    pc_text_add(out, "/...");
}

static void prior_shift_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const prior_shift *model = calibrator->parameters;
  pc_text_add(out, model->classes == 2 ? "prevalence of class 1 from " : "prevalences from ");
  prior_shift_list(model->old, model->classes, out);
  pc_text_add(out, " to ");
  prior_shift_list(model->new, model->classes, out);
  pc_text_add(out, "\n");
}

const pc_calibrator_method pc_calibrator_prior_shift = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "prior-shift",
            .title = "probabilities for another prevalence",
            .formula = "q_k ~ p_k new_k / old_k, rescaled to sum to one\n"
                       "without labels, EM: new_k <- mean of q_k",
            .about =
                "For a model whose classes are more or less frequent where it is used than "
                "where it was fitted, while cases of one class look the same in both places. "
                "prior-shift:prevalence=0.1 needs labelled rows of the old place; "
                "prior-shift:from=0.5 estimates the new prevalence from rows of the new place, "
                "which need no labels; with labels of the new place and no option the shift "
                "that makes the mean prediction right is fitted. Order of two classes and AUC "
                "stay.",
            .citation = "Saerens, Latinne & Decaestecker, Neural Computation 2002",
            .options = prior_shift_options,
            .option_count = sizeof prior_shift_options / sizeof *prior_shift_options,
        },
    .traits = PC_SUMS_TO_ONE,
    .fitted_traits = prior_shift_traits,
    .comparison_spec = "",
    .takes_unlabelled = 1,
    .fit = prior_shift_fit_rows,
    .apply = prior_shift_apply,
    .recipe = prior_shift_recipe,
    .write = prior_shift_write,
    .read = prior_shift_read,
    .describe = prior_shift_describe,
};
