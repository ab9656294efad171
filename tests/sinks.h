/* Sinks that collect, count, drop or refuse the bytes that the library writes. */
#ifndef SINKS_H
#define SINKS_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Starts zeroed; the caller frees bytes. */
typedef struct sink_bytes {
  char *bytes;   /* a NUL follows the last one */
  size_t length; /* without it */
  size_t calls;
} sink_bytes;

/* Appends to a sink_bytes. */
static inline int sink_collect(void *user, const char *bytes, size_t count) {
  sink_bytes *all = user;
  char *grown = realloc(all->bytes, all->length + count + 1);
  if (grown == NULL)
    return 1;
  memcpy(grown + all->length, bytes, count);
  all->bytes = grown;
  all->length += count;
  all->bytes[all->length] = '\0';
  all->calls++;
  return 0;
}

/* Adds to a size_t, if there is one. */
static inline int sink_count(void *user, const char *bytes, size_t count) {
  (void)bytes;
  if (user != NULL)
    *(size_t *)user += count;
  return 0;
}

/* Refuses, and counts the calls in a size_t, if there is one. */
static inline int sink_refuse(void *user, const char *bytes, size_t count) {
  (void)bytes;
  (void)count;
  if (user != NULL)
    ++*(size_t *)user;
  return 1;
}

#endif
