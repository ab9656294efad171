/* Shared by the unit tests: exact comparisons of doubles, sentences, and an allocator that
 * counts its blocks and fails at a chosen call. */
#ifndef UNIT_H
#define UNIT_H

#include "sinks.h"
#include "testing.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include "base/memory.h"
#include "base/number.h"

#define UNIT_COUNT(array) (sizeof(array) / sizeof *(array))

/* Turns numbers of `size` bytes from little-endian, as files have them, to the machine's order, or back. */
static inline void unit_native_order(void *numbers, size_t size, size_t count) {
  const uint16_t one = 1;
  unsigned char low;
  memcpy(&low, &one, 1);
  for (size_t i = 0; low == 0 && i < count; i++) {
    unsigned char *at = (unsigned char *)numbers + i * size;
    for (size_t b = 0; b < size / 2; b++) {
      const unsigned char kept = at[b];
      at[b] = at[size - 1 - b];
      at[size - 1 - b] = kept;
    }
  }
}

/* May be used by several threads at once. */
typedef struct unit_memory {
  atomic_size_t calls;   /* of resize */
  atomic_size_t fail_at; /* the call that fails, counted from 1; 0: none */
  atomic_size_t live;    /* blocks */
} unit_memory;

/* New bytes are not zero. */
static inline void *unit_resize(void *user, void *block, size_t size) {
  unit_memory *memory = user;
  if (atomic_fetch_add(&memory->calls, 1) + 1 == atomic_load(&memory->fail_at))
    return NULL;
  void *grown = realloc(block, size);
  if (block == NULL && grown != NULL) {
    memset(grown, 0xA5, size);
    atomic_fetch_add(&memory->live, 1);
  }
  return grown;
}

static inline void unit_release(void *user, void *block) {
  unit_memory *memory = user;
  atomic_fetch_sub(&memory->live, 1);
  free(block);
}

static inline pcal_env unit_env(unit_memory *memory) {
  pcal_env env = PCAL_ENV_INIT;
  env.allocator = (pcal_allocator){unit_resize, unit_release, memory};
  return env;
}

typedef pcal_status (*unit_scenario)(const pcal_env *env, void *user, pcal_error *err);

/* Sanitizers slow such runs down by far, and look at some of them. */
#if defined(__SANITIZE_THREAD__)
#define UNIT_FAIL_STEP(n) ((n) < 20 ? 1 : 23)
#elif defined(__SANITIZE_ADDRESS__)
#define UNIT_FAIL_STEP(n) ((n) < 40 ? 1 : 5)
#else
#define UNIT_FAIL_STEP(n) 1
#endif

/* Runs a scenario that frees what it makes, with the n-th allocation failing for every n until
 * none fails: each time a clean error and nothing left over. */
static inline void unit_fail_each_allocation(unit_scenario scenario, void *user) {
  for (size_t n = 1;; n += UNIT_FAIL_STEP(n)) {
    unit_memory memory = {0};
    atomic_store(&memory.fail_at, n);
    const pcal_env env = unit_env(&memory);
    pcal_error err;
    pc_error_clear(&err);
    const pcal_status status = scenario(&env, user, &err);
    assert_int_equal(atomic_load(&memory.live), 0);
    if (status == PCAL_OK) {
      assert_true(atomic_load(&memory.calls) < n);
      assert_true(n > 1);
      return;
    }
    assert_int_equal(status, PCAL_MEMORY);
    assert_int_equal(err.status, PCAL_MEMORY);
    assert_memory_equal(err.message, "out of memory while ", 20);
  }
}

static inline void unit_check_same(double value, double expected, const char *file, int line) {
  char left[PC_NUMBER_MAX], right[PC_NUMBER_MAX];
  if (memcmp(&value, &expected, sizeof value) == 0)
    return;
  print_error("%s, not %s\n", pc_show(value, left), pc_show(expected, right));
  _fail(file, line);
}

static inline void unit_check_near(double value, double expected, double relative,
                                   const char *file, int line) {
  char left[PC_NUMBER_MAX], right[PC_NUMBER_MAX];
  if (fabs(value - expected) <= relative * fabs(expected))
    return;
  print_error("%s, not %s\n", pc_show(value, left), pc_show(expected, right));
  _fail(file, line);
}

/* The same bits. */
#define assert_same(value, expected) unit_check_same((value), (expected), __FILE__, __LINE__)

#define assert_near(value, expected, relative) \
  unit_check_near((value), (expected), (relative), __FILE__, __LINE__)

/* A failure with a status and exactly this sentence. */
#define assert_sentence(err, expected_status, sentence) \
  do {                                                  \
    assert_string_equal((err).message, (sentence));     \
    assert_int_equal((err).status, (expected_status));  \
  } while (0)

#endif
