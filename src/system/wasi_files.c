/* WASI has neither owners nor mappings, processes, or descriptors that share a file. */
#include <errno.h>
#include <unistd.h>

#include "system/paths.h"

int pc_file_create_nameless(const char *directory) {
  (void)directory;
  errno = ENOTSUP;
  return -1;
}

int pc_file_give_name(int descriptor, const char *path) {
  (void)descriptor;
  (void)path;
  errno = ENOTSUP;
  return -1;
}

/* The same descriptor: pc_file_close leaves standard streams open. */
int pc_file_duplicate(int descriptor) {
  return descriptor;
}

int pc_file_close(int descriptor) {
  return descriptor <= PC_STANDARD_ERROR ? 0 : close(descriptor);
}

int pc_file_is_private(const pc_file_info *info) {
  return info->links == 1;
}

int pc_file_copy_owner(int descriptor, const pc_file_info *replaced) {
  (void)descriptor;
  (void)replaced;
  return 0;
}

void *pc_file_map(int descriptor, size_t length) {
  (void)descriptor;
  (void)length;
  return NULL;
}

void pc_file_unmap(void *mapping, size_t length) {
  (void)mapping;
  (void)length;
}

void pc_file_map_forget(void *pages, size_t length) {
  (void)pages;
  (void)length;
}

int pc_path_writable(const char *path) {
  return access(path, W_OK);
}

int pc_path_current_directory(char *out, size_t size) {
  return getcwd(out, size) != NULL;
}

long pc_process_id(void) {
  return 1;
}

int pc_process_after_fork(void (*in_child)(void)) {
  (void)in_child;
  return 1;
}
