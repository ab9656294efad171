/* Cross entropy and Brier score against the temperature that divides the scores.
 *
 * 1. What is drawn: temperature_panels.c.
 * 2. Confidences have no temperature: refused. */
#include "figure/temperature_panels.h"

static pcal_status temperature_figure_wish(const pc_options *options, const pc_layout *layout,
                                           pc_figure_request *wish, pcal_error *err) {
  (void)options;
  pc_figure_request_metric(wish, "log");
  pc_figure_request_metric(wish, "brier");
  return pc_temperature_request("temperature", layout, wish, err);
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
            .title = "proper scores against temperature",
            .formula = "mean score of softmax(z / T) against T",
            .about = "Shows what temperature scaling can gain, and how well its optimum is "
                     "determined: above T = 1 the model was over-confident. With a second set "
                     "its curves show whether its optimum serves this set too.",
            .citation = "Guo et al. (2017), On calibration of modern neural networks",
        },
    .width = 640,
    .height = 600,
    .wish = temperature_figure_wish,
    .build = temperature_figure_build,
};
