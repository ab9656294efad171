/* What WASI lacks: owners, mappings, descriptors that share a file, files without a name. */
#if defined(__linux__)
#define _GNU_SOURCE /* O_TMPFILE is not in POSIX */
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/paths.h"

#if defined(O_TMPFILE)
#define UNIX_FILES_NAMELESS O_TMPFILE
#else
#define UNIX_FILES_NAMELESS 0 /* not supported */
#endif

/* Path of a file without a name, by its descriptor. */
static const char *unix_files_link(int descriptor, char link[64]) {
  snprintf(link, 64, "/proc/self/fd/%d", descriptor);
  return link;
}

int pc_file_create_nameless(const char *directory) {
  char link[64];
  errno = ENOTSUP;
  const int descriptor =
      UNIX_FILES_NAMELESS == 0
          ? -1
          : open(directory, O_WRONLY | UNIX_FILES_NAMELESS | O_CLOEXEC, 0666);
  if (descriptor < 0 || access(unix_files_link(descriptor, link), F_OK) == 0)
    return descriptor;
  close(descriptor);
  return -1;
}

int pc_file_give_name(int descriptor, const char *path) {
  char link[64];
  return linkat(AT_FDCWD, unix_files_link(descriptor, link), AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int pc_file_duplicate(int descriptor) {
  return dup(descriptor);
}

int pc_file_close(int descriptor) {
  return close(descriptor);
}

int pc_file_is_private(const pc_file_info *info) {
  return info->user == (uint32_t)geteuid() && (info->mode & 077) == 0 && info->links == 1;
}

int pc_file_copy_owner(int descriptor, const pc_file_info *replaced) {
  const int owner_kept = fchown(descriptor, replaced->user, replaced->group) == 0;
  return fchmod(descriptor, (mode_t)(replaced->mode & (owner_kept ? 07777 : 0777)));
}

void *pc_file_map(int descriptor, size_t length) {
  void *mapping = mmap(NULL, length, PROT_READ, MAP_SHARED, descriptor, 0);
  if (mapping == MAP_FAILED)
    return NULL;
  posix_madvise(mapping, length, POSIX_MADV_SEQUENTIAL);
  return mapping;
}

void pc_file_unmap(void *mapping, size_t length) {
  munmap(mapping, length);
}

void pc_file_map_forget(void *pages, size_t length) {
#if defined(__linux__)
  (void)madvise(pages, length, MADV_DONTNEED);
#else
  (void)pages;
  (void)length;
#endif
}

int pc_path_writable(const char *path) {
  return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

int pc_path_current_directory(char *out, size_t size) {
  return getcwd(out, size) != NULL;
}

long pc_process_id(void) {
  return (long)getpid();
}

int pc_process_after_fork(void (*in_child)(void)) {
  return pthread_atfork(NULL, NULL, in_child) == 0;
}
