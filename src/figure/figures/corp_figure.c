/* CORP reliability diagram: the isotonic regression of outcomes on scores.
 *
 * Upper panel: the regression as a line, flat in each of its blocks and straight between them;
 * around the diagonal the pointwise band of the regression of a calibrated model.  Lower panel:
 * the shares of rows.  Corner: the Brier score and its decomposition into miscalibration,
 * discrimination and uncertainty, score = MCB - DSC + UNC.
 *
 * Band: outcomes are drawn from the scores 400 times, the regression is fitted each time, and the
 * quantiles are taken at 101 positions.  The rows between two points of the curve of ks (at most
 * about three thousand points) are drawn together: as a binomial number or, for a variance above
 * 30, as a rounded normal one.
 *
 * 1. The band covers the range of the scores only.
 * 2. The draws depend on the environment's seed only.
 *
 * Dimitriadis, Gneiting & Jordan (2021), Stable reliability diagrams for probabilistic
 * classifiers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "curve/isotonic.h"
#include "figure/figure_layout.h"
#include "figure/ks_graph_curve.h"
#include "figure/reliability_marks.h"
#include "figure/stat_box.h"

#define CORP_GRID 101
#define CORP_DRAWS 400
#define CORP_NORMAL 30.0
#define CORP_STREAM 0x636f7270u
#define CORP_PARTS 4

enum { CORP_VIEW, CORP_BAND };

static const pcal_option corp_options[] = {
    PC_VIEW_OPTION,
    {"band", PCAL_OPTION_CHOICE, "consistency", 0, 0, "consistency|none",
     "pointwise band of the line of a calibrated model"},
};

static const pc_look corp_line = {.tone = PC_TONE_C, .size = 2.5};
static const pc_look corp_wash = {.tone = PC_TONE_INK, .wash = 1};

static pcal_status corp_request(const pc_options *options, const pc_layout *layout,
                                pc_figure_request *request, pcal_error *err) {
  char view[16];
  (void)err;
  pc_options_word(options, CORP_VIEW, view, sizeof view);
  const int choice = options->value[CORP_VIEW].choice;
  const int positive =
      choice == PC_CHOICE_POSITIVE || (choice == PC_CHOICE_AUTO && pc_layout_is_binary(layout));
  pc_figure_request_metric(request, "decomposition:by=corp,view=%s", view);
  pc_figure_request_metric(request, positive ? "ks:class=1" : "ks:rank=1");
  pc_figure_request_metric(request, "ece:bins=20,view=%s", view);
  return PCAL_OK;
}

/* ---- The band ---- */

typedef struct corp_band {
  const pcal_env *env;
  pc_curve_table table; /* rows between points of the curve; hits are redrawn */
  double *values;       /* CORP_GRID x CORP_DRAWS */
} corp_band;

/* Draws the hits of `weight` rows of a calibrated model. */
static double corp_draw(const pc_rng *rng, uint64_t index, double weight, double score) {
  const double p = fmin(fmax(score, 0), 1), variance = weight * p * (1 - p);
  if (variance > CORP_NORMAL || weight != floor(weight)) {
    const double hits = weight * p + sqrt(variance) * pc_rng_normal(rng, index);
    return fmin(fmax(floor(hits + 0.5), 0), weight);
  }
  double hits = 0;
  if (weight > 4096) { /* rare outcomes, or rare misses */
    const double rare = p < 0.5 ? weight * p : weight * (1 - p);
    const double count = fmin((double)pc_rng_poisson(rng, index, rare), weight);
    return p < 0.5 ? count : weight - count;
  }
  for (double i = 0; i < weight; i++)
    hits += pc_rng_uniform(rng, index + (uint64_t)i) < p;
  return hits;
}

/* Evaluates the regression at the positions of the grid. */
static void corp_read(const pc_isotonic *fit, double *out) {
  size_t block = 0;
  for (size_t g = 0; g < CORP_GRID; g++) {
    const double x = (double)g / (CORP_GRID - 1);
    while (block + 1 < fit->count && fit->blocks[block].high < x)
      block++;
    const pc_isotonic_block *at = &fit->blocks[block];
    out[g * CORP_DRAWS] = pc_isotonic_value(at);
    if (x < at->low && block > 0) {
      const pc_isotonic_block *left = at - 1;
      const double share = (x - left->high) / (at->low - left->high);
      out[g * CORP_DRAWS] =
          pc_isotonic_value(left) + share * (pc_isotonic_value(at) - pc_isotonic_value(left));
    }
  }
}

static pcal_status corp_simulate(corp_band *band, pcal_error *err) {
  uint64_t index = 0;
  for (size_t draw = 0; draw < CORP_DRAWS; draw++) {
    const pc_rng rng = {band->env->seed, CORP_STREAM + ((uint64_t)draw << 32)};
    pc_isotonic fit = {NULL, 0, 0};
    index = 0;
    for (size_t i = 0; i < band->table.count; i++) {
      band->table.hits[i] = corp_draw(&rng, index, band->table.weight[i], band->table.score[i]);
      index += (uint64_t)fmin(ceil(band->table.weight[i]), 4096) + 1;
    }
    const pcal_status status = pc_isotonic_fit(band->env, &band->table, &fit, err);
    if (status == PCAL_OK)
      corp_read(&fit, band->values + draw);
    pc_isotonic_free(band->env, &fit);
    PC_TRY(status);
    PC_TRY(pc_check_interrupt(band->env, err));
  }
  return PCAL_OK;
}

static int corp_compare(const void *a, const void *b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* Draws the band: lower quantiles from left to right, upper ones back. */
static void corp_outline(corp_band *band, pc_figure *figure, size_t panel) {
  pc_point outline[2 * CORP_GRID];
  size_t used = 0, first = 0, last = CORP_GRID - 1;
  const double low = band->table.score[0], high = band->table.score[band->table.count - 1];
  while (first < last && (double)(first + 1) / (CORP_GRID - 1) <= low)
    first++;
  while (last > first && (double)(last - 1) / (CORP_GRID - 1) >= high)
    last--;
  for (size_t g = first; g <= last; g++) {
    double *values = band->values + g * CORP_DRAWS;
    qsort(values, CORP_DRAWS, sizeof *values, corp_compare);
    outline[used++] = (pc_point){(double)g / (CORP_GRID - 1), values[CORP_DRAWS / 40]};
  }
  for (size_t g = last + 1; g-- > first;)
    outline[used++] =
        (pc_point){(double)g / (CORP_GRID - 1),
                   band->values[g * CORP_DRAWS + CORP_DRAWS - 1 - CORP_DRAWS / 40]};
  pc_figure_band(figure, panel, corp_wash, outline, used);
}

static pcal_status corp_band_draw(const pc_ks_graph_curve *curve, double rows,
                                  pc_figure *figure, size_t panel, pcal_error *err) {
  corp_band band = {.env = figure->env};
  PC_TRY(pc_ks_graph_curve_table(band.env, curve, rows, &band.table, err));
  for (size_t i = 0; i < band.table.count; i++) /* rounded where weights are whole */
    if (fabs(band.table.weight[i] - floor(band.table.weight[i] + 0.5)) < 1e-6)
      band.table.weight[i] = floor(band.table.weight[i] + 0.5);
  band.values = pc_alloc(band.env, (size_t)CORP_GRID * CORP_DRAWS, sizeof *band.values);
  pcal_status status =
      band.values == NULL ? pc_fail_memory(err, "drawing corp") : corp_simulate(&band, err);
  if (status == PCAL_OK)
    corp_outline(&band, figure, panel);
  pc_free(band.env, band.values);
  pc_curve_table_free(band.env, &band.table);
  return status;
}

/* ---- The figure ---- */

static pcal_status corp_regression(const pc_plot_table *graph, pc_figure *figure, size_t panel,
                                   pcal_error *err) {
  const double *low = pc_graph_column(graph, "low"), *high = pc_graph_column(graph, "high");
  const double *value = pc_graph_column(graph, "accuracy");
  pc_point *points = pc_alloc(figure->env, 2 * graph->count, sizeof *points);
  if (points == NULL)
    return pc_fail_memory(err, "drawing corp");
  for (size_t i = 0; i < graph->count; i++) {
    points[2 * i] = (pc_point){fmin(fmax(low[i], 0), 1), value[i]};
    points[2 * i + 1] = (pc_point){fmin(fmax(high[i], 0), 1), value[i]};
  }
  pc_figure_line(figure, panel, corp_line, points, 2 * graph->count);
  pc_free(figure->env, points);
  return PCAL_OK;
}

/* For class 1 the sum over both classes, like the metric brier. */
static size_t corp_parts(const pc_result_record *record, int positive,
                         pc_stat stats[CORP_PARTS]) {
  static const char *const names[] = {"miscalibration", "discrimination", "uncertainty"};
  const double factor = positive ? 2.0 : 1.0;
  size_t count = 0;
  for (size_t i = 0; i < 3 && i < record->outcome.part_count; i++) {
    stats[count].name = names[i];
    pc_fixed_text(factor * record->outcome.parts[i].value, 4, stats[count++].value);
  }
  stats[count].name = positive ? "Brier score" : "top-label Brier";
  pc_fixed_text(factor * record->outcome.value, 4, stats[count++].value);
  return count;
}

static void corp_axes(const pc_reliability_texts *texts, double highest, pc_figure *figure) {
  pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_grid_panel(figure, 0, 1, NULL);
  pc_figure_axis(figure, 0, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_NONE, NULL);
  pc_figure_axis(figure, 0, PC_SIDE_Y, 0, 1, 6, PC_NUMBERS_PLAIN, texts->y_label);
  pc_figure_axis(figure, 1, PC_SIDE_X, 0, 1, 6, PC_NUMBERS_PLAIN, texts->x_label);
  pc_figure_axis(figure, 1, PC_SIDE_Y, 0, 1.05 * highest, 3, PC_NUMBERS_PERCENT, "rows");
  pc_figure_legend(figure, PC_SAMPLE_LINE, corp_line, "isotonic regression of outcomes");
  pc_figure_legend(figure, PC_SAMPLE_LINE,
                   (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                   "perfect calibration");
}

static void corp_shares(const pc_bin_list *bins, double rows, pc_figure *figure) {
  for (size_t i = 0; i < bins->count; i++)
    if (bins->bins[i].weight > 0)
      pc_figure_bar(figure, 1, (pc_look){.tone = PC_TONE_FILL},
                    (pc_point){bins->bins[i].low + 0.001, 0},
                    (pc_point){bins->bins[i].high - 0.001, bins->bins[i].weight / rows}, NULL);
}

static pcal_status corp_marks(const pc_figure_data *data, const pc_result_record *fit,
                              pc_figure *figure, pcal_error *err) {
  const pc_result_record *cumulated;
  pc_ks_graph_curve curve;
  if (data->options->value[CORP_BAND].choice == 0) {
    PC_TRY(pc_figure_record_with_curve(data, &data->shown, 1, &cumulated, err));
    PC_TRY(pc_ks_graph_curve_read(&cumulated->outcome.graph, &curve, err));
    PC_TRY(corp_band_draw(&curve, data->shown.results->effective, figure, 0, err));
  }
  pc_figure_segment(figure, 0, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                    (pc_point){0, 0}, (pc_point){1, 1});
  return corp_regression(&fit->outcome.graph, figure, 0, err);
}

static pcal_status corp_build(const pc_figure_data *data, pc_figure *figure, pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 2, .row_share = {4.6, 1}};
  const pc_result_record *fit, *binned;
  pc_bin_list bins;
  pc_stat stats[CORP_PARTS];
  PC_TRY(pc_figure_record_with_curve(data, &data->shown, 0, &fit, err));
  PC_TRY(pc_figure_record_with_curve(data, &data->shown, 2, &binned, err));
  const int positive = fit->view.kind == PC_VIEW_CLASS;
  const pc_reliability_texts *texts = pc_reliability_texts_of(positive);
  const double rows = data->shown.results->effective;
  double highest = 0;
  PC_TRY(pc_bin_list_read(figure->env, &binned->outcome.graph, SIZE_MAX, &bins, err));
  for (size_t i = 0; i < bins.count; i++)
    highest = fmax(highest, bins.bins[i].weight / rows);
  corp_axes(texts, highest, figure);
  if (data->options->value[CORP_BAND].choice == 0)
    pc_figure_legend(figure, PC_SAMPLE_BAR, corp_wash, "95% of such lines if calibrated");
  figure->title = pc_figure_add_string(figure, texts->title);
  pc_figure_set_subtitle(figure, data->shown.results, "CORP");
  figure->description = figure->subtitle;
  pc_figure_lay_out(figure, &grid);
  corp_shares(&bins, rows, figure);
  const pcal_status status = corp_marks(data, fit, figure, err);
  pc_bin_list_free(figure->env, &bins);
  if (status == PCAL_OK)
    pc_figure_stat_box(figure, 0, stats, corp_parts(fit, positive, stats));
  return status;
}

const pc_figure_row pc_figure_corp = {
    .row =
        {
            .registry = PCAL_FIGURES,
            .name = "corp",
            .title = "CORP reliability diagram",
            .formula = "line: isotonic regression of outcomes on scores\n"
                       "Brier score = miscalibration - discrimination + uncertainty",
            .about =
                "A reliability diagram without bins to choose: the frequencies are those of "
                "the isotonic regression, which is optimal and has no parameters. The "
                "band shows where the line of a calibrated model with these scores would lie, "
                "position by position.",
            .citation = "Dimitriadis, Gneiting & Jordan (2021), Stable reliability diagrams "
                        "for probabilistic classifiers",
            .options = corp_options,
            .option_count = sizeof corp_options / sizeof *corp_options,
        },
    .width = 640,
    .height = 700,
    .request = corp_request,
    .build = corp_build,
    .in_report = 3,
};
