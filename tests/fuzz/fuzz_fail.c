#include "fuzz_fail.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static atomic_ulong fail_left; /* allocations up to the one that fails; 0: none does */
static atomic_int fail_happened;

void fuzz_fail_in(unsigned long calls) {
  atomic_store(&fail_happened, 0);
  atomic_store(&fail_left, calls);
}

int fuzz_fail_end(void) {
  atomic_store(&fail_left, 0);
  return atomic_load(&fail_happened);
}

static int fail_now(void) {
  unsigned long left = atomic_load(&fail_left);
  while (left > 0 && !atomic_compare_exchange_weak(&fail_left, &left, left - 1))
    ;
  if (left != 1)
    return 0;
  atomic_store(&fail_happened, 1);
  errno = ENOMEM;
  return 1;
}

void *__wrap_malloc(size_t size) {
  return fail_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
  return fail_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size) {
  return fail_now() ? NULL : __real_realloc(block, size);
}
