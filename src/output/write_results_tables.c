/* Results as tables: text for a terminal, CSV and Markdown. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "output/table.h"
#include "output/table_row.h"
#include "output/verdict.h"
#include "output/write_results.h"

/* ---- text ---- */

static size_t tables_label_width(const pcal_results *results) {
  size_t width = strlen("metric");
  for (size_t m = 0; m < results->metric_count; m++) {
    const size_t here = pc_text_width(results->records[m].label);
    width = here > width ? here : width;
  }
  return width;
}

/* Number of parts listed below the value of a result. */
static size_t tables_parts(const pcal_results *results, const pc_result_record *record) {
  const pc_metric *metric = pc_metric_find_for(results->layout.form, record->metric);
  const int shown = metric != NULL && (metric->traits & PC_PARTS_IN_TEXT) != 0;
  return shown ? record->outcome.part_count : 0;
}

/* Width of the column of names; parts are indented by two. */
static size_t tables_text_width(const pcal_results *results) {
  size_t width = tables_label_width(results);
  for (size_t m = 0; m < results->metric_count; m++)
    for (size_t p = 0; p < tables_parts(results, &results->records[m]); p++) {
      const size_t here = strlen(results->records[m].outcome.parts[p].name) + 2;
      width = here > width ? here : width;
    }
  return width;
}

static void tables_text_metric(const pcal_results *results, const pc_result_record *record,
                               size_t width, pc_text *out) {
  const char *bound = pc_bound_text(record);
  pc_text_add(out, "  ");
  pc_write_padded(record->label, width, 0, out);
  pc_write_padded_value(record, 12, out);
  pc_write_uncertainty(record, "  ", out);
  pc_text_format(out, "%s%s", bound[0] == '\0' ? "" : "  ", bound);
  pc_write_p_value(record, "  ", out);
  pc_text_add(out, "\n");
  for (size_t p = 0; p < tables_parts(results, record); p++) {
    char digits[PC_NUMBER_MAX];
    pc_number_round(record->outcome.parts[p].value, 5, digits);
    pc_text_add(out, "    ");
    pc_write_padded(record->outcome.parts[p].name, width - 2, 0, out);
    pc_write_padded(digits, 12, 1, out);
    pc_write_part_interval(record, p, "  ", out);
    pc_text_add(out, "\n");
  }
}

static void tables_text_metrics(const pcal_results *results, pc_text *out) {
  const size_t width = tables_text_width(results);
  for (size_t n = 0; n <= pc_notion_count(); n++) {
    const pcal_registry_row *notion = pc_calibration_notion_at(n);
    int first = 1;
    for (size_t m = 0; m < results->metric_count; m++) {
      if (pc_notion_index(&results->records[m]) != n)
        continue;
      if (first && notion != NULL)
        pc_text_format(out, "%s\n", pc_notion_title_for(results, notion));
      else if (first)
        pc_text_add(out, "other\n");
      first = 0;
      tables_text_metric(results, &results->records[m], width, out);
    }
  }
}

static const char tables_injective[] =
    "one model is an injective function of the other, so this is also the difference of its "
    "calibration error (Gruber & Buettner 2022, Proposition 4.5)";

/* Writes before, label, behind, remark, after; nothing without a remark. */
static void tables_remark(const pc_result_record *record, const char *before,
                          const char *behind, const char *after, pc_text *out) {
  const char *remark = record->interval_result.why;
  if (remark[0] != '\0')
    pc_text_format(out, "%s%s%s%s%s", before, record->label, behind, remark, after);
}

static void tables_few(const pcal_results *results, pc_text *out) {
  pc_text sentence;
  if (pc_few_rows_remark(results) == NULL)
    return;
  pc_text_init(&sentence, out->env);
  pc_text_format(&sentence, "unsure: %s", pc_few_rows_remark(results));
  pc_write_paragraph(PCAL_TEXT, sentence.failed ? "" : sentence.bytes, 80, out);
  out->failed |= sentence.failed;
  pc_text_free(&sentence);
}

/* Writes a paragraph, unless it is empty, and frees it. */
static void tables_paragraph(pc_text *paragraph, pc_text *out) {
  if (paragraph->length > 0)
    pc_write_paragraph(PCAL_TEXT, paragraph->failed ? "" : paragraph->bytes, 80, out);
  out->failed |= paragraph->failed;
  pc_text_free(paragraph);
}

static void tables_against(const pcal_results *results, pc_text *out) {
  pc_text paragraph;
  pc_text_init(&paragraph, out->env);
  pc_write_difference_note(results, "against", &paragraph);
  tables_paragraph(&paragraph, out);
}

static void tables_device(const pcal_results *results, pc_text *out) {
  pc_text paragraph;
  pc_text_init(&paragraph, out->env);
  pc_write_device_note(results, &paragraph);
  tables_paragraph(&paragraph, out);
}

static void tables_remark_line(const pc_result_record *record, const char *words,
                               pc_text *out) {
  pc_text_format(out, "%s: ", record->label);
  pc_text_terminal(out, words);
  pc_text_add(out, "\n");
}

static void tables_notes(const pcal_results *results, pc_text *out) {
  for (size_t m = 0; m < results->metric_count; m++) {
    const pc_result_record *record = &results->records[m];
    if (record->outcome.why[0] != '\0')
      tables_remark_line(record, record->outcome.why, out);
    tables_remark(record, "", ": ", "\n", out);
    if (record->interval_result.difference_of_calibration)
      pc_text_format(out, "%s: %s\n", record->label, tables_injective);
  }
  tables_few(results, out);
  tables_against(results, out);
  tables_device(results, out);
}

void pc_write_results_text(const pcal_results *results, pc_text *out) {
  pc_write_data_summary(results, out);
  pc_text_add(out, "\n");
  for (size_t c = 0; c < results->class_count && c < 12; c++) {
    pc_text_add(out, c == 0 ? "classes: " : ", ");
    pc_text_terminal(out, results->class_names[c]);
  }
  if (results->class_count > 0)
    pc_text_add(out, results->class_count > 12 ? ", ...\n" : "\n");
  pc_text_add(out, "\n");
  tables_text_metrics(results, out);
  tables_notes(results, out);
  if (results->group_count > 0)
    pc_write_groups_text(results, tables_label_width(results), out);
  if (results->layout.form == PC_FORM_DISTANCES) /* there is no verdict */
    return;
  pc_text_add(out, "\n");
  const char *verdict = pc_verdict_sentences(results, &out->failed);
  pc_write_paragraph(PCAL_TEXT, verdict == NULL ? "" : verdict, 80, out);
}

/* ---- CSV: one line for each value and part ---- */

/* note: the reason of an undefined value, or a word in place of a number. */
static void tables_csv_row(const pcal_results *results, const pc_result_record *record,
                           const char *part, double value, int undefined, const char *note,
                           pc_text *out) {
  const int all = record->group == PC_ALL_ROWS;
  pc_table_row row = pc_table_row_new(PCAL_CSV, out);
  pc_table_row_word(&row, record->metric);
  pc_table_row_word(&row, record->spec);
  pc_table_row_word(&row, all ? "" : results->group_names[record->group]);
  pc_table_row_word(&row, part);
  pc_table_row_begin_cell(&row);
  if (!undefined)
    pc_text_number(out, value);
  pc_table_row_word(&row, pcal_notion_name(record->notion));
  pc_table_row_word(&row, pcal_bound_name(record->bound));
  pc_table_row_word(&row, note);
  pc_table_row_begin_cell(&row);
  pc_text_number(out, all ? results->weight : results->group_weights[record->group]);
  pc_table_row_end(&row);
}

static void tables_csv_line(const pcal_results *results, const pc_result_record *record,
                            const char *part, double value, int undefined, pc_text *out) {
  tables_csv_row(results, record, part, value, undefined,
                 part[0] == '\0' ? record->outcome.why : "", out);
}

static void tables_csv_uncertainty(const pcal_results *results, const pc_result_record *record,
                                   pc_text *out) {
  const pc_interval_result *interval_result = &record->interval_result;
  if (interval_result->has_interval) {
    tables_csv_line(results, record, "low", interval_result->low, 0, out);
    tables_csv_line(results, record, "high", interval_result->high, 0, out);
    tables_csv_line(results, record, "se", interval_result->se, 0, out);
  }
  if (interval_result->has_null) {
    tables_csv_line(results, record, "null_mean", interval_result->null_mean, 0, out);
    tables_csv_line(results, record, "null_low", interval_result->null_low, 0, out);
    tables_csv_line(results, record, "null_high", interval_result->null_high, 0, out);
    tables_csv_line(results, record, "null_p_value", interval_result->null_p_value, 0, out);
  }
  if (interval_result->has_difference)
    tables_csv_line(results, record, "difference", interval_result->difference, 0, out);
  if (interval_result->has_difference_interval) {
    tables_csv_line(results, record, "difference_low", interval_result->difference_low, 0, out);
    tables_csv_line(results, record, "difference_high", interval_result->difference_high, 0,
                    out);
    tables_csv_line(results, record, "difference_p_value", interval_result->difference_p_value,
                    0, out);
    tables_csv_row(results, record, "difference_method", 0, 1,
                   pc_paired_method_name(interval_result->difference_method), out);
  }
  if (interval_result->has_difference_interval && results->against.known) {
    tables_csv_line(results, record, "difference_rows", (double)results->against.differ, 0,
                    out);
  }
  if (interval_result->difference_of_calibration)
    tables_csv_line(results, record, "difference_of_calibration", interval_result->difference,
                    0, out);
  char room[PC_INTERVAL_REMARKS_MAX];
  const char *unsure = pc_interval_remarks(interval_result, room);
  if (unsure[0] != '\0')
    tables_csv_row(results, record, "unsure", 0, 1, unsure, out);
}

/* Writes a part, and its interval as name_low, name_high and name_se. */
static void tables_csv_part(const pcal_results *results, const pc_result_record *record,
                            size_t part, pc_text *out) {
  static const char *const ends[] = {"low", "high", "se"};
  const pc_part_interval *interval_result = &record->part_interval_results[part];
  const double values[] = {interval_result->low, interval_result->high, interval_result->se};
  const char *name = record->outcome.parts[part].name;
  const double value = record->outcome.parts[part].value;
  tables_csv_line(results, record, name, value, isnan(value), out);
  for (size_t i = 0; interval_result->has_interval && i < 3; i++) {
    char end[64];
    snprintf(end, sizeof end, "%.50s_%s", name, ends[i]);
    tables_csv_line(results, record, end, values[i], 0, out);
  }
}

/* Writes "data,data,,abstained_rows,N". */
static void tables_csv_abstained(const pcal_results *results, pc_text *out) {
  pc_table_row row = pc_table_row_new(PCAL_CSV, out);
  pc_table_row_word(&row, "data");
  pc_table_row_word(&row, "data");
  pc_table_row_word(&row, "");
  pc_table_row_word(&row, "abstained_rows");
  pc_table_row_begin_cell(&row);
  pc_text_number(out, (double)results->abstained);
  for (int empty = 0; empty < 3; empty++)
    pc_table_row_word(&row, "");
  pc_table_row_begin_cell(&row);
  pc_text_number(out, results->weight);
  pc_table_row_end(&row);
}

void pc_write_results_csv(const pcal_results *results, pc_text *out) {
  pc_text_add(out, "metric,spec,group,part,value,notion,bound,why,weight\n");
  pc_result_record room;
  for (size_t i = 0; i < results->count; i++) {
    const pc_result_record *record = pc_results_at(results, i, &room);
    const pc_metric_result *outcome = &record->outcome;
    tables_csv_line(results, record, "", outcome->value, outcome->undefined, out);
    if (outcome->tested)
      tables_csv_line(results, record, "p_value", outcome->p_value, 0, out);
    tables_csv_uncertainty(results, record, out);
    for (size_t p = 0; p < outcome->part_count; p++)
      tables_csv_part(results, record, p, out);
  }
  if (results->abstains)
    tables_csv_abstained(results, out);
}

/* ---- Markdown ---- */

/* The number of groups that are columns; many groups are lines of a table of their own. */
static size_t tables_markdown_groups(const pcal_results *results) {
  return results->group_count > PC_GROUP_COLUMNS_SHOWN ? 0 : results->group_count;
}

static void tables_markdown_row(const pcal_results *results, size_t metric, pc_text *out) {
  const pc_result_record *record = &results->records[metric];
  pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
  pc_table_row_name(&row, record->label);
  pc_table_row_begin_cell(&row);
  pc_write_value(record, out);
  pc_write_uncertainty(record, " ", out);
  pc_write_p_value(record, ", ", out);
  pc_table_row_word(&row, pc_notion_name_for(results, record));
  pc_table_row_word(&row, pc_bound_text(record));
  for (size_t g = 0; g < tables_markdown_groups(results); g++) {
    pc_result_record scratch;
    pc_table_row_begin_cell(&row);
    pc_write_value(pc_results_at(results, (g + 1) * results->metric_count + metric, &scratch),
                   out);
  }
  pc_table_row_end(&row);
}

static void tables_markdown_weights(const pcal_results *results, pc_text *out) {
  pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
  if (tables_markdown_groups(results) == 0)
    return;
  pc_table_row_word(&row, "weight");
  pc_table_row_begin_cell(&row);
  pc_write_count(results->weight, out);
  pc_table_row_word(&row, "");
  pc_table_row_word(&row, "");
  for (size_t g = 0; g < tables_markdown_groups(results); g++) {
    pc_table_row_begin_cell(&row);
    pc_write_count(results->group_weights[g], out);
  }
  pc_table_row_end(&row);
}

static void tables_markdown_head(const pcal_results *results, pc_text *out) {
  static const char *const columns[] = {"metric", "value", "estimates", "bound"};
  const size_t count = sizeof columns / sizeof *columns;
  pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
  for (size_t c = 0; c < count; c++)
    pc_table_row_word(&row, columns[c]);
  for (size_t g = 0; g < tables_markdown_groups(results); g++)
    pc_table_row_word(&row, results->group_names[g]);
  pc_table_row_end(&row);
  for (size_t c = 0; c < count + tables_markdown_groups(results); c++)
    pc_table_row_rule(&row, c == 1 || c >= count);
  pc_table_row_end(&row);
}

static void tables_markdown_why(const pc_result_record *record, pc_text *out) {
  pc_text_markdown_code(out, record->label);
  pc_text_add(out, ": ");
  pc_text_markdown(out, record->outcome.why);
  pc_text_add(out, "\n\n");
}

static void tables_markdown_paragraph(const char *paragraph, pc_text *out) {
  pc_text_markdown(out, paragraph);
  pc_text_add(out, "\n");
}

void pc_write_results_markdown(const pcal_results *results, pc_text *out) {
  pc_write_data_summary(results, out);
  pc_text_add(out, "\n\n");
  tables_markdown_head(results, out);
  tables_markdown_weights(results, out);
  for (size_t n = 0; n <= pc_notion_count(); n++)
    for (size_t m = 0; m < results->metric_count; m++)
      if (pc_notion_index(&results->records[m]) == n)
        tables_markdown_row(results, m, out);
  pc_text_add(out, "\n");
  if (results->group_count > PC_GROUP_COLUMNS_SHOWN)
    pc_write_groups_markdown(results, out);
  for (size_t m = 0; m < results->metric_count; m++) {
    if (results->records[m].outcome.why[0] != '\0')
      tables_markdown_why(&results->records[m], out);
    tables_remark(&results->records[m], "`", "`: ", "\n\n", out);
    if (results->records[m].interval_result.difference_of_calibration)
      pc_text_format(out, "`%s`: %s\n\n", results->records[m].label, tables_injective);
  }
  if (pc_few_rows_remark(results) != NULL)
    pc_text_format(out, "unsure: %s\n\n", pc_few_rows_remark(results));
  const size_t length = out->length;
  pc_write_difference_note(results, "against", out);
  pc_text_add(out, out->length > length ? "\n\n" : "");
  const size_t noted = out->length;
  pc_write_device_note(results, out);
  pc_text_add(out, out->length > noted ? "\n\n" : "");
  if (results->verdict != NULL)
    pc_verdict_paragraphs(results, results->env.caller, tables_markdown_paragraph, out);
}
