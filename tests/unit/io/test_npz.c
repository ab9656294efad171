#include "io/reader.h"

#include "zip_help.h"

static const float npz_scores[] = {0.25f, 0.75f, 0.5f, 0.5f, 1.0f, 0.0f};
static const int64_t npz_labels[] = {1, 0, 1};

/* logits (3 x 2, float32) and labels (int64), and something that is no array. */
static help_zip npz_make(int deflated, int wide) {
  const help_npy scores = help_npy_make(1, "=f4", 0, "(3, 2)", npz_scores, sizeof npz_scores);
  const help_npy labels = help_npy_make(1, "=i8", 0, "(3,)", npz_labels, sizeof npz_labels);
  const help_member members[] = {
      {"logits.npy", scores.bytes, scores.length, deflated, wide, 0},
      {"notes.txt", "hello", 5, deflated, wide, 0},
      {"labels.npy", labels.bytes, labels.length, deflated, wide, 0},
  };
  const help_zip zip = help_zip_make(members, 3, wide, "");
  free(scores.bytes);
  free(labels.bytes);
  return zip;
}

static help_zip npz_of(const char *name, const void *bytes, size_t length) {
  const help_member member = {.name = name, .data = bytes, .size = length};
  return help_zip_make(&member, 1, 0, "");
}

static pcal_status npz_open(const pc_input_file *bytes, const char *selector, pc_column_role as,
                            const pcal_env *env, pc_reader *reader, pcal_error *err) {
  const pc_read_request request = {.env = env, .bytes = bytes, .selector = selector, .as = as};
  return pc_reader_open(&request, reader, err);
}

static void expect_scores(const help_zip *zip, const char *selector) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  pcal_error err;
  pc_input_file_from_memory("d.npz", zip->bytes, zip->length, &bytes);
  if (npz_open(&bytes, selector, PC_COLUMN_SCORES, &env, &reader, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_string_equal(reader.format->name, "npz");
  assert_string_equal(reader.bytes->name, "d.npz:logits");
  assert_string_equal(reader.stored, "float32");
  assert_int_equal(reader.cells, PC_CELLS_F32);
  assert_int_equal(reader.rows, 3);
  assert_int_equal(reader.columns, 2);
  assert_int_equal(reader.file_columns, 2);
  assert_null(reader.names);
  assert_false(pc_reader_has_lines(&reader));
  for (int pass = 0; pass < 2; pass++) {
    assert_int_equal(pc_reader_next(&reader, 2, &window, &err), PCAL_OK);
    assert_int_equal(window.rows, 2);
    assert_memory_equal(window.data, npz_scores, 16);
    assert_int_equal(pc_reader_next(&reader, 2, &window, &err), PCAL_OK);
    assert_int_equal(window.rows, 1);
    assert_memory_equal(window.data, npz_scores + 4, 8);
    assert_int_equal(pc_reader_next(&reader, 2, &window, &err), PCAL_OK);
    assert_int_equal(window.rows, 0);
    pc_reader_rewind(&reader);
  }
  pc_reader_close(&reader);
}

TEST(reads_arrays) {
  for (int deflated = 0; deflated < 2; deflated++) {
    for (int wide = 0; wide < 2; wide++) {
      const help_zip zip = npz_make(deflated, wide);
      expect_scores(&zip, "logits");
      expect_scores(&zip, "logits.npy");
      free(zip.bytes);
    }
  }
}

TEST(reads_labels_and_text) {
  const pcal_env env = help_plain_env();
  const help_zip zip = npz_make(1, 0);
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  pc_input_file_from_memory("d.npz", zip.bytes, zip.length, &bytes);
  assert_int_equal(npz_open(&bytes, "labels", PC_COLUMN_LABELS, &env, &reader, NULL), PCAL_OK);
  assert_int_equal(pc_reader_next(&reader, 9, &window, NULL), PCAL_OK);
  assert_int_equal(window.rows, 3);
  assert_int_equal(reader.cells, PC_CELLS_I64);
  assert_true(((const int64_t *)window.data)[2] == 1);
  pc_reader_close(&reader);
  assert_int_equal(npz_open(&bytes, "labels", PC_COLUMN_TEXT, &env, &reader, NULL), PCAL_OK);
  assert_int_equal(pc_reader_next(&reader, 9, &window, NULL), PCAL_OK);
  assert_true(pc_slice_is(((const pc_slice *)window.data)[1], "0"));
  pc_reader_close(&reader);
  free(zip.bytes);
}

/* Padded so that the array is aligned, a stored array is not copied. */
TEST(does_not_copy_stored_arrays) {
  pcal_env env = help_plain_env();
  env.map_files = 1;
  const help_npy npy = help_npy_make(1, "=f4", 0, "(3, 2)", npz_scores, sizeof npz_scores);
  const help_zip zip = npz_of("four__.npy", npy.bytes, npy.length);
  const char *path = help_file("view.npz", zip.bytes, zip.length);
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  assert_int_equal(zip.data[0] % 4, 0);
  assert_int_equal(pc_input_file_open(path, &env, &bytes, NULL), PCAL_OK);
  assert_int_equal(npz_open(&bytes, NULL, PC_COLUMN_SCORES, &env, &reader, NULL), PCAL_OK);
  assert_int_equal(pc_reader_next(&reader, SIZE_MAX, &window, NULL), PCAL_OK);
  assert_int_equal(window.rows, 3);
  assert_ptr_equal(window.data, bytes.data + zip.data[0] + (npy.length - sizeof npz_scores));
  assert_int_equal(truncate(path, (off_t)zip.length - 1), 0);
  pcal_error err;
  assert_int_equal(pc_reader_next(&reader, 1, &window, &err), PCAL_IO);
  assert_message(err, "view.npz:four__ shrank from");
  pc_reader_close(&reader);
  pc_input_file_close(&bytes);
  free(npy.bytes);
  free(zip.bytes);
}

static void expect_refused(const help_zip *zip, const char *selector, pcal_status wanted,
                           const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  pc_input_file bytes;
  pc_reader reader;
  pcal_error err;
  pc_input_file_from_memory("d.npz", zip->bytes, zip->length, &bytes);
  assert_int_equal(npz_open(&bytes, selector, PC_COLUMN_SCORES, &env, &reader, &err), wanted);
  assert_message(err, sentence);
  assert_null(reader.format);
  assert_int_equal(counter.live, 0);
}

TEST(refuses_unclear_selectors) {
  const help_zip zip = npz_make(0, 0);
  expect_refused(&zip, NULL, PCAL_USAGE,
                 "d.npz has 2 arrays, \"logits\" and \"labels\"; choose one as d.npz:NAME");
  expect_refused(&zip, "logit", PCAL_USAGE,
                 "d.npz has no array \"logit\"; did you mean \"logits\"?");
  expect_refused(&zip, "notes.txt", PCAL_USAGE, "d.npz has no array \"notes.txt\"; it has");
  free(zip.bytes);
}

TEST(refuses_bad_archives) {
  const help_member twins[] = {{.name = "a.npy", .data = "1", .size = 1},
                               {.name = "a.npy", .data = "2", .size = 1}};
  help_zip zip = help_zip_make(twins, 2, 0, "");
  expect_refused(&zip, "a", PCAL_DATA, "d.npz has two arrays called \"a\"; rename one");
  free(zip.bytes);
  zip = npz_of("a.txt", "1", 1);
  expect_refused(&zip, NULL, PCAL_DATA,
                 "d.npz contains no arrays; write it with "
                 "numpy.savez");
  free(zip.bytes);
  zip = npz_of("\xFF.npy", "1", 1);
  expect_refused(&zip, NULL, PCAL_DATA,
                 "d.npz: the name \"?\" of an array is not valid UTF-8; rename it");
  free(zip.bytes);
  zip = npz_of("a.npy", "", 0);
  expect_refused(&zip, NULL, PCAL_DATA, "d.npz:a is not a npy file");
  free(zip.bytes);
  const help_npy npy = help_npy_make(1, "=f4", 0, "(4, 2)", npz_scores, sizeof npz_scores);
  zip = npz_of("a.npy", npy.bytes, npy.length);
  expect_refused(&zip, "a", PCAL_DATA, "d.npz:a is truncated: the npy header says 4 x 2");
  free(zip.bytes);
  free(npy.bytes);
}

TEST(lists_members) {
  const pcal_env env = help_plain_env();
  const help_zip zip = npz_make(0, 0);
  const pc_file_format *format = NULL;
  pc_input_file bytes;
  pc_name_table names;
  pc_input_file_from_memory("d.npz", zip.bytes, zip.length, &bytes);
  pc_name_table_init(&names, &env);
  assert_int_equal(pc_file_format_find(&bytes, &format, NULL), PCAL_OK);
  assert_int_equal(format->members(&bytes, &env, &names, NULL), PCAL_OK);
  assert_int_equal(names.count, 2);
  assert_string_equal(names.text[0], "logits");
  assert_string_equal(names.text[1], "labels");
  pc_name_table_free(&names);
  free(zip.bytes);
}

static pcal_status npz_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const help_zip *zip = user;
  pc_input_file bytes;
  pc_reader reader;
  pc_window window;
  pc_input_file_from_memory("d.npz", zip->bytes, zip->length, &bytes);
  PC_TRY(npz_open(&bytes, "labels", PC_COLUMN_TEXT, env, &reader, err));
  const pcal_status status = pc_reader_next(&reader, 9, &window, err);
  pc_reader_close(&reader);
  return status;
}

TEST(survives_every_failed_allocation) {
  for (int deflated = 0; deflated < 2; deflated++) {
    help_zip zip = npz_make(deflated, 0);
    help_fail_each_allocation(npz_scenario, &zip);
    free(zip.bytes);
  }
}

TEST_GROUP(help_setup, help_teardown)
