/* The library's choice of kernels, with a level from the environment: 0 for portable ones, 1
 * for AVX2, 2 for AVX-512, each where the processor has it. */
#include <stddef.h>
#include <stdlib.h>

static size_t any_kernels_most(void) {
  const char *level = getenv("PROPERCAL_KERNELS");
  return level == NULL ? 2 : (size_t)strtoul(level, NULL, 10);
}

#define DISPATCH_MOST any_kernels_most()
#include "../../src/kernels/dispatch.c"
