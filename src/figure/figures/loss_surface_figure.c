/* A calibration error by temperature, beside the cross entropy.
 *
 * 1. Panels and marks: temperature_panels.c.
 * 2. Confidences are refused: they have no temperature. */
#include <string.h>

#include "figure/temperature_panels.h"

enum { LOSS_SURFACE_METRIC, LOSS_SURFACE_BINS };

static const pcal_option loss_surface_options[] = {
    {"metric", PCAL_OPTION_CHOICE, "ece", 0, 0, "ece|sce|ace|tace|ks|smece|tce",
     "the calibration error"},
    {"bins", PCAL_OPTION_INT, "15", 1, 1000, NULL, "number of bins, for those that have them"},
};

static pcal_status loss_surface_request(const pc_options *options, const pc_layout *layout,
                                        pc_figure_request *request, pcal_error *err) {
  char metric[16];
  pc_options_word(options, LOSS_SURFACE_METRIC, metric, sizeof metric);
  pc_figure_request_metric(request, "log");
  if (strcmp(metric, "ks") == 0 || strcmp(metric, "smece") == 0)
    pc_figure_request_metric(request, "%s", metric);
  else
    pc_figure_request_metric(request, "%s:bins=%d", metric,
                             (int)options->value[LOSS_SURFACE_BINS].number);
  return pc_temperature_request("loss-surface", layout, request, err);
}

static pcal_status loss_surface_build(const pc_figure_data *data, pc_figure *figure,
                                      pcal_error *err) {
  static const char *const titles[] = {"ECE", "SCE", "ACE", "TACE", "KS", "smECE", "TCE"};
  const char *const names[] = {"Cross entropy",
                               titles[data->options->value[LOSS_SURFACE_METRIC].choice]};
  return pc_temperature_draw(data, "Calibration error by temperature", names, 2, figure, err);
}

const pc_figure_row pc_figure_loss_surface = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "loss-surface",
            .title = "a calibration error by temperature",
            .formula = "error of softmax(z / T) against T, beside the mean of -log q_y",
            .about = "The temperature that minimises a calibration error usually differs from "
                     "the one that minimises the cross entropy, and the error has several "
                     "minima: a reason not to tune on it.",
            .citation = "Nixon et al. (2019), Measuring calibration in deep learning, Figure 1",
            .options = loss_surface_options,
            .option_count = sizeof loss_surface_options / sizeof *loss_surface_options,
        },
    .width = 640,
    .height = 600,
    .request = loss_surface_request,
    .build = loss_surface_build,
};
