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
  assert_string_equal(err.subject, "a\\x1b[2J\\n\\xff\\u202e.npy");
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

static void check_text(const pcal_error *err, pcal_interface interface, const char *expected) {
  char text[PC_ERROR_TEXT];
  assert_int_equal(pcal_error_text(err, interface, text, sizeof text), strlen(expected));
  assert_string_equal(text, expected);
}

TEST(names_arguments_for_each_interface) {
  pcal_error err;
  pc_fail(&err, PCAL_DATA, "{target} is 100%% wrong in %s; give {labels} or %-s",
          "--{probs}.npy", "{skip_missing}");
  assert_sentence(err, PCAL_DATA,
                  "target is 100% wrong in --{probs}.npy; give labels or skip_missing");
  check_text(&err, PCAL_INTERFACE_C, err.message);
  check_text(&err, PCAL_INTERFACE_PROGRAM,
             "--target is 100% wrong in --{probs}.npy; give --labels or --skip-missing");
  check_text(&err, PCAL_INTERFACE_PYTHON,
             "target is 100% wrong in --{probs}.npy; give labels or skip_missing=True");
  assert_string_equal(err.argument, "target");
  assert_string_equal(err.message + err.remedy, "give labels or skip_missing");
  pc_fail(&err, PCAL_DATA, "give {labels}, {no_such_name} and {");
  assert_sentence(err, PCAL_DATA, "give labels, {no_such_name} and {");
}

TEST(cuts_text_to_its_room) {
  pcal_error err;
  char text[8];
  pc_fail(&err, PCAL_USAGE, "give {probs}; now");
  assert_int_equal(pcal_error_text(&err, PCAL_INTERFACE_PROGRAM, text, sizeof text), 17);
  assert_string_equal(text, "give --");
  assert_int_equal(pcal_error_text(&err, PCAL_INTERFACE_PROGRAM, NULL, 0), 17);
  assert_int_equal(pcal_error_remedy(&err, PCAL_INTERFACE_PROGRAM, text, sizeof text), 3);
  assert_string_equal(text, "now");
}

TEST(keeps_subject_and_place) {
  pcal_error err;
  pc_fail_line(&err, PCAL_DATA, "a.csv", 7, "%s has row %d", "it", 3);
  assert_sentence(err, PCAL_DATA, "a.csv, line 7: it has row 3");
  assert_string_equal(err.subject, "a.csv");
  assert_int_equal(err.line, 7);
  assert_true(err.row == PCAL_NO_ROW && err.column == PCAL_NO_COLUMN && err.argument == NULL);
  assert_string_equal(err.message + err.remedy, "");
  assert_int_equal(pc_fail_line(NULL, PCAL_IO, "a.csv", 7, "bad"), PCAL_IO);
  const pc_place field = {"a.jsonl", PCAL_NO_ROW, 4, PCAL_NO_COLUMN, NULL, "x"};
  pc_fail_at(&err, PCAL_DATA, &field, "bad");
  assert_sentence(err, PCAL_DATA, "a.jsonl, line 4, field \"x\": bad");
  const pc_place place = {"b.csv", 12, 9, 2, "c\nat", NULL};
  pc_fail_at(&err, PCAL_DATA, &place, "bad row %d; mend it", 5);
  assert_sentence(err, PCAL_DATA, "b.csv, line 9, column \"c\\nat\": bad row 5; mend it");
  assert_true(err.row == 12 && err.line == 9 && err.column == 2);
  assert_string_equal(err.subject, "b.csv");
  assert_string_equal(err.message + err.problem, "bad row 5; mend it");
  const pc_place row = {"b.npy", 12, 0, PCAL_NO_COLUMN, NULL, NULL};
  pc_fail_at(&err, PCAL_DATA, &row, "bad");
  assert_sentence(err, PCAL_DATA, "b.npy, row 12: bad");
}

TEST(holds_its_cause) {
  pcal_error err;
  const pc_place place = {"b.csv", PCAL_NO_ROW, 9, PCAL_NO_COLUMN, NULL, NULL};
  pc_fail_at(&err, PCAL_DATA, &place, "bad; pass {normalize}");
  pc_fail_because(&err, PCAL_IO, &err, "%s failed: {cause}", "x");
  assert_sentence(err, PCAL_IO, "x failed: b.csv, line 9: bad; pass normalize");
  check_text(&err, PCAL_INTERFACE_PROGRAM, "x failed: b.csv, line 9: bad; pass --normalize");
  assert_string_equal(err.message + err.remedy, "pass normalize");
  assert_int_equal(err.line, 9);
  pc_fail_at(&err, PCAL_DATA, &place, "bad; pass {normalize}");
  pc_fail_because(&err, PCAL_DATA, &err, "%s ({cause_problem}); go on", "x");
  check_text(&err, PCAL_INTERFACE_PROGRAM, "x (bad; pass --normalize); go on");
  assert_string_equal(err.message + err.remedy, "go on");
}

TEST(numbers_of_every_length) {
  pcal_error err;
  pc_fail(&err, PCAL_DATA, "%d %ld %lld %zu %u %x %.0f %%", -3, -4L, 5LL, (size_t)6, 7u, 10u,
          12.4);
  assert_sentence(err, PCAL_DATA, "-3 -4 5 6 7 0a 12 %");
}

/* A message has room for 1,023 bytes: what does not fit is left out, and names beyond the sixteenth
 * stay as they are. */
TEST(full_messages) {
  pcal_error err, cause;
  char text[1100];
  memset(text, 'x', sizeof text);
  text[1020] = '\0';
  pc_fail(&err, PCAL_DATA, "%.1020s{labels}", text);
  assert_int_equal(strlen(err.message), 1020);
  assert_int_equal(err.reference_count, 0);
  text[1000] = '\0';
  pc_fail(&cause, PCAL_DATA, "%.1000s", text);
  pc_fail_because(&err, PCAL_IO, &cause, "a sentence of more than twenty bytes: {cause}");
  assert_sentence(err, PCAL_IO, "a sentence of more than twenty bytes: ");
  pc_fail(&err, PCAL_USAGE,
          "{probs}{probs}{probs}{probs}{probs}{probs}{probs}{probs}{probs}{probs}{probs}{probs}"
          "{probs}{probs}{probs}{probs}{probs}");
  assert_int_equal(err.reference_count, PCAL_ERROR_REFERENCES);
  pcal_error_text(&err, PCAL_INTERFACE_PROGRAM, text, sizeof text);
  assert_int_equal(strlen(text), 16 * strlen("--probs") + strlen("probs"));
}

/* A euro sign that ends where the value is cut stays; so does a byte that is no UTF-8. */
TEST(cuts_between_characters) {
  pcal_error err;
  char text[400];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = '\0';
  memcpy(text + 297, "\xE2\x82\xAC", 3);
  pc_fail(&err, PCAL_DATA, "%s", text);
  assert_string_equal(err.message + 296, "x\xE2\x82\xAC\xE2\x80\xA6");
}

TEST(causes_in_part) {
  pcal_error err, cause;
  const pc_place nowhere = {NULL, PCAL_NO_ROW, 0, PCAL_NO_COLUMN, NULL, NULL};
  pc_fail(&err, PCAL_DATA, "no {cause} and no {cause_problem}");
  assert_sentence(err, PCAL_DATA, "no {cause} and no {cause_problem}");
  pc_fail_at(&err, PCAL_DATA, &nowhere, "bad;worse");
  assert_sentence(err, PCAL_DATA, ": bad;worse");
  assert_string_equal(err.message + err.remedy, "");
  pc_fail(&cause, PCAL_DATA, "give {labels}; or {probs}");
  pc_fail_because(&err, PCAL_IO, &cause, "{other}: {cause}");
  assert_sentence(err, PCAL_IO, "{other}: give labels; or probs");
  assert_int_equal(pc_fail_because(NULL, PCAL_IO, &cause, "x"), PCAL_IO);
  assert_int_equal(pc_fail_at(NULL, PCAL_IO, &nowhere, "x"), PCAL_IO);
  assert_int_equal(pc_error_pass(NULL, &cause), PCAL_DATA);
}
