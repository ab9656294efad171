/* Distribution of scores: shares of rows in bins of equal width, split by outcome.
 *
 * by=all: the score of the predicted class, or of class 1.  by=class: a panel for each class with
 * its probabilities.
 *
 * 1. Of more classes than `classes` those with the largest calibration error are shown.
 * 2. In the panel of a class the first bin holds nearly all rows: the axis ends a little above the
 *    second largest bar, and a bar that is cut has its number beside it. */
#include <math.h>
#include <stdio.h>

#include "figure/class_order.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/reliability_marks.h"

#define HISTOGRAM_COLUMNS 3

enum { HISTOGRAM_BINS, HISTOGRAM_BY, HISTOGRAM_VIEW, HISTOGRAM_CLASSES };
enum { HISTOGRAM_ALL, HISTOGRAM_CLASS };

static const pcal_option histogram_options[] = {
    {"bins", PCAL_OPTION_INT, "20", 1, 1000, NULL, "number of bins of equal width"},
    {"by", PCAL_OPTION_CHOICE, "all", 0, 0, "all|class", "one panel, or one for each class"},
    PC_VIEW_OPTION,
    {"classes", PCAL_OPTION_INT, "9", 1, 36, NULL,
     "panels at most; of more classes those with the largest error"},
};

static const pc_look histogram_hit = {.tone = PC_TONE_A};
static const pc_look histogram_miss = {.tone = PC_TONE_B};

static pcal_status histogram_request(const pc_options *options, const pc_layout *layout,
                                     pc_figure_request *request, pcal_error *err) {
  char view[16];
  const int bins = (int)options->value[HISTOGRAM_BINS].number;
  if (options->value[HISTOGRAM_BY].choice == HISTOGRAM_CLASS) {
    PC_TRY(pc_figure_needs_classes("confidence-histogram:by=class", layout, err));
    pc_figure_request_metric(request, "sce:bins=%d", bins);
    return PCAL_OK;
  }
  pc_figure_request_metric(request, "ece:bins=%d,view=%s", bins,
                           pc_options_word(options, HISTOGRAM_VIEW, view, sizeof view));
  return PCAL_OK;
}

/* Upper end of the axis of shares: just above the largest bar or, if that is more than four times
 * the second largest, above the second largest. */
static double histogram_limit(const pc_bin_list *bins, double rows) {
  double first = 0, second = 0;
  for (size_t i = 0; i < bins->count; i++) {
    const double share = bins->bins[i].weight / rows;
    if (share > first) {
      second = first;
      first = share;
    } else {
      second = fmax(second, share);
    }
  }
  return second > 0 && first > 4 * second ? 1.8 * second : 1.06 * first;
}

/* Draws misses on top of hits. */
static void histogram_bars(pc_figure *figure, size_t panel, const pc_bin_list *bins,
                           double rows, double limit, const pc_reliability_texts *texts) {
  pc_text hint;
  pc_text_init(&hint, figure->env);
  for (size_t i = 0; i < bins->count; i++) {
    const pcal_bin *bin = &bins->bins[i];
    if (!(bin->weight > 0) || bin->high <= bin->low)
      continue;
    const double share = bin->weight / rows, hits = share * bin->frequency;
    const double gutter = 0.04 * (bin->high - bin->low);
    const double left = bin->low + gutter, right = bin->high - gutter;
    pc_reliability_hint(bin, texts, &hint);
    const char *text = hint.failed ? NULL : hint.bytes;
    if (hits > 0)
      pc_figure_bar(figure, panel, histogram_hit, (pc_point){left, 0},
                    (pc_point){right, fmin(hits, limit)}, text);
    if (share > hits && hits < limit)
      pc_figure_bar(figure, panel, histogram_miss, (pc_point){left, fmin(hits, limit)},
                    (pc_point){right, fmin(share, limit)}, text);
    if (share > limit && !figure->failed) {
      char number[PC_NUMBER_TEXT_MAX], note[PC_NUMBER_TEXT_MAX];
      pc_fixed_text(100 * share, 0, number);
      snprintf(note, sizeof note, "%.40s%%", number);
      pc_figure_note(figure, panel, (pc_look){.tone = PC_TONE_MUTED, .size = PC_SIZE_TICK},
                     (pc_point){right, limit}, (pc_point){5, 14}, PC_ANCHOR_START, note);
    }
  }
  figure->failed |= hint.failed;
  pc_text_free(&hint);
}

static void histogram_legend(pc_figure *figure, const char *hit, const char *miss) {
  pc_figure_legend(figure, PC_SAMPLE_BAR, histogram_hit, hit);
  pc_figure_legend(figure, PC_SAMPLE_BAR, histogram_miss, miss);
}

static pcal_status histogram_all(const pc_figure_data *data, const pc_result_record *record,
                                 pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 1};
  const int positive = pc_layout_is_binary(&data->shown.results->layout);
  const pc_reliability_texts *texts = pc_reliability_texts_of(positive);
  const double rows = data->shown.results->effective;
  pc_bin_list bins;
  PC_TRY(pc_bin_list_read(figure->env, &record->outcome.graph, SIZE_MAX, &bins, err));
  double limit = 0;
  for (size_t i = 0; i < bins.count; i++)
    limit = fmax(limit, 1.05 * bins.bins[i].weight / rows);
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, texts->x_label);
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, limit, 6, PC_NUMBERS_PERCENT, "rows");
  figure->title = pc_figure_add_string(figure, positive ? "Distribution of the predictions"
                                                        : "Distribution of the confidence");
  pc_figure_set_subtitle(figure, data->shown.results, NULL);
  figure->description = figure->subtitle;
  histogram_legend(figure, positive ? "class 1" : "correct", positive ? "class 0" : "wrong");
  pc_figure_lay_out(figure, &grid);
  histogram_bars(figure, panel, &bins, rows, limit, texts);
  pc_bin_list_free(figure->env, &bins);
  return PCAL_OK;
}

static size_t histogram_panel(pc_figure *figure, const pcal_results *results, size_t class,
                              double limit, size_t index, size_t count, size_t columns) {
  char buffer[32];
  const int lowest = index + columns >= count;
  const size_t panel = pc_figure_grid_panel(figure, index % columns, index / columns,
                                            pc_class_display_name(results, class, buffer));
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 3, lowest ? PC_NUMBERS_PLAIN : PC_NUMBERS_NONE,
                 lowest ? "prediction" : NULL);
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, limit, 3, PC_NUMBERS_PERCENT,
                 index % columns == 0 ? "rows" : NULL);
  return panel;
}

static pcal_status histogram_each(const pc_figure_data *data, const pc_result_record *record,
                                  const pc_class_order *order, pc_bin_list *lists,
                                  pc_figure *figure, pcal_error *err) {
  const double rows = data->shown.results->effective;
  const size_t most = figure->width < 480 ? 2 : HISTOGRAM_COLUMNS;
  const size_t columns = order->count < most ? order->count : most;
  const pc_panel_grid grid = {.columns = columns,
                              .rows = (order->count + columns - 1) / columns};
  for (size_t i = 0; i < order->count; i++) {
    PC_TRY(pc_bin_list_read(figure->env, &record->outcome.graph, order->classes[i], &lists[i],
                            err));
    histogram_panel(figure, data->shown.results, order->classes[i],
                    histogram_limit(&lists[i], rows), i, order->count, columns);
  }
  figure->title = pc_figure_add_string(figure, "Distribution of predictions by class");
  pc_figure_set_subtitle(figure, data->shown.results,
                         order->count < order->total ? "the worst classes by SCE" : NULL);
  figure->description = figure->subtitle;
  histogram_legend(figure, "of the class", "of another class");
  if (!figure->fixed_height)
    figure->height = 170 + 190 * (double)grid.rows;
  pc_figure_lay_out(figure, &grid);
  for (size_t i = 0; i < order->count; i++)
    histogram_bars(figure, i, &lists[i], rows, histogram_limit(&lists[i], rows),
                   pc_reliability_texts_of(1));
  return PCAL_OK;
}

static pcal_status histogram_classes(const pc_figure_data *data, const pc_result_record *record,
                                     pc_figure *figure, pcal_error *err) {
  pc_class_order order;
  const size_t most = (size_t)data->options->value[HISTOGRAM_CLASSES].number;
  PC_TRY(pc_class_order_make(figure->env, &record->outcome, most, 0, &order, err));
  pc_bin_list *lists = pc_alloc(figure->env, order.count, sizeof *lists);
  const pcal_status status = lists == NULL
                                 ? pc_fail_memory(err, "drawing confidence-histogram")
                                 : histogram_each(data, record, &order, lists, figure, err);
  for (size_t i = 0; lists != NULL && i < order.count; i++)
    pc_bin_list_free(figure->env, &lists[i]);
  pc_free(figure->env, lists);
  pc_class_order_free(figure->env, &order);
  return status;
}

static pcal_status histogram_build(const pc_figure_data *data, pc_figure *figure,
                                   pcal_error *err) {
  const pc_result_record *record;
  PC_TRY(pc_figure_record_with_curve(data, &data->shown, 0, &record, err));
  return data->options->value[HISTOGRAM_BY].choice == HISTOGRAM_CLASS
             ? histogram_classes(data, record, figure, err)
             : histogram_all(data, record, figure, err);
}

const pc_figure_row pc_figure_confidence_histogram = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "confidence-histogram",
            .title = "distribution of the scores",
            .formula = "bar b: share of rows with a score in bin b, split into hits and misses",
            .about =
                "How sure the model is, and how often it is right there. Modern networks "
                "put nearly all rows into the last bin, which bins of equal mass avoid. With "
                "by=class each class has a panel; an axis then ends above "
                "the second largest bar, and a bar that is cut has its number beside it.",
            .citation = "Guo et al. (2017), On calibration of modern neural networks; Nixon et "
                        "al. (2019), Measuring calibration in deep learning, Figure 5",
            .options = histogram_options,
            .option_count = sizeof histogram_options / sizeof *histogram_options,
        },
    .width = 640,
    .height = 440,
    .request = histogram_request,
    .build = histogram_build,
    .in_report = 2,
};
