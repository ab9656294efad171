/* Figures of `plot` that run a study of the number of rows, with few repeats. */
#include "figure/figure_registry.h"

#define SIZE_FIGURES_REPEATS 30

const pc_figure_row pc_figure_test_size = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "test-size",
            .title = "errors by number of rows",
            .formula = "mean of each metric over 30 random subsets of n rows, and by its value "
                       "on all rows",
            .about = "A metric that depends on the number of rows describes them as much as "
                     "the model: an unbiased estimator is a flat line. This is "
                     "the figure of the study test-size with 30 subsets of each size, "
                     "or `replicas` of them.",
            .citation = "Gruber & Buettner (2022), Better uncertainty calibration via proper "
                        "scores for classification and beyond, Figure 3",
        },
    .width = 880,
    .height = 520,
    .study = "test-size",
    .study_repeats = SIZE_FIGURES_REPEATS,
};

const pc_figure_row pc_figure_improvement = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "improvement",
            .title = "improvement by temperature scaling, by number of rows",
            .formula = "mean of e(D, f) - e(D, h o f) over 30 random subsets D of n rows, h: "
                       "temperature scaling",
            .about =
                "The apparent improvement by temperature scaling depends on the metric and "
                "on the number of rows: only proper scores are flat lines. Without a second "
                "set the temperature is found in 5-fold "
                "cross-validation. This is the figure of the study improvement "
                "with 30 subsets of each size, or `replicas` of them; there any "
                "calibrator can be studied.",
            .citation = "Gruber & Buettner (2022), Better uncertainty calibration via proper "
                        "scores for classification and beyond, Figure 1",
        },
    .width = 640,
    .height = 520,
    .study = "improvement",
    .study_repeats = SIZE_FIGURES_REPEATS,
};

const pc_figure_row pc_figure_ece_bias = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "ece-bias",
            .title = "the ECE of simulated models and the truth, by number of rows",
            .formula = "mean ECE over 30 random subsets of n rows; mu(n) of Proposition 3.3; "
                       "the ECE of the true probabilities",
            .about =
                "Even a calibrated model has an ECE above 0, which grows as the number of "
                "rows shrinks; Proposition 3.3 says how much. The models are simulated, so "
                "that the truth is known; predictions are not used. This is the figure of "
                "the study ece-bias with 30 subsets of each size (or `replicas`), "
                "out of 10000 rows.",
            .citation = "Gruber & Buettner (2022), Better uncertainty calibration via proper "
                        "scores for classification and beyond, Figure 2",
        },
    .width = 640,
    .height = 500,
    .study = "ece-bias:pool=1",
    .study_repeats = SIZE_FIGURES_REPEATS,
};
