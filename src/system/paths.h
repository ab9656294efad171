/* Files by name.  Unless stated otherwise, functions return 0, or -1 on failure and set errno.
 * Paths are UTF-8 on every system. */
#ifndef PC_PATHS_H
#define PC_PATHS_H

#include "system/files.h"

#define PC_SYSTEM_TEXT 128

/* The file that a path names, or with pc_path_describe_link a symbolic link itself. */
int pc_path_describe(const char *path, pc_file_info *out);
int pc_path_describe_link(const char *path, pc_file_info *out);

/* Copies the target of a symbolic link, not ended by NUL; returns its length. */
int64_t pc_path_read_link(const char *path, char *out, size_t size);

/* Gives a file another name; a file of that name is replaced in one step. */
int pc_path_rename(const char *from, const char *to);

/* Makes a second name of a file. */
int pc_path_link(const char *from, const char *to);

/* May be called in signal handlers. */
int pc_path_remove(const char *path);

/* 0 if this user may write to the existing file. */
int pc_path_writable(const char *path);

/* Writes the names in a directory to the disk; failures are ignored. */
void pc_path_sync_directory(const char *directory);

/* Length of the directory part of a path, including the separator at its end. */
size_t pc_path_directory(const char *path);

/* True if the path does not depend on the current directory. */
int pc_path_is_absolute(const char *path);

/* The current directory; returns 0 on failure. */
int pc_path_current_directory(char *out, size_t size);

/* Number of this process, which makes temporary names unique. */
long pc_process_id(void);

/* Calls a function in every child that this process forks from now on, in which no lock may be
 * waited for; returns 0 on failure.  True where processes do not fork. */
int pc_process_after_fork(void (*in_child)(void));

/* What an errno is about; PC_ERROR_OTHER if none of these. */
typedef enum pc_error_kind {
  PC_ERROR_OTHER = 0,
  PC_ERROR_MISSING,    /* no such file or directory */
  PC_ERROR_DENIED,     /* no permission */
  PC_ERROR_READ_ONLY,  /* file system that cannot be written to */
  PC_ERROR_NO_SPACE,   /* disk full, quota exceeded */
  PC_ERROR_TOO_LARGE,  /* limit on the size of files */
  PC_ERROR_NOT_A_FILE, /* socket, or device without a driver */
  PC_ERROR_IN_USE      /* another program keeps the file open */
} pc_error_kind;

pc_error_kind pc_error_classify(int code);

/* The system's text for an errno; returns out. */
const char *pc_error_text(int code, char out[PC_SYSTEM_TEXT]);

#endif
