/* Files, npy bytes and a failing allocator for the tests of the io room. */
#ifndef IO_HELP_H
#define IO_HELP_H

#include "testing.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/formats/element_type.h"

/* A directory of its own for each test program; removed by help_teardown. */
static char help_directory[] = "/tmp/propercal-test-XXXXXX";
static char help_paths[8][256];
static unsigned help_next_path;

static inline int help_setup(void **state) {
  (void)state;
  return mkdtemp(help_directory) == NULL;
}

static inline void help_remove_all(const char *directory) {
  DIR *listing = opendir(directory);
  const struct dirent *entry;
  while (listing != NULL && (entry = readdir(listing)) != NULL) {
    char path[1024];
    const int length = snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    if (length < (int)sizeof path && strcmp(entry->d_name, ".") != 0 &&
        strcmp(entry->d_name, "..") != 0 && unlink(path) != 0) {
      chmod(path, 0700);
      help_remove_all(path);
    }
  }
  if (listing != NULL)
    closedir(listing);
  rmdir(directory);
}

static inline int help_teardown(void **state) {
  (void)state;
  help_remove_all(help_directory);
  return 0;
}

/* A path in the directory; the last eight stay valid. */
static inline const char *help_path(const char *name) {
  char *out = help_paths[help_next_path++ % 8];
  snprintf(out, sizeof help_paths[0], "%s/%s", help_directory, name);
  return out;
}

static inline const char *help_file(const char *name, const void *bytes, size_t length) {
  const char *path = help_path(name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
  return path;
}

static inline const char *help_text(const char *name, const char *text) {
  return help_file(name, text, strlen(text));
}

static inline size_t help_read(const char *path, char *out, size_t size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const size_t length = fread(out, 1, size - 1, file);
  fclose(file);
  out[length] = '\0';
  return length;
}

/* Files that the directory holds. */
static inline size_t help_count_files(void) {
  size_t count = 0;
  DIR *listing = opendir(help_directory);
  assert_non_null(listing);
  while (readdir(listing) != NULL)
    count++;
  closedir(listing);
  return count - 2;
}

static inline size_t help_count_descriptors(void) {
  size_t count = 0;
  DIR *listing = opendir("/proc/self/fd");
  if (listing == NULL)
    return 0;
  while (readdir(listing) != NULL)
    count++;
  closedir(listing);
  return count;
}

/* Root may read and write everything: lends the tests another user's rights. */
static inline void help_drop_rights(void) {
  if (getuid() == 0) {
    assert_int_equal(chmod(help_directory, 0777), 0);
    assert_int_equal(seteuid(65534), 0);
  }
}

static inline void help_take_rights_back(void) {
  if (getuid() == 0)
    assert_int_equal(seteuid(0), 0);
}

/* An npy file in memory; the caller frees it. */
typedef struct help_npy {
  unsigned char *bytes;
  size_t length;
} help_npy;

static inline help_npy help_npy_header(unsigned version, const char *header, const void *data,
                                       size_t size) {
  const size_t start = version == 1 ? 10 : 12, text = strlen(header);
  help_npy out = {calloc(start + text + size + 1, 1), start + text + size};
  assert_non_null(out.bytes);
  memcpy(out.bytes, "\x93NUMPY", 6);
  out.bytes[6] = (unsigned char)version;
  for (size_t i = 8; i < start; i++)
    out.bytes[i] = (unsigned char)(text >> (8 * (i - 8)) & 0xFF);
  memcpy(out.bytes + start, header, text);
  if (size > 0)
    memcpy(out.bytes + start + text, data, size);
  return out;
}

/* As numpy.save writes it: padded to a multiple of 64. */
/* A descr that begins with "=" has the byte order of the machine, as NumPy writes its own. */
static inline help_npy help_npy_make(unsigned version, const char *descr, int fortran,
                                     const char *shape, const void *data, size_t size) {
  char header[512], type[16];
  snprintf(type, sizeof type, "%s", descr);
  if (type[0] == '=')
    type[0] = pc_little_endian() ? '<' : '>';
  const size_t start = version == 1 ? 10 : 12;
  int used =
      snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
               type, fortran ? "True" : "False", shape);
  while ((start + (size_t)used + 1) % 64 != 0)
    header[used++] = ' ';
  header[used++] = '\n';
  header[used] = '\0';
  return help_npy_header(version, header, data, size);
}

static inline const char *help_npy_file(const char *name, const char *descr, const char *shape,
                                        const void *data, size_t size) {
  const help_npy npy = help_npy_make(1, descr, 0, shape, data, size);
  const char *path = help_file(name, npy.bytes, npy.length);
  free(npy.bytes);
  return path;
}

/* An allocator whose n-th call fails and that counts the blocks in use. */
typedef struct help_counter {
  size_t calls, fail_at, live;
} help_counter;

static inline void *help_counter_resize(void *user, void *block, size_t size) {
  help_counter *counter = user;
  if (++counter->calls == counter->fail_at)
    return NULL;
  void *grown = realloc(block, size);
  counter->live += grown != NULL && block == NULL;
  return grown;
}

static inline void help_counter_release(void *user, void *block) {
  help_counter *counter = user;
  counter->live--;
  free(block);
}

static inline pcal_env help_env(help_counter *counter) {
  pcal_env env = PCAL_ENV_INIT;
  env.allocator = (pcal_allocator){help_counter_resize, help_counter_release, counter};
  return pc_env_resolve(&env);
}

typedef pcal_status (*help_scenario)(const pcal_env *env, void *user, pcal_error *err);

/* Runs a scenario with the n-th allocation failing, for every n until it succeeds. */
static inline void help_fail_each_allocation(help_scenario scenario, void *user) {
  const size_t descriptors = help_count_descriptors();
  for (size_t n = 1; n < 10000; n++) {
    help_counter counter = {.fail_at = n};
    const pcal_env env = help_env(&counter);
    pcal_error err;
    pc_error_clear(&err);
    const pcal_status status = scenario(&env, user, &err);
    assert_int_equal(counter.live, 0);
    assert_int_equal(help_count_descriptors(), descriptors);
    if (status == PCAL_OK) {
      assert_true(counter.calls < n);
      assert_true(n > 1);
      return;
    }
    assert_int_equal(status, PCAL_MEMORY);
    assert_non_null(strstr(err.message, "out of memory"));
  }
  fail_msg("the scenario never succeeded");
}

static inline pcal_env help_plain_env(void) {
  return pc_env_resolve(NULL);
}

#define assert_message(err, text)                                 \
  do {                                                            \
    if (strstr((err).message, (text)) == NULL)                    \
      fail_msg("\"%s\" is not in \"%s\"", (text), (err).message); \
  } while (0)

#endif
