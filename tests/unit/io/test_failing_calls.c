/* Calls of the system fail while files are read and written: each call once, with EIO and with EINTR.
 *
 * Reading ends with PCAL_OK, or with an error and nothing left over.  Two outputs of one command are both
 * new, or both old once they are opened again.  Reads and writes that move few bytes change
 * nothing. */
#undef _FORTIFY_SOURCE /* with it some of the calls below are inline functions of headers */
#define _GNU_SOURCE
#include "../unit.h"
#include "io_help.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "file_inputs.h"
#include "io/output_file_state.h"
#include "io/output_journal.h"
#include "ipc_bytes.h"

/* ---- the calls ---- */

static int calls_watched;                /* calls below are counted, and may fail */
static size_t calls_made, calls_fail_at; /* from 1; 0: none fails */
static int calls_errno;
static size_t calls_most; /* bytes that a call moves at most; 0: all */

static int call_fails(void) {
  if (!calls_watched || ++calls_made != calls_fail_at)
    return 0;
  errno = calls_errno;
  return 1;
}

static size_t call_bytes(size_t count) {
  return calls_watched && calls_most > 0 && count > calls_most ? calls_most : count;
}

#define REAL(name, type) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return call_fails() ? -1 : REAL("open", int (*)(const char *, int, ...))(path, flags, mode);
}

ssize_t read(int descriptor, void *bytes, size_t count) {
  return call_fails() ? -1
                      : REAL("read", ssize_t(*)(int, void *, size_t))(descriptor, bytes,
                                                                      call_bytes(count));
}

ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
  return call_fails() ? -1
                      : REAL("pread", ssize_t(*)(int, void *, size_t, off_t))(
                            descriptor, bytes, call_bytes(count), offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  return call_fails() ? -1
                      : REAL("write", ssize_t(*)(int, const void *, size_t))(descriptor, bytes,
                                                                             call_bytes(count));
}

int fsync(int descriptor) {
  return call_fails() ? -1 : REAL("fsync", int (*)(int))(descriptor);
}

int fstat(int descriptor, struct stat *about) {
  return call_fails() ? -1 : REAL("fstat", int (*)(int, struct stat *))(descriptor, about);
}

int stat(const char *path, struct stat *about) {
  return call_fails() ? -1 : REAL("stat", int (*)(const char *, struct stat *))(path, about);
}

int lstat(const char *path, struct stat *about) {
  return call_fails() ? -1 : REAL("lstat", int (*)(const char *, struct stat *))(path, about);
}

int rename(const char *from, const char *to) {
  return call_fails() ? -1 : REAL("rename", int (*)(const char *, const char *))(from, to);
}

int link(const char *from, const char *to) {
  return call_fails() ? -1 : REAL("link", int (*)(const char *, const char *))(from, to);
}

int linkat(int from_directory, const char *from, int to_directory, const char *to, int flags) {
  return call_fails() ? -1
                      : REAL("linkat", int (*)(int, const char *, int, const char *, int))(
                            from_directory, from, to_directory, to, flags);
}

int unlink(const char *path) {
  return call_fails() ? -1 : REAL("unlink", int (*)(const char *))(path);
}

ssize_t readlink(const char *path, char *out, size_t size) {
  return call_fails()
             ? -1
             : REAL("readlink", ssize_t(*)(const char *, char *, size_t))(path, out, size);
}

int fchmod(int descriptor, mode_t mode) {
  return call_fails() ? -1 : REAL("fchmod", int (*)(int, mode_t))(descriptor, mode);
}

int fchown(int descriptor, uid_t owner, gid_t group) {
  return call_fails() ? -1
                      : REAL("fchown", int (*)(int, uid_t, gid_t))(descriptor, owner, group);
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor,
           off_t offset) {
  return descriptor >= 0 && call_fails()
             ? MAP_FAILED
             : REAL("mmap", void *(*)(void *, size_t, int, int, int, off_t))(
                   address, length, protection, flags, descriptor, offset);
}

/* Close always closes; a failure is reported after that. */
int close(int descriptor) {
  const int failed = REAL("close", int (*)(int))(descriptor);
  return call_fails() ? -1 : failed;
}

/* ---- reading ---- */

static pcal_status calls_measure(const pcal_env *env, const file_inputs *files, sink_bytes *out,
                                 pcal_error *err) {
  pcal_measure_config config = PCAL_MEASURE_CONFIG_INIT;
  pcal_source *source = NULL;
  pcal_results *results = NULL;
  pcal_status status = file_inputs_open(files, env, &source, err);
  if (status == PCAL_OK)
    status = pcal_measure_run(source, &config, env, &results, err);
  if (status == PCAL_OK)
    status = pcal_results_write(results, PCAL_CSV, sink_collect, out, err);
  pcal_results_free(results);
  pcal_source_free(source);
  return status;
}

/* One run; returns how many calls there were. */
static size_t calls_read(const file_inputs *files, size_t fail_at, size_t most,
                         pcal_status *status, sink_bytes *out) {
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory);
  pcal_error err = PCAL_ERROR_INIT;
  const size_t open_before = help_count_descriptors();
  env.threads = 1;
  calls_made = 0;
  calls_fail_at = fail_at;
  calls_most = most;
  calls_watched = 1;
  *status = calls_measure(&env, files, out, &err);
  calls_watched = 0;
  assert_int_equal(atomic_load(&memory.live), 0);
  assert_int_equal(help_count_descriptors(), open_before);
  if (*status != PCAL_OK)
    assert_true(err.message[0] != '\0');
  return calls_made;
}

static void calls_check_reading(const file_inputs *files) {
  sink_bytes expected = {0}, few = {0};
  pcal_status status;
  const size_t calls = calls_read(files, 0, 0, &status, &expected);
  assert_int_equal(status, PCAL_OK);
  assert_true(calls > 2);
  calls_read(files, 0, 7, &status, &few);
  assert_int_equal(status, PCAL_OK);
  assert_string_equal(few.bytes, expected.bytes);
  free(few.bytes);
  for (size_t n = 1; n <= calls; n++) {
    static const int codes[] = {EIO, EINTR};
    for (size_t c = 0; c < 2; c++) {
      sink_bytes out = {0};
      calls_errno = codes[c];
      calls_read(files, n, 0, &status, &out);
      if (status == PCAL_OK)
        assert_string_equal(out.bytes, expected.bytes);
      else
        assert_true(status == PCAL_IO || status == PCAL_DATA);
      free(out.bytes);
    }
  }
  free(expected.bytes);
}

TEST(text_files) {
  const char *csv = "probs.a,probs.b,labels,groups,weights\n0.5,0.5,a,x,1\n0.25,0.75,b,y,2\n"
                    "0.125,0.875,a,x,1\n";
  const char *lines = "{\"probs\": [0.5, 0.5], \"labels\": 0}\n"
                      "{\"probs\": [0.25, 0.75], \"labels\": 1}\n";
  calls_check_reading(&(file_inputs){.data = help_text("rows.csv", csv)});
  calls_check_reading(&(file_inputs){.data = help_text("rows.jsonl", lines)});
}

TEST(arrays_and_streams) {
  static const float probs[] = {0.5f, 0.5f, 0.25f, 0.75f, 0.125f, 0.875f};
  static const int64_t labels[] = {0, 1, 1};
  const file_inputs arrays = {
      .probs = help_npy_file("probs.npy", "=f4", "(3, 2)", probs, sizeof probs),
      .labels = help_npy_file("labels.npy", "=i8", "(3,)", labels, sizeof labels)};
  calls_check_reading(&arrays);
  calls_check_reading(
      &(file_inputs){.data = help_file("rows.arrow", ipc_bytes, sizeof ipc_bytes)});
}

/* A pipe has no length: it is read until its end. */
TEST(pipes) {
  static const char text[] = "probs,labels\n0.25,1\n0.5,0\n0.75,1\n";
  static const int codes[] = {EIO, EINTR};
  const char *pipe = help_path("pipe.csv");
  assert_int_equal(mkfifo(pipe, 0600), 0);
  size_t calls = 1, failures = 0;
  for (size_t n = 0; n <= calls; n++)
    for (size_t c = 0; c < (n == 0 ? 1 : 2); c++) {
      const pid_t writer = fork();
      if (writer == 0) {
        const int descriptor = open(pipe, O_WRONLY);
        _exit(write(descriptor, text, sizeof text - 1) < 0);
      }
      sink_bytes out = {0};
      pcal_status status;
      calls_errno = codes[c];
      const size_t made =
          calls_read(&(file_inputs){.data = pipe}, n, n == 0 ? 5 : 0, &status, &out);
      calls = n == 0 ? made : calls;
      assert_true(status == PCAL_OK || (n > 0 && status == PCAL_IO));
      failures += status != PCAL_OK;
      free(out.bytes);
      kill(writer, SIGKILL); /* it waits where the pipe was not opened */
      waitpid(writer, NULL, 0);
    }
  assert_true(failures > 0);
}

/* ---- writing ---- */

static const char *const calls_names[] = {"one.csv", "two.csv"};
static const char *const calls_old[] = {"old one", "old two"};
static const char *const calls_new[] = {"new one", "new two"};

static pcal_status calls_write(const pcal_env *env, pcal_error *err) {
  pcal_output *both[2] = {NULL, NULL};
  pcal_status status = PCAL_OK;
  for (size_t i = 0; i < 2 && status == PCAL_OK; i++) {
    status = pc_output_file_open(help_path(calls_names[i]), env, &both[i], err);
    if (status == PCAL_OK)
      pc_output_file_sink(both[i], calls_new[i], strlen(calls_new[i]));
  }
  if (status == PCAL_OK)
    return pc_output_file_commit_all(both, 2, err);
  for (size_t i = 0; i < 2; i++)
    if (both[i] != NULL)
      pc_output_file_discard(both[i]);
  return status;
}

/* Opens both again, as the next command would; returns 1 if both are new, 0 if both are old. */
static int calls_both_new(const pcal_env *env) {
  int fresh = 0;
  for (size_t i = 0; i < 2; i++)
    pc_output_journal_replay(help_path(calls_names[i]), env);
  for (size_t i = 0; i < 2; i++) {
    char text[32];
    text[help_read(help_path(calls_names[i]), text, sizeof text - 1)] = '\0';
    fresh += strcmp(text, calls_new[i]) == 0;
    assert_true(strcmp(text, calls_new[i]) == 0 || strcmp(text, calls_old[i]) == 0);
  }
  assert_int_not_equal(fresh, 1);
  return fresh == 2;
}

static size_t calls_try_writing(size_t fail_at, size_t most, int code, pcal_status *status) {
  unit_memory memory = {0};
  pcal_env env = unit_env(&memory);
  pcal_error err = PCAL_ERROR_INIT;
  for (size_t i = 0; i < 2; i++)
    help_text(calls_names[i], calls_old[i]);
  calls_made = 0;
  calls_fail_at = fail_at;
  calls_errno = code;
  calls_most = most;
  calls_watched = 1;
  *status = calls_write(&env, &err);
  calls_watched = 0;
  const size_t calls = calls_made;
  const int fresh = calls_both_new(&env);
  if (!(*status == PCAL_OK ? fresh : *status == PCAL_IO) || atomic_load(&memory.live) != 0)
    fail_msg("call %zu fails with %d: status %d, new %d, %zu blocks left: %s", fail_at, code,
             (int)*status, fresh, atomic_load(&memory.live), err.message);
  return calls;
}

TEST(two_outputs) {
  static const int codes[] = {EIO, EINTR, EEXIST, EXDEV};
  pcal_status status;
  const size_t calls = calls_try_writing(0, 0, EIO, &status);
  size_t failures = 0;
  assert_int_equal(status, PCAL_OK);
  assert_true(calls > 10);
  for (size_t n = 1; n <= calls; n++)
    for (size_t c = 0; c < UNIT_COUNT(codes); c++) {
      calls_try_writing(n, 0, codes[c], &status);
      failures += status != PCAL_OK;
    }
  assert_true(failures > 5);
  calls_try_writing(0, 3, EIO, &status);
  assert_int_equal(status, PCAL_OK);
}

/* One output, written directly or through a link, while a call fails; returns how many calls there
 * were. */
static size_t calls_write_one(const char *path, size_t fail_at, int code, pcal_status *status) {
  unit_memory memory = {0};
  const pcal_env env = unit_env(&memory);
  pcal_error err = PCAL_ERROR_INIT;
  pcal_output *output = NULL;
  const size_t open_before = help_count_descriptors();
  calls_made = 0;
  calls_fail_at = fail_at;
  calls_errno = code;
  calls_watched = 1;
  *status = pc_output_file_open(path, &env, &output, &err);
  if (*status == PCAL_OK) {
    pc_output_file_sink(output, "new one", 7);
    *status = pc_output_file_commit(output, &err);
  }
  calls_watched = 0;
  assert_int_equal(atomic_load(&memory.live), 0);
  assert_int_equal(help_count_descriptors(), open_before);
  assert_true(*status == PCAL_OK || (*status == PCAL_IO && err.message[0] != '\0'));
  return calls_made;
}

/* A pipe with a reader stands for a device: a real one would be replaced where the call that
 * recognises it fails, and root may do that. */
static int calls_make_pipe(const char *path) {
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  const int reader = open(path, O_RDWR);
  assert_true(reader >= 0);
  return reader;
}

TEST(pipes_and_links) {
  static const int codes[] = {EIO, EINTR, ENOENT};
  char pipe[512], link[512];
  snprintf(pipe, sizeof pipe, "%s", help_path("pipe"));
  snprintf(link, sizeof link, "%s", help_path("link.csv"));
  char text[32];
  help_text("one.csv", "old one");
  assert_int_equal(symlink("one.csv", link), 0);
  for (int linked = 0; linked < 2; linked++) {
    pcal_status status;
    int reader = calls_make_pipe(pipe);
    const size_t calls = calls_write_one(linked ? link : pipe, 0, 0, &status);
    close(reader);
    assert_int_equal(status, PCAL_OK);
    assert_true(calls > 2);
    for (size_t n = 1; n <= calls; n++)
      for (size_t c = 0; c < UNIT_COUNT(codes); c++) {
        help_text("one.csv", "old one");
        reader = calls_make_pipe(pipe);
        calls_write_one(linked ? link : pipe, n, codes[c], &status);
        close(reader);
        text[help_read(help_path("one.csv"), text, sizeof text - 1)] = '\0';
        assert_true(strcmp(text, "old one") == 0 || strcmp(text, "new one") == 0);
        if (linked && status == PCAL_OK)
          assert_int_equal(help_read(link, text, sizeof text - 1), 7);
      }
  }
}

/* ---- completing a commit that was cut off ---- */

/* Leaves what a program leaves that ends before its first rename. */
static void calls_cut_off(const pcal_env *env) {
  char temporaries[2][512], targets[2][512];
  pc_journal_entry files[2];
  for (size_t i = 0; i < 2; i++) {
    char name[64];
    help_text(calls_names[i], calls_old[i]);
    snprintf(name, sizeof name, ".%s.1-0.tmp", calls_names[i]);
    snprintf(temporaries[i], sizeof temporaries[i], "%s", help_text(name, calls_new[i]));
    snprintf(targets[i], sizeof targets[i], "%s", help_path(calls_names[i]));
    files[i] = (pc_journal_entry){temporaries[i], targets[i]};
  }
  assert_int_equal(pc_output_journal_write(files, 2, env), 0);
}

/* Replays the journal while calls fail; returns how many there were. */
static size_t calls_replay(const pcal_env *env, size_t fail_at, size_t most) {
  calls_cut_off(env);
  calls_made = 0;
  calls_fail_at = fail_at;
  calls_most = most;
  calls_watched = 1;
  pc_output_journal_replay(help_path(calls_names[0]), env);
  calls_watched = 0;
  return calls_made;
}

TEST(replayed_commits) {
  static const int codes[] = {EIO, EINTR};
  const pcal_env env = help_plain_env();
  char text[32];
  const size_t calls = calls_replay(&env, 0, 5); /* few bytes at a time */
  assert_int_equal(help_read(help_path(calls_names[1]), text, sizeof text), 7);
  assert_memory_equal(text, calls_new[1], 7);
  assert_true(calls > 10);
  for (size_t n = 1; n <= calls; n++)
    for (size_t c = 0; c < UNIT_COUNT(codes); c++) {
      calls_errno = codes[c];
      calls_replay(&env, n, 0);
      assert_true(calls_both_new(&env)); /* at the latest by the next command */
    }
}

TEST_GROUP(help_setup, help_teardown)
