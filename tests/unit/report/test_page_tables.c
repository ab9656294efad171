/* Numbers of the tables against sums written out here. */
#include "page_help.h"

#include "report/page.h"

static void page_cell(char out[64], double value, int digits) {
  char number[PC_NUMBER_MAX];
  pc_number_fixed(value, digits, number);
  snprintf(out, 64, ">%s</td>", number);
}

/* Mean probability and share of each class, from the rows themselves. */
TEST(test_classes) {
  const pcal_report_config config = page_config();
  char *page = page_text(&config, PCAL_HTML), cell[64];
  const char *table = strstr(page, "<table class=\"sortable\">\n<caption>Classes, those");
  assert_non_null(table);
  for (size_t c = 0; c < 3; c++) {
    double claimed = 0, observed = 0;
    for (size_t i = 0; i < PAGE_ROWS; i++) {
      claimed += page_scores[3 * i + c] / PAGE_ROWS;
      observed += (page_labels[i] == (int32_t)c) / (double)PAGE_ROWS;
    }
    page_cell(cell, 100 * claimed, 2);
    assert_contains(table, cell);
    page_cell(cell, 100 * observed, 2);
    assert_contains(table, cell);
  }
  free(page);
}

/* Each row of the table of classes has a cell for each head, before and after calibration. */
static void check_class_cells(const char *method, size_t heads) {
  pcal_report_config config = page_config();
  config.method = method;
  char *page = page_text(&config, PCAL_HTML);
  char *table = strstr(page, "<caption>Classes, those"), *end = strstr(table, "</table>");
  *end = '\0';
  assert_contains(table, ">chance alone</th>");
  assert_int_equal(page_count(table, "<th scope=\"col\""), heads);
  assert_int_equal(page_count(table, "<td"), 3 * (heads - 1));
  assert_int_equal(page_count(table, "\xE2\x80\x93"), 0);
  free(page);
}

TEST(test_class_cells) {
  check_class_cells(NULL, 7);
  check_class_cells("temperature", 8);
}

/* Rows of the bins add up, and so does what they claim. */
TEST(test_bins) {
  const pcal_report_config config = page_config();
  char *page = page_text(&config, PCAL_HTML);
  const char *at = strstr(page, "<caption>The bins of the diagram</caption>");
  assert_non_null(at);
  at = strstr(at, "<tbody>");
  const char *end = strstr(at, "</tbody>");
  double rows = 0, hits = 0;
  for (at = strstr(at, "<tr>"); at != NULL && at < end; at = strstr(at + 1, "<tr>")) {
    double values[6];
    const char *cell = at;
    for (size_t i = 0; i < 6; i++) {
      cell = strstr(cell + 1, "data-value=\"");
      values[i] = strtod(cell + strlen("data-value=\""), NULL);
    }
    assert_true(values[0] < values[1] && values[3] / 100 >= values[0] - 1e-12 &&
                values[3] / 100 <= values[1] + 1e-12);
    rows += values[2];
    hits += values[2] * values[4] / 100;
  }
  assert_true(rows == PAGE_ROWS && fabs(hits - 16) < 1e-9);
  free(page);
}

/* Means 0 with deviation 1, targets -1.5, ..., 1.5: inside are those up to 0.674, 1.282, 1.645 and
 * 1.960, that is 3, 5, 7 and 7 of 7; widths are twice these numbers. */
TEST(test_coverage) {
  double scores[2 * 7], targets[7];
  for (size_t i = 0; i < 7; i++) {
    scores[2 * i] = 0;
    scores[2 * i + 1] = 1;
    targets[i] = 0.5 * (double)i - 1.5;
  }
  pcal_batch batch = PCAL_BATCH_INIT;
  batch.kind = PCAL_MEAN_VARIANCE;
  batch.type = PCAL_F64;
  batch.rows = 7;
  batch.columns = 2;
  batch.scores = scores;
  batch.row_stride = 2 * sizeof(double);
  batch.column_stride = sizeof(double);
  batch.targets = targets;
  pcal_report_config config = page_config();
  config.interval = 0;
  char *page = page_text_of(&batch, NULL, &config, PCAL_MARKDOWN);
  assert_contains(page, "## Coverage of intervals\n\n"
                        "| interval | targets inside, % | mean width |\n"
                        "| --- | ---: | ---: |\n"
                        "| 50 % | 42.9 | 1.3490 |\n"
                        "| 80 % | 71.4 | 2.5631 |\n"
                        "| 90 % | 100.0 | 3.2897 |\n"
                        "| 95 % | 100.0 | 3.9199 |\n");
  free(page);
  page = page_text_of(&batch, NULL, &config, PCAL_HTML);
  assert_contains(page, "<tr><th scope=\"row\">80 %</th><td class=\"num\" data-value=\"71.4");
  free(page);
}

/* Of quantiles their own central intervals, the narrowest first. */
TEST(test_coverage_of_quantiles) {
  static const double levels[] = {0.05, 0.25, 0.5, 0.75, 0.95};
  pc_layout layout;
  double out[PC_PAGE_LEVELS];
  assert_int_equal(pc_layout_make_levels(PCAL_QUANTILES, 5, levels, &layout, NULL), PCAL_OK);
  assert_int_equal(pc_page_coverage_levels(&layout, out), 2);
  assert_true(out[0] == 0.5 && out[1] == 0.9);
}
