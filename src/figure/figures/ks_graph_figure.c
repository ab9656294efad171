/* The four graphs of a Kolmogorov-Smirnov error.
 *
 * a: cumulative scores and cumulative outcomes against the fraction of rows, in the order of
 *    scores; the largest distance is the KS error.
 * b: the same against the cumulative score, which makes that line straight.
 * c: score and estimated probability against the fraction of rows.
 * d: estimated probability against the score: the recalibration map.
 * The probability is the slope of a natural cubic spline with 6 knots through the cumulative
 * errors, as in the calibrator spline.
 *
 * 1. A second set has four graphs below.
 * 2. After a calibrator the subtitle also has the KS error before it.
 *
 * Gupta et al. (2021), Calibration of neural networks using splines, Figures 1 to 10. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/ks_graph_curve.h"
#include "figure/number_text.h"

#define KS_GRAPH_KNOTS 6

enum { KS_GRAPH_RANK, KS_GRAPH_WITHIN, KS_GRAPH_CLASS };

static const pcal_option ks_graph_options[] = {
    {"rank", PCAL_OPTION_INT, "", 1, PC_CLASSES_MAX, NULL,
     "the score of the class of this rank"},
    {"within", PCAL_OPTION_INT, "", 1, PC_CLASSES_MAX, NULL,
     "the sum of the scores of so many ranks"},
    {"class", PCAL_OPTION_INT, "", 0, PC_CLASSES_MAX, NULL, "the score of this class"},
};

static const char *const ks_graph_names[] = {"rank", "within", "class"};
static const pc_look ks_graph_score = {.tone = PC_TONE_A, .size = 2};
static const pc_look ks_graph_outcome = {.tone = PC_TONE_C, .size = 2};

static pcal_status ks_graph_request(const pc_options *options, const pc_layout *layout,
                                    pc_figure_request *request, pcal_error *err) {
  int given = 0;
  (void)layout;
  for (size_t i = 0; i < 3; i++)
    if (options->value[i].set) {
      pc_figure_request_metric(request, "ks:%s=%d", ks_graph_names[i],
                               (int)options->value[i].number);
      given++;
    }
  if (given > 1)
    return pc_fail(err, PCAL_USAGE,
                   "ks-graph: give one of rank, within and class, not several");
  if (given == 0)
    pc_figure_request_metric(request, "ks");
  request->interval = 1;
  return PCAL_OK;
}

static double ks_graph_part(const pc_result_record *record, size_t part) {
  return part < record->outcome.part_count ? record->outcome.parts[part].value : (double)NAN;
}

/* Adds four panels of one set from a row of the grid on; returns the index of the first. */
static size_t ks_graph_panels(pc_figure *figure, const pc_ks_graph_curve *curve, size_t row,
                              const char *set) {
  static const struct {
    const char *title, *x, *y;
  } panels[] = {{"(a) cumulative", "fraction of rows", "cumulative"},
                {"(b) straightened", "cumulative score", "cumulative"},
                {"(c) not cumulative", "fraction of rows", "probability"},
                {"(d) map of scores", "score", "probability"}};
  const double whole = fmax(curve->scores[curve->count - 1], curve->outcomes[curve->count - 1]);
  size_t first = 0;
  for (size_t i = 0; i < 4; i++) {
    char title[PC_NUMBER_TEXT_MAX];
    snprintf(title, sizeof title, "%s%s", panels[i].title, set);
    const size_t panel = pc_figure_grid_panel(figure, i % 2, row + i / 2, title);
    pc_figure_axis(figure, panel, PC_SIDE_X, 0, i == 1 ? 1.02 * whole : 1, 6, PC_NUMBERS_PLAIN,
                   panels[i].x);
    pc_figure_axis(figure, panel, PC_SIDE_Y, 0, i < 2 ? 1.02 * whole : 1, 6, PC_NUMBERS_PLAIN,
                   panels[i].y);
    first = i == 0 ? panel : first;
  }
  return first;
}

/* Draws the largest distance as a line in panels a and b. */
static void ks_graph_gap(pc_figure *figure, size_t first, const pc_ks_graph_curve *curve,
                         const pc_result_record *record) {
  const pc_look look = {.tone = PC_TONE_INK, .size = 2};
  size_t at = 0;
  for (size_t i = 1; i < curve->count; i++)
    if (fabs(curve->scores[i] - curve->outcomes[i]) >
        fabs(curve->scores[at] - curve->outcomes[at]))
      at = i;
  char number[PC_NUMBER_TEXT_MAX], hint[2 * PC_NUMBER_TEXT_MAX];
  pc_fixed_text(record->outcome.value, 4, number);
  snprintf(hint, sizeof hint, "KS %s", number);
  for (size_t i = 0; i < 2; i++) {
    const double x = i == 0 ? curve->fraction[at] : curve->scores[at];
    pc_figure_segment(figure, first + i, look, (pc_point){x, curve->scores[at]},
                      (pc_point){x, curve->outcomes[at]});
    pc_figure_point(figure, first + i, (pc_look){.tone = PC_TONE_INK, .size = 2.5},
                    (pc_point){x, curve->outcomes[at]}, hint);
  }
}

static pcal_status ks_graph_draw(pc_figure *figure, size_t first,
                                 const pc_ks_graph_curve *curve, double rows, pcal_error *err) {
  double values[KS_GRAPH_KNOTS];
  pc_line_maps *map;
  double *probability = pc_alloc(figure->env, curve->count, sizeof *probability);
  if (probability == NULL)
    return pc_fail_memory(err, "drawing ks-graph");
  const pcal_status status =
      pc_ks_graph_curve_spline(figure->env, curve, rows, KS_GRAPH_KNOTS, values, &map, err);
  if (status == PCAL_OK) {
    const size_t n = curve->count;
    for (size_t i = 0; i < n; i++)
      probability[i] = pc_line_map_value(&map->maps[0], curve->score[i]);
    pc_ks_graph_curve_line(figure, first, ks_graph_score, curve->fraction, curve->scores, n);
    pc_ks_graph_curve_line(figure, first, ks_graph_outcome, curve->fraction, curve->outcomes,
                           n);
    pc_ks_graph_curve_line(figure, first + 1, ks_graph_score, curve->scores, curve->scores, n);
    pc_ks_graph_curve_line(figure, first + 1, ks_graph_outcome, curve->scores, curve->outcomes,
                           n);
    pc_ks_graph_curve_line(figure, first + 2, ks_graph_score, curve->fraction, curve->score, n);
    pc_ks_graph_curve_line(figure, first + 2, ks_graph_outcome, curve->fraction, probability,
                           n);
    pc_figure_segment(figure, first + 3, ks_graph_score, (pc_point){0, 0}, (pc_point){1, 1});
    pc_ks_graph_curve_line(figure, first + 3, ks_graph_outcome, curve->score, probability, n);
  }
  pc_line_maps_free(figure->env, map);
  pc_free(figure->env, probability);
  return status;
}

static void ks_graph_view(const pc_options *options, const pcal_results *results,
                          pc_text *out) {
  char buffer[32];
  if (options->value[KS_GRAPH_CLASS].set)
    pc_text_format(
        out, "%s",
        pc_class_display_name(results, (size_t)options->value[KS_GRAPH_CLASS].number, buffer));
  else if (options->value[KS_GRAPH_WITHIN].set)
    pc_text_format(out, "the first %d ranks", (int)options->value[KS_GRAPH_WITHIN].number);
  else if (options->value[KS_GRAPH_RANK].set && options->value[KS_GRAPH_RANK].number > 1)
    pc_text_format(out, "the class of rank %d", (int)options->value[KS_GRAPH_RANK].number);
  else
    pc_text_add(out, pc_layout_is_binary(&results->layout) ? "class 1" : "the predicted class");
}

static void ks_graph_heading(const pc_figure_data *data, const pc_result_record *record,
                             pc_figure *figure) {
  char number[PC_NUMBER_TEXT_MAX];
  pc_text line;
  pc_text_init(&line, figure->env);
  pc_text_add(&line, "Calibration graphs of ");
  ks_graph_view(data->options, data->shown.results, &line);
  figure->title = line.failed ? 0 : pc_figure_add_string(figure, line.bytes);
  line.length = 0;
  pc_fixed_text(record->outcome.value, 4, number);
  pc_text_format(&line, "KS %s", number);
  if (record->interval_result.has_interval) {
    pc_range_text(record->interval_result.low, record->interval_result.high, number);
    pc_text_format(&line, " (%s)", number);
  }
  if (data->before != NULL && data->before->requested[0] != NULL) {
    pc_fixed_text(data->before->requested[0]->outcome.value, 4, number);
    pc_text_format(&line, ", before calibration %s", number);
  }
  figure->failed |= line.failed;
  pc_figure_set_subtitle(figure, data->shown.results, line.failed ? NULL : line.bytes);
  figure->description = figure->subtitle;
  pc_text_free(&line);
}

static void ks_graph_legend(pc_figure *figure) {
  pc_figure_legend(figure, PC_SAMPLE_LINE, ks_graph_score, "score");
  pc_figure_legend(figure, PC_SAMPLE_LINE, ks_graph_outcome,
                   "outcome, or probability by spline");
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_INK, .size = 2},
                   "KS error");
}

static pcal_status ks_graph_build(const pc_figure_data *data, pc_figure *figure,
                                  pcal_error *err) {
  const pc_measured_set *sets[] = {&data->shown, data->val};
  const size_t count = data->val != NULL ? 2 : 1;
  const pc_panel_grid grid = {.columns = 2, .rows = 2 * count};
  const pc_result_record *records[2];
  pc_ks_graph_curve curves[2];
  size_t first[2];
  for (size_t i = 0; i < count; i++) {
    PC_TRY(pc_figure_record_with_curve(data, sets[i], 0, &records[i], err));
    PC_TRY(pc_ks_graph_curve_read(&records[i]->outcome.graph, &curves[i], err));
    first[i] = ks_graph_panels(figure, &curves[i], 2 * i, i == 0 ? "" : ", second set");
  }
  if (!figure->fixed_height && count == 2)
    figure->height *= 1.8;
  ks_graph_heading(data, records[0], figure);
  ks_graph_legend(figure);
  pc_figure_lay_out(figure, &grid);
  for (size_t i = 0; i < count; i++) {
    PC_TRY(ks_graph_draw(figure, first[i], &curves[i], sets[i]->results->effective, err));
    if (isfinite(ks_graph_part(records[i], 0)))
      ks_graph_gap(figure, first[i], &curves[i], records[i]);
  }
  return PCAL_OK;
}

const pc_figure_row pc_figure_ks_graph = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "ks-graph",
            .title = "cumulative scores against cumulative outcomes",
            .formula = "a: sum of scores and sum of outcomes of the first rows by score, "
                       "divided by all rows\nb: the same against the sum of scores\n"
                       "c, d: the score and the slope of a spline through the outcomes",
            .about = "Calibration without bins: where the line of outcomes is below that of "
                     "scores, scores are too high. The largest distance is the KS error. The "
                     "view is chosen as for ks: a rank, the first ranks together, or a class.",
            .citation = "Gupta et al. (2021), Calibration of neural networks using splines",
            .options = ks_graph_options,
            .option_count = sizeof ks_graph_options / sizeof *ks_graph_options,
        },
    .width = 720,
    .height = 680,
    .request = ks_graph_request,
    .build = ks_graph_build,
    .in_report = 5,
};
