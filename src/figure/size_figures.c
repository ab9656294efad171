/* Figures of studies about the number of rows, for `plot`: the study is run with few repeats.
 */
#include "figure/gallery.h"

#define SIZE_FIGURES_REPEATS 30

const pc_figure_row pc_figure_test_size = {
    .row =
        {
            .kind = "figures",
            .name = "test-size",
            .title = "errors against the number of rows",
            .formula = "mean of each metric over 30 random subsets of n rows, and by its value "
                       "on all rows",
            .about = "A number that depends on how many rows there are says as much about them "
                     "as about the model: an estimator without bias is a flat line. This is "
                     "the figure of `propercal study test-size` with 30 subsets of each size.",
            .citation = "Gruber & Buettner (2022), Better uncertainty calibration via proper "
                        "scores for classification and beyond, Figure 3",
        },
    .width = 880,
    .height = 520,
    .study = "test-size",
    .study_repeats = SIZE_FIGURES_REPEATS,
};
