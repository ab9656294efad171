/* Binned calibration errors as functions of the number of bins, with errors that need no bins.
 *
 * 1. The axis of bins is logarithmic.
 * 2. Intervals are bands; without intervals only lines are drawn. */
#include <math.h>
#include <stdio.h>

#include "base/elementary.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/reliability_marks.h"

#define BIN_SENSITIVITY_SERIES 2
#define BIN_SENSITIVITY_PLAIN 2
#define BIN_SENSITIVITY_NUMBERS 10

enum { BIN_SENSITIVITY_NORM, BIN_SENSITIVITY_VIEW };

static const pcal_option bin_sensitivity_options[] = {
    {"norm", PCAL_OPTION_CHOICE, "l1", 0, 0, "l1|l2", "norm of the binned errors"},
    PC_VIEW_OPTION,
};

static const int bin_sensitivity_bins[BIN_SENSITIVITY_NUMBERS] = {5,  7,  10, 15,  20,
                                                                  30, 50, 70, 100, 200};
static const char *const bin_sensitivity_names[BIN_SENSITIVITY_SERIES] = {"ECE, equal width",
                                                                          "ECE, equal mass"};
static const pc_tone bin_sensitivity_tones[] = {PC_TONE_D, PC_TONE_G, PC_TONE_H, PC_TONE_I};

static pcal_status bin_sensitivity_request(const pc_options *options, const pc_layout *layout,
                                           pc_figure_request *request, pcal_error *err) {
  static const char *const binnings[BIN_SENSITIVITY_SERIES] = {"width", "mass"};
  char norm[8], view[16];
  (void)layout;
  (void)err;
  pc_options_word(options, BIN_SENSITIVITY_NORM, norm, sizeof norm);
  pc_options_word(options, BIN_SENSITIVITY_VIEW, view, sizeof view);
  for (size_t s = 0; s < BIN_SENSITIVITY_SERIES; s++)
    for (size_t i = 0; i < BIN_SENSITIVITY_NUMBERS; i++)
      pc_figure_request_metric(request, "ece:bins=%d,binning=%s,norm=%s,view=%s",
                               bin_sensitivity_bins[i], binnings[s], norm, view);
  pc_figure_request_metric(request, "smece");
  pc_figure_request_metric(request, "ks");
  request->interval = 1;
  return PCAL_OK;
}

static int bin_sensitivity_known(const pc_result_record *record) {
  return record != NULL && !record->outcome.undefined && isfinite(record->outcome.value);
}

static double bin_sensitivity_highest(const pc_measured_set *set, size_t count) {
  double highest = 0;
  for (size_t i = 0; i < count; i++)
    if (bin_sensitivity_known(set->requested[i])) {
      const pc_interval_result *interval_result = &set->requested[i]->interval_result;
      highest = fmax(highest, set->requested[i]->outcome.value);
      if (interval_result->has_interval)
        highest = fmax(highest, interval_result->high);
    }
  return highest > 0 ? highest : 1;
}

static void bin_sensitivity_band(pc_figure *figure, const pc_measured_set *set, size_t first,
                                 pc_tone tone) {
  pc_point outline[2 * BIN_SENSITIVITY_NUMBERS];
  size_t used = 0;
  for (size_t i = 0; i < BIN_SENSITIVITY_NUMBERS; i++) {
    const pc_result_record *record = set->requested[first + i];
    if (!bin_sensitivity_known(record) || !record->interval_result.has_interval)
      return;
    outline[used++] = (pc_point){pc_log2(bin_sensitivity_bins[i]), record->interval_result.low};
  }
  for (size_t i = BIN_SENSITIVITY_NUMBERS; i-- > 0;)
    outline[used++] = (pc_point){pc_log2(bin_sensitivity_bins[i]),
                                 set->requested[first + i]->interval_result.high};
  pc_figure_band(figure, 0, (pc_look){.tone = tone, .wash = 1}, outline, used);
}

static void bin_sensitivity_series(pc_figure *figure, const pc_measured_set *set, size_t first,
                                   const char *name, pc_tone tone) {
  pc_point points[BIN_SENSITIVITY_NUMBERS];
  char number[PC_NUMBER_TEXT_MAX], hint[3 * PC_NUMBER_TEXT_MAX];
  size_t used = 0;
  for (size_t i = 0; i < BIN_SENSITIVITY_NUMBERS; i++)
    if (bin_sensitivity_known(set->requested[first + i]))
      points[used++] = (pc_point){pc_log2(bin_sensitivity_bins[i]),
                                  set->requested[first + i]->outcome.value};
  pc_figure_line(figure, 0, (pc_look){.tone = tone, .size = 2}, points, used);
  for (size_t i = 0; i < used; i++) {
    pc_fixed_text(points[i].y, 4, number);
    snprintf(hint, sizeof hint, "%s: %s in %d bins", name, number,
             (int)(pc_exp2(points[i].x) + 0.5));
    pc_figure_point(figure, 0, (pc_look){.tone = tone, .size = 3}, points[i], hint);
  }
}

static void bin_sensitivity_axes(pc_figure *figure, double highest) {
  static const int named[] = {5, 10, 20, 50, 100, 200};
  char text[16];
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, pc_log2(4.5), pc_log2(220), 6, PC_NUMBERS_PLAIN,
                 "number of bins");
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, 1.05 * highest, 6, PC_NUMBERS_PLAIN,
                 "calibration error");
  for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
    snprintf(text, sizeof text, "%d", named[i]);
    pc_figure_name_tick(figure, panel, PC_SIDE_X, pc_log2(named[i]), text);
  }
  if (!figure->failed)
    figure->panels[panel].axis[PC_SIDE_X].lined = 1;
}

static void bin_sensitivity_legend(pc_figure *figure, const pc_measured_set *set,
                                   size_t binned) {
  static const char *const plain[BIN_SENSITIVITY_PLAIN] = {"smECE, no bins", "KS, no bins"};
  for (size_t s = 0; s < BIN_SENSITIVITY_SERIES; s++)
    pc_figure_legend(figure, PC_SAMPLE_LINE,
                     (pc_look){.tone = bin_sensitivity_tones[s], .size = 2},
                     bin_sensitivity_names[s]);
  for (size_t i = 0; i < BIN_SENSITIVITY_PLAIN; i++)
    if (bin_sensitivity_known(set->requested[binned + i]))
      pc_figure_legend(figure, PC_SAMPLE_LINE,
                       (pc_look){.tone = bin_sensitivity_tones[BIN_SENSITIVITY_SERIES + i],
                                 .dashed = 1,
                                 .size = 2},
                       plain[i]);
  if (bin_sensitivity_known(set->requested[0]) &&
      set->requested[0]->interval_result.has_interval) {
    char text[PC_NUMBER_TEXT_MAX];
    pc_level_text(set->requested[0]->interval_result.level, "interval", text);
    pc_figure_legend(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_MUTED, .wash = 1}, text);
  }
}

static pcal_status bin_sensitivity_build(const pc_figure_data *data, pc_figure *figure,
                                         pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const size_t binned = (size_t)BIN_SENSITIVITY_SERIES * BIN_SENSITIVITY_NUMBERS;
  const pc_measured_set *set = &data->shown;
  for (size_t i = 0; i < binned; i++)
    if (set->requested[i] == NULL)
      return pc_fail(err, PCAL_USAGE,
                     "figure bin-sensitivity is drawn from %s and others, which these results "
                     "lack; measure them, or plot from the data",
                     data->request->specs[i]);
  bin_sensitivity_axes(figure, bin_sensitivity_highest(set, data->request->spec_count));
  figure->title = pc_figure_add_string(figure, "Calibration error by number of bins");
  pc_figure_set_subtitle(figure, set->results, NULL);
  figure->description = figure->subtitle;
  bin_sensitivity_legend(figure, set, binned);
  pc_figure_lay_out(figure, &grid);
  for (size_t s = 0; s < BIN_SENSITIVITY_SERIES; s++)
    bin_sensitivity_band(figure, set, s * BIN_SENSITIVITY_NUMBERS, bin_sensitivity_tones[s]);
  for (size_t i = 0; i < BIN_SENSITIVITY_PLAIN; i++)
    if (bin_sensitivity_known(set->requested[binned + i])) {
      const double value = set->requested[binned + i]->outcome.value;
      pc_figure_segment(figure, 0,
                        (pc_look){.tone = bin_sensitivity_tones[BIN_SENSITIVITY_SERIES + i],
                                  .dashed = 1,
                                  .size = 2},
                        (pc_point){pc_log2(4.5), value}, (pc_point){pc_log2(220), value});
    }
  for (size_t s = 0; s < BIN_SENSITIVITY_SERIES; s++)
    bin_sensitivity_series(figure, set, s * BIN_SENSITIVITY_NUMBERS, bin_sensitivity_names[s],
                           bin_sensitivity_tones[s]);
  return PCAL_OK;
}

const pc_figure_row pc_figure_bin_sensitivity = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "bin-sensitivity",
            .title = "binned errors by number of bins",
            .formula = "ECE in 5 to 200 bins of equal width and of equal mass; smECE and KS, "
                       "which have no bins",
            .about = "With more bins the ECE grows, because chance does not cancel in bins of "
                     "few rows; with few bins errors of both signs cancel. A difference "
                     "between two models that depends on the number of bins is not real.",
            .citation = "Nixon et al. (2019), Measuring calibration in deep learning; Kumar et "
                        "al. (2019), Verified uncertainty calibration",
            .options = bin_sensitivity_options,
            .option_count = sizeof bin_sensitivity_options / sizeof *bin_sensitivity_options,
        },
    .width = 640,
    .height = 480,
    .request = bin_sensitivity_request,
    .build = bin_sensitivity_build,
    .in_report = 9,
};
