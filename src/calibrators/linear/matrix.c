/* matrix: matrix scaling.
 *
 * Formula:  q = softmax(W z + b),  W and b minimise the mean of -log q_y.
 * Edge cases: those of vector.c; W and b are defined up to adding the same row to all rows, so
 *           the columns of W and b have mean 0.
 * Source:   Guo et al. 2017.
 * Accuracy: gradient 1e-8.
 * Cost:     see linear_search.c; memory up to about 30 times the parameters, which are
 *           classes (classes + 1). */
#include "calibrators/linear/linear_model.h"

enum { MATRIX_ON };

static const pcal_option matrix_options[] = {PC_LINEAR_ON_OPTION};

static pcal_status matrix_fit(const pc_fit_task *task, pcal_error *err) {
  return pc_linear_model_fit(task, 1, MATRIX_ON, err);
}

static pcal_status matrix_read(pcal_calibrator *calibrator, const pc_json_node *parameters,
                               const char *file, pcal_error *err) {
  return pc_linear_model_read(calibrator, pc_linear_feature(calibrator, MATRIX_ON), 1, 1, 0,
                              parameters, file, err);
}

const pc_calibrator_method pc_calibrator_matrix = {
    .row =
        {
            .registry = PCAL_CALIBRATORS,
            .name = "matrix",
            .title = "matrix scaling",
            .formula = "q = softmax(W z + b), W a square matrix\n"
                       "W and b minimise the mean of -log q_y",
            .about =
                "The most general linear map of the scores: it also corrects confusions "
                "between pairs of classes. With more than a few classes it overfits, since "
                "the number of parameters grows with their square: matrix-odir adds a "
                "penalty. The top class may change. on=log-probs acts on log-probabilities "
                "instead of logits.",
            .citation = "Guo, Pleiss, Sun & Weinberger, ICML 2017",
            .options = matrix_options,
            .option_count = sizeof matrix_options / sizeof *matrix_options,
        },
    .traits = PC_SUMS_TO_ONE | PC_GUARDED | PC_SQUARE,
    .objective = pc_linear_model_objective,
    .needs_scores = 1,
    .in_rounds = 1,
    .fit = matrix_fit,
    .scratch_size = pc_linear_model_space,
    .apply = pc_linear_model_apply,
    .recipe = pc_linear_model_recipe,
    .write = pc_linear_model_write,
    .read = matrix_read,
    .describe = pc_linear_model_describe,
};
