/* How many targets lie inside central prediction intervals, as a table of the page.
 *
 * 1. Of quantiles only their own central intervals are known, at most PC_PAGE_LEVELS. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "output/table_row.h"
#include "report/page_cells.h"

/* Levels that interval-coverage takes. */
#define PAGE_COVERAGE_LOWEST 0.001
#define PAGE_COVERAGE_HIGHEST 0.999

/* The level of the central interval whose lower end is quantile i, or 0: there is no upper end.
 * Rounded, since 1 - 2 * 0.05 is not the number 0.9, to less than interval-coverage allows between
 * two equal levels: those of 1/7 and 6/7 must be found again. */
static double page_coverage_pair(const pc_layout *layout, size_t i) {
  for (size_t j = i + 1; layout->levels[i] < 0.5 && j < layout->columns; j++)
    if (fabs(layout->levels[i] + layout->levels[j] - 1) < 1e-9)
      return round((layout->levels[j] - layout->levels[i]) * 1e9) / 1e9;
  return 0;
}

/* Levels of symmetric pairs of quantiles, the narrowest interval first. */
static size_t page_coverage_pairs(const pc_layout *layout, double out[PC_PAGE_LEVELS]) {
  size_t count = 0;
  for (size_t i = layout->columns; i-- > 0 && count < PC_PAGE_LEVELS;) {
    const double level = page_coverage_pair(layout, i);
    if (level >= PAGE_COVERAGE_LOWEST && level <= PAGE_COVERAGE_HIGHEST &&
        (count == 0 || level > out[count - 1]))
      out[count++] = level;
  }
  return count;
}

size_t pc_page_coverage_levels(const pc_layout *layout, double out[PC_PAGE_LEVELS]) {
  static const double usual[] = {0.5, 0.8, 0.9, 0.95};
  if (layout->form == PC_FORM_CLASSES)
    return 0;
  if (layout->form == PC_FORM_QUANTILES)
    return page_coverage_pairs(layout, out);
  memcpy(out, usual, sizeof usual);
  return sizeof usual / sizeof *usual;
}

void pc_page_coverage_spec(double level, char out[PC_FIGURE_SPEC_SIZE]) {
  char number[PC_NUMBER_MAX];
  pc_number_format(level, number);
  snprintf(out, PC_FIGURE_SPEC_SIZE, "interval-coverage:level=%s", number);
}

/* The record of a level on one side; NULL: it was not measured. */
static const pc_result_record *page_coverage_record(const pcal_report *report,
                                                    pc_page_time time, double level) {
  char spec[PC_FIGURE_SPEC_SIZE];
  const pcal_results *drawn = report->side[time].drawn;
  pc_page_coverage_spec(level, spec);
  return drawn == NULL ? NULL : pc_results_record(drawn, spec);
}

static void page_coverage_share(const pc_result_record *record, pc_text *out) {
  const pc_interval_result *interval = &record->interval_result;
  char text[PC_NUMBER_MAX];
  pc_page_cell_open(100 * record->outcome.value, out);
  pc_number_fixed(100 * record->outcome.value, 1, text);
  pc_text_format(out, "<b>%s</b>", text);
  pc_page_cell_interval(interval->has_interval, 100 * interval->low, 100 * interval->high, out);
  pc_text_add(out, "</td>");
}

static void page_coverage_row(const pcal_report *report, double level, pc_text *out) {
  const pc_result_record *side[2] = {page_coverage_record(report, PC_PAGE_BEFORE, level),
                                     page_coverage_record(report, PC_PAGE_AFTER, level)};
  char text[PC_NUMBER_MAX];
  if (side[PC_PAGE_BEFORE] == NULL)
    return;
  pc_number_format(round(level * 1e6) / 1e4, text);
  pc_text_format(out, "<tr><th scope=\"row\">%s %%</th>", text);
  for (int time = PC_PAGE_BEFORE; time <= PC_PAGE_AFTER; time++)
    if (side[time] != NULL)
      page_coverage_share(side[time], out);
  for (int time = PC_PAGE_BEFORE; time <= PC_PAGE_AFTER; time++)
    if (side[time] != NULL)
      pc_page_cell_number_as(PC_PAGE_LESS, side[time]->outcome.parts[0].value, 4, out);
  pc_text_add(out, "</tr>\n");
}

void pc_page_coverage_table(const pcal_report *report, pc_text *out) {
  double levels[PC_PAGE_LEVELS];
  const size_t count =
      pc_page_coverage_levels(&report->side[PC_PAGE_BEFORE].key->layout, levels);
  if (count == 0 || page_coverage_record(report, PC_PAGE_BEFORE, levels[0]) == NULL)
    return;
  pc_text_add(out, "<section aria-labelledby=\"coverage\"><h2 id=\"coverage\">Coverage of "
                   "intervals</h2>\n<p>How many targets lie inside the central prediction "
                   "intervals. Intervals that contain fewer targets than they claim are too "
                   "narrow.</p>\n");
  pc_page_table_open("Targets inside the central prediction intervals", out);
  pc_page_table_head("interval", "", out);
  pc_page_table_head(report->repaired ? "inside before, %" : "targets inside, %", "num", out);
  if (report->repaired)
    pc_page_table_head("inside after, %", "num", out);
  pc_page_table_head(report->repaired ? "width before" : "mean width", PC_PAGE_LESS, out);
  if (report->repaired)
    pc_page_table_head("width after", PC_PAGE_LESS, out);
  pc_text_add(out, "</tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < count; i++)
    page_coverage_row(report, levels[i], out);
  pc_page_table_close(out);
  pc_text_add(out, "</section>\n");
}

static void page_coverage_markdown_row(const pcal_report *report, double level,
                                       pc_table_row *row) {
  char text[PC_NUMBER_MAX];
  pc_number_format(round(level * 1e6) / 1e4, text);
  pc_table_row_begin_cell(row);
  pc_text_format(row->out, "%s %%", text);
  for (int part = 0; part < 2; part++)
    for (int time = PC_PAGE_BEFORE; time <= PC_PAGE_AFTER; time++) {
      const pc_result_record *record = page_coverage_record(report, (pc_page_time)time, level);
      if (record == NULL)
        continue;
      const pc_interval_result *interval = &record->interval_result;
      pc_number_fixed(part == 0 ? 100 * record->outcome.value : record->outcome.parts[0].value,
                      part == 0 ? 1 : 4, text);
      pc_table_row_begin_cell(row);
      pc_text_add(row->out, text);
      if (part > 0 || !interval->has_interval)
        continue;
      pc_text_add(row->out, " ");
      pc_write_interval(100 * interval->low, 100 * interval->high, row->out);
    }
  pc_table_row_end(row);
}

void pc_page_coverage_markdown(const pcal_report *report, pc_text *out) {
  static const char *const plain[] = {"interval", "targets inside, %", "mean width"};
  static const char *const repaired[] = {"interval", "inside before, %", "inside after, %",
                                         "width before", "width after"};
  double levels[PC_PAGE_LEVELS];
  const char *const *heads = report->repaired ? repaired : plain;
  const size_t columns = report->repaired ? 5 : 3;
  pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
  const size_t count =
      pc_page_coverage_levels(&report->side[PC_PAGE_BEFORE].key->layout, levels);
  if (count == 0 || page_coverage_record(report, PC_PAGE_BEFORE, levels[0]) == NULL)
    return;
  pc_text_add(out, "## Coverage of intervals\n\n");
  for (size_t c = 0; c < columns; c++)
    pc_table_row_word(&row, heads[c]);
  pc_table_row_end(&row);
  for (size_t c = 0; c < columns; c++)
    pc_table_row_rule(&row, c > 0);
  pc_table_row_end(&row);
  for (size_t i = 0; i < count; i++)
    page_coverage_markdown_row(report, levels[i], &row);
  pc_text_add(out, "\n");
}
