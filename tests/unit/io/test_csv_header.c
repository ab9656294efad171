#include "io/formats/csv_header.h"
#include "io_help.h"

/* Names joined by '|', or "-" for no header; then where the data begin. */
static void expect_declared(pcal_header header, const char *text, const char *names,
                            const char *data) {
  const pcal_env env = help_plain_env();
  char got[256] = "-";
  pc_input_file bytes;
  pc_csv_header head;
  pcal_error err;
  pc_input_file_from_memory("f.csv", text, strlen(text), &bytes);
  if (pc_csv_header_read(&bytes, ',', header, &env, &head, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  for (size_t i = 0; head.names != NULL && i < head.columns; i++)
    snprintf(i == 0 ? got : got + strlen(got), 100, "%s%s", i == 0 ? "" : "|", head.names[i]);
  assert_string_equal(got, names);
  assert_int_equal(head.data.end - head.data.at, strlen(data));
  assert_memory_equal(head.data.at, data, strlen(data));
  pc_csv_header_free(&env, &head);
}

static void expect_head(const char *text, const char *names, const char *data) {
  expect_declared(PCAL_HEADER_AUTO, text, names, data);
}

TEST(distinguishes_headers_from_rows) {
  expect_head("cat,dog\n1,2\n", "cat|dog", "1,2\n");
  expect_head("label,cat,dog\nx,1,2\n", "label|cat|dog", "x,1,2\n");
  expect_head("name\ncat\ndog\n", "name", "cat\ndog\n");
  expect_head(",cat,NA\n1,2,3\n", "|cat|NA", "1,2,3\n");
  expect_head("0.2,0.8\n0.3,0.7\n", "-", "0.2,0.8\n0.3,0.7\n");
  expect_head("cat,0.2,0.8\ndog,1,2\n", "-", "cat,0.2,0.8\ndog,1,2\n");
  expect_head("NA,\n1,2\n", "-", "NA,\n1,2\n");
  expect_head("nan,inf\n", "-", "nan,inf\n");
}

TEST(knows_numbered_columns) {
  expect_head("0,1,2\n5,6,7\n", "0|1|2", "5,6,7\n");
  expect_head(",0,1,2\n0,5,6,7\n", "|0|1|2", "0,5,6,7\n");
  expect_head("label,0,1,2\n1,5,6,7\n", "label|0|1|2", "1,5,6,7\n");
  expect_head("0.0,1.0\n1,0\n", "-", "0.0,1.0\n1,0\n");
  expect_head("1,0\n0,1\n", "-", "1,0\n0,1\n");
  expect_head("0\n1\n", "-", "0\n1\n");
  expect_head("1,2,3\n5,6,7\n", "-", "1,2,3\n5,6,7\n");
  expect_head("0,2,1\n5,6,7\n", "-", "0,2,1\n5,6,7\n");
}

TEST(reads_names_as_written) {
  expect_head("\"a,b\", c ,\"say \"\"x\"\"\"\r\n1,2,3\r\n", "a,b|c|say \"x\"", "1,2,3\r\n");
  expect_head("\"two\nlines\",b\n1,2\n", "two\nlines|b", "1,2\n");
  expect_head("\xEF\xBB\xBF"
              "caf\xC3\xA9\n1\n",
              "caf\xC3\xA9", "1\n");
  expect_head("\xEF\xBB\xBF"
              "0.5\n1\n",
              "-", "0.5\n1\n");
}

TEST(takes_the_separator_from_a_first_line) {
  expect_head("sep=;\r\nrisk;died\r\n0,5;1\r\n", "risk|died", "0,5;1\r\n");
  expect_head("\xEF\xBB\xBFsep=,\na;b,c\n1,2\n", "a;b|c", "1,2\n");
  expect_head("sep=\t\na\tb\n1\t2\n", "a|b", "1\t2\n");
  expect_head("sep=;\n0,5;1\n", "-", "0,5;1\n");
  expect_head("sep=|\n1\n", "sep=|", "1\n");
  expect_head("sep=,x\n1,2\n", "sep=|x", "1,2\n");
  expect_head("a,b\n1,2\r", "a|b", "1,2\r");
}

static void expect_refused(const char *text, size_t length, const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  pc_input_file bytes;
  pc_csv_header head;
  pcal_error err;
  pc_input_file_from_memory("f.csv", text, length, &bytes);
  assert_int_equal(pc_csv_header_read(&bytes, ',', PCAL_HEADER_AUTO, &env, &head, &err),
                   PCAL_DATA);
  assert_string_equal(err.message, sentence);
  assert_int_equal(counter.live, 0);
}

#define UNSURE                                                            \
  "f.csv, line 1: this may be a header or the first row; say which with " \
  "header = PCAL_HEADER_YES or header = PCAL_HEADER_NO"

static void expect_unsure(const char *text) {
  expect_refused(text, strlen(text), UNSURE);
}

TEST(looks_below_texts) {
  expect_head("1,2,3,y\n0.2,0.3,0.5,1\n", "1|2|3|y", "0.2,0.3,0.5,1\n");
  expect_head("1,2,3,cat\n0.2,0.3,0.5,dog\n", "-", "1,2,3,cat\n0.2,0.3,0.5,dog\n");
  expect_head("label,0,1\n1,0.5,0.5\n", "label|0|1", "1,0.5,0.5\n");
  expect_head("id,y,7\n3,1,0.5", "id|y|7", "3,1,0.5");
  expect_unsure("id,y,7\nbob,1,0.5\n");
  expect_unsure("id,y,7\n3,,0.5\n");
  expect_unsure("id,y,7\n3\n");
  expect_unsure("cat,0.2,0.8\n");
  expect_unsure("cat,0.2,0.8");
  expect_unsure("cat,0.2,0.8\n\n");
  expect_unsure("label,0,1\ncat,0.5,0.5\n");
}

TEST(refuses_to_guess_pairs) {
  expect_unsure("0,1\n0.5,0.5\n");
  expect_unsure(",0,1\n0,0.5,0.5\n");
  expect_unsure("\"0\", 1 \n0.5,0.5\n");
  expect_unsure("0,1");
}

TEST(believes_what_is_declared) {
  expect_declared(PCAL_HEADER_YES, "0,1\n0.5,0.5\n", "0|1", "0.5,0.5\n");
  expect_declared(PCAL_HEADER_NO, "0,1\n0.5,0.5\n", "-", "0,1\n0.5,0.5\n");
  expect_declared(PCAL_HEADER_YES, "0.25,0.75\n1,0\n", "0.25|0.75", "1,0\n");
  expect_declared(PCAL_HEADER_NO, "cat\ndog\n", "-", "cat\ndog\n");
  expect_declared(PCAL_HEADER_NO, "0,1,2\n3,4,5\n", "-", "0,1,2\n3,4,5\n");
  expect_declared(PCAL_HEADER_NO, "cat,0.2,0.8", "-", "cat,0.2,0.8");
}

TEST(refuses_what_is_no_table) {
  expect_refused("\n1\n", 3, "f.csv, line 1: the line is blank; delete it");
  expect_refused("\xEF\xBB\xBF", 3, "f.csv, line 1: the line is blank; delete it");
  expect_refused("a,b\n", 4,
                 "f.csv has a header but no rows; give a file with at least one row");
  expect_refused("a,b", 3, "f.csv has a header but no rows; give a file with at least one row");
  expect_refused("\xFF\xFEx\0", 4, "f.csv is written in UTF-16; save it as UTF-8");
  expect_refused("\xFE\xFF\0x", 4, "f.csv is written in UTF-16; save it as UTF-8");
  expect_refused(
      "a,b\r1,2\r", 8,
      "f.csv has lines that end in carriage returns alone; save it as CSV UTF-8, not "
      "as CSV Macintosh");
  expect_refused("sep=;\n\n1\n", 9, "f.csv, line 2: the line is blank; delete it");
  expect_refused("sep=;\n", 6, "f.csv has no rows; give a file with at least one row");
  expect_refused(
      "sep=;\n0;1\n", 10,
      "f.csv, line 2: this may be a header or the first row; say which with header = "
      "PCAL_HEADER_YES or header = PCAL_HEADER_NO");
  expect_refused("1,2\n\0", 5,
                 "f.csv is not a text file; give a file with the extension of its format");
  expect_refused("\x93NUMPY\x01", 7,
                 "f.csv is not a text file; give a file with the extension of its format");
  expect_refused("a,caf\xE9\n1,2\n", 11,
                 "f.csv, line 1, column 1: the name is not valid UTF-8; save the file as "
                 "UTF-8");
  expect_refused("a,\"b\n1,2\n", 9,
                 "f.csv, line 1: a quote is opened but never closed; close it");
}

static pcal_status head_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_input_file bytes;
  pc_csv_header head;
  (void)user;
  pc_input_file_from_memory("f.csv", "a,b\n1,2\n", 8, &bytes);
  PC_TRY(pc_csv_header_read(&bytes, ',', PCAL_HEADER_AUTO, env, &head, err));
  pc_csv_header_free(env, &head);
  return PCAL_OK;
}

TEST(survives_every_failed_allocation) {
  help_fail_each_allocation(head_scenario, NULL);
}
