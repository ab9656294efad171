/* Reliability diagrams of single classes, side by side: predicted probability of a class
 * against how often the row was of that class.
 *
 * 1. At most `classes` panels: if there are more classes, those with the largest error, worst
 *    first.
 * 2. Marks of a bin: reliability_marks.c.
 * 3. One column of scores, and confidences, are refused: they have no classes to distinguish. */
#include <math.h>
#include <stdio.h>

#include "figure/class_order.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/reliability_marks.h"

#define CLASSWISE_COLUMNS 3
#define CLASSWISE_WIDE 900.0
#define CLASSWISE_NARROW 600

enum { CLASSWISE_BINS, CLASSWISE_CLASSES, CLASSWISE_BAND };

static const pcal_option classwise_options[] = {
    {"bins", PCAL_OPTION_INT, "10", 1, 1000, NULL, "number of bins of equal width"},
    {"classes", PCAL_OPTION_INT, "9", 1, 36, NULL,
     "panels at most; of more classes those with the largest error"},
    {"band", PCAL_OPTION_CHOICE, "confidence", 0, 0, PC_BAND_CHOICES,
     "an interval around each bin (confidence), or the band of bins of a calibrated model "
     "(consistency)"},
};

static const pc_reliability_texts classwise_texts = {"Reliability class by class",
                                                     "predicted probability of the class",
                                                     "observed frequency",
                                                     "mean prediction",
                                                     "frequency",
                                                     "predicted too high",
                                                     "predicted too low"};

static pcal_status classwise_request(const pc_options *options, const pc_layout *layout,
                                     pc_figure_request *request, pcal_error *err) {
  PC_TRY(pc_figure_needs_classes("reliability-classwise", layout, err));
  pc_figure_request_metric(request, "sce:bins=%d", (int)options->value[CLASSWISE_BINS].number);
  return PCAL_OK;
}

static size_t classwise_columns(const pc_figure *figure, size_t panels) {
  const size_t most = figure->width >= CLASSWISE_WIDE    ? CLASSWISE_COLUMNS + 1
                      : figure->width < CLASSWISE_NARROW ? CLASSWISE_COLUMNS - 1
                                                         : CLASSWISE_COLUMNS;
  return panels < most ? panels : most;
}

/* Adds the panel of a class; numbers only where no panel is to the left or below. */
static void classwise_panel(pc_figure *figure, const pcal_results *results, size_t class,
                            double error, size_t index, size_t count, size_t columns) {
  const size_t column = index % columns, row = index / columns;
  const int lowest = index + columns >= count;
  char buffer[32], number[PC_NUMBER_TEXT_MAX];
  pc_text title;
  pc_text_init(&title, figure->env);
  pc_short_text(error, number);
  pc_text_format(&title, "%s \xC2\xB7 %s", pc_class_display_name(results, class, buffer),
                 number);
  const size_t panel =
      pc_figure_grid_panel(figure, column, row, title.failed ? NULL : title.bytes);
  figure->failed |= title.failed;
  pc_text_free(&title);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, 1, 3, lowest ? PC_NUMBERS_PLAIN : PC_NUMBERS_NONE,
                 index + 1 == count || lowest ? "prediction" : NULL);
  pc_figure_axis(figure, panel, PC_SIDE_Y, 0, 1, 3,
                 column == 0 ? PC_NUMBERS_PLAIN : PC_NUMBERS_NONE,
                 column == 0 ? "frequency" : NULL);
}

static pcal_status classwise_draw(const pc_class_order *order, const pc_plot_table *graph,
                                  const pc_reliability_style *style, pc_figure *figure,
                                  pcal_error *err) {
  for (size_t i = 0; i < order->count; i++) {
    pc_bin_list bins;
    const pcal_status status =
        pc_bin_list_read(figure->env, graph, order->classes[i], &bins, err);
    if (status == PCAL_OK)
      pc_reliability_marks(figure, i, &bins, style);
    pc_bin_list_free(figure->env, &bins);
    PC_TRY(status);
  }
  return PCAL_OK;
}

static void classwise_describe(const pc_figure_data *data, const pc_result_record *record,
                               const pc_class_order *order, pc_figure *figure) {
  char more[2 * PC_NUMBER_TEXT_MAX], number[PC_NUMBER_TEXT_MAX];
  pc_short_text(record->outcome.value, number);
  figure->title = pc_figure_add_string(figure, classwise_texts.title);
  if (order->count < order->total)
    snprintf(more, sizeof more, "SCE %s \xC2\xB7 the %zu worst classes with their errors",
             number, order->count);
  else
    snprintf(more, sizeof more, "SCE %s \xC2\xB7 each class with its error", number);
  pc_figure_set_subtitle(figure, data->shown.results, more);
  figure->description = figure->subtitle;
}

static pcal_status classwise_build(const pc_figure_data *data, pc_figure *figure,
                                   pcal_error *err) {
  const pc_result_record *record;
  pc_class_order order;
  pc_bin_list all;
  PC_TRY(pc_figure_record_with_curve(data, &data->shown, 0, &record, err));
  const size_t most = (size_t)data->options->value[CLASSWISE_CLASSES].number;
  const pc_reliability_style style = {&classwise_texts,
                                      (pc_band)data->options->value[CLASSWISE_BAND].choice, 0};
  PC_TRY(pc_class_order_make(figure->env, &record->outcome, most, 0, &order, err));
  const size_t columns = classwise_columns(figure, order.count);
  const pc_panel_grid grid = {.columns = columns,
                              .rows = (order.count + columns - 1) / columns};
  if (!figure->fixed_height)
    figure->height = 190 + 190 * (double)grid.rows;
  pcal_status status =
      pc_bin_list_read(figure->env, &record->outcome.graph, SIZE_MAX, &all, err);
  if (status == PCAL_OK) {
    for (size_t i = 0; i < order.count; i++)
      classwise_panel(figure, data->shown.results, order.classes[i],
                      record->outcome.class_values[order.classes[i]], i, order.count, columns);
    classwise_describe(data, record, &order, figure);
    pc_reliability_legend(figure, &all, &style);
    pc_figure_lay_out(figure, &grid);
    status = classwise_draw(&order, &record->outcome.graph, &style, figure, err);
  }
  pc_bin_list_free(figure->env, &all);
  pc_class_order_free(figure->env, &order);
  return status;
}

const pc_figure_row pc_figure_reliability_classwise = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "reliability-classwise",
            .title = "reliability diagrams of single classes",
            .formula = "panel k, point b: x = mean probability of class k among the rows in "
                       "bin b, y = share of rows of class k among them\n"
                       "the number after a name: the mean of |y - x| over rows",
            .about = "The predicted class hides what happens to the others: here every class "
                     "has its own diagram, with the error that it adds to the SCE. If there "
                     "are many classes, only the worst are shown.",
            .citation = "Nixon et al. (2019), Measuring calibration in deep learning",
            .options = classwise_options,
            .option_count = sizeof classwise_options / sizeof *classwise_options,
        },
    .width = 720,
    .height = 760,
    .request = classwise_request,
    .build = classwise_build,
    .in_report = 7,
    .report_spec = "reliability-classwise:classes=6",
};
