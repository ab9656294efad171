/* Checks of invariants, in builds for finding faults only: debug, sanitizer and fuzz builds.
 *
 * A release build (NDEBUG) does not evaluate the condition.  An invariant never depends on what
 * a caller may change during a call: scores and labels are checked as data, with an error. */
#ifndef PC_ASSERT_H
#define PC_ASSERT_H

#include <stddef.h>

#ifdef NDEBUG
#define pc_assert(condition) ((void)(0 && (condition)))
#else
#define pc_assert(condition) \
  ((condition) ? (void)0 : pc_assert_failed(#condition, __FILE__, __LINE__))
/* Ends the process by a trap: a debugger or sanitizer shows the arguments. */
#if defined(__GNUC__)
__attribute__((noreturn, cold))
#endif
void pc_assert_failed(const char *condition, const char *file, int line);
#endif

/* For pc_assert: values[i] <= values[i + 1]; distinct: values[i] < values[i + 1].  Pairs with a
 * NaN pass. */
static inline int pc_is_ascending(const double *values, size_t count, int distinct) {
  for (size_t i = 1; i < count; i++)
    if (values[i - 1] > values[i] || (distinct && values[i - 1] == values[i]))
      return 0;
  return 1;
}

#endif
