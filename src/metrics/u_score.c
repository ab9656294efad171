/* u-score, u-divergence, u-ce: the U-score of degree two of a kernel, its U-divergence, and the
 * calibration error that it induces.
 *
 * Formula:  S(P1, P2, y1, y2) = (P1 - e_{y1})' k(P1, P2) (P2 - e_{y2})           U-score
 *           s(P1, P2, Q1, Q2) = E S(P1, P2, Y1, Y2), Y1 ~ Q1, Y2 ~ Q2
 *           g(Q1, Q2) = s(Q1, Q2, Q1, Q2) = 0                                    its entropy
 *           d(P1, P2, Q1, Q2) = s - g = (P1 - Q1)' k(P1, P2) (P2 - Q2)           U-divergence
 *           CE_S(f) = E d(f(X1), f(X2), P(Y | f(X1)), P(Y | f(X2)))              induced error
 *           with k = exp(-d/s) or exp(-(d/s)^2 / 2) times the identity, as in skce.c
 *           u-score:      mean of S(p_i, p_j, y_i, y_j) over i < j (U-statistic)
 *           u-divergence: mean of d(p_i, p_j, q_i, q_j) over all i and j, q_i the class
 *                         frequencies of the rows whose prediction equals p_i: CE_S of the
 *                         rows' own distribution
 *           u-ce:         max(0, u-score), or with root=yes its square root
 * Edge cases:
 *   (1) the entropy is 0 and so is the sharpness E d(P(Y), P(Y), P(Y | f), P(Y | f)), whatever
 *       the data: the mean U-score is CE_S itself, so u-score is an unbiased estimate of CE_S
 *       and equals skce;
 *   (2) u-score can be negative; CE_S cannot, and u-ce is never further from CE_S than u-score
 *       is, but it is biased upwards;
 *   (3) rows with the same prediction share k, so that the sum over all pairs of S is the sum
 *       of d: u-divergence equals skce:estimator=biased, and no cells need to be found.  On
 *       average it exceeds CE_S by (E |e_Y - f|^2 - CE_S) / N;
 *   (4) a row of weight w counts as w rows; weights that are not whole numbers need
 *       u-divergence with a given scale;
 *   (5) fewer than two rows: undefined, except for u-divergence with a given scale;
 *   (6) a median distance of 0: undefined;
 *   (7) kernel=gaussian with distance=tv is refused for more than two classes: it is not
 *       positive definite, so that the score is not proper and CE_S can be negative;
 *   (8) a one-column score is the vector (1 - p, p).
 * Source:   Gruber & Buettner 2022, version 3, appendix F, equations 52 to 61 (version 1,
 *           section 11).
 * Accuracy: that of skce.
 * Cost:     that of skce: N^2/2 pairs, over all threads; memory N K. */
#include <math.h>

#include "metrics/skce.h"

enum { U_SCORE_KERNEL, U_SCORE_DISTANCE, U_SCORE_SCALE, U_SCORE_ROOT };
enum { U_SCORE_MEDIAN = 0 }; /* choice of the option scale */

static const pcal_option u_score_options[] = {PC_SKCE_KERNEL_OPTIONS};
static const pcal_option u_score_ce_options[] = {
    PC_SKCE_KERNEL_OPTIONS,
    {"root", PCAL_OPTION_BOOL, "no", 0, 0, NULL,
     "take the square root, which is on the scale of probabilities"},
};

static pcal_status u_score_configure(pc_options *options, const pc_layout *layout,
                                     pc_metric_config *config, pcal_error *err) {
  const pc_option_value *value = options->value;
  if (value[U_SCORE_KERNEL].choice != 0 && value[U_SCORE_DISTANCE].choice != 0 &&
      layout->classes > 2)
    return pc_fail(err, PCAL_USAGE,
                   "%s: kernel=gaussian with distance=tv is not positive definite for more "
                   "than two classes, so its score is not proper; change one of them",
                   options->name);
  config->need.machine = PC_PAIR;
  return PCAL_OK;
}

static pcal_status u_score_evaluate(const pc_options *options, const pc_evidence *evidence,
                                    const pcal_env *env, pc_metric_result *out,
                                    pcal_error *err) {
  const pc_skce_kernel kernel = pc_skce_kernel_read(&options->value[U_SCORE_KERNEL]);
  return pc_skce_pairs(&kernel, 0, evidence, env, out, err);
}

static pcal_status u_score_configure_divergence(pc_options *options, const pc_layout *layout,
                                                pc_metric_config *config, pcal_error *err) {
  PC_TRY(u_score_configure(options, layout, config, err));
  if (options->value[U_SCORE_SCALE].choice != U_SCORE_MEDIAN)
    config->traits &= ~(unsigned)PC_WHOLE_WEIGHTS;
  return PCAL_OK;
}

static pcal_status u_score_evaluate_divergence(const pc_options *options,
                                               const pc_evidence *evidence, const pcal_env *env,
                                               pc_metric_result *out, pcal_error *err) {
  const pc_skce_kernel kernel = pc_skce_kernel_read(&options->value[U_SCORE_KERNEL]);
  return pc_skce_pairs(&kernel, 1, evidence, env, out, err);
}

static pcal_status u_score_configure_ce(pc_options *options, const pc_layout *layout,
                                        pc_metric_config *config, pcal_error *err) {
  PC_TRY(u_score_configure(options, layout, config, err));
  config->traits |= options->value[U_SCORE_ROOT].number != 0 ? 0u : PC_SQUARED;
  return PCAL_OK;
}

static pcal_status u_score_evaluate_ce(const pc_options *options, const pc_evidence *evidence,
                                       const pcal_env *env, pc_metric_result *out,
                                       pcal_error *err) {
  PC_TRY(u_score_evaluate(options, evidence, env, out, err));
  const double error = out->value > 0 ? out->value : 0.0;
  const int root = options->value[U_SCORE_ROOT].number != 0;
  out->value = root ? sqrt(error) : error;
  if (root && out->inner_power > 0)
    out->inner_power = 2;
  return PCAL_OK;
}

#define U_SCORE_TRAITS \
  (PC_ORDER_FREE | PC_MERGEABLE | PC_FREQUENCY_WEIGHTS | PC_WHOLE_WEIGHTS | PC_NEEDS_CLASSES)
#define U_SCORE_CITATION                                                                      \
  "Gruber & Buettner, Better uncertainty calibration via proper scores, NeurIPS 2022, third " \
  "version, appendix F"

const pc_metric pc_metric_u_score = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "u-score",
            .title = "mean U-score of degree two",
            .formula = "2/(N(N-1)) sum_{i<j} S(p_i, p_j, y_i, y_j), S(P, P', y, y') = (P - "
                       "e_y)' k(P, P') (P' - e_{y'})",
            .about = "A score of pairs of rows whose expectation has its minimum, 0, "
                     "exactly for calibrated predictions. Its entropy and sharpness are 0, "
                     "so it is an unbiased estimate of the calibration error that it "
                     "induces and does not measure sharpness: proper, but not strictly. "
                     "Equal to skce, which has an estimator for many rows.",
            .citation = U_SCORE_CITATION,
            .notion = PCAL_NOTION_CANONICAL,
            .machine = PCAL_MACHINE_PAIR,
            .better = PCAL_BETTER_LOWER,
            .options = u_score_options,
            .option_count = sizeof u_score_options / sizeof *u_score_options,
        },
    .range = {0.0, 2.0},
    .traits = U_SCORE_TRAITS | PC_SQUARED,
    .configure = u_score_configure,
    .evaluate = u_score_evaluate,
};

const pc_metric pc_metric_u_divergence = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "u-divergence",
            .title = "mean U-divergence of degree two",
            .formula = "1/N^2 sum_{i,j} (p_i - q_i)' k(p_i, p_j) (p_j - q_j), q_i the class "
                       "frequencies of rows with prediction p_i",
            .about = "The divergence of predictions from the class frequencies of the rows "
                     "with equal predictions: the calibration error induced by the U-score "
                     "for the empirical distribution. Never negative, and positive for "
                     "every finite sample of distinct predictions. Equal to "
                     "skce:estimator=biased.",
            .citation = U_SCORE_CITATION,
            .notion = PCAL_NOTION_CANONICAL,
            .machine = PCAL_MACHINE_PAIR,
            .better = PCAL_BETTER_LOWER,
            .options = u_score_options,
            .option_count = sizeof u_score_options / sizeof *u_score_options,
        },
    .range = {0.0, 2.0},
    .traits = U_SCORE_TRAITS | PC_SQUARED,
    .configure = u_score_configure_divergence,
    .evaluate = u_score_evaluate_divergence,
};

const pc_metric pc_metric_u_ce = {
    .row =
        {
            .registry = PCAL_METRICS,
            .name = "u-ce",
            .title = "calibration error induced by the U-score of degree two",
            .formula = "CE_S = E (f(X) - P(Y|f(X)))' k(f(X), f(X')) (f(X') - P(Y|f(X'))), "
                       "estimated by max(0, u-score)",
            .about = "Zero if and only if the whole probability vector is calibrated. "
                     "Estimated by the mean U-score if positive, else by 0, which is never "
                     "further from the true value. root=yes gives the kernel calibration "
                     "error, which is at most the canonical error CE_2.",
            .citation = U_SCORE_CITATION,
            .notion = PCAL_NOTION_CANONICAL,
            .machine = PCAL_MACHINE_PAIR,
            .better = PCAL_BETTER_LOWER,
            .options = u_score_ce_options,
            .option_count = sizeof u_score_ce_options / sizeof *u_score_ce_options,
        },
    .range = {0.0, 2.0},
    .traits = U_SCORE_TRAITS,
    .configure = u_score_configure_ce,
    .evaluate = u_score_evaluate_ce,
};
