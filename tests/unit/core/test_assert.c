/* pc_assert traps in debug builds and is not evaluated in release builds. */
#include "core/assert.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static int evaluated;

static int evaluate(void) {
  return ++evaluated;
}

static void test_condition_that_holds(void **state) {
  (void)state;
  evaluated = 0;
  pc_assert(evaluate() > 0);
#ifdef NDEBUG
  assert_int_equal(evaluated, 0);
#else
  assert_int_equal(evaluated, 1);
#endif
  assert_true(evaluate() > 0);
}

static void test_condition_that_fails(void **state) {
  (void)state;
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGILL, SIG_DFL);
    signal(SIGTRAP, SIG_DFL);
    pc_assert(child != 0);
    _exit(0);
  }
  int how = 0;
  assert_int_equal(waitpid(child, &how, 0), child);
#ifdef NDEBUG
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
#else
  assert_true(WIFSIGNALED(how));
  assert_true(WTERMSIG(how) == SIGILL || WTERMSIG(how) == SIGTRAP);
#endif
}

static void test_ascending(void **state) {
  (void)state;
  const double rising[] = {0, 1, 1, 2}, falling[] = {0, 2, 1}, odd[] = {2, NAN, 1};
  assert_true(pc_is_ascending(rising, 4, 0));
  assert_false(pc_is_ascending(rising, 4, 1));
  assert_true(pc_is_ascending(rising, 2, 1));
  assert_false(pc_is_ascending(falling, 3, 0));
  assert_true(pc_is_ascending(odd, 3, 1));
  assert_true(pc_is_ascending(NULL, 0, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_condition_that_holds),
      cmocka_unit_test(test_condition_that_fails),
      cmocka_unit_test(test_ascending),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
