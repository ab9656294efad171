/* What POSIX systems and WASI have in common; the rest is in unix_files.c and wasi_files.c. */
#if defined(__linux__)
#define _GNU_SOURCE /* O_TMPFILE is not in POSIX */
#endif
#include "system/posix_files.h"

#include <fcntl.h>
#include <unistd.h>

static pc_file_kind posix_files_kind(mode_t mode) {
  return S_ISREG(mode)   ? PC_FILE_REGULAR
         : S_ISDIR(mode) ? PC_FILE_DIRECTORY
         : S_ISLNK(mode) ? PC_FILE_LINK
         : S_ISCHR(mode) ? PC_FILE_CHARACTER_DEVICE
         : S_ISBLK(mode) ? PC_FILE_BLOCK_DEVICE
                         : PC_FILE_OTHER;
}

int pc_posix_info(int failed, const struct stat *about, pc_file_info *out) {
  if (failed != 0)
    return -1;
#if defined(__APPLE__)
  const struct timespec changed = about->st_mtimespec;
#else
  const struct timespec changed = about->st_mtim;
#endif
  *out = (pc_file_info){
      .kind = posix_files_kind(about->st_mode),
      .size = about->st_size > 0 ? (uint64_t)about->st_size : 0,
      .device = (uint64_t)about->st_dev,
      .number = (uint64_t)about->st_ino,
      .links = (uint64_t)about->st_nlink,
      .seconds = (int64_t)changed.tv_sec,
      .nanoseconds = changed.tv_nsec,
      .mode = (uint32_t)about->st_mode & 07777,
      .user = (uint32_t)about->st_uid,
      .group = (uint32_t)about->st_gid,
  };
  return 0;
}

int pc_file_open(const char *path) {
  return open(path, O_RDONLY | O_CLOEXEC);
}

int pc_file_open_plain(const char *path) {
  return open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

int pc_file_open_direct(const char *path) {
  return open(path, O_WRONLY | O_CLOEXEC);
}

int pc_file_create(const char *path, int secret) {
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, secret ? 0600 : 0666);
}

int64_t pc_file_read(int descriptor, void *bytes, size_t count) {
  return read(descriptor, bytes, count);
}

int64_t pc_file_read_at(int descriptor, void *bytes, size_t count, uint64_t offset) {
  return pread(descriptor, bytes, count, (off_t)offset);
}

int64_t pc_file_write(int descriptor, const void *bytes, size_t count) {
  return write(descriptor, bytes, count);
}

int pc_file_describe(int descriptor, pc_file_info *out) {
  struct stat about;
  return pc_posix_info(fstat(descriptor, &about), &about, out);
}

int pc_file_is_terminal(int descriptor) {
  return isatty(descriptor);
}

int pc_file_sync(int descriptor) {
  return fsync(descriptor);
}
