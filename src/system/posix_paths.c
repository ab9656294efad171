/* What POSIX systems and WASI have in common. */
#include "system/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/posix_files.h"

int pc_path_describe(const char *path, pc_file_info *out) {
  struct stat about;
  return pc_posix_info(stat(path, &about), &about, out);
}

int pc_path_describe_link(const char *path, pc_file_info *out) {
  struct stat about;
  return pc_posix_info(lstat(path, &about), &about, out);
}

int64_t pc_path_read_link(const char *path, char *out, size_t size) {
  return readlink(path, out, size);
}

int pc_path_rename(const char *from, const char *to) {
  return rename(from, to);
}

int pc_path_link(const char *from, const char *to) {
  return link(from, to);
}

int pc_path_remove(const char *path) {
  return unlink(path);
}

void pc_path_sync_directory(const char *directory) {
  const int descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  (void)fsync(descriptor);
  close(descriptor);
}

size_t pc_path_directory(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? 0 : (size_t)(slash + 1 - path);
}

int pc_path_is_absolute(const char *path) {
  return path[0] == '/';
}

const char *pc_error_text(int code, char out[PC_SYSTEM_TEXT]) {
  memcpy(out, "unknown reason", sizeof "unknown reason");
  (void)strerror_r(code, out, PC_SYSTEM_TEXT);
  return out;
}
