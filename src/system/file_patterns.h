/* Files that match a pattern of the shell, for the program. */
#ifndef PC_FILE_PATTERNS_H
#define PC_FILE_PATTERNS_H

/* Calls `found` with the path of each file, sorted by name, until it returns nonzero.  Returns the
 * number of calls, or -1 without memory. */
long pc_file_pattern_each(const char *pattern, int (*found)(void *user, const char *path),
                          void *user);

#endif
