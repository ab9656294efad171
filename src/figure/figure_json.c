/* Marks are in data units of their panel, y upwards; rectangles of panels, shifts of notes and
 * sizes are in figure units, like in the SVG, y downwards. */
#include "figure/figure_json.h"

#include "base/json.h"

static void figure_json_text(pc_json *json, const char *key, const pc_figure *figure,
                             pc_string_id id) {
  pc_json_key(json, key);
  pc_json_string(json, id == 0 ? NULL : pc_figure_string(figure, id));
}

static void figure_json_number(pc_json *json, const char *key, double value) {
  pc_json_key(json, key);
  pc_json_number(json, value);
}

static void figure_json_word(pc_json *json, const char *key, const char *word) {
  pc_json_key(json, key);
  pc_json_string(json, word);
}

static void figure_json_names(pc_json *json, const pc_figure *figure, const pc_axis *axis) {
  pc_json_key(json, "names");
  pc_json_open(json, '[');
  for (size_t i = 0; i < axis->name_count; i++) {
    const pc_named_tick *name = &figure->names[axis->first_name + i];
    pc_json_open(json, '{');
    figure_json_number(json, "at", name->at);
    figure_json_text(json, "text", figure, name->text);
    pc_json_close(json, '}');
  }
  pc_json_close(json, ']');
}

static void figure_json_axis(pc_json *json, const char *key, const pc_figure *figure,
                             const pc_axis *axis) {
  static const char *const numbers[] = {"plain", "percent", "none"};
  pc_json_key(json, key);
  pc_json_open(json, '{');
  figure_json_text(json, "label", figure, axis->label);
  figure_json_number(json, "low", axis->low);
  figure_json_number(json, "high", axis->high);
  pc_json_key(json, "ticks");
  pc_json_numbers(json, axis->ticks.at, axis->ticks.count);
  figure_json_word(json, "numbers", numbers[axis->numbers]);
  if (axis->name_count > 0)
    figure_json_names(json, figure, axis);
  pc_json_close(json, '}');
}

static void figure_json_panel(pc_json *json, const pc_figure *figure, const pc_panel *panel) {
  const double rect[] = {panel->rect.x, panel->rect.y, panel->rect.width, panel->rect.height};
  pc_json_open(json, '{');
  if (panel->title != 0)
    figure_json_text(json, "title", figure, panel->title);
  pc_json_key(json, "rect");
  pc_json_numbers(json, rect, 4);
  figure_json_axis(json, "x", figure, &panel->axis[PC_SIDE_X]);
  figure_json_axis(json, "y", figure, &panel->axis[PC_SIDE_Y]);
  pc_json_close(json, '}');
}

static void figure_json_flag(pc_json *json, const char *key, int value) {
  if (!value)
    return;
  pc_json_key(json, key);
  pc_json_bool(json, 1);
}

static void figure_json_look(pc_json *json, const pc_look *look) {
  static const char *const tones[PC_TONE_END] = {
      "ink", "muted", "faint", "fill", "warm", "cool", "paper", "a",
      "b",   "c",     "d",     "e",    "f",    "g",    "h",     "i"};
  figure_json_word(json, "tone", tones[look->tone]);
  figure_json_flag(json, "pale", look->pale);
  figure_json_flag(json, "hollow", look->hollow);
  figure_json_flag(json, "dashed", look->dashed);
  figure_json_flag(json, "bold", look->bold);
  figure_json_flag(json, "wash", look->wash);
  if (look->size > 0)
    figure_json_number(json, "size", look->size);
}

static void figure_json_mark(pc_json *json, const pc_figure *figure, const pc_mark *mark) {
  static const char *const kinds[] = {"bar", "line", "band", "point", "segment", "note"};
  static const char *const anchors[] = {"start", "middle", "end"};
  pc_json_open(json, '{');
  figure_json_word(json, "kind", kinds[mark->kind]);
  pc_json_key(json, "panel");
  pc_json_integer(json, mark->panel);
  figure_json_look(json, &mark->look);
  pc_json_key(json, "points");
  pc_json_open(json, '[');
  for (size_t i = 0; i < mark->count; i++) {
    const pc_point *point = &figure->points[mark->first + i];
    const double at[] = {point->x, point->y};
    pc_json_numbers(json, at, 2);
  }
  pc_json_close(json, ']');
  figure_json_text(json, "text", figure, mark->text);
  if (mark->kind == PC_MARK_NOTE) {
    const double shift[] = {mark->shift.x, mark->shift.y};
    figure_json_word(json, "anchor", anchors[mark->anchor]);
    pc_json_key(json, "shift");
    pc_json_numbers(json, shift, 2);
  }
  pc_json_close(json, '}');
}

static void figure_json_legend(pc_json *json, const pc_figure *figure,
                               const pc_legend_entry *entry) {
  static const char *const samples[] = {"point", "interval", "bar", "line"};
  pc_json_open(json, '{');
  figure_json_word(json, "sample", samples[entry->sample]);
  figure_json_look(json, &entry->look);
  figure_json_text(json, "text", figure, entry->text);
  pc_json_close(json, '}');
}

pcal_status pc_figure_json_write(const pc_figure *figure, pc_text *out, pcal_error *err) {
  pc_json json;
  PC_TRY(pc_figure_status(figure, err));
  pc_json_init(&json, out);
  pc_json_open(&json, '{');
  figure_json_text(&json, "title", figure, figure->title);
  figure_json_text(&json, "subtitle", figure, figure->subtitle);
  figure_json_text(&json, "description", figure, figure->description);
  figure_json_number(&json, "width", figure->width);
  figure_json_number(&json, "height", figure->height);
  pc_json_key(&json, "panels");
  pc_json_open(&json, '[');
  for (size_t i = 0; i < figure->panel_count; i++)
    figure_json_panel(&json, figure, &figure->panels[i]);
  pc_json_close(&json, ']');
  pc_json_key(&json, "marks");
  pc_json_open(&json, '[');
  for (size_t i = 0; i < figure->mark_count; i++)
    figure_json_mark(&json, figure, &figure->marks[i]);
  pc_json_close(&json, ']');
  pc_json_key(&json, "key");
  pc_json_open(&json, '[');
  for (size_t i = 0; i < figure->legend_count; i++)
    figure_json_legend(&json, figure, &figure->legend[i]);
  pc_json_close(&json, ']');
  pc_json_close(&json, '}');
  pc_text_add(out, "\n");
  return pc_text_status(out, err);
}
