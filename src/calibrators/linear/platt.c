/* platt: a sigmoid of each class's score.
 *
 * Formula:  q_k ~ 1 / (1 + exp(-(a_k z_k + b_k))), rescaled to sum to one;  a_k and b_k
 *           minimise the mean of -t log q - (1 - t) log(1 - q), t = (N+ + 1) / (N+ + 2) for
 *           rows of class k, which are N+, and 1 / (N- + 2) for the others.
 * Edge cases:
 *   1. z are the logits, or log-odds of probabilities, which are kept in [2^-52, 1 - 2^-52],
 *      with a warning.
 *   2. One column is one regression, and not rescaled.
 *   3. Where every sigmoid of a row is tiny their shares are kept, also below the smallest
 *      double: the margins are shifted up together.
 *   4. The smooth targets make the best parameters finite, also for a class that no row has.
 *   5. A regression that ends no better than a = 1, b = 0 takes these.
 *   6. Fewer rows than parameters are refused.
 * Traits:   injective for one column with a != 0.
 * Source:   Platt 1999; published codes write exp(a z + b), with other signs.
 * Accuracy: gradient 1e-8.   Cost: about 8 passes, an exp and a log for each score. */
#include "calibrators/linear/logistic.h"

static const char *const platt_names[4] = {"a", "b"};
static const pc_logistic_settings platt_plan = {PC_FEATURE_ODDS, 1, 1, 0};

static pcal_status platt_fit(const pc_fit_task *task, pcal_error *err) {
  return pc_logistic_fit(task, &platt_plan, err);
}

static void platt_write(const pcal_calibrator *calibrator, pc_json *json) {
  pc_logistic_write(calibrator, platt_names, json);
}

static pcal_status platt_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                              const char *file, pcal_error *err) {
  return pc_logistic_read(calibrator, &platt_plan, platt_names, parameters, file, err);
}

static void platt_tell(const pcal_calibrator *calibrator, pc_text *out) {
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
                "A sigmoid of the score of each class against all others: the classic for "
                "binary scores, such as those of support vector machines. Of several "
                "classes it looks at one score at a time, so that vector scaling suits "
                "softmax models better. Probabilities enter as log-odds. The top class may "
                "change.",
            .citation = "Platt 1999; Lin, Lin & Weng, Machine Learning 2007",
        },
    .traits = PC_SUMS_TO_ONE,
    .traits_now = pc_logistic_traits,
    .objective = pc_logistic_objective,
    .needs_scores = 1,
    .fit = platt_fit,
    .space = pc_logistic_space,
    .apply = pc_logistic_apply,
    .recipe = pc_logistic_recipe,
    .write = platt_write,
    .read = platt_read,
    .tell = platt_tell,
    .release = pc_logistic_release,
};
