/* tools/check-systems sets PROPERCAL_EMULATED where an emulator runs the tests: arithmetic takes 80 times
 * as long on aarch64, 200 times on s390x.  Laws then take fewer cases, and tests of many data sets or
 * very many rows are skipped: they are about statistics and sizes, not about processors. */
#ifndef EMULATED_H
#define EMULATED_H

#include "testing.h"

#include <stdlib.h>

static inline int emulated(void) {
  return getenv("PROPERCAL_EMULATED") != NULL;
}

static inline void skip_if_emulated(void) {
  if (emulated())
    skip();
}

#endif
