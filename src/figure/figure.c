#include "figure/figure.h"

#include <string.h>

void pc_figure_init(pc_figure *figure, double width, double height, const pcal_env *env) {
  *figure = (pc_figure){.env = env, .width = width, .height = height};
  pc_text_init(&figure->strings, env);
}

void pc_figure_set_config(pc_figure *figure, const pcal_figure_config *config, double width,
                          double height) {
  figure->width = config->width > 0 ? config->width : width;
  figure->height = config->height > 0 ? config->height : height;
  figure->fixed_height = config->height > 0;
  figure->transparent = config->transparent;
  figure->given_title = pc_figure_add_string(figure, config->title);
  figure->untitled = config->title != NULL && config->title[0] == '\0';
}

void pc_figure_free(pc_figure *figure) {
  pc_free(figure->env, figure->panels);
  pc_free(figure->env, figure->marks);
  pc_free(figure->env, figure->points);
  pc_free(figure->env, figure->legend);
  pc_free(figure->env, figure->names);
  pc_text_free(&figure->strings);
  pc_figure_init(figure, 0, 0, figure->env);
}

pcal_status pc_figure_status(const pc_figure *figure, pcal_error *err) {
  return figure->failed ? pc_fail_memory(err, "building a figure") : PCAL_OK;
}

/* Grows an array to `needed` elements; returns true on success. */
static int figure_reserve(pc_figure *figure, void **block, size_t *capacity, size_t needed,
                          size_t size) {
  if (!figure->failed &&
      pc_reserve(figure->env, block, capacity, needed, size, NULL) != PCAL_OK)
    figure->failed = 1;
  return !figure->failed;
}

pc_string_id pc_figure_add_string(pc_figure *figure, const char *string) {
  if (figure->failed || string == NULL || string[0] == '\0')
    return 0;
  if (figure->strings.length == 0)
    pc_text_add_bytes(&figure->strings, "", 1);
  const pc_string_id id = figure->strings.length;
  pc_text_add_bytes(&figure->strings, string, strlen(string) + 1);
  figure->failed = figure->strings.failed;
  return figure->failed ? 0 : id;
}

const char *pc_figure_string(const pc_figure *figure, pc_string_id id) {
  return id == 0 ? "" : figure->strings.bytes + id;
}

size_t pc_figure_panel(pc_figure *figure, pc_rect rect) {
  void *panels = figure->panels;
  const int fits = figure_reserve(figure, &panels, &figure->panel_capacity,
                                  figure->panel_count + 1, sizeof *figure->panels);
  figure->panels = panels;
  if (!fits)
    return 0;
  figure->panels[figure->panel_count] =
      (pc_panel){.rect = rect, .axis = {{.high = 1}, {.high = 1}}};
  return figure->panel_count++;
}

void pc_figure_axis(pc_figure *figure, size_t panel, pc_side side, double low, double high,
                    size_t wanted_ticks, pc_numbers numbers, const char *label) {
  const pc_string_id id = pc_figure_add_string(figure, label);
  if (figure->failed)
    return;
  pc_axis *axis = &figure->panels[panel].axis[side];
  *axis = (pc_axis){
      .low = low, .high = high, .wanted = wanted_ticks, .numbers = numbers, .label = id};
  pc_ticks_place(low, high, wanted_ticks, &axis->ticks);
}

size_t pc_figure_grid_panel(pc_figure *figure, size_t column, size_t row, const char *title) {
  const size_t panel = pc_figure_panel(figure, (pc_rect){0, 0, 0, 0});
  const pc_string_id id = pc_figure_add_string(figure, title);
  if (figure->failed)
    return 0;
  figure->panels[panel].column = column;
  figure->panels[panel].row = row;
  figure->panels[panel].title = id;
  return panel;
}

void pc_figure_name_tick(pc_figure *figure, size_t panel, pc_side side, double at,
                         const char *text) {
  const pc_string_id id = pc_figure_add_string(figure, text);
  void *names = figure->names;
  const int fits = figure_reserve(figure, &names, &figure->name_capacity,
                                  figure->name_count + 1, sizeof *figure->names);
  figure->names = names;
  if (!fits)
    return;
  pc_axis *axis = &figure->panels[panel].axis[side];
  if (axis->name_count == 0)
    axis->first_name = figure->name_count;
  axis->name_count++;
  axis->ticks.count = 0;
  figure->names[figure->name_count++] = (pc_named_tick){at, id};
}

/* Appends a mark with its points; nothing if memory runs out. */
static void figure_add(pc_figure *figure, pc_mark mark, const pc_point *points, size_t count,
                       const char *text) {
  mark.text = pc_figure_add_string(figure, text);
  void *marks = figure->marks, *all = figure->points;
  const int fits = figure_reserve(figure, &marks, &figure->mark_capacity,
                                  figure->mark_count + 1, sizeof *figure->marks) &&
                   figure_reserve(figure, &all, &figure->point_capacity,
                                  figure->point_count + count, sizeof *figure->points);
  figure->marks = marks;
  figure->points = all;
  if (!fits)
    return;
  mark.first = figure->point_count;
  mark.count = count;
  memcpy(figure->points + figure->point_count, points, count * sizeof *points);
  figure->point_count += count;
  figure->marks[figure->mark_count++] = mark;
}

void pc_figure_bar(pc_figure *figure, size_t panel, pc_look look, pc_point from, pc_point to,
                   const char *hint) {
  const pc_mark mark = {.kind = PC_MARK_BAR, .look = look, .panel = panel};
  figure_add(figure, mark, (const pc_point[]){from, to}, 2, hint);
}

void pc_figure_segment(pc_figure *figure, size_t panel, pc_look look, pc_point from,
                       pc_point to) {
  const pc_mark mark = {.kind = PC_MARK_SEGMENT, .look = look, .panel = panel};
  figure_add(figure, mark, (const pc_point[]){from, to}, 2, NULL);
}

void pc_figure_point(pc_figure *figure, size_t panel, pc_look look, pc_point at,
                     const char *hint) {
  const pc_mark mark = {.kind = PC_MARK_POINT, .look = look, .panel = panel};
  figure_add(figure, mark, &at, 1, hint);
}

void pc_figure_line(pc_figure *figure, size_t panel, pc_look look, const pc_point *points,
                    size_t count) {
  const pc_mark mark = {.kind = PC_MARK_LINE, .look = look, .panel = panel};
  if (count > 1)
    figure_add(figure, mark, points, count, NULL);
}

void pc_figure_band(pc_figure *figure, size_t panel, pc_look look, const pc_point *points,
                    size_t count) {
  const pc_mark mark = {.kind = PC_MARK_BAND, .look = look, .panel = panel};
  if (count > 2)
    figure_add(figure, mark, points, count, NULL);
}

void pc_figure_note(pc_figure *figure, size_t panel, pc_look look, pc_point at, pc_point shift,
                    pc_anchor anchor, const char *text) {
  const pc_mark mark = {
      .kind = PC_MARK_NOTE, .look = look, .panel = panel, .anchor = anchor, .shift = shift};
  figure_add(figure, mark, &at, 1, text);
}

void pc_figure_legend(pc_figure *figure, pc_sample sample, pc_look look, const char *text) {
  const pc_string_id id = pc_figure_add_string(figure, text);
  void *legend = figure->legend;
  const int fits = figure_reserve(figure, &legend, &figure->legend_capacity,
                                  figure->legend_count + 1, sizeof *figure->legend);
  figure->legend = legend;
  if (!fits)
    return;
  figure->legend[figure->legend_count++] = (pc_legend_entry){
      .sample = sample, .look = look, .begins_row = figure->legend_break, .text = id};
  figure->legend_break = 0;
}

void pc_figure_legend_break(pc_figure *figure) {
  figure->legend_break = 1;
}

static double figure_share(const pc_axis *axis, double value) {
  const double extent = axis->high - axis->low;
  return extent != 0 ? (value - axis->low) / extent : 0.5;
}

pc_point pc_panel_to_figure(const pc_panel *panel, pc_point data) {
  const pc_rect *rect = &panel->rect;
  return (pc_point){rect->x + rect->width * figure_share(&panel->axis[PC_SIDE_X], data.x),
                    rect->y +
                        rect->height * (1 - figure_share(&panel->axis[PC_SIDE_Y], data.y))};
}

pc_look pc_series_look(size_t series, double size) {
  return (pc_look){.tone = (pc_tone)(PC_TONE_A + series % PC_SERIES_TONES),
                   .size = size,
                   .dashed = series >= PC_SERIES_TONES};
}
