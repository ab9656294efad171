/* Journals that somebody else could have written: only those of the form that
 * pc_output_journal_write writes are followed. */
#define _GNU_SOURCE
#include "../unit.h"
#include "io_help.h"

#include <errno.h>

#include "base/checksum.h"
#include "io/output_journal.h"

enum { JOURNAL_MOST = 65536, JOURNAL_PATH = 4096 };

static const char journal_head[] = "propercal pending 1\n";

/* A path in the directory of the test that stays valid. */
typedef struct journal_path {
  char text[256];
} journal_path;

static journal_path journal_in(const char *name) {
  journal_path out;
  snprintf(out.text, sizeof out.text, "%s/%s", help_directory, name);
  return out;
}

/* ---- journals of any content ---- */

static size_t journal_seal(char *bytes, size_t length) {
  pc_checksum checksum;
  pc_checksum_start(&checksum);
  pc_checksum_add(&checksum, bytes, length);
  return length +
         (size_t)sprintf(bytes + length, "%08lx", (unsigned long)pc_checksum_value(&checksum));
}

static size_t journal_add(char *bytes, size_t length, const char *path) {
  memcpy(bytes + length, path, strlen(path) + 1);
  return length + strlen(path) + 1;
}

/* The journal of `one` with these bytes, which only this user may write. */
static void journal_put(const char *bytes, size_t length) {
  assert_int_equal(chmod(help_file(".one.pending", bytes, length), 0600), 0);
}

static void journal_files(void) {
  help_text("one", "old");
  help_text(".one.1-0.tmp", "new");
}

/* Replays the journal next to `one`, and returns whether the file became new. */
static int journal_follows(void) {
  const pcal_env env = pc_env_resolve(NULL);
  char text[16];
  pc_output_journal_replay(help_path("one"), &env);
  help_read(help_path("one"), text, sizeof text);
  return strcmp(text, "new") == 0;
}

/* A journal with `entries` equal entries. */
static int journal_try(const char *temporary, const char *target, size_t entries) {
  char bytes[JOURNAL_PATH * 8];
  size_t length = strlen(strcpy(bytes, journal_head));
  for (size_t i = 0; i < entries; i++) {
    length = journal_add(bytes, length, temporary);
    length = journal_add(bytes, length, target);
  }
  journal_files();
  journal_put(bytes, journal_seal(bytes, length));
  return journal_follows();
}

TEST(a_journal_is_followed_once) {
  char text[16];
  assert_true(journal_try(help_path(".one.1-0.tmp"), help_path("one"), 1));
  assert_int_equal(access(help_path(".one.pending"), F_OK), -1);
  assert_int_equal(access(help_path(".one.1-0.tmp"), F_OK), -1);
  help_text("one", "later");
  assert_false(journal_follows());
  help_read(help_path("one"), text, sizeof text);
  assert_string_equal(text, "later");
}

/* A file renamed by the process that wrote the journal is not missed. */
TEST(a_rename_that_was_done) {
  char bytes[1024];
  size_t length = strlen(strcpy(bytes, journal_head));
  length = journal_add(bytes, length, help_path(".one.1-0.tmp"));
  length = journal_add(bytes, length, help_path("one"));
  help_text("one", "new");
  journal_put(bytes, journal_seal(bytes, length));
  assert_true(journal_follows());
  assert_int_equal(access(help_path(".one.pending"), F_OK), -1);
}

TEST(only_temporary_names_beside_the_target) {
  const journal_path target = journal_in("one");
  const char *one = target.text;
  assert_false(journal_try("/tmp/.one.1-0.tmp", one, 1)); /* another directory */
  assert_false(journal_try(help_path("xone.1-0.tmp"), one, 1));
  assert_false(journal_try(help_path(".two.1-0.tmp"), one, 1));
  assert_false(journal_try(help_path(".one/1-0.tmp"), one, 1));
  assert_false(journal_try(help_path(".one.tmp"), one, 1)); /* nothing between the names */
  assert_false(journal_try(help_path(".one.1-0.txt"), one, 1));
  assert_false(journal_try(".one.1-0.tmp", "one", 1)); /* relative */
}

TEST(at_most_sixteen_entries) {
  const journal_path temporary = journal_in(".one.1-0.tmp"), one = journal_in("one");
  assert_true(journal_try(temporary.text, one.text, 16));
  assert_false(journal_try(temporary.text, one.text, 17));
  assert_false(journal_try(temporary.text, one.text, 0));
}

TEST(damaged_journals) {
  char whole[1024], bytes[1024];
  size_t length = strlen(strcpy(whole, journal_head));
  length = journal_add(whole, length, help_path(".one.1-0.tmp"));
  length = journal_add(whole, length, help_path("one"));
  const size_t all = journal_seal(whole, length);
  journal_files();
  for (size_t cut = 0; cut < all; cut++) {
    journal_put(whole, cut);
    assert_false(journal_follows());
  }
  for (size_t cut = sizeof journal_head - 1; cut < length; cut++) { /* with a checksum */
    memcpy(bytes, whole, cut);
    journal_put(bytes, journal_seal(bytes, cut));
    assert_false(journal_follows());
  }
  memcpy(bytes, whole, length);
  bytes[0] = 'P';
  journal_put(bytes, journal_seal(bytes, length));
  assert_false(journal_follows());
  journal_put(whole, all);
  assert_true(journal_follows());
}

/* Two files: both have the same journal, or nothing is renamed. */
TEST(every_target_has_the_journal) {
  const pcal_env env = pc_env_resolve(NULL);
  const journal_path from[] = {journal_in(".one.1-0.tmp"), journal_in(".two.1-0.tmp")};
  const journal_path to[] = {journal_in("one"), journal_in("two")};
  const pc_journal_entry files[] = {{from[0].text, to[0].text}, {from[1].text, to[1].text}};
  char bytes[1024];
  for (int change = 0; change < 3; change++) {
    journal_files();
    help_text("two", "old");
    help_text(".two.1-0.tmp", "new");
    assert_int_equal(pc_output_journal_write(files, 2, &env), 0);
    const char *second = help_path(".two.pending");
    const size_t length = help_read(second, bytes, sizeof bytes);
    bytes[length / 2] ^= 1;
    if (change == 1)
      assert_int_equal(chmod(help_file(".two.pending", bytes, length), 0600), 0);
    if (change == 2)
      assert_int_equal(unlink(second), 0);
    assert_int_equal(journal_follows(), change == 0);
  }
}

TEST(a_journal_is_a_small_file) {
  static char bytes[JOURNAL_MOST + 16];
  journal_files();
  memset(bytes, 'x', sizeof bytes);
  journal_put(bytes, sizeof bytes);
  assert_false(journal_follows());
  assert_int_equal(unlink(help_path(".one.pending")), 0);
  assert_int_equal(mkdir(help_path(".one.pending"), 0700), 0);
  assert_false(journal_follows());
  assert_int_equal(rmdir(help_path(".one.pending")), 0);
}

/* ---- names ---- */

TEST(links_that_lead_nowhere) {
  const pcal_env env = pc_env_resolve(NULL);
  char far[JOURNAL_PATH];
  memset(far, 'x', sizeof far - 2);
  for (size_t i = 0; i < sizeof far - 2; i += 100)
    far[i] = '/';
  far[0] = 'x';
  far[sizeof far - 2] = '\0';
  assert_int_equal(symlink(help_path("loop"), help_path("loop")), 0);
  assert_int_equal(symlink(far, help_path("far")), 0); /* with the directory it is too long */
  pc_output_journal_replay(help_path("loop"), &env);
  pc_output_journal_replay(help_path("far"), &env);
}

/* Paths of 4,096 bytes and more, and such that have no room for ".NAME.pending". */
TEST(long_names) {
  const pcal_env env = pc_env_resolve(NULL);
  char path[2 * JOURNAL_PATH];
  memset(path, 'x', sizeof path);
  for (size_t i = 0; i < sizeof path; i += 100)
    path[i] = '/';
  const pc_journal_entry file = {help_path(".one.1-0.tmp"), path};
  path[JOURNAL_PATH + 10] = '\0';
  pc_output_journal_replay(path, &env);
  path[JOURNAL_PATH - 4] = '\0';
  pc_output_journal_replay(path, &env);
  assert_int_equal(pc_output_journal_write(&file, 1, &env), ENAMETOOLONG);
}

TEST(too_many_files_or_names) {
  const pcal_env env = pc_env_resolve(NULL);
  const journal_path temporary = journal_in(".one.1-0.tmp"), one = journal_in("one");
  static char path[JOURNAL_PATH];
  pc_journal_entry files[17];
  for (size_t i = 0; i < UNIT_COUNT(files); i++)
    files[i] = (pc_journal_entry){temporary.text, one.text};
  assert_int_equal(pc_output_journal_write(files, 17, &env), E2BIG);
  assert_int_equal(access(help_path(".one.pending"), F_OK), -1);
  memset(path, 'x', sizeof path - 1);
  path[0] = '/';
  for (size_t i = 0; i < 16; i++)
    files[i] = (pc_journal_entry){path, path};
  assert_int_equal(pc_output_journal_write(files, 16, &env), ENOMEM); /* 128 KiB */
}

/* A journal has absolute names, so that it can be followed from another directory. */
TEST(names_relative_to_the_directory) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_journal_entry file = {".one.1-0.tmp", "one"};
  journal_files();
  char *before = get_current_dir_name();
  assert_int_equal(chdir(help_directory), 0);
  assert_int_equal(pc_output_journal_write(&file, 1, &env), 0);
  assert_int_equal(chdir(before), 0);
  assert_true(journal_follows());
  free(before);
}

TEST(a_directory_that_is_gone) {
  const pcal_env env = pc_env_resolve(NULL);
  const pc_journal_entry file = {".one.1-0.tmp", "one"};
  char *before = get_current_dir_name();
  assert_int_equal(mkdir(help_path("gone"), 0700), 0);
  assert_int_equal(chdir(help_path("gone")), 0);
  assert_int_equal(rmdir(help_path("gone")), 0);
  const int failure = pc_output_journal_write(&file, 1, &env);
  assert_int_equal(chdir(before), 0);
  assert_int_equal(failure, ENOMEM);
  free(before);
}

TEST_GROUP(help_setup, help_teardown)
