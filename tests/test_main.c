/* The main function of every program of tests: runs all tests that were registered. */
#include "testing.h"

#include <string.h>

#define TESTS_MAX 200

static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count;
static CMFixtureFunction group_set_up, group_tear_down;

void testing_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
                 CMFixtureFunction tear_down) {
  if (test_count < TESTS_MAX)
    tests[test_count] = (struct CMUnitTest){name, test, set_up, tear_down, NULL};
  test_count++;
}

void testing_group(CMFixtureFunction set_up, CMFixtureFunction tear_down) {
  group_set_up = set_up;
  group_tear_down = tear_down;
}

/* An argument is a pattern: only tests whose names match it run. */
int main(int argc, char **argv) {
  if (argc > 1)
    cmocka_set_test_filter(argv[1]);
  if (test_count == 0 || test_count > TESTS_MAX) {
    print_error("%s: %zu tests; there may be 1 to %d\n", argv[0], test_count, TESTS_MAX);
    return 1;
  }
  const char *slash = strrchr(argv[0], '/');
  /* cmocka takes an array whose size it sees; the one of the function has any size. */
  return _cmocka_run_group_tests(slash != NULL ? slash + 1 : argv[0], tests, test_count,
                                 group_set_up, group_tear_down);
}
