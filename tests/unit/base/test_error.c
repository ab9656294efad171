#include "../unit.h"

TEST(fills_what_the_caller_gave) {
  pcal_error err = {.status = PCAL_OK, .row = 5, .message = "old"};
  assert_int_equal(pc_fail(&err, PCAL_IO, "%s: %d of %d", "a.npy", 3, 7), PCAL_IO);
  assert_sentence(err, PCAL_IO, "a.npy: 3 of 7");
  assert_true(err.row == PCAL_NO_ROW);
  assert_int_equal(pc_fail_row(&err, PCAL_DATA, 42, "row %d", 42), PCAL_DATA);
  assert_sentence(err, PCAL_DATA, "row 42");
  assert_true(err.row == 42);
  assert_int_equal(pc_fail_memory(&err, "sorting"), PCAL_MEMORY);
  assert_sentence(err, PCAL_MEMORY,
                  "out of memory while sorting; give fewer rows or metrics, or more memory");
  assert_true(err.row == PCAL_NO_ROW);
}

TEST(needs_no_error) {
  assert_int_equal(pc_fail(NULL, PCAL_USAGE, "%d", 1), PCAL_USAGE);
  assert_int_equal(pc_fail_row(NULL, PCAL_DATA, 1, "%d", 1), PCAL_DATA);
  assert_int_equal(pc_fail_memory(NULL, "sorting"), PCAL_MEMORY);
  pc_error_clear(NULL);
}

TEST(clears) {
  pcal_error err = {.status = PCAL_IO, .row = 5, .message = "old"};
  pc_error_clear(&err);
  assert_sentence(err, PCAL_OK, "");
  assert_true(err.row == PCAL_NO_ROW);
}

TEST(cuts_long_sentences) {
  pcal_error err;
  char text[2000];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = '\0';
  memset(&err, 0x7F, sizeof err);
  pc_fail(&err, PCAL_DATA, "%s is too long", text);
  assert_int_equal(strlen(err.message), 300 + 3 + strlen(" is too long"));
  assert_string_equal(err.message + 300, "\xE2\x80\xA6 is too long");
  assert_int_equal(err.quote_count, 1);
  assert_int_equal(err.quotes[0].end, 303);
  memcpy(text + 298, "\xE2\x82\xAC", 3); /* is cut, and left out as a whole */
  pc_fail(&err, PCAL_DATA, "%s is too long", text);
  assert_string_equal(err.message + 297, "x\xE2\x80\xA6 is too long");
  memset(text, 'x', sizeof text - 1);
  pc_fail(&err, PCAL_DATA, "%.1023s", text);
  assert_int_equal(strlen(err.message), 1023);
}

TEST(shows_what_is_hidden) {
  pcal_error err;
  pc_fail(&err, PCAL_IO, "%s: no such file", "a\033[2J\n\xFF\xE2\x80\xAE.npy");
  assert_sentence(err, PCAL_IO, "a\\x1b[2J\\n\\xff\\u202e.npy: no such file");
  assert_int_equal(err.quote_count, 1);
  assert_int_equal(err.quotes[0].begin, 0);
  assert_int_equal(err.quotes[0].end, strlen("a\\x1b[2J\\n\\xff\\u202e.npy"));
}

static pcal_status two_steps(pcal_status first, int *reached) {
  *reached = 0;
  PC_TRY(first);
  *reached = 1;
  return PCAL_OK;
}

TEST(try_passes_failures_on) {
  int reached;
  assert_int_equal(two_steps(PCAL_OK, &reached), PCAL_OK);
  assert_int_equal(reached, 1);
  assert_int_equal(two_steps(PCAL_INTERRUPTED, &reached), PCAL_INTERRUPTED);
  assert_int_equal(reached, 0);
}

TEST(every_status_has_text_and_exit_code) {
  static const int codes[] = {0, 2, 3, 4, 5, 6, 130};
  assert_int_equal(PCAL_STATUS_END, UNIT_COUNT(codes));
  for (size_t s = 0; s < UNIT_COUNT(codes); s++)
    assert_int_equal(pcal_status_exit_code((pcal_status)s), codes[s]);
  assert_string_equal(pcal_status_text(PCAL_OK), "fine");
  assert_string_equal(pcal_status_text(PCAL_USAGE), "a name, option or argument is wrong");
  assert_string_equal(pcal_status_text(PCAL_DATA),
                      "the data are wrong or do not fit what was asked");
  assert_string_equal(pcal_status_text(PCAL_IO), "a file could not be read or written");
  assert_string_equal(pcal_status_text(PCAL_INTERNAL), "a fault in propercal itself");
  assert_string_equal(pcal_status_text(PCAL_MEMORY),
                      "out of memory, or beyond the memory limit");
  assert_string_equal(pcal_status_text(PCAL_INTERRUPTED), "stopped by the caller");
}

TEST(unknown_statuses_are_faults) {
  assert_string_equal(pcal_status_text(PCAL_STATUS_END), "unknown status");
  assert_string_equal(pcal_status_text((pcal_status)-1), "unknown status");
  assert_int_equal(pcal_status_exit_code(PCAL_STATUS_END), 5);
  assert_int_equal(pcal_status_exit_code((pcal_status)-1), 5);
}

static void check_quote(const pcal_error *err, size_t index, const char *expected) {
  assert_true(index < err->quote_count);
  const pcal_span quote = err->quotes[index];
  assert_int_equal(quote.end - quote.begin, strlen(expected));
  assert_memory_equal(err->message + quote.begin, expected, strlen(expected));
}

TEST(notes_what_comes_from_outside) {
  pcal_error err;
  pc_fail(&err, PCAL_DATA, "%s, line %d: \"%.4s\" is 100%% wrong; give %-s", "log-probs.npy", 7,
          "--labels", "--labels");
  assert_string_equal(err.message,
                      "log-probs.npy, line 7: \"--la\" is 100% wrong; give --labels");
  assert_int_equal(err.quote_count, 2);
  check_quote(&err, 0, "log-probs.npy");
  check_quote(&err, 1, "--la");
  pc_error_reword(&err, "give --labels", "give the labels");
  pc_error_reword(&err, "log-probs", "x"); /* in a name: stays */
  pc_error_reword(&err, ", line", ", in line");
  assert_string_equal(err.message,
                      "log-probs.npy, in line 7: \"--la\" is 100% wrong; give the labels");
  check_quote(&err, 0, "log-probs.npy");
  check_quote(&err, 1, "--la");
}

/* Where names hold the marks themselves nothing is taken for the library's words. */
TEST(is_careful_with_odd_names) {
  pcal_error err;
  pc_fail(&err, PCAL_DATA, "%s: give --labels", "a\2--probs");
  assert_int_equal(err.quote_count, 1);
  check_quote(&err, 0, "a--probs: give --labels");
  pc_fail(&err, PCAL_DATA, "%s %s %s %s %s %s %s %s %s %s %s %s %s %s", "a", "a", "a", "a", "a",
          "a", "a", "a", "a", "a", "a", "a", "a", "a");
  assert_int_equal(err.quote_count, PCAL_ERROR_QUOTES);
  assert_int_equal(err.quotes[PCAL_ERROR_QUOTES - 1].end, strlen(err.message));
}
