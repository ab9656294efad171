/* The ranges of adaptive bins: each bin as a bar from its lower to its upper bound, from the
 * lowest bin to the highest, with the mean score and the frequency in it.
 *
 * Bins are those of Nixon et al.: equally many scores in each.
 *
 * 1. scope=all counts the probabilities of all classes, nearly all of which are small;
 * scope=top only the largest of each row.  Confidences and one column have the latter.
 * 2. A bin narrower than a line is drawn as one. */
#include <math.h>
#include <stdio.h>

#include "figure/layout.h"
#include "figure/reliability_panel.h"
#include "figure/wording.h"

enum { RANGE_BINS, RANGE_SCOPE };
enum { RANGE_AUTO, RANGE_TOP, RANGE_ALL };

static const pcal_option range_options[] = {
    {"bins", PCAL_OPTION_INT, "15", 1, 100, NULL, "number of bins"},
    {"scope", PCAL_OPTION_CHOICE, "auto", 0, 0, "auto|top|all",
     "scores of the predicted class, or of all classes; auto takes all where there are "
     "several"},
};

static const pc_look range_bar = {.tone = PC_TONE_FILL};
static const pc_look range_score = {.tone = PC_TONE_A, .size = 3};
static const pc_look range_hits = {.tone = PC_TONE_B, .size = 3};

static pcal_status range_wish(const pc_options *options, const pc_layout *layout,
                              pc_figure_wish *wish, pcal_error *err) {
  const int single = layout->kind == PCAL_CONFIDENCE || pc_layout_binary(layout);
  const int scope = options->value[RANGE_SCOPE].choice;
  if (scope == RANGE_ALL && single)
    return pc_fail(err, PCAL_USAGE,
                   "range-bounds: scope=all needs the probabilities of all classes; leave it "
                   "out, or give a column for each class");
  pc_figure_ask(wish, "gce:binning=adaptive,scope=%s,bins=%d",
                scope == RANGE_ALL || (scope == RANGE_AUTO && !single) ? "all" : "top",
                (int)options->value[RANGE_BINS].number);
  return PCAL_OK;
}

static void range_axes(pc_figure *figure, const pc_bin_list *bins) {
  char name[32];
  const size_t panel = pc_figure_cell(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, "score");
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0.2, (double)bins->count + 0.8, 2, PC_NUMBERS_PLAIN,
                 "bin");
  for (size_t i = 0; i < bins->count; i++) {
    snprintf(name, sizeof name, "%zu", i + 1);
    pc_figure_name(figure, panel, PC_SIDE_Y, (double)(i + 1), name);
  }
  pc_figure_key(figure, PC_SAMPLE_BAR, range_bar, "range of the bin");
  pc_figure_key(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_A}, "mean score");
  pc_figure_key(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_B}, "frequency");
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
      pc_reliability_hint(bin, pc_reliability_words_of("positive"), &hint);
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

static pcal_status range_build(const pc_figure_data *data, pc_figure *figure, pcal_error *err) {
  static const pc_grid grid = {.columns = 1, .rows = 1};
  const pc_result_record *record;
  pc_bin_list bins;
  char more[2 * PC_WORDING_MAX], number[PC_WORDING_MAX];
  PC_TRY(pc_figure_curve(data, &data->shown, 0, &record, err));
  PC_TRY(pc_bin_list_read(figure->env, &record->outcome.graph, SIZE_MAX, &bins, err));
  size_t low = 0;
  for (size_t i = 0; i < bins.count; i++)
    low += bins.bins[i].high < 0.01;
  pc_say_count((double)low, number);
  snprintf(more, sizeof more, "%s of %zu bins below 0.01", number, bins.count);
  figure->title = pc_figure_keep(figure, "Ranges of adaptive bins");
  pc_figure_subtitle(figure, data->shown.results, more);
  figure->description = figure->subtitle;
  range_axes(figure, &bins);
  pc_figure_lay_out(figure, &grid);
  range_marks(figure, &bins);
  pc_bin_list_free(figure->env, &bins);
  return PCAL_OK;
}

const pc_figure_row pc_figure_range_bounds = {
    .row =
        {
            .kind = "figures",
            .name = "range-bounds",
            .title = "ranges of adaptive bins",
            .formula = "bar b: from the lower to the upper bound of bin b, each bin with "
                       "equally many scores",
            .about = "Adaptive bins go where the scores are. With the scores of all classes "
                     "most bins lie close to 0 and say little about the predictions that "
                     "matter, which is why tace leaves out what is below a threshold.",
            .citation = "Nixon et al. (2019), Measuring calibration in deep learning, Figure 2",
            .options = range_options,
            .option_count = sizeof range_options / sizeof *range_options,
        },
    .width = 640,
    .height = 520,
    .wish = range_wish,
    .build = range_build,
};
