#include "io/formats/zip.h"

#include "zip_help.h"

static const help_member zip_members[] = {
    {.name = "a.npy", .data = "first entry", .size = 11},
    {.name = "b.npy", .data = "second second second second", .size = 27, .deflated = 1},
    {.name = "c.npy", .data = "third", .size = 5, .wide = 1},
    {.name = "d.npy", .data = "", .size = 0},
    {.name = "e.npy", .data = "fifth fifth fifth", .size = 17, .deflated = 1, .streamed = 1},
};

static pcal_status zip_read(const help_zip *zip, pc_zip *out, const pcal_env *env,
                            pcal_error *err) {
  pc_input_file bytes;
  pc_input_file_from_memory("z.npz", zip->bytes, zip->length, &bytes);
  return pc_zip_read(&bytes, env, out, err);
}

static void expect_entries(const help_zip *made) {
  const pcal_env env = help_plain_env();
  pc_zip zip;
  pcal_error err;
  if (zip_read(made, &zip, &env, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  assert_int_equal(zip.count, 5);
  for (size_t i = 0; i < 5; i++) {
    const pc_zip_entry *entry = &zip.entries[i];
    assert_true(pc_slice_is(entry->name, zip_members[i].name));
    assert_int_equal(entry->method, zip_members[i].deflated ? 8 : 0);
    assert_int_equal(entry->unpacked, zip_members[i].size);
    assert_int_equal(entry->packed, made->packed[i]);
    assert_int_equal(entry->crc, made->crcs[i]);
    assert_int_equal(entry->header, made->locals[i]);
    assert_int_equal(entry->data, made->data[i]);
  }
  pc_zip_free(&env, &zip);
  assert_null(zip.entries);
}

TEST(reads_directories) {
  for (int wide = 0; wide < 2; wide++) {
    help_zip plain = help_zip_make(zip_members, 5, wide, "");
    help_zip comment = help_zip_make(zip_members, 5, wide, "a comment with PK\5\6 in it");
    expect_entries(&plain);
    expect_entries(&comment);
    free(plain.bytes);
    free(comment.bytes);
  }
}

TEST(reads_entries_in_any_order) {
  const pcal_env env = help_plain_env();
  const help_member members[] = {{.name = "a", .data = "1", .size = 1},
                                 {.name = "b", .data = "2", .size = 1}};
  help_zip made = help_zip_make(members, 2, 0, "");
  pc_zip zip;
  help_poke(&made, made.centrals[0] + 42, made.locals[1], 4);
  help_poke(&made, made.centrals[0] + 46, 'b', 1);
  help_poke(&made, made.centrals[0] + 16, made.crcs[1], 4);
  help_poke(&made, made.centrals[1] + 42, made.locals[0], 4);
  help_poke(&made, made.centrals[1] + 46, 'a', 1);
  help_poke(&made, made.centrals[1] + 16, made.crcs[0], 4);
  assert_int_equal(zip_read(&made, &zip, &env, NULL), PCAL_OK);
  assert_true(pc_slice_is(zip.entries[0].name, "b"));
  assert_int_equal(zip.entries[0].data, made.data[1]);
  pc_zip_free(&env, &zip);
  free(made.bytes);
}

static void expect_refused(const help_zip *zip, const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  pc_zip out;
  pcal_error err;
  assert_int_equal(zip_read(zip, &out, &env, &err), PCAL_DATA);
  assert_message(err, sentence);
  assert_null(out.entries);
  assert_int_equal(counter.live, 0);
}

TEST(refuses_every_truncation) {
  for (int wide = 0; wide < 2; wide++) {
    help_zip zip = help_zip_make(zip_members, 5, wide, "comment");
    const size_t whole = zip.length;
    for (zip.length = 2; zip.length < whole; zip.length++)
      expect_refused(&zip, "z.npz is not a valid zip archive: its directory is missing, so "
                           "it may be truncated; copy it or write it again with "
                           "numpy.savez");
    free(zip.bytes);
  }
}

TEST(refuses_what_is_no_zip) {
  help_zip text = {.bytes = (unsigned char[]){"hello"}, .length = 5};
  help_zip npy = {.bytes = (unsigned char[]){"\x93NUMPY\1"}, .length = 7};
  help_zip one = {.bytes = (unsigned char[]){"P"}, .length = 1};
  expect_refused(&text, "z.npz is not a zip archive: it does not begin with PK; write it with "
                        "numpy.savez");
  expect_refused(&npy, "(it looks like a .npy file)");
  expect_refused(&one, "is not a zip archive");
}

/* One lie: `value` in place of the field at `at` of an honest archive. */
static void expect_lie(int wide, size_t member, size_t field, uint64_t value, size_t size,
                       const char *sentence) {
  help_zip zip = help_zip_make(zip_members, 5, wide, "");
  const size_t places[] = {zip.centrals[member % 5], zip.locals[member % 5], zip.end,
                           zip.record, zip.locator};
  help_poke(&zip, places[member / 5] + field, value, size);
  expect_refused(&zip, sentence);
  free(zip.bytes);
}

enum { CENTRAL = 0, LOCAL = 5, END = 10, RECORD = 15, LOCATOR = 20 };

TEST(refuses_entries_that_lie) {
  static const char differs[] = "\" is described differently by its local header";
  expect_lie(0, LOCAL + 0, 30, 'x', 1, "the entry \"a.npy\" is described differently");
  expect_lie(0, LOCAL + 0, 8, 8, 2, differs);
  expect_lie(0, LOCAL + 0, 14, 7, 4, differs);
  expect_lie(0, LOCAL + 0, 18, 10, 4, differs);
  expect_lie(0, LOCAL + 1, 22, 1000000, 4, differs);
  expect_lie(0, LOCAL + 2, 30 + 5 + 4, 6, 8, differs);
  expect_lie(0, CENTRAL + 1, 24, 1000000, 4, differs);
  expect_lie(0, CENTRAL + 1, 16, 1, 4, differs);
  expect_lie(0, LOCAL + 1, 0, 0, 4, "the entry \"b.npy\" has no local header");
  expect_lie(0, CENTRAL + 0, 42, 1, 4, "has no local header");
  expect_lie(0, CENTRAL + 0, 42, 0xFFFFFFF0, 4, "begins outside the file");
  expect_lie(0, CENTRAL + 2, 46 + 5 + 6 + 20, UINT64_MAX, 8, "begins outside the file");
  expect_lie(0, CENTRAL + 4, 20, 0xFFFFFFF0, 4, "reaches outside the file");
  expect_lie(0, CENTRAL + 2, 46 + 5 + 6 + 12, UINT64_MAX, 8, "reaches outside the file");
  expect_lie(0, CENTRAL + 0, 34, 1, 2, "lies in another part");
  expect_lie(0, CENTRAL + 0, 34, UINT16_MAX, 2, "lies in another part");
  expect_lie(0, CENTRAL + 2, 34, UINT16_MAX, 2, "lies in another part");
  expect_lie(0, CENTRAL + 0, 20, UINT32_MAX, 4, "has a malformed extra field");
  expect_lie(0, CENTRAL + 0, 42, UINT32_MAX, 4, "has a malformed extra field");
  expect_lie(0, LOCAL + 0, 26, 4, 2, "a.npy\"");
  expect_lie(0, LOCAL + 0, 26, 60000, 2, "reaches outside the file");
  expect_lie(0, CENTRAL + 0, 24, UINT32_MAX, 4, "has a malformed extra field");
  expect_lie(0, CENTRAL + 2, 46 + 5 + 6 + 2, 8, 2, "has a malformed extra field");
  expect_lie(0, CENTRAL + 2, 46 + 5 + 6 + 2, 999, 2, "has a malformed extra field");
}

TEST(refuses_directories_that_lie) {
  expect_lie(0, END, 4, 1, 2, "it is one of several parts");
  expect_lie(0, END, 6, 1, 2, "it is one of several parts");
  expect_lie(0, END, 8, 4, 2, "it is one of several parts");
  expect_lie(0, END, 8, 0x00040004, 4, "its directory contains more than its entries");
  expect_lie(0, END, 8, 0x00060006, 4, "its directory is malformed");
  expect_lie(0, END, 8, 0x03000300, 4, "its directory is too short for its entries");
  expect_lie(0, END, 12, 7, 4, "its directory is not where its end record says");
  expect_lie(0, END, 16, 7, 4, "its directory is not where its end record says");
  expect_lie(0, END, 16, 0xFFFFFFF0, 4, "its directory is not where its end record says");
  expect_lie(0, END, 16, UINT32_MAX, 4, "its zip64 record is missing");
  expect_lie(0, END, 4, UINT16_MAX, 2, "its zip64 record is missing");
  expect_lie(0, END, 6, UINT16_MAX, 2, "its zip64 record is missing");
  expect_lie(0, END, 8, UINT16_MAX, 2, "its zip64 record is missing");
  expect_lie(0, END, 10, UINT16_MAX, 2, "its zip64 record is missing");
  expect_lie(0, END, 12, UINT32_MAX, 4, "its zip64 record is missing");
  expect_lie(0, END, 20, 1, 2, "its directory is missing, so it may be truncated");
  expect_lie(0, CENTRAL + 1, 0, 0, 4, "its directory is malformed");
  expect_lie(0, CENTRAL + 4, 28, 60000, 2, "its directory is malformed");
  expect_lie(1, RECORD, 0, 0, 4, "its zip64 record is malformed");
  expect_lie(1, RECORD, 4, 45, 8, "its zip64 record is malformed");
  expect_lie(1, RECORD, 16, 1, 4, "it is one of several parts");
  expect_lie(1, RECORD, 24, 4, 8, "it is one of several parts");
  expect_lie(1, RECORD, 48, UINT64_MAX, 8, "its directory is not where its end record says");
  expect_lie(1, LOCATOR, 0, 0, 4, "its zip64 record is missing");
  expect_lie(1, LOCATOR, 8, UINT64_MAX, 8, "its zip64 record is missing");
  expect_lie(1, LOCATOR, 16, 2, 4, "it is one of several parts");
  expect_lie(1, LOCATOR, 4, 1, 4, "it is one of several parts");
  expect_lie(1, RECORD, 20, 1, 4, "it is one of several parts");
}

/* Two names for the same bytes, and an entry inside another. */
TEST(refuses_entries_that_overlap) {
  const help_member twins[] = {{.name = "a", .data = "12345678", .size = 8},
                               {.name = "a", .data = "12345678", .size = 8}};
  help_zip zip = help_zip_make(twins, 2, 0, "");
  help_poke(&zip, zip.centrals[1] + 42, zip.locals[0], 4);
  expect_refused(&zip,
                 "z.npz is not a valid zip archive: its entries overlap; copy it or write "
                 "it again with numpy.savez");
  free(zip.bytes);
  const help_member inner = {.name = "in", .data = "12345678", .size = 8};
  help_zip small = help_zip_make(&inner, 1, 0, "");
  const help_member outer[] = {{.name = "out", .data = small.bytes, .size = small.directory},
                               inner};
  zip = help_zip_make(outer, 2, 0, "");
  help_poke(&zip, zip.centrals[1] + 42, zip.data[0], 4);
  expect_refused(&zip, "its entries overlap");
  free(small.bytes);
  free(zip.bytes);
}

static pcal_status zip_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_zip zip;
  PC_TRY(zip_read(user, &zip, env, err));
  pc_zip_free(env, &zip);
  return PCAL_OK;
}

TEST(survives_every_failed_allocation) {
  help_zip zip = help_zip_make(zip_members, 5, 1, "");
  help_fail_each_allocation(zip_scenario, &zip);
  free(zip.bytes);
}
