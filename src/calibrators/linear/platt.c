/* platt: Platt scaling, a sigmoid of the score of each class.
 *
 * Formula:  q_k ~ 1 / (1 + exp(-(a_k z_k + b_k))), rescaled to sum to one;  a_k and b_k
 *           minimise the mean of -t log q - (1 - t) log(1 - q), t = (N+ + 1) / (N+ + 2) for the
 *           N+ rows of class k and 1 / (N- + 2) for the others.
 * Edge cases:
 *   1. z are the logits, or the log-odds of probabilities, clipped to [2^-52, 1 - 2^-52], with
 *      a warning.
 *   2. One column is one regression, and not rescaled.
 *   3. If all sigmoids of a row are tiny, their proportions are kept, also below the smallest
 *      double: the margins are raised together.
 *   4. The smoothed targets make the best parameters finite, also for a class without rows.
 *   5. A regression that does not beat a = 1, b = 0 takes these.
 *   6. Fewer rows than parameters are refused.
 * Traits:   injective for one column with a != 0.
 * Source:   Platt 1999; published codes write exp(a z + b), with opposite signs.
 * Accuracy: gradient 1e-8.
 * Cost:     about 8 passes, an exp and a log for each score. */
#include "calibrators/linear/logistic.h"

static const char *const platt_names[4] = {"a", "b"};
static const pc_logistic_settings platt_settings = {PC_FEATURE_LOG_ODDS, 1, 1, 0};

static pcal_status platt_fit(const pc_fit_task *task, pcal_error *err) {
  return pc_logistic_fit(task, &platt_settings, err);
}

static void platt_write(const pcal_calibrator *calibrator, pc_json *json) {
  pc_logistic_write(calibrator, platt_names, json);
}

static pcal_status platt_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                              const char *file, pcal_error *err) {
  return pc_logistic_read(calibrator, &platt_settings, platt_names, parameters, file, err);
}

static void platt_describe(const pcal_calibrator *calibrator, pc_text *out) {
  pc_logistic_describe(calibrator, platt_names, out);
}

const pc_calibrator_method pc_calibrator_platt = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "platt",
            .title = "Platt scaling",
            .formula = "q_k ~ sigmoid(a_k z_k + b_k), rescaled to sum to one\n"
                       "a_k, b_k: logistic regression of class k against the others, with "
                       "smoothed targets",
            .about =
                "A sigmoid of the score of each class against all others: the classic method "
                "for binary scores, such as those of support vector machines. With several "
                "classes it uses one score at a time, so vector scaling suits softmax models "
                "better. Probabilities enter as log-odds. The top class may change.",
            .citation = "Platt 1999; Lin, Lin & Weng, Machine Learning 2007",
        },
    .traits = PC_SUMS_TO_ONE,
    .fitted_traits = pc_logistic_traits,
    .objective = pc_logistic_objective,
    .needs_scores = 1,
    .in_rounds = 1,
    .fit = platt_fit,
    .scratch_size = pc_logistic_space,
    .apply = pc_logistic_apply,
    .recipe = pc_logistic_recipe,
    .write = platt_write,
    .read = platt_read,
    .describe = platt_describe,
};
