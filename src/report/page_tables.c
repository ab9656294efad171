/* Tables of a report's page. */
#include <math.h>
#include <string.h>

#include "base/markup.h"
#include "base/number.h"
#include "figure/class_chance.h"
#include "output/table_row.h"
#include "report/page_cells.h"

const pcal_registry_row *pc_page_metric_row(const pcal_results *results,
                                            const pc_result_record *record) {
  return &pc_metric_find_for(results->layout.form, record->metric)->row;
}

/* ---- metrics ---- */

static void page_key_value(const pc_result_record *record, const char *kind, pc_text *out) {
  pc_page_cell_open_as(kind, record->outcome.undefined ? (double)NAN : record->outcome.value,
                       out);
  pc_text_add(out, "<b>");
  pc_write_value(record, out);
  pc_text_add(out, "</b>");
  pc_page_cell_interval(record->interval_result.has_interval, record->interval_result.low,
                        record->interval_result.high, out);
  pc_text_add(out, record->interval_result.few_rows[0] != '\0'
                       ? " <span class=\"ci\">unsure</span>"
                       : "");
  pc_write_p_value(record, " ", out);
  pc_text_add(out, "</td>");
}

static void page_key_change(const pc_result_record *record, pc_text *out) {
  const pc_interval_result *interval_result = &record->interval_result;
  if (!interval_result->has_difference) {
    pc_page_cell_open((double)NAN, out);
    pc_text_add(out, "\xE2\x80\x93</td>");
    return;
  }
  pc_page_cell_open(interval_result->difference, out);
  pc_text_add(out, interval_result->difference > 0 ? "+" : "");
  pc_write_number(interval_result->difference, out);
  pc_page_cell_interval(interval_result->has_difference_interval,
                        interval_result->difference_low, interval_result->difference_high, out);
  pc_text_add(out, "</td>");
}

static void page_key_row(const pcal_report *report, size_t metric, pc_text *out) {
  const pcal_results *before = report->side[PC_PAGE_BEFORE].key;
  const pcal_results *after = report->side[PC_PAGE_AFTER].key;
  const pc_result_record *record = &before->records[metric];
  pc_text_add(out, "<tr><th scope=\"row\"><code>");
  pc_text_markup(out, record->label);
  pc_text_add(out, "</code> <span class=\"what\">");
  pc_text_markup(out, pc_page_metric_row(before, record)->title);
  pc_text_add(out, "</span></th>");
  page_key_value(record, after != NULL ? "num t-before" : "num", out);
  if (after != NULL) {
    page_key_value(&after->records[metric], "num t-after", out);
    page_key_change(&after->records[metric], out);
  }
  pc_text_format(out, "<td class=\"bound\">%s</td></tr>\n", pc_bound_text(record));
}

static void page_key_notion(const pcal_report *report, size_t notion, pc_text *out) {
  const pcal_results *before = report->side[PC_PAGE_BEFORE].key;
  const pcal_registry_row *row = pc_calibration_notion_at(notion);
  int first = 1;
  for (size_t m = 0; m < before->metric_count; m++) {
    if (pc_notion_index(&before->records[m]) != notion)
      continue;
    if (first) {
      pc_text_format(out, "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%d\">",
                     report->repaired ? 5 : 3);
      pc_text_add(out, "<span>");
      pc_text_markup(out, row == NULL ? "other" : pc_notion_title_for(before, row));
      pc_text_add(out, "</span></th></tr>\n");
    }
    first = 0;
    page_key_row(report, m, out);
  }
  if (!first)
    pc_text_add(out, "</tbody>\n");
}

/* Explains the column of changes. */
static void page_key_against(const pcal_report *report, pc_text *out) {
  pc_text paragraph;
  pc_text_init(&paragraph, out->env);
  if (report->repaired)
    pc_write_difference_note(report->side[PC_PAGE_AFTER].key, "change", &paragraph);
  if (paragraph.length > 0 && !paragraph.failed) {
    pc_text_add(out, "<p class=\"what\">");
    pc_text_markup(out, paragraph.bytes);
    pc_text_add(out, "</p>\n");
  }
  out->failed |= paragraph.failed;
  pc_text_free(&paragraph);
}

void pc_page_key_table(const pcal_report *report, pc_text *out) {
  char level[PC_NUMBER_MAX];
  pc_text caption;
  pc_text_init(&caption, out->env);
  pc_text_add(&caption, "Metrics");
  if (report->level > 0) {
    pc_number_format(floor(1e4 * report->level + 0.5) / 100, level);
    pc_text_format(&caption, ", with %s %% intervals", level);
  }
  pc_page_table_open(caption.failed ? "" : caption.bytes, out);
  out->failed |= caption.failed;
  pc_text_free(&caption);
  pc_page_table_head("metric", "", out);
  pc_page_table_head(report->repaired ? "before" : "value",
                     report->repaired ? "num t-before" : "num", out);
  if (report->repaired) {
    pc_page_table_head("after", "num t-after", out);
    pc_page_table_head("change", "num", out);
  }
  pc_page_table_head("bound", "bound", out);
  pc_text_add(out, "</tr></thead>\n");
  for (size_t n = 0; n <= pc_notion_count(); n++)
    page_key_notion(report, n, out);
  pc_text_add(out, "</table></div>\n");
  page_key_against(report, out);
}

/* ---- classes ---- */

/* Finds the record over all classes; returns 0 if there is none. */
static int page_class_record(const pcal_report *report, const pc_result_record **record) {
  const pcal_results *drawn = report->side[PC_PAGE_BEFORE].drawn;
  *record = drawn == NULL ? NULL : pc_results_record(drawn, "sce");
  return *record != NULL && pc_graph_column(&(*record)->outcome.graph, "class") != NULL;
}

pc_page_class pc_page_class_means(const pc_result_record *record, size_t class) {
  const pc_plot_table *graph = &record->outcome.graph;
  const double *classes = pc_graph_column(graph, "class");
  const double *weight = pc_graph_column(graph, "weight");
  const double *confidence = pc_graph_column(graph, "confidence");
  const double *accuracy = pc_graph_column(graph, "accuracy");
  double total = 0;
  pc_page_class sums = {0, 0};
  for (size_t i = 0; i < graph->count; i++) {
    if (classes[i] != (double)class || !(weight[i] > 0))
      continue;
    total += weight[i];
    sums.claimed += weight[i] * confidence[i];
    sums.observed += weight[i] * accuracy[i];
  }
  return (pc_page_class){sums.claimed / total, sums.observed / total};
}

/* The error of a class after calibration, and that of chance alone on the last side shown. */
static void page_class_after(const pcal_results *drawn, const pc_result_record *record,
                             const pcal_results *after, size_t class, pc_text *out) {
  const pc_result_record *mapped = after == NULL ? NULL : pc_results_record(after, "sce");
  if (after != NULL)
    pc_page_cell_number(mapped == NULL || mapped->outcome.class_values == NULL
                            ? (double)NAN
                            : mapped->outcome.class_values[class],
                        5, out);
  const pc_chance_ece chance = mapped == NULL ? pc_class_chance(drawn, record, class)
                                              : pc_class_chance(after, mapped, class);
  pc_page_cell_number(chance.mean, 5, out);
}

static void page_class_row(const pcal_report *report, const pc_result_record *record,
                           size_t class, pc_text *out) {
  const pcal_results *drawn = report->side[PC_PAGE_BEFORE].drawn;
  const pcal_results *after = report->side[PC_PAGE_AFTER].drawn;
  const pc_page_class sums = pc_page_class_means(record, class);
  char buffer[32];
  pc_text_add(out, "<tr><th scope=\"row\">");
  pc_text_markup(out, pc_class_display_name(drawn, class, buffer));
  pc_text_add(out, "</th>");
  pc_page_cell_count(floor(sums.observed * drawn->weight + 0.5), out);
  pc_page_cell_number_as(PC_PAGE_LESS, 100 * sums.claimed, 2, out);
  pc_page_cell_number_as(PC_PAGE_LESS, 100 * sums.observed, 2, out);
  pc_page_cell_number_as(PC_PAGE_LESS, 100 * (sums.claimed - sums.observed), 2, out);
  pc_page_cell_number(record->outcome.class_values[class], 5, out);
  page_class_after(drawn, record, after, class, out);
  pc_text_add(out, "</tr>\n");
}

static void page_class_head(const pcal_report *report, const pc_class_order *order,
                            pc_text *out) {
  pc_text caption;
  pc_text_init(&caption, out->env);
  pc_text_format(&caption, "Classes: %zu of %zu, those with the largest error first",
                 order->count, order->total);
  pc_page_table_open(caption.failed ? ""
                     : order->count < order->total
                         ? caption.bytes
                         : "Classes, those with the largest error first",
                     out);
  out->failed |= caption.failed;
  pc_text_free(&caption);
  pc_page_table_head("class", "", out);
  pc_page_table_head("rows", "num", out);
  pc_page_table_head("claimed, %", PC_PAGE_LESS, out);
  pc_page_table_head("observed, %", PC_PAGE_LESS, out);
  pc_page_table_head("difference", PC_PAGE_LESS, out);
  pc_page_table_head(report->repaired ? "error before" : "error", "num", out);
  if (report->repaired)
    pc_page_table_head("error after", "num", out);
  pc_page_table_head("chance alone", "num", out);
  pc_text_add(out, "</tr></thead>\n<tbody>\n");
}

void pc_page_class_table(const pcal_report *report, pc_text *out) {
  const pc_result_record *record;
  pc_class_order order;
  if (!page_class_record(report, &record))
    return;
  if (pc_class_order_make(&report->env, &record->outcome, PC_PAGE_CLASSES, 1, &order, NULL) !=
      PCAL_OK) {
    out->failed = 1;
    return;
  }
  pc_text_add(
      out, "<section aria-labelledby=\"classes\"><h2 id=\"classes\">Class by class</h2>\n"
           "<p>The mean predicted probability of each class, its frequency, and its "
           "calibration error in 15 bins (its contribution to <code>sce</code>). Chance alone: "
           "the mean error of a calibrated model with the same scores.</p>\n");
  page_class_head(report, &order, out);
  for (size_t i = 0; i < order.count; i++)
    page_class_row(report, record, order.classes[i], out);
  pc_page_table_close(out);
  pc_text_add(out, "</section>\n");
  pc_class_order_free(&report->env, &order);
}

/* ---- groups ---- */

#define PAGE_GROUP_METRICS 6

/* Metrics of the table of groups: those that the reader asked for, else some that say most. */
static size_t page_group_metrics(const pcal_report *report, size_t out[PAGE_GROUP_METRICS]) {
  static const char *const names[] = {"accuracy", "brier", "log",      "ece",           "ks",
                                      "smece",    "crps",  "coverage", "variance-ratio"};
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  size_t count = 0;
  for (size_t m = 0; m < results->metric_count; m++) {
    int wanted = report->chosen_metrics;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      wanted |= strcmp(names[i], results->records[m].metric) == 0;
    if (wanted && count < PAGE_GROUP_METRICS)
      out[count++] = m;
  }
  return count;
}

static void page_group_row(const pcal_results *results, size_t group, const size_t *metrics,
                           size_t count, pc_text *out) {
  pc_result_record room;
  pc_text_add(out, "<tr><th scope=\"row\">");
  pc_text_markup(out, results->group_names[group]);
  pc_text_add(out, "</th>");
  pc_page_cell_count(results->group_weights[group], out);
  for (size_t i = 0; i < count; i++) {
    const pc_metric_result *outcome =
        &pc_results_at(results, (group + 1) * results->metric_count + metrics[i], &room)
             ->outcome;
    pc_page_cell_number(outcome->undefined ? (double)NAN : outcome->value, 5, out);
  }
  pc_text_add(out, "</tr>\n");
}

/* A line for each metric with the worst groups, if there are many. */
static void page_group_worst(const pcal_results *results, const size_t *metrics, size_t count,
                             pc_text *out) {
  size_t worst[PC_WORST_GROUPS];
  for (size_t i = 0; i < count; i++) {
    if (pc_worst_groups(results, metrics[i], worst) == 0)
      continue;
    pc_text_add(out, "<p><code>");
    pc_text_markup(out, results->records[metrics[i]].label);
    pc_text_add(out, "</code>, ");
    pc_write_worst_groups(results, metrics[i], pc_text_markup, out);
    pc_text_add(out, "</p>\n");
  }
}

static void page_group_side(const pcal_report *report, pc_page_time time, pc_text *out) {
  const pcal_results *results = report->side[time].key;
  size_t metrics[PAGE_GROUP_METRICS];
  const size_t count = page_group_metrics(report, metrics);
  if (results == NULL || results->group_count == 0)
    return;
  pc_page_table_open(!report->repaired        ? "Groups"
                     : time == PC_PAGE_BEFORE ? "Groups, before calibration"
                                              : "Groups, after calibration",
                     out);
  pc_page_table_head("group", "", out);
  pc_page_table_head(results->weighted ? "weight" : "rows", "num", out);
  for (size_t i = 0; i < count; i++)
    pc_page_table_head(results->records[metrics[i]].label, "num", out);
  pc_text_add(out, "</tr></thead>\n<tbody>\n");
  for (size_t g = 0; g < results->group_count; g++)
    page_group_row(results, g, metrics, count, out);
  pc_page_table_close(out);
  page_group_worst(results, metrics, count, out);
}

void pc_page_group_table(const pcal_report *report, pc_text *out) {
  if (report->side[PC_PAGE_BEFORE].key->group_count == 0)
    return;
  pc_text_add(out,
              "<section aria-labelledby=\"groups\"><h2 id=\"groups\">Group by group</h2>\n"
              "<p>The same metrics for the rows of each group alone. Calibration errors of "
              "small groups are larger by chance.</p>\n");
  page_group_side(report, PC_PAGE_BEFORE, out);
  page_group_side(report, PC_PAGE_AFTER, out);
  pc_text_add(out, "</section>\n");
}

void pc_page_group_markdown(const pcal_report *report, pc_text *out) {
  const pcal_results *results = report->side[PC_PAGE_BEFORE].key;
  size_t metrics[PAGE_GROUP_METRICS];
  const size_t count = page_group_metrics(report, metrics);
  pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
  pc_result_record room;
  if (results->group_count == 0)
    return;
  pc_text_add(out, "## Groups\n\n");
  pc_table_row_word(&row, "group");
  pc_table_row_word(&row, results->weighted ? "weight" : "rows");
  for (size_t i = 0; i < count; i++)
    pc_table_row_name(&row, results->records[metrics[i]].label);
  pc_table_row_end(&row);
  for (size_t c = 0; c < count + 2; c++)
    pc_table_row_rule(&row, c > 0);
  pc_table_row_end(&row);
  for (size_t g = 0; g < results->group_count; g++) {
    pc_table_row_word(&row, results->group_names[g]);
    pc_table_row_begin_cell(&row);
    pc_write_count(results->group_weights[g], out);
    for (size_t i = 0; i < count; i++) {
      pc_table_row_begin_cell(&row);
      pc_write_value(
          pc_results_at(results, (g + 1) * results->metric_count + metrics[i], &room), out);
    }
    pc_table_row_end(&row);
  }
  pc_text_add(out, "\n");
  for (size_t i = 0; i < count; i++) {
    size_t worst[PC_WORST_GROUPS];
    if (pc_worst_groups(results, metrics[i], worst) == 0)
      continue;
    pc_text_markdown_code(out, results->records[metrics[i]].label);
    pc_text_add(out, ": ");
    pc_write_worst_groups(results, metrics[i], pc_text_markdown, out);
    pc_text_add(out, "\n\n");
  }
}

/* ---- bins ---- */

void pc_page_bin_table(const pcal_results *results, pc_text *out) {
  pc_page_table_open("The bins of the diagram", out);
  pc_page_table_head("from", "num", out);
  pc_page_table_head("to", "num", out);
  pc_page_table_head("rows", "num", out);
  pc_page_table_head("claimed, %", "num", out);
  pc_page_table_head("observed, %", "num", out);
  pc_page_table_head("difference", "num", out);
  pc_text_add(out, "</tr></thead>\n<tbody>\n");
  for (size_t b = 0; b < results->bin_count; b++) {
    const pc_bin *bin = &results->bins[b];
    if (!(bin->weight > 0))
      continue;
    const double claimed = pc_bin_confidence(bin), observed = pc_bin_frequency(bin);
    pc_text_add(out, "<tr>");
    pc_page_cell_number(bin->low, 3, out);
    pc_page_cell_number(bin->high, 3, out);
    pc_page_cell_count(bin->weight, out);
    pc_page_cell_number(100 * claimed, 1, out);
    pc_page_cell_number(100 * observed, 1, out);
    pc_page_cell_number(100 * (claimed - observed), 1, out);
    pc_text_add(out, "</tr>\n");
  }
  pc_page_table_close(out);
}

/* ---- comparison ---- */

static void page_comparison_value(const pc_result_record *record, pc_text *out) {
  pc_page_cell_open(record->outcome.undefined ? (double)NAN : record->outcome.value, out);
  pc_write_value(record, out);
  pc_text_add(out, "</td>");
}

static void page_comparison_row(const pcal_comparison *table, const pc_contestant *here,
                                pc_text *out) {
  const size_t metrics = table->contestants[0].results->metric_count;
  const pc_gain *gain = here->gains == NULL ? NULL : &here->gains[0];
  pc_text_format(out, "<tr%s><th scope=\"row\"><code>",
                 here == &table->contestants[table->chosen] ? " class=\"chosen\"" : "");
  pc_text_markup(out, here->label);
  pc_text_format(
      out, "</code>%s</th>",
      here == &table->contestants[table->chosen] ? " <span class=\"what\">chosen</span>" : "");
  pc_page_cell_open(here->rank > 0 ? (double)here->rank : (double)NAN, out);
  pc_text_format(out, "%zu</td>", here->rank);
  const int known = gain != NULL && gain->known && here != table->contestants;
  pc_page_cell_open(known ? gain->value : (double)NAN, out);
  if (known) {
    pc_write_number(gain->value, out);
    pc_page_cell_interval(gain->sure, gain->low, gain->high, out);
  }
  pc_text_add(out, "</td>");
  for (size_t m = 0; m < metrics; m++)
    page_comparison_value(&here->results->records[m], out);
  pc_page_cell_word(here->status, out);
  pc_text_add(out, "</tr>\n");
}

static void page_comparison_refused(const pcal_comparison *table, pc_text *out) {
  size_t refused = 0;
  for (size_t i = 0; i < table->count; i++)
    refused += table->contestants[i].results == NULL;
  if (refused == 0)
    return;
  pc_text_format(out, "<details><summary>%zu method%s not judged</summary><ul>\n", refused,
                 refused == 1 ? " was" : "s were");
  for (size_t i = 0; i < table->count; i++)
    if (table->contestants[i].results == NULL) {
      pc_text_add(out, "<li><code>");
      pc_text_markup(out, table->contestants[i].label);
      pc_text_add(out, "</code>: ");
      pc_text_markup(out, table->contestants[i].why);
      pc_text_add(out, "</li>\n");
    }
  pc_text_add(out, "</ul></details>\n");
}

void pc_page_comparison_table(const pcal_report *report, pc_text *out) {
  const pcal_comparison *table = report->comparison;
  pc_text advice;
  if (table == NULL)
    return;
  pc_text_init(&advice, out->env);
  pc_write_comparison_advice(table, &advice);
  pc_text_add(
      out,
      "<section aria-labelledby=\"methods\"><h2 id=\"methods\">Calibration methods</h2>\n<p>");
  pc_text_markup_lines(out, advice.bytes);
  pc_text_add(out, "</p>\n");
  out->failed |= advice.failed;
  pc_text_free(&advice);
  pc_page_table_open("Methods, fitted to the second set and judged on these rows", out);
  pc_page_table_head("method", "", out);
  pc_page_table_head("rank", "num", out);
  pc_page_table_head("gain", "num", out);
  for (size_t m = 0; m < table->contestants[0].results->metric_count; m++)
    pc_page_table_head(table->contestants[0].results->records[m].label, "num", out);
  pc_page_table_head("fit", "", out);
  pc_text_add(out, "</tr></thead>\n<tbody>\n");
  for (size_t rank = 1; rank <= table->count; rank++)
    for (size_t i = 0; i < table->count; i++)
      if (table->contestants[i].rank == rank)
        page_comparison_row(table, &table->contestants[i], out);
  pc_page_table_close(out);
  page_comparison_refused(table, out);
  pc_text_add(out, "</section>\n");
}
