/* A report for a pull request: verdict and table, before and after. */
#include "output/table_row.h"
#include "output/verdict.h"
#include "report/page_preset.h"

static void page_markdown_head(const pcal_report *report, pc_text *out) {
  pc_text_add(out, "# ");
  pc_text_markdown(out, pc_page_title(report));
  pc_text_add(out, "\n\n");
}

static void page_markdown_paragraph(const char *paragraph, pc_text *out) {
  pc_text_markdown(out, paragraph);
  pc_text_add(out, "\n\n");
}

static void page_markdown_verdict(const pcal_results *results, pc_text *out) {
  pc_verdict_paragraphs(results, results->env.caller, page_markdown_paragraph, out);
}

/* The value after calibration with its interval, and the change with its interval. */
static void page_markdown_after(const pc_result_record *record, pc_table_row *row) {
  const pc_interval_result *interval = &record->interval_result;
  pc_table_row_begin_cell(row);
  pc_write_value(record, row->out);
  if (interval->has_interval) {
    pc_text_add(row->out, " ");
    pc_write_interval(interval->low, interval->high, row->out);
    pc_text_add(row->out, interval->few_rows[0] != '\0' ? " unsure" : "");
  }
  pc_table_row_begin_cell(row);
  if (interval->has_difference) {
    pc_text_add(row->out, interval->difference > 0 ? "+" : "");
    pc_write_number(interval->difference, row->out);
  }
  if (interval->has_difference_interval) {
    pc_text_add(row->out, " ");
    pc_write_interval(interval->difference_low, interval->difference_high, row->out);
  }
}

static void page_markdown_row(const pcal_report *report, size_t metric, pc_text *out) {
  const pc_result_record *before = &report->side[PC_PAGE_BEFORE].key->records[metric];
  const pcal_results *after = report->side[PC_PAGE_AFTER].key;
  pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
  pc_table_row_name(&row, before->label);
  pc_table_row_begin_cell(&row);
  pc_write_value(before, out);
  pc_write_uncertainty(before, " ", out);
  pc_write_p_value(before, ", ", out);
  if (after != NULL)
    page_markdown_after(&after->records[metric], &row);
  pc_table_row_word(&row, pc_notion_name_for(report->side[PC_PAGE_BEFORE].key, before));
  pc_table_row_word(&row, pc_bound_text(before));
  pc_table_row_end(&row);
}

static void page_markdown_columns(const pcal_report *report, pc_text *out) {
  static const char *const plain[] = {"metric", "value", "estimates", "bound"};
  static const char *const repaired[] = {"metric", "before",    "after",
                                         "change", "estimates", "bound"};
  const char *const *columns = report->repaired ? repaired : plain;
  const size_t count = report->repaired ? 6 : 4;
  pc_table_row row = pc_table_row_new(PCAL_MARKDOWN, out);
  for (size_t c = 0; c < count; c++)
    pc_table_row_word(&row, columns[c]);
  pc_table_row_end(&row);
  for (size_t c = 0; c < count; c++)
    pc_table_row_rule(&row, c > 0 && c + 2 < count);
  pc_table_row_end(&row);
}

static void page_markdown_table(const pcal_report *report, pc_text *out) {
  const pcal_results *before = report->side[PC_PAGE_BEFORE].key;
  page_markdown_columns(report, out);
  for (size_t n = 0; n <= pc_notion_count(); n++)
    for (size_t m = 0; m < before->metric_count; m++)
      if (pc_notion_index(&before->records[m]) == n)
        page_markdown_row(report, m, out);
  pc_text_add(out, "\n");
}

static void page_markdown_problems(const pcal_report *report, pc_text *out) {
  for (size_t i = 0;; i++) {
    pc_text sentence;
    pc_text_init(&sentence, out->env);
    const int more = pc_page_problem(report, i, &sentence);
    if (more) {
      pc_text_add(out, i == 0 ? "## Problems of the data\n\n- " : "- ");
      pc_text_markdown(out, sentence.bytes);
      pc_text_add(out, "\n");
    }
    out->failed |= sentence.failed;
    pc_text_free(&sentence);
    if (!more) {
      pc_text_add(out, i > 0 ? "\n" : "");
      return;
    }
  }
}

static void page_markdown_brier(const pcal_report *report, pc_text *out) {
  const size_t before = out->length;
  pc_page_brier(report, out);
  pc_text_add(out, out->length > before ? "\n\n" : "");
}

static pcal_status page_markdown_ending(const pcal_report *report, pc_text *out,
                                        pcal_error *err) {
  page_markdown_problems(report, out);
  pc_text_add(out, "## Reproduce this report\n\n```\n");
  pc_page_commands(report, out);
  pc_text_format(out, "```\n\npropercal %s\n", PCAL_VERSION);
  return pc_text_status(out, err);
}

pcal_status pc_page_markdown(const pcal_report *report, pc_text *out, pcal_error *err) {
  page_markdown_head(report, out);
  if (report->preset != NULL) {
    report->preset->summary(report->side[PC_PAGE_BEFORE].key, out);
    pc_text_add(out, "\n\n");
    report->preset->markdown(report, out);
    return page_markdown_ending(report, out, err);
  }
  pc_write_data_summary(report->side[PC_PAGE_BEFORE].key, out);
  pc_text_add(out, "\n\n");
  if (report->repaired)
    pc_text_add(out, "## Before calibration\n\n");
  page_markdown_verdict(report->side[PC_PAGE_BEFORE].key, out);
  if (report->repaired) {
    pc_text_add(out, "## After ");
    pc_text_markdown_code(out, report->method);
    pc_text_add(out, "\n\nThe calibrator was ");
    pc_page_calibrator_origin(report, out);
    pc_text_add(out, ".\n\n");
    page_markdown_verdict(report->side[PC_PAGE_AFTER].key, out);
  }
  pc_text_add(out, "## Metrics\n\n");
  page_markdown_table(report, out);
  page_markdown_brier(report, out);
  pc_page_remarks(report, page_markdown_paragraph, out);
  const size_t length = out->length;
  if (report->repaired)
    pc_write_difference_note(report->side[PC_PAGE_AFTER].key, "change", out);
  pc_text_add(out, out->length > length ? "\n\n" : "");
  pc_page_coverage_markdown(report, out);
  pc_page_group_markdown(report, out);
  if (report->comparison != NULL) {
    pc_text_add(out, "## Calibration methods\n\n");
    PC_TRY(pc_write_comparison(report->comparison, PCAL_MARKDOWN, out, err));
    pc_text_add(out, "\n");
  }
  return page_markdown_ending(report, out, err);
}
