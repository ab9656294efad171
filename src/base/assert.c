#include "base/assert.h"

#ifndef NDEBUG
void pc_assert_failed(const char *condition, const char *file, int line) {
  (void)condition;
  (void)file;
  (void)line;
  __builtin_trap();
}
#endif
