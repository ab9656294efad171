/* The ranges of adaptive bins.  For one model each bin is a bar from its lower to its upper bound,
 * with its mean score and frequency.  For several, such as snapshots of a training, the lower bound
 * of each bin is a line over the models in the order given.
 *
 * Bins are those of Nixon et al.: equally many scores in each.
 *
 * 1. scope=all counts the probabilities of all classes, nearly all of which are small; scope=top
 *    only the largest of each row.  Confidences and one column allow the latter only.
 * 2. A bin narrower than a line is drawn as a line.
 * 3. A line connects the models that have scores in the bin.
 * 4. The lowest bin always begins at 0 and has no line.
 * 5. Beyond RANGE_MANY bins lines and points are thinner; beyond RANGE_POINTS points in all, points
 *    and their hover texts are left out. */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/reliability_marks.h"

#define RANGE_POINTS 3000
#define RANGE_MANY 40

enum { RANGE_BINS, RANGE_SCOPE, RANGE_THRESHOLD };
enum { RANGE_AUTO, RANGE_TOP, RANGE_ALL };

static const pcal_option range_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 100, NULL, "number of bins"},
    {"scope", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|all",
     "scores of the predicted class, or of all classes; auto takes all where there are "
     "several"},
    {"threshold", PCAL_OPTION_REAL, "0", 0, 1, NULL,
     "scores up to this are left out, as in tace; 0: none are"},
};

static const pc_look range_bar = {.tone = PC_TONE_FILL};
static const pc_look range_score = {.tone = PC_TONE_A, .size = 3};
static const pc_look range_hits = {.tone = PC_TONE_B, .size = 3};

static pcal_status range_request(const pc_options *options, const pc_layout *layout,
                                 pc_figure_request *request, pcal_error *err) {
  const int single = layout->kind == PCAL_CONFIDENCE || pc_layout_is_binary(layout);
  const int scope = options->value[RANGE_SCOPE].choice;
  if (scope == RANGE_ALL && single)
    return pc_fail(err, PCAL_USAGE,
                   "range-bounds: scope=all needs the probabilities of all classes; leave it "
                   "out, or give a column for each class");
  const char *which = scope == RANGE_ALL || (scope == RANGE_AUTO && !single) ? "all" : "top";
  const int bins = (int)options->value[RANGE_BINS].number;
  const double threshold = options->value[RANGE_THRESHOLD].number;
  char number[PC_NUMBER_MAX];
  if (threshold > 0)
    pc_figure_request_metric(request, "gce:binning=adaptive,scope=%s,bins=%d,threshold=%s",
                             which, bins, pc_show(threshold, number));
  else
    pc_figure_request_metric(request, "gce:binning=adaptive,scope=%s,bins=%d", which, bins);
  return PCAL_OK;
}

static void range_axes(pc_figure *figure, const pc_bin_list *bins) {
  char name[32];
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, "score");
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0.2, (double)bins->count + 0.8, 2, PC_NUMBERS_PLAIN,
                 "bin");
  for (size_t i = 0; i < bins->count; i++) {
    snprintf(name, sizeof name, "%zu", i + 1);
    pc_figure_name_tick(figure, panel, PC_SIDE_Y, (double)(i + 1), name);
  }
  pc_figure_legend(figure, PC_SAMPLE_BAR, range_bar, "range of the bin");
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_A}, "mean score");
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_B}, "frequency");
}

static void range_marks(pc_figure *figure, const pc_bin_list *bins) {
  const double least = figure->failed ? 0 : 1.5 / figure->panels[0].rect.width;
  pc_text hint;
  pc_text_init(&hint, figure->env);
  for (size_t i = 0; i < bins->count; i++) {
    const pcal_bin *bin = &bins->bins[i];
    const double y = (double)(i + 1), left = fmin(fmax(bin->low, 0), 1);
    const double right = fmax(fmin(bin->high, 1), left + least);
    const int filled = bin->weight > 0;
    if (filled)
      pc_reliability_hint(bin, pc_reliability_texts_of(1), &hint);
    const char *text = hint.failed || !filled ? NULL : hint.bytes;
    pc_figure_bar(figure, 0, range_bar, (pc_point){left, y - 0.32}, (pc_point){right, y + 0.32},
                  text);
    if (!filled)
      continue;
    pc_figure_point(figure, 0, range_hits, (pc_point){bin->frequency, y}, text);
    pc_figure_point(figure, 0, range_score, (pc_point){bin->confidence, y}, text);
  }
  figure->failed |= hint.failed;
  pc_text_free(&hint);
}

static size_t range_low(const pc_bin_list *bins) {
  size_t low = 0;
  for (size_t i = 0; i < bins->count; i++)
    low += bins->bins[i].high < 0.01;
  return low;
}

static pcal_status range_read(const pc_figure_data *data, const pc_measured_set *set,
                              const pcal_env *env, pc_bin_list *out, pcal_error *err) {
  const pc_result_record *record;
  PC_TRY(pc_figure_record_with_curve(data, set, 0, &record, err));
  return pc_bin_list_read(env, &record->outcome.graph, SIZE_MAX, out, err);
}

static pcal_status range_build_one(const pc_figure_data *data, pc_figure *figure,
                                   pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  pc_bin_list bins;
  char more[2 * PC_NUMBER_TEXT_MAX], number[PC_NUMBER_TEXT_MAX];
  PC_TRY(range_read(data, &data->shown, figure->env, &bins, err));
  pc_count_text((double)range_low(&bins), number);
  snprintf(more, sizeof more, "%s of %zu bins below 0.01", number, bins.count);
  figure->title = pc_figure_add_string(figure, "Ranges of adaptive bins");
  pc_figure_set_subtitle(figure, data->shown.results, more);
  figure->description = figure->subtitle;
  range_axes(figure, &bins);
  pc_figure_lay_out(figure, &grid);
  range_marks(figure, &bins);
  pc_bin_list_free(figure->env, &bins);
  return PCAL_OK;
}

/* ---- several models ---- */

/* The bins of all models. */
typedef struct range_lists {
  const pc_figure_data *data;
  pc_bin_list *of;
  pc_point *points; /* scratch space: one for each model */
} range_lists;

static const pcal_bin *range_bin(const range_lists *lists, size_t model, size_t bin) {
  const pc_bin_list *bins = &lists->of[model];
  return bin < bins->count && bins->bins[bin].weight > 0 ? &bins->bins[bin] : NULL;
}

static void range_series_axes(pc_figure *figure, const range_lists *lists) {
  const size_t count = lists->data->model_count;
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, -0.25, (double)count - 0.75, 2, PC_NUMBERS_PLAIN,
                 "");
  for (size_t i = 0; i < count; i++)
    pc_figure_name_tick(figure, panel, PC_SIDE_X, (double)i, lists->data->named[i].name);
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, 1, 6, PC_NUMBERS_PLAIN, "score");
  pc_figure_legend(figure, PC_SAMPLE_LINE, (pc_look){.tone = PC_TONE_A, .size = 2},
                   "lower bound of a bin, from the second on");
}

/* "epoch10, bin 3 of 15: 0.000 to 0.250: ..." */
static void range_series_points(pc_figure *figure, const range_lists *lists, size_t bin,
                                pc_look look) {
  pc_text hint, whole;
  pc_text_init(&hint, figure->env);
  pc_text_init(&whole, figure->env);
  for (size_t i = 0; i < lists->data->model_count; i++) {
    const pcal_bin *here = range_bin(lists, i, bin);
    if (here == NULL)
      continue;
    pc_reliability_hint(here, pc_reliability_texts_of(1), &hint);
    whole.length = 0;
    pc_text_format(&whole, "%s, bin %zu of %zu: %s", lists->data->named[i].name, bin + 1,
                   lists->of[i].count, hint.failed ? "" : hint.bytes);
    pc_figure_point(figure, 0, look, (pc_point){(double)i, here->low},
                    whole.failed ? NULL : whole.bytes);
  }
  figure->failed |= hint.failed || whole.failed;
  pc_text_free(&hint);
  pc_text_free(&whole);
}

static void range_series_marks(pc_figure *figure, const range_lists *lists) {
  const size_t models = lists->data->model_count;
  size_t bins = 0;
  for (size_t i = 0; i < models; i++)
    bins = lists->of[i].count > bins ? lists->of[i].count : bins;
  const int many = bins > RANGE_MANY;
  const pc_look line = {.tone = PC_TONE_A, .size = many ? 0.75 : 1.25};
  const pc_look dot = {.tone = PC_TONE_A, .size = many ? 1.25 : 2};
  for (size_t b = 1; b < bins; b++) {
    size_t count = 0;
    for (size_t i = 0; i < models; i++)
      if (range_bin(lists, i, b) != NULL)
        lists->points[count++] = (pc_point){(double)i, range_bin(lists, i, b)->low};
    if (count > 1)
      pc_figure_line(figure, 0, line, lists->points, count);
    if (bins * models <= RANGE_POINTS || count == 1)
      range_series_points(figure, lists, b, dot);
  }
}

static void range_series_heading(pc_figure *figure, const range_lists *lists) {
  const pc_figure_data *data = lists->data;
  const size_t last = data->model_count - 1;
  char more[512], first_low[PC_NUMBER_TEXT_MAX], last_low[PC_NUMBER_TEXT_MAX];
  pc_count_text((double)range_low(&lists->of[0]), first_low);
  pc_count_text((double)range_low(&lists->of[last]), last_low);
  snprintf(more, sizeof more, "below 0.01: %s of %zu bins in %.60s, %s of %zu in %.60s",
           first_low, lists->of[0].count, data->named[0].name, last_low, lists->of[last].count,
           data->named[last].name);
  figure->title = pc_figure_add_string(figure, "Lower bounds of adaptive bins");
  figure->subtitle = pc_figure_add_string(figure, more);
  figure->description = figure->subtitle;
}

static pcal_status range_build_lists(const range_lists *lists, pc_figure *figure,
                                     pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  for (size_t i = 0; i < lists->data->model_count; i++)
    PC_TRY(range_read(lists->data, &lists->data->models[i], figure->env, &lists->of[i], err));
  range_series_heading(figure, lists);
  range_series_axes(figure, lists);
  pc_figure_lay_out(figure, &grid);
  range_series_marks(figure, lists);
  return PCAL_OK;
}

static pcal_status range_build(const pc_figure_data *data, pc_figure *figure, pcal_error *err) {
  const size_t count = data->model_count;
  range_lists lists = {.data = data};
  if (count < 2)
    return range_build_one(data, figure, err);
  lists.of = pc_alloc(figure->env, count, sizeof *lists.of);
  lists.points = pc_alloc(figure->env, count, sizeof *lists.points);
  const pcal_status status = lists.of == NULL || lists.points == NULL
                                 ? pc_fail_memory(err, "building a figure")
                                 : range_build_lists(&lists, figure, err);
  for (size_t i = 0; lists.of != NULL && i < count; i++)
    pc_bin_list_free(figure->env, &lists.of[i]);
  pc_free(figure->env, lists.of);
  pc_free(figure->env, lists.points);
  return status;
}

const pc_figure_row pc_figure_range_bounds = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "range-bounds",
            .title = "ranges of adaptive bins",
            .formula = "bar b: from the lower to the upper bound of bin b, each bin with "
                       "equally many scores; of several models, line b: its lower bound",
            .about =
                "Adaptive bins are dense where the scores are. With the scores of all classes "
                "most bins lie close to 0 and say little about the relevant predictions, which "
                "is why tace leaves out scores below a threshold. For several models, such as "
                "snapshots of a training run, the figure shows how the lower bound of each bin "
                "moves.",
            .citation =
                "Nixon et al. (2019), Measuring calibration in deep learning, Figures 2 "
                "and 5",
            .options = range_options,
            .option_count = sizeof range_options / sizeof *range_options,
        },
    .width = 640,
    .height = 520,
    .request = range_request,
    .build = range_build,
    .several = 1,
};
