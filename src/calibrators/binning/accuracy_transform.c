/* accuracy-transform: replaces every confidence by the accuracy.
 *
 * Formula:  q_top = A,  q_k = (1 - A) / (K - 1) for the others,  A = share of rows whose top
 *           class is the label
 * Edge cases:
 *   1. The top class is the first of those with the largest probability.
 *   2. An accuracy below 1/K puts the top class below the others, with a warning.
 *   3. Confidences all become A.
 * Traits:   if A >= (1 - A) / (K - 1), compared after rounding, the top class stays on top and
 *           the others become equal, so the order of classes stays.
 * Source:   Gruber & Buettner 2022 (Proposition D.2), as a counterexample: it has ECE 0 on the
 *           rows of the fit and no information left.
 * Accuracy: exact sums.
 * Cost:     one pass. */
#include <math.h>

#include "base/executor.h"
#include "base/number.h"
#include "base/sum.h"
#include "calibrators/fit_pass.h"
#include "calibrators/parameter_lists.h"

typedef struct accuracy_transform {
  double accuracy;
} accuracy_transform;

static pcal_status accuracy_transform_add(void *user, size_t worker, const pc_rows *rows,
                                          pcal_error *err) {
  pc_sum *hits = (pc_sum *)user + worker;
  (void)err;
  for (size_t i = 0; i < rows->count; i++) {
    const int hit =
        rows->classes == 1 ? rows->labels[i] == 1 : rows->labels[i] == rows->top_label[i];
    if (hit)
      pc_sum_add(hits, rows->weights == NULL ? 1.0 : rows->weights[i]);
  }
  return PCAL_OK;
}

/* The probability of each other class. */
static double accuracy_transform_rest(const pcal_calibrator *calibrator) {
  const accuracy_transform *parameters = calibrator->parameters;
  const size_t k = calibrator->layout.classes;
  return k == 1 ? 0.0 : (1.0 - parameters->accuracy) / (double)(k - 1);
}

static void accuracy_transform_set(const pc_fit_task *task, double hits) {
  pcal_calibrator *calibrator = task->calibrator;
  accuracy_transform *parameters = calibrator->parameters;
  char shown[PC_NUMBER_MAX];
  parameters->accuracy = fmin(hits / calibrator->fit.weight, 1.0);
  calibrator->fit.status = PC_FIT_CLOSED_FORM;
  if (parameters->accuracy < accuracy_transform_rest(calibrator))
    pc_fit_warn(&calibrator->fit,
                "the accuracy %s is below one in %zu, so the predicted class gets a lower "
                "probability than the others",
                pc_show(parameters->accuracy, shown), calibrator->layout.classes);
}

static pcal_status accuracy_transform_fit(const pc_fit_task *task, pcal_error *err) {
  pcal_calibrator *calibrator = task->calibrator;
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
  const size_t workers = pc_worker_count(task->env);
  pc_sum *hits = pc_alloc(task->env, workers, sizeof *hits);
  if (hits == NULL)
    return pc_fail_memory(err, "making a calibrator");
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(accuracy_transform), err));
  PC_TRY(pc_fit_pass(task, &policy, accuracy_transform_add, NULL, hits, err));
  for (size_t w = 1; w < workers; w++)
    pc_sum_merge(&hits[0], &hits[w]);
  accuracy_transform_set(task, pc_sum_value(&hits[0]));
  return PCAL_OK;
}

static void accuracy_transform_apply(const pcal_calibrator *calibrator, const double *in,
                                     size_t count, double *out) {
  const accuracy_transform *parameters = calibrator->parameters;
  const size_t k = calibrator->layout.classes;
  const double rest = accuracy_transform_rest(calibrator);
  for (size_t i = 0; i < count; i++, in += k, out += k) {
    size_t top = 0;
    for (size_t c = 0; c < k; c++) {
      top = in[c] > in[top] ? c : top;
      out[c] = rest;
    }
    out[top] = parameters->accuracy;
  }
}

static void accuracy_transform_write(const pcal_calibrator *calibrator, pc_json *json) {
  const accuracy_transform *parameters = calibrator->parameters;
  pc_json_key(json, "accuracy");
  pc_json_number(json, parameters->accuracy);
}

static pcal_status accuracy_transform_read(pcal_calibrator *calibrator,
                                           const pc_json_node *parameters, const char *file,
                                           pcal_error *err) {
  PC_TRY(pc_parameters_check_names(parameters, PC_NAMES("accuracy"), file, err));
  const pc_json_node *value = pc_json_find(parameters, "accuracy");
  if (value->kind != PC_JSON_NUMBER || !(value->number >= 0.0) || !(value->number <= 1.0))
    return pc_parameter_error(value, file, "the accuracy must be a number from 0 to 1", err);
  PC_TRY(pc_calibrator_new_parameters(calibrator, sizeof(accuracy_transform), err));
  ((accuracy_transform *)calibrator->parameters)->accuracy = value->number;
  return PCAL_OK;
}

static void accuracy_transform_describe(const pcal_calibrator *calibrator, pc_text *out) {
  const accuracy_transform *parameters = calibrator->parameters;
  char digits[PC_NUMBER_MAX];
  pc_number_round(parameters->accuracy, 6, digits);
  pc_text_format(out, "accuracy = %s, the new confidence of every row\n", digits);
}

static unsigned accuracy_transform_traits(const pcal_calibrator *calibrator) {
  const accuracy_transform *parameters = calibrator->parameters;
  const int on_top = parameters->accuracy >= accuracy_transform_rest(calibrator);
  return PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE |
         (on_top ? PC_KEEPS_ACCURACY | PC_KEEPS_ORDER : 0);
}

const pc_calibrator_method pc_calibrator_accuracy_transform = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "accuracy-transform",
            .title = "every confidence becomes the accuracy",
            .formula = "q_top = A,  q_k = (1 - A) / (K - 1) for the others\n"
                       "A = share of rows whose top class is the label",
            .about =
                "Has an ECE of 0 on the rows of the fit and carries no information: all rows "
                "get the same confidence. It shows that a small top-label error alone means "
                "little; proper scores get worse. Not for use.",
            .citation = "Gruber & Buettner, NeurIPS 2022, Proposition D.2",
        },
    .traits = PC_SUMS_TO_ONE | PC_TAKES_CONFIDENCE,
    .fitted_traits = accuracy_transform_traits,
    .comparison_spec = "",
    .fit = accuracy_transform_fit,
    .apply = accuracy_transform_apply,
    .write = accuracy_transform_write,
    .read = accuracy_transform_read,
    .describe = accuracy_transform_describe,
};
