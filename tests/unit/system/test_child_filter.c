/* Bytes through other programs: those of the shell stand for rsvg-convert. */
#include "system/child_filter.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../unit.h"

#define CHILD_LARGE 300000 /* more than pipes hold */

typedef struct child_output {
  char bytes[CHILD_LARGE];
  size_t count;
} child_output;

static void child_take(void *user, const char *bytes, size_t count) {
  child_output *out = user;
  assert_true(out->count + count <= sizeof out->bytes);
  memcpy(out->bytes + out->count, bytes, count);
  out->count += count;
}

static int child_run(const char *script, const char *input, size_t length, child_output *out,
                     int *succeeded) {
  const char *const words[] = {"sh", "-c", script, NULL};
  out->count = 0;
  return pc_child_filter(words, input, length, child_take, out, succeeded);
}

static int child_ignore(void **state) {
  (void)state;
  signal(SIGPIPE, SIG_IGN);
  return 0;
}

/* Both pipes are full at times, and neither process waits for the other. */
TEST_WITH(bytes_pass_in_both_directions, child_ignore, NULL) {
  static child_output out;
  static char input[CHILD_LARGE];
  int succeeded = 0;
  for (size_t i = 0; i < sizeof input; i++)
    input[i] = (char)('a' + i % 23);
  assert_int_equal(child_run("cat", input, sizeof input, &out, &succeeded), 0);
  assert_true(succeeded);
  assert_int_equal(out.count, sizeof input);
  assert_memory_equal(out.bytes, input, sizeof input);
  assert_int_equal(child_run("sleep 0.05; tr a-w A-W", "calibration", 11, &out, &succeeded), 0);
  assert_true(succeeded);
  assert_int_equal(out.count, 11);
  assert_memory_equal(out.bytes, "CALIBRATION", 11);
}

/* The child begins with the usual signals, though the caller ignores SIGPIPE. */
TEST_WITH(a_program_that_does_not_read, child_ignore, NULL) {
  static child_output out;
  static char input[CHILD_LARGE];
  static const struct {
    const char *script;
    int succeeded;
    const char *output;
  } cases[] = {{"echo done", 1, "done\n"},
               {"echo partly; exit 3", 0, "partly\n"},
               {"echo gone; kill -TERM $$", 0, "gone\n"},
               {"exec 0<&-; echo closed; sleep 0.05; echo later", 1, "closed\nlater\n"},
               {"kill -PIPE $$; echo ignored", 0, ""}};
  for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
    int succeeded = !cases[i].succeeded;
    assert_int_equal(child_run(cases[i].script, input, sizeof input, &out, &succeeded), 0);
    assert_int_equal(succeeded, cases[i].succeeded);
    assert_int_equal(out.count, strlen(cases[i].output));
    assert_memory_equal(out.bytes, cases[i].output, out.count);
  }
}

TEST_WITH(no_input, child_ignore, NULL) {
  static child_output out;
  int succeeded = 0;
  assert_int_equal(child_run("wc -c | tr -d ' '", "", 0, &out, &succeeded), 0);
  assert_true(succeeded);
  assert_int_equal(out.count, 2);
  assert_memory_equal(out.bytes, "0\n", 2);
}

TEST(a_program_that_is_not_there) {
  static child_output out;
  const char *const words[] = {"no-such-program-of-propercal", NULL};
  int succeeded = 1;
  assert_int_equal(pc_child_filter(words, "x", 1, child_take, &out, &succeeded), ENOENT);
  assert_false(succeeded);
}

TEST(programs_are_found_by_path) {
  static char long_path[6000];
  char *const before = strdup(getenv("PATH"));
  assert_true(pc_child_available("sh"));
  assert_false(pc_child_available("no-such-program-of-propercal"));
  memset(long_path, 'x', sizeof long_path - 1); /* a directory that is too long is skipped */
  setenv("PATH", long_path, 1);
  assert_false(pc_child_available("sh"));
  memcpy(long_path + 5000, ":/nowhere:/bin:", 16);
  setenv("PATH", long_path, 1);
  assert_true(pc_child_available("sh"));
  setenv("PATH", "", 1);
  assert_false(pc_child_available("sh"));
  unsetenv("PATH");
  assert_false(pc_child_available("sh"));
  setenv("PATH", before, 1);
  free(before);
}

/* No descriptor is left for one pipe, or for the second. */
TEST(no_descriptors_are_left) {
  static child_output out;
  int taken[256];
  size_t count = 0;
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = UNIT_COUNT(taken);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
  while (count < UNIT_COUNT(taken) && (taken[count] = dup(0)) >= 0)
    count++;
  for (size_t freed = 0; freed < 4; freed++) {
    int succeeded = 1;
    assert_int_equal(child_run("cat", "x", 1, &out, &succeeded), EMFILE);
    assert_false(succeeded);
    close(taken[--count]);
  }
  while (count > 0)
    close(taken[--count]);
  limit.rlim_cur = before;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
