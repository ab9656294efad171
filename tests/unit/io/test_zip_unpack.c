#include "zip_help.h"

#include "io/formats/zip.h"

static const char unpack_text[] =
    "the same words, the same words, the same words, the same words";

/* An archive of one entry, opened. */
typedef struct unpack_case {
  help_zip made;
  pc_input_file bytes;
  pc_zip zip;
} unpack_case;

static unpack_case unpack_open(const void *data, size_t size, int deflated) {
  const pcal_env env = help_plain_env();
  const help_member member = {
      .name = "a.npy", .data = data, .size = size, .deflated = deflated};
  unpack_case out = {.made = help_zip_make(&member, 1, 0, "")};
  pc_input_file_from_memory("z.npz", out.made.bytes, out.made.length, &out.bytes);
  assert_int_equal(pc_zip_read(&out.bytes, &env, &out.zip, NULL), PCAL_OK);
  return out;
}

static void unpack_close(unpack_case *open) {
  const pcal_env env = help_plain_env();
  pc_zip_free(&env, &open->zip);
  free(open->made.bytes);
}

TEST(uses_stored_entries_where_they_lie) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  unpack_case open = unpack_open(unpack_text, sizeof unpack_text, 0);
  pc_zip_content content;
  assert_int_equal(
      pc_zip_unpack(&open.bytes, &open.zip.entries[0], "z.npz:a", &env, &content, NULL),
      PCAL_OK);
  assert_ptr_equal(content.data, open.made.bytes + open.made.data[0]);
  assert_int_equal(content.length, sizeof unpack_text);
  assert_null(content.block);
  assert_int_equal(counter.calls, 0);
  unpack_close(&open);
}

/* Longer than a step of unpacking, so that there are several. */
TEST(unpacks_deflated_entries) {
  const size_t sizes[] = {0, 1, sizeof unpack_text, (1u << 24) - 1, 1u << 24, (1u << 24) + 1};
  unsigned char *data = malloc((1u << 24) + 1);
  assert_non_null(data);
  for (size_t i = 0; i <= 1u << 24; i++)
    data[i] = (unsigned char)((i >> 8) * 37 + (i & 3));
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    help_counter counter = {0};
    const pcal_env env = help_env(&counter);
    unpack_case open = unpack_open(data, sizes[k], 1);
    pc_zip_content content;
    pcal_error err;
    if (pc_zip_unpack(&open.bytes, &open.zip.entries[0], "z.npz:a", &env, &content, &err) !=
        PCAL_OK)
      fail_msg("%s", err.message);
    assert_int_equal(content.length, sizes[k]);
    assert_memory_equal(content.data, data, sizes[k]);
    assert_true(counter.calls >= 2);
    assert_int_equal(counter.live, 1);
    pc_free(&env, content.block);
    unpack_close(&open);
  }
  free(data);
}

static void expect_refused(const unpack_case *open, uint64_t limit, pcal_status wanted,
                           const char *sentence) {
  help_counter counter = {0};
  pcal_env env = help_env(&counter);
  pc_zip_content content;
  pcal_error err;
  env.memory_limit = limit;
  assert_int_equal(
      pc_zip_unpack(&open->bytes, &open->zip.entries[0], "z.npz:a", &env, &content, &err),
      wanted);
  assert_string_equal(err.message, sentence);
  assert_null(content.block);
  assert_int_equal(counter.live, 0);
  if (wanted == PCAL_MEMORY)
    assert_int_equal(counter.calls, 0);
}

TEST(refuses_other_methods) {
  unpack_case open = unpack_open(unpack_text, sizeof unpack_text, 1);
  const unsigned encrypted[] = {1, 1u << 6, 1u << 13};
  for (size_t i = 0; i < 3; i++) {
    open.zip.entries[0].flags = encrypted[i];
    expect_refused(&open, 0, PCAL_DATA,
                   "z.npz:a is encrypted; write the file without a password");
  }
  open.zip.entries[0].flags = 0;
  open.zip.entries[0].method = 12;
  expect_refused(&open, 0, PCAL_DATA,
                 "z.npz:a is compressed by method 12; write it with numpy.savez or "
                 "numpy.savez_compressed");
  open.zip.entries[0].method = PC_ZIP_STORED;
  expect_refused(
      &open, 0, PCAL_DATA,
      "z.npz:a is damaged: it is stored, but its two sizes differ; copy or write the "
      "file again");
  unpack_close(&open);
}

/* The packed bytes of these do not exist: the declared sizes decide. */
TEST(refuses_bombs_before_unpacking) {
  unpack_case open = unpack_open(unpack_text, sizeof unpack_text, 1);
  pc_zip_entry *entry = &open.zip.entries[0];
  entry->packed = 1000;
  entry->unpacked = 1032 * 1001;
  expect_refused(&open, 0, PCAL_DATA,
                 "z.npz:a claims to unpack from 1000 to 1033032 bytes, more than deflate "
                 "can compress; the file is damaged or malicious, so do not trust it");
  entry->unpacked = 1032 * 1001 - 1;
  expect_refused(&open, 1000000, PCAL_MEMORY,
                 "z.npz:a unpacks to 1033031 bytes, more than the limit of 1000000; write the "
                 "file with numpy.savez, which is read in place");
  entry->packed = UINT64_C(1) << 30;
  entry->unpacked = (UINT64_C(1) << 32) + 1;
  expect_refused(
      &open, 0, PCAL_MEMORY,
      "z.npz:a unpacks to 4294967297 bytes, more than the limit of 4294967296; write "
      "the file with numpy.savez, which is read in place");
  unpack_close(&open);
}

TEST(allows_exactly_the_limit) {
  pcal_env env = help_plain_env();
  unpack_case open = unpack_open(unpack_text, sizeof unpack_text, 1);
  pc_zip_content content;
  env.memory_limit = sizeof unpack_text;
  assert_int_equal(
      pc_zip_unpack(&open.bytes, &open.zip.entries[0], "z.npz:a", &env, &content, NULL),
      PCAL_OK);
  pc_free(&env, content.block);
  unpack_close(&open);
}

TEST(refuses_damage) {
  static const char crc[] = "z.npz:a is damaged: its CRC-32 is not the one that was written; "
                            "copy or write the file again";
  unpack_case open = unpack_open(unpack_text, sizeof unpack_text, 1);
  pc_zip_entry *entry = &open.zip.entries[0];
  entry->crc ^= 1;
  expect_refused(&open, 0, PCAL_DATA, crc);
  entry->crc ^= 1;
  entry->unpacked -= 1;
  expect_refused(&open, 0, PCAL_DATA,
                 "z.npz:a is damaged: it unpacks to more than its declared size; copy or write "
                 "the file again");
  entry->unpacked += 2;
  expect_refused(&open, 0, PCAL_DATA,
                 "z.npz:a is damaged: it is not as long as declared; copy or write the file "
                 "again");
  entry->unpacked -= 1;
  entry->packed += 3;
  expect_refused(&open, 0, PCAL_DATA,
                 "z.npz:a is damaged: it is not as long as declared; copy or write the file "
                 "again");
  entry->packed -= 4;
  expect_refused(&open, 0, PCAL_DATA,
                 "z.npz:a is damaged: its packed bytes cannot be unpacked; copy or write the "
                 "file again");
  entry->packed += 1;
  open.made.bytes[open.made.data[0]] = 0x07;
  expect_refused(&open, 0, PCAL_DATA,
                 "z.npz:a is damaged: its packed bytes cannot be unpacked; copy or write the "
                 "file again");
  unpack_close(&open);
  open = unpack_open(unpack_text, sizeof unpack_text, 0);
  open.made.bytes[open.made.data[0] + 3] ^= 0x20;
  expect_refused(&open, 0, PCAL_DATA, crc);
  unpack_close(&open);
}

static int unpack_interrupt(void *user) {
  return ++*(int *)user >= 2;
}

TEST(stops_when_interrupted) {
  const size_t size = 3u << 24;
  char *zeros = calloc(size, 1);
  assert_non_null(zeros);
  for (int deflated = 0; deflated < 2; deflated++) {
    help_counter counter = {0};
    pcal_env env = help_env(&counter);
    int looks = 0;
    env.interrupted = unpack_interrupt;
    env.user = &looks;
    unpack_case open = unpack_open(zeros, deflated ? size : 1u << 25, deflated);
    pc_zip_content content;
    assert_int_equal(
        pc_zip_unpack(&open.bytes, &open.zip.entries[0], "z.npz:a", &env, &content, NULL),
        PCAL_INTERRUPTED);
    assert_int_equal(counter.live, 0);
    unpack_close(&open);
  }
  free(zeros);
}

static pcal_status unpack_scenario(const pcal_env *env, void *user, pcal_error *err) {
  const unpack_case *open = user;
  pc_zip_content content;
  PC_TRY(pc_zip_unpack(&open->bytes, &open->zip.entries[0], "z.npz:a", env, &content, err));
  pc_free(env, content.block);
  return PCAL_OK;
}

TEST(survives_every_failed_allocation) {
  unpack_case open = unpack_open(unpack_text, sizeof unpack_text, 1);
  help_fail_each_allocation(unpack_scenario, &open);
  unpack_close(&open);
}
