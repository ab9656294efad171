#ifndef PC_WINDOWS_PATHS_H
#define PC_WINDOWS_PATHS_H

#include <windows.h>

#include "system/paths.h"

#define PC_WINDOWS_PATH 4096 /* UTF-16 units */

/* Converts UTF-8 to UTF-16, with the prefix that long paths need.  Returns 0 and sets errno on
 * failure. */
int pc_windows_path(const char *path, wchar_t out[PC_WINDOWS_PATH]);

/* Sets errno from GetLastError(); returns -1. */
int pc_windows_fail(void);

/* Describes an open handle. */
int pc_windows_describe(HANDLE handle, pc_file_info *out);

#endif
