/* Smooth reliability diagram: the frequency of hits smoothed along the score.
 *
 * Upper panel: the curve of smece (metrics/smooth_diagram.c) with a band of 95 % at each score; the
 * line is as thick as there are rows.  Lower panel: the density of the scores.
 *
 * 1. The curve has gaps where there are no rows.
 * 2. A piece too short to be seen as a line is drawn as a dot with its interval.
 * 3. Several models: their lines and densities, without bands. */
#include <math.h>
#include <stdio.h>

#include "figure/figure_layout.h"
#include "figure/forecast_marks.h"
#include "figure/number_text.h"
#include "figure/reliability_marks.h"
#include "figure/stat_box.h"
#include "metrics/smooth_diagram.h"

#define DIAGRAM_THIN 1.2  /* thickness of the line where there are hardly any rows */
#define DIAGRAM_THICK 9.0 /* and where there are most */
#define DIAGRAM_SHORT 3   /* points of a piece that is drawn as a dot */
#define DIAGRAM_POINTS (PC_DIAGRAM_STEPS + 1)

enum { SMOOTH_FIGURE_VIEW };

static const pcal_option smooth_figure_options[] = {PC_VIEW_OPTION};

static const pc_look smooth_figure_band = {.tone = PC_TONE_A, .wash = 1};
static const pc_look smooth_figure_area = {.tone = PC_TONE_FILL};

/* One model's diagram. */
typedef struct smooth_figure_curve {
  size_t count;
  const double *score, *density, *frequency, *low, *high;
  pc_look look;
} smooth_figure_curve;

static pcal_status smooth_figure_request(const pc_options *options, const pc_layout *layout,
                                         pc_figure_request *request, pcal_error *err) {
  char view[16];
  (void)layout;
  (void)err;
  pc_options_word(options, SMOOTH_FIGURE_VIEW, view, sizeof view);
  pc_figure_request_metric(request, "smece:view=%s", view);
  request->interval = 1;
  return PCAL_OK;
}

static pcal_status smooth_figure_read(const pc_figure_data *data, const pc_measured_set *set,
                                      size_t model, smooth_figure_curve *out, pcal_error *err) {
  const pc_result_record *record;
  PC_TRY(pc_figure_record_with_curve(data, set, 0, &record, err));
  const pc_plot_table *graph = &record->outcome.graph;
  *out = (smooth_figure_curve){.count = graph->count,
                               .score = pc_graph_column(graph, "score"),
                               .density = pc_graph_column(graph, "density"),
                               .frequency = pc_graph_column(graph, "frequency"),
                               .low = pc_graph_column(graph, "low"),
                               .high = pc_graph_column(graph, "high"),
                               .look = pc_series_look(model, 0)};
  return PCAL_OK;
}

static double smooth_figure_highest(const smooth_figure_curve *curve) {
  double highest = 0.0;
  for (size_t i = 0; i < curve->count; i++)
    highest = fmax(highest, curve->density[i]);
  return highest;
}

/* The first point after `begin` that does not follow the one before it. */
static size_t smooth_figure_piece_end(const smooth_figure_curve *curve, size_t begin) {
  size_t end = begin + 1;
  while (end < curve->count &&
         curve->score[end] - curve->score[end - 1] < 1.5 / PC_DIAGRAM_STEPS)
    end++;
  return end;
}

/* ---- marks of one piece ---- */

static void smooth_figure_between(pc_figure *figure, size_t panel, pc_look look,
                                  const double *x, const double *low, const double *high,
                                  size_t count) {
  pc_point outline[2 * DIAGRAM_POINTS];
  for (size_t i = 0; i < count; i++) {
    outline[i] = (pc_point){x[i], low == NULL ? 0.0 : low[i]};
    outline[2 * count - 1 - i] = (pc_point){x[i], high[i]};
  }
  pc_figure_band(figure, panel, look, outline, 2 * count);
}

/* The outline of a line whose thickness varies: each point moved to both sides, at right angles to
 * the line in figure units. */
static void smooth_figure_thick_line(pc_figure *figure, size_t panel,
                                     const smooth_figure_curve *curve, size_t begin, size_t end,
                                     double highest) {
  const pc_rect rect = figure->panels[panel].rect;
  const size_t count = end - begin;
  pc_point outline[2 * DIAGRAM_POINTS];
  for (size_t k = 0; k < count; k++) {
    const size_t i = begin + k, before = k > 0 ? i - 1 : i, after = k + 1 < count ? i + 1 : i;
    const double dx = rect.width * (curve->score[after] - curve->score[before]);
    const double dy = rect.height * (curve->frequency[after] - curve->frequency[before]);
    const double half =
        0.5 * (DIAGRAM_THIN + (DIAGRAM_THICK - DIAGRAM_THIN) * curve->density[i] / highest);
    const double along = half / sqrt(dx * dx + dy * dy);
    const double x = -dy * along / rect.width, y = dx * along / rect.height;
    outline[k] = (pc_point){curve->score[i] + x, curve->frequency[i] + y};
    outline[2 * count - 1 - k] = (pc_point){curve->score[i] - x, curve->frequency[i] - y};
  }
  pc_figure_band(figure, panel, curve->look, outline, 2 * count);
}

static void smooth_figure_dot(pc_figure *figure, size_t panel, const smooth_figure_curve *curve,
                              size_t i) {
  pc_look dot = curve->look;
  dot.size = 4.5;
  pc_figure_point(figure, panel, dot, (pc_point){curve->score[i], curve->frequency[i]}, NULL);
}

static void smooth_figure_interval(pc_figure *figure, size_t panel,
                                   const smooth_figure_curve *curve, size_t i) {
  pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_MUTED, .size = 1.5},
                    (pc_point){curve->score[i], curve->low[i]},
                    (pc_point){curve->score[i], curve->high[i]});
}

/* ---- models ---- */

static void smooth_figure_band_of(pc_figure *figure, size_t panel,
                                  const smooth_figure_curve *curve) {
  for (size_t begin = 0, end; begin < curve->count; begin = end) {
    end = smooth_figure_piece_end(curve, begin);
    if (end - begin > DIAGRAM_SHORT)
      smooth_figure_between(figure, panel, smooth_figure_band, curve->score + begin,
                            curve->low + begin, curve->high + begin, end - begin);
    else
      smooth_figure_interval(figure, panel, curve, (begin + end) / 2);
  }
}

static void smooth_figure_density(pc_figure *figure, size_t panel,
                                  const smooth_figure_curve *curve, int alone) {
  pc_point points[DIAGRAM_POINTS];
  for (size_t begin = 0, end; begin < curve->count; begin = end) {
    const size_t count = (end = smooth_figure_piece_end(curve, begin)) - begin;
    for (size_t k = 0; k < count; k++)
      points[k] = (pc_point){curve->score[begin + k], curve->density[begin + k]};
    if (count <= DIAGRAM_SHORT)
      pc_figure_segment(figure, panel, alone ? smooth_figure_area : curve->look,
                        (pc_point){points[count / 2].x, 0}, points[count / 2]);
    else if (alone)
      smooth_figure_between(figure, panel, smooth_figure_area, curve->score + begin, NULL,
                            curve->density + begin, count);
    else
      pc_figure_line(figure, panel, curve->look, points, count);
  }
}

static void smooth_figure_model(pc_figure *figure, const size_t panels[2],
                                const smooth_figure_curve *curve, int alone) {
  const double highest = smooth_figure_highest(curve);
  smooth_figure_density(figure, panels[1], curve, alone);
  for (size_t begin = 0, end; begin < curve->count; begin = end) {
    end = smooth_figure_piece_end(curve, begin);
    if (end - begin > DIAGRAM_SHORT)
      smooth_figure_thick_line(figure, panels[0], curve, begin, end, highest);
    else
      smooth_figure_dot(figure, panels[0], curve, (begin + end) / 2);
  }
}

/* ---- figure ---- */

static void smooth_figure_axes(pc_figure *figure, const size_t panels[2], double highest,
                               const pc_reliability_texts *texts) {
  pc_figure_axis(figure, panels[0], PC_SIDE_X, 0, 1, 6, PC_NUMBERS_NONE, NULL);
  pc_figure_axis(figure, panels[0], PC_SIDE_Y, 0, 1, 6, PC_NUMBERS_PLAIN, texts->y_label);
  pc_figure_axis(figure, panels[1], PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, texts->x_label);
  pc_figure_axis(figure, panels[1], PC_SIDE_Y, 0, 1.05 * highest, 3, PC_NUMBERS_PLAIN,
                 "density");
}

static void smooth_figure_legend(pc_figure *figure, const pc_figure_data *data) {
  for (size_t m = 0; m < data->model_count; m++)
    pc_figure_legend(figure, PC_SAMPLE_BAR, pc_series_look(m, 0), data->named[m].name);
  if (data->model_count == 0) {
    pc_figure_legend(figure, PC_SAMPLE_BAR, pc_series_look(0, 0),
                     "smoothed frequency, thicker where there are more rows");
    pc_figure_legend(figure, PC_SAMPLE_BAR, smooth_figure_band, "95% band");
  }
  pc_figure_legend(figure, PC_SAMPLE_LINE, pc_forecast_look_calibrated, "perfect calibration");
}

static void smooth_figure_stats(const pc_figure_data *data, pc_figure *figure, size_t panel) {
  const pc_result_record *record = data->shown.requested[0];
  char value[PC_NUMBER_TEXT_MAX], range[PC_NUMBER_TEXT_MAX];
  pc_stat stat = {.name = "smECE"};
  if (data->model_count > 0)
    return;
  pc_fixed_text(record->outcome.value, 4, value);
  pc_range_text(record->interval_result.low, record->interval_result.high, range);
  snprintf(stat.value, sizeof stat.value,
           record->interval_result.has_interval ? "%.16s (%.40s)" : "%.16s", value, range);
  pc_figure_stat_box(figure, panel, &stat, 1);
}

static void smooth_figure_heading(const pc_figure_data *data, const pc_reliability_texts *texts,
                                  pc_figure *figure) {
  char width[PC_NUMBER_TEXT_MAX], more[2 * PC_NUMBER_TEXT_MAX];
  pc_short_text(fmax(data->shown.requested[0]->outcome.value, 1.0 / PC_DIAGRAM_STEPS), width);
  snprintf(more, sizeof more, "kernel width %.40s", width);
  figure->title = pc_figure_add_string(figure, texts->title);
  pc_figure_set_subtitle(figure, data->shown.results, data->model_count > 0 ? NULL : more);
  figure->description = figure->subtitle;
}

static pcal_status smooth_figure_draw(const pc_figure_data *data,
                                      const smooth_figure_curve *curves, size_t count,
                                      pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 2, .row_share = {4, 1}};
  const pc_reliability_texts *texts =
      pc_reliability_texts_of(data->shown.requested[0]->view.kind == PC_VIEW_CLASS);
  const size_t panels[2] = {pc_figure_grid_panel(figure, 0, 0, NULL),
                            pc_figure_grid_panel(figure, 0, 1, NULL)};
  const int alone = data->model_count == 0;
  double highest = 0.0;
  for (size_t m = 0; m < count; m++)
    highest = fmax(highest, smooth_figure_highest(&curves[m]));
  smooth_figure_axes(figure, panels, highest, texts);
  smooth_figure_heading(data, texts, figure);
  smooth_figure_legend(figure, data);
  pc_figure_lay_out(figure, &grid);
  PC_TRY(pc_figure_status(figure, err));
  if (alone)
    smooth_figure_band_of(figure, panels[0], &curves[0]);
  pc_figure_segment(figure, panels[0], pc_forecast_look_calibrated, (pc_point){0, 0},
                    (pc_point){1, 1});
  for (size_t m = 0; m < count; m++)
    smooth_figure_model(figure, panels, &curves[m], alone);
  smooth_figure_stats(data, figure, panels[0]);
  return pc_figure_status(figure, err);
}

static pcal_status smooth_figure_build(const pc_figure_data *data, pc_figure *figure,
                                       pcal_error *err) {
  const size_t count = data->model_count > 0 ? data->model_count : 1;
  smooth_figure_curve *curves = pc_alloc(figure->env, count, sizeof *curves);
  pcal_status status = PCAL_OK;
  if (curves == NULL)
    return pc_fail_memory(err, "drawing a smooth reliability diagram");
  for (size_t m = 0; m < count && status == PCAL_OK; m++)
    status = smooth_figure_read(data, data->model_count > 0 ? &data->models[m] : &data->shown,
                                m, &curves[m], err);
  if (status == PCAL_OK)
    status = smooth_figure_draw(data, curves, count, figure, err);
  pc_free(figure->env, curves);
  return status;
}

const pc_figure_row pc_figure_smooth_reliability = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "smooth-reliability",
            .title = "reliability diagram without bins, with the density of scores",
            .formula =
                "curve: sum_i a_i K_s(t, c_i) / sum_i K_s(t, c_i), c: score, a: outcome, K_s: "
                "Gaussian reflected at 0 and 1 whose width s is the smECE\n"
                "band: Wilson's interval of 95 % for (sum_i K_s)^2 / sum_i K_s^2 rows\n"
                "thickness of the line and lower panel: (1/N) sum_i K_s(t, c_i)",
            .about =
                "Shows the frequency of hits at each score without bins, and how many rows "
                "have such scores: trust the curve where it is thick and the band is narrow. "
                "The width of the kernel is the smooth calibration error itself (metric "
                "smece): it neither follows chance nor hides an error larger than itself. The "
                "band holds at each score by itself, for the smoothed frequency.",
            .citation = "Blasiok & Nakkiran, Smooth ECE: principled reliability diagrams via "
                        "kernel smoothing, ICLR 2024",
            .options = smooth_figure_options,
            .option_count = sizeof smooth_figure_options / sizeof *smooth_figure_options,
        },
    .width = 640,
    .height = 760,
    .request = smooth_figure_request,
    .build = smooth_figure_build,
    .in_report = 4,
    .several = 1,
};
