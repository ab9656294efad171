/* Edge cases:
 *  1. paths of 248 units and more need the prefix \\?\ and backslashes, and must be absolute.
 *  2. a target that another program keeps open without sharing it cannot be replaced: EBUSY.
 *     Virus scanners do so for moments, so replacing is tried for a second.
 *  3. symbolic links are followed, and never described themselves. */
#include "system/windows_paths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WINDOWS_PATHS_SHORT 248
#define WINDOWS_PATHS_TRIES 20
#define WINDOWS_PATHS_PAUSE 50 /* milliseconds */

int pc_windows_fail(void) {
  static const struct {
    DWORD code;
    int error;
  } table[] = {
      {ERROR_FILE_NOT_FOUND, ENOENT},
      {ERROR_PATH_NOT_FOUND, ENOENT},
      {ERROR_INVALID_NAME, ENOENT},
      {ERROR_BAD_NETPATH, ENOENT},
      {ERROR_INVALID_DRIVE, ENOENT},
      {ERROR_ACCESS_DENIED, EACCES},
      {ERROR_PRIVILEGE_NOT_HELD, EACCES},
      {ERROR_SHARING_VIOLATION, EBUSY},
      {ERROR_LOCK_VIOLATION, EBUSY},
      {ERROR_USER_MAPPED_FILE, EBUSY},
      {ERROR_FILE_EXISTS, EEXIST},
      {ERROR_ALREADY_EXISTS, EEXIST},
      {ERROR_DISK_FULL, ENOSPC},
      {ERROR_HANDLE_DISK_FULL, ENOSPC},
      {ERROR_WRITE_PROTECT, EROFS},
      {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
      {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
  };
  const DWORD code = GetLastError();
  errno = EIO;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].code == code)
      errno = table[i].error;
  return -1;
}

int pc_windows_path(const char *path, wchar_t out[PC_WINDOWS_PATH]) {
  wchar_t given[PC_WINDOWS_PATH];
  const int length =
      MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, given, PC_WINDOWS_PATH);
  errno = ENAMETOOLONG;
  if (length <= 0)
    return 0;
  if (length < WINDOWS_PATHS_SHORT || wcsncmp(given, L"\\\\", 2) == 0) {
    memcpy(out, given, (size_t)length * sizeof *given);
    return 1;
  }
  memcpy(out, L"\\\\?\\", 4 * sizeof *out);
  const DWORD whole = GetFullPathNameW(given, PC_WINDOWS_PATH - 4, out + 4, NULL);
  return whole > 0 && whole < PC_WINDOWS_PATH - 4;
}

int pc_windows_describe(HANDLE handle, pc_file_info *out) {
  BY_HANDLE_FILE_INFORMATION about;
  const DWORD type = GetFileType(handle);
  *out = (pc_file_info){.kind = PC_FILE_OTHER, .links = 1};
  if (type == FILE_TYPE_CHAR)
    out->kind = PC_FILE_CHARACTER_DEVICE;
  if (type != FILE_TYPE_DISK)
    return 0;
  if (!GetFileInformationByHandle(handle, &about))
    return pc_windows_fail();
  const uint64_t ticks = (uint64_t)about.ftLastWriteTime.dwHighDateTime << 32 |
                         about.ftLastWriteTime.dwLowDateTime; /* of 100 ns */
  out->kind =
      about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? PC_FILE_DIRECTORY : PC_FILE_REGULAR;
  out->size = (uint64_t)about.nFileSizeHigh << 32 | about.nFileSizeLow;
  out->device = about.dwVolumeSerialNumber;
  out->number = (uint64_t)about.nFileIndexHigh << 32 | about.nFileIndexLow;
  out->links = about.nNumberOfLinks;
  out->seconds = (int64_t)(ticks / 10000000);
  out->nanoseconds = (long)(ticks % 10000000) * 100;
  return 0;
}

int pc_path_describe(const char *path, pc_file_info *out) {
  wchar_t wide[PC_WINDOWS_PATH];
  if (!pc_windows_path(path, wide))
    return -1;
  const HANDLE handle = CreateFileW(wide, FILE_READ_ATTRIBUTES,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                    NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (handle == INVALID_HANDLE_VALUE)
    return pc_windows_fail();
  const int failed = pc_windows_describe(handle, out);
  CloseHandle(handle);
  return failed;
}

int pc_path_describe_link(const char *path, pc_file_info *out) {
  return pc_path_describe(path, out);
}

int64_t pc_path_read_link(const char *path, char *out, size_t size) {
  (void)path;
  (void)out;
  (void)size;
  errno = EINVAL;
  return -1;
}

int pc_path_rename(const char *from, const char *to) {
  wchar_t old[PC_WINDOWS_PATH], new[PC_WINDOWS_PATH];
  if (!pc_windows_path(from, old) || !pc_windows_path(to, new))
    return -1;
  for (int attempt = 0; attempt < WINDOWS_PATHS_TRIES; attempt++) {
    if (MoveFileExW(old, new, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
      return 0;
    const DWORD code = GetLastError();
    if (code != ERROR_SHARING_VIOLATION && code != ERROR_ACCESS_DENIED)
      break;
    Sleep(WINDOWS_PATHS_PAUSE);
    SetLastError(code);
  }
  return pc_windows_fail();
}

int pc_path_link(const char *from, const char *to) {
  wchar_t old[PC_WINDOWS_PATH], new[PC_WINDOWS_PATH];
  if (!pc_windows_path(from, old) || !pc_windows_path(to, new))
    return -1;
  return CreateHardLinkW(new, old, NULL) ? 0 : pc_windows_fail();
}

int pc_path_remove(const char *path) {
  wchar_t wide[PC_WINDOWS_PATH];
  if (!pc_windows_path(path, wide))
    return -1;
  return DeleteFileW(wide) ? 0 : pc_windows_fail();
}

int pc_path_writable(const char *path) {
  wchar_t wide[PC_WINDOWS_PATH];
  if (!pc_windows_path(path, wide))
    return -1;
  const DWORD attributes = GetFileAttributesW(wide);
  if (attributes == INVALID_FILE_ATTRIBUTES)
    return pc_windows_fail();
  errno = EACCES;
  return attributes & FILE_ATTRIBUTE_READONLY ? -1 : 0;
}

/* Renaming writes through. */
void pc_path_sync_directory(const char *directory) {
  (void)directory;
}

/* True if a path begins with a drive, as "C:" does and "-:3" does not. */
static int windows_has_drive(const char *path) {
  return ((path[0] >= 'A' && path[0] <= 'Z') || (path[0] >= 'a' && path[0] <= 'z')) &&
         path[1] == ':';
}

size_t pc_path_directory(const char *path) {
  size_t length = strlen(path);
  const size_t drive = windows_has_drive(path) ? 2 : 0;
  while (length > drive && strchr("/\\", path[length - 1]) == NULL)
    length--;
  return length;
}

int pc_path_is_absolute(const char *path) {
  return path[0] == '/' || path[0] == '\\' || windows_has_drive(path);
}

int pc_path_current_directory(char *out, size_t size) {
  wchar_t wide[PC_WINDOWS_PATH];
  const DWORD length = GetCurrentDirectoryW(PC_WINDOWS_PATH, wide);
  return length > 0 && length < PC_WINDOWS_PATH && size <= INT_MAX &&
         WideCharToMultiByte(CP_UTF8, 0, wide, -1, out, (int)size, NULL, NULL) > 0;
}

long pc_process_id(void) {
  return (long)GetCurrentProcessId();
}

int pc_process_after_fork(void (*in_child)(void)) {
  (void)in_child;
  return 1;
}

const char *pc_error_text(int code, char out[PC_SYSTEM_TEXT]) {
  if (code == EBUSY)
    snprintf(out, PC_SYSTEM_TEXT, "another program has it open");
  else if (strerror_s(out, PC_SYSTEM_TEXT, code) != 0)
    snprintf(out, PC_SYSTEM_TEXT, "unknown reason");
  return out;
}
