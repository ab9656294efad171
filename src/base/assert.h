/* pc_assert checks invariants in debug, sanitizer and fuzz builds.
 *
 * Release builds (NDEBUG) do not evaluate the condition.  Never assert anything about the
 * caller's arrays, which may change during a call: scores and labels are validated, with an
 * error. */
#ifndef PC_ASSERT_H
#define PC_ASSERT_H

#include <stddef.h>

#ifdef NDEBUG
#define pc_assert(condition) ((void)(0 && (condition)))
#else
#define pc_assert(condition) \
  ((condition) ? (void)0 : pc_assert_failed(#condition, __FILE__, __LINE__))
/* Traps; a debugger or sanitizer shows the arguments. */
#if defined(__GNUC__)
__attribute__((noreturn, cold))
#endif
void pc_assert_failed(const char *condition, const char *file, int line);
#endif

/* True if the values ascend, strictly where `distinct`.  Comparisons with NaN pass.  For
 * pc_assert. */
static inline int pc_is_ascending(const double *values, size_t count, int distinct) {
  for (size_t i = 1; i < count; i++)
    if (values[i - 1] > values[i] || (distinct && values[i - 1] == values[i]))
      return 0;
  return 1;
}

#endif
