/* Title on top, legend at the bottom, panels in a grid between them.
 *
 * The left margin of a column fits its widest tick labels and its y labels, the lower margin of a
 * row its x labels; the panels share the remaining space.  Ticks depend on the size of the panels
 * and the panels on the labels of the ticks, so both are computed in a few rounds, in which
 * margins only grow.
 *
 * 1. The number of ticks is lowered until no two labels touch; names are thinned out instead.
 * 2. A panel is at least 10 units wide and high, however small the figure.
 * 3. A legend entry that is wider than the figure is shortened in the middle. */
#include "figure/figure_layout.h"

#include <math.h>

#include "figure/text_extent.h"
#include "figure/text_layout.h"

#define LAYOUT_MARGIN 24.0
#define LAYOUT_LEGEND_ROW 24.0
#define LAYOUT_LEGEND_GAP 18.0
#define LAYOUT_COLUMN_GAP 14.0
#define LAYOUT_ROUNDS 3
#define LAYOUT_LEAST 10.0

typedef struct figure_layout_margins {
  double left[PC_PANEL_GRID_MAX], right[PC_PANEL_GRID_MAX];
  double top[PC_PANEL_GRID_MAX], bottom[PC_PANEL_GRID_MAX];
  double gap[PC_PANEL_GRID_MAX]; /* from a panel to its y label */
} figure_layout_margins;

static pc_string_id figure_layout_fit(pc_figure *figure, pc_string_id id, double size,
                                      double width) {
  if (pc_text_extent(pc_figure_string(figure, id), size) <= width)
    return id;
  pc_text text;
  pc_text_init(&text, figure->env);
  pc_text_shorten(&text, pc_figure_string(figure, id), size, width);
  figure->failed |= text.failed;
  const pc_string_id fitted = pc_figure_add_string(figure, text.bytes);
  pc_text_free(&text);
  return fitted;
}

/* A letter height at which the text fits, at least three quarters of `size`. */
static double figure_layout_shrink(const pc_figure *figure, pc_string_id id, double size,
                                   double width) {
  const double length = pc_text_extent(pc_figure_string(figure, id), size);
  return length <= width ? size : size * fmax(width / length, 0.75);
}

/* Places the heading; returns its lower edge. */
static double figure_layout_heading(pc_figure *figure) {
  const double width = figure->width - 2 * LAYOUT_MARGIN;
  figure->title = figure->given_title != 0 ? figure->given_title : figure->title;
  if (figure->untitled)
    figure->title = figure->subtitle = 0;
  figure->title_size =
      figure_layout_shrink(figure, figure->title, PC_SIZE_TITLE * 1.125, width) / 1.125;
  figure->title = figure_layout_fit(figure, figure->title, figure->title_size * 1.125, width);
  figure->subtitle = figure_layout_fit(figure, figure->subtitle, PC_SIZE_LABEL, width);
  if (figure->title == 0)
    return LAYOUT_MARGIN / 2;
  figure->heading = (pc_point){LAYOUT_MARGIN, 36};
  return figure->subtitle != 0 ? 69 : 46;
}

/* Places legend entries side by side, in a new row where needed; returns the height of all. */
static double figure_layout_legend(pc_figure *figure) {
  const double width = figure->width - 2 * LAYOUT_MARGIN;
  pc_point at = {LAYOUT_MARGIN, LAYOUT_LEGEND_ROW / 2};
  for (size_t i = 0; i < figure->legend_count; i++) {
    pc_legend_entry *entry = &figure->legend[i];
    entry->text = figure_layout_fit(figure, entry->text, PC_SIZE_TICK,
                                    width - PC_LEGEND_SAMPLE_WIDTH - LAYOUT_LEGEND_GAP);
    const double length = PC_LEGEND_SAMPLE_WIDTH + 8 +
                          pc_text_extent(pc_figure_string(figure, entry->text), PC_SIZE_TICK);
    if (at.x > LAYOUT_MARGIN && (entry->begins_row || at.x + length > LAYOUT_MARGIN + width)) {
      at.x = LAYOUT_MARGIN;
      at.y += LAYOUT_LEGEND_ROW;
    }
    entry->at = at;
    at.x += length + LAYOUT_LEGEND_GAP;
  }
  const double height = figure->legend_count > 0 ? at.y + LAYOUT_LEGEND_ROW / 2 : 0;
  figure->legend_rect = (pc_rect){LAYOUT_MARGIN, figure->height - 14 - height, width, height};
  for (size_t i = 0; i < figure->legend_count; i++)
    figure->legend[i].at.y += figure->legend_rect.y;
  return height;
}

/* Places as many ticks as fit, at most axis->wanted. */
static void figure_layout_ticks(const pc_figure *figure, pc_panel *panel, pc_side side) {
  pc_axis *axis = &panel->axis[side];
  if (axis->name_count > 0 || axis->wanted == 0)
    return;
  for (size_t wanted = axis->wanted;; wanted--) {
    pc_ticks_place(axis->low, axis->high, wanted, &axis->ticks);
    if (wanted <= 2 || pc_tick_stride(figure, axis, side, &panel->rect) == 1)
      return;
  }
}

/* Width of the widest tick label of an axis. */
static double figure_layout_tick_width(const pc_figure *figure, const pc_axis *axis) {
  char buffer[PC_TICK_LABEL_MAX];
  double widest = 0;
  for (size_t i = 0; axis->name_count == 0 && i < axis->ticks.count; i++) {
    pc_tick_label(axis, axis->ticks.at[i], buffer);
    widest = fmax(widest, pc_text_extent(buffer, PC_SIZE_TICK));
  }
  for (size_t i = 0; i < axis->name_count; i++)
    widest =
        fmax(widest,
             pc_text_extent(pc_figure_string(figure, figure->names[axis->first_name + i].text),
                            PC_SIZE_TICK));
  return axis->numbers == PC_NUMBERS_NONE ? 0 : widest;
}

/* Grows the margins to fit the labels; the y labels of a column are aligned. */
static void figure_layout_margins_grow(pc_figure *figure, figure_layout_margins *margins) {
  for (size_t i = 0; i < figure->panel_count; i++) {
    pc_panel *panel = &figure->panels[i];
    const pc_axis *x = &panel->axis[PC_SIDE_X], *y = &panel->axis[PC_SIDE_Y];
    const double numbers = figure_layout_tick_width(figure, y);
    const double ahead = figure_layout_tick_width(figure, x) / 2;
    double *gap = &margins->gap[panel->column];
    double *left = &margins->left[panel->column], *right = &margins->right[panel->column];
    double *top = &margins->top[panel->row], *bottom = &margins->bottom[panel->row];
    *gap = fmax(*gap, numbers + (numbers > 0 ? 16 : 8));
    panel->label_gap = *gap;
    *left = fmax(*left, fmax(ahead, *gap - 8 + (y->label != 0 ? 24 : 0)));
    *right = fmax(*right, fmax(ahead, 4));
    *top = fmax(*top, fmax(panel->headroom, panel->title != 0 ? 34 : 12));
    *bottom = fmax(*bottom, (x->numbers == PC_NUMBERS_NONE ? 4 : 26) + (x->label ? 26 : 0));
  }
}

static double figure_layout_sum(const double *values, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += values[i];
  return sum;
}

static double figure_layout_share(const double *shares, size_t count, size_t index) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += shares[i] > 0 ? shares[i] : 1;
  return (shares[index] > 0 ? shares[index] : 1) / sum;
}

static void figure_layout_place(const pc_panel_grid *grid, const figure_layout_margins *margins,
                                pc_rect area, pc_panel *panel) {
  const double inner_width = area.width - figure_layout_sum(margins->left, grid->columns) -
                             figure_layout_sum(margins->right, grid->columns) -
                             LAYOUT_COLUMN_GAP * (double)(grid->columns - 1);
  const double inner_height = area.height - figure_layout_sum(margins->top, grid->rows) -
                              figure_layout_sum(margins->bottom, grid->rows);
  pc_rect rect = {area.x + margins->left[0], area.y + margins->top[0], 0, 0};
  for (size_t c = 0; c < panel->column; c++)
    rect.x += figure_layout_share(grid->column_share, grid->columns, c) * inner_width +
              margins->right[c] + LAYOUT_COLUMN_GAP + margins->left[c + 1];
  for (size_t r = 0; r < panel->row; r++)
    rect.y += figure_layout_share(grid->row_share, grid->rows, r) * inner_height +
              margins->bottom[r] + margins->top[r + 1];
  rect.width =
      fmax(figure_layout_share(grid->column_share, grid->columns, panel->column) * inner_width,
           LAYOUT_LEAST);
  rect.height =
      fmax(figure_layout_share(grid->row_share, grid->rows, panel->row) * inner_height,
           LAYOUT_LEAST);
  panel->rect = rect;
}

static void figure_layout_fit_label(pc_figure *figure, pc_axis *axis, double room) {
  axis->label_size = figure_layout_shrink(figure, axis->label, PC_SIZE_LABEL, room);
  axis->label = figure_layout_fit(figure, axis->label, axis->label_size, room);
}

/* Shortens titles and axis labels to the space available; alone: the x label of a single column may
 * reach the edges of the figure. */
static void figure_layout_fit_labels(pc_figure *figure, pc_panel *panel, int alone) {
  const double middle = panel->rect.x + panel->rect.width / 2;
  const double room =
      alone ? 2 * fmin(middle, figure->width - middle) - 12 : panel->rect.width + 16;
  panel->title =
      figure_layout_fit(figure, panel->title, PC_SIZE_TICK * 1.125, panel->rect.width);
  figure_layout_fit_label(figure, &panel->axis[PC_SIDE_X], room);
  figure_layout_fit_label(figure, &panel->axis[PC_SIDE_Y], panel->rect.height + 20);
}

/* Shortens names beside panels to two fifths of the figure. */
static void figure_layout_fit_names(pc_figure *figure, const pc_panel_grid *grid) {
  const double room = 0.4 * figure->width / (double)grid->columns;
  for (size_t i = 0; i < figure->panel_count; i++) {
    const pc_axis *axis = &figure->panels[i].axis[PC_SIDE_Y];
    for (size_t n = 0; n < axis->name_count; n++) {
      pc_named_tick *name = &figure->names[axis->first_name + n];
      name->text = figure_layout_fit(figure, name->text, PC_SIZE_TICK, room);
    }
  }
}

void pc_figure_lay_out(pc_figure *figure, const pc_panel_grid *grid) {
  const double top = figure_layout_heading(figure), key = figure_layout_legend(figure);
  const pc_rect area = {LAYOUT_MARGIN - 4, top, figure->width - 2 * LAYOUT_MARGIN + 8,
                        figure->height - top - 14 - key - (key > 0 ? 8 : 0)};
  figure_layout_margins margins = {{0}, {0}, {0}, {0}, {0}};
  figure_layout_fit_names(figure, grid);
  figure_layout_margins_grow(figure, &margins);
  for (int round = 0; round < LAYOUT_ROUNDS; round++) {
    for (size_t i = 0; i < figure->panel_count; i++) {
      figure_layout_place(grid, &margins, area, &figure->panels[i]);
      figure_layout_ticks(figure, &figure->panels[i], PC_SIDE_X);
      figure_layout_ticks(figure, &figure->panels[i], PC_SIDE_Y);
    }
    figure_layout_margins_grow(figure, &margins);
  }
  figure_layout_margins_grow(figure, &margins);
  for (size_t i = 0; i < figure->panel_count && !figure->failed; i++)
    figure_layout_fit_labels(figure, &figure->panels[i], grid->columns == 1);
}
