#include "io_help.h"

#include "io/file_sequence.h"

typedef struct sequence_case {
  pc_input_file files[3];
  pc_reader reader;
} sequence_case;

static pcal_status sequence_open(sequence_case *open, const char *const *texts, size_t count,
                                 const pcal_env *env, pcal_error *err) {
  static const char *const names[] = {"a.csv", "b.csv", "c.csv"};
  pc_reader *parts = pc_alloc(env, count, sizeof *parts);
  if (parts == NULL)
    return pc_fail_memory(err, "the test");
  for (size_t i = 0; i < count; i++) {
    pc_input_file_from_memory(names[i], texts[i], strlen(texts[i]), &open->files[i]);
    const pc_read_request request = {
        .env = env, .bytes = &open->files[i], .as = PC_COLUMN_NUMBERS};
    const pcal_status status = pc_reader_open(&request, &parts[i], err);
    if (status == PCAL_OK)
      continue;
    for (size_t k = 0; k < i; k++)
      pc_reader_close(&parts[k]);
    pc_free(env, parts);
    return status;
  }
  return pc_file_sequence_open(parts, count, 0, env, &open->reader, err);
}

static const char *const sequence_texts[] = {"x\n1\n2\n3\n", "x\n4\n", "x\n5\n6\n"};

/* Edge case 1: windows end where a file does, and rows know their file. */
TEST(reads_one_file_after_another) {
  const pcal_env env = help_plain_env();
  sequence_case open;
  pcal_error err;
  assert_int_equal(sequence_open(&open, sequence_texts, 3, &env, &err), PCAL_OK);
  for (int pass = 0; pass < 2; pass++) {
    static const size_t rows[] = {2, 1, 1, 2, 0};
    static const uint64_t lines[] = {2, 4, 2, 2};
    static const uint64_t own[] = {0, 2, 0, 0};
    static const char *const names[] = {"a.csv", "a.csv", "b.csv", "c.csv"};
    double next = 1;
    for (size_t i = 0; i < 5; i++) {
      pc_window window;
      size_t ready = 0;
      assert_int_equal(pc_reader_ready(&open.reader, &ready, &err), PCAL_OK);
      assert_int_equal(pc_reader_next(&open.reader, 2, &window, &err), PCAL_OK);
      assert_int_equal(window.rows, rows[i]);
      assert_true(window.rows <= ready);
      for (size_t r = 0; r < window.rows; r++)
        assert_true(((const double *)window.data)[r] == next++);
      if (window.rows == 0)
        continue;
      const pc_place place = pc_reader_place(&open.reader, 0, 77);
      assert_string_equal(place.subject, names[i]);
      assert_int_equal(place.line, lines[i]);
      assert_int_equal(place.row, own[i]);
    }
    assert_int_equal(open.reader.rows, 6);
    pc_reader_rewind(&open.reader);
  }
  pc_reader_close(&open.reader);
}

TEST(refuses_files_that_differ) {
  static const char *const wide[] = {"x\n1\n", "x,y\n1,2\n"};
  static const char *const renamed[] = {"x\n1\n", "y\n1\n"};
  static const char *const bare[] = {"x\n1\n", "1\n"};
  const pcal_env env = help_plain_env();
  sequence_case open;
  pcal_error err;
  assert_int_equal(sequence_open(&open, wide, 2, &env, &err), PCAL_DATA);
  assert_message(err, "b.csv has 2 columns, but a.csv has 1");
  assert_int_equal(sequence_open(&open, renamed, 2, &env, &err), PCAL_DATA);
  assert_message(err, "b.csv calls column 0 \"y\", but a.csv calls it \"x\"");
  assert_int_equal(sequence_open(&open, bare, 2, &env, &err), PCAL_DATA);
  assert_message(err, "b.csv has no header, but a.csv has one");
}

static pcal_status sequence_scenario(const pcal_env *env, void *user, pcal_error *err) {
  sequence_case open = {0};
  pc_window window;
  (void)user;
  PC_TRY(sequence_open(&open, sequence_texts, 3, env, err));
  const pcal_status status = pc_reader_next(&open.reader, 2, &window, err);
  pc_reader_close(&open.reader);
  return status;
}

TEST(survives_every_failing_allocation) {
  help_fail_each_allocation(sequence_scenario, NULL);
}
