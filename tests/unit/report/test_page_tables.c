/* Numbers of the tables against sums written out here. */
#include "page_help.h"

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
