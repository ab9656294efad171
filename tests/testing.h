/* Tests register themselves: write TEST(name) { ... } and it runs, in the order of the file.
 * test_main.c has the main function.  `state` is cmocka's; most tests do not use it. */
#ifndef TESTING_H
#define TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

void testing_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
                 CMFixtureFunction tear_down);
void testing_group(CMFixtureFunction set_up, CMFixtureFunction tear_down);

/* A test with functions that run before and after it; either may be NULL. */
#define TEST_WITH(name, set_up, tear_down)                            \
  static void name(void **state);                                     \
  __attribute__((constructor)) static void testing_add_##name(void) { \
    testing_add(#name, name, set_up, tear_down);                      \
  }                                                                   \
  static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Functions that run once, before and after all tests of the file. */
#define TEST_GROUP(set_up, tear_down)                             \
  __attribute__((constructor)) static void testing_groups(void) { \
    testing_group(set_up, tear_down);                             \
  }

#endif
