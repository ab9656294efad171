/* SVG from a figure.
 *
 * 1. Coordinates have at most two decimals, without trailing zeros.
 * 2. Text is escaped; characters that XML forbids become U+FFFD.
 * 3. Colours are classes below .pcal, so that a figure can be part of a web page, with a second set
 *    for readers who prefer a dark page, unless one set was chosen.
 * 4. There are no ids and no references, so that figures in one page cannot interfere.
 * 5. A bar that is not empty is at least one unit high.
 * 6. All texts come last, so that no mark covers them. */
#include "figure/svg.h"

#include <string.h>

#include "base/markup.h"
#include "base/number.h"
#include "figure/text_layout.h"

#define SVG_RADIUS 4.0

/* How a tone is painted: areas with their opacity, and lines. */
typedef struct svg_paint {
  const char *fill, *opacity, *stroke;
} svg_paint;

/* The colours of Okabe and Ito, light and dark, and four more for many series. */
static const svg_paint svg_paints[2][PC_TONE_END] = {
    {[PC_TONE_INK] = {"#1f2328", NULL, "#1f2328"},
     [PC_TONE_MUTED] = {"#57606a", NULL, "#7d8590"},
     [PC_TONE_FAINT] = {"#e4e7eb", NULL, "#e4e7eb"},
     [PC_TONE_FILL] = {"#b4bac2", NULL, "#b4bac2"},
     [PC_TONE_WARM] = {"#d55e00", ".42", "#d55e00"},
     [PC_TONE_COOL] = {"#0072b2", ".42", "#0072b2"},
     [PC_TONE_PAPER] = {"#fff", NULL, "#fff"},
     [PC_TONE_A] = {"#0072b2", NULL, "#0072b2"},
     [PC_TONE_B] = {"#d55e00", NULL, "#d55e00"},
     [PC_TONE_C] = {"#009e73", NULL, "#009e73"},
     [PC_TONE_D] = {"#cc79a7", NULL, "#cc79a7"},
     [PC_TONE_E] = {"#e69f00", NULL, "#e69f00"},
     [PC_TONE_F] = {"#56b4e9", NULL, "#56b4e9"},
     [PC_TONE_G] = {"#332288", NULL, "#332288"},
     [PC_TONE_H] = {"#8c564b", NULL, "#8c564b"},
     [PC_TONE_I] = {"#5b3fd6", NULL, "#5b3fd6"}},
    {[PC_TONE_INK] = {"#e6e9ed", NULL, "#e6e9ed"},
     [PC_TONE_MUTED] = {"#a3abb5", NULL, "#858d98"},
     [PC_TONE_FAINT] = {"#2b3038", NULL, "#2b3038"},
     [PC_TONE_FILL] = {"#565e69", NULL, "#565e69"},
     [PC_TONE_WARM] = {"#d55e00", ".65", "#d55e00"},
     [PC_TONE_COOL] = {"#56b4e9", ".55", "#56b4e9"},
     [PC_TONE_PAPER] = {"#14171c", NULL, "#14171c"},
     [PC_TONE_A] = {"#56b4e9", NULL, "#56b4e9"},
     [PC_TONE_B] = {"#e8762b", NULL, "#e8762b"},
     [PC_TONE_C] = {"#1cb98c", NULL, "#1cb98c"},
     [PC_TONE_D] = {"#d88fb8", NULL, "#d88fb8"},
     [PC_TONE_E] = {"#e69f00", NULL, "#e69f00"},
     [PC_TONE_F] = {"#f0e442", NULL, "#f0e442"},
     [PC_TONE_G] = {"#9a6bff", NULL, "#9a6bff"},
     [PC_TONE_H] = {"#d03060", NULL, "#d03060"},
     [PC_TONE_I] = {"#2f7f8f", NULL, "#2f7f8f"}}};

static const char *const svg_tones[PC_TONE_END] = {
    [PC_TONE_INK] = "ink",     [PC_TONE_MUTED] = "muted", [PC_TONE_FAINT] = "faint",
    [PC_TONE_FILL] = "fill",   [PC_TONE_WARM] = "warm",   [PC_TONE_COOL] = "cool",
    [PC_TONE_PAPER] = "paper", [PC_TONE_A] = "a",         [PC_TONE_B] = "b",
    [PC_TONE_C] = "c",         [PC_TONE_D] = "d",         [PC_TONE_E] = "e",
    [PC_TONE_F] = "f",         [PC_TONE_G] = "g",         [PC_TONE_H] = "h",
    [PC_TONE_I] = "i"};

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

static void svg_class(pc_text *out, char use, pc_look look, const char *more) {
  pc_text_format(out, " class=\"%c-%s%s%s%s%s%s\"", use, svg_tones[look.tone], more,
                 look.dashed ? " dash" : "", look.pale ? " pale" : "", look.bold ? " bold" : "",
                 look.wash ? " wash" : "");
}

/* Ends an element, with its hover text. */
static void svg_end(pc_text *out, const char *element, const char *hint) {
  if (hint[0] == '\0') {
    pc_text_add(out, "/>\n");
    return;
  }
  pc_text_add(out, "><title>");
  pc_text_markup(out, hint);
  pc_text_format(out, "</title></%s>\n", element);
}

static void svg_text(void *user, const pc_placed_text *word) {
  pc_text *out = user;
  pc_text_add(out, "<text");
  svg_class(out, 'f', word->look, "");
  if (word->rotated) {
    pc_text_add(out, " transform=\"translate(");
    svg_number(out, word->at.x, 2);
    pc_text_add(out, " ");
    svg_number(out, word->at.y, 2);
    pc_text_add(out, ") rotate(-90)\"");
  } else {
    svg_attribute(out, "x", word->at.x);
    svg_attribute(out, "y", word->at.y);
  }
  svg_attribute(out, "font-size", word->size);
  if (word->anchor != PC_ANCHOR_START)
    pc_text_format(out, " text-anchor=\"%s\"", svg_anchors[word->anchor]);
  pc_text_add(out, ">");
  pc_text_markup(out, word->text);
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
    const pc_point at = pc_panel_to_figure(panel, points[i]);
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
  const pc_point at = pc_panel_to_figure(panel, points[0]);
  switch (mark->kind) {
  case PC_MARK_BAR:
    svg_rect(out, at, pc_panel_to_figure(panel, points[1]), mark->look, text);
    break;
  case PC_MARK_SEGMENT:
    svg_line(out, at, pc_panel_to_figure(panel, points[1]), mark->look);
    break;
  case PC_MARK_POINT:
    svg_circle(out, at, mark->look, text);
    break;
  case PC_MARK_NOTE:
    break; /* written with the other texts */
  case PC_MARK_LINE:
  case PC_MARK_BAND:
    svg_path(out, panel, points, mark->count, mark->look, mark->kind == PC_MARK_BAND);
    break;
  }
}

static void svg_hairline(pc_text *out, const pc_panel *panel, pc_side side, double value) {
  const pc_look look = {.tone = PC_TONE_FAINT};
  const pc_rect *rect = &panel->rect;
  const pc_point at = pc_panel_to_figure(panel, (pc_point){value, value});
  if (side == PC_SIDE_X)
    svg_line(out, (pc_point){at.x, rect->y}, (pc_point){at.x, rect->y + rect->height}, look);
  else
    svg_line(out, (pc_point){rect->x, at.y}, (pc_point){rect->x + rect->width, at.y}, look);
}

/* Hairlines across the panel, below the marks. */
static void svg_grid(pc_text *out, const pc_figure *figure, const pc_panel *panel) {
  for (int side = PC_SIDE_X; side <= PC_SIDE_Y; side++) {
    const pc_axis *axis = &panel->axis[side];
    for (size_t i = 0; axis->name_count == 0 && i < axis->ticks.count; i++)
      svg_hairline(out, panel, (pc_side)side, axis->ticks.at[i]);
    for (size_t i = 0; axis->lined && i < axis->name_count; i++)
      svg_hairline(out, panel, (pc_side)side, figure->names[axis->first_name + i].at);
  }
}

static void svg_panel(pc_text *out, const pc_figure *figure, size_t index) {
  const pc_panel *panel = &figure->panels[index];
  const pc_rect *rect = &panel->rect;
  const pc_point foot = {rect->x, rect->y + rect->height};
  pc_text_add(out, "<g>\n");
  svg_grid(out, figure, panel);
  for (size_t i = 0; i < figure->mark_count; i++)
    if (figure->marks[i].panel == index)
      svg_mark(out, figure, &figure->marks[i]);
  svg_line(out, foot, (pc_point){rect->x + rect->width, foot.y},
           (pc_look){.tone = PC_TONE_MUTED});
  pc_text_add(out, "</g>\n");
}

static void svg_sample(pc_text *out, const pc_legend_entry *entry, pc_point at) {
  const pc_point middle = {at.x + PC_LEGEND_SAMPLE_WIDTH / 2, at.y};
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
             (pc_point){at.x + PC_LEGEND_SAMPLE_WIDTH - 2, at.y + 7}, entry->look, "");
    break;
  case PC_SAMPLE_LINE:
    svg_line(out, at, (pc_point){at.x + PC_LEGEND_SAMPLE_WIDTH, at.y}, entry->look);
    break;
  }
}

static const char svg_shapes[] =
    ".pcal .line{fill:none;stroke-linejoin:round}.pcal .bold{font-weight:bold}"
    ".pcal .dash{stroke-dasharray:5 4}.pcal .pale{opacity:.5}.pcal .wash{opacity:.2}\n";

/* The last tone that needs a rule: most figures have no more than five series. */
static pc_tone svg_last_tone(const pc_figure *figure) {
  pc_tone last = PC_TONE_E;
  for (size_t i = 0; i < figure->mark_count; i++)
    if (figure->marks[i].look.tone > last)
      last = figure->marks[i].look.tone;
  for (size_t i = 0; i < figure->legend_count; i++)
    if (figure->legend[i].look.tone > last)
      last = figure->legend[i].look.tone;
  return last;
}

static void svg_paint_rules(pc_text *out, const char *scope,
                            const svg_paint paints[PC_TONE_END], pc_tone last) {
  for (int tone = 0; tone <= (int)last; tone++) {
    const svg_paint *paint = &paints[tone];
    pc_text_format(out, "%s.pcal .f-%s{fill:%s%s%s}%s.pcal .s-%s{stroke:%s}\n", scope,
                   svg_tones[tone], paint->fill, paint->opacity != NULL ? ";fill-opacity:" : "",
                   paint->opacity != NULL ? paint->opacity : "", scope, svg_tones[tone],
                   paint->stroke);
  }
}

static void svg_common_rules(pc_text *out, int dark, pc_tone last) {
  pc_text_add(out, ".pcal{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica "
                   "Neue\",Helvetica,Arial,\"DejaVu Sans\",sans-serif;font-size:16px}\n");
  svg_paint_rules(out, "", svg_paints[dark], last);
  pc_text_add(out, svg_shapes);
}

static void svg_style(pc_text *out, const pc_figure *figure, pcal_theme theme) {
  const pc_tone last = svg_last_tone(figure);
  if (theme == PCAL_THEME_PAGE)
    return;
  pc_text_add(out, "<style>\n");
  svg_common_rules(out, theme == PCAL_THEME_DARK, last);
  if (theme == PCAL_THEME_AUTO) {
    pc_text_add(out, "@media (prefers-color-scheme:dark){\n");
    svg_paint_rules(out, "", svg_paints[1], last);
    pc_text_add(out, "}\n");
  }
  pc_text_add(out, "</style>\n");
}

void pc_svg_page_rules(pc_text *out) {
  svg_common_rules(out, 0, PC_TONE_I);
  pc_text_add(out, "@media screen and (prefers-color-scheme:dark){\n");
  svg_paint_rules(out, ":root:not([data-theme=light]) ", svg_paints[1], PC_TONE_I);
  pc_text_add(out, "}\n@media screen{\n");
  svg_paint_rules(out, ":root[data-theme=dark] ", svg_paints[1], PC_TONE_I);
  pc_text_add(out, "}\n");
}

static void svg_open(pc_text *out, const pc_figure *figure, pcal_theme theme) {
  const char *description = pc_figure_string(figure, figure->description);
  pc_text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"pcal\" role=\"img\"");
  svg_attribute(out, "width", figure->width);
  svg_attribute(out, "height", figure->height);
  pc_text_add(out, " viewBox=\"0 0 ");
  svg_number(out, figure->width, 2);
  pc_text_add(out, " ");
  svg_number(out, figure->height, 2);
  pc_text_add(out, "\">\n<title>");
  pc_text_markup(out, pc_figure_string(figure, figure->title));
  pc_text_add(out, "</title>\n");
  if (description[0] != '\0') {
    pc_text_add(out, "<desc>");
    pc_text_markup(out, description);
    pc_text_add(out, "</desc>\n");
  }
  svg_style(out, figure, theme);
}

static const char *const svg_themes[] = {
    [PCAL_THEME_AUTO] = "auto", [PCAL_THEME_LIGHT] = "light", [PCAL_THEME_DARK] = "dark"};

pcal_status pc_theme_find(const char *name, pcal_theme *theme, pcal_error *err) {
  *theme = PCAL_THEME_AUTO;
  for (int i = 0; name != NULL && i <= PCAL_THEME_DARK; i++)
    if (strcmp(name, svg_themes[i]) == 0) {
      *theme = (pcal_theme)i;
      return PCAL_OK;
    }
  return name == NULL ? PCAL_OK
                      : pc_fail(err, PCAL_USAGE,
                                "there is no theme '%s'; choose auto, light or dark", name);
}

pcal_status pc_svg_write(const pc_figure *figure, pcal_theme theme, pc_text *out,
                         pcal_error *err) {
  PC_TRY(pc_figure_status(figure, err));
  svg_open(out, figure, theme);
  if (!figure->transparent)
    svg_rect(out, (pc_point){0, 0}, (pc_point){figure->width, figure->height},
             (pc_look){.tone = PC_TONE_PAPER}, "");
  for (size_t i = 0; i < figure->panel_count; i++)
    svg_panel(out, figure, i);
  for (size_t i = 0; i < figure->legend_count; i++)
    svg_sample(out, &figure->legend[i], figure->legend[i].at);
  pc_figure_each_text(figure, svg_text, out);
  pc_text_add(out, "</svg>\n");
  return pc_text_status(out, err);
}
