/* Cross entropy and Brier score by the temperature that divides the scores.
 *
 * 1. Panels and marks: temperature_panels.c.
 * 2. Confidences are refused: they have no temperature. */
#include "figure/temperature_panels.h"

static pcal_status temperature_figure_request(const pc_options *options,
                                              const pc_layout *layout,
                                              pc_figure_request *request, pcal_error *err) {
  (void)options;
  pc_figure_request_metric(request, "log");
  pc_figure_request_metric(request, "brier");
  return pc_temperature_request("temperature", layout, request, err);
}

static pcal_status temperature_figure_build(const pc_figure_data *data, pc_figure *figure,
                                            pcal_error *err) {
  static const char *const names[] = {"Cross entropy", "Brier score"};
  return pc_temperature_draw(data, "Scores by temperature", names, 2, figure, err);
}

const pc_figure_row pc_figure_temperature = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "temperature",
            .title = "proper scores by temperature",
            .formula = "mean score of softmax(z / T) against T",
            .about = "Shows the gain of temperature scaling, and how well its optimum is "
                     "determined: above T = 1 the model was over-confident. The curves of a "
                     "second set show whether its optimum suits this set too.",
            .citation = "Guo et al. (2017), On calibration of modern neural networks",
        },
    .width = 640,
    .height = 600,
    .request = temperature_figure_request,
    .build = temperature_figure_build,
};
