/* beta: beta calibration, a curve with two slopes for the probability of each class.
 *
 * Formula:  q_k ~ 1 / (1 + exp(-(a log p - b log(1 - p) + c))), p = p_k, rescaled to sum to
 *           one; a, b >= 0 and c of each class minimise the mean log score of class k against
 *           the others. m is the p that becomes 1/2: a log m - b log(1 - m) + c = 0.
 * Edge cases:
 *   1. p is clipped to [2^-52, 1 - 2^-52].
 *   2. One column is one regression, and not rescaled.
 *   3. Proportions of tiny sigmoids are kept, as in platt.
 *   4. A class without rows, or probabilities that separate it: the best parameters would be
 *      infinite, and the search stops where the gradient vanishes (status stopped).
 *   5. A regression that does not beat a = b = 1, c = 0 takes these.
 *   6. No p becomes 1/2: m is 0 or 1, the end where the curve is nearest to 1/2; 1/2 if
 *      a = b = c = 0.
 *   7. Fewer rows than parameters are refused.
 * Traits:   injective for one column with a + b > 0.
 * Source:   Kull, Silva Filho & Flach 2017; they refit without a slope that came out negative.
 * Accuracy: gradient 1e-8.
 * Cost:     about 10 passes, two exp and three log for each score. */
#include <math.h>

#include "base/elementary.h"
#include "calibrators/linear/logistic.h"

static const char *const beta_names[4] = {"a", "b", "c", "m"};
static const pc_logistic_settings beta_settings = {PC_FEATURE_BETA, 2, 0, 1};

/* log of 1 / (1 + exp(-t)). */
static double beta_log_sigmoid(double t) {
  return t < 0.0 ? t - pc_log1p(pc_exp(t)) : -pc_log1p(pc_exp(-t));
}

/* The log-odds of the result, from the log-odds t of p. */
static double beta_margin(double a, double b, double c, double t) {
  return a * beta_log_sigmoid(t) - b * beta_log_sigmoid(-t) + c;
}

/* m, by bisection in its log-odds. */
static double beta_middle(double a, double b, double c) {
  double low = -745.0, high = 745.0;
  const double first = beta_margin(a, b, c, low), last = beta_margin(a, b, c, high);
  if (first == 0.0 && last == 0.0)
    return 0.5;
  if (first >= 0.0 || last <= 0.0)
    return first >= 0.0 ? 0.0 : 1.0;
  for (int i = 0; i < 80; i++) {
    const double t = 0.5 * (low + high);
    if (beta_margin(a, b, c, t) < 0.0)
      low = t;
    else
      high = t;
  }
  return pc_exp(beta_log_sigmoid(0.5 * (low + high)));
}

static pcal_status beta_fit(const pc_fit_task *task, pcal_error *err) {
  PC_TRY(pc_logistic_fit(task, &beta_settings, err));
  pc_logistic *model = task->calibrator->parameters;
  for (size_t k = 0; k < model->columns; k++)
    model->middle[k] = beta_middle(model->slope[0][k], model->slope[1][k], model->shift[k]);
  return PCAL_OK;
}

static void beta_write(const pcal_calibrator *calibrator, pc_json *json) {
  pc_logistic_write(calibrator, beta_names, json);
}

static pcal_status beta_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                             const char *file, pcal_error *err) {
  return pc_logistic_read(calibrator, &beta_settings, beta_names, parameters, file, err);
}

static void beta_describe(const pcal_calibrator *calibrator, pc_text *out) {
  pc_logistic_describe(calibrator, beta_names, out);
}

const pc_calibrator_method pc_calibrator_beta = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "beta",
            .title = "beta calibration",
            .formula = "q_k ~ sigmoid(a log p_k - b log(1 - p_k) + c), rescaled to sum to one\n"
                       "a, b >= 0 and c: logistic regression of class k against the others",
            .about =
                "A family of curves from [0, 1] to itself that includes the identity, "
                "sigmoids and inverse sigmoids: for binary probabilities it avoids the "
                "distortions of Platt scaling. m is the probability that becomes 1/2. With "
                "several classes each is calibrated against the others, and the top class "
                "may change.",
            .citation = "Kull, Silva Filho & Flach, AISTATS 2017",
        },
    .traits = PC_SUMS_TO_ONE,
    .fitted_traits = pc_logistic_traits,
    .objective = pc_logistic_objective,
    .needs_scores = 1,
    .in_rounds = 1,
    .fit = beta_fit,
    .scratch_size = pc_logistic_space,
    .apply = pc_logistic_apply,
    .recipe = pc_logistic_recipe,
    .write = beta_write,
    .read = beta_read,
    .describe = beta_describe,
};
