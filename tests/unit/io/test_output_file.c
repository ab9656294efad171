#include "io/output_file.h"

#include <fcntl.h>

#include "io_help.h"

static pcal_output *output_open(const char *path) {
  pcal_output *output = NULL;
  pcal_error err;
  if (pc_output_file_open(path, NULL, &output, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return output;
}

/* As on systems without nameless files. */
static pcal_output *output_open_named(const char *path) {
  pcal_output *output = NULL;
  pcal_error err;
  if (pc_output_file_open_named(path, NULL, &output, &err) != PCAL_OK)
    fail_msg("%s", err.message);
  return output;
}

static void expect_content(const char *path, const char *expected) {
  char got[256];
  help_read(path, got, sizeof got);
  assert_string_equal(got, expected);
}

static mode_t output_mode(const char *path) {
  struct stat about;
  assert_int_equal(lstat(path, &about), 0);
  return about.st_mode;
}

TEST(appears_whole_on_commit) {
  const char *path = help_path("new.json");
  const mode_t mask = umask(027);
  const size_t files = help_count_files();
  pcal_output *output = output_open_named(path);
  assert_int_equal(pc_output_file_sink(output, "one ", 4), 0);
  assert_int_equal(access(path, F_OK), -1);
  assert_non_null(pc_output_file_temporary(output));
  assert_int_equal(access(pc_output_file_temporary(output), F_OK), 0);
  assert_memory_equal(pc_output_file_temporary(output), help_directory, strlen(help_directory));
  assert_int_equal(pc_output_file_sink(output, "two", 3), 0);
  assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
  umask(mask);
  expect_content(path, "one two");
  assert_int_equal(output_mode(path) & 0777, 0640);
  assert_int_equal(help_count_files(), files + 1);
}

TEST(leaves_the_old_file_on_discard) {
  const char *path = help_text("old.json", "old");
  const size_t files = help_count_files();
  const size_t descriptors = help_count_descriptors();
  pcal_output *output = output_open_named(path);
  assert_int_equal(pc_output_file_sink(output, "new", 3), 0);
  assert_int_equal(help_count_files(), files + 1);
  pc_output_file_discard(output);
  expect_content(path, "old");
  assert_int_equal(help_count_files(), files);
  assert_int_equal(help_count_descriptors(), descriptors);
  pc_output_file_discard(NULL);
}

TEST(keeps_the_mode) {
  const char *path = help_text("mode.json", "old");
  assert_int_equal(chmod(path, 0604), 0);
  pcal_output *output = output_open_named(path);
  pc_output_file_sink(output, "new", 3);
  assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
  expect_content(path, "new");
  assert_int_equal(output_mode(path) & 0777, 0604);
}

TEST(writes_through_links) {
  assert_int_equal(mkdir(help_path("below"), 0777), 0);
  const char *target = help_text("below/target.json", "old");
  assert_int_equal(symlink("below/target.json", help_path("link1.json")), 0);
  assert_int_equal(symlink(help_path("link1.json"), help_path("link2.json")), 0);
  const char *link = help_path("link2.json");
  pcal_output *output = output_open_named(link);
  assert_non_null(strstr(pc_output_file_temporary(output), "/below/"));
  pc_output_file_sink(output, "new", 3);
  assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
  expect_content(target, "new");
  assert_true(S_ISLNK(output_mode(link)));
  const char *dangling = help_path("dangling.json");
  assert_int_equal(symlink("below/made.json", dangling), 0);
  output = output_open_named(dangling);
  pc_output_file_sink(output, "made", 4);
  assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
  assert_true(S_ISLNK(output_mode(dangling)));
  expect_content(help_path("below/made.json"), "made");
}

/* The same without a name: until commit there is nothing to see, whatever happens. */
TEST(nothing_shows_before_commit) {
  const char *path = help_path("nameless.json");
  const mode_t mask = umask(027);
  const size_t files = help_count_files(), descriptors = help_count_descriptors();
  for (int round = 0; round < 2; round++) {
    pcal_output *output = output_open(path);
    assert_int_equal(pc_output_file_sink(output, round == 0 ? "one" : "two", 3), 0);
    assert_int_equal(pc_output_file_flush(output, NULL), PCAL_OK);
    if (pc_output_file_temporary(output) == NULL)
      assert_int_equal(help_count_files(), files + (size_t)round);
    assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
    expect_content(path, round == 0 ? "one" : "two");
    assert_int_equal(help_count_files(), files + 1);
    assert_int_equal(output_mode(path) & 0777, round == 0 ? 0640 : 0604);
    assert_int_equal(chmod(path, 0604), 0);
  }
  umask(mask);
  pcal_output *output = output_open(path);
  assert_int_equal(pc_output_file_sink(output, "new", 3), 0);
  pc_output_file_discard(output);
  expect_content(path, "two");
  assert_int_equal(help_count_files(), files + 1);
  assert_int_equal(help_count_descriptors(), descriptors);
}

/* A file that somebody else makes meanwhile is replaced; a link stays. */
TEST(replaces_what_appeared_meanwhile) {
  const char *path = help_path("meanwhile.json");
  pcal_output *output = output_open(path);
  pc_output_file_sink(output, "ours", 4);
  help_text("meanwhile.json", "theirs");
  const size_t files = help_count_files();
  assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
  expect_content(path, "ours");
  assert_int_equal(help_count_files(), files);
  assert_int_equal(symlink("nameless-aim.json", help_path("nameless-link.json")), 0);
  output = output_open(help_path("nameless-link.json"));
  pc_output_file_sink(output, "far", 3);
  assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
  expect_content(help_path("nameless-aim.json"), "far");
}

TEST(writes_more_than_the_buffer) {
  const size_t size = 300001;
  char *bytes = malloc(size), *got = malloc(size + 1);
  for (size_t i = 0; i < size; i++)
    bytes[i] = (char)('a' + i % 23);
  const char *path = help_path("big.bin");
  pcal_output *output = output_open(path);
  size_t at = 0;
  for (size_t piece = 1; at < size; piece = piece * 3 + 1) {
    const size_t count = piece < size - at ? piece : size - at;
    assert_int_equal(pc_output_file_sink(output, bytes + at, count), 0);
    at += count;
  }
  assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
  assert_int_equal(help_read(path, got, size + 1), size);
  assert_memory_equal(got, bytes, size);
  free(bytes);
  free(got);
}

TEST(reports_a_full_disk) {
  pcal_error err;
  pcal_output *output = output_open("/dev/full");
  assert_null(pc_output_file_temporary(output));
  assert_int_equal(pc_output_file_sink(output, "x", 1), 0);
  assert_int_equal(pc_output_file_commit(output, &err), PCAL_IO);
  assert_message(err, "/dev/full could not be written (");
  assert_message(err, "; free some space or choose another directory");
  char *big = calloc(100000, 1);
  output = output_open("/dev/full");
  assert_int_equal(pc_output_file_sink(output, big, 100000), 1);
  assert_int_equal(pc_output_file_sink(output, "x", 1), 1);
  assert_int_equal(pc_output_file_commit(output, &err), PCAL_IO);
  free(big);
}

TEST(writes_to_pipes_directly) {
  int ends[2];
  char path[32], got[8] = "";
  assert_int_equal(pipe(ends), 0);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
  pcal_output *output = output_open(path);
  assert_null(pc_output_file_temporary(output));
  pc_output_file_sink(output, "hello", 5);
  assert_int_equal(pc_output_file_commit(output, NULL), PCAL_OK);
  assert_int_equal(read(ends[0], got, 5), 5);
  assert_string_equal(got, "hello");
  close(ends[0]);
  close(ends[1]);
}

TEST(writes_to_standard_output) {
  const char *path = help_path("stdout.txt");
  fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  const int file = open(path, O_WRONLY | O_CREAT, 0666);
  dup2(file, STDOUT_FILENO);
  pcal_output *output = output_open("-");
  const char *temporary = pc_output_file_temporary(output);
  pc_output_file_sink(output, "hello", 5);
  const pcal_status status = pc_output_file_commit(output, NULL);
  const ssize_t still_open = write(STDOUT_FILENO, "!", 1);
  pcal_error err;
  const int full = open("/dev/full", O_WRONLY);
  dup2(full, STDOUT_FILENO);
  output = output_open("-");
  pc_output_file_sink(output, "hello", 5);
  const pcal_status full_status = pc_output_file_commit(output, &err);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  close(file);
  close(full);
  assert_int_equal(status, PCAL_OK);
  assert_null(temporary);
  assert_int_equal(still_open, 1);
  expect_content(path, "hello!");
  assert_int_equal(full_status, PCAL_IO);
  assert_message(err, "standard output could not be written (");
}

static void expect_refused(const char *path, pcal_status wanted, const char *sentence) {
  help_counter counter = {0};
  const pcal_env env = help_env(&counter);
  pcal_output *output = NULL;
  pcal_error err;
  const size_t files = help_count_files(), descriptors = help_count_descriptors();
  assert_int_equal(pc_output_file_open(path, &env, &output, &err), wanted);
  assert_message(err, sentence);
  assert_null(output);
  assert_int_equal(counter.live, 0);
  assert_int_equal(help_count_files(), files);
  assert_int_equal(help_count_descriptors(), descriptors);
}

TEST(refuses_what_cannot_be_written) {
  expect_refused(help_directory, PCAL_IO, "is a directory; name a file in it");
  expect_refused(help_path("nowhere/x.json"), PCAL_IO, "; create the directory first");
  expect_refused("", PCAL_USAGE, "the name of the output file is empty; give a name");
}

TEST(refuses_without_permission) {
  assert_int_equal(mkdir(help_path("locked"), 0500), 0);
  const char *path = help_text("read-only.json", "old");
  assert_int_equal(chmod(path, 0444), 0);
  help_drop_rights();
  expect_refused(help_path("locked/x.json"), PCAL_IO,
                 "; change the permissions or choose another directory");
  expect_refused(path, PCAL_IO, "; change the permissions or choose another directory");
  help_take_rights_back();
  expect_content(path, "old");
}

TEST(refuses_links_in_a_circle) {
  const char *path = help_path("circle");
  assert_int_equal(symlink("circle", path), 0);
  expect_refused(path, PCAL_IO, "could not be written (");
}

/* The directory goes away between open and commit. */
TEST(reports_a_failed_rename) {
  assert_int_equal(mkdir(help_path("gone"), 0777), 0);
  pcal_output *output = output_open_named(help_path("gone/x.json"));
  pcal_error err;
  pc_output_file_sink(output, "x", 1);
  assert_int_equal(unlink(pc_output_file_temporary(output)), 0);
  assert_int_equal(rmdir(help_path("gone")), 0);
  assert_int_equal(pc_output_file_commit(output, &err), PCAL_IO);
  assert_message(err, "gone/x.json could not be written (");
  assert_int_equal(mkdir(help_path("gone"), 0777), 0);
  output = output_open(help_path("gone/x.json"));
  if (pc_output_file_temporary(output) != NULL)
    unlink(pc_output_file_temporary(output));
  assert_int_equal(rmdir(help_path("gone")), 0);
  assert_int_equal(pc_output_file_commit(output, &err), PCAL_IO);
  assert_message(err, "gone/x.json could not be written (");
}

static pcal_status output_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pcal_output *output = NULL;
  const size_t files = help_count_files();
  const pcal_status status = pc_output_file_open(user, env, &output, err);
  if (status != PCAL_OK) {
    assert_int_equal(help_count_files(), files);
    return status;
  }
  pc_output_file_sink(output, "x", 1);
  return pc_output_file_commit(output, err);
}

TEST(survives_every_failed_allocation) {
  char path[256];
  assert_int_equal(symlink("aim.json", help_path("points.json")), 0);
  snprintf(path, sizeof path, "%s", help_path("points.json"));
  help_fail_each_allocation(output_scenario, path);
}

TEST_GROUP(help_setup, help_teardown)
