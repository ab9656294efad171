/* pc_assert traps in debug builds and is not evaluated in release builds. */
#include "base/assert.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static int evaluated;

static int evaluate(void) {
  return ++evaluated;
}

TEST(test_condition_that_holds) {
  evaluated = 0;
  pc_assert(evaluate() > 0);
#ifdef NDEBUG
  assert_int_equal(evaluated, 0);
#else
  assert_int_equal(evaluated, 1);
#endif
  assert_true(evaluate() > 0);
}

TEST(test_condition_that_fails) {
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

TEST(test_ascending) {
  const double rising[] = {0, 1, 1, 2}, falling[] = {0, 2, 1}, odd[] = {2, NAN, 1};
  assert_true(pc_is_ascending(rising, 4, 0));
  assert_false(pc_is_ascending(rising, 4, 1));
  assert_true(pc_is_ascending(rising, 2, 1));
  assert_false(pc_is_ascending(falling, 3, 0));
  assert_true(pc_is_ascending(odd, 3, 1));
  assert_true(pc_is_ascending(NULL, 0, 1));
}
