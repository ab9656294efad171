/* The clinical report: one page about predicted risks of one event.
 *
 * Table of measures with intervals, calibration curve with the risks of both outcomes, decision
 * curve, sentences for methods and results, and how to repeat it.  Metrics that the caller adds
 * follow in the table.
 *
 * 1. Risks of one event are two classes; other data are refused.
 * 2. With a calibrator the table has a column after it, and figures are drawn twice.
 * 3. Without a calibrator the page fits on one sheet of A4. */
#include <string.h>

#include "base/markup.h"
#include "report/page_cells.h"
#include "report/page_preset.h"

static pcal_status clinical_check(const pc_layout *layout, pcal_error *err) {
  if (layout->form == PC_FORM_CLASSES && layout->kind != PCAL_CONFIDENCE &&
      layout->classes == 2)
    return PCAL_OK;
  return pc_fail(err, PCAL_USAGE,
                 "the preset clinical is for the risk of one event; give one column of "
                 "probabilities as {probs} and outcomes of 0 and 1 as {labels}, or leave the "
                 "preset out");
}

/* Writes text that `write` makes, escaped for HTML, as a paragraph. */
static void clinical_paragraph(const pcal_report *report,
                               void (*write)(const pcal_report *report, pc_text *out),
                               pc_text *out) {
  pc_text text;
  pc_text_init(&text, out->env);
  write(report, &text);
  pc_text_add(out, "<p>");
  pc_text_markup(out, text.failed ? "" : text.bytes);
  pc_text_add(out, "</p>\n");
  out->failed |= text.failed;
  pc_text_free(&text);
}

/* ---- the table ---- */

static void clinical_cell(const pc_result_record *record, pc_text *out) {
  pc_text_add(out, "<td class=\"num\">");
  pc_clinical_value(record, out);
  pc_text_add(out, record->interval_result.few_rows[0] != '\0' ? " (unsure)</td>" : "</td>");
}

static void clinical_table_row(const pcal_report *report, size_t metric, pc_text *out) {
  const pc_result_record *record = &report->side[PC_PAGE_BEFORE].key->records[metric];
  const pc_clinical_row *row = pc_clinical_row_of(record);
  pc_text_add(out, "<tr><th scope=\"row\">");
  pc_text_markup(out, row == NULL ? record->label : row->name);
  pc_text_add(out, " <span class=\"what\">");
  pc_text_markup(out, row == NULL
                          ? pc_page_metric_row(report->side[PC_PAGE_BEFORE].key, record)->title
                          : row->about);
  pc_text_add(out, "</span></th>");
  clinical_cell(record, out);
  if (report->repaired)
    clinical_cell(&report->side[PC_PAGE_AFTER].key->records[metric], out);
  pc_text_format(out, "<td class=\"num\">%s</td></tr>\n", row == NULL ? "" : row->ideal);
}

/* Rows of one section; NULL: metrics that the caller added. */
static void clinical_section(const pcal_report *report, const char *section, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  int written = 0;
  for (size_t m = 0; m < results->metric_count; m++) {
    const pc_clinical_row *row = pc_clinical_row_of(&results->records[m]);
    if (section == NULL ? row != NULL : row == NULL || strcmp(row->section, section) != 0)
      continue;
    if (written++ == 0)
      pc_text_format(out,
                     "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%d\">%s"
                     "</th></tr>\n",
                     report->repaired ? 4 : 3, section == NULL ? "Further measures" : section);
    clinical_table_row(report, m, out);
  }
  pc_text_add(out, written > 0 ? "</tbody>\n" : "");
}

static const char *const clinical_sections[] = {"Discrimination", "Calibration",
                                                "Overall performance", NULL};

static void clinical_table(const pcal_report *report, pc_text *out) {
  pc_text_add(out,
              "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Performance "
              "of the model\"><table>\n<caption>");
  pc_text_add(out, "Table 1. Performance of the model");
  if (report->level > 0) {
    pc_text_add(out, ", with confidence intervals of level ");
    pc_clinical_level(report->level, out);
  }
  pc_text_add(out, "</caption>\n<thead><tr>");
  pc_page_table_head("measure", "", out);
  pc_page_table_head(report->repaired ? "as predicted" : "value", "num", out);
  if (report->repaired)
    pc_page_table_head("recalibrated", "num", out);
  pc_page_table_head("ideal", "num", out);
  pc_text_add(out, "</tr></thead>\n");
  for (size_t i = 0; i < sizeof clinical_sections / sizeof *clinical_sections; i++)
    clinical_section(report, clinical_sections[i], out);
  pc_text_add(out, "</table></div>\n");
}

/* ---- the page ---- */

static const char *clinical_caption(const char *figure) {
  const pc_preset_figure *at = pc_page_clinical.figures;
  while (at->name != NULL && strcmp(at->name, figure) != 0)
    at++;
  return at->caption;
}

static void clinical_figures(const pcal_report *report, pc_text *out) {
  pc_text_add(out, "<div class=\"pair\">\n");
  for (size_t i = 0; i < report->figure_count; i++) {
    const pc_page_figure *figure = &report->figures[i];
    pc_text_add(out, "<figure>\n");
    for (int time = PC_PAGE_BEFORE; time <= PC_PAGE_AFTER; time++) {
      if (figure->svg[time].length == 0)
        continue;
      pc_text_add(out, "<div class=\"drawing\">");
      if (report->repaired)
        pc_text_format(out, "<p class=\"time\">%s</p>",
                       time == PC_PAGE_BEFORE ? "As predicted" : "Recalibrated");
      pc_text_add(out, figure->svg[time].bytes);
      pc_text_add(out, "</div>\n");
    }
    pc_text_format(out, "<figcaption>Figure %zu. ", i + 1);
    pc_text_markup(out, clinical_caption(figure->row->name));
    pc_text_add(out, "</figcaption></figure>\n");
  }
  pc_text_add(out, "</div>\n");
}

static void clinical_remark(const char *sentence, pc_text *out) {
  pc_text_add(out, "<p class=\"note\">");
  pc_text_markup(out, sentence);
  pc_text_add(out, "</p>\n");
}

/* The convention of the Brier score, which is that of the event (clinical_text.c). */
static const char *const clinical_brier =
    "The Brier score of this page is the mean squared error of the risk, as in clinical "
    "papers; propercal measure prints the sum over both classes, which is twice that.";

static int clinical_has_brier(const pcal_report *report) {
  return pc_results_record(report->side[PC_PAGE_BEFORE].key, "brier") != NULL;
}

static void clinical_html(const pcal_report *report, pc_text *out) {
  pc_text_add(out, "<section aria-labelledby=\"results\"><h2 id=\"results\" tabindex=\"-1\">"
                   "Results</h2>\n");
  clinical_paragraph(report, pc_clinical_results, out);
  clinical_table(report, out);
  if (clinical_has_brier(report))
    clinical_remark(clinical_brier, out);
  pc_page_remarks(report, clinical_remark, out);
  clinical_figures(report, out);
  pc_text_add(out, "</section>\n<section aria-labelledby=\"methods\"><h2 id=\"methods\">Methods"
                   "</h2>\n");
  clinical_paragraph(report, pc_clinical_methods, out);
  pc_text_add(out, "</section>\n");
  pc_page_group_table(report, out);
}

/* ---- Markdown and JSON ---- */

static void clinical_markdown_row(const pcal_report *report, size_t metric, pc_text *out) {
  const pc_result_record *record = &report->side[PC_PAGE_BEFORE].key->records[metric];
  const pc_clinical_row *row = pc_clinical_row_of(record);
  pc_text_add(out, "| ");
  pc_text_markdown(out, row == NULL ? record->label : row->name);
  pc_text_add(out, " | ");
  pc_clinical_value(record, out);
  if (report->repaired) {
    pc_text_add(out, " | ");
    pc_clinical_value(&report->side[PC_PAGE_AFTER].key->records[metric], out);
  }
  pc_text_format(out, " | %s |\n", row == NULL ? "" : row->ideal);
}

static void clinical_markdown_text(const pcal_report *report, const char *title,
                                   void (*write)(const pcal_report *report, pc_text *out),
                                   pc_text *out) {
  pc_text text;
  pc_text_init(&text, out->env);
  write(report, &text);
  pc_text_format(out, "## %s\n\n", title);
  pc_text_markdown(out, text.failed ? "" : text.bytes);
  pc_text_add(out, "\n\n");
  out->failed |= text.failed;
  pc_text_free(&text);
}

static void clinical_markdown(const pcal_report *report, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  clinical_markdown_text(report, "Results", pc_clinical_results, out);
  pc_text_add(out,
              report->repaired
                  ? "| measure | as predicted | recalibrated | ideal |\n|---|---|---|---|\n"
                  : "| measure | value | ideal |\n|---|---|---|\n");
  for (size_t m = 0; m < results->metric_count; m++)
    clinical_markdown_row(report, m, out);
  pc_text_add(out, "\n");
  if (clinical_has_brier(report))
    pc_text_format(out, "%s\n\n", clinical_brier);
  clinical_markdown_text(report, "Methods", pc_clinical_methods, out);
  pc_page_group_markdown(report, out);
}

static void clinical_json(const pcal_report *report, pc_json *json) {
  static const struct {
    const char *key;
    void (*write)(const pcal_report *report, pc_text *out);
  } texts[] = {{"results", pc_clinical_results}, {"methods", pc_clinical_methods}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    pc_text text;
    pc_text_init(&text, json->out->env);
    texts[i].write(report, &text);
    pc_json_key(json, texts[i].key);
    pc_json_string(json, text.failed ? "" : text.bytes);
    json->out->failed |= text.failed;
    pc_text_free(&text);
  }
}

static const pc_preset_figure clinical_shown[] = {
    {"calibration-curve", "Observed frequency of the event by predicted risk: smooth curve "
                          "with its 95 % band, tenths of the patients with 95 % intervals, and "
                          "risks of patients with the event (up) and without "
                          "(down)."},
    {"decision-curve", "Net benefit by threshold probability: the model with its intervals, "
                       "treating all patients, "
                       "and treating none."},
    {NULL, NULL},
};

const pc_page_preset pc_page_clinical = {
    .name = "clinical",
    .title = "Validation of predicted risks",
    .metrics = "clinical",
    .figures = clinical_shown,
    .figure_width = 560,
    .figure_height = 560,
    .check = clinical_check,
    .summary = pc_clinical_counts,
    .html = clinical_html,
    .markdown = clinical_markdown,
    .json = clinical_json,
};

/* ---- all presets ---- */

pcal_status pc_page_preset_find(const char *name, const pc_page_preset **out, pcal_error *err) {
  *out = NULL;
  if (name == NULL)
    return PCAL_OK;
  if (strcmp(name, pc_page_clinical.name) != 0)
    return pc_fail(err, PCAL_USAGE, "there is no preset \"%s\"; there is clinical", name);
  *out = &pc_page_clinical;
  return PCAL_OK;
}
