/* 1. Empty bins are not drawn.
 * 2. Bins with fewer than 30 rows are pale and hollow, since their frequency is uncertain.
 * 3. Scores a little outside [0, 1], as stored probabilities may be, are drawn at the edge.
 * 4. The consistency band of a bin with n rows and mean score p is p +- z sqrt(p (1 - p) / n):
 *    slightly too wide, since scores inside a bin differ.
 *
 * Wilson (1927), Probable inference, the law of succession, and statistical inference;
 * Broecker & Smith (2007), Increasing the reliability of reliability diagrams. */
#include "figure/reliability_marks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/normal.h"
#include "figure/number_text.h"

#define PANEL_GUTTER 0.03

static const pc_reliability_texts panel_top = {
    "Reliability of the predicted class",
    "confidence (probability of the predicted class)",
    "accuracy",
    "mean confidence",
    "accuracy",
    "over-confident",
    "under-confident"};

static const pc_reliability_texts panel_positive = {"Reliability of the probability of class 1",
                                                    "predicted probability of class 1",
                                                    "observed frequency",
                                                    "mean prediction",
                                                    "base rate",
                                                    "predicted too high",
                                                    "predicted too low"};

const pc_reliability_texts *pc_reliability_texts_of(int class_1) {
  return class_1 ? &panel_positive : &panel_top;
}

pcal_status pc_bin_list_read(const pcal_env *env, const pc_plot_table *graph, size_t class,
                             pc_bin_list *out, pcal_error *err) {
  const double *low = pc_graph_column(graph, "low"), *high = pc_graph_column(graph, "high");
  const double *weight = pc_graph_column(graph, "weight");
  const double *score = pc_graph_column(graph, "confidence");
  const double *hits = pc_graph_column(graph, "accuracy");
  const double *of_class = pc_graph_column(graph, "class");
  out->count = 0;
  out->bins = pc_alloc(env, graph->count, sizeof *out->bins);
  if (out->bins == NULL)
    return pc_fail_memory(err, "reading bins for a figure");
  if (low == NULL || high == NULL || weight == NULL || score == NULL || hits == NULL)
    return PCAL_OK;
  for (size_t i = 0; i < graph->count; i++)
    if (class == SIZE_MAX || of_class == NULL || of_class[i] == (double)class)
      out->bins[out->count++] = (pcal_bin){low[i], high[i], weight[i], score[i], hits[i]};
  return PCAL_OK;
}

void pc_bin_list_free(const pcal_env *env, pc_bin_list *list) {
  pc_free(env, list->bins);
  *list = (pc_bin_list){NULL, 0};
}

/* centre = (f + z^2/2n) / (1 + z^2/n),
 * half width = z / (1 + z^2/n) * sqrt(f(1-f)/n + z^2/4n^2). */
void pc_wilson_interval(double frequency, double n, double z, double *low, double *high) {
  const double shrink = 1 + z * z / n;
  const double centre = (frequency + z * z / (2 * n)) / shrink;
  const double variance = frequency * (1 - frequency) / n + z * z / (4 * n * n);
  const double half = z / shrink * sqrt(fmax(variance, 0));
  *low = fmax(centre - half, 0);
  *high = fmin(centre + half, 1);
}

double pc_level_quantile(double level) {
  return level > 0 ? pc_normal_quantile(0.5 + level / 2) : 1.959963984540054;
}

static double panel_clamp(double value) {
  return fmin(fmax(value, 0), 1);
}

static int panel_few(const pcal_bin *bin) {
  return bin->weight < PC_FEW_ROWS;
}

void pc_reliability_hint(const pcal_bin *bin, const pc_reliability_texts *texts, pc_text *out) {
  char low[PC_NUMBER_TEXT_MAX], high[PC_NUMBER_TEXT_MAX], score[PC_NUMBER_TEXT_MAX],
      hits[PC_NUMBER_TEXT_MAX];
  char rows[PC_NUMBER_TEXT_MAX];
  pc_fixed_text(bin->low, 3, low);
  pc_fixed_text(bin->high, 3, high);
  pc_fixed_text(bin->confidence, 4, score);
  pc_fixed_text(bin->frequency, 4, hits);
  pc_count_text(bin->weight, rows);
  out->length = 0;
  pc_text_format(out, "%s to %s: %s %s, %s %s, %s row%s", low, high, texts->score, score,
                 texts->y_label, hits, rows, bin->weight == 1 ? "" : "s");
}

static void panel_gap(pc_figure *figure, size_t panel, const pcal_bin *bin) {
  const double left = panel_clamp(bin->low), right = panel_clamp(bin->high);
  const double score = panel_clamp(bin->confidence), hits = panel_clamp(bin->frequency);
  const double gutter = PANEL_GUTTER * (right - left);
  const pc_look look = {.tone = score > hits ? PC_TONE_WARM : PC_TONE_COOL,
                        .pale = panel_few(bin)};
  if (score != hits && right > left)
    pc_figure_bar(figure, panel, look, (pc_point){left + gutter, score},
                  (pc_point){right - gutter, hits}, NULL);
}

/* Draws the band of the frequency of a calibrated bin. */
static void panel_consistency(pc_figure *figure, size_t panel, const pcal_bin *bin, double z) {
  const double score = panel_clamp(bin->confidence);
  const double half = z * sqrt(score * (1 - score) / bin->weight);
  const double left = panel_clamp(bin->low), right = panel_clamp(bin->high);
  if (right > left)
    pc_figure_bar(figure, panel, (pc_look){.tone = PC_TONE_INK, .wash = 1},
                  (pc_point){left, panel_clamp(score - half)},
                  (pc_point){right, panel_clamp(score + half)}, NULL);
}

static void panel_point(pc_figure *figure, size_t panel, const pcal_bin *bin, double radius,
                        const pc_reliability_style *style, pc_text *hint) {
  const double score = panel_clamp(bin->confidence), hits = panel_clamp(bin->frequency);
  const int few = panel_few(bin);
  double low, high;
  pc_reliability_hint(bin, style->texts, hint);
  pc_wilson_interval(hits, bin->weight, pc_level_quantile(style->level), &low, &high);
  if (style->band == PC_BAND_CONFIDENCE)
    pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_INK, .pale = few, .size = 1.5},
                      (pc_point){score, low}, (pc_point){score, high});
  pc_figure_point(
      figure, panel,
      (pc_look){.tone = few ? PC_TONE_MUTED : PC_TONE_INK, .hollow = few, .size = radius},
      (pc_point){score, hits}, hint->failed ? NULL : hint->bytes);
}

void pc_reliability_marks(pc_figure *figure, size_t panel, const pc_bin_list *bins,
                          const pc_reliability_style *style) {
  const double z = pc_level_quantile(style->level);
  const double width = figure->failed ? 0 : figure->panels[panel].rect.width;
  const double radius = bins->count > 25 || width < 240 ? 2.5 : 4;
  pc_text hint;
  pc_text_init(&hint, figure->env);
  for (size_t i = 0; style->band == PC_BAND_CONSISTENCY && i < bins->count; i++)
    if (bins->bins[i].weight > 0)
      panel_consistency(figure, panel, &bins->bins[i], z);
  for (size_t i = 0; i < bins->count; i++)
    if (bins->bins[i].weight > 0)
      panel_gap(figure, panel, &bins->bins[i]);
  pc_figure_segment(figure, panel, (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                    (pc_point){0, 0}, (pc_point){1, 1});
  for (size_t i = 0; i < bins->count; i++)
    if (bins->bins[i].weight > 0)
      panel_point(figure, panel, &bins->bins[i], radius, style, &hint);
  figure->failed |= hint.failed;
  pc_text_free(&hint);
}

static void panel_key_bands(pc_figure *figure, const pc_reliability_style *style) {
  char text[PC_NUMBER_TEXT_MAX];
  const double level = style->level > 0 ? style->level : 0.95;
  if (style->band == PC_BAND_CONFIDENCE) {
    char entry[PC_NUMBER_TEXT_MAX + 16];
    pc_level_text(level, "interval", text);
    snprintf(entry, sizeof entry, "bin with %s", text);
    pc_figure_legend(figure, PC_SAMPLE_INTERVAL, (pc_look){.tone = PC_TONE_INK}, entry);
    return;
  }
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_INK}, "bin");
  if (style->band == PC_BAND_CONSISTENCY) {
    pc_level_text(level, "of bins if calibrated", text);
    pc_figure_legend(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_INK, .wash = 1}, text);
  }
}

void pc_reliability_legend(pc_figure *figure, const pc_bin_list *bins,
                           const pc_reliability_style *style) {
  int few = 0, high = 0, low = 0;
  for (size_t i = 0; i < bins->count; i++) {
    const pcal_bin *bin = &bins->bins[i];
    few |= bin->weight > 0 && panel_few(bin);
    high |= bin->weight > 0 && bin->confidence > bin->frequency;
    low |= bin->weight > 0 && bin->confidence < bin->frequency;
  }
  panel_key_bands(figure, style);
  if (few)
    pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_MUTED, .hollow = 1},
                     "fewer than 30 rows");
  pc_figure_legend(figure, PC_SAMPLE_LINE,
                   (pc_look){.tone = PC_TONE_MUTED, .dashed = 1, .size = 1.5},
                   "perfect calibration");
  if (high)
    pc_figure_legend(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_WARM},
                     style->texts->high);
  if (low)
    pc_figure_legend(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_COOL}, style->texts->low);
}
