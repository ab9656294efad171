/* Reliability diagram: observed frequency against mean score, bin by bin.
 *
 * Upper panel: a point at (mean score, frequency) of each bin that has rows, its interval or
 * the band of a calibrated bin, and a bar as wide as the bin from the frequency to the mean
 * score: the gap whose mean over rows is the ECE.  Lower panel: the share of rows in each bin,
 * and the means of scores and hits over all rows.
 *
 * 1. Marks of a bin: reliability_marks.c; a figure without rows is refused.
 * 2. The statistics are in a free corner, or above the panel (stat_box.c).
 * 3. The names of the two means are side by side, or one above the other near an edge.
 * 4. Several models: reliability_models.c.
 * 5. From results without these bins, the 15 bins that all results have are drawn. */
#include "figure/figures/reliability_figure.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure/figure_layout.h"
#include "figure/reliability_models.h"
#include "figure/stat_box.h"
#include "figure/text_extent.h"

#define RELIABILITY_TEXT 15.0
#define RELIABILITY_GUTTER 0.03
#define RELIABILITY_STATS 6
#define RELIABILITY_HEADROOM 58.0

enum { RELIABILITY_BINS, RELIABILITY_BINNING, RELIABILITY_VIEW, RELIABILITY_BAND };

static const pcal_option reliability_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 1000, NULL, "number of bins"},
    {"binning", PCAL_OPTION_CHOICE, "width", 0, 0, "width|mass",
     "bins of equal width, or of equally many rows"},
    PC_VIEW_OPTION,
    {"band", PCAL_OPTION_CHOICE, "confidence", 0, 0, PC_BAND_CHOICES,
     "an interval around each bin (confidence), or the band of bins of a calibrated model "
     "(consistency)"},
};

typedef struct reliability_scene {
  const pc_reliability_data *data;
  const pc_reliability_texts *texts;
  pc_figure *figure;
  size_t upper, lower; /* panels */
} reliability_scene;

static double reliability_clamp(double value) {
  return fmin(fmax(value, 0), 1);
}

static pcal_status reliability_check(const pc_reliability_data *data, pcal_error *err) {
  size_t filled = 0;
  for (size_t i = 0; i < data->bin_count; i++) {
    const pcal_bin *bin = &data->bins[i];
    if (!(bin->weight > 0))
      continue;
    if (!isfinite(bin->weight) || !isfinite(bin->confidence) || !isfinite(bin->frequency) ||
        !isfinite(bin->low) || !isfinite(bin->high))
      return pc_fail(err, PCAL_DATA,
                     "figure reliability: bin %zu holds a number that is not finite; measure "
                     "the data again with finite scores and weights",
                     i);
    filled++;
  }
  if (filled == 0 || !(data->rows > 0))
    return pc_fail(err, PCAL_DATA,
                   "figure reliability: there are no rows to draw; measure at least one row");
  if (!isfinite(data->rows) || !isfinite(data->mean_score) || !isfinite(data->hit_rate))
    return pc_fail(err, PCAL_DATA,
                   "figure reliability: the mean score or the share of hits is not finite; "
                   "measure the data again with finite scores and weights");
  return PCAL_OK;
}

/* Upper end of the axis of shares: 1, or just above the fullest bin. */
static double reliability_share_limit(const pc_reliability_data *data) {
  double highest = 0;
  for (size_t i = 0; i < data->bin_count; i++)
    highest = fmax(highest, data->bins[i].weight / data->rows);
  return highest > 0.6 ? fmax(highest, 1) : 1.05 * highest;
}

static void reliability_axes(const reliability_scene *scene) {
  pc_figure *figure = scene->figure;
  pc_figure_axis(figure, scene->upper, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_NONE, NULL);
  pc_figure_axis(figure, scene->upper, PC_SIDE_Y, 0, 1, 6, PC_NUMBERS_PLAIN,
                 scene->texts->y_label);
  pc_figure_axis(figure, scene->lower, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN,
                 scene->texts->x_label);
  pc_figure_axis(figure, scene->lower, PC_SIDE_Y, 0, reliability_share_limit(scene->data), 3,
                 PC_NUMBERS_PERCENT, "rows");
  if (!figure->failed)
    figure->panels[scene->lower].headroom = RELIABILITY_HEADROOM;
}

/* A mean over all rows: a line through the lower panel up to its name, `row` lines above. */
static void reliability_mean(const reliability_scene *scene, const char *name, double value,
                             pc_anchor anchor, int row) {
  const pc_panel *panel = &scene->figure->panels[scene->lower];
  const double top = panel->axis[PC_SIDE_Y].high, unit = top / panel->rect.height;
  const double lift = 11 + 20 * row;
  pc_figure_segment(scene->figure, scene->lower, (pc_look){.tone = PC_TONE_INK, .size = 1.5},
                    (pc_point){value, 0}, (pc_point){value, top + unit * (lift + 12)});
  pc_figure_note(scene->figure, scene->lower,
                 (pc_look){.tone = PC_TONE_INK, .size = RELIABILITY_TEXT},
                 (pc_point){value, top}, (pc_point){anchor == PC_ANCHOR_END ? -6 : 6, -lift},
                 anchor, name);
}

static void reliability_mean_name(const char *name, double value,
                                  char out[PC_NUMBER_TEXT_MAX]) {
  char number[PC_NUMBER_TEXT_MAX];
  pc_fixed_text(value, 3, number);
  snprintf(out, PC_NUMBER_TEXT_MAX, "%.40s %.30s", name, number);
}

/* Names the means outwards on one line where both names fit, else both on the wider side in two
 * lines; names on the left may reach into the margin. */
static void reliability_means(const reliability_scene *scene) {
  const pc_reliability_data *data = scene->data;
  const double score = reliability_clamp(data->mean_score);
  const double hits = reliability_clamp(data->hit_rate);
  const int ordered = hits <= score;
  const double left = ordered ? hits : score, right = ordered ? score : hits;
  char hit_name[PC_NUMBER_TEXT_MAX], score_name[PC_NUMBER_TEXT_MAX];
  reliability_mean_name(scene->texts->hits, data->hit_rate, hit_name);
  reliability_mean_name(scene->texts->score, data->mean_score, score_name);
  const char *left_name = ordered ? hit_name : score_name;
  const char *right_name = ordered ? score_name : hit_name;
  if (scene->figure->failed)
    return;
  const pc_rect *rect = &scene->figure->panels[scene->lower].rect;
  const double width = rect->width, margin = rect->x - 24;
  const int left_fits = left * width + margin > pc_text_extent(left_name, RELIABILITY_TEXT) + 6;
  const int right_fits = (1 - right) * width > pc_text_extent(right_name, RELIABILITY_TEXT) + 6;
  if (left_fits && right_fits) {
    reliability_mean(scene, left_name, left, PC_ANCHOR_END, 0);
    reliability_mean(scene, right_name, right, PC_ANCHOR_START, 0);
  } else if (left_fits) {
    reliability_mean(scene, left_name, left, PC_ANCHOR_END, 0);
    reliability_mean(scene, right_name, right, PC_ANCHOR_END, 1);
  } else {
    reliability_mean(scene, left_name, left, PC_ANCHOR_START, 1);
    reliability_mean(scene, right_name, right, right_fits ? PC_ANCHOR_START : PC_ANCHOR_END, 0);
  }
}

static void reliability_shares(const reliability_scene *scene) {
  const pc_reliability_data *data = scene->data;
  pc_text hint;
  pc_text_init(&hint, scene->figure->env);
  for (size_t i = 0; i < data->bin_count; i++) {
    const pcal_bin *bin = &data->bins[i];
    const double left = reliability_clamp(bin->low), right = reliability_clamp(bin->high);
    const double gutter = RELIABILITY_GUTTER * (right - left);
    if (!(bin->weight > 0))
      continue;
    pc_reliability_hint(bin, scene->texts, &hint);
    pc_figure_bar(scene->figure, scene->lower, (pc_look){.tone = PC_TONE_FILL},
                  (pc_point){left + gutter, 0},
                  (pc_point){right - gutter, bin->weight / data->rows},
                  hint.failed ? NULL : hint.bytes);
  }
  scene->figure->failed |= hint.failed;
  pc_text_free(&hint);
}

static size_t reliability_summary(const pc_reliability_data *data, char interval_name[],
                                  pc_stat stats[RELIABILITY_STATS]) {
  size_t count = 0;
  if (data->has_ece && isfinite(data->ece)) {
    stats[count].name = "ECE";
    pc_fixed_text(data->ece, 4, stats[count++].value);
  }
  if (data->has_interval) {
    pc_level_text(data->level > 0 ? data->level : 0.95, "interval", interval_name);
    stats[count].name = interval_name;
    pc_range_text(data->low, data->high, stats[count++].value);
  }
  if (data->has_null) {
    stats[count].name = "if calibrated";
    pc_number_round(data->null_mean, 3, stats[count++].value);
    stats[count].name = "95% of these";
    pc_range_text(data->null_low, data->null_high, stats[count++].value);
  }
  if (data->has_before) {
    stats[count].name = "ECE before";
    pc_fixed_text(data->before, 4, stats[count++].value);
  }
  return count;
}

static void reliability_describe(const reliability_scene *scene, const pc_stat *stats,
                                 size_t count) {
  pc_figure *figure = scene->figure;
  char score[PC_NUMBER_TEXT_MAX], hits[PC_NUMBER_TEXT_MAX];
  pc_text line;
  pc_text_init(&line, figure->env);
  figure->title = pc_figure_add_string(figure, scene->texts->title);
  pc_count_text(scene->data->rows, score);
  pc_text_format(&line, "Reliability diagram in %zu bins. n %s", scene->data->bin_count, score);
  for (size_t i = 0; i < count; i++)
    pc_text_format(&line, ", %s %s", stats[i].name, stats[i].value);
  pc_fixed_text(scene->data->mean_score, 4, score);
  pc_fixed_text(scene->data->hit_rate, 4, hits);
  pc_text_format(&line, ", %s %s, %s %s.", scene->texts->score, score, scene->texts->hits,
                 hits);
  figure->failed |= line.failed;
  figure->description = line.failed ? 0 : pc_figure_add_string(figure, line.bytes);
  pc_text_free(&line);
}

pcal_status pc_reliability_draw(const pc_reliability_data *data, pc_figure *figure,
                                pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 2, .row_share = {4.6, 1}};
  char interval_name[PC_NUMBER_TEXT_MAX];
  pc_stat stats[RELIABILITY_STATS];
  PC_TRY(reliability_check(data, err));
  reliability_scene scene = {
      .data = data, .texts = pc_reliability_texts_of(data->class_1), .figure = figure};
  const pc_reliability_style style = {scene.texts, data->band, data->level};
  pcal_bin *borrowed;
  memcpy(&borrowed, &data->bins, sizeof borrowed);
  const pc_bin_list bins = {borrowed, data->bin_count};
  const size_t count = reliability_summary(data, interval_name, stats);
  scene.upper = pc_figure_grid_panel(figure, 0, 0, NULL);
  scene.lower = pc_figure_grid_panel(figure, 0, 1, NULL);
  reliability_axes(&scene);
  reliability_describe(&scene, stats, count);
  pc_reliability_legend(figure, &bins, &style);
  pc_figure_lay_out(figure, &grid);
  pc_reliability_marks(figure, scene.upper, &bins, &style);
  reliability_shares(&scene);
  reliability_means(&scene);
  pc_figure_stat_box(figure, scene.upper, stats, count);
  return pc_figure_status(figure, err);
}

/* ---- From measurements ---- */

static pcal_status reliability_request(const pc_options *options, const pc_layout *layout,
                                       pc_figure_request *request, pcal_error *err) {
  char binning[16], view[16];
  (void)layout;
  (void)err;
  pc_figure_request_metric(
      request, "ece:bins=%d,binning=%s,view=%s", (int)options->value[RELIABILITY_BINS].number,
      pc_options_word(options, RELIABILITY_BINNING, binning, sizeof binning),
      pc_options_word(options, RELIABILITY_VIEW, view, sizeof view));
  request->interval = request->null = 1;
  return PCAL_OK;
}

static void reliability_totals(pc_reliability_data *data) {
  data->mean_score = data->hit_rate = data->rows = 0;
  for (size_t i = 0; i < data->bin_count; i++)
    if (data->bins[i].weight > 0)
      data->rows += data->bins[i].weight;
  for (size_t i = 0; i < data->bin_count; i++) {
    const pcal_bin *bin = &data->bins[i];
    if (!(bin->weight > 0))
      continue;
    data->mean_score += bin->weight / data->rows * bin->confidence;
    data->hit_rate += bin->weight / data->rows * bin->frequency;
  }
}

static void reliability_uncertainty(const pc_result_record *record,
                                    const pc_result_record *before, pc_reliability_data *out) {
  const pc_interval_result *interval_result = &record->interval_result;
  out->has_ece = !record->outcome.undefined;
  out->ece = record->outcome.value;
  out->has_interval = interval_result->has_interval;
  out->low = interval_result->low;
  out->high = interval_result->high;
  out->level = interval_result->has_interval ? interval_result->level : 0;
  out->has_null = interval_result->has_null;
  out->null_mean = interval_result->null_mean;
  out->null_low = interval_result->null_low;
  out->null_high = interval_result->null_high;
  out->has_before = before != NULL && !before->outcome.undefined;
  out->before = out->has_before ? before->outcome.value : 0;
}

static pcal_status reliability_build(const pc_figure_data *data, pc_figure *figure,
                                     pcal_error *err) {
  const pcal_results *results = data->shown.results;
  const pc_result_record *record = data->shown.requested[0];
  pc_bin_list bins = {NULL, 0};
  pc_reliability_data found = {.class_1 = pc_layout_is_binary(&results->layout)};
  if (data->model_count > 1)
    return pc_reliability_draw_models(
        data, (pc_band)data->options->value[RELIABILITY_BAND].choice, figure, err);
  found.band = (pc_band)data->options->value[RELIABILITY_BAND].choice;
  if (record != NULL && record->outcome.graph.count > 0) {
    PC_TRY(pc_bin_list_read(figure->env, &record->outcome.graph, SIZE_MAX, &bins, err));
    found.bins = bins.bins;
    found.bin_count = bins.count;
    found.class_1 = record->view.kind == PC_VIEW_CLASS;
    reliability_uncertainty(record, data->before != NULL ? data->before->requested[0] : NULL,
                            &found);
  } else {
    found.bins = results->public_bins;
    found.bin_count = results->bin_count;
    found.has_ece = 1;
    found.ece =
        pc_bins_error(results->bins, results->bin_count, results->effective, PC_NORM_L1, 0);
    if (record != NULL)
      reliability_uncertainty(record, NULL, &found);
  }
  reliability_totals(&found);
  pc_figure_set_subtitle(figure, results, data->before != NULL ? "after calibration" : NULL);
  const pcal_status status = pc_reliability_draw(&found, figure, err);
  pc_bin_list_free(figure->env, &bins);
  return status;
}

const pc_figure_row pc_figure_reliability = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "reliability",
            .title = "reliability diagram",
            .formula =
                "point b: x = mean score of the rows in bin b, y = share of hits among them\n"
                "interval: Wilson score interval of y at 95 %\n"
                "band=consistency: x +- 1.96 sqrt(x (1 - x) / rows of the bin)\n"
                "gap: |y - x|; its mean over rows is the ECE of these bins",
            .about =
                "Shows where scores are too high and where too low. On the diagonal, "
                "outcomes of a bin occurred as often as its scores predicted; below it, "
                "the scores were too high. The lower panel shows the share of rows in "
                "each bin, with the means of scores and hits over all rows. Bins without "
                "rows are left out; bins with fewer than 30 rows are drawn pale and "
                "hollow, because their frequency says little. Each interval describes one "
                "bin by itself: with fifteen calibrated bins at least one of them misses "
                "the diagonal in about every second figure. The corner shows the ECE with "
                "its interval, and the ECE of a calibrated model with these scores. Up to five "
                "models are drawn in one diagram, more side by side.",
            .citation = "DeGroot & Fienberg (1983), The comparison and evaluation of "
                        "forecasters; Broecker & Smith (2007), Increasing the reliability of "
                        "reliability diagrams; Guo et al. (2017), On calibration of modern "
                        "neural networks",
            .options = reliability_options,
            .option_count = sizeof reliability_options / sizeof *reliability_options,
        },
    .width = 640,
    .height = 720,
    .request = reliability_request,
    .build = reliability_build,
    .in_report = 1,
    .several = 1,
};
