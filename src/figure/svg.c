/* SVG from a figure.
 *
 * 1. Coordinates have at most two decimals, without trailing zeros.
 * 2. Text stays text; what is not XML in it becomes U+FFFD.
 * 3. Colours are classes below .pcal, so that a figure can stand inside a web page, with a
 *    second set for readers who asked for a dark page.  They are those of Okabe and Ito.
 * 4. There are no ids and no references: two figures in one page cannot mix.
 * 5. A bar that is not empty is at least one unit high.
 * 6. Tick labels that would touch are thinned out; their ticks stay. */
#include "figure/svg.h"

#include "core/number.h"
#include "figure/label.h"

#define SVG_TITLE_SIZE 22.0
#define SVG_LABEL_SIZE 16.0
#define SVG_TICK_SIZE 15.0
#define SVG_RADIUS 4.0
#define SVG_TICK_LABEL_MAX (PC_NUMBER_MAX + 2)
#define SVG_KEY_SAMPLE 24.0
#define SVG_KEY_ROW 24.0

static const char svg_style[] =
    "<style>\n"
    ".pcal{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\","
    "Helvetica,Arial,\"DejaVu Sans\",sans-serif;font-size:16px}\n"
    ".pcal .f-ink{fill:#1f2328}.pcal .f-muted{fill:#57606a}.pcal .f-faint{fill:#e4e7eb}"
    ".pcal .f-fill{fill:#b4bac2}.pcal .f-warm{fill:#d55e00;fill-opacity:.42}"
    ".pcal .f-cool{fill:#0072b2;fill-opacity:.42}.pcal .f-paper{fill:#fff}\n"
    ".pcal .s-ink{stroke:#1f2328}.pcal .s-muted{stroke:#7d8590}.pcal .s-faint{stroke:#e4e7eb}"
    ".pcal .s-fill{stroke:#b4bac2}.pcal .s-warm{stroke:#d55e00}.pcal .s-cool{stroke:#0072b2}"
    ".pcal .s-paper{stroke:#fff}\n"
    ".pcal .line{fill:none}.pcal .bold{font-weight:bold}.pcal .dash{stroke-dasharray:5 4}"
    ".pcal .pale{opacity:.5}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".pcal .f-ink{fill:#e6e9ed}.pcal .f-muted{fill:#a3abb5}.pcal .f-faint{fill:#2b3038}"
    ".pcal .f-fill{fill:#565e69}.pcal .f-warm{fill:#d55e00;fill-opacity:.65}"
    ".pcal .f-cool{fill:#56b4e9;fill-opacity:.55}.pcal .f-paper{fill:#14171c}\n"
    ".pcal .s-ink{stroke:#e6e9ed}.pcal .s-muted{stroke:#858d98}.pcal .s-faint{stroke:#2b3038}"
    ".pcal .s-fill{stroke:#565e69}.pcal .s-warm{stroke:#d55e00}.pcal .s-cool{stroke:#56b4e9}"
    ".pcal .s-paper{stroke:#14171c}\n"
    "}\n"
    "</style>\n";

static const char *const svg_tones[PC_TONE_END] = {
    [PC_TONE_INK] = "ink",    [PC_TONE_MUTED] = "muted", [PC_TONE_FAINT] = "faint",
    [PC_TONE_FILL] = "fill",  [PC_TONE_WARM] = "warm",   [PC_TONE_COOL] = "cool",
    [PC_TONE_PAPER] = "paper"};

static const char *const svg_anchors[] = {
    [PC_ANCHOR_START] = "start", [PC_ANCHOR_MIDDLE] = "middle", [PC_ANCHOR_END] = "end"};

/* Writes a number with at most the given decimals and no trailing zeros. */
static void svg_number(pc_text *out, double value, int decimals) {
  char digits[PC_NUMBER_MAX];
  size_t length = pc_number_fixed(value, decimals, digits);
  if (decimals > 0) {
    while (length > 0 && digits[length - 1] == '0')
      length--;
    if (length > 0 && digits[length - 1] == '.')
      length--;
  }
  const int negative_zero = length == 2 && digits[0] == '-' && digits[1] == '0';
  pc_text_add_bytes(out, digits + negative_zero, length - (size_t)negative_zero);
}

static void svg_attribute(pc_text *out, const char *name, double value) {
  pc_text_format(out, " %s=\"", name);
  svg_number(out, value, 2);
  pc_text_add(out, "\"");
}

static void svg_escaped(pc_text *out, const char *text) {
  while (*text != '\0') {
    uint32_t letter;
    const size_t bytes = pc_letter_read(text, &letter);
    if (letter == '&')
      pc_text_add(out, "&amp;");
    else if (letter == '<')
      pc_text_add(out, "&lt;");
    else if (letter == '>')
      pc_text_add(out, "&gt;");
    else if (letter == '"')
      pc_text_add(out, "&quot;");
    else if (letter == 0xFFFD)
      pc_text_add(out, "\xEF\xBF\xBD");
    else
      pc_text_add_bytes(out, text, bytes);
    text += bytes;
  }
}

static void svg_class(pc_text *out, char use, pc_look look, const char *more) {
  pc_text_format(out, " class=\"%c-%s%s%s%s%s\"", use, svg_tones[look.tone], more,
                 look.dashed ? " dash" : "", look.pale ? " pale" : "",
                 look.bold ? " bold" : "");
}

/* Ends an element, with what a reader sees on hovering. */
static void svg_end(pc_text *out, const char *element, const char *hint) {
  if (hint[0] == '\0') {
    pc_text_add(out, "/>\n");
    return;
  }
  pc_text_add(out, "><title>");
  svg_escaped(out, hint);
  pc_text_format(out, "</title></%s>\n", element);
}

static void svg_text(pc_text *out, pc_point at, pc_look look, pc_anchor anchor,
                     const char *text) {
  pc_text_add(out, "<text");
  svg_class(out, 'f', look, "");
  svg_attribute(out, "x", at.x);
  svg_attribute(out, "y", at.y);
  svg_attribute(out, "font-size", look.size > 0 ? look.size : SVG_LABEL_SIZE);
  if (anchor != PC_ANCHOR_START)
    pc_text_format(out, " text-anchor=\"%s\"", svg_anchors[anchor]);
  pc_text_add(out, ">");
  svg_escaped(out, text);
  pc_text_add(out, "</text>\n");
}

static void svg_line(pc_text *out, pc_point from, pc_point to, pc_look look) {
  pc_text_add(out, "<line");
  svg_class(out, 's', look, "");
  svg_attribute(out, "x1", from.x);
  svg_attribute(out, "y1", from.y);
  svg_attribute(out, "x2", to.x);
  svg_attribute(out, "y2", to.y);
  svg_attribute(out, "stroke-width", look.size > 0 ? look.size : 1);
  pc_text_add(out, "/>\n");
}

static void svg_rect(pc_text *out, pc_point a, pc_point b, pc_look look, const char *hint) {
  const double left = a.x < b.x ? a.x : b.x, top = a.y < b.y ? a.y : b.y;
  const double width = a.x < b.x ? b.x - a.x : a.x - b.x;
  const double height = a.y < b.y ? b.y - a.y : a.y - b.y;
  pc_text_add(out, "<rect");
  svg_class(out, 'f', look, "");
  svg_attribute(out, "x", left);
  svg_attribute(out, "y", height < 1 ? top + height - 1 : top);
  svg_attribute(out, "width", width);
  svg_attribute(out, "height", height < 1 ? 1 : height);
  svg_end(out, "rect", hint);
}

static void svg_circle(pc_text *out, pc_point at, pc_look look, const char *hint) {
  pc_text_format(out, "<circle class=\"f-%s s-%s%s\"",
                 svg_tones[look.hollow ? PC_TONE_PAPER : look.tone], svg_tones[look.tone],
                 look.pale ? " pale" : "");
  svg_attribute(out, "cx", at.x);
  svg_attribute(out, "cy", at.y);
  svg_attribute(out, "r", look.size > 0 ? look.size : SVG_RADIUS);
  svg_attribute(out, "stroke-width", 1.5);
  svg_end(out, "circle", hint);
}

/* A line or, closed, a filled outline. */
static void svg_path(pc_text *out, const pc_panel *panel, const pc_point *points, size_t count,
                     pc_look look, int closed) {
  pc_text_add(out, "<path");
  svg_class(out, closed ? 'f' : 's', look, closed ? "" : " line");
  pc_text_add(out, " d=\"");
  for (size_t i = 0; i < count; i++) {
    const pc_point at = pc_panel_place(panel, points[i]);
    pc_text_add(out, i == 0 ? "M" : "L");
    svg_number(out, at.x, 2);
    pc_text_add(out, " ");
    svg_number(out, at.y, 2);
  }
  pc_text_add(out, closed ? "Z\"" : "\"");
  if (!closed)
    svg_attribute(out, "stroke-width", look.size > 0 ? look.size : 1.5);
  pc_text_add(out, "/>\n");
}

static void svg_mark(pc_text *out, const pc_figure *figure, const pc_mark *mark) {
  const pc_panel *panel = &figure->panels[mark->panel];
  const pc_point *points = figure->points + mark->first;
  const char *text = pc_figure_string(figure, mark->text);
  pc_point at = pc_panel_place(panel, points[0]);
  switch (mark->kind) {
  case PC_MARK_BAR:
    svg_rect(out, at, pc_panel_place(panel, points[1]), mark->look, text);
    break;
  case PC_MARK_SEGMENT:
    svg_line(out, at, pc_panel_place(panel, points[1]), mark->look);
    break;
  case PC_MARK_POINT:
    svg_circle(out, at, mark->look, text);
    break;
  case PC_MARK_NOTE:
    at.x += mark->shift.x;
    at.y += mark->shift.y;
    svg_text(out, at, mark->look, mark->anchor, text);
    break;
  case PC_MARK_LINE:
  case PC_MARK_BAND:
    svg_path(out, panel, points, mark->count, mark->look, mark->kind == PC_MARK_BAND);
    break;
  }
}

static void svg_tick_label(const pc_axis *axis, double value, char out[SVG_TICK_LABEL_MAX]) {
  const int percent = axis->numbers == PC_NUMBERS_PERCENT;
  const int decimals = axis->ticks.decimals - (percent ? 2 : 0);
  const size_t length =
      pc_number_fixed(percent ? 100 * value : value, decimals < 0 ? 0 : decimals, out);
  out[length] = percent ? '%' : '\0';
  out[length + 1] = '\0';
}

/* Every how many ticks a label fits. */
static size_t svg_stride(const pc_axis *axis, pc_side side, const pc_rect *rect) {
  const pc_ticks *ticks = &axis->ticks;
  char label[SVG_TICK_LABEL_MAX];
  double needed = SVG_TICK_SIZE * 1.2;
  for (size_t i = 0; side == PC_SIDE_X && i < ticks->count; i++) {
    svg_tick_label(axis, ticks->at[i], label);
    const double width = pc_label_width(label, SVG_TICK_SIZE) + 8;
    needed = width > needed ? width : needed;
  }
  if (ticks->count < 2)
    return 1;
  const double room = (side == PC_SIDE_X ? rect->width : rect->height) *
                      (ticks->at[1] - ticks->at[0]) / (axis->high - axis->low);
  size_t stride = 1;
  while (room * (double)stride < needed && stride < ticks->count)
    stride++;
  return stride;
}

/* Hairlines across the panel, below the marks. */
static void svg_grid(pc_text *out, const pc_panel *panel) {
  const pc_look look = {.tone = PC_TONE_FAINT};
  const pc_rect *rect = &panel->rect;
  for (int side = PC_SIDE_X; side <= PC_SIDE_Y; side++) {
    const pc_axis *axis = &panel->axis[side];
    for (size_t i = 0; i < axis->ticks.count; i++) {
      const double value = axis->ticks.at[i];
      const pc_point at = pc_panel_place(panel, (pc_point){value, value});
      if (side == PC_SIDE_X)
        svg_line(out, (pc_point){at.x, rect->y}, (pc_point){at.x, rect->y + rect->height},
                 look);
      else
        svg_line(out, (pc_point){rect->x, at.y}, (pc_point){rect->x + rect->width, at.y}, look);
    }
  }
}

static void svg_tick_labels(pc_text *out, const pc_panel *panel, pc_side side) {
  const pc_look look = {.tone = PC_TONE_MUTED, .size = SVG_TICK_SIZE};
  const pc_axis *axis = &panel->axis[side];
  const pc_rect *rect = &panel->rect;
  const size_t stride = svg_stride(axis, side, rect);
  char label[SVG_TICK_LABEL_MAX];
  if (axis->numbers == PC_NUMBERS_NONE)
    return;
  for (size_t i = 0; i < axis->ticks.count; i += stride) {
    const double value = axis->ticks.at[i];
    const pc_point at = pc_panel_place(panel, (pc_point){value, value});
    svg_tick_label(axis, value, label);
    if (side == PC_SIDE_X)
      svg_text(out, (pc_point){at.x, rect->y + rect->height + SVG_TICK_SIZE + 4}, look,
               PC_ANCHOR_MIDDLE, label);
    else
      svg_text(out, (pc_point){rect->x - 8, at.y + SVG_TICK_SIZE * 0.36}, look, PC_ANCHOR_END,
               label);
  }
}

static void svg_axis_labels(pc_text *out, const pc_figure *figure, const pc_panel *panel) {
  const pc_look look = {.tone = PC_TONE_INK};
  const pc_rect *rect = &panel->rect;
  const char *x_label = pc_figure_string(figure, panel->axis[PC_SIDE_X].label);
  const char *y_label = pc_figure_string(figure, panel->axis[PC_SIDE_Y].label);
  if (x_label[0] != '\0')
    svg_text(out, (pc_point){rect->x + rect->width / 2, rect->y + rect->height + 44}, look,
             PC_ANCHOR_MIDDLE, x_label);
  if (y_label[0] == '\0')
    return;
  pc_text_add(out, "<g transform=\"translate(");
  svg_number(out, rect->x - 60, 2);
  pc_text_add(out, " ");
  svg_number(out, rect->y + rect->height / 2, 2);
  pc_text_add(out, ") rotate(-90)\">\n");
  svg_text(out, (pc_point){0, 0}, look, PC_ANCHOR_MIDDLE, y_label);
  pc_text_add(out, "</g>\n");
}

static void svg_panel(pc_text *out, const pc_figure *figure, size_t index) {
  const pc_panel *panel = &figure->panels[index];
  const pc_rect *rect = &panel->rect;
  const pc_point foot = {rect->x, rect->y + rect->height};
  pc_text_add(out, "<g>\n");
  svg_grid(out, panel);
  for (size_t i = 0; i < figure->mark_count; i++)
    if (figure->marks[i].panel == index)
      svg_mark(out, figure, &figure->marks[i]);
  svg_line(out, foot, (pc_point){rect->x + rect->width, foot.y},
           (pc_look){.tone = PC_TONE_MUTED});
  svg_tick_labels(out, panel, PC_SIDE_X);
  svg_tick_labels(out, panel, PC_SIDE_Y);
  svg_axis_labels(out, figure, panel);
  pc_text_add(out, "</g>\n");
}

static void svg_sample(pc_text *out, const pc_key_entry *entry, pc_point at) {
  const pc_point middle = {at.x + SVG_KEY_SAMPLE / 2, at.y};
  switch (entry->sample) {
  case PC_SAMPLE_INTERVAL:
    svg_line(out, (pc_point){middle.x, at.y - 9}, (pc_point){middle.x, at.y + 9},
             (pc_look){.tone = entry->look.tone, .size = 1.5});
    svg_circle(out, middle, entry->look, "");
    break;
  case PC_SAMPLE_POINT:
    svg_circle(out, middle, entry->look, "");
    break;
  case PC_SAMPLE_BAR:
    svg_rect(out, (pc_point){at.x + 2, at.y - 7},
             (pc_point){at.x + SVG_KEY_SAMPLE - 2, at.y + 7}, entry->look, "");
    break;
  case PC_SAMPLE_LINE:
    svg_line(out, at, (pc_point){at.x + SVG_KEY_SAMPLE, at.y}, entry->look);
    break;
  }
}

/* Entries side by side, in a new row where one would leave the key's rectangle. */
static void svg_key(pc_text *out, const pc_figure *figure) {
  const pc_look look = {.tone = PC_TONE_MUTED, .size = SVG_TICK_SIZE};
  const pc_rect *rect = &figure->key_rect;
  pc_point at = {rect->x, rect->y + SVG_KEY_ROW / 2};
  for (size_t i = 0; i < figure->key_count; i++) {
    const char *text = pc_figure_string(figure, figure->key[i].text);
    const double width = SVG_KEY_SAMPLE + 8 + pc_label_width(text, SVG_TICK_SIZE);
    if (at.x > rect->x && (figure->key[i].begins_row || at.x + width > rect->x + rect->width)) {
      at.x = rect->x;
      at.y += SVG_KEY_ROW;
    }
    svg_sample(out, &figure->key[i], at);
    svg_text(out, (pc_point){at.x + SVG_KEY_SAMPLE + 8, at.y + SVG_TICK_SIZE * 0.36}, look,
             PC_ANCHOR_START, text);
    at.x += width + 18;
  }
}

static void svg_open(pc_text *out, const pc_figure *figure) {
  const char *description = pc_figure_string(figure, figure->description);
  pc_text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pcal\" role=\"img\"");
  svg_attribute(out, "width", figure->width);
  svg_attribute(out, "height", figure->height);
  pc_text_add(out, " viewBox=\"0 0 ");
  svg_number(out, figure->width, 2);
  pc_text_add(out, " ");
  svg_number(out, figure->height, 2);
  pc_text_add(out, "\">\n<title>");
  svg_escaped(out, pc_figure_string(figure, figure->title));
  pc_text_add(out, "</title>\n");
  if (description[0] != '\0') {
    pc_text_add(out, "<desc>");
    svg_escaped(out, description);
    pc_text_add(out, "</desc>\n");
  }
  pc_text_add(out, svg_style);
}

static void svg_heading(pc_text *out, const pc_figure *figure) {
  const char *subtitle = pc_figure_string(figure, figure->subtitle);
  svg_text(out, figure->heading,
           (pc_look){.tone = PC_TONE_INK, .bold = 1, .size = SVG_TITLE_SIZE}, PC_ANCHOR_START,
           pc_figure_string(figure, figure->title));
  if (subtitle[0] != '\0')
    svg_text(out, (pc_point){figure->heading.x, figure->heading.y + 23},
             (pc_look){.tone = PC_TONE_MUTED}, PC_ANCHOR_START, subtitle);
}

pcal_status pc_svg_write(const pc_figure *figure, pc_text *out, pcal_error *err) {
  PC_TRY(pc_figure_status(figure, err));
  svg_open(out, figure);
  svg_rect(out, (pc_point){0, 0}, (pc_point){figure->width, figure->height},
           (pc_look){.tone = PC_TONE_PAPER}, "");
  svg_heading(out, figure);
  for (size_t i = 0; i < figure->panel_count; i++)
    svg_panel(out, figure, i);
  svg_key(out, figure);
  pc_text_add(out, "</svg>\n");
  return pc_text_status(out, err);
}
