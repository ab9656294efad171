#include "io/input_file.h"

#include <fcntl.h>

#include "io_help.h"

static pcal_status bytes_open_fails(const char *path, pcal_error *err) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  const size_t descriptors = help_count_descriptors();
  const pcal_status status = pc_input_file_open(path, &env, &bytes, err);
  assert_int_not_equal(status, PCAL_OK);
  assert_int_equal(bytes.kind, PC_INPUT_FILE_CLOSED);
  assert_int_equal(help_count_descriptors(), descriptors);
  return status;
}

TEST(maps_a_regular_file) {
  pcal_env env = help_plain_env();
  pc_input_file bytes;
  pcal_error err;
  env.map_files = 1;
  const char *path = help_text("plain.csv", "hello\n");
  assert_int_equal(pc_input_file_open(path, &env, &bytes, &err), PCAL_OK);
  assert_int_equal(bytes.kind, PC_INPUT_FILE_MAPPED);
  assert_int_equal(bytes.length, 6);
  assert_memory_equal(bytes.data, "hello\n", 6);
  assert_string_equal(bytes.name, path);
  assert_int_equal(pc_input_file_check(&bytes, &err), PCAL_OK);
  pc_input_file_close(&bytes);
  assert_int_equal(bytes.kind, PC_INPUT_FILE_CLOSED);
}

TEST(reads_a_regular_file_unless_asked_to_map_it) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pcal_error err;
  const char *path = help_text("read.csv", "hello\n");
  assert_int_equal(pc_input_file_open(path, &env, &bytes, &err), PCAL_OK);
  assert_int_equal(bytes.kind, PC_INPUT_FILE_READ);
  assert_int_equal(truncate(path, 2), 0);
  assert_int_equal(bytes.length, 6);
  assert_memory_equal(bytes.data, "hello\n", 6);
  assert_int_equal(pc_input_file_check(&bytes, &err), PCAL_OK);
  pc_input_file_close(&bytes);
}

TEST(refuses_what_cannot_be_read) {
  pcal_error err;
  assert_int_equal(bytes_open_fails("/nowhere/x.npy", &err), PCAL_IO);
  assert_string_equal(err.message, "/nowhere/x.npy: there is no such file; check the name");
  assert_int_equal(bytes_open_fails(help_directory, &err), PCAL_IO);
  assert_message(err, "is a directory; name a file in it");
  assert_int_equal(bytes_open_fails(help_text("empty.csv", ""), &err), PCAL_DATA);
  assert_message(err, "empty.csv is empty; give a file with at least one row");
  assert_int_equal(bytes_open_fails("/dev/null", &err), PCAL_DATA);
  assert_message(err, "/dev/null is empty");
  assert_int_equal(bytes_open_fails(help_path("plain.csv/below"), &err), PCAL_IO);
  assert_message(err, "there is no such file");
  assert_int_equal(symlink("loop", help_path("loop")), 0);
  assert_int_equal(bytes_open_fails(help_path("loop"), &err), PCAL_IO);
  assert_message(err, "could not be read (");
  const char *path = help_text("secret.csv", "1\n");
  assert_int_equal(chmod(path, 0), 0);
  help_drop_rights();
  const pcal_status status = bytes_open_fails(path, &err);
  help_take_rights_back();
  assert_int_equal(status, PCAL_IO);
  assert_message(err, "secret.csv: no permission to read the file; change its mode");
}

TEST(notices_a_file_that_shrinks) {
  pcal_env env = help_plain_env();
  pc_input_file bytes;
  pcal_error err;
  env.map_files = 1;
  const char *path = help_text("shrinks.csv", "0123456789");
  assert_int_equal(pc_input_file_open(path, &env, &bytes, &err), PCAL_OK);
  assert_int_equal(truncate(path, 20), 0);
  assert_int_equal(pc_input_file_check(&bytes, &err), PCAL_OK);
  assert_int_equal(truncate(path, 4), 0);
  assert_int_equal(pc_input_file_check(&bytes, &err), PCAL_IO);
  assert_message(err,
                 "shrinks.csv shrank from 10 to 4 bytes while it was being read; try again "
                 "when nothing writes to it");
  pc_input_file_close(&bytes);
}

static int bytes_pipe(const char *text, size_t length) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], text, length), length);
  close(ends[1]);
  return ends[0];
}

TEST(reads_a_pipe_to_its_end) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pcal_error err;
  char path[32];
  const int end = bytes_pipe("a,b\n1,2\n", 8);
  snprintf(path, sizeof path, "/dev/fd/%d", end);
  assert_int_equal(pc_input_file_open(path, &env, &bytes, &err), PCAL_OK);
  assert_int_equal(bytes.kind, PC_INPUT_FILE_STREAM);
  assert_int_equal(bytes.length, 8);
  assert_memory_equal(bytes.data, "a,b\n1,2\n", 8);
  pc_input_file_close(&bytes);
  close(end);
}

/* Runs with standard input replaced by `end`. */
static pcal_status bytes_from_input(int end, const pcal_env *env, pc_input_file *out,
                                    pcal_error *err) {
  const int kept = dup(STDIN_FILENO);
  dup2(end, STDIN_FILENO);
  const pcal_status status = pc_input_file_open("-", env, out, err);
  dup2(kept, STDIN_FILENO);
  close(kept);
  close(end);
  return status;
}

TEST(reads_standard_input) {
  const pcal_env env = help_plain_env();
  pc_input_file bytes;
  pcal_error err;
  const size_t size = 200000;
  char *big = malloc(size);
  memset(big, '7', size);
  const char *path = help_file("big.csv", big, size);
  assert_int_equal(bytes_from_input(open(path, O_RDONLY), &env, &bytes, &err), PCAL_OK);
  assert_string_equal(bytes.name, "standard input");
  assert_int_equal(bytes.kind, PC_INPUT_FILE_STREAM);
  assert_int_equal(bytes.length, size);
  assert_memory_equal(bytes.data, big, size);
  pc_input_file_close(&bytes);
  free(big);
  assert_int_equal(bytes_from_input(open("/dev/null", O_RDONLY), &env, &bytes, &err),
                   PCAL_DATA);
  assert_string_equal(err.message,
                      "standard input is empty; give a file with at least one row");
}

TEST(respects_the_memory_limit) {
  pcal_env env = help_plain_env();
  pc_input_file bytes;
  pcal_error err;
  env.memory_limit = 7;
  assert_int_equal(bytes_from_input(bytes_pipe("12345678", 8), &env, &bytes, &err),
                   PCAL_MEMORY);
  assert_string_equal(
      err.message, "standard input holds more than the memory limit of 7 bytes; "
                   "write it to a file, which is read piece by piece, or raise memory_limit");
  env.memory_limit = 8;
  assert_int_equal(bytes_from_input(bytes_pipe("12345678", 8), &env, &bytes, &err), PCAL_OK);
  pc_input_file_close(&bytes);
}

static int bytes_always(void *user) {
  ++*(int *)user;
  return 1;
}

TEST(can_be_interrupted) {
  int calls = 0;
  pcal_env env = help_plain_env();
  pc_input_file bytes;
  pcal_error err;
  env.interrupted = bytes_always;
  env.user = &calls;
  assert_int_equal(pc_input_file_open("/dev/zero", &env, &bytes, &err), PCAL_INTERRUPTED);
  assert_int_equal(calls, 1);
}

static pcal_status bytes_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_input_file bytes;
  PC_TRY(pc_input_file_open(user, env, &bytes, err));
  pc_input_file_close(&bytes);
  return PCAL_OK;
}

static pcal_status bytes_pipe_scenario(const pcal_env *env, void *user, pcal_error *err) {
  pc_input_file bytes;
  (void)user;
  PC_TRY(bytes_from_input(bytes_pipe("12345678", 8), env, &bytes, err));
  pc_input_file_close(&bytes);
  return PCAL_OK;
}

TEST(survives_every_failed_allocation) {
  char path[256];
  snprintf(path, sizeof path, "%s", help_text("some.csv", "1\n"));
  help_fail_each_allocation(bytes_scenario, path);
  help_fail_each_allocation(bytes_pipe_scenario, NULL);
}

TEST(detects_existing_files) {
  assert_true(pc_input_file_exists(help_text("there.csv", "1\n")));
  assert_false(pc_input_file_exists(help_path("not-there.csv")));
  assert_false(pc_input_file_exists(help_directory));
}

TEST_GROUP(help_setup, help_teardown)
