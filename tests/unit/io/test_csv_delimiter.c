#include "io_help.h"

#include "io/formats/csv_scan.h"

static char delimiter_of(const char *text) {
  const pc_csv_scan scan = {"a.csv", text, text + strlen(text), 1, ','};
  return pc_csv_delimiter(scan);
}

/* The rules of csv_delimiter.c. */
TEST(finds_the_separator) {
  assert_int_equal(delimiter_of("a,b\n1,2\n"), ',');
  assert_int_equal(delimiter_of("a\n1\n"), ',');
  assert_int_equal(delimiter_of("a;b\n1\n"), ',');
  assert_int_equal(delimiter_of("a;b\n0,5;1\n"), ';');
  assert_int_equal(delimiter_of("a;b"), ';');
  assert_int_equal(delimiter_of("0,5;1\n0,25;0\n"), ';');
  assert_int_equal(delimiter_of("0,5;\n"), ';');
  assert_int_equal(delimiter_of("a;x,b;y\n1;2,3;4\n"), ',');
  assert_int_equal(delimiter_of("\"a;b\",c\n1,2\n"), ',');
  assert_int_equal(delimiter_of("\"a\n"), ',');
}

TEST(reads_decimal_commas_beside_semicolons_only) {
  double value = 0;
  assert_true(pc_csv_number(pc_slice_of("-0,25e1"), ';', &value));
  assert_true(value == -2.5);
  assert_true(pc_csv_number(pc_slice_of("0.25"), ';', &value));
  assert_true(value == 0.25);
  assert_false(pc_csv_number(pc_slice_of("0,25"), ',', &value));
  assert_false(pc_csv_number(pc_slice_of("1,000,5"), ';', &value));
  assert_false(pc_csv_number(pc_slice_of("1.000,5"), ';', &value));
  assert_false(pc_csv_number(pc_slice_of(""), ';', &value));
}
