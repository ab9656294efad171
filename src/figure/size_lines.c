/* 1. The axis of rows is logarithmic, with names at 1, 2 and 5 times powers of ten.
 * 2. Nine colours, solid and then dashed; further lines are left out and counted.
 * 3. An empty cell interrupts its line. */
#include "figure/size_lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "base/number.h"
#include "figure/number_text.h"

#define SIZE_LINES_POINTS 64

static const char *size_lines_word(const pc_table *table, size_t row, const char *column) {
  const size_t place = pc_table_find_column(table, column);
  return place == table->column_count ? "" : pc_table_at(table, row, place)->word;
}

static pc_look size_lines_look(const char *name, size_t *others) {
  if (strcmp(name, "rbs") == 0 || strcmp(name, "brier") == 0)
    return (pc_look){.tone = PC_TONE_INK, .size = 3, .dashed = name[0] == 'b'};
  return pc_series_look((*others)++, 2);
}

/* Begins a line at a row, unless all line styles are used. */
static void size_lines_begin(size_t row, const char *name, size_t *others, pc_size_lines *out) {
  if (out->count == PC_SIZE_LINES_MAX || *others == 2 * PC_SERIES_TONES)
    out->left_out++;
  else
    out->line[out->count++] =
        (pc_size_line){.name = name, .first = row, .look = size_lines_look(name, others)};
}

static void size_lines_take(size_t row, pc_size_lines *out) {
  const double rows = pc_table_number(out->table, row, "rows");
  if (out->left_out > 0)
    return;
  out->line[out->count - 1].count++;
  out->low = fmin(out->low, rows);
  out->high = fmax(out->high, rows);
}

void pc_size_lines_read(const pc_table *table, const char *column, pc_size_lines *out) {
  const char *last = NULL;
  size_t others = 0;
  *out = (pc_size_lines){.table = table, .low = INFINITY, .high = 0};
  for (size_t r = 0; r < table->row_count; r++) {
    const char *name = size_lines_word(table, r, column);
    if (strcmp(size_lines_word(table, r, "model"), size_lines_word(table, 0, "model")) != 0)
      break;
    if (last == NULL || strcmp(last, name) != 0)
      size_lines_begin(r, name, &others, out);
    last = name;
    size_lines_take(r, out);
  }
}

void pc_size_lines_read_numbers(const pc_table *table, const char *column, pc_size_lines *out) {
  size_t others = 0;
  *out = (pc_size_lines){.table = table, .low = INFINITY, .high = 0};
  for (size_t r = 0; r < table->row_count; r++) {
    if (r == 0 ||
        pc_table_number(out->table, r, column) != pc_table_number(out->table, r - 1, column))
      size_lines_begin(r, "", &others, out);
    size_lines_take(r, out);
  }
}

void pc_size_lines_name_factors(pc_size_lines *lines, char (*names)[PC_NUMBER_TEXT_MAX]) {
  for (size_t i = 0; i < lines->count; i++) {
    char number[PC_NUMBER_MAX];
    const double value = pc_table_number(lines->table, lines->line[i].first, "factor");
    if (value == 1)
      snprintf(names[i], PC_NUMBER_TEXT_MAX, "calibrated");
    else
      snprintf(names[i], PC_NUMBER_TEXT_MAX, "logits \xC3\x97 %s", pc_show(value, number));
    lines->line[i].name = names[i];
  }
}

void pc_size_lines_style(pc_size_lines *lines, int dashed, double size) {
  for (size_t i = 0; i < lines->count; i++) {
    lines->line[i].look.dashed = dashed;
    lines->line[i].look.size = size;
  }
}

static double size_lines_error(const pc_size_lines *lines, size_t row, pc_size_column column) {
  const double error =
      column.error == NULL ? 0.0 : pc_table_number(lines->table, row, column.error);
  return isfinite(error) ? error : 0.0;
}

void pc_size_lines_range(const pc_size_lines *lines, pc_size_column column, double *low,
                         double *high) {
  for (size_t i = 0; i < lines->count; i++)
    for (size_t r = 0; r < lines->line[i].count; r++) {
      const size_t row = lines->line[i].first + r;
      const double value = pc_table_number(lines->table, row, column.value);
      if (!isfinite(value))
        continue;
      *low = fmin(*low, value - size_lines_error(lines, row, column));
      *high = fmax(*high, value + size_lines_error(lines, row, column));
    }
}

void pc_size_lines_axes(pc_figure *figure, size_t panel, const pc_size_lines *lines, double low,
                        double high, const char *label) {
  static const double steps[] = {1, 2, 5};
  const double margin = 0.03 * (pc_log2(lines->high) - pc_log2(lines->low)) + 1e-3;
  char text[PC_NUMBER_TEXT_MAX];
  pc_figure_axis(figure, panel, PC_SIDE_X, pc_log2(lines->low) - margin,
                 pc_log2(lines->high) + margin, 6, PC_NUMBERS_PLAIN, "rows");
  pc_figure_axis(figure, panel, PC_SIDE_Y, low, high > low ? high : low + 1, 6,
                 PC_NUMBERS_PLAIN, label);
  for (double decade = 1; decade <= lines->high; decade *= 10)
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
      const double at = decade * steps[s];
      if (at < lines->low || at > lines->high)
        continue;
      pc_count_text(at, text);
      pc_figure_name_tick(figure, panel, PC_SIDE_X, pc_log2(at), text);
    }
  if (!figure->failed)
    figure->panels[panel].axis[PC_SIDE_X].lined = 1;
}

void pc_size_lines_legend(pc_figure *figure, const pc_size_lines *lines) {
  for (size_t i = 0; i < lines->count; i++)
    pc_figure_legend(figure, PC_SAMPLE_LINE, lines->line[i].look, lines->line[i].name);
  pc_figure_legend(figure, PC_SAMPLE_BAR, (pc_look){.tone = PC_TONE_MUTED, .wash = 1},
                   "standard error");
}

/* ---- marks ---- */

/* Consecutive points of a line with their errors. */
typedef struct size_lines_run {
  pc_point points[SIZE_LINES_POINTS];
  double errors[SIZE_LINES_POINTS];
  size_t used;
} size_lines_run;

static void size_lines_flush(pc_figure *figure, size_t panel, pc_look look, size_lines_run *run,
                             int band) {
  pc_point outline[2 * SIZE_LINES_POINTS];
  const size_t used = run->used;
  for (size_t i = 0; i < used; i++) {
    outline[i] = (pc_point){run->points[i].x, run->points[i].y - run->errors[i]};
    outline[2 * used - 1 - i] = (pc_point){run->points[i].x, run->points[i].y + run->errors[i]};
  }
  if (band)
    pc_figure_band(figure, panel, (pc_look){.tone = look.tone, .wash = 1}, outline, 2 * used);
  else
    pc_figure_line(figure, panel, look, run->points, used);
  run->used = 0;
}

static void size_lines_runs(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                            const pc_size_line *line, pc_size_column column, int band) {
  size_lines_run run = {.used = 0};
  for (size_t r = 0; r < line->count && r < SIZE_LINES_POINTS; r++) {
    const size_t row = line->first + r;
    const double value = pc_table_number(lines->table, row, column.value);
    if (isfinite(value)) {
      run.errors[run.used] = size_lines_error(lines, row, column);
      run.points[run.used++] =
          (pc_point){pc_log2(pc_table_number(lines->table, row, "rows")), value};
      continue;
    }
    size_lines_flush(figure, panel, line->look, &run, band);
  }
  size_lines_flush(figure, panel, line->look, &run, band);
}

static void size_lines_points(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                              const pc_size_line *line, pc_size_column column) {
  char number[PC_NUMBER_TEXT_MAX], rows[PC_NUMBER_TEXT_MAX];
  char hint[2 * PC_NUMBER_TEXT_MAX + PC_TABLE_WORD_MAX + 16];
  for (size_t r = 0; r < line->count; r++) {
    const size_t row = line->first + r;
    const double value = pc_table_number(lines->table, row, column.value);
    if (!isfinite(value))
      continue;
    pc_short_text(value, number);
    pc_count_text(pc_table_number(lines->table, row, "rows"), rows);
    snprintf(hint, sizeof hint, "%s: %s at %s rows", line->name, number, rows);
    pc_figure_point(figure, panel, (pc_look){.tone = line->look.tone, .size = 2.5},
                    (pc_point){pc_log2(pc_table_number(lines->table, row, "rows")), value},
                    hint);
  }
}

void pc_size_lines_draw(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                        pc_size_column column) {
  for (size_t i = 0; column.error != NULL && i < lines->count; i++)
    size_lines_runs(figure, panel, lines, &lines->line[i], column, 1);
  for (size_t i = 0; i < lines->count; i++) {
    size_lines_runs(figure, panel, lines, &lines->line[i], column, 0);
    size_lines_points(figure, panel, lines, &lines->line[i], column);
  }
}

void pc_size_lines_trace(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                         pc_size_column column) {
  for (size_t i = 0; i < lines->count; i++)
    size_lines_runs(figure, panel, lines, &lines->line[i], column, 0);
}

void pc_size_lines_level(pc_figure *figure, size_t panel, const pc_size_lines *lines,
                         double level, pc_look look) {
  const double margin = 0.03 * (pc_log2(lines->high) - pc_log2(lines->low)) + 1e-3;
  pc_figure_segment(figure, panel, look, (pc_point){pc_log2(lines->low) - margin, level},
                    (pc_point){pc_log2(lines->high) + margin, level});
}
