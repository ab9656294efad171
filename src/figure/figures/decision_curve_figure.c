/* Decision curve: net benefit against the threshold, for each model, for acting on every row and
 * for acting on none.
 *
 * 1. Lines end where they leave the panel, whose floor is a quarter of the highest value below 0.
 * 2. Bands are the intervals of net-benefit, threshold by threshold, in the colour of their
 *    model. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/figure_registry.h"
#include "figure/number_text.h"

#define DECISION_STEPS 45
#define DECISION_FLOOR (-0.25)

enum { DECISION_FROM, DECISION_TO, DECISION_VIEW };

static const pcal_option decision_options[] = {
    {"from", PCAL_OPTION_REAL, "0.01", 0, 0.99, NULL, "lowest threshold"},
    {"to", PCAL_OPTION_REAL, "0.99", 0.01, 0.999, NULL, "highest threshold"},
    {"view", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|positive",
     "class 1 of two (positive), or the predicted class (top); auto is positive for two "
     "classes, else top"},
};

static const pc_look decision_all = {.tone = PC_TONE_MUTED, .size = 2};
static const pc_look decision_none = {.tone = PC_TONE_INK, .dashed = 1, .size = 1.5};

static double decision_threshold(const pc_options *options, size_t step) {
  const double from = options->value[DECISION_FROM].number,
               to = options->value[DECISION_TO].number;
  return from + (to - from) * (double)step / (DECISION_STEPS - 1);
}

static pcal_status decision_request(const pc_options *options, const pc_layout *layout,
                                    pc_figure_request *request, pcal_error *err) {
  char view[16], number[PC_NUMBER_MAX];
  (void)layout;
  if (!(options->value[DECISION_FROM].number < options->value[DECISION_TO].number))
    return pc_fail(err, PCAL_USAGE,
                   "figure decision-curve: from must be below to; choose from=0.01,to=0.5");
  pc_options_word(options, DECISION_VIEW, view, sizeof view);
  for (size_t i = 0; i < DECISION_STEPS; i++)
    pc_figure_request_metric(request, "net-benefit:threshold=%s,view=%s",
                             pc_show(decision_threshold(options, i), number), view);
  request->interval = 1;
  return PCAL_OK;
}

/* A quantity of a record: 0 the value, 1 and 2 the ends of its interval, 3 treat_all. */
static double decision_value(const pc_result_record *record, int which) {
  return which == 0   ? record->outcome.value
         : which == 3 ? record->outcome.parts[0].value
         : which == 1 ? record->interval_result.low
                      : record->interval_result.high;
}

static double decision_highest(const pc_figure_data *data) {
  double highest = 0.0;
  for (size_t i = 0; i < DECISION_STEPS; i++) {
    const pc_result_record *record = data->shown.requested[i];
    highest = fmax(highest, decision_value(record, 0));
    highest = fmax(highest, decision_value(record, 3));
    if (record->interval_result.has_interval)
      highest = fmax(highest, decision_value(record, 2));
  }
  for (size_t m = 0; m < data->model_count; m++)
    for (size_t i = 0; i < DECISION_STEPS; i++) {
      const pc_result_record *record = data->models[m].requested[i];
      highest = fmax(highest, decision_value(record, 0));
      if (record->interval_result.has_interval)
        highest = fmax(highest, decision_value(record, 2));
    }
  return highest > 0 ? highest : 0.01;
}

/* Draws a line up to the point where it leaves the panel. */
static void decision_line(pc_figure *figure, const pc_figure_data *data,
                          const pc_measured_set *set, int which, double floor, pc_look look) {
  pc_point points[DECISION_STEPS];
  size_t used = 0;
  for (size_t i = 0; i < DECISION_STEPS; i++) {
    const pc_point next = {decision_threshold(data->options, i),
                           decision_value(set->requested[i], which)};
    if (next.y >= floor) {
      points[used++] = next;
      continue;
    }
    if (used > 0 && used == i) {
      const pc_point last = points[used - 1];
      const double share = (last.y - floor) / (last.y - next.y);
      points[used++] = (pc_point){last.x + share * (next.x - last.x), floor};
    }
    break;
  }
  if (used > 1)
    pc_figure_line(figure, 0, look, points, used);
}

static void decision_band(pc_figure *figure, const pc_figure_data *data,
                          const pc_measured_set *set, double floor, pc_look look) {
  pc_point outline[2 * DECISION_STEPS];
  for (size_t i = 0; i < DECISION_STEPS; i++) {
    const pc_result_record *record = set->requested[i];
    const double x = decision_threshold(data->options, i);
    if (!record->interval_result.has_interval)
      return;
    outline[i] = (pc_point){x, fmax(decision_value(record, 1), floor)};
    outline[2 * DECISION_STEPS - 1 - i] = (pc_point){x, fmax(decision_value(record, 2), floor)};
  }
  pc_figure_band(figure, 0, (pc_look){.tone = look.tone, .wash = 1}, outline,
                 2 * DECISION_STEPS);
}

static pc_look decision_model_look(size_t model) {
  return pc_series_look(model, 2.5);
}

static void decision_legend(pc_figure *figure, const pc_figure_data *data) {
  const pc_interval_result *interval = &data->shown.requested[0]->interval_result;
  for (size_t m = 0; m < data->model_count; m++)
    pc_figure_legend(figure, PC_SAMPLE_LINE, decision_model_look(m), data->named[m].name);
  if (data->model_count == 0)
    pc_figure_legend(figure, PC_SAMPLE_LINE, decision_model_look(0), "model");
  if (data->model_count == 0 && interval->has_interval) {
    char text[PC_NUMBER_TEXT_MAX];
    pc_level_text(interval->level, "interval", text);
    pc_figure_legend(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_A, .wash = 1}, text);
  }
  pc_figure_legend(figure, PC_SAMPLE_LINE, decision_all, "treat all");
  pc_figure_legend(figure, PC_SAMPLE_LINE, decision_none, "treat none");
}

static pcal_status decision_check(const pc_figure_data *data, pcal_error *err) {
  for (size_t i = 0; i < DECISION_STEPS; i++)
    if (data->shown.requested[i] == NULL || data->shown.requested[i]->outcome.undefined)
      return pc_fail(err, PCAL_USAGE,
                     "figure decision-curve is drawn from %s and others, which these results "
                     "lack; measure them, or plot from the data",
                     data->request->specs[i]);
  return PCAL_OK;
}

static pcal_status decision_build(const pc_figure_data *data, pc_figure *figure,
                                  pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  PC_TRY(decision_check(data, err));
  const double highest = decision_highest(data), floor = DECISION_FLOOR * highest;
  const double from = data->options->value[DECISION_FROM].number,
               to = data->options->value[DECISION_TO].number;
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, from <= 0.01 ? 0 : from, to >= 0.99 ? 1 : to, 6,
                 PC_NUMBERS_PERCENT, "threshold probability");
  pc_figure_axis(figure, panel, PC_SIDE_Y, floor, 1.05 * highest, 6, PC_NUMBERS_PLAIN,
                 "net benefit");
  figure->title = pc_figure_add_string(figure, "Decision curve");
  pc_figure_set_subtitle(figure, data->shown.results, NULL);
  figure->description = figure->subtitle;
  decision_legend(figure, data);
  pc_figure_lay_out(figure, &grid);
  if (data->model_count == 0)
    decision_band(figure, data, &data->shown, floor, decision_model_look(0));
  for (size_t m = 0; m < data->model_count; m++)
    decision_band(figure, data, &data->models[m], floor, decision_model_look(m));
  pc_figure_segment(figure, panel, decision_none, (pc_point){from, 0}, (pc_point){to, 0});
  decision_line(figure, data, &data->shown, 3, floor, decision_all);
  for (size_t m = 0; m < data->model_count; m++)
    decision_line(figure, data, &data->models[m], 0, floor, decision_model_look(m));
  if (data->model_count == 0)
    decision_line(figure, data, &data->shown, 0, floor, decision_model_look(0));
  return pc_figure_status(figure, err);
}

const pc_figure_row pc_figure_decision_curve = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "decision-curve",
            .title = "net benefit by threshold",
            .formula = "model: net-benefit at 45 thresholds t; treat all: f - (1 - f) t / (1 - "
                       "t), f the share of events; treat none: 0",
            .about =
                "A model is useful for the thresholds at which its line lies above both "
                "references. The threshold is the probability from which on one would act: "
                "its odds weigh the harm of acting in vain against the benefit of acting "
                "rightly. The band is the interval at each threshold.",
            .citation =
                "Vickers & Elkin, Decision curve analysis, Medical Decision Making 2006",
            .options = decision_options,
            .option_count = sizeof decision_options / sizeof *decision_options,
        },
    .width = 640,
    .height = 480,
    .request = decision_request,
    .build = decision_build,
    .several = 1,
};
