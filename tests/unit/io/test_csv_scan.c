#include "io/formats/csv_scan.h"
#include "io_help.h"

static pc_csv_scan scan_over(const char *text, char delimiter) {
  return (pc_csv_scan){"f.csv", text, text + strlen(text), 1, delimiter};
}

/* Cells joined by '|', records by '/', as the scan sees them. */
static void expect_cells(const char *text, char delimiter, const char *expected) {
  char got[256] = "";
  size_t used = 0;
  pc_csv_scan scan = scan_over(text, delimiter);
  while (scan.at < scan.end) {
    pc_csv_cell cell = {.last = 0};
    while (!cell.last) {
      assert_int_equal(pc_csv_scan_cell(&scan, &cell, NULL), PCAL_OK);
      used += pc_csv_cell_copy(&cell, got + used);
      got[used++] = cell.last ? '/' : '|';
    }
  }
  got[used] = '\0';
  assert_string_equal(got, expected);
}

TEST(splits_cells_and_records) {
  expect_cells("a,b\n1,2\n", ',', "a|b/1|2/");
  expect_cells("a,b\r\n1,2\r\n", ',', "a|b/1|2/");
  expect_cells("1,2", ',', "1|2/");
  expect_cells("1,2\r", ',', "1|2/");
  expect_cells("1,\n,2\n,", ',', "1|/|2/|/");
  expect_cells(" a , b b\t,\tc\n", ',', "a|b b|c/");
  expect_cells("a b\tc, d\n", '\t', "a b|c, d/");
  expect_cells(" a \t b\n", '\t', "a|b/");
  expect_cells("a\rb,c\n", ',', "a\rb|c/");
  expect_cells("5\" disk,x\"y\"\n", ',', "5\" disk|x\"y\"/");
}

TEST(resolves_quotes) {
  expect_cells("\"a,b\",c\n", ',', "a,b|c/");
  expect_cells("\"say \"\"hi\"\"\",\"\"\n", ',', "say \"hi\"|/");
  expect_cells("\"\"\"\"\n", ',', "\"/");
  expect_cells("\"two\nlines\",1\r\n2,\"x\"", ',', "two\nlines|1/2|x/");
  expect_cells(" \" kept \" , 1\n", ',', " kept |1/");
  expect_cells("\"a\"\r\n\"b\"\r", ',', "a/b/");
}

TEST(counts_lines) {
  size_t cells = 0;
  pc_csv_scan scan = scan_over("\"1\n2\n3\",x\n4\r\n5", ',');
  assert_int_equal(pc_csv_scan_record(&scan, &cells, NULL), PCAL_OK);
  assert_int_equal(cells, 2);
  assert_int_equal(scan.line, 4);
  assert_int_equal(pc_csv_scan_record(&scan, &cells, NULL), PCAL_OK);
  assert_int_equal(cells, 1);
  assert_int_equal(scan.line, 5);
}

static void expect_refused(const char *text, const char *sentence) {
  pcal_error err;
  pc_csv_scan scan = scan_over(text, ',');
  size_t cells;
  pcal_status status = PCAL_OK;
  while (status == PCAL_OK && scan.at < scan.end)
    status = pc_csv_scan_record(&scan, &cells, &err);
  assert_int_equal(status, PCAL_DATA);
  assert_string_equal(err.message, sentence);
}

TEST(refuses_broken_quotes) {
  expect_refused("1\n\"a\nb", "f.csv, line 2: a quote is opened but never closed; close it");
  expect_refused("1\n2,\"", "f.csv, line 2: a quote is opened but never closed; close it");
  expect_refused("\"a\"\"", "f.csv, line 1: a quote is opened but never closed; close it");
  expect_refused("1\n\"a\n\"b\n",
                 "f.csv, line 3: text follows a closing quote; write \"\" for a "
                 "quote inside quotes");
}

TEST(takes_plain_numbers_only) {
  double value = 0;
  int last = 9;
  pc_csv_scan scan = scan_over("0.5,-2e3\r\n7\n8", ',');
  assert_true(pc_csv_scan_number(&scan, &value, &last));
  assert_true(value == 0.5 && last == 0);
  assert_true(pc_csv_scan_number(&scan, &value, &last));
  assert_true(value == -2000 && last == 1);
  assert_int_equal(scan.line, 2);
  assert_true(pc_csv_scan_number(&scan, &value, &last));
  assert_true(value == 7 && last == 1);
  assert_true(pc_csv_scan_number(&scan, &value, &last));
  assert_true(value == 8 && last == 1 && scan.at == scan.end);
  static const char *const others[] = {"", " 1\n", "1 \n", "1x\n", "\"1\"\n", "x", "1\r2"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    scan = scan_over(others[i], ',');
    assert_false(pc_csv_scan_number(&scan, &value, &last));
    assert_ptr_equal(scan.at, others[i]);
  }
}

TEST(knows_blank_lines) {
  static const char *const blank[] = {"\n", "\r\n", "  \n", "", "  ", "\t\n"};
  static const char *const filled[] = {"a\n", " a\n", ",\n", "\"\"\n"};
  for (size_t i = 0; i < sizeof blank / sizeof blank[0]; i++) {
    const pc_csv_scan scan = scan_over(blank[i], ',');
    assert_true(pc_csv_scan_blank(&scan));
  }
  for (size_t i = 0; i < sizeof filled / sizeof filled[0]; i++) {
    const pc_csv_scan scan = scan_over(filled[i], ',');
    assert_false(pc_csv_scan_blank(&scan));
  }
  const pc_csv_scan tabs = scan_over("\t\n", '\t');
  assert_false(pc_csv_scan_blank(&tabs));
}
