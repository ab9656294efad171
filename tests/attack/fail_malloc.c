/* Preloaded into a program (LD_PRELOAD): the FAIL_AT-th allocation fails, and with FAIL_ALL
 * every later one too.  Without FAIL_AT none fails, and the number of allocations goes to the
 * file that FAIL_COUNT names.  A program can also ask for a failure itself: fail_in(n). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void fail_in(unsigned long calls);

static atomic_ulong fail_calls;
static unsigned long fail_at; /* 0: never */
static int fail_all, fail_ready;

static int fail_now(void) {
  const unsigned long call = atomic_fetch_add(&fail_calls, 1) + 1;
  if (!fail_ready || fail_at == 0 || (fail_all ? call < fail_at : call != fail_at))
    return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t size) {
  return fail_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  return fail_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  return fail_now() ? NULL : __libc_realloc(block, size);
}

/* Of the allocations from now on, this one fails, counted from 1; 0: none. */
void fail_in(unsigned long calls) {
  fail_at = calls == 0 ? 0 : atomic_load(&fail_calls) + calls;
}

/* Allocations of the loader, before main, do not count. */
__attribute__((constructor)) static void fail_start(void) {
  const char *at = getenv("FAIL_AT");
  fail_at = at != NULL ? strtoul(at, NULL, 10) : 0;
  fail_all = getenv("FAIL_ALL") != NULL;
  atomic_store(&fail_calls, 0);
  fail_ready = 1;
}

__attribute__((destructor)) static void fail_end(void) {
  const char *path = getenv("FAIL_COUNT");
  const unsigned long calls = atomic_load(&fail_calls);
  FILE *file;
  fail_ready = 0;
  if (path == NULL || (file = fopen(path, "w")) == NULL)
    return;
  fprintf(file, "%lu\n", calls);
  fclose(file);
}
