#include "figure/bounds_bars.h"

#include <math.h>
#include <stdio.h>

#include "figure/number_text.h"

#define BOUNDS_BARS_ROUNDING 1e-12

static int bounds_bars_outside(const pc_bounded_error *row) {
  return row->known && (row->value < row->below - BOUNDS_BARS_ROUNDING ||
                        row->value > row->above + BOUNDS_BARS_ROUNDING);
}

static void bounds_bars_legend(pc_figure *figure, const pc_bounded_error *rows, size_t count) {
  int outside = 0, others = 0;
  for (size_t i = 0; i < count; i++) {
    outside |= bounds_bars_outside(&rows[i]);
    others |= isfinite(rows[i].other);
  }
  pc_figure_legend(figure, PC_SAMPLE_INTERVAL, (pc_look){.tone = PC_TONE_INK},
                   "estimate with interval");
  pc_figure_legend(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_FILL},
                   "range between estimated bounds");
  if (outside)
    pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_B},
                     "estimate outside its bounds");
  if (others)
    pc_figure_legend(figure, PC_SAMPLE_POINT, (pc_look){.tone = PC_TONE_A, .hollow = 1},
                     "of the rows' own distribution");
}

void pc_bounds_bars_axes(pc_figure *figure, const pc_bounded_error *rows, size_t count) {
  double highest = 0;
  for (size_t i = 0; i < count; i++) {
    highest = fmax(highest, rows[i].has_interval ? rows[i].high : rows[i].value);
    highest = fmax(highest, rows[i].other);
  }
  const size_t panel = pc_figure_grid_panel(figure, 0, 0, NULL);
  pc_figure_axis(figure, panel, PC_SIDE_X, 0, highest > 0 ? 1.04 * highest : 1, 6,
                 PC_NUMBERS_PLAIN, "error");
  pc_figure_axis(figure, panel, PC_SIDE_Y, (double)count - 0.4, -0.6, 2, PC_NUMBERS_PLAIN,
                 NULL);
  for (size_t i = 0; i < count; i++)
    pc_figure_name_tick(figure, panel, PC_SIDE_Y, (double)i, rows[i].name);
  bounds_bars_legend(figure, rows, count);
}

static void bounds_bars_mark(pc_figure *figure, const pc_bounded_error *row, double y) {
  char number[PC_NUMBER_TEXT_MAX], hint[2 * PC_NUMBER_TEXT_MAX];
  const pc_tone tone = bounds_bars_outside(row) ? PC_TONE_B : PC_TONE_INK;
  if (!isnan(row->above))
    pc_figure_bar(figure, 0, (pc_look){.tone = PC_TONE_FILL, .pale = 1},
                  (pc_point){fmin(row->below, row->above), y - 0.28},
                  (pc_point){row->above, y + 0.28}, NULL);
  if (isfinite(row->other)) {
    pc_fixed_text(row->other, 4, number);
    snprintf(hint, sizeof hint, "%s of the rows' own distribution: %s", row->name, number);
    pc_figure_point(figure, 0, (pc_look){.tone = PC_TONE_A, .hollow = 1, .size = 6},
                    (pc_point){row->other, y}, hint);
  }
  if (!row->known)
    return;
  if (row->has_interval)
    pc_figure_segment(figure, 0, (pc_look){.tone = tone, .size = 2},
                      (pc_point){fmax(row->low, 0), y}, (pc_point){row->high, y});
  pc_fixed_text(row->value, 4, number);
  snprintf(hint, sizeof hint, "%s: %s", row->name, number);
  pc_figure_point(figure, 0, (pc_look){.tone = tone, .size = 4.5}, (pc_point){row->value, y},
                  hint);
}

void pc_bounds_bars_marks(pc_figure *figure, const pc_bounded_error *rows, size_t count) {
  for (size_t i = 0; i < count; i++)
    bounds_bars_mark(figure, &rows[i], (double)i);
}
