/* Positions of all texts of a figure, for the SVG writer and for tests. */
#ifndef PC_TEXT_LAYOUT_H
#define PC_TEXT_LAYOUT_H

#include "base/number.h"
#include "figure/figure.h"

#define PC_TICK_LABEL_MAX (PC_NUMBER_MAX + 2)

typedef struct pc_placed_text {
  const char *text;
  pc_point at; /* on the base line */
  pc_look look;
  double size; /* letter height */
  pc_anchor anchor;
  int rotated; /* runs upwards */
} pc_placed_text;

typedef void (*pc_placed_text_use)(void *user, const pc_placed_text *word);

/* Calls use for each text that is not empty; the text is valid during the call only. */
void pc_figure_each_text(const pc_figure *figure, pc_placed_text_use use, void *user);

/* The box of a text, in figure units. */
pc_rect pc_placed_text_box(const pc_placed_text *word);

/* Writes the label of a tick of an axis without names. */
void pc_tick_label(const pc_axis *axis, double value, char out[PC_TICK_LABEL_MAX]);

/* The smallest stride at which labels of ticks (or names) do not touch: 1 for every tick. */
size_t pc_tick_stride(const pc_figure *figure, const pc_axis *axis, pc_side side,
                      const pc_rect *rect);

#endif
