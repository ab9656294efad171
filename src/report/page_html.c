/* A report as one self-contained page of HTML.
 *
 * 1. Names of classes, files and titles pass through pc_text_markup; in the JSON inside the page
 *    each '<' is written as an escape, so that nothing in it can end the script.
 * 2. A content security policy in the page forbids every request.
 * 3. Without scripts all content is visible, before and after one below the other; scripts add
 *    sorting, hover texts, and the switches of side and theme.
 * 4. The page does not depend on time or machine. */
#include <string.h>

#include "base/markup.h"
#include "figure/svg.h"
#include "output/verdict.h"
#include "report/page_parts.h"
#include "report/page_preset.h"

static void page_html_head(const pcal_report *report, pc_text *out) {
  pc_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n"
                   "<meta name=\"generator\" content=\"propercal " PCAL_VERSION "\">\n"
                   "<link rel=\"icon\" href=\"data:,\">\n<title>");
  pc_text_markup(out, pc_page_title(report));
  pc_text_add(out, "</title>\n<style>\n");
  pc_text_add(out, pc_page_css);
  pc_svg_page_rules(out);
  pc_text_add(out, "</style>\n</head>\n");
}

/* Links to the sections that come before the notes. */
static void page_html_links(const pcal_report *report, pc_text *out) {
  if (report->preset != NULL) {
    pc_text_add(out, "<li><a href=\"#results\">Results</a></li>"
                     "<li><a href=\"#methods\">Methods</a></li>");
    return;
  }
  pc_text_add(out, "<li><a href=\"#verdict\">Verdict</a></li>"
                   "<li><a href=\"#metrics\">Metrics</a></li>");
  if (report->figure_count > 0)
    pc_text_add(out, "<li><a href=\"#figures\">Figures</a></li>");
}

static void page_html_tools(const pcal_report *report, pc_text *out) {
  pc_text_add(out, "<nav class=\"bar\" aria-label=\"Report\"><ul>");
  page_html_links(report, out);
  pc_text_add(out, "<li><a href=\"#data\">Data</a></li>"
                   "<li><a href=\"#commands\">Commands</a></li></ul>"
                   "<div class=\"tools\" hidden>");
  if (report->repaired && report->figure_count > 0 && report->preset == NULL)
    pc_text_add(out, "<div class=\"switch\" role=\"group\" aria-label=\"Figures show\">"
                     "<button type=\"button\" data-side=\"before\">Before</button>"
                     "<button type=\"button\" data-side=\"after\">After</button></div>");
  pc_text_add(out, "<button type=\"button\" id=\"theme\" aria-pressed=\"false\">Dark</button>"
                   "</div></nav>\n");
}

static void page_html_top(const pcal_report *report, pc_text *out) {
  pc_text_format(out, "<body%s>\n<a class=\"skip\" href=\"#%s\">Skip to the %s</a>\n",
                 report->preset == NULL ? "" : " class=\"sheet\"",
                 report->preset == NULL ? "verdict" : "results",
                 report->preset == NULL ? "verdict" : "results");
  pc_text_add(out, "<header><p class=\"brand\">propercal</p><h1>");
  pc_text_markup(out, pc_page_title(report));
  pc_text_add(out, "</h1><p class=\"sub\">");
  (report->preset == NULL ? pc_write_data_summary
                          : report->preset->summary)(report->side[PC_PAGE_BEFORE].key, out);
  pc_text_add(out, "</p></header>\n");
  page_html_tools(report, out);
  pc_text_add(out, "<main>\n");
}

/* ---- the verdict ---- */

static void page_html_bytes(const char *words, size_t length, pc_text *out) {
  pc_text copy;
  pc_text_init(&copy, out->env);
  pc_text_add_bytes(&copy, words, length);
  pc_text_markup(out, copy.bytes);
  out->failed |= copy.failed;
  pc_text_free(&copy);
}

/* Writes the headline, then a paragraph for each part that applies.  advice: with the advice. */
static void page_html_verdict(const pcal_results *results, const pcal_verdict *verdict,
                              int advice, pc_text *out) {
  for (int part = 0; part < (advice ? PC_VERDICT_PARTS : PC_VERDICT_ADVICE); part++) {
    const char *label = pc_verdict_label((pc_verdict_part)part);
    pc_text sentences;
    pc_text_init(&sentences, out->env);
    pc_verdict_write(results, verdict, (pc_verdict_part)part, results->env.caller, &sentences);
    if (sentences.length > 0) {
      pc_text_add(out, part == PC_VERDICT_HEADLINE ? "<p class=\"lead\">" : "<p>");
      if (label != NULL)
        pc_text_format(out, "<strong>%s:</strong> ", label);
      pc_text_markup(out, sentences.bytes);
      pc_text_add(out, "</p>\n");
    }
    out->failed |= sentences.failed;
    pc_text_free(&sentences);
  }
}

/* Writes the changes of the most common scores, with intervals. */
static void page_html_changes(const pcal_results *after, pc_text *out) {
  static const char *const wanted[] = {"brier", "log", "ece", "crps"};
  size_t written = 0;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    for (size_t m = 0; m < after->metric_count; m++) {
      const pc_result_record *record = &after->records[m];
      const pc_interval_result *interval_result = &record->interval_result;
      if (strcmp(record->label, wanted[i]) != 0 || !interval_result->has_difference)
        continue;
      pc_text_add(out, written++ == 0 ? "<p><strong>What changed:</strong> " : ", ");
      pc_text_markup(out, pc_page_metric_row(after, record)->title);
      pc_text_add(out, interval_result->difference > 0 ? " +" : " ");
      pc_write_number(interval_result->difference, out);
      if (interval_result->has_difference_interval) {
        pc_text_add(out, " ");
        pc_write_interval(interval_result->difference_low, interval_result->difference_high,
                          out);
      }
    }
  pc_text_add(out, written > 0 ? ".</p>\n" : "");
}

static void page_html_card(const pcal_report *report, pc_page_time time, pc_text *out) {
  pcal_verdict verdict;
  pc_verdict_judge(report->side[time].key, &verdict);
  const int fine = verdict.kind == PCAL_VERDICT_CALIBRATED;
  pc_text_format(out, "<div class=\"card verdict %s\">\n", fine ? "fine" : "off");
  if (report->repaired && time == PC_PAGE_BEFORE)
    pc_text_add(out, "<h3>Before calibration</h3>\n");
  if (time == PC_PAGE_AFTER) {
    pc_text_add(out, "<h3>After <code>");
    pc_text_markup(out, report->method);
    pc_text_add(out, "</code></h3>\n");
  }
  page_html_verdict(report->side[time].key, &verdict, time == PC_PAGE_BEFORE, out);
  if (time == PC_PAGE_AFTER)
    page_html_changes(report->side[time].key, out);
  pc_text_add(out, "</div>\n");
}

/* ---- the most common metrics ---- */

static void page_html_tile(const pcal_report *report, size_t metric, pc_text *out) {
  const pcal_results *before = report->side[PC_PAGE_BEFORE].key;
  const pcal_results *after = report->side[PC_PAGE_AFTER].key;
  const pcal_results *shown = after == NULL ? before : after;
  const pc_result_record *record = &shown->records[metric];
  pc_text_add(out, "<div class=\"card\"><dt>");
  pc_text_markup(out, pc_page_metric_row(before, record)->title);
  pc_text_add(out, "</dt><dd><b>");
  pc_write_number(record->outcome.value, out);
  pc_text_add(out, "</b>");
  if (record->interval_result.has_interval) {
    pc_text_add(out, " <span class=\"ci\">");
    pc_write_interval(record->interval_result.low, record->interval_result.high, out);
    pc_text_add(out, "</span>");
  }
  if (after != NULL) {
    pc_text_add(out, " <span class=\"was\">before ");
    pc_write_number(before->records[metric].outcome.value, out);
    pc_text_add(out, "</span>");
  }
  pc_text_add(out, "</dd></div>\n");
}

static void page_html_tiles(const pcal_report *report, pc_text *out) {
  static const char *const wanted[] = {"accuracy", "brier",          "ece", "ks", "crps",
                                       "mse",      "variance-ratio", "pit"};
  const pcal_results *before = report->side[PC_PAGE_BEFORE].key;
  pc_text_add(out, "<dl class=\"tiles\">\n");
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
    for (size_t m = 0; m < before->metric_count; m++)
      if (strcmp(before->records[m].label, wanted[i]) == 0 &&
          !before->records[m].outcome.undefined)
        page_html_tile(report, m, out);
  pc_text_add(out, "</dl>\n");
}

static void page_html_remark(const char *sentence, pc_text *out) {
  pc_text_add(out, "<p class=\"note\">");
  pc_text_markup(out, sentence);
  pc_text_add(out, "</p>\n");
}

static void page_html_opening(const pcal_report *report, pc_text *out) {
  pc_text_add(out, "<section aria-labelledby=\"verdict\"><h2 id=\"verdict\" "
                   "tabindex=\"-1\">Verdict</h2>\n<div class=\"cards\">\n");
  page_html_card(report, PC_PAGE_BEFORE, out);
  if (report->repaired)
    page_html_card(report, PC_PAGE_AFTER, out);
  pc_text_add(out, "</div>\n");
  if (report->comparison != NULL && !report->repaired) {
    pc_text_add(out, "<p>");
    pc_write_comparison_advice(report->comparison, out);
    pc_text_add(out, "</p>\n");
  }
  page_html_tiles(report, out);
  pc_text_add(out, "</section>\n<section aria-labelledby=\"metrics\">"
                   "<h2 id=\"metrics\">Metrics</h2>\n");
  pc_page_key_table(report, out);
  pc_text_add(out, "<p class=\"note\">A lower bound says that the true error is at least about "
                   "this large, an upper bound that it is at most this large.");
  if (report->repaired)
    pc_text_add(out, " Changes are after minus before, on the same rows.");
  pc_text_add(out, " ");
  pc_page_brier(report, out);
  pc_text_add(out, "</p>\n");
  pc_page_remarks(report, page_html_remark, out);
  pc_text_add(out, "</section>\n");
}

/* ---- figures ---- */

static void page_html_drawing(const pcal_report *report, const pc_page_figure *figure,
                              pc_page_time time, pc_text *out) {
  static const char *const names[] = {"before", "after"};
  if (figure->svg[time].length == 0)
    return;
  pc_text_format(out, "<div class=\"drawing\"%s%s%s>", report->repaired ? " data-time=\"" : "",
                 report->repaired ? names[time] : "", report->repaired ? "\"" : "");
  if (report->repaired)
    pc_text_format(out, "<p class=\"time\">%s</p>",
                   time == PC_PAGE_BEFORE ? "Before" : "After");
  pc_text_add(out, figure->svg[time].bytes);
  pc_text_add(out, "</div>\n");
}

static void page_html_figure(const pcal_report *report, const pc_page_figure *figure,
                             pc_text *out) {
  pc_text_add(out, "<figure class=\"card\">\n");
  page_html_drawing(report, figure, PC_PAGE_BEFORE, out);
  page_html_drawing(report, figure, PC_PAGE_AFTER, out);
  pc_text_add(out, "<figcaption><details><summary>How to read it<span class=\"unseen\">: ");
  pc_text_markup(out, figure->row->title);
  pc_text_add(out, "</span></summary><p>");
  pc_text_markup(out, figure->row->about);
  pc_text_add(out, "</p></details>");
  if (strcmp(figure->row->name, "reliability") == 0) {
    pc_text_add(out, "<details><summary>Numbers of the bins</summary>");
    for (int time = PC_PAGE_BEFORE; time <= PC_PAGE_AFTER; time++)
      if (report->side[time].key != NULL) {
        pc_text_format(out, "<div%s>",
                       !report->repaired        ? ""
                       : time == PC_PAGE_BEFORE ? " data-time=\"before\""
                                                : " data-time=\"after\"");
        pc_page_bin_table(report->side[time].key, out);
        pc_text_add(out, "</div>");
      }
    pc_text_add(out, "</details>");
  }
  pc_text_add(out, "</figcaption></figure>\n");
}

static void page_html_figures(const pcal_report *report, pc_text *out) {
  if (report->figure_count == 0)
    return;
  pc_text_add(out, "<section aria-labelledby=\"figures\"><h2 id=\"figures\">Figures</h2>\n"
                   "<div class=\"figures\">\n");
  for (size_t i = 0; i < report->figure_count; i++)
    page_html_figure(report, &report->figures[i], out);
  pc_text_add(out, "</div></section>\n");
}

/* ---- notes ---- */

static void page_html_calibrator(const pcal_report *report, pc_text *out) {
  if (!report->repaired)
    return;
  pc_text_add(out, "<section aria-labelledby=\"calibrator\"><h2 id=\"calibrator\">The "
                   "calibrator</h2>\n<p><code>");
  pc_text_markup(out, report->method);
  pc_text_add(out, "</code> was ");
  pc_page_calibrator_origin(report, out);
  pc_text_add(out, ".</p>\n<pre tabindex=\"0\">");
  pc_text_markup_lines(out, report->described.bytes);
  pc_text_add(out, "</pre></section>\n");
}

static void page_html_problems(const pcal_report *report, pc_text *out) {
  pc_text_add(out, "<section aria-labelledby=\"data\"><h2 id=\"data\">Data</h2>\n<ul>\n");
  for (size_t i = 0;; i++) {
    pc_text sentence;
    pc_text_init(&sentence, out->env);
    const int more = pc_page_problem(report, i, &sentence);
    if (more || i == 0) {
      pc_text_add(out, more ? "<li>" : "<li class=\"fine\">");
      pc_text_markup(out, more ? sentence.bytes : "No problems: every row can be measured.");
      pc_text_add(out, "</li>\n");
    }
    out->failed |= sentence.failed;
    pc_text_free(&sentence);
    if (!more)
      break;
  }
  pc_text_add(out, "</ul></section>\n");
}

/* Writes a command so that lines break between words only. */
static void page_html_command(const char *command, size_t length, pc_text *out) {
  for (size_t at = 0; at < length;) {
    size_t end = at;
    while (end < length && command[end] != ' ')
      end++;
    pc_text_add(out, "<i>");
    page_html_bytes(command + at, end - at, out);
    pc_text_add(out, end < length ? "</i> " : "</i>");
    at = end + 1;
  }
}

/* Writes a line for each command; long ones continue indented. */
static void page_html_commands(const pcal_report *report, pc_text *out) {
  pc_text commands;
  pc_text_init(&commands, out->env);
  pc_page_commands(report, &commands);
  pc_text_add(out, "<section aria-labelledby=\"commands\"><h2 id=\"commands\">Reproduce this "
                   "report</h2>\n<pre tabindex=\"0\" class=\"commands\">");
  for (const char *at = commands.failed ? "" : commands.bytes; *at != '\0';) {
    const size_t length = strcspn(at, "\n");
    pc_text_add(out, "<span>");
    page_html_command(at, length, out);
    pc_text_add(out, "\n</span>");
    at += length + (at[length] == '\n');
  }
  pc_text_add(out, "</pre></section>\n");
  out->failed |= commands.failed;
  pc_text_free(&commands);
}

static void page_html_notes(const pcal_report *report, pc_text *out) {
  page_html_calibrator(report, out);
  page_html_problems(report, out);
  page_html_commands(report, out);
  pc_text_add(out, "<section aria-labelledby=\"conventions\"><h2 id=\"conventions\">Conventions"
                   "</h2>\n<details><summary>Every metric with all its options, formula and "
                   "interval method</summary>\n");
  pc_page_conventions(report, out);
  pc_text_add(out, "</details></section>\n<section aria-labelledby=\"sources\">"
                   "<h2 id=\"sources\">Sources</h2>\n");
  pc_page_citations(report, out);
  pc_text_add(out, "</section>\n");
}

/* ---- entry point ---- */

/* Escapes every '<', which JSON has only inside strings. */
static void page_html_json(const pcal_report *report, pc_text *out) {
  pc_text json;
  pc_text_init(&json, out->env);
  pc_page_json(report, &json);
  pc_text_add(out, "<script type=\"application/json\" id=\"report\">\n");
  for (const char *at = json.failed ? "" : json.bytes; *at != '\0';) {
    const size_t plain = strcspn(at, "<");
    pc_text_add_bytes(out, at, plain);
    at += plain;
    if (*at == '<') {
      pc_text_add(out, "\\u003c");
      at++;
    }
  }
  pc_text_add(out, "</script>\n");
  out->failed |= json.failed;
  pc_text_free(&json);
}

static void page_html_body(const pcal_report *report, pc_text *out) {
  if (report->preset != NULL) {
    report->preset->html(report, out);
  } else {
    page_html_opening(report, out);
    pc_page_coverage_table(report, out);
    page_html_figures(report, out);
    pc_page_group_table(report, out);
    pc_page_class_table(report, out);
    pc_page_comparison_table(report, out);
  }
  page_html_notes(report, out);
}

void pc_page_html(const pcal_report *report, pc_text *out) {
  page_html_head(report, out);
  page_html_top(report, out);
  page_html_body(report, out);
  pc_text_add(out, "</main>\n<footer>propercal " PCAL_VERSION
                   ". The page also contains its numbers as JSON.</footer>\n"
                   "<div id=\"hint\" role=\"status\" hidden></div>\n");
  page_html_json(report, out);
  pc_text_add(out, "<script>\n");
  pc_text_add(out, pc_page_js);
  pc_text_add(out, "</script>\n</body>\n</html>\n");
}
