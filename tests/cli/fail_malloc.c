/* Preloaded into the program: the allocation with the number of PROPERCAL_FAIL fails, and with
 * PROPERCAL_FAIL_ALL all that follow too.  PROPERCAL_COUNT names a file for their number. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_ulong fail_calls;
static unsigned long fail_at;
static int fail_all, fail_ready;
static void *(*fail_real_malloc)(size_t), *(*fail_real_realloc)(void *, size_t),
    *(*fail_real_calloc)(size_t, size_t);

static __attribute__((constructor)) void fail_start(void) {
  const char *at = getenv("PROPERCAL_FAIL");
  fail_real_malloc = (void *(*)(size_t))(uintptr_t)dlsym(RTLD_NEXT, "malloc");
  fail_real_realloc = (void *(*)(void *, size_t))(uintptr_t)dlsym(RTLD_NEXT, "realloc");
  fail_real_calloc = (void *(*)(size_t, size_t))(uintptr_t)dlsym(RTLD_NEXT, "calloc");
  fail_at = at == NULL ? 0 : strtoul(at, NULL, 10);
  fail_all = getenv("PROPERCAL_FAIL_ALL") != NULL;
  fail_ready = 1;
}

static __attribute__((destructor)) void fail_end(void) {
  const char *name = getenv("PROPERCAL_COUNT");
  const int file = name == NULL ? -1 : open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  char digits[32];
  const int length = snprintf(digits, sizeof digits, "%lu", atomic_load(&fail_calls));
  if (file >= 0 && write(file, digits, (size_t)length) == length)
    close(file);
}

static int fail_now(void) {
  const unsigned long call = fail_ready ? atomic_fetch_add(&fail_calls, 1) + 1 : 0;
  return fail_at > 0 && call > 0 && (call == fail_at || (fail_all && call > fail_at));
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
  return fail_now() ? NULL : fail_ready ? fail_real_malloc(size) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  return fail_now()   ? NULL
         : fail_ready ? fail_real_calloc(count, size)
                      : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  return fail_now()   ? NULL
         : fail_ready ? fail_real_realloc(block, size)
                      : __libc_realloc(block, size);
}
