/* The table is placed in the first corner that is clear of marks: upper left, lower right, upper
 * right, lower left.
 *
 * 1. Dashed lines of reference may be covered; no other mark may.
 * 2. In a panel too small for the table, or without a free corner, the statistics are written in
 *    lines above the panel. */
#include "figure/stat_box.h"

#include <math.h>

#include "base/elementary.h"
#include "figure/text_extent.h"

#define STAT_BOX_TEXT 15.0
#define STAT_BOX_LINE 20.0
#define STAT_BOX_PADDING 12.0
#define STAT_BOX_CLEARANCE 6.0
#define STAT_BOX_STEP 5.0

static int stat_box_inside(const pc_rect *box, pc_point at, double away) {
  return at.x > box->x - away && at.x < box->x + box->width + away && at.y > box->y - away &&
         at.y < box->y + box->height + away;
}

static int stat_box_bar_hits(const pc_rect *box, pc_point a, pc_point b) {
  const double away = STAT_BOX_CLEARANCE;
  return fmin(a.x, b.x) - away < box->x + box->width && fmax(a.x, b.x) + away > box->x &&
         fmin(a.y, b.y) - away < box->y + box->height && fmax(a.y, b.y) + away > box->y;
}

/* Checks points along a line in small steps. */
static int stat_box_line_hits(const pc_rect *box, pc_point a, pc_point b) {
  const double steps = ceil(pc_hypot(b.x - a.x, b.y - a.y) / STAT_BOX_STEP) + 1;
  for (double i = 0; i <= steps; i++) {
    const pc_point at = {a.x + (b.x - a.x) * i / steps, a.y + (b.y - a.y) * i / steps};
    if (stat_box_inside(box, at, STAT_BOX_CLEARANCE))
      return 1;
  }
  return 0;
}

static int stat_box_mark_hits(const pc_figure *figure, const pc_mark *mark,
                              const pc_rect *box) {
  const pc_panel *panel = &figure->panels[mark->panel];
  const pc_point *points = figure->points + mark->first;
  const pc_point first = pc_panel_to_figure(panel, points[0]);
  if (mark->kind == PC_MARK_NOTE || mark->look.tone == PC_TONE_PAPER ||
      (mark->look.dashed && mark->look.tone == PC_TONE_MUTED))
    return 0;
  if (mark->kind == PC_MARK_POINT)
    return stat_box_inside(box, first, STAT_BOX_CLEARANCE + 4);
  if (mark->kind == PC_MARK_BAR)
    return stat_box_bar_hits(box, first, pc_panel_to_figure(panel, points[1]));
  for (size_t i = 1; i < mark->count; i++)
    if (stat_box_line_hits(box, pc_panel_to_figure(panel, points[i - 1]),
                           pc_panel_to_figure(panel, points[i])))
      return 1;
  return 0;
}

static int stat_box_clear(const pc_figure *figure, size_t panel, const pc_rect *box) {
  const pc_rect *rect = &figure->panels[panel].rect;
  if (box->width > rect->width || box->height > rect->height)
    return 0;
  for (size_t i = 0; i < figure->mark_count; i++)
    if (figure->marks[i].panel == panel && stat_box_mark_hits(figure, &figure->marks[i], box))
      return 0;
  return 1;
}

/* Converts figure units inside a panel to data units. */
static pc_point stat_box_data(const pc_panel *panel, double x, double y) {
  const pc_axis *h = &panel->axis[PC_SIDE_X], *v = &panel->axis[PC_SIDE_Y];
  return (pc_point){h->low + (h->high - h->low) * (x - panel->rect.x) / panel->rect.width,
                    v->high - (v->high - v->low) * (y - panel->rect.y) / panel->rect.height};
}

/* Two columns: names and values. */
static void stat_box_table(pc_figure *figure, size_t panel, const pc_stat *stats, size_t count,
                           const pc_rect *box) {
  const pc_panel *home = &figure->panels[panel];
  const pc_point origin = stat_box_data(home, home->rect.x, home->rect.y);
  const double x = box->x - home->rect.x + STAT_BOX_PADDING;
  pc_figure_bar(figure, panel, (pc_look){.tone = PC_TONE_PAPER},
                stat_box_data(home, box->x, box->y),
                stat_box_data(home, box->x + box->width, box->y + box->height), NULL);
  for (size_t i = 0; i < count; i++) {
    const double y = box->y - home->rect.y + STAT_BOX_LINE * (double)(i + 1);
    pc_figure_note(figure, panel, (pc_look){.tone = PC_TONE_MUTED, .size = STAT_BOX_TEXT},
                   origin, (pc_point){x, y}, PC_ANCHOR_START, stats[i].name);
    pc_figure_note(figure, panel, (pc_look){.tone = PC_TONE_INK, .size = STAT_BOX_TEXT}, origin,
                   (pc_point){x + box->width - 2 * STAT_BOX_PADDING, y}, PC_ANCHOR_END,
                   stats[i].value);
  }
}

/* Packs the statistics into lines above the panel. */
static void stat_box_lines(pc_figure *figure, size_t panel, const pc_stat *stats,
                           size_t count) {
  const double width = figure->width - 48;
  pc_text lines[PC_TICKS_MAX], piece;
  size_t used = 0;
  pc_text_init(&piece, figure->env);
  for (size_t i = 0; i < count && i < PC_TICKS_MAX; i++) {
    piece.length = 0;
    pc_text_format(&piece, "%s %s", stats[i].name, stats[i].value);
    const char *text = piece.failed ? "" : piece.bytes;
    const int joins = used > 0 && !lines[used - 1].failed &&
                      pc_text_extent(lines[used - 1].bytes, STAT_BOX_TEXT) + 16 +
                              pc_text_extent(text, STAT_BOX_TEXT) <
                          width;
    if (!joins)
      pc_text_init(&lines[used++], figure->env);
    pc_text_format(&lines[used - 1], "%s%s", joins ? " \xC2\xB7 " : "", text);
  }
  pc_panel *home = &figure->panels[panel];
  const double given = STAT_BOX_LINE * (double)used + 6;
  home->rect.y += given;
  home->rect.height = fmax(home->rect.height - given, 10);
  const pc_point origin = {home->axis[PC_SIDE_X].low, home->axis[PC_SIDE_Y].high};
  const double left = 24 - home->rect.x;
  for (size_t i = 0; i < used; i++) {
    pc_figure_note(figure, panel, (pc_look){.tone = PC_TONE_INK, .size = STAT_BOX_TEXT}, origin,
                   (pc_point){left, STAT_BOX_LINE * (double)(i + 1) - given - 6},
                   PC_ANCHOR_START, lines[i].failed ? NULL : lines[i].bytes);
    figure->failed |= lines[i].failed;
    pc_text_free(&lines[i]);
  }
  figure->failed |= piece.failed;
  pc_text_free(&piece);
}

void pc_figure_stat_box(pc_figure *figure, size_t panel, const pc_stat *stats, size_t count) {
  double names = 0, values = 0;
  for (size_t i = 0; i < count; i++) {
    names = fmax(names, pc_text_extent(stats[i].name, STAT_BOX_TEXT));
    values = fmax(values, pc_text_extent(stats[i].value, STAT_BOX_TEXT));
  }
  if (figure->failed || count == 0)
    return;
  const pc_rect *rect = &figure->panels[panel].rect;
  pc_rect box = {0, 0, names + values + 16 + 2 * STAT_BOX_PADDING,
                 STAT_BOX_LINE * (double)count + STAT_BOX_PADDING};
  const double left = rect->x + 1, right = rect->x + rect->width - box.width - 1;
  const double top = rect->y + 1, bottom = rect->y + rect->height - box.height - 1;
  const pc_point corners[] = {{left, top}, {right, bottom}, {right, top}, {left, bottom}};
  for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
    box.x = corners[i].x;
    box.y = corners[i].y;
    if (stat_box_clear(figure, panel, &box)) {
      stat_box_table(figure, panel, stats, count, &box);
      return;
    }
  }
  stat_box_lines(figure, panel, stats, count);
}
