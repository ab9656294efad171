/* Descriptors of the C library around handles of the system, which share the file with other
 * programs in every way: a file that is read can be replaced, as on other systems. */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>

#include "system/windows_paths.h"

#define WINDOWS_FILES_STEP ((size_t)1 << 30) /* bytes of one call */

static HANDLE windows_files_handle(int descriptor) {
  return (HANDLE)_get_osfhandle(descriptor);
}

static int windows_files_open(const char *path, DWORD access, DWORD creation, int flags) {
  wchar_t wide[PC_WINDOWS_PATH];
  if (!pc_windows_path(path, wide))
    return -1;
  const HANDLE handle =
      CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                  creation, FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (handle == INVALID_HANDLE_VALUE)
    return pc_windows_fail();
  const int descriptor = _open_osfhandle((intptr_t)handle, flags | _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0)
    CloseHandle(handle);
  return descriptor;
}

int pc_file_open(const char *path) {
  return windows_files_open(path, GENERIC_READ, OPEN_EXISTING, _O_RDONLY);
}

int pc_file_open_plain(const char *path) {
  return pc_file_open(path);
}

int pc_file_open_direct(const char *path) {
  return windows_files_open(path, GENERIC_WRITE, OPEN_EXISTING, _O_WRONLY);
}

int pc_file_create(const char *path, int secret) {
  (void)secret;
  return windows_files_open(path, GENERIC_WRITE, CREATE_NEW, _O_WRONLY);
}

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

int pc_file_duplicate(int descriptor) {
  return _dup(descriptor);
}

static unsigned windows_files_count(size_t count) {
  return (unsigned)(count < WINDOWS_FILES_STEP ? count : WINDOWS_FILES_STEP);
}

int64_t pc_file_read(int descriptor, void *bytes, size_t count) {
  return _read(descriptor, bytes, windows_files_count(count));
}

int64_t pc_file_read_at(int descriptor, void *bytes, size_t count, uint64_t offset) {
  OVERLAPPED place = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
  DWORD got = 0;
  if (ReadFile(windows_files_handle(descriptor), bytes, windows_files_count(count), &got,
               &place) ||
      GetLastError() == ERROR_HANDLE_EOF)
    return got;
  return pc_windows_fail();
}

int64_t pc_file_write(int descriptor, const void *bytes, size_t count) {
  return _write(descriptor, bytes, windows_files_count(count));
}

int pc_file_describe(int descriptor, pc_file_info *out) {
  return pc_windows_describe(windows_files_handle(descriptor), out);
}

int pc_file_is_terminal(int descriptor) {
  return _isatty(descriptor);
}

int pc_file_is_private(const pc_file_info *info) {
  return info->links == 1;
}

int pc_file_sync(int descriptor) {
  return _commit(descriptor);
}

int pc_file_close(int descriptor) {
  return _close(descriptor);
}

int pc_file_copy_owner(int descriptor, const pc_file_info *replaced) {
  (void)descriptor;
  (void)replaced;
  return 0;
}

void *pc_file_map(int descriptor, size_t length) {
  const HANDLE mapping =
      CreateFileMappingW(windows_files_handle(descriptor), NULL, PAGE_READONLY, 0, 0, NULL);
  if (mapping == NULL)
    return NULL;
  void *bytes = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, length);
  CloseHandle(mapping); /* the view keeps it open */
  return bytes;
}

void pc_file_unmap(void *mapping, size_t length) {
  (void)length;
  UnmapViewOfFile(mapping);
}

void pc_file_map_forget(void *pages, size_t length) {
  (void)pages;
  (void)length;
}
