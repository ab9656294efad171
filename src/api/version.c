#include "propercal.h"

const char *pcal_version(void) {
  return PCAL_VERSION;
}

const char *pcal_build(void) {
#if defined(__clang__)
  return "clang " __clang_version__
#elif defined(__GNUC__)
  return "gcc " __VERSION__
#else
  return "C compiler"
#endif
#if defined(__x86_64__)
         ", x86-64"
#elif defined(__aarch64__)
         ", aarch64"
#endif
#if defined(__OPTIMIZE__)
         ", optimised"
#else
         ", not optimised"
#endif
      ;
}
