/* vector: vector scaling, a slope and an intercept for each class.
 *
 * Formula:  q = softmax(w * z + b),  w and b minimise the mean of -log q_y.
 * Edge cases:
 *   1. on=logits acts on the logits as given, on=log-probs on log-probabilities; probabilities
 *      always enter as their logarithms, 0 as 2^-149 (features.c), with a warning.
 *   2. b is defined up to a constant; its mean is 0.  With one column of logits the first
 *      weight is 0.
 *   3. A class without rows, or labels that the scores separate: the best parameters would be
 *      infinite, and the search stops where the gradient vanishes (status stopped).
 *   4. Nothing beats w = 1, b = 0: these are taken (status identity).
 *   5. Rows whose label has probability 0 make the objective before the fit infinite, but count
 *      in the fit.
 *   6. Fewer rows than parameters are refused.
 * Traits:   injective on log-probabilities if all w are positive: log q_k - log q'_k =
 *           w_k (log p_k - log p'_k) + c; if q = q' all differences of log p have one sign, but
 *           both p sum to one.
 * Source:   Guo et al. 2017.
 * Accuracy: gradient 1e-10.
 * Cost:     about 6 passes with exponentials; see vector_search.c. */
#include "calibrators/linear/linear_model.h"

enum { VECTOR_ON };

static const pcal_option vector_options[] = {PC_LINEAR_ON_OPTION};

static pcal_status vector_fit(const pc_fit_task *task, pcal_error *err) {
  return pc_linear_model_fit(task, 0, VECTOR_ON, err);
}

static pcal_status vector_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                               const char *file, pcal_error *err) {
  return pc_linear_model_read(calibrator, pc_linear_feature(calibrator, VECTOR_ON), 0, 1, 0,
                              parameters, file, err);
}

static unsigned vector_traits(const pcal_calibrator *calibrator) {
  const pc_linear_model *model = calibrator->parameters;
  unsigned traits = calibrator->method->traits;
  if (model->feature == PC_FEATURE_LOG_PROBS || calibrator->layout.kind != PCAL_LOGIT)
    traits |= PC_INJECTIVE;
  for (size_t c = 0; c < model->classes; c++)
    if (!(model->w[c] > 0.0))
      traits &= ~(unsigned)PC_INJECTIVE;
  return traits;
}

const pc_calibrator_method pc_calibrator_vector = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "vector",
            .title = "vector scaling",
            .formula = "q = softmax(w * z + b), a weight and a shift for each class\n"
                       "w and b minimise the mean of -log q_y",
            .about =
                "A slope and an intercept for each class: corrects classes that are over- or "
                "underrated, which one temperature cannot. The top class may change. Acts "
                "on the logits as given, so adding a constant to a row changes the result; "
                "on=log-probs acts on log-probabilities instead. Needs a few hundred rows "
                "for each class.",
            .citation = "Guo, Pleiss, Sun & Weinberger, ICML 2017",
            .options = vector_options,
            .option_count = sizeof vector_options / sizeof *vector_options,
        },
    .traits = PC_SUMS_TO_ONE | PC_GUARDED,
    .fitted_traits = vector_traits,
    .objective = pc_linear_model_objective,
    .needs_scores = 1,
    .in_rounds = 1,
    .fit = vector_fit,
    .scratch_size = pc_linear_model_space,
    .apply = pc_linear_model_apply,
    .recipe = pc_linear_model_recipe,
    .write = pc_linear_model_write,
    .read = vector_read,
    .describe = pc_linear_model_describe,
};
