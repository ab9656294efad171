/* 1. Tick labels that would touch are thinned out; their ticks stay.
 * 2. A tick label below a panel is centred on its tick; one beside a panel ends before it.
 * 3. Boxes are those of DejaVu Sans (text_extent.h); bold letters count as an eighth wider. */
#include "figure/text_layout.h"

#include "figure/text_extent.h"

#define TEXT_LAYOUT_ASCENT 0.78
#define TEXT_LAYOUT_DESCENT 0.22
#define TEXT_LAYOUT_GAP 8.0
#define TEXT_LAYOUT_BOLD 1.125

pc_rect pc_placed_text_box(const pc_placed_text *word) {
  const double bold = word->look.bold ? TEXT_LAYOUT_BOLD : 1;
  const double length = bold * pc_text_extent(word->text, word->size);
  const double back = word->anchor == PC_ANCHOR_START ? 0
                      : word->anchor == PC_ANCHOR_END ? length
                                                      : length / 2;
  const double rise = TEXT_LAYOUT_ASCENT * word->size;
  const double height = (TEXT_LAYOUT_ASCENT + TEXT_LAYOUT_DESCENT) * word->size;
  if (word->rotated)
    return (pc_rect){word->at.x - rise, word->at.y + back - length, height, length};
  return (pc_rect){word->at.x - back, word->at.y - rise, length, height};
}

void pc_tick_label(const pc_axis *axis, double value, char out[PC_TICK_LABEL_MAX]) {
  const int percent = axis->numbers == PC_NUMBERS_PERCENT;
  const int decimals = axis->ticks.decimals - (percent ? 2 : 0);
  const size_t length =
      pc_number_fixed(percent ? 100 * value : value, decimals < 0 ? 0 : decimals, out);
  out[length] = percent ? '%' : '\0';
  out[length + 1] = '\0';
}

static size_t text_layout_tick_count(const pc_axis *axis) {
  return axis->name_count > 0 ? axis->name_count : axis->ticks.count;
}

/* Position of a tick; its label goes to a buffer or is borrowed. */
static double text_layout_tick(const pc_figure *figure, const pc_axis *axis, size_t index,
                               char buffer[PC_TICK_LABEL_MAX], const char **label) {
  if (axis->name_count > 0) {
    const pc_named_tick *name = &figure->names[axis->first_name + index];
    *label = pc_figure_string(figure, name->text);
    return name->at;
  }
  pc_tick_label(axis, axis->ticks.at[index], buffer);
  *label = buffer;
  return axis->ticks.at[index];
}

size_t pc_tick_stride(const pc_figure *figure, const pc_axis *axis, pc_side side,
                      const pc_rect *rect) {
  const size_t count = text_layout_tick_count(axis);
  char buffer[PC_TICK_LABEL_MAX];
  const char *label;
  double needed = PC_SIZE_TICK * 1.2, positions[2] = {0, 0};
  for (size_t i = 0; i < count; i++) {
    const double at = text_layout_tick(figure, axis, i, buffer, &label);
    const double width =
        side == PC_SIDE_X ? pc_text_extent(label, PC_SIZE_TICK) + TEXT_LAYOUT_GAP : 0;
    needed = width > needed ? width : needed;
    if (i < 2)
      positions[i] = at;
  }
  if (count < 2)
    return 1;
  const double extent = side == PC_SIDE_X ? rect->width : rect->height;
  const double step = (positions[1] - positions[0]) / (axis->high - axis->low);
  const double room = extent * (step < 0 ? -step : step);
  size_t stride = 1;
  while (room * (double)stride < needed && stride < count)
    stride++;
  return stride;
}

typedef struct text_layout_visit {
  const pc_figure *figure;
  pc_placed_text_use use;
  void *user;
} text_layout_visit;

static void text_layout_emit(const text_layout_visit *visit, pc_placed_text word) {
  if (word.size == 0)
    word.size = word.look.size > 0 ? word.look.size : PC_SIZE_LABEL;
  if (word.text[0] != '\0')
    visit->use(visit->user, &word);
}

static void text_layout_ticks(const text_layout_visit *visit, const pc_panel *panel,
                              pc_side side) {
  const pc_axis *axis = &panel->axis[side];
  const pc_rect *rect = &panel->rect;
  const size_t stride = pc_tick_stride(visit->figure, axis, side, rect);
  char buffer[PC_TICK_LABEL_MAX];
  pc_placed_text word = {.look = {.tone = PC_TONE_MUTED}, .size = PC_SIZE_TICK};
  if (axis->numbers == PC_NUMBERS_NONE)
    return;
  word.anchor = side == PC_SIDE_X ? PC_ANCHOR_MIDDLE : PC_ANCHOR_END;
  for (size_t i = 0; i < text_layout_tick_count(axis); i += stride) {
    const double value = text_layout_tick(visit->figure, axis, i, buffer, &word.text);
    const pc_point at = pc_panel_to_figure(panel, (pc_point){value, value});
    word.at = side == PC_SIDE_X ? (pc_point){at.x, rect->y + rect->height + PC_SIZE_TICK + 6}
                                : (pc_point){rect->x - 8, at.y + PC_SIZE_TICK * 0.36};
    text_layout_emit(visit, word);
  }
}

static void text_layout_panel(const text_layout_visit *visit, const pc_panel *panel) {
  const pc_figure *figure = visit->figure;
  const pc_rect *rect = &panel->rect;
  const pc_point middle = {rect->x + rect->width / 2, rect->y + rect->height / 2};
  const double gap = panel->label_gap > 0 ? panel->label_gap : 60;
  const int bare = panel->axis[PC_SIDE_X].numbers == PC_NUMBERS_NONE;
  text_layout_ticks(visit, panel, PC_SIDE_X);
  text_layout_ticks(visit, panel, PC_SIDE_Y);
  text_layout_emit(
      visit, (pc_placed_text){.text = pc_figure_string(figure, panel->title),
                              .at = {rect->x, rect->y - 8},
                              .look = {.tone = PC_TONE_INK, .bold = 1, .size = PC_SIZE_TICK}});
  text_layout_emit(
      visit, (pc_placed_text){.text = pc_figure_string(figure, panel->axis[PC_SIDE_X].label),
                              .at = {middle.x, rect->y + rect->height + (bare ? 24 : 46)},
                              .size = panel->axis[PC_SIDE_X].label_size,
                              .anchor = PC_ANCHOR_MIDDLE});
  text_layout_emit(
      visit, (pc_placed_text){.text = pc_figure_string(figure, panel->axis[PC_SIDE_Y].label),
                              .at = {rect->x - gap, middle.y},
                              .size = panel->axis[PC_SIDE_Y].label_size,
                              .anchor = PC_ANCHOR_MIDDLE,
                              .rotated = 1});
}

static void text_layout_heading(const text_layout_visit *visit) {
  const pc_figure *figure = visit->figure;
  text_layout_emit(
      visit, (pc_placed_text){.text = pc_figure_string(figure, figure->title),
                              .at = figure->heading,
                              .size = figure->title_size,
                              .look = {.tone = PC_TONE_INK, .bold = 1, .size = PC_SIZE_TITLE}});
  text_layout_emit(visit, (pc_placed_text){.text = pc_figure_string(figure, figure->subtitle),
                                           .at = {figure->heading.x, figure->heading.y + 23},
                                           .look = {.tone = PC_TONE_MUTED}});
}

void pc_figure_each_text(const pc_figure *figure, pc_placed_text_use use, void *user) {
  const text_layout_visit visit = {figure, use, user};
  text_layout_heading(&visit);
  for (size_t i = 0; i < figure->panel_count; i++)
    text_layout_panel(&visit, &figure->panels[i]);
  for (size_t i = 0; i < figure->mark_count; i++) {
    const pc_mark *mark = &figure->marks[i];
    if (mark->kind != PC_MARK_NOTE)
      continue;
    const pc_point at =
        pc_panel_to_figure(&figure->panels[mark->panel], figure->points[mark->first]);
    text_layout_emit(&visit,
                     (pc_placed_text){.text = pc_figure_string(figure, mark->text),
                                      .at = {at.x + mark->shift.x, at.y + mark->shift.y},
                                      .look = mark->look,
                                      .anchor = mark->anchor});
  }
  for (size_t i = 0; i < figure->legend_count; i++)
    text_layout_emit(
        &visit, (pc_placed_text){.text = pc_figure_string(figure, figure->legend[i].text),
                                 .at = {figure->legend[i].at.x + PC_LEGEND_SAMPLE_WIDTH + 8,
                                        figure->legend[i].at.y + PC_SIZE_TICK * 0.36},
                                 .look = {.tone = PC_TONE_MUTED, .size = PC_SIZE_TICK}});
}
