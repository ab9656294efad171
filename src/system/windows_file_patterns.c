/* Only the last part of a path may contain * and ?; file systems list names in order. */
#include "system/file_patterns.h"

#include <string.h>

#include "system/windows_paths.h"

/* Joins the directory of the pattern and a name, and calls `found`. */
static int file_patterns_call(const char *pattern, const wchar_t *name,
                              int (*found)(void *user, const char *path), void *user) {
  char path[4 * PC_WINDOWS_PATH];
  const size_t folder = pc_path_directory(pattern);
  memcpy(path, pattern, folder);
  const int length = WideCharToMultiByte(CP_UTF8, 0, name, -1, path + folder,
                                         (int)(sizeof path - folder), NULL, NULL);
  return length > 0 ? found(user, path) : 0;
}

long pc_file_pattern_each(const char *pattern, int (*found)(void *user, const char *path),
                          void *user) {
  wchar_t wide[PC_WINDOWS_PATH];
  WIN32_FIND_DATAW entry;
  long calls = 0;
  if (!pc_windows_path(pattern, wide))
    return 0;
  const HANDLE search = FindFirstFileW(wide, &entry);
  if (search == INVALID_HANDLE_VALUE)
    return 0;
  do {
    if ((entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
      continue;
    calls++;
    if (file_patterns_call(pattern, entry.cFileName, found, user) != 0)
      break;
  } while (FindNextFileW(search, &entry));
  FindClose(search);
  return calls;
}
