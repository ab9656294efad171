/* Ranks of methods: the area of a circle is the number of metrics that give a method a rank.
 * Below, the agreement of metrics that share a property. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "figure/dot_rows.h"
#include "figure/figure_layout.h"
#include "figure/number_text.h"
#include "figure/study_figure_registry.h"

enum { METRIC_RANKS_FIGURE_METHODS, METRIC_RANKS_FIGURE_ORDER, METRIC_RANKS_FIGURE_PROPERTIES };

static const pc_dot_series metric_ranks_figure_series[] = {
    {"spearman", "Spearman", PC_TONE_B}, {"printed_formula", "the printed formula", PC_TONE_C}};

/* Number of metrics, over all models, that give a method this rank, from 1. */
static size_t metric_ranks_figure_count(const pc_table *order, size_t method, size_t rank) {
  const size_t place = pc_table_find_column(order, "rank");
  size_t count = 0;
  for (size_t r = 0; r < order->row_count; r++) {
    if (pc_table_at(order, r, place)->number != (double)rank)
      continue;
    for (size_t c = place + 1; c < order->column_count; c++)
      count += pc_table_at(order, r, c)->number == (double)method;
  }
  return count;
}

static void metric_ranks_figure_frame(const pc_table *methods, pc_figure *figure) {
  const double count = (double)methods->row_count;
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  char text[24];
  pc_figure_axis(figure, panel, PC_SIDE_X, 0.4, count + 0.6, 2, PC_NUMBERS_PLAIN,
                 "rank of the method, 1 is best");
  pc_figure_axis(figure, panel, PC_SIDE_Y, count - 0.4, -0.6, 2, PC_NUMBERS_PLAIN, NULL);
  for (size_t m = 0; m < methods->row_count; m++)
    pc_figure_name_tick(figure, panel, PC_SIDE_Y, (double)m, pc_table_at(methods, m, 1)->word);
  for (size_t m = 0; m < methods->row_count; m++) {
    snprintf(text, sizeof text, "%zu", m + 1);
    pc_figure_name_tick(figure, panel, PC_SIDE_X, (double)(m + 1), text);
  }
}

/* The largest radius that keeps circles apart. */
static double metric_ranks_figure_radius(const pc_figure *figure, size_t methods) {
  const pc_rect rect = figure->failed ? (pc_rect){0, 0, 1, 1} : figure->panels[0].rect;
  return 0.46 * fmin(rect.width, rect.height) / ((double)methods + 0.2);
}

static void metric_ranks_figure_circles(const pc_findings *findings, pc_figure *figure) {
  const pc_table *methods = &findings->tables[METRIC_RANKS_FIGURE_METHODS];
  const pc_table *order = &findings->tables[METRIC_RANKS_FIGURE_ORDER];
  const double largest = metric_ranks_figure_radius(figure, methods->row_count);
  const double all = (double)(order->row_count / methods->row_count * 32);
  char hint[PC_TABLE_WORD_MAX + PC_NUMBER_TEXT_MAX];
  for (size_t m = 0; m < methods->row_count; m++)
    for (size_t rank = 1; rank <= methods->row_count; rank++) {
      const size_t count = metric_ranks_figure_count(order, m, rank);
      if (count == 0)
        continue;
      snprintf(hint, sizeof hint, "%s: rank %zu by %zu of %.0f",
               pc_table_at(methods, m, 1)->word, rank, count, all);
      pc_figure_point(figure, 0,
                      (pc_look){.tone = PC_TONE_A, .size = largest * sqrt((double)count / all)},
                      (pc_point){(double)rank, (double)m}, hint);
    }
}

static pcal_status metric_ranks_figure_build(const pc_findings *findings, pc_figure *figure,
                                             pcal_error *err) {
  static const pc_panel_grid grid = {.columns = 1, .rows = 2, .row_share = {1, 1}};
  const pc_table *properties = &findings->tables[METRIC_RANKS_FIGURE_PROPERTIES];
  const pc_dot_rows rows = {properties, "property", metric_ranks_figure_series, 2, 0};
  (void)err;
  metric_ranks_figure_frame(&findings->tables[METRIC_RANKS_FIGURE_METHODS], figure);
  const size_t panel =
      pc_dot_rows_panel(figure, &rows, 0, 1, NULL, "rank correlation between metrics");
  figure->title = pc_figure_add_string(figure, "Do metrics agree on the best method?");
  figure->description = pc_figure_add_string(figure, findings->summary);
  pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_A},
                   "area: number of metrics");
  pc_dot_rows_legend(figure, &rows);
  pc_figure_lay_out(figure, &grid);
  metric_ranks_figure_circles(findings, figure);
  pc_dot_rows_marks(figure, &rows, panel);
  return PCAL_OK;
}

const pc_study_figure pc_study_figure_metric_ranks = {
    .study = "metric-ranks",
    .width = 640,
    .height = 820,
    .build = metric_ranks_figure_build,
};
