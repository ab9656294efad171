/* Passes bytes through another program. */
#ifndef PC_CHILD_FILTER_H
#define PC_CHILD_FILTER_H

#include <stddef.h>

/* True if the program is in a directory of PATH and programs can be started. */
int pc_child_available(const char *program);

typedef void (*pc_child_sink)(void *user, const char *bytes, size_t count);

/* Runs words[0], found by PATH, with these arguments (ended by NULL) and without a shell; writes
 * `input` to it and passes its output to `sink`.  Returns 0 or the errno of a failed start;
 * *succeeded is 1 if the program ended with exit code 0.  The caller ignores SIGPIPE: a program
 * may end before it has read all. */
int pc_child_filter(const char *const *words, const char *input, size_t length,
                    pc_child_sink sink, void *user, int *succeeded);

#endif
