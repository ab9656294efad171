/* The fit of the spline calibrator: cumulative errors with the spline through them, and the map
 * of scores given by its slope.
 *
 * 1. The spline is fitted to the second set where there is one, else to the data.
 * 2. Of many points a few hundred are drawn.
 *
 * Gupta et al. (2021), Calibration of neural networks using splines, section 4. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/ks_graph_curve.h"
#include "figure/number_text.h"
#include "stats/cubic_spline.h"

#define SPLINE_FIGURE_STEPS 120
#define SPLINE_FIGURE_POINTS 150

enum { SPLINE_FIGURE_KNOTS, SPLINE_FIGURE_RANK, SPLINE_FIGURE_WITHIN, SPLINE_FIGURE_CLASS };

static const pcal_option spline_figure_options[] = {
    {"knots", PCAL_OPTION_INT, "6", 3, PC_KS_KNOTS_MAX, NULL, "number of knots"},
    {"rank", PCAL_OPTION_INT, "", 1, PC_CLASSES_MAX, NULL,
     "the score of the class of this rank"},
    {"within", PCAL_OPTION_INT, "", 1, PC_CLASSES_MAX, NULL,
     "the sum of the scores of so many ranks"},
    {"class", PCAL_OPTION_INT, "", 0, PC_CLASSES_MAX, NULL, "the score of this class"},
};

typedef struct spline_figure_fit {
  pc_ks_graph_curve curve;
  size_t knots;
  double values[PC_KS_KNOTS_MAX], bends[PC_KS_KNOTS_MAX];
  pc_spline_space space;
  pc_line_maps *map;
} spline_figure_fit;

static pcal_status spline_figure_request(const pc_options *options, const pc_layout *layout,
                                         pc_figure_request *request, pcal_error *err) {
  static const char *const names[] = {"", "rank", "within", "class"};
  int given = 0;
  (void)layout;
  for (size_t i = SPLINE_FIGURE_RANK; i <= SPLINE_FIGURE_CLASS; i++)
    if (options->value[i].set) {
      pc_figure_request_metric(request, "ks:%s=%d", names[i], (int)options->value[i].number);
      given++;
    }
  if (given > 1)
    return pc_fail(err, PCAL_USAGE,
                   "spline-fit: give one of rank, within and class, not several");
  if (given == 0)
    pc_figure_request_metric(request, "ks");
  return PCAL_OK;
}

static pcal_status spline_figure_fit_new(const pcal_env *env, const pc_measured_set *set,
                                         const pc_result_record *record, size_t knots,
                                         spline_figure_fit *fit, pcal_error *err) {
  *fit = (spline_figure_fit){.knots = knots};
  PC_TRY(pc_ks_graph_curve_read(&record->outcome.graph, &fit->curve, err));
  PC_TRY(pc_spline_space_new(env, knots, PC_RUNOUT_NATURAL, &fit->space, err));
  PC_TRY(pc_ks_graph_curve_spline(env, &fit->curve, set->results->effective, knots, fit->values,
                                  &fit->map, err));
  pc_spline_second_derivatives(&fit->space, fit->values, fit->bends);
  return PCAL_OK;
}

static void spline_figure_fit_free(const pcal_env *env, spline_figure_fit *fit) {
  pc_line_maps_free(env, fit->map);
  pc_spline_space_free(env, &fit->space);
}

static double spline_figure_at(const spline_figure_fit *fit, double t) {
  const pc_spline_form form = pc_spline_value(&fit->space, t);
  return pc_spline_evaluate(&form, fit->values, fit->bends);
}

static void spline_figure_axes(pc_figure *figure, const spline_figure_fit *fit) {
  double low = 0, high = 0;
  for (size_t i = 0; i < fit->curve.count; i++) {
    const double error = fit->curve.outcomes[i] - fit->curve.scores[i];
    low = fmin(low, error);
    high = fmax(high, error);
  }
  for (int i = 0; i <= SPLINE_FIGURE_STEPS; i++) {
    const double value = spline_figure_at(fit, (double)i / SPLINE_FIGURE_STEPS);
    low = fmin(low, value);
    high = fmax(high, value);
  }
  const double room = fmax(0.06 * (high - low), 1e-6);
  pc_figure_grid_panel(figure, 0, 0, "Cumulated errors");
  pc_figure_grid_panel(figure, 1, 0, "Map of scores");
  pc_figure_axis(figure, 0, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, "fraction of rows");
  pc_figure_axis(figure, 0, PC_SIDE_Y, low - room, high + room, 6, PC_NUMBERS_PLAIN,
                 "cumulative outcomes minus scores");
  pc_figure_axis(figure, 1, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, "score");
  pc_figure_axis(figure, 1, PC_SIDE_Y, 0, 1, 6, PC_NUMBERS_PLAIN, "calibrated score");
}

static void spline_figure_errors(pc_figure *figure, const spline_figure_fit *fit) {
  const pc_ks_graph_curve *curve = &fit->curve;
  const size_t stride = (curve->count + SPLINE_FIGURE_POINTS - 1) / SPLINE_FIGURE_POINTS;
  pc_point line[SPLINE_FIGURE_STEPS + 1];
  for (size_t i = 0; i < curve->count; i += stride)
    pc_figure_point(figure, 0, (pc_look){.tone = PC_TONE_FILL, .size = 2},
                    (pc_point){curve->fraction[i], curve->outcomes[i] - curve->scores[i]},
                    NULL);
  for (int i = 0; i <= SPLINE_FIGURE_STEPS; i++) {
    const double t = (double)i / SPLINE_FIGURE_STEPS;
    line[i] = (pc_point){t, spline_figure_at(fit, t)};
  }
  pc_figure_segment(figure, 0, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                    (pc_point){0, 0}, (pc_point){1, 0});
  pc_figure_line(figure, 0, (pc_look){.tone = PC_TONE_B, .size = 2}, line,
                 SPLINE_FIGURE_STEPS + 1);
  for (size_t k = 0; k < fit->knots; k++) {
    const double t = (double)k / (double)(fit->knots - 1);
    pc_figure_point(figure, 0, (pc_look){.tone = PC_TONE_B, .hollow = 1, .size = 4},
                    (pc_point){t, fit->values[k]}, NULL);
  }
}

static void spline_figure_map(pc_figure *figure, const spline_figure_fit *fit) {
  pc_point line[SPLINE_FIGURE_STEPS + 1];
  const double low = fit->curve.score[0], high = fit->curve.score[fit->curve.count - 1];
  for (int i = 0; i <= SPLINE_FIGURE_STEPS; i++) {
    const double score = low + (high - low) * (double)i / SPLINE_FIGURE_STEPS;
    line[i] = (pc_point){score, pc_line_map_value(&fit->map->maps[0], score)};
  }
  pc_figure_segment(figure, 1, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                    (pc_point){0, 0}, (pc_point){1, 1});
  pc_figure_line(figure, 1, (pc_look){.tone = PC_TONE_B, .size = 2}, line,
                 SPLINE_FIGURE_STEPS + 1);
}

static void spline_figure_heading(const pc_measured_set *set, int second, pc_figure *figure) {
  figure->title = pc_figure_add_string(figure, "Recalibration by a spline");
  pc_figure_set_subtitle(figure, set->results, second ? "fitted to the second set" : NULL);
  figure->description = figure->subtitle;
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_FILL, .size = 2}, "rows");
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_B, .size = 2}, "spline");
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_B, .hollow = 1}, "knot");
  pc_figure_legend(figure, PC_SAMPLE_LINE,
                   (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                   "perfect calibration");
}

static pcal_status spline_figure_build(const pc_figure_data *data, pc_figure *figure,
                                       pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 2, .rows = 1};
  const pc_measured_set *set = data->val != NULL ? data->val : &data->shown;
  const pc_result_record *record;
  spline_figure_fit fit = {.map = NULL};
  PC_TRY(pc_figure_record_with_curve(data, set, 0, &record, err));
  const pcal_status status = spline_figure_fit_new(
      figure->env, set, record, (size_t)data->options->value[SPLINE_FIGURE_KNOTS].number, &fit,
      err);
  if (status == PCAL_OK) {
    spline_figure_axes(figure, &fit);
    spline_figure_heading(set, data->val != NULL, figure);
    pc_figure_lay_out(figure, &grid);
    spline_figure_errors(figure, &fit);
    spline_figure_map(figure, &fit);
  }
  spline_figure_fit_free(figure->env, &fit);
  return status;
}

const pc_figure_row pc_figure_spline_fit = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "spline-fit",
            .title = "the spline of the spline calibrator",
            .formula =
                "left: e(t) = sum of (outcome - score) / N over the share t of rows with "
                "the smallest scores, and the natural cubic spline s through it\n"
                "right: score + s'(t) against the score",
            .about = "Shows how the calibrator spline derives its map: where the cumulative "
                     "errors fall, scores are too high, and the map lowers them.",
            .citation = "Gupta et al. (2021), Calibration of neural networks using splines",
            .options = spline_figure_options,
            .option_count = sizeof spline_figure_options / sizeof *spline_figure_options,
        },
    .width = 720,
    .height = 440,
    .request = spline_figure_request,
    .build = spline_figure_build,
};
