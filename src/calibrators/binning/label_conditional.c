/* label-conditional: the frequencies of the labels given the predicted class.
 *
 * Formula:  q_k = P(Y = k | the predicted class), as observed; the predicted class is the first
 *           of those with the largest probability
 * Edge cases:
 *   1. One column of scores: class 1 is predicted from 0.5 on.
 *   2. A class that was never predicted gets the frequencies of all labels, with a warning.
 *   3. Labels that never occurred with a predicted class get 0 there.
 * Traits:   the top class stays if for every predicted class the most frequent label is the
 *           class itself; the order of other classes changes.
 * Source:   Gruber & Buettner 2022 (E.1), as a counterexample: calibrated in the strongest
 *           sense and as accurate as before, but not sharp.
 * Accuracy: exact counts.
 * Cost:     one pass; memory for the pairs of classes that occur. */
#include <math.h>

#include "base/executor.h"
#include "calibrators/binning/class_pair_counts.h"
#include "calibrators/fit_pass.h"
#include "calibrators/one_vs_rest.h"
#include "calibrators/parameter_lists.h"

#define LABEL_CONDITIONAL_SUM 1e-9 /* tolerance for sums of the values of a file */

/* Labels that occurred with a predicted class, ascending, and their frequencies. */
typedef struct label_shares {
  size_t count; /* 0: the class was never predicted */
  double *labels, *values;
} label_shares;

typedef struct label_conditional {
  size_t classes;
  label_shares *shares; /* of each predicted class, then of all rows */
} label_conditional;

/* ---- Fit ---- */

typedef struct label_conditional_state {
  const pc_fit_task *task;
  pc_class_pair_counts *workers;
} label_conditional_state;

/* The predicted class of a row. */
static size_t label_conditional_predicted(const pc_layout *layout, const double *probs) {
  size_t top = 0;
  if (layout->columns == 1)
    return probs[1] >= 0.5;
  for (size_t c = 1; c < layout->classes; c++)
    top = probs[c] > probs[top] ? c : top;
  return top;
}

static pcal_status label_conditional_add(void *user, size_t worker, const pc_rows *rows,
                                         pcal_error *err) {
  const label_conditional_state *state = user;
  const pc_layout *layout = &state->task->calibrator->layout;
  const uint64_t k = layout->classes;
  for (size_t i = 0; i < rows->count; i++) {
    const size_t predicted = layout->columns == 1
                                 ? label_conditional_predicted(layout, rows->probs + i * k)
                                 : (size_t)rows->top_label[i];
    PC_TRY(pc_class_pair_counts_add(state->task->env, &state->workers[worker],
                                    predicted * k + (uint64_t)rows->labels[i],
                                    rows->weights == NULL ? 1.0 : rows->weights[i], err));
  }
  return PCAL_OK;
}

static pcal_status label_conditional_room(const pcal_env *env, size_t count,
                                          label_shares *shares, pcal_error *err) {
  shares->labels = pc_alloc_raw(env, count, 2 * sizeof *shares->labels);
  if (shares->labels == NULL)
    return pc_fail_memory(err, "counting pairs of classes");
  shares->values = shares->labels + count;
  shares->count = count;
  return PCAL_OK;
}

/* Frequencies of ascending keys; the label of a key is key - base. */
static pcal_status label_conditional_share(const pcal_env *env, const double *keys,
                                           const double *weights, size_t count, double base,
                                           label_shares *out, pcal_error *err) {
  pc_fixed total = {0};
  for (size_t i = 0; i < count; i++)
    pc_fixed_add_weighted(&total, weights[i], 1.0);
  PC_TRY(label_conditional_room(env, count, out, err));
  for (size_t i = 0; i < count; i++) {
    out->labels[i] = keys[i] - base;
    out->values[i] = fmin(weights[i] / pc_fixed_value(&total), 1.0);
  }
  return PCAL_OK;
}

/* Frequencies of the labels for each predicted class. */
static pcal_status label_conditional_split(const pc_fit_task *task, const double *pairs,
                                           const double *weights, size_t count,
                                           label_conditional *model, pcal_error *err) {
  const double k = (double)model->classes;
  size_t missing = 0;
  for (size_t c = 0, at = 0; c < model->classes; c++) {
    const size_t begin = at;
    while (at < count && pairs[at] < (double)(c + 1) * k)
      at++;
    missing += at == begin;
    if (at > begin)
      PC_TRY(label_conditional_share(&task->calibrator->env, pairs + begin, weights + begin,
                                     at - begin, (double)c * k, &model->shares[c], err));
  }
  if (missing > 0)
    pc_fit_warn(&task->calibrator->fit,
                "%zu of %zu classes were never predicted; rows predicted as one of them get "
                "the frequencies of all labels",
                missing, model->classes);
  return PCAL_OK;
}

/* Frequencies of the labels over all rows. */
static pcal_status label_conditional_pool(const pc_fit_task *task, const double *pairs,
                                          const double *weights, size_t count,
                                          label_conditional *model, pcal_error *err) {
  pc_class_pair_counts labels = {NULL, 0, 0};
  double *keys = NULL, *sums = NULL;
  for (size_t i = 0; i < count; i++)
    PC_TRY(pc_class_pair_counts_add(
        task->env, &labels, (uint64_t)fmod(pairs[i], (double)model->classes), weights[i], err));
  PC_TRY(pc_class_pair_counts_list(task->env, &labels, &keys, &sums, err));
  return label_conditional_share(&task->calibrator->env, keys, sums, labels.count, 0.0,
                                 &model->shares[model->classes], err);
}

static pcal_status label_conditional_new(pcal_calibrator *calibrator, label_conditional **out,
                                         pcal_error *err) {
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof **out, err));
  label_conditional *model = *out = calibrator->parameters;
  model->classes = calibrator->layout.classes;
  model->shares = pc_alloc(&calibrator->env, model->classes + 1, sizeof *model->shares);
  return model->shares == NULL ? pc_fail_memory(err, "making a calibrator") : PCAL_OK;
}

static pcal_status label_conditional_fit(const pc_fit_task *task, pcal_error *err) {
  const size_t workers = pc_worker_count(task->env);
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
  label_conditional_state state = {task, NULL};
  label_conditional *model = NULL;
  double *pairs = NULL, *weights = NULL;
  PC_TRY(label_conditional_new(task->calibrator, &model, err));
  task->calibrator->fit.status = PC_FIT_CLOSED_FORM;
  state.workers = pc_alloc(task->env, workers, sizeof *state.workers);
  if (state.workers == NULL)
    return pc_fail_memory(err, "preparing workers");
  PC_TRY(pc_fit_pass(task, &policy, label_conditional_add, NULL, &state, err));
  for (size_t w = 1; w < workers; w++)
    PC_TRY(pc_class_pair_counts_merge(task->env, &state.workers[0], &state.workers[w], err));
  const size_t count = state.workers[0].count;
  PC_TRY(pc_class_pair_counts_list(task->env, &state.workers[0], &pairs, &weights, err));
  PC_TRY(label_conditional_split(task, pairs, weights, count, model, err));
  return label_conditional_pool(task, pairs, weights, count, model, err);
}

/* ---- Applying ---- */

/* The frequencies that rows predicted as a class get. */
static const label_shares *label_conditional_of(const label_conditional *model,
                                                size_t predicted) {
  const label_shares *own = &model->shares[predicted];
  return own->count > 0 ? own : &model->shares[model->classes];
}

static void label_conditional_apply(const pcal_calibrator *calibrator, const double *in,
                                    size_t count, double *out) {
  const size_t k = calibrator->layout.classes;
  for (size_t i = 0; i < count; i++, in += k, out += k) {
    const label_shares *shares = label_conditional_of(
        calibrator->parameters, label_conditional_predicted(&calibrator->layout, in));
    for (size_t c = 0; c < k; c++)
      out[c] = 0.0;
    for (size_t s = 0; s < shares->count; s++)
      out[(size_t)shares->labels[s]] = shares->values[s];
  }
}

static double label_conditional_share_of(const label_shares *shares, size_t label) {
  const size_t at = pc_first_not_below(shares->labels, shares->count, (double)label);
  return at < shares->count && shares->labels[at] == (double)label ? shares->values[at] : 0.0;
}

static double label_conditional_best(const label_shares *shares) {
  double best = 0.0;
  for (size_t s = 0; s < shares->count; s++)
    best = fmax(best, shares->values[s]);
  return best;
}

static unsigned label_conditional_traits(const pcal_calibrator *calibrator) {
  const label_conditional *model = calibrator->parameters;
  const double best = label_conditional_best(&model->shares[model->classes]);
  unsigned traits = PC_SUMS_TO_ONE | PC_KEEPS_ACCURACY;
  for (size_t c = 0; c < model->classes; c++) {
    const label_shares *own = &model->shares[c];
    if (label_conditional_share_of(label_conditional_of(model, c), c) !=
        (own->count > 0 ? label_conditional_best(own) : best))
      traits &= ~(unsigned)PC_KEEPS_ACCURACY;
  }
  if (calibrator->layout.columns == 1 &&
      label_conditional_share_of(label_conditional_of(model, 0), 1) <=
          label_conditional_share_of(label_conditional_of(model, 1), 1))
    traits |= PC_KEEPS_ORDER;
  return traits;
}

/* ---- Files ---- */

static void label_conditional_write(const pcal_calibrator *calibrator, pc_json *json) {
  const label_conditional *model = calibrator->parameters;
  for (int values = 0; values < 2; values++) {
    pc_json_key(json, values ? "values" : "labels");
    pc_json_open(json, '[');
    for (size_t c = 0; c <= model->classes; c++)
      pc_json_numbers(json, values ? model->shares[c].values : model->shares[c].labels,
                      model->shares[c].count);
    pc_json_close(json, ']');
  }
}

static pcal_status label_conditional_check(const label_shares *shares, size_t classes,
                                           const pc_json_node *labels,
                                           const pc_json_node *values, const char *file,
                                           pcal_error *err) {
  double sum = 0.0;
  for (size_t s = 0; s < shares->count; s++) {
    sum += shares->values[s];
    if (shares->labels[s] != floor(shares->labels[s]) || shares->labels[s] >= (double)classes)
      return pc_parameter_error(labels, file, "labels must be ascending numbers of classes",
                                err);
  }
  if (shares->count > 0 && !(fabs(sum - 1.0) <= LABEL_CONDITIONAL_SUM))
    return pc_parameter_error(values, file, "the values of a class must sum to 1", err);
  return PCAL_OK;
}

static pcal_status label_conditional_read_one(const pcal_env *env, const pc_json_node *labels,
                                              const pc_json_node *values, size_t classes,
                                              label_shares *out, const char *file,
                                              pcal_error *err) {
  const pc_list_rule label_rule = {0.0, (double)classes, PC_LIST_STRICT,
                                   "labels must be ascending numbers of classes"};
  const pc_list_rule value_rule = {0.0, 1.0, PC_LIST_ANY,
                                   "a value must be a number from 0 to 1"};
  if (labels->list.count != values->list.count)
    return pc_parameter_error(values, file, "there must be a value for each label", err);
  PC_TRY(label_conditional_room(env, labels->list.count, out, err));
  PC_TRY(pc_parameter_numbers(labels, &label_rule, out->labels, file, err));
  PC_TRY(pc_parameter_numbers(values, &value_rule, out->values, file, err));
  return label_conditional_check(out, classes, labels, values, file, err);
}

static pcal_status label_conditional_read(pcal_calibrator *calibrator,
                                          const pc_json_node *parameters, const char *file,
                                          pcal_error *err) {
  const size_t classes = calibrator->layout.classes;
  const pc_json_node *labels = NULL, *values = NULL;
  label_conditional *model = NULL;
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("labels", "values"), file, err));
  PC_TRY(pc_parameter_lists(parameters, "labels", classes + 1, file, &labels, err));
  PC_TRY(pc_parameter_lists(parameters, "values", classes + 1, file, &values, err));
  PC_TRY(label_conditional_new(calibrator, &model, err));
  const pc_json_node *label = labels->list.first, *value = values->list.first;
  for (size_t c = 0; c <= classes; c++, label = label->next, value = value->next)
    PC_TRY(label_conditional_read_one(&calibrator->env, label, value, classes,
                                      &model->shares[c], file, err));
  if (model->shares[classes].count == 0)
    return pc_parameter_error(values, file, "the last list, of all labels, is empty", err);
  return PCAL_OK;
}

static void label_conditional_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const label_conditional *model = calibrator->parameters;
  size_t predicted = 0;
  for (size_t c = 0; c < model->classes; c++)
    predicted += model->shares[c].count > 0;
  pc_text_format(out, "frequencies of labels for %zu predicted class%s\n", predicted,
                 predicted == 1 ? "" : "es");
}

const pc_calibrator_method pc_calibrator_label_conditional = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "label-conditional",
            .title = "frequencies of labels given the predicted class",
            .formula = "q_k = P(Y = k | predicted class), as observed",
            .about =
                "Replaces every row by the frequencies of the labels of rows with the same "
                "predicted class. Calibrated even in the strongest sense and as accurate as "
                "before, but rows with one predicted class become equal: calibration alone "
                "is not enough. With one column, class 1 is predicted from 0.5 on. A class "
                "that was never predicted gets the frequencies of all labels.",
            .citation = "Gruber & Buettner, NeurIPS 2022, appendix E.1",
        },
    .traits = PC_SUMS_TO_ONE,
    .fitted_traits = label_conditional_traits,
    .comparison_spec = "",
    .fit = label_conditional_fit,
    .apply = label_conditional_apply,
    .write = label_conditional_write,
    .read = label_conditional_read,
    .describe = label_conditional_describe,
};
