/* identity: leaves probabilities unchanged.
 *
 * Formula:  q = p, from logits q = softmax(z);  predictions of a number stay unchanged.
 * Edge cases:
 *   1. Probabilities are used as stored: rows sum to one as exactly as those of the input.
 *   2. A fit still reads the rows once, so that a bad row is reported. */
#include "calibrators/fit_pass.h"

#include <string.h>

static pcal_status identity_add(void *user, size_t worker, const pc_rows *rows,
                                pcal_error *err) {
  (void)user;
  (void)worker;
  (void)rows;
  (void)err;
  return PCAL_OK;
}

static pcal_status identity_list(void *user, size_t worker, pc_fit_fields *fields,
                                 pcal_error *err) {
  (void)user;
  (void)worker;
  (void)fields;
  (void)err;
  return PCAL_OK;
}

static pcal_status identity_fit(const pc_fit_task *task, pcal_error *err) {
  const pc_row_policy policy = {.probs = PC_PROBS_LEAN};
  task->calibrator->fit.status = PC_FIT_IDENTITY;
  return pc_fit_pass(task, &policy, identity_add, identity_list, NULL, err);
}

static const char *identity_recipe(const pcal_calibrator *calibrator, pc_recipe *out) {
  (void)calibrator;
  (void)out;
  return NULL;
}

static void identity_apply(const pcal_calibrator *calibrator, const double *in, size_t count,
                           double *out) {
  memcpy(out, in, count * calibrator->layout.classes * sizeof *out);
  for (size_t i = 0; calibrator->layout.form == PC_FORM_GAUSSIAN && i < count; i++)
    out[3 * i + 1] *= out[3 * i + 1]; /* to the variance */
}

static unsigned identity_traits(const pcal_calibrator *calibrator) {
  const unsigned traits = calibrator->method->traits;
  return calibrator->layout.form == PC_FORM_CLASSES ? traits
                                                    : traits & (PC_INJECTIVE | PC_GUARDED);
}

static void identity_write(const pcal_calibrator *calibrator, pc_json *json) {
  (void)calibrator;
  (void)json;
}

static pcal_status identity_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                                 const char *file, pcal_error *err) {
  (void)calibrator;
  if (parameters->list.count == 0)
    return PCAL_OK;
  return pc_fail_line(err, PCAL_DATA, file, parameters->list.first->line,
                      "identity has no parameters; remove \"%.60s\"",
                      parameters->list.first->key);
}

static void identity_describe(const pcal_calibrator *calibrator, pc_text *out) {
  pc_text_add(out, calibrator->layout.form == PC_FORM_CLASSES ? "probabilities are unchanged\n"
                                                              : "predictions are unchanged\n");
}

const pc_calibrator_method pc_calibrator_identity = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "identity",
            .title = "unchanged predictions",
            .formula = "q = p, from logits q = softmax(z)",
            .about =
                "Changes nothing; from logits it computes the softmax. The baseline for all "
                "other calibrators.",
        },
    .traits = PC_INJECTIVE | PC_KEEPS_ACCURACY | PC_KEEPS_ORDER | PC_SUMS_TO_ONE | PC_GUARDED |
              PC_TAKES_CONFIDENCE | PC_ANY_TASK,
    .fitted_traits = identity_traits,
    .in_rounds = 1,
    .fit = identity_fit,
    .apply = identity_apply,
    .recipe = identity_recipe,
    .write = identity_write,
    .read = identity_read,
    .describe = identity_describe,
};
