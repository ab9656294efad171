#ifndef PC_POSIX_FILES_H
#define PC_POSIX_FILES_H

#include <sys/stat.h>

#include "system/files.h"

/* Copies the result of a stat call that returned `failed`; returns -1 if that is not 0. */
int pc_posix_info(int failed, const struct stat *about, pc_file_info *out);

#endif
