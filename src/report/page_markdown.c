/* A report for a pull request: verdict and table, before and after. */
#include "report/page.h"

static void page_markdown_head(const pcal_report *report, pc_text *out) {
  pc_text_add(out, "# ");
  pc_text_markdown(out, pc_page_title(report));
  pc_text_add(out, "\n\n");
}

/* Lines of a verdict are paragraphs. */
static void page_markdown_verdict(const pcal_results *results, pc_text *out) {
  pc_text line;
  pc_text_init(&line, out->env);
  for (const char *at = results->verdict; at != NULL && *at != '\0';) {
    const char *end = at;
    while (*end != '\0' && *end != '\n')
      end++;
    line.length = 0;
    pc_text_add_bytes(&line, at, (size_t)(end - at));
    if (!line.failed)
      pc_text_markdown(out, line.bytes);
    pc_text_add(out, "\n\n");
    at = *end == '\0' ? end : end + 1;
  }
  out->failed |= line.failed;
  pc_text_free(&line);
}

static void page_markdown_row(const pcal_report *report, size_t metric, pc_text *out) {
  const pc_result_record *before = &report->side[PC_PAGE_BEFORE].key->records[metric];
  const pcal_results *after = report->side[PC_PAGE_AFTER].key;
  pc_text_add(out, "| ");
  pc_text_markdown_code(out, before->label);
  pc_text_add(out, " | ");
  pc_write_value(before, out);
  pc_write_uncertainty(before, " ", out);
  pc_write_p_value(before, ", ", out);
  if (after != NULL) {
    const pc_result_record *record = &after->records[metric];
    const pc_interval_result *interval_result = &record->interval_result;
    pc_text_add(out, " | ");
    pc_write_value(record, out);
    if (interval_result->has_interval) {
      pc_text_add(out, " ");
      pc_write_interval(interval_result->low, interval_result->high, out);
      pc_text_add(out, interval_result->few > 0 ? " unsure" : "");
    }
    pc_text_add(out, " | ");
    if (interval_result->has_difference) {
      pc_text_add(out, interval_result->difference > 0 ? "+" : "");
      pc_write_number(interval_result->difference, out);
    }
    if (interval_result->has_difference_interval) {
      pc_text_add(out, " ");
      pc_write_interval(interval_result->difference_low, interval_result->difference_high, out);
    }
  }
  pc_text_format(out, " | %s | %s |\n", before->notion == NULL ? "" : before->notion,
                 pc_bound_text(before));
}

static void page_markdown_table(const pcal_report *report, pc_text *out) {
  const pcal_results *before = report->side[PC_PAGE_BEFORE].key;
  pc_text_add(out,
              report->repaired
                  ? "| metric | before | after | change | estimates | bound |\n"
                    "| --- | ---: | ---: | ---: | --- | --- |\n"
                  : "| metric | value | estimates | bound |\n| --- | ---: | --- | --- |\n");
  for (size_t n = 0; n <= pc_notion_count(); n++)
    for (size_t m = 0; m < before->metric_count; m++)
      if (pc_notion_index(&before->records[m]) == n)
        page_markdown_row(report, m, out);
  pc_text_add(out, "\n");
}

static void page_markdown_doubt(const char *sentence, pc_text *out) {
  pc_text_markdown(out, sentence);
  pc_text_add(out, "\n\n");
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

pcal_status pc_page_markdown(const pcal_report *report, pc_text *out, pcal_error *err) {
  page_markdown_head(report, out);
  pc_write_data_summary(report->side[PC_PAGE_BEFORE].key, out);
  pc_text_add(out, "\n\n");
  if (report->repaired)
    pc_text_add(out, "## As it is\n\n");
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
  pc_page_remarks(report, page_markdown_doubt, out);
  const size_t length = out->length;
  if (report->repaired)
    pc_write_difference_note(report->side[PC_PAGE_AFTER].key, "change", out);
  pc_text_add(out, out->length > length ? "\n\n" : "");
  if (report->comparison != NULL) {
    pc_text_add(out, "## Which repair\n\n");
    PC_TRY(pc_write_comparison(report->comparison, PCAL_MARKDOWN, out, err));
    pc_text_add(out, "\n");
  }
  page_markdown_problems(report, out);
  pc_text_add(out, "## To make this again\n\n```\n");
  pc_page_commands(report, out);
  pc_text_format(out, "```\n\npropercal %s\n", PCAL_VERSION);
  return pc_text_status(out, err);
}
