#include <string.h>

#include "kernels/dispatch.h"
#include "kernels/row_kernels.h"
#include "propercal.h"
#include "system/processors.h"

#if defined(__clang__)
#define VERSION_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define VERSION_COMPILER "gcc " __VERSION__
#else
#define VERSION_COMPILER "C compiler"
#endif

#if defined(__OPTIMIZE__)
#define VERSION_BUILD VERSION_COMPILER PC_PROCESSOR_NAME ", optimised"
#else
#define VERSION_BUILD VERSION_COMPILER PC_PROCESSOR_NAME ", not optimised"
#endif

const char *pcal_version(void) {
  return PCAL_VERSION;
}

unsigned pcal_processor_count(void) {
  return (unsigned)pc_processor_count();
}

const char *pcal_build_info(void) {
  static const struct {
    const char *kernels, *build;
  } levels[] = {
      {"avx512", VERSION_BUILD ", kernels for avx512"},
      {"avx2", VERSION_BUILD ", kernels for avx2"},
  };
  const char *kernels = pc_kernels_best()->name;
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (strcmp(levels[i].kernels, kernels) == 0)
      return levels[i].build;
  return VERSION_BUILD ", portable kernels";
}
